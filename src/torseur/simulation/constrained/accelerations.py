"""Accelerations and multipliers at a state: M v' + Cᵀ λ = f, C v' = γ, by the augmented and the projector formulation.

Both work in the metric of the mass matrix, x = Lᵀ v' and z = L⁻¹ f with M = L Lᵀ, where C L⁻ᵀ = R Q (see factors.py):

    augmented   Rᵀ λ = Q z - R⁻¹ γ,  then  x = z - (R Q)ᵀ λ
    projector   x = P z + Qᵀ R⁻¹ γ   with  P = 1 - Qᵀ Q,  without multipliers

P is the oblique projector of forces 1 - Cᵀ (C M⁻¹ Cᵀ)⁻¹ C M⁻¹, seen in this metric; it is completed by C v' = γ because
P M alone has no inverse.
"""

from __future__ import annotations

import math

from torseur.codegen.routine import Array, External, routine, zeros
from torseur.simulation.constrained.factors import (
    add_constraint_inertia,
    factor_mass,
    orthogonalise,
    solve_lower,
    solve_lower_transposed,
    unwhiten,
    whiten,
)
from torseur.simulation.constrained.sizes import (
    HELD,
    HOLDS,
    MASSLESS,
    NC,
    NP,
    NQ,
    NV,
    PLAIN,
    SIZES,
    dynamics,
)
from torseur.simulation.dop853 import N
from torseur.simulation.laws import NU, laws
from torseur.simulation.settling import constrain

accelerated = External("accelerated", "t: float, y: Array, p: Array, dy: Array, multipliers: Array -> float")

LEAST = 1e-12  # distance from a singular configuration below which a constraint does not accelerate
VANISHING = 3e-5  # distance below which a constraint is not solved for the acceleration across it
NEAR = 1e-2  # distance from a singular configuration below which states are put on the constraints first


@routine
def constrained_slope(t: float, y: Array, p: Array, dy: Array) -> None:
    """y' = (rates, v'), as the integrators take it.

    Close to a singular configuration the accelerations of a state off the constraints are far from those of the state
    on them, so the latter are taken there.
    """
    multipliers = zeros(NC)
    distance = accelerated(t, y, p, dy, multipliers)
    if distance < NEAR:
        on_it = zeros(N)
        constrain(t, y, p, on_it)
        if math.isfinite(on_it[0]):
            slope_beside(t, on_it, p, dy)
            if PLAIN:
                for i in range(NV):
                    dy[i] = y[NQ + i]


@routine
def solve_motion(t: float, y: Array, p: Array, dy: Array, multipliers: Array) -> float:
    """Rates, accelerations and multipliers of the nearest state on the constraints; how far a singularity is."""
    distance = accelerated(t, y, p, dy, multipliers)
    if distance < NEAR:
        on_it = zeros(N)
        constrain(t, y, p, on_it)
        if math.isfinite(on_it[0]):
            accelerated(t, on_it, p, dy, multipliers)
    return distance


@routine
def augmented(t: float, y: Array, p: Array, dy: Array, multipliers: Array) -> float:
    """Rates, accelerations and multipliers: multipliers first, accelerations from the forces they leave."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    r = zeros(NC * NC)
    along = zeros(NC)
    z = dy[NQ:]
    distance = prepared(t, y, p, dy, mass, rows, r, along)
    solve_lower(r, along, NC)
    for c in range(NC):
        multipliers[c] = dot(rows[c * NV :], z) - along[c]
    for c in range(NC):
        add(-multipliers[c], rows[c * NV :], z)
    solve_lower_transposed(r, multipliers, NC)
    unwhiten(mass, z)
    return distance


@routine
def projector(t: float, y: Array, p: Array, dy: Array, multipliers: Array) -> float:
    """Rates and accelerations by the projected equation; the multipliers are what the projection took away."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    r = zeros(NC * NC)
    along = zeros(NC)
    z = dy[NQ:]
    distance = prepared(t, y, p, dy, mass, rows, r, along)
    solve_lower(r, along, NC)
    for c in range(NC):
        multipliers[c] = dot(rows[c * NV :], z)
        add(-multipliers[c], rows[c * NV :], z)
    for c in range(NC):
        add(along[c], rows[c * NV :], z)
        multipliers[c] -= along[c]
    solve_lower_transposed(r, multipliers, NC)
    unwhiten(mass, z)
    return distance


@routine
def prepared(t: float, y: Array, p: Array, dy: Array, mass: Array, rows: Array, r: Array, along: Array) -> float:
    """L in `mass`, Q in `rows`, R in `r`, γ in `along`, and in dy the rates and z; the distance."""
    force = dy[NQ:]
    u = zeros(NU + 1)
    if NU > 0:
        laws(t, y, p, u)
    dynamics(t, y, p, u, dy, mass, force, rows, along)
    if MASSLESS:
        weight = add_constraint_inertia(p, mass, rows)
        for c in range(NC):
            if p[NP + SIZES + c] >= 0.0:
                add(weight * along[c], rows[c * NV :], force)
    if not factor_mass(mass):
        for i in range(NV):
            force[i] = math.nan
        return 1.0
    whiten(mass, force)
    for c in range(NC):
        whiten(mass, rows[c * NV :])
    distance = orthogonalise(p, rows, r, LEAST)
    return distance


@routine
def slope_beside(t: float, y: Array, p: Array, dy: Array) -> None:
    """Rates and accelerations beside a singular configuration, by the projected equation."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    r = zeros(NC * NC)
    along = zeros(NC)
    z = dy[NQ:]
    prepared(t, y, p, dy, mass, rows, r, along)
    solve_or_hold(p, mass, rows, r, along)
    for c in range(NC):
        part = along[c] - dot(rows[c * NV :], z)
        add(part, rows[c * NV :], z)
    unwhiten(mass, z)


@routine
def solve_or_hold(p: Array, mass: Array, rows: Array, r: Array, along: Array) -> None:
    """γ becomes R⁻¹ γ, but for constraints that all but vanish: across these the held acceleration goes on.

    The motion along the constraints does not depend on it. Solved for, it would be noise over the third power of the
    angle to the singular configuration.
    """
    held = zeros(NV)
    for i in range(NV):
        held[i] = p[NP + HELD + i] / mass[i * NV + i]
        for j in range(i + 1, NV):
            held[i] += mass[j * NV + i] * p[NP + HELD + j]
    for k in range(NC):
        weights = r[k * NC :]
        total = along[k]
        for j in range(k):
            total -= weights[j] * along[j]
        along[k] = total * weights[k]
        vanishes = VANISHING * p[NP + SIZES + k] * weights[k] * weights[k] > 1.0
        if vanishes and p[NP + HOLDS] != 0.0:
            along[k] = dot(rows[k * NV :], held)


@routine
def dot(a: Array, b: Array) -> float:
    total = 0.0
    for i in range(NV):
        total += a[i] * b[i]
    return total


@routine
def add(weight: float, a: Array, b: Array) -> None:
    """b becomes b + weight a."""
    for i in range(NV):
        b[i] += weight * a[i]
