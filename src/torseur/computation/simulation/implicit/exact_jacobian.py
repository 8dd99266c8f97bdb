"""The exact Jacobian of a mechanism's right-hand side, from its equations and not from their solution.

At fixed accelerations and multipliers the residuals M v' + Cᵀ λ - f and C v' - γ have derivatives F and G by a state;
the accelerations then change by

    [M Cᵀ]⁻¹ [-F]
    [C 0 ]   [-G]

with the same factors for every state.

Beside a singular configuration the accelerations are those of the nearest state on the constraints, and vary with it:
there the derivatives are differences.
"""

from __future__ import annotations

from typing import Annotated

from torseur.computation.codegen.routine import Array, External, Record, routine, zeros
from torseur.computation.simulation.constrained.solver.accelerations import LEAST, NEAR, solve_motion
from torseur.computation.simulation.constrained.solver.constrained_sizes import (
    MASSLESS,
    NC,
    NP,
    NQ,
    NV,
    RECURSIVE,
    Factors,
    Settings,
    eliminated,
)
from torseur.computation.simulation.constrained.solver.factors import (
    add,
    add_constraint_inertia,
    factor,
    solve_acceleration,
)
from torseur.computation.simulation.explicit.runge_kutta import N, rhs
from torseur.computation.simulation.implicit.jacobian_differences import difference_jacobian
from torseur.computation.simulation.implicit.newton_matrix import HALF
from torseur.computation.simulation.implicit.radau_memory import NJ, Jacobian
from torseur.computation.simulation.model.force_laws import NU, laws


class Linearised(Record):
    """Derivatives by the states, a row each: of the rates, of M v' + Cᵀ λ - f (F) and of C v' - γ (G)."""

    rate_derivatives: Annotated[Array, NJ, NQ]
    force_derivatives: Annotated[Array, NJ, NV]
    row_derivatives: Annotated[Array, NJ, NC]


linearised = External(
    "linearised",
    "t: float, y: Array, p: Array, u: Array, a: Array, l: Array, factors: Factors, derivatives: Linearised",
    Factors,
    Linearised,
)


@routine
def mechanism_jacobian(t: float, y: Array, p: Array, jacobian: Jacobian) -> None:
    """Derivatives of the accelerations by the state, behind those of the rates where these are not the speeds."""
    settings = Settings.view(p[NP:])
    factors = Factors()
    by_state = Linearised()
    distance = linearise(t, y, p, factors, by_state)
    # 0 = F = M a + Cᵀ λ - f and 0 = G = C a - γ along a state s:
    #
    #     [ M  Cᵀ ] [ ∂a/∂s ]     [ ∂F/∂s ]
    #     [ C  0  ] [ ∂λ/∂s ] = - [ ∂G/∂s ]   at fixed a, λ
    #
    # Near a singular configuration the matrix loses rank, and differences of the accelerations are what is left.
    if distance < NEAR:
        difference_jacobian(t, y, p, jacobian)
        return
    if RECURSIVE:
        factor_bodies(t, y, p, factors)
    else:
        if MASSLESS:
            weight = add_constraint_inertia(p, factors)
            for j in range(NJ):
                for c in range(NC):
                    if settings.sizes[c] >= 0.0:
                        add(weight * by_state.row_derivatives[j, c], factors.rows[c], by_state.force_derivatives[j])
        factor(p, factors, LEAST)
    # Where q' = v, the upper half of J is known and not stored: see newton_matrix.py.
    below = 0 if HALF else NQ
    for j in range(NJ):
        solve_acceleration(factors, by_state.force_derivatives[j], by_state.row_derivatives[j])
        for i in range(NV):
            jacobian[below + i, j] = -by_state.force_derivatives[j, i]
        for i in range(below):
            jacobian[i, j] = by_state.rate_derivatives[j, i]


@routine
def factor_bodies(t: float, y: Array, p: Array, factors: Factors) -> None:
    """The factors of bodies and loops at a state."""
    settings = Settings.view(p[NP:])
    u = zeros(NU + 1)
    rates = zeros(NQ)
    force = zeros(NV)
    if NU > 0:
        laws(t, y, p, u)
    eliminated(t, y, p, u, settings.sizes, LEAST, rates, force, factors.gamma, factors.values, factors.distance)


@routine
def linearise(t: float, y: Array, p: Array, factors: Factors, by_state: Linearised) -> float:
    """The linearised equations at the accelerations and multipliers of the state; how far a singularity is."""
    u = zeros(NU + 1)
    dy = zeros(N)
    multipliers = zeros(NC)
    if NU > 0:
        laws(t, y, p, u)
    distance = 1.0
    if NC > 0:
        distance = solve_motion(t, y, p, dy, multipliers)
    else:
        rhs(t, y, p, dy)
    linearised(t, y, p, u, dy[NQ:], multipliers, factors, by_state)
    return distance
