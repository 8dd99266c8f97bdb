"""Tangents and adjoints carried through the projection of a state on its constraints.

At the projected state, tangents u lose what violates the differentiated constraints: first u_q, by the smallest move
in the mass metric, then u_v:

    u_q -= N B (Φ_q u_q + Φ_p),   u_v -= B ((C v + drift)_q u_q + C u_v + (C v + drift)_p),   B = M⁻¹ Cᵀ (C M⁻¹ Cᵀ)⁻¹

Both methods use this same map, one of them transposed. It leaves out what is of the size of the correction itself.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from torseur.analysis.sensitivity.direct.tangent_routines import NPAR, NX, NY
from torseur.computation.codegen.routine import Array, External, Record, routine, zeros
from torseur.computation.simulation.constrained.solver.constrained_sizes import (
    NC,
    NH,
    NQ,
    NV,
    PLAIN,
    QUATERNIONS,
    RECURSIVE,
    Factors,
)
from torseur.computation.simulation.constrained.solver.factors import (
    dot,
    solve_augmented,
    solve_lower_transposed,
    whiten,
)
from torseur.computation.simulation.constrained.solver.manifold import correction, factor_positions

ByVariables: TypeAlias = Annotated[Array, ..., NC]


class Levels(Record):
    """Constraints on positions and on velocities, differentiated by states and then parameters, a row each."""

    phi_derivatives: Annotated[Array, NY + NPAR, NC]
    slip_derivatives: Annotated[Array, NY + NPAR, NC]
    reach: Annotated[Array, NQ, NV]  # N: how coordinates move along the speeds


on_constraints = External("on_constraints", "t: float, y: Array, p: Array, out: Array -> float")
level_derivatives = External("level_derivatives", "t: float, y: Array, p: Array, levels: Levels", Levels)
normalised_tangent = External("normalised_tangent", "y: Array, w: Array, out: Array")
normalised_adjoint = External("normalised_adjoint", "y: Array, w: Array, out: Array")


@routine
def prepare_manifold(t: float, y: Array, p: Array, factors: Factors, levels: Levels) -> None:
    """The factors of M and C at a state on the constraints, and the derivatives of these."""
    phi = zeros(NC)
    u = zeros(1)
    factor_positions(t, p, y, u, phi, factors)
    level_derivatives(t, y, p, levels)


@routine
def constrain_with_tangents(t: float, y: Array, p: Array, out: Array) -> float:
    """The state on the constraints, with its tangents along them; how far a singularity is."""
    factors = Factors()
    levels = Levels()
    tangent = zeros(NY)
    for i in range(NX + NX * NPAR):
        out[i] = y[i]
    distance = on_constraints(t, y, p, out)
    # At the projected state, with its own factors: both methods know that state, the adjoint as the start of the next
    # step.
    prepare_manifold(t, out, p, factors, levels)
    for k in range(NPAR):
        for i in range(NY):
            tangent[i] = y[NX + i * NPAR + k]
        if QUATERNIONS:
            normalise_tangent(y, tangent)
        # Positions before speeds: (C v + drift)_q acts on tangents of positions that are along the constraints already.
        correct_tangent_of_positions(k, factors, levels, tangent)
        correct_tangent_of_speeds(k, factors, levels, tangent)
        for i in range(NY):
            out[NX + i * NPAR + k] = tangent[i]
    return distance


@routine
def normalise_tangent(y: Array, tangent: Array) -> None:
    """The tangent of the state with its quaternions brought to length one."""
    before = zeros(NY)
    for i in range(NY):
        before[i] = tangent[i]
    normalised_tangent(y, before, tangent)


@routine
def violation(k: int, by_variables: ByVariables, tangent: Array, out: Array) -> None:
    """How much a tangent by parameter k violates differentiated constraints."""
    for c in range(NC):
        total = by_variables[NY + k, c]
        for j in range(NY):
            total += by_variables[j, c] * tangent[j]
        out[c] = total


@routine
def correct_tangent_of_positions(k: int, factors: Factors, levels: Levels, tangent: Array) -> None:
    """Takes from u_q what violates the constraints on positions."""
    residual = zeros(NC)
    move = zeros(NV)
    violation(k, levels.phi_derivatives, tangent, residual)
    correction(factors, residual, move, NH)
    if PLAIN:
        for i in range(NV):
            tangent[i] += move[i]
    else:
        for i in range(NQ):
            tangent[i] += dot(levels.reach[i], move)


@routine
def correct_tangent_of_speeds(k: int, factors: Factors, levels: Levels, tangent: Array) -> None:
    """Takes from u_v what violates the constraints on velocities."""
    residual = zeros(NC)
    move = zeros(NV)
    violation(k, levels.slip_derivatives, tangent, residual)
    correction(factors, residual, move, NC)
    for i in range(NV):
        tangent[NQ + i] += move[i]


@routine
def settle_constraints_back(t: float, y: Array, settled: Array, p: Array, w: Array, pbar: Array) -> None:
    """Adjoints of a state on the constraints become those of the state before; parameters get their share."""
    factors = Factors()
    levels = Levels()
    move = zeros(NV)
    # The transpose of `constrain_with_tangents`, so in the opposite order: speeds, positions, quaternions. Each
    # correction adds to the adjoints of what it depends on, w_q among them, before these are corrected themselves.
    prepare_manifold(t, settled, p, factors, levels)
    for i in range(NV):
        move[i] = w[NQ + i]
    correction_back(factors, levels.slip_derivatives, move, w, pbar, NC)
    for i in range(NV):
        if PLAIN:
            move[i] = w[i]
        else:
            total = 0.0
            for j in range(NQ):
                total += levels.reach[j, i] * w[j]
            move[i] = total
    correction_back(factors, levels.phi_derivatives, move, w, pbar, NH)
    if QUATERNIONS:
        normalise_back(y, w)


@routine
def normalise_back(y: Array, w: Array) -> None:
    """Adjoints of a state with quaternions of length one become those of the state before."""
    before = zeros(NY)
    for i in range(NY):
        before[i] = w[i]
    normalised_adjoint(y, before, w)


@routine
def correction_back(
    factors: Factors, by_variables: ByVariables, move: Array, w: Array, pbar: Array, count: int
) -> None:
    """Adjoints of a correction become those of what it corrects: the transpose of `correction`."""
    multipliers = zeros(NC)
    if RECURSIVE:
        solve_augmented(factors, move, multipliers)
        for c in range(NC):
            # `correction` gave the constraints behind `count` nothing: they take nothing back.
            multipliers[c] = -multipliers[c] if c < count else 0.0
    else:
        whiten(factors.mass, move)
        for c in range(count):
            multipliers[c] = -dot(factors.rows[c], move)
        solve_lower_transposed(factors.r, multipliers, count)
    for j in range(NY):
        for c in range(NC):
            w[j] += by_variables[j, c] * multipliers[c]
    for k in range(NPAR):
        for c in range(NC):
            pbar[k] += by_variables[NY + k, c] * multipliers[c]


@routine
def constrain_with_integrals(t: float, y: Array, p: Array, out: Array) -> float:
    """The state on the constraints, with the integrals as they are; how far a singularity is."""
    for i in range(NY, NX):
        out[i] = y[i]
    distance = on_constraints(t, y, p, out)
    return distance
