"""The exact Jacobian of a mechanism's slopes, from its equations and not from their solution.

At fixed accelerations and multipliers the residuals M v' + Cᵀ λ - f and C v' - γ have slopes F and G by a state; the
accelerations then change by [M Cᵀ; C 0]⁻¹ [-F; -G], with the same factors for every state.

Beside a singular configuration the accelerations are those of the nearest state on the constraints, and vary with it:
there the slopes are differences.
"""

from __future__ import annotations

from torseur.codegen.routine import Array, External, routine, zeros
from torseur.simulation.constrained.accelerations import LEAST, NEAR, add, dot, solve_motion
from torseur.simulation.constrained.factors import (
    add_constraint_inertia,
    factor_mass,
    orthogonalise,
    solve_lower,
    unwhiten,
    whiten,
)
from torseur.simulation.constrained.sizes import MASSLESS, NC, NP, NQ, NV, SIZES
from torseur.simulation.dop853 import N, rhs
from torseur.simulation.laws import NU, laws
from torseur.simulation.radau.differences import difference_jacobian
from torseur.simulation.radau.newton_matrix import HALF, NJ

linearised = External(
    "linearised",
    "t: float, y: Array, p: Array, u: Array, a: Array, l: Array, mass: Array, rows: Array, rate_slopes: Array, "
    "force_slopes: Array, row_slopes: Array",
)


@routine
def mechanism_jacobian(t: float, y: Array, p: Array, jacobian: Array) -> None:
    """Slopes of the accelerations by the state, behind those of the rates where these are not the speeds."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    r = zeros(NC * NC)
    rate_slopes = zeros(NJ * NQ)
    force_slopes = zeros(NJ * NV)
    row_slopes = zeros(NJ * NC)
    distance = at_solution(t, y, p, mass, rows, rate_slopes, force_slopes, row_slopes)
    if distance < NEAR:
        difference_jacobian(t, y, p, jacobian)
        return
    if MASSLESS:
        weight = add_constraint_inertia(p, mass, rows)
        for j in range(NJ):
            for c in range(NC):
                if p[NP + SIZES + c] >= 0.0:
                    add(weight * row_slopes[j * NC + c], rows[c * NV :], force_slopes[j * NV :])
    factor_mass(mass)
    for c in range(NC):
        whiten(mass, rows[c * NV :])
    if NC > 0:
        orthogonalise(p, rows, r, LEAST)
    below = 0 if HALF else NQ
    for j in range(NJ):
        change = force_slopes[j * NV :]
        change_acceleration(mass, rows, r, change, row_slopes[j * NC :])
        for i in range(NV):
            jacobian[(below + i) * NJ + j] = -change[i]
        for i in range(below):
            jacobian[i * NJ + j] = rate_slopes[j * NQ + i]


@routine
def at_solution(
    t: float, y: Array, p: Array, mass: Array, rows: Array, rate_slopes: Array, force_slopes: Array, row_slopes: Array
) -> float:
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
    linearised(t, y, p, u, dy[NQ:], multipliers, mass, rows, rate_slopes, force_slopes, row_slopes)
    return distance


@routine
def change_acceleration(mass: Array, rows: Array, r: Array, change: Array, along: Array) -> None:
    """Slopes of the residuals become those of the accelerations, but for their sign."""
    whiten(mass, change)
    solve_lower(r, along, NC)
    for c in range(NC):
        part = along[c] - dot(rows[c * NV :], change)
        add(part, rows[c * NV :], change)
    unwhiten(mass, change)
