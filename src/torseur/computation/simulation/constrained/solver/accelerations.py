"""Accelerations and multipliers at a state: M v' + Cᵀ λ = f, C v' = γ, by the augmented and the projector formulation.

Both work in the metric of the mass matrix, x = Lᵀ v' and z = L⁻¹ f with M = L Lᵀ, where C L⁻ᵀ = R Q (see factors.py):

    augmented   Rᵀ λ = Q z - R⁻¹ γ,  then  x = z - (R Q)ᵀ λ
    projector   x = P z + Qᵀ R⁻¹ γ   with  P = 1 - Qᵀ Q,  without multipliers

P is the oblique projector of forces 1 - Cᵀ (C M⁻¹ Cᵀ)⁻¹ C M⁻¹, seen in this metric; it is completed by C v' = γ because
P M alone has no inverse.
"""

from __future__ import annotations

import math

from torseur.computation.codegen.routine import Array, External, routine, zeros
from torseur.computation.simulation.constrained.contacts.friction_forces import add_friction
from torseur.computation.simulation.constrained.solver.constrained_sizes import (
    MASSLESS,
    NC,
    NP,
    NQ,
    NT,
    NV,
    PLAIN,
    RECURSIVE,
    Factors,
    Settings,
    dynamics,
    eliminated,
    solved_beside,
)
from torseur.computation.simulation.constrained.solver.factors import (
    add,
    add_constraint_inertia,
    dot,
    factor,
    solve_augmented,
    solve_bodies,
    solve_lower,
    solve_lower_transposed,
    unwhiten,
    whiten,
)
from torseur.computation.simulation.explicit.runge_kutta import N
from torseur.computation.simulation.loop.settling import constrain
from torseur.computation.simulation.model.force_laws import NU, laws

accelerated = External("accelerated", "t: float, y: Array, p: Array, dy: Array, multipliers: Array -> float")

# Distances are squares, of what a row adds by what it usually adds: 1e-12 is an angle of about 1e-6 to the singular
# configuration, 3e-5 one of 5e-3.
LEAST = 1e-12  # distance from a singular configuration below which a constraint does not accelerate
VANISHING = 3e-5  # distance below which a constraint is not solved for the acceleration across it
NEAR = 1e-2  # distance from a singular configuration below which states are put on the constraints first


@routine
def constrained_rhs(t: float, y: Array, p: Array, dy: Array) -> None:
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
            rhs_beside(t, on_it, p, dy)
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
    factors = Factors()
    force = dy[NQ:]
    distance = prepare_motion(t, y, p, dy, factors)
    for c in range(NC):
        multipliers[c] = factors.gamma[c]
    solve_augmented(factors, force, multipliers)
    if NT > 0:
        take_friction(factors, multipliers)
    return distance


@routine
def projector(t: float, y: Array, p: Array, dy: Array, multipliers: Array) -> float:
    """Rates and accelerations by the projected equation; the multipliers are what the projection took away."""
    if RECURSIVE:  # noqa: SIM108 - only one of both is compiled
        # Eliminating loop by loop projects body by body: the two formulations are one there.
        distance = augmented(t, y, p, dy, multipliers)
    else:
        distance = project_motion(t, y, p, dy, multipliers)
    return distance


@routine
def project_motion(t: float, y: Array, p: Array, dy: Array, multipliers: Array) -> float:
    """The same with M and C formed."""
    factors = Factors()
    z = dy[NQ:]
    distance = prepare_motion(t, y, p, dy, factors)
    whiten(factors.mass, z)
    # x = z - Qᵀ (Q z) + Qᵀ (R⁻¹ γ), and Rᵀ λ = Q z - R⁻¹ γ is what was taken away.
    solve_lower(factors.r, factors.gamma, NC)
    for c in range(NC):
        multipliers[c] = dot(factors.rows[c], z)
        add(-multipliers[c], factors.rows[c], z)
    for c in range(NC):
        add(factors.gamma[c], factors.rows[c], z)
        multipliers[c] -= factors.gamma[c]
    solve_lower_transposed(factors.r, multipliers, NC)
    unwhiten(factors.mass, z)
    if NT > 0:
        take_friction(factors, multipliers)
    return distance


@routine
def take_friction(factors: Factors, multipliers: Array) -> None:
    """The multipliers of friction that slides, which are given, among those that were solved for."""
    for k in range(NT):
        multipliers[NC - NT + k] += factors.friction[k]


@routine
def prepare_motion(t: float, y: Array, p: Array, dy: Array, factors: Factors) -> float:
    """Rates and force in dy, and the factors of M and C; the distance from a singular configuration.

    The force is not a number where some motion has no inertia.
    """
    settings = Settings.view(p[NP:])
    force = dy[NQ:]
    u = zeros(NU + 1)
    if NU > 0:
        laws(t, y, p, u)
    if RECURSIVE:
        eliminated(t, y, p, u, settings.sizes, LEAST, dy, force, factors.gamma, factors.values, factors.distance)
        distance = factors.distance[0]
    else:
        dynamics(t, y, p, u, dy, force, factors)
        if MASSLESS:
            # (M + r Cᵀ C) v' + Cᵀ λ = f + r Cᵀ γ: the same v' and λ, since C v' = γ.
            weight = add_constraint_inertia(p, factors)
            for c in range(NC):
                if settings.sizes[c] >= 0.0:
                    add(weight * factors.gamma[c], factors.rows[c], force)
        if NT > 0:
            # Rows that slide are switched off, and factoring makes them zero: their directions are needed as they are.
            sliding = zeros(NT, NV)
            for k in range(NT):
                for i in range(NV):
                    sliding[k, i] = factors.rows[NC - NT + k, i]
            distance = factor(p, factors, LEAST)
            if distance >= 0.0:
                add_friction(t, y, p, u, sliding, factors, force)
        else:
            distance = factor(p, factors, LEAST)
        if distance < 0.0:
            for i in range(NV):
                # The integrator refuses a step that is not a number: no exceptions in compiled code.
                force[i] = math.nan
            distance = 1.0
    return distance


@routine
def rhs_beside(t: float, y: Array, p: Array, dy: Array) -> None:
    """Rates and accelerations beside a singular configuration, by the projected equation."""
    factors = Factors()
    z = dy[NQ:]
    prepare_motion(t, y, p, dy, factors)
    if RECURSIVE:
        solve_bodies_or_hold(p, factors, z)
    else:
        whiten(factors.mass, z)
        solve_or_hold(p, factors)
        for c in range(NC):
            part = factors.gamma[c] - dot(factors.rows[c], z)
            add(part, factors.rows[c], z)
        unwhiten(factors.mass, z)


@routine
def solve_bodies_or_hold(p: Array, factors: Factors, x: Array) -> None:
    """The same where bodies and loops are eliminated one after the other."""
    settings = Settings.view(p[NP:])
    force = zeros(NV)
    for i in range(NV):
        force[i] = x[i]
    if settings.holds != 0.0:
        solved_beside(factors.values, force, factors.gamma, settings.held, x)
    else:
        solve_bodies(factors, x, factors.gamma)


# Why the acceleration is held: docs/decisions/0032-acceleration-held-across-vanishing-constraints.md.
@routine
def solve_or_hold(p: Array, factors: Factors) -> None:
    """γ becomes R⁻¹ γ, but for constraints that all but vanish: across these the held acceleration goes on.

    The motion along the constraints does not depend on it. Solved for, it would be noise over the third power of the
    angle to the singular configuration.
    """
    settings = Settings.view(p[NP:])
    held = zeros(NV)
    # The unknown is x = Lᵀ v': what is held must be brought into the same metric.
    for i in range(NV):  # Lᵀ times what is held; the diagonal of L holds inverses
        held[i] = settings.held[i] / factors.mass[i, i]
        for j in range(i + 1, NV):
            held[i] += factors.mass[j, i] * settings.held[j]
    for k in range(NC):
        weights = factors.r[k]
        total = factors.gamma[k]
        for j in range(k):
            total -= weights[j] * factors.gamma[j]
        factors.gamma[k] = total * weights[k]
        # weights[k] is 1/√left, so this is left < VANISHING · usual without a division.
        vanishes = VANISHING * settings.sizes[k] * weights[k] * weights[k] > 1.0
        if vanishes and settings.holds != 0.0:
            factors.gamma[k] = dot(factors.rows[k], held)
