"""Routines of both methods for constrained mechanisms: changes and weights of accelerations and multipliers."""

from __future__ import annotations

from torseur.codegen.routine import Array, External, Static, routine, zeros
from torseur.sensitivity.tangent import NPAR, NX, NY
from torseur.simulation.constrained.accelerations import LEAST, add, dot
from torseur.simulation.constrained.factors import (
    add_constraint_inertia,
    factor_mass,
    orthogonalise,
    solve_lower,
    solve_lower_transposed,
    unwhiten,
    whiten,
)
from torseur.simulation.constrained.sizes import MASSLESS, NC, NP, NQ, NV, SIZES, dynamics

NZ: int = Static("NZ")  # integrands

slopes = External(
    "slopes",
    "t: float, y: Array, p: Array, a: Array, l: Array, rate_slopes: Array, slopes: Array, integrand_slopes: Array",
)
integrands = External(
    "integrands", "t: float, y: Array, p: Array, a: Array, l: Array, values: Array, by_solution: Array"
)
pulled = External(
    "pulled", "t: float, y: Array, p: Array, a: Array, l: Array, w: Array, x: Array, ybar: Array, pbar: Array"
)


@routine
def factored_motion(
    t: float, y: Array, p: Array, dy: Array, multipliers: Array, mass: Array, rows: Array, r: Array, plain: Array
) -> float:
    """Rates, accelerations and multipliers, with the factors they were found by: L in `mass`, Q in `rows`, R in `r`.

    `plain` keeps the rows of C as they are; the answer is the inertia that C was given where bodies have none.
    """
    along = zeros(NC)
    u = zeros(1)
    force = dy[NQ:]
    dynamics(t, y, p, u, dy, mass, force, rows, along)
    weight = 0.0
    if MASSLESS:
        weight = add_constraint_inertia(p, mass, rows)
        for i in range(NC * NV):
            plain[i] = rows[i]
    factor_mass(mass)
    for c in range(NC):
        whiten(mass, rows[c * NV :])
    orthogonalise(p, rows, r, LEAST)
    for c in range(NC):
        multipliers[c] = along[c]
    solve_factored(p, mass, rows, r, plain, weight, force, multipliers)
    return weight


@routine
def solve_factored(
    p: Array, mass: Array, rows: Array, r: Array, plain: Array, weight: float, force: Array, multipliers: Array
) -> None:
    """(force, gamma) become (a, λ) with M a + Cᵀ λ = force, C a = gamma; gamma stands in `multipliers`."""
    if MASSLESS:
        for c in range(NC):
            if p[NP + SIZES + c] >= 0.0:
                add(weight * multipliers[c], plain[c * NV :], force)
    whiten(mass, force)
    solve_lower(r, multipliers, NC)
    for c in range(NC):
        multipliers[c] = dot(rows[c * NV :], force) - multipliers[c]
    for c in range(NC):
        add(-multipliers[c], rows[c * NV :], force)
    solve_lower_transposed(r, multipliers, NC)
    unwhiten(mass, force)


@routine
def constrained_tangent_slope(t: float, y: Array, p: Array, dy: Array) -> None:
    """(x', u') of a constrained mechanism."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    plain = zeros(NC * NV)
    r = zeros(NC * NC)
    multipliers = zeros(NC + 1)
    rate_slopes = zeros((NY + NPAR) * NQ)
    equation_slopes = zeros((NY + NPAR) * (NV + NC))
    integrand_slopes = zeros((NY + NPAR) * NZ + 1)
    by_solution = zeros(NZ * (NV + NC) + 1)
    change = zeros(NV + NC)
    weight = factored_motion(t, y, p, dy, multipliers, mass, rows, r, plain)
    a = dy[NQ:]
    slopes(t, y, p, a, multipliers, rate_slopes, equation_slopes, integrand_slopes)
    if NZ > 0:
        integrands(t, y, p, a, multipliers, dy[NY:], by_solution)
    u = y[NX:]
    du = dy[NX:]
    for k in range(NPAR):
        gather(k, NQ, rate_slopes, u, du)
        for i in range(NV + NC):
            total = -equation_slopes[(NY + k) * (NV + NC) + i]
            for j in range(NY):
                total -= equation_slopes[j * (NV + NC) + i] * u[j * NPAR + k]
            change[i] = total
        solve_factored(p, mass, rows, r, plain, weight, change, change[NV:])
        for i in range(NV):
            du[(NQ + i) * NPAR + k] = change[i]
        if NZ > 0:
            gather(k, NZ, integrand_slopes, u, du[NY * NPAR :])
            for z in range(NZ):
                total = du[(NY + z) * NPAR + k]
                for i in range(NV + NC):
                    total += by_solution[z * (NV + NC) + i] * change[i]
                du[(NY + z) * NPAR + k] = total


@routine
def gather(k: int, count: int, by_variables: Array, u: Array, out: Array) -> None:
    """Changes of `count` formulas with parameter k, from their slopes by states and parameters."""
    for i in range(count):
        total = by_variables[(NY + k) * count + i]
        for j in range(NY):
            total += by_variables[j * count + i] * u[j * NPAR + k]
        out[i * NPAR + k] = total


@routine
def constrained_slope_with_integrals(t: float, y: Array, p: Array, dy: Array) -> None:
    """x' of a constrained mechanism."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    plain = zeros(NC * NV)
    r = zeros(NC * NC)
    multipliers = zeros(NC + 1)
    by_solution = zeros(NZ * (NV + NC) + 1)
    factored_motion(t, y, p, dy, multipliers, mass, rows, r, plain)
    if NZ > 0:
        integrands(t, y, p, dy[NQ:], multipliers, dy[NY:], by_solution)


@routine
def constrained_pullback(t: float, y: Array, p: Array, a: Array, w: Array, ybar: Array, pbar: Array) -> None:
    """Weights of x' pulled back to weights of the states and of the parameters."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    plain = zeros(NC * NV)
    r = zeros(NC * NC)
    dy = zeros(NQ + NV)
    multipliers = zeros(NC + 1)
    values = zeros(NZ + 1)
    by_solution = zeros(NZ * (NV + NC) + 1)
    x = zeros(NV + NC)
    weight = factored_motion(t, y, p, dy, multipliers, mass, rows, r, plain)
    for i in range(NV):
        x[i] = w[NQ + i]
    if NZ > 0:
        integrands(t, y, p, dy[NQ:], multipliers, values, by_solution)
        for z in range(NZ):
            for i in range(NV + NC):
                x[i] += by_solution[z * (NV + NC) + i] * w[NY + z]
    solve_factored(p, mass, rows, r, plain, weight, x, x[NV:])
    pulled(t, y, p, dy[NQ:], multipliers, w, x, ybar, pbar)


@routine
def constrained_events(t: float, y: Array, p: Array, g: Array) -> None:
    """Event formulas that need accelerations or multipliers."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    plain = zeros(NC * NV)
    r = zeros(NC * NC)
    dy = zeros(NQ + NV)
    multipliers = zeros(NC + 1)
    factored_motion(t, y, p, dy, multipliers, mass, rows, r, plain)
    solved_events(t, y, p, dy[NQ:], multipliers, g)


solved_events = External("solved_events", "t: float, y: Array, p: Array, a: Array, l: Array, g: Array")
