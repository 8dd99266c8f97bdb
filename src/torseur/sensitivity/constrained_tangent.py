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
from torseur.simulation.constrained.sizes import MASSLESS, NC, NP, NQ, NV, PLAIN, SIZES

NZ: int = Static("NZ")  # integrands
NSHARED: int = Static("NSHARED")  # values that the terms of the motion share with what is computed from them

motion_terms = External(
    "motion_terms",
    "t: float, y: Array, p: Array, rates: Array, mass: Array, force: Array, rows: Array, gamma: Array, s: Array",
)
slopes = External(
    "slopes",
    "t: float, y: Array, p: Array, a: Array, l: Array, s: Array, rate_slopes: Array, slopes: Array, "
    "integrand_slopes: Array",
)
integrands = External(
    "integrands", "t: float, y: Array, p: Array, a: Array, l: Array, values: Array, by_solution: Array"
)
pulled = External(
    "pulled",
    "t: float, y: Array, p: Array, a: Array, l: Array, s: Array, w: Array, x: Array, ybar: Array, pbar: Array",
)


@routine
def factored_motion(
    t: float,
    y: Array,
    p: Array,
    dy: Array,
    multipliers: Array,
    mass: Array,
    rows: Array,
    r: Array,
    plain: Array,
    shared: Array,
) -> float:
    """Rates, accelerations and multipliers, with the factors they were found by: L in `mass`, Q in `rows`, R in `r`.

    `plain` keeps the rows of C as they are; the answer is the inertia that C was given where bodies have none.
    """
    along = zeros(NC)
    force = dy[NQ:]
    motion_terms(t, y, p, dy, mass, force, rows, along, shared)
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
    shared = zeros(NSHARED + 1)
    r = zeros(NC * NC)
    multipliers = zeros(NC + 1)
    rate_slopes = zeros((NY + NPAR) * NQ)
    equation_slopes = zeros((NY + NPAR) * (NV + NC))
    integrand_slopes = zeros((NY + NPAR) * NZ + 1)
    by_solution = zeros(NZ * (NV + NC) + 1)
    change = zeros((NV + NC) * NPAR)
    weight = factored_motion(t, y, p, dy, multipliers, mass, rows, r, plain, shared)
    a = dy[NQ:]
    slopes(t, y, p, a, multipliers, shared, rate_slopes, equation_slopes, integrand_slopes)
    if NZ > 0:
        integrands(t, y, p, a, multipliers, dy[NY:], by_solution)
    u = y[NX:]
    du = dy[NX:]
    if PLAIN:
        for i in range(NQ * NPAR):
            du[i] = u[NQ * NPAR + i]
    else:
        changed(NQ, 1.0, rate_slopes, u, du)
    changed(NV + NC, -1.0, equation_slopes, u, change)
    solve_columns(p, mass, rows, r, plain, weight, change)
    for i in range(NV * NPAR):
        du[NQ * NPAR + i] = change[i]
    if NZ > 0:
        out = du[NY * NPAR :]
        changed(NZ, 1.0, integrand_slopes, u, out)
        for z in range(NZ):
            for i in range(NV + NC):
                slope = by_solution[z * (NV + NC) + i]
                for k in range(NPAR):
                    out[z * NPAR + k] += slope * change[i * NPAR + k]


@routine
def changed(count: int, sign: float, by_variables: Array, u: Array, out: Array) -> None:
    """Changes of `count` formulas with each parameter, from their slopes by states and parameters."""
    total = zeros(NPAR)
    for i in range(count):
        for k in range(NPAR):
            total[k] = by_variables[(NY + k) * count + i]
        for j in range(NY):
            slope = by_variables[j * count + i]
            row = u[j * NPAR :]
            for k in range(NPAR):
                total[k] += slope * row[k]
        for k in range(NPAR):
            out[i * NPAR + k] = sign * total[k]


@routine
def solve_columns(p: Array, mass: Array, rows: Array, r: Array, plain: Array, weight: float, x: Array) -> None:
    """What `solve_factored` does, for a matrix with a column per parameter."""
    g = x[NV * NPAR :]
    if MASSLESS:
        for c in range(NC):
            if p[NP + SIZES + c] >= 0.0:
                for i in range(NV):
                    add_row(weight * plain[c * NV + i], g[c * NPAR :], x[i * NPAR :])
    for i in range(NV):
        for j in range(i):
            add_row(-mass[i * NV + j], x[j * NPAR :], x[i * NPAR :])
        scale_row(mass[i * NV + i], x[i * NPAR :])
    for c in range(NC):
        for j in range(c):
            add_row(-r[c * NC + j], g[j * NPAR :], g[c * NPAR :])
        scale_row(r[c * NC + c], g[c * NPAR :])
    for c in range(NC):
        scale_row(-1.0, g[c * NPAR :])
        for i in range(NV):
            add_row(rows[c * NV + i], x[i * NPAR :], g[c * NPAR :])
    for i in range(NV):
        for c in range(NC):
            add_row(-rows[c * NV + i], g[c * NPAR :], x[i * NPAR :])
    for c in range(NC - 1, -1, -1):
        scale_row(r[c * NC + c], g[c * NPAR :])
        for j in range(c):
            add_row(-r[c * NC + j], g[c * NPAR :], g[j * NPAR :])
    for i in range(NV - 1, -1, -1):
        scale_row(mass[i * NV + i], x[i * NPAR :])
        for j in range(i):
            add_row(-mass[i * NV + j], x[i * NPAR :], x[j * NPAR :])


@routine
def add_row(weight: float, a: Array, b: Array) -> None:
    """b becomes b + weight a, over the parameters."""
    for k in range(NPAR):
        b[k] += weight * a[k]


@routine
def scale_row(weight: float, a: Array) -> None:
    """a becomes weight a, over the parameters."""
    for k in range(NPAR):
        a[k] *= weight


@routine
def constrained_slope_with_integrals(t: float, y: Array, p: Array, dy: Array) -> None:
    """x' of a constrained mechanism."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    plain = zeros(NC * NV)
    shared = zeros(NSHARED + 1)
    r = zeros(NC * NC)
    multipliers = zeros(NC + 1)
    by_solution = zeros(NZ * (NV + NC) + 1)
    factored_motion(t, y, p, dy, multipliers, mass, rows, r, plain, shared)
    if NZ > 0:
        integrands(t, y, p, dy[NQ:], multipliers, dy[NY:], by_solution)


@routine
def constrained_pullback(t: float, y: Array, p: Array, a: Array, w: Array, ybar: Array, pbar: Array) -> None:
    """Weights of x' pulled back to weights of the states and of the parameters."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    plain = zeros(NC * NV)
    shared = zeros(NSHARED + 1)
    r = zeros(NC * NC)
    dy = zeros(NQ + NV)
    multipliers = zeros(NC + 1)
    values = zeros(NZ + 1)
    by_solution = zeros(NZ * (NV + NC) + 1)
    x = zeros(NV + NC)
    weight = factored_motion(t, y, p, dy, multipliers, mass, rows, r, plain, shared)
    for i in range(NV):
        x[i] = w[NQ + i]
    if NZ > 0:
        integrands(t, y, p, dy[NQ:], multipliers, values, by_solution)
        for z in range(NZ):
            for i in range(NV + NC):
                x[i] += by_solution[z * (NV + NC) + i] * w[NY + z]
    solve_factored(p, mass, rows, r, plain, weight, x, x[NV:])
    pulled(t, y, p, dy[NQ:], multipliers, shared, w, x, ybar, pbar)
