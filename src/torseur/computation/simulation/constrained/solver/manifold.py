"""States brought back on their constraints: positions first, then velocities, by the smallest move in the mass metric.

    positions   [M Cᵀ; C 0] [δ; μ] = [0; -Φ],  q moves along the speeds by δ
    velocities  [M Cᵀ; C 0] [δ; μ] = [0; -(C v + drift)],  v moves by δ

Positions are corrected until δ is small, then once more with the same factors. Velocity constraints (rolling) stand
behind the holonomic ones and have no say in positions.
"""

from __future__ import annotations

import math

from torseur.computation.codegen.routine import Array, routine, zeros
from torseur.computation.simulation.constrained.solver.constrained_sizes import (
    MASSLESS,
    MC,
    MV,
    NC,
    NH,
    NP,
    NQ,
    NV,
    PLAIN,
    QUATERNIONS,
    RECURSIVE,
    Factors,
    Settings,
    closing,
    displaced,
    levels,
    normalised,
    positions,
    velocities,
)
from torseur.computation.simulation.constrained.solver.factors import (
    add,
    add_constraint_inertia,
    dot,
    factor,
    solve_bodies,
    solve_lower,
    unwhiten,
)
from torseur.computation.simulation.model.force_laws import NU, laws

LEAST = 1e-8  # distance from a singular configuration below which a constraint corrects nothing but noise
ITERATIONS = 8
CLOSE = 1e-6  # size of a correction of positions, in units of the mechanism, after which one more is enough
FAR = 0.5  # size of a correction that means the constraints are out of reach
CONTRADICTION = 1e-7  # size of what is left of a dependent constraint that means it contradicts the others


@routine
def on_manifold(t: float, y: Array, p: Array, out: Array) -> float:
    """The state on the constraints nearest to y, not a number where there is none; how far a singularity is."""
    factors = Factors()
    for i in range(NQ + NV):
        out[i] = y[i]
    if QUATERNIONS:
        normalised(y, out)
    distance = close_positions(t, p, out, factors)
    if distance < 0.0 or not close_velocities(t, p, out, factors):
        out[0] = math.nan
    return distance


@routine
def close_positions(t: float, p: Array, out: Array, factors: Factors) -> float:
    """Newton's method on the positions in `out`; leaves the factors L, Q and R of its last iteration behind.

    The answer is the distance from a singular configuration, -1 when the positions could not be closed.
    """
    phi = zeros(NC)
    u = zeros(NU + 1)
    for _ in range(ITERATIONS):
        if NU > 0:
            laws(t, out, p, u)
        distance = factor_positions(t, p, out, u, phi, factors)
        leave_open(p, phi)
        if distance < 0.0:
            return -1.0
        size = correct_positions(t, p, out, factors, phi)
        # Half a radian, or half the mechanism: Newton's method might end in another assembly.
        if not size < FAR:
            return -1.0
        # close_velocities corrects once more, with factors from 1e-6 beside: what that leaves is of the order of 1e-12.
        if size < CLOSE:
            return distance
    return -1.0


@routine
def factor_positions(t: float, p: Array, y: Array, u: Array, phi: Array, factors: Factors) -> float:
    """Residuals, and the factors of M and C; the distance from a singularity, -1 where inertia is missing."""
    settings = Settings.view(p[NP:])
    if RECURSIVE:
        closing(t, y, p, u, settings.sizes, LEAST, phi, factors.values, factors.distance)
        distance = factors.distance[0]
    else:
        positions(t, y, p, u, phi, factors)
        distance = factor_constraints(p, factors)
    return distance


@routine
def leave_open(p: Array, phi: Array) -> None:
    """Residuals less the play that loops are given."""
    settings = Settings.view(p[NP:])
    for c in range(NH):
        phi[c] -= settings.play[c]


@routine
def factor_constraints(p: Array, factors: Factors) -> float:
    """The factors of M and C for a correction; the distance from a singularity, -1 where inertia is missing."""
    if MASSLESS:
        add_constraint_inertia(p, factors)
    distance = factor(p, factors, LEAST)
    return distance


@routine
def correct_positions(t: float, p: Array, out: Array, factors: Factors, phi: Array) -> float:
    """Moves the positions in `out` by one correction; its size in units of the mechanism, infinite without any."""
    settings = Settings.view(p[NP:])
    move = zeros(NV)
    correction(factors, phi, move, NH)
    size = 0.0
    for i in range(NV):
        if not math.isfinite(move[i]):
            return math.inf
        size = max(size, abs(move[i]) / settings.scales[i])
    displace(t, p, move, out)
    return size


@routine
def correction(factors: Factors, residual: Array, move: Array, count: int) -> None:
    """The smallest move, in the mass metric, that takes away the residual of the first `count` constraints."""
    weights = zeros(NC)
    for i in range(NV):
        move[i] = 0.0
    if RECURSIVE:
        # Velocity constraints stay as they are: a move along them closes the others as well.
        for c in range(count):
            weights[c] = -residual[c]
        solve_bodies(factors, move, weights)
    else:
        for c in range(count):
            weights[c] = residual[c]
        solve_lower(factors.r, weights, count)
        for c in range(count):
            add(-weights[c], factors.rows[c], move)
        unwhiten(factors.mass, move)


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
def close_velocities(t: float, p: Array, out: Array, factors: Factors) -> bool:
    """Corrects the positions once more and then the velocities, with factors from just beside."""
    settings = Settings.view(p[NP:])
    rows = zeros(MC, MV)
    phi = zeros(NC)
    slip = zeros(NC)
    reach = zeros(NC)
    move = zeros(NV)
    u = zeros(NU + 1)
    if NU > 0:
        laws(t, out, p, u)
    if RECURSIVE:
        levels(t, out, p, u, settings.scales, phi, slip, reach)
    else:
        velocities(t, out, p, u, rows, phi, slip)
        for c in range(NH):
            for i in range(NV):
                reach[c] += abs(rows[c, i]) * settings.scales[i]
    leave_open(p, phi)
    if is_contradicted(p, reach, phi):
        return False
    correct_positions(t, p, out, factors, phi)
    v = out[NQ:]
    if not RECURSIVE:
        for c in range(NC):
            slip[c] += dot(rows[c], v)
    # All constraints now, those on velocities too: they stand behind the NH of positions.
    correction(factors, slip, move, NC)
    for i in range(NV):
        v[i] += move[i]
    return True


@routine
def is_contradicted(p: Array, reach: Array, phi: Array) -> bool:
    """Whether a constraint that depends on others is violated where these hold.

    One that holds whatever moves has no derivatives to compare with; those of the others then serve.
    """
    settings = Settings.view(p[NP:])
    largest = 0.0
    for c in range(NH):
        largest = max(largest, reach[c])
    for c in range(NH):
        # Constraints that add nothing are not solved for: they must hold by themselves.
        if settings.sizes[c] == 0.0 and abs(phi[c]) > CONTRADICTION * largest + settings.slack[c]:
            return True
    return False
