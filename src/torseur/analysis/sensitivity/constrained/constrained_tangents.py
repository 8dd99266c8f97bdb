"""Routines of both methods for constrained mechanisms: tangents and adjoints of accelerations and multipliers.

Accelerations and multipliers solve K [a; λ] = [f; γ], so that their tangents by a parameter solve

    [M Cᵀ] [a']     [r']
    [C 0 ] [λ'] = - [c']        r, c: residuals of both lines, differentiated at fixed a and λ

with the factors of K that the motion itself was solved by; adjoints use the same factors, since K is symmetric.
"""

from __future__ import annotations

import math
from typing import Annotated

from torseur.analysis.sensitivity.adjoint.backward_routines import settle_back
from torseur.analysis.sensitivity.constrained.friction_tangents import add_friction_tangents, friction_derivatives
from torseur.analysis.sensitivity.direct.tangent_routines import NPAR, NX, NY, Tangents
from torseur.computation.codegen.routine import Array, External, Record, Static, flat, routine, zeros
from torseur.computation.simulation.constrained.contacts.friction_forces import Sliding, add_friction
from torseur.computation.simulation.constrained.solver.accelerations import LEAST, NEAR, take_friction
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
    Rows,
    Settings,
)
from torseur.computation.simulation.constrained.solver.factors import (
    add,
    add_constraint_inertia,
    factor,
    solve_augmented,
)
from torseur.computation.simulation.explicit.runge_kutta import N
from torseur.computation.simulation.loop.settling import constrain

NZ: int = Static("NZ")  # integrands
NSHARED: int = Static("NSHARED")  # values that the terms of the motion share with what is computed from them


class SolvedMotion(Record):
    """The motion at a state, with what it was solved by; programs know a, l and s by these names."""

    factors: Factors
    plain: Rows  # C as it is, kept where bodies have no inertia
    rubbed: Sliding  # the rows of friction as they are
    added: float  # r of M + r Cᵀ C there
    s: Annotated[Array, NSHARED]
    a: Annotated[Array, NV]  # accelerations
    l: Annotated[Array, NC]  # multipliers


class Derivatives(Record):
    """Derivatives by the states and then the parameters, a row each: of the rates, of r and c, of the integrands."""

    rate_derivatives: Annotated[Array, NY + NPAR, NQ]
    equation_derivatives: Annotated[Array, NY + NPAR, NV + NC]
    integrand_derivatives: Annotated[Array, NY + NPAR, NZ]


motion_terms = External(
    "motion_terms", "t: float, y: Array, p: Array, rates: Array, force: Array, s: Array, factors: Factors", Factors
)
eliminated_motion_terms = External(
    "eliminated_motion_terms",
    "t: float, y: Array, p: Array, sizes: Array, least: float, rates: Array, force: Array, gamma: Array, "
    "factors: Array, distance: Array, s: Array",
)
motion_derivatives = External(
    "motion_derivatives",
    "t: float, y: Array, p: Array, solved: SolvedMotion, derivatives: Derivatives",
    SolvedMotion,
    Derivatives,
)
integrands = External(
    "integrands", "t: float, y: Array, p: Array, solved: SolvedMotion, values: Array, by_solution: Array", SolvedMotion
)
equations_pullback = External(
    "equations_pullback",
    "t: float, y: Array, p: Array, solved: SolvedMotion, w: Array, x: Array, ybar: Array, pbar: Array",
    SolvedMotion,
)


@routine
def solve_motion_with_factors(t: float, y: Array, p: Array, rates: Array, solved: SolvedMotion) -> float:
    """Rates, accelerations and multipliers, with the factors they were solved by; how far a singularity is."""
    settings = Settings.view(p[NP:])
    factors = solved.factors
    if RECURSIVE:
        eliminated_motion_terms(
            t, y, p, settings.sizes, LEAST, rates, solved.a, factors.gamma, factors.values, factors.distance, solved.s
        )
        distance = factors.distance[0]
    else:
        motion_terms(t, y, p, rates, solved.a, solved.s, factors)
        if MASSLESS:
            solved.added = add_constraint_inertia(p, factors)
            for c in range(NC):
                for i in range(NV):
                    solved.plain[c, i] = factors.rows[c, i]
        for k in range(NT):
            for i in range(NV):
                solved.rubbed[k, i] = factors.rows[NC - NT + k, i]
        distance = factor(p, factors, LEAST)
    for c in range(NC):
        solved.l[c] = factors.gamma[c]
    if NT > 0:
        solve_with_friction(t, y, p, solved)
    else:
        solve_with_factors(p, solved, solved.a, solved.l)
    return distance


@routine
def solve_with_friction(t: float, y: Array, p: Array, solved: SolvedMotion) -> None:
    """The same where friction may slide: its force first, which follows from what presses in turn."""
    u = zeros(1)
    add_constraint_force(p, solved, solved.a, solved.l)
    add_friction(t, y, p, u, solved.rubbed, solved.factors, solved.a)
    solve_augmented(solved.factors, solved.a, solved.l)
    take_friction(solved.factors, solved.l)


@routine
def solve_with_factors(p: Array, solved: SolvedMotion, force: Array, multipliers: Array) -> None:
    """(force, gamma) become (a, λ) with M a + Cᵀ λ = force, C a = gamma; gamma stands in `multipliers`."""
    add_constraint_force(p, solved, force, multipliers)
    solve_augmented(solved.factors, force, multipliers)


@routine
def add_constraint_force(p: Array, solved: SolvedMotion, force: Array, multipliers: Array) -> None:
    """What the force gains where bodies have no inertia, and constraints lend theirs."""
    settings = Settings.view(p[NP:])
    if MASSLESS:
        for c in range(NC):
            if settings.sizes[c] >= 0.0:
                # M was factored as M + r Cᵀ C. With r Cᵀ γ added to the force, a and λ stay the same, since C a = γ.
                add(solved.added * multipliers[c], solved.plain[c], force)


@routine
def constrained_tangent_rhs(t: float, y: Array, p: Array, dy: Array) -> None:
    """(x', u') of a constrained mechanism.

    Close to a singular configuration those of the nearest state and tangents on the constraints are taken, as the
    simulation does: off them accelerations are far from those on them, and their derivatives farther.
    """
    distance = tangent_rhs_as_it_is(t, y, p, dy)
    if NC > 0 and distance < NEAR:
        on_it = zeros(N)
        constrain(t, y, p, on_it)
        if math.isfinite(on_it[0]):
            tangent_rhs_as_it_is(t, on_it, p, dy)
            if PLAIN:
                for i in range(NV):
                    dy[i] = y[NQ + i]
                for i in range(NV * NPAR):
                    dy[NX + i] = y[NX + NQ * NPAR + i]


@routine
def tangent_rhs_as_it_is(t: float, y: Array, p: Array, dy: Array) -> float:
    """(x', u') of a state that may be off its constraints; how far a singularity is."""
    settings = Settings.view(p[NP:])
    solved = SolvedMotion()
    derivatives = Derivatives()
    by_solution = zeros(NZ, NV + NC)
    tangents = zeros(NV + NC, NPAR)  # of accelerations and multipliers
    distance = solve_motion_with_factors(t, y, p, dy, solved)
    for i in range(NV):
        dy[NQ + i] = solved.a[i]
    motion_derivatives(t, y, p, solved, derivatives)
    if NZ > 0:
        integrands(t, y, p, solved, dy[NY:], by_solution)
    u = y[NX:]
    du = dy[NX:]
    if PLAIN:
        for i in range(NQ * NPAR):
            du[i] = u[NQ * NPAR + i]
    else:
        differentiate(NQ, 1.0, flat(derivatives.rate_derivatives), u, du)
    # At fixed a and λ first: -[r_y u + r_p; c_y u + c_p]. K then makes tangents of (a, λ) of it, with the factors that
    # the motion was solved by: one factorisation for the motion and all its tangents.
    differentiate(NV + NC, -1.0, flat(derivatives.equation_derivatives), u, flat(tangents))
    solve_columns(p, solved, tangents)
    if NT > 0:
        laws = zeros(NY + NPAR, NT)
        by_multipliers = zeros(NT, NC)
        explicit = zeros(NT, NPAR)
        friction_derivatives(t, y, p, solved.l, settings.sliding, settings.creep, laws, by_multipliers)
        differentiate(NT, 1.0, flat(laws), u, flat(explicit))
        add_friction_tangents(p, solved.factors, solved.rubbed, by_multipliers, explicit, tangents)
    for i in range(NV):
        for k in range(NPAR):
            du[(NQ + i) * NPAR + k] = tangents[i, k]
    if NZ > 0:
        # Integrands depend on the states directly, and through accelerations and multipliers.
        out = du[NY * NPAR :]
        differentiate(NZ, 1.0, flat(derivatives.integrand_derivatives), u, out)
        for z in range(NZ):
            for i in range(NV + NC):
                derivative = by_solution[z, i]
                for k in range(NPAR):
                    out[z * NPAR + k] += derivative * tangents[i, k]
    return distance


@routine
def differentiate(count: int, sign: float, by_variables: Array, u: Array, out: Array) -> None:
    """Tangents of `count` formulas by each parameter, from their derivatives by states and parameters.

    `by_variables` has a row per state and then per parameter, each of `count` numbers.
    """
    total = zeros(NPAR)
    for i in range(count):
        for k in range(NPAR):
            total[k] = by_variables[(NY + k) * count + i]
        for j in range(NY):
            derivative = by_variables[j * count + i]
            row = u[j * NPAR :]
            for k in range(NPAR):
                total[k] += derivative * row[k]
        for k in range(NPAR):
            out[i * NPAR + k] = sign * total[k]


@routine
def solve_columns(p: Array, solved: SolvedMotion, x: Tangents) -> None:
    """What `solve_with_factors` does, for a matrix with a column per parameter: [force; gamma] becomes [a; λ]."""
    if RECURSIVE:
        solve_columns_by_bodies(solved, x)
    else:
        solve_columns_by_rows(p, solved, x)


@routine
def solve_columns_by_bodies(solved: SolvedMotion, x: Tangents) -> None:
    """One column after the other, with the factors of bodies and loops."""
    force = zeros(NV)
    gamma = zeros(NC)
    for k in range(NPAR):
        for i in range(NV):
            force[i] = x[i, k]
        for c in range(NC):
            gamma[c] = x[NV + c, k]
        solve_augmented(solved.factors, force, gamma)
        for i in range(NV):
            x[i, k] = force[i]
        for c in range(NC):
            x[NV + c, k] = gamma[c]


@routine
def solve_columns_by_rows(p: Array, solved: SolvedMotion, x: Tangents) -> None:
    """All columns at once, with the factors of M and C: rows are added to rows, along memory."""
    settings = Settings.view(p[NP:])
    mass = solved.factors.mass  # L
    rows = solved.factors.rows  # Q
    r = solved.factors.r  # R
    g = x[NV:]
    if MASSLESS:
        for c in range(NC):
            if settings.sizes[c] >= 0.0:
                for i in range(NV):
                    add_row(solved.added * solved.plain[c, i], g[c], x[i])
    # With M = L Lᵀ and C L⁻ᵀ = R Q (see factors.py), row by row over all parameters:
    #
    #     x := L⁻¹ f,   g := R⁻¹ γ        to the metric of M, where constraints are orthonormal
    #     g := Q x - g                    what the constraints take
    #     x := x - Qᵀ g                   and what they leave
    #     λ := R⁻ᵀ g,   a := L⁻ᵀ x
    for i in range(NV):  # L⁻¹
        for j in range(i):
            add_row(-mass[i, j], x[j], x[i])
        scale_row(mass[i, i], x[i])
    for c in range(NC):  # R⁻¹
        for j in range(c):
            add_row(-r[c, j], g[j], g[c])
        scale_row(r[c, c], g[c])
    for c in range(NC):
        scale_row(-1.0, g[c])
        for i in range(NV):
            add_row(rows[c, i], x[i], g[c])
    for i in range(NV):
        for c in range(NC):
            add_row(-rows[c, i], g[c], x[i])
    for c in range(NC - 1, -1, -1):  # R⁻ᵀ
        scale_row(r[c, c], g[c])
        for j in range(c):
            add_row(-r[c, j], g[c], g[j])
    for i in range(NV - 1, -1, -1):  # L⁻ᵀ
        scale_row(mass[i, i], x[i])
        for j in range(i):
            add_row(-mass[i, j], x[i], x[j])


@routine
def add_row(factor: float, a: Array, b: Array) -> None:
    """b becomes b + factor a, over the parameters."""
    for k in range(NPAR):
        b[k] += factor * a[k]


@routine
def scale_row(factor: float, a: Array) -> None:
    """a becomes factor a, over the parameters."""
    for k in range(NPAR):
        a[k] *= factor


@routine
def constrained_rhs_with_integrals(t: float, y: Array, p: Array, dy: Array) -> None:
    """x' of a constrained mechanism; beside a singular configuration that of the nearest state on the constraints."""
    distance = rhs_as_it_is(t, y, p, dy)
    if distance < NEAR:
        on_it = zeros(N)
        constrain(t, y, p, on_it)
        if math.isfinite(on_it[0]):
            rhs_as_it_is(t, on_it, p, dy)
            if PLAIN:
                for i in range(NV):
                    dy[i] = y[NQ + i]


@routine
def rhs_as_it_is(t: float, y: Array, p: Array, dy: Array) -> float:
    """x' of a state that may be off its constraints; how far a singularity is."""
    solved = SolvedMotion()
    by_solution = zeros(NZ, NV + NC)
    distance = solve_motion_with_factors(t, y, p, dy, solved)
    for i in range(NV):
        dy[NQ + i] = solved.a[i]
    if NZ > 0:
        integrands(t, y, p, solved, dy[NY:], by_solution)
    return distance


@routine
def adjoint_of_solution(t: float, y: Array, p: Array, solved: SolvedMotion, w: Array, x: Array) -> None:
    """[x; m] with K [x; m] = adjoints of accelerations and multipliers, from adjoints w of x'."""
    values = zeros(NZ)
    by_solution = zeros(NZ, NV + NC)
    for i in range(NV):
        x[i] = w[NQ + i]
    if NZ > 0:
        integrands(t, y, p, solved, values, by_solution)
        for z in range(NZ):
            for i in range(NV + NC):
                x[i] += by_solution[z, i] * w[NY + z]
    solve_with_factors(p, solved, x, x[NV:])


@routine
def constrained_pullback(t: float, y: Array, p: Array, a: Array, w: Array, ybar: Array, pbar: Array) -> None:
    """Adjoints of x' pulled back to those of the states and of the parameters."""
    distance = pullback_as_it_is(t, y, p, w, ybar, pbar)
    if distance < NEAR:
        # x' is that of the projected state there, so that adjoints go back through the projection; rates that are
        # speeds are those of the state itself.
        on_it = zeros(N)
        others = zeros(N)
        constrain(t, y, p, on_it)
        if math.isfinite(on_it[0]):
            for i in range(NX):
                others[i] = w[i]
            if PLAIN:
                for i in range(NQ):
                    others[i] = 0.0
            pullback_as_it_is(t, on_it, p, others, ybar, pbar)
            settle_back(t, y, on_it, p, ybar, pbar)
            if PLAIN:
                for i in range(NV):
                    ybar[NQ + i] += w[i]


@routine
def pullback_as_it_is(t: float, y: Array, p: Array, w: Array, ybar: Array, pbar: Array) -> float:
    """Adjoints pulled back at a state that may be off its constraints; how far a singularity is."""
    solved = SolvedMotion()
    rates = zeros(NQ)
    x = zeros(NV + NC)
    distance = solve_motion_with_factors(t, y, p, rates, solved)
    adjoint_of_solution(t, y, p, solved, w, x)
    equations_pullback(t, y, p, solved, w, x, ybar, pbar)
    return distance
