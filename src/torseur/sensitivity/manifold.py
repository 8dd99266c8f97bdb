"""Changes and weights carried through the projection of a state on its constraints.

At the projected state, changes u lose what violates the differentiated constraints: first u_q, by the smallest move
in the mass metric, then u_v:

    u_q -= N B (Φ_q u_q + Φ_p),   u_v -= B ((C v + drift)_q u_q + C u_v + (C v + drift)_p),   B = M⁻¹ Cᵀ (C M⁻¹ Cᵀ)⁻¹

Both methods use this same map, one of them transposed. It leaves out what is of the size of the correction itself.
"""

from __future__ import annotations

from torseur.codegen.routine import Array, External, routine, zeros
from torseur.sensitivity.tangent import NPAR, NX, NY
from torseur.simulation.constrained.accelerations import dot
from torseur.simulation.constrained.factors import solve_lower_transposed, whiten
from torseur.simulation.constrained.manifold import correction, factored
from torseur.simulation.constrained.sizes import NC, NH, NQ, NV, PLAIN, QUATERNIONS, positions

on_constraints = External("on_constraints", "t: float, y: Array, p: Array, out: Array -> float")
level_slopes = External(
    "level_slopes", "t: float, y: Array, p: Array, phi_slopes: Array, slip_slopes: Array, reach: Array"
)
normalised_change = External("normalised_change", "y: Array, w: Array, out: Array")
normalised_weights = External("normalised_weights", "y: Array, w: Array, out: Array")


@routine
def prepare_manifold(
    t: float,
    y: Array,
    p: Array,
    mass: Array,
    rows: Array,
    r: Array,
    phi_slopes: Array,
    slip_slopes: Array,
    reach: Array,
) -> None:
    """The factors of M and C at a state on the constraints, and the slopes of these."""
    phi = zeros(NC)
    u = zeros(1)
    positions(t, y, p, u, mass, rows, phi)
    factored(p, mass, rows, r)
    level_slopes(t, y, p, phi_slopes, slip_slopes, reach)


@routine
def constrain_with_changes(t: float, y: Array, p: Array, out: Array) -> float:
    """The state on the constraints, with its changes along them; how far a singularity is."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    r = zeros(NC * NC)
    phi_slopes = zeros((NY + NPAR) * NC)
    slip_slopes = zeros((NY + NPAR) * NC)
    reach = zeros(NQ * NV)
    change = zeros(NY)
    for i in range(NX + NX * NPAR):
        out[i] = y[i]
    distance = on_constraints(t, y, p, out)
    prepare_manifold(t, out, p, mass, rows, r, phi_slopes, slip_slopes, reach)
    for k in range(NPAR):
        for i in range(NY):
            change[i] = y[NX + i * NPAR + k]
        if QUATERNIONS:
            normalise_change(y, change)
        change_positions(k, mass, rows, r, phi_slopes, reach, change)
        change_speeds(k, mass, rows, r, slip_slopes, change)
        for i in range(NY):
            out[NX + i * NPAR + k] = change[i]
    return distance


@routine
def normalise_change(y: Array, change: Array) -> None:
    """The change of the state with its quaternions brought to length one."""
    before = zeros(NY)
    for i in range(NY):
        before[i] = change[i]
    normalised_change(y, before, change)


@routine
def violation(k: int, by_variables: Array, change: Array, out: Array) -> None:
    """How much a change with parameter k violates differentiated constraints."""
    for c in range(NC):
        total = by_variables[(NY + k) * NC + c]
        for j in range(NY):
            total += by_variables[j * NC + c] * change[j]
        out[c] = total


@routine
def change_positions(
    k: int, mass: Array, rows: Array, r: Array, phi_slopes: Array, reach: Array, change: Array
) -> None:
    """Takes from u_q what violates the constraints on positions."""
    residual = zeros(NC)
    move = zeros(NV)
    violation(k, phi_slopes, change, residual)
    correction(mass, rows, r, residual, move, NH)
    if PLAIN:
        for i in range(NV):
            change[i] += move[i]
    else:
        for i in range(NQ):
            change[i] += dot(reach[i * NV :], move)


@routine
def change_speeds(k: int, mass: Array, rows: Array, r: Array, slip_slopes: Array, change: Array) -> None:
    """Takes from u_v what violates the constraints on velocities."""
    residual = zeros(NC)
    move = zeros(NV)
    violation(k, slip_slopes, change, residual)
    correction(mass, rows, r, residual, move, NC)
    for i in range(NV):
        change[NQ + i] += move[i]


@routine
def weigh_constraints(t: float, y: Array, settled: Array, p: Array, w: Array, pbar: Array) -> None:
    """Weights of a state on the constraints become weights of the state before; parameters get their share."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    r = zeros(NC * NC)
    phi_slopes = zeros((NY + NPAR) * NC)
    slip_slopes = zeros((NY + NPAR) * NC)
    reach = zeros(NQ * NV)
    move = zeros(NV)
    prepare_manifold(t, settled, p, mass, rows, r, phi_slopes, slip_slopes, reach)
    for i in range(NV):
        move[i] = w[NQ + i]
    spread(mass, rows, r, slip_slopes, move, w, pbar, NC)
    for i in range(NV):
        if PLAIN:
            move[i] = w[i]
        else:
            total = 0.0
            for j in range(NQ):
                total += reach[j * NV + i] * w[j]
            move[i] = total
    spread(mass, rows, r, phi_slopes, move, w, pbar, NH)
    if QUATERNIONS:
        weigh_normalised(y, w)


@routine
def weigh_normalised(y: Array, w: Array) -> None:
    """Weights of a state with quaternions of length one become weights of the state before."""
    before = zeros(NY)
    for i in range(NY):
        before[i] = w[i]
    normalised_weights(y, before, w)


@routine
def spread(
    mass: Array, rows: Array, r: Array, by_variables: Array, move: Array, w: Array, pbar: Array, count: int
) -> None:
    """Weights of a correction become weights of what it corrects: the transpose of `correction`."""
    weights = zeros(NC)
    whiten(mass, move)
    for c in range(count):
        weights[c] = -dot(rows[c * NV :], move)
    solve_lower_transposed(r, weights, count)
    for j in range(NY):
        for c in range(NC):
            w[j] += by_variables[j * NC + c] * weights[c]
    for k in range(NPAR):
        for c in range(NC):
            pbar[k] += by_variables[(NY + k) * NC + c] * weights[c]


@routine
def constrain_with_integrals(t: float, y: Array, p: Array, out: Array) -> float:
    """The state on the constraints, with the integrals as they are; how far a singularity is."""
    for i in range(NY, NX):
        out[i] = y[i]
    distance = on_constraints(t, y, p, out)
    return distance
