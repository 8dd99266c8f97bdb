"""Factors of the mass matrix and of the constraints in its metric.

M = L Lᵀ, and the rows of C L⁻ᵀ are made orthonormal one after the other: C L⁻ᵀ = R Q with R lower triangular. So
R Rᵀ = C M⁻¹ Cᵀ, with half its loss of digits. A row that depends on those before it becomes zero, and so does the
place of its inverse on the diagonal of R: its multiplier is then zero and it takes no part in anything. Rows that
depend on others only thanks to special dimensions do so on the constraints only, and hardly beside them; so which rows
do is known beforehand (see regularity.py).

Diagonals of L and R hold the inverses of their entries.
"""

from __future__ import annotations

import math
from typing import Annotated

from torseur.computation.codegen.routine import Array, routine, zeros
from torseur.computation.simulation.constrained.solver.constrained_sizes import (
    MC,
    MV,
    NC,
    NP,
    NV,
    RECURSIVE,
    Factors,
    Rows,
    Settings,
    solved,
    unsolved,
)

DEPENDENT = 1e-16  # square of the sine of the angle to the rows before, below which a row depends on them
# A row reduced to a tenth has lost a digit.
CANCELLED = 1e-2  # square of the part of a row left over, below which it is made orthogonal once more
REFINED = 1e-6  # square of the part of a row left over, below which solutions by bodies and loops are refined once
INERTIA_LOST = 1e-13  # part of a diagonal entry left over, below which nothing with inertia resists that motion


# Why the metric of the mass matrix: docs/decisions/0031-constraints-in-the-mass-metric.md.
@routine
def factor_mass(mass: Annotated[Array, MV, MV]) -> bool:
    """Cholesky factor L of the mass matrix in place, lower triangle; false when some motion has no inertia."""
    for j in range(NV):
        row = mass[j]
        whole = row[j]
        left = whole
        for k in range(j):
            left -= row[k] * row[k]
        # Written with `not`, so that NaN counts as missing inertia too.
        if not left > INERTIA_LOST * whole:
            return False
        inverse = 1.0 / math.sqrt(left)
        # The inverse stands on the diagonal: every solution multiplies, and divides once per factor.
        row[j] = inverse
        for i in range(j + 1, NV):
            other = mass[i]
            total = other[j]
            for k in range(j):
                total -= other[k] * row[k]
            other[j] = total * inverse
    return True


@routine
def add_constraint_inertia(p: Array, factors: Factors) -> float:
    """Adds r Cᵀ C to the mass matrix and returns r, such that both terms have the same trace.

    Where bodies leave some motion without inertia, the constraints must forbid it. M + r Cᵀ C has then full rank and
    gives the same motion, since C v' is given.
    """
    settings = Settings.view(p[NP:])
    of_mass = 0.0
    of_rows = 0.0
    for i in range(NV):
        # Equal traces weigh both terms alike, whatever the units: neither is lost in the other's rounding.
        of_mass += factors.mass[i, i]
    for c in range(NC):
        if settings.sizes[c] >= 0.0:
            of_rows += square(factors.rows[c])
    weight = of_mass / of_rows if of_rows > 0.0 else 0.0
    for c in range(NC):
        if settings.sizes[c] >= 0.0:
            row = factors.rows[c]
            for i in range(NV):
                for j in range(i + 1):
                    factors.mass[i, j] += weight * row[i] * row[j]
    return weight


@routine
def whiten(factor: Annotated[Array, MV, MV], x: Array) -> None:
    """x becomes L⁻¹ x."""
    for i in range(NV):
        row = factor[i]
        total = x[i]
        for k in range(i):
            total -= row[k] * x[k]
        x[i] = total * row[i]


@routine
def unwhiten(factor: Annotated[Array, MV, MV], x: Array) -> None:
    """x becomes L⁻ᵀ x."""
    for i in range(NV - 1, -1, -1):
        row = factor[i]
        value = x[i] * row[i]
        x[i] = value
        for k in range(i):
            x[k] -= row[k] * value


@routine
def orthogonalise(p: Array, factors: Factors, least: float) -> float:
    """Rows of C L⁻ᵀ become orthonormal rows Q, with the lower triangle R beside them.

    Modified Gram-Schmidt, once more for a row that has lost digits. The answer is the distance from a singular
    configuration: the smallest square of what a row adds to those before it, in units of its usual value. Below `least`
    the row is left out, while the singularity is passed.
    """
    settings = Settings.view(p[NP:])
    distance = 1.0
    for k in range(NC):
        row = factors.rows[k]
        weights = factors.r[k]
        for j in range(k):
            weights[j] = 0.0
        whole = square(row)
        subtract_projections(factors.rows, row, weights, k)
        left = square(row)
        if left < CANCELLED * whole:
            subtract_projections(factors.rows, row, weights, k)
            left = square(row)
        usual = settings.sizes[k]
        inverse = 0.0
        if usual > 0.0:
            distance = min(distance, left / usual)
            # The first part is rounding. The second is for the passage of a singular configuration, where the row is
            # not zero but its multiplier would be noise.
            if left > max(DEPENDENT * whole, least * usual):
                inverse = 1.0 / math.sqrt(left)
        for i in range(NV):
            row[i] *= inverse
        weights[k] = inverse
    return distance


@routine
def square(row: Array) -> float:
    total = 0.0
    for i in range(NV):
        total += row[i] * row[i]
    return total


@routine
def subtract_projections(rows: Rows, row: Array, weights: Array, count: int) -> None:
    """Takes from a row its parts along the first orthonormal ones, and adds these parts to its weights."""
    for j in range(count):
        other = rows[j]
        along = 0.0
        for i in range(NV):
            along += other[i] * row[i]
        for i in range(NV):
            row[i] -= along * other[i]
        # Added, not set: the second pass corrects what the first one left.
        weights[j] += along


@routine
def solve_lower(r: Annotated[Array, MC, MC], x: Array, count: int) -> None:
    """x becomes R⁻¹ x, zero where a row depends on others."""
    for k in range(count):
        row = r[k]
        total = x[k]
        for j in range(k):
            total -= row[j] * x[j]
        x[k] = total * row[k]


@routine
def solve_lower_transposed(r: Annotated[Array, MC, MC], x: Array, count: int) -> None:
    """x becomes R⁻ᵀ x, zero where a row depends on others."""
    for k in range(count - 1, -1, -1):
        row = r[k]
        value = x[k] * row[k]
        x[k] = value
        for j in range(k):
            x[j] -= row[j] * value


@routine
def factor(p: Array, factors: Factors, least: float) -> float:
    """M becomes L and C becomes Q, with R beside it; the distance from a singularity, -1 where inertia is missing."""
    if not factor_mass(factors.mass):
        return -1.0
    for c in range(NC):
        whiten(factors.mass, factors.rows[c])
    distance = orthogonalise(p, factors, least)
    return distance


@routine
def solve_augmented(factors: Factors, x: Array, multipliers: Array) -> None:
    """(f, γ) become (v', λ) with M v' + Cᵀ λ = f, C v' = γ; γ stands in `multipliers`."""
    if RECURSIVE:
        solve_bodies(factors, x, multipliers)
    else:
        whiten(factors.mass, x)
        solve_lower(factors.r, multipliers, NC)
        for c in range(NC):
            #     x = z - Qᵀ m,   m = Q z - R⁻¹ γ = Rᵀ λ
            multipliers[c] = dot(factors.rows[c], x) - multipliers[c]
        for c in range(NC):
            add(-multipliers[c], factors.rows[c], x)
        solve_lower_transposed(factors.r, multipliers, NC)
        unwhiten(factors.mass, x)


@routine
def solve_bodies(factors: Factors, x: Array, multipliers: Array) -> None:
    """The same from the factors that the elimination of bodies and loops left."""
    force = zeros(NV)
    gamma = zeros(NC)
    for i in range(NV):
        force[i] = x[i]
    for c in range(NC):
        gamma[c] = multipliers[c]
    solved(factors.values, force, gamma, x, multipliers)
    # One step of iterative refinement: residuals with the unfactored equations, a correction with the same factors.
    if factors.distance[1] < REFINED:
        refine(factors, force, gamma, x, multipliers)


@routine
def refine(factors: Factors, force: Array, gamma: Array, x: Array, multipliers: Array) -> None:
    """A solution with the digits that it lost to rows which all but follow from others: pivots are squares."""
    force_left = zeros(NV)
    gamma_left = zeros(NC)
    more = zeros(NV)
    multipliers_more = zeros(NC)
    unsolved(factors.values, force, gamma, x, multipliers, force_left, gamma_left)
    solved(factors.values, force_left, gamma_left, more, multipliers_more)
    for i in range(NV):
        x[i] += more[i]
    for c in range(NC):
        multipliers[c] += multipliers_more[c]


@routine
def solve_acceleration(factors: Factors, x: Array, gamma: Array) -> None:
    """f becomes v' with M v' + Cᵀ λ = f, C v' = γ, by projection: x = (1 - Qᵀ Q) z + Qᵀ R⁻¹ γ, without multipliers."""
    if RECURSIVE:
        solve_bodies(factors, x, gamma)
    else:
        whiten(factors.mass, x)
        solve_lower(factors.r, gamma, NC)
        for c in range(NC):
            # Orthonormal rows do not disturb one another: x may be corrected row by row in place.
            part = gamma[c] - dot(factors.rows[c], x)
            add(part, factors.rows[c], x)
        unwhiten(factors.mass, x)


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
