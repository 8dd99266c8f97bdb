"""States brought back on their constraints: positions first, then velocities, by the smallest move in the mass metric.

    positions   [M Cᵀ; C 0] [δ; μ] = [0; -Φ],  q moves along the speeds by δ
    velocities  [M Cᵀ; C 0] [δ; μ] = [0; -(C v + drift)],  v moves by δ

Positions are corrected until δ is small, then once more with the same factors. Velocity constraints (rolling) stand
behind the holonomic ones and have no say in positions.
"""

from __future__ import annotations

import math

from torseur.codegen.routine import Array, routine, zeros
from torseur.simulation.constrained.accelerations import add, dot
from torseur.simulation.constrained.factors import (
    add_constraint_inertia,
    factor_mass,
    orthogonalise,
    solve_lower,
    unwhiten,
    whiten,
)
from torseur.simulation.constrained.sizes import (
    MASSLESS,
    NC,
    NH,
    NP,
    NQ,
    NV,
    PLAIN,
    PLAY,
    QUATERNIONS,
    SIZES,
    displaced,
    normalised,
    positions,
    velocities,
)
from torseur.simulation.laws import NU, laws

LEAST = 1e-8  # distance from a singular configuration below which a constraint corrects nothing but noise
ITERATIONS = 8
CLOSE = 1e-6  # size of a correction of positions, in units of the mechanism, after which one more is enough
FAR = 0.5  # size of a correction that means the constraints are out of reach
CONTRADICTION = 1e-7  # size of what is left of a dependent constraint that means it contradicts the others


@routine
def on_manifold(t: float, y: Array, p: Array, out: Array) -> float:
    """The state on the constraints nearest to y, not a number where none is found; how far a singularity is."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    r = zeros(NC * NC)
    for i in range(NQ + NV):
        out[i] = y[i]
    if QUATERNIONS:
        normalised(y, out)
    distance = close_positions(t, p, out, mass, rows, r)
    if distance < 0.0 or not close_velocities(t, p, out, mass, rows, r):
        out[0] = math.nan
    return distance


@routine
def close_positions(t: float, p: Array, out: Array, mass: Array, rows: Array, r: Array) -> float:
    """Newton's method on the positions in `out`; leaves the factors L, Q and R of its last iteration behind.

    The answer is the distance from a singular configuration, -1 when the positions could not be closed.
    """
    phi = zeros(NC)
    u = zeros(NU + 1)
    for _ in range(ITERATIONS):
        if NU > 0:
            laws(t, out, p, u)
        positions(t, out, p, u, mass, rows, phi)
        leave_open(p, phi)
        distance = factored(p, mass, rows, r)
        if distance < 0.0:
            return -1.0
        size = correct_positions(t, p, out, mass, rows, r, phi)
        if not size < FAR:
            return -1.0
        if size < CLOSE:
            return distance
    return -1.0


@routine
def leave_open(p: Array, phi: Array) -> None:
    """Residuals less the play that loops are given."""
    for c in range(NH):
        phi[c] -= p[NP + PLAY + c]


@routine
def factored(p: Array, mass: Array, rows: Array, r: Array) -> float:
    """M becomes L and C becomes Q, with R beside it; the distance from a singularity, -1 where inertia is missing."""
    if MASSLESS:
        add_constraint_inertia(p, mass, rows)
    if not factor_mass(mass):
        return -1.0
    for c in range(NC):
        whiten(mass, rows[c * NV :])
    distance = orthogonalise(p, rows, r, LEAST)
    return distance


@routine
def correct_positions(t: float, p: Array, out: Array, mass: Array, rows: Array, r: Array, phi: Array) -> float:
    """Moves the positions in `out` by one correction; its size in units of the mechanism, infinite without any."""
    move = zeros(NV)
    correction(mass, rows, r, phi, move, NH)
    size = 0.0
    for i in range(NV):
        if not math.isfinite(move[i]):
            return math.inf
        size = max(size, abs(move[i]) / p[NP + i])
    displace(t, p, move, out)
    return size


@routine
def correction(mass: Array, rows: Array, r: Array, residual: Array, move: Array, count: int) -> None:
    """The smallest move, in the mass metric, that takes away the residual of the first `count` constraints."""
    weights = zeros(NC)
    for c in range(count):
        weights[c] = residual[c]
    solve_lower(r, weights, count)
    for i in range(NV):
        move[i] = 0.0
    for c in range(count):
        add(-weights[c], rows[c * NV :], move)
    unwhiten(mass, move)


@routine
def displace(t: float, p: Array, move: Array, out: Array) -> None:
    """Moves the coordinates in `out` along the speeds."""
    moved = zeros(NQ + NV)
    if PLAIN:
        for i in range(NV):
            out[i] += move[i]
    else:
        displaced(t, out, p, move, moved)
        for i in range(NQ):
            out[i] = moved[i]
    if QUATERNIONS:
        normalised(out, moved)
        for i in range(NQ):
            out[i] = moved[i]


@routine
def close_velocities(t: float, p: Array, out: Array, mass: Array, rows: Array, r: Array) -> bool:
    """Corrects the positions once more and then the velocities, with factors from just beside."""
    slopes = zeros(NC * NV)
    phi = zeros(NC)
    slip = zeros(NC)
    move = zeros(NV)
    u = zeros(NU + 1)
    if NU > 0:
        laws(t, out, p, u)
    velocities(t, out, p, u, slopes, phi, slip)
    leave_open(p, phi)
    if contradicted(p, slopes, r, phi):
        return False
    correct_positions(t, p, out, mass, rows, r, phi)
    v = out[NQ:]
    for c in range(NC):
        slip[c] += dot(slopes[c * NV :], v)
    correction(mass, rows, r, slip, move, NC)
    for i in range(NV):
        v[i] += move[i]
    return True


@routine
def contradicted(p: Array, slopes: Array, r: Array, phi: Array) -> bool:
    """Whether a constraint that depends on others is violated where these hold.

    One that holds whatever moves has no slopes to compare with; those of the others then serve.
    """
    reach = 0.0
    for c in range(NH):
        own = 0.0
        for i in range(NV):
            own += abs(slopes[c * NV + i]) * p[NP + i]
        reach = max(reach, own)
    for c in range(NH):
        if r[c * NC + c] == 0.0 and p[NP + SIZES + c] == 0.0 and abs(phi[c]) > CONTRADICTION * reach:
            return True
    return False
