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

from torseur.codegen.routine import Array, routine
from torseur.simulation.constrained.sizes import NC, NP, NV, SIZES

DEPENDENT = 1e-16  # square of the sine of the angle to the rows before, below which a row depends on them
CANCELLED = 1e-2  # square of the part of a row left over, below which it is made orthogonal once more
INERTIA_LOST = 1e-13  # part of a diagonal entry left over, below which nothing with inertia resists that motion


@routine
def factor_mass(mass: Array) -> bool:
    """Cholesky factor L of the mass matrix in place, lower triangle; false when some motion has no inertia."""
    for j in range(NV):
        row = mass[j * NV :]
        whole = row[j]
        left = whole
        for k in range(j):
            left -= row[k] * row[k]
        if not left > INERTIA_LOST * whole:
            return False
        inverse = 1.0 / math.sqrt(left)
        row[j] = inverse
        for i in range(j + 1, NV):
            other = mass[i * NV :]
            total = other[j]
            for k in range(j):
                total -= other[k] * row[k]
            other[j] = total * inverse
    return True


@routine
def add_constraint_inertia(p: Array, mass: Array, rows: Array) -> float:
    """Adds r Cᵀ C to the mass matrix and returns r, such that both terms have the same trace.

    Where bodies leave some motion without inertia, the constraints must forbid it. M + r Cᵀ C has then full rank and
    gives the same motion, since C v' is given.
    """
    of_mass = 0.0
    of_rows = 0.0
    for i in range(NV):
        of_mass += mass[i * NV + i]
    for c in range(NC):
        if p[NP + SIZES + c] >= 0.0:
            of_rows += square(rows[c * NV :])
    weight = of_mass / of_rows if of_rows > 0.0 else 0.0
    for c in range(NC):
        if p[NP + SIZES + c] >= 0.0:
            row = rows[c * NV :]
            for i in range(NV):
                for j in range(i + 1):
                    mass[i * NV + j] += weight * row[i] * row[j]
    return weight


@routine
def whiten(factor: Array, x: Array) -> None:
    """x becomes L⁻¹ x."""
    for i in range(NV):
        row = factor[i * NV :]
        total = x[i]
        for k in range(i):
            total -= row[k] * x[k]
        x[i] = total * row[i]


@routine
def unwhiten(factor: Array, x: Array) -> None:
    """x becomes L⁻ᵀ x."""
    for i in range(NV - 1, -1, -1):
        row = factor[i * NV :]
        value = x[i] * row[i]
        x[i] = value
        for k in range(i):
            x[k] -= row[k] * value


@routine
def orthogonalise(p: Array, rows: Array, r: Array, least: float) -> float:
    """Rows of C L⁻ᵀ become orthonormal rows Q, and r the lower triangle R.

    Modified Gram-Schmidt, once more for a row that has lost digits. The answer is the distance from a singular
    configuration: the smallest square of what a row adds to those before it, in units of its usual value. Below `least`
    the row is left out, while the singularity is passed.
    """
    distance = 1.0
    for k in range(NC):
        row = rows[k * NV :]
        weights = r[k * NC :]
        for j in range(k):
            weights[j] = 0.0
        whole = square(row)
        subtract_projections(rows, row, weights, k)
        left = square(row)
        if left < CANCELLED * whole:
            subtract_projections(rows, row, weights, k)
            left = square(row)
        usual = p[NP + SIZES + k]
        inverse = 0.0
        if usual > 0.0:
            distance = min(distance, left / usual)
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
def subtract_projections(rows: Array, row: Array, weights: Array, count: int) -> None:
    """Takes from a row its parts along the first orthonormal ones, and adds these parts to its weights."""
    for j in range(count):
        other = rows[j * NV :]
        along = 0.0
        for i in range(NV):
            along += other[i] * row[i]
        for i in range(NV):
            row[i] -= along * other[i]
        weights[j] += along


@routine
def solve_lower(r: Array, x: Array, count: int) -> None:
    """x becomes R⁻¹ x, zero where a row depends on others."""
    for k in range(count):
        row = r[k * NC :]
        total = x[k]
        for j in range(k):
            total -= row[j] * x[j]
        x[k] = total * row[k]


@routine
def solve_lower_transposed(r: Array, x: Array, count: int) -> None:
    """x becomes R⁻ᵀ x, zero where a row depends on others."""
    for k in range(count - 1, -1, -1):
        row = r[k * NC :]
        value = x[k] * row[k]
        x[k] = value
        for j in range(k):
            x[j] -= row[j] * value
