"""Factors of the mass matrix and of lasting constraints, block by block: M + h/2 D = L Lᵀ, C L⁻ᵀ = R Q.

D is the damping of the loads: with it in the metric, their forces at the mean speed of a step follow impulses.

The same as in solver/factors.py for one block of all, with sizes that are known when they run: a heap of stones has as
many small blocks as stones. Diagonals of L and R hold inverses.
"""

from __future__ import annotations

import math

from torseur.computation.codegen.routine import Array, routine
from torseur.computation.simulation.constrained.solver.constrained_sizes import MASSLESS
from torseur.computation.simulation.constrained.stepping.stepping_memory import DAMPED, NB, NL, Stepping, Structure

INERTIA_LOST = 1e-13  # part of a diagonal entry left over, below which nothing with inertia resists that motion
DEPENDENT = 1e-16  # square of the part of a row left over by others, below which it follows from them


@routine
def factor_blocks(h: float, structure: Structure, work: Stepping) -> bool:
    """L, Q and R of every block; false where some motion has no inertia."""
    for b in range(NB):
        n = structure.first_speed[b + 1] - structure.first_speed[b]
        count = structure.first_row[b + 1] - structure.first_row[b]
        place = structure.mass_at[b]
        lower = work.lower[place:]
        rows = work.rows[structure.rows_at[b] :]
        copy_with_damping(n, 0.5 * h, work.mass[place:], work.damping[place:], lower)
        if MASSLESS:
            add_inertia_of_rows(n, count, lower, rows)
        regular = factor_block(n, lower)
        if DAMPED != 0 and not regular:
            # Loads that drive what moves may leave M + h/2 D without a factor.
            copy_with_damping(n, 0.0, work.mass[place:], work.damping[place:], lower)
            if MASSLESS:
                add_inertia_of_rows(n, count, lower, rows)
            regular = factor_block(n, lower)
        if not regular:
            return False
        for c in range(count):
            #     mass, lower   [ n₀ × n₀ | n₁ × n₁ | ... ]   block b from mass_at[b]
            #     rows          [ c₀ × n₀ | c₁ × n₁ | ... ]   from rows_at[b]
            #     r             [ c₀ × c₀ | c₁ × c₁ | ... ]   from r_at[b]
            # Speeds of a block follow one another from first_speed, its constraints from first_row.
            solve_block(n, lower, rows[c * n :])
        orthogonalise_block(n, count, rows, work.r[structure.r_at[b] :])
    return True


@routine
def copy_with_damping(n: int, part: float, mass: Array, damping: Array, lower: Array) -> None:
    """M and that part of the damping, lower triangle."""
    for i in range(n):
        for j in range(i + 1):
            k = i * n + j
            lower[k] = mass[k]
            if DAMPED:
                lower[k] += part * damping[k]


@routine
def add_product(weight: float, structure: Structure, work: Stepping, x: Array, out: Array) -> None:
    """out becomes out + weight M x."""
    for b in range(NB):
        first = structure.first_speed[b]
        n = structure.first_speed[b + 1] - first
        mass = work.mass[structure.mass_at[b] :]
        for i in range(n):
            out[first + i] += weight * mass[i * n + i] * x[first + i]
            for j in range(i):
                out[first + i] += weight * mass[i * n + j] * x[first + j]
                out[first + j] += weight * mass[i * n + j] * x[first + i]


@routine
def add_lower_product(structure: Structure, work: Stepping, z: Array, out: Array) -> None:
    """out becomes out + L z."""
    for b in range(NB):
        first = structure.first_speed[b]
        n = structure.first_speed[b + 1] - first
        lower = work.lower[structure.mass_at[b] :]
        for i in range(n):
            out[first + i] += z[first + i] / lower[i * n + i]
            for j in range(i):
                out[first + i] += lower[i * n + j] * z[first + j]


@routine
def add_inertia_of_rows(n: int, count: int, mass: Array, rows: Array) -> None:
    """M + w Cᵀ C, which moves as M does: constraints give C v."""
    of_mass = 0.0
    of_rows = 0.0
    for i in range(n):
        of_mass += mass[i * n + i]
    for k in range(count * n):
        of_rows += rows[k] * rows[k]
    weight = of_mass / of_rows if of_rows > 0.0 else 0.0
    for c in range(count):
        for i in range(n):
            for j in range(i + 1):
                mass[i * n + j] += weight * rows[c * n + i] * rows[c * n + j]


@routine
def factor_block(n: int, mass: Array) -> bool:
    """L in place of the lower triangle of M."""
    for j in range(n):
        row = mass[j * n :]
        whole = row[j]
        left = whole
        for k in range(j):
            left -= row[k] * row[k]
        if not left > INERTIA_LOST * whole:
            return False
        inverse = 1.0 / math.sqrt(left)
        row[j] = inverse
        for i in range(j + 1, n):
            other = mass[i * n :]
            total = other[j]
            for k in range(j):
                total -= other[k] * row[k]
            other[j] = total * inverse
    return True


@routine
def solve_block(n: int, lower: Array, x: Array) -> None:
    """x becomes L⁻¹ x."""
    for i in range(n):
        row = lower[i * n :]
        total = x[i]
        for k in range(i):
            total -= row[k] * x[k]
        x[i] = total * row[i]


@routine
def solve_block_transposed(n: int, lower: Array, x: Array) -> None:
    """x becomes L⁻ᵀ x."""
    for i in range(n - 1, -1, -1):
        row = lower[i * n :]
        value = x[i] * row[i]
        x[i] = value
        for k in range(i):
            x[k] -= row[k] * value


@routine
def orthogonalise_block(n: int, count: int, rows: Array, r: Array) -> None:
    """Rows become orthonormal, with R beside them; one that follows from others becomes zero."""
    for k in range(count):
        row = rows[k * n :]
        for j in range(k):
            r[k * count + j] = 0.0
        whole = dot_of(n, row, row)
        # Always twice: blocks are small, and what a pass loses to cancellation the next one restores.
        for _ in range(2):
            for j in range(k):
                other = rows[j * n :]
                along = dot_of(n, other, row)
                add_part(n, -along, other, row)
                r[k * count + j] += along
        left = dot_of(n, row, row)
        inverse = 0.0
        if left > DEPENDENT * whole and left > 0.0:
            inverse = 1.0 / math.sqrt(left)
        for i in range(n):
            row[i] *= inverse
        r[k * count + k] = inverse


@routine
def dot_of(n: int, a: Array, b: Array) -> float:
    total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


@routine
def add_part(n: int, weight: float, a: Array, b: Array) -> None:
    """b becomes b + weight a."""
    for i in range(n):
        b[i] += weight * a[i]


@routine
def to_metric(structure: Structure, work: Stepping, v: Array, z: Array) -> None:
    """z = Lᵀ v."""
    for b in range(NB):
        first = structure.first_speed[b]
        n = structure.first_speed[b + 1] - first
        lower = work.lower[structure.mass_at[b] :]
        for i in range(n):
            total = v[first + i] / lower[i * n + i]
            for k in range(i + 1, n):
                total += lower[k * n + i] * v[first + k]
            z[first + i] = total


@routine
def force_to_metric(structure: Structure, work: Stepping, force: Array) -> None:
    """f becomes L⁻¹ f."""
    for b in range(NB):
        first = structure.first_speed[b]
        n = structure.first_speed[b + 1] - first
        solve_block(n, work.lower[structure.mass_at[b] :], force[first:])


@routine
def from_metric(structure: Structure, work: Stepping, z: Array, v: Array) -> None:
    """v = L⁻ᵀ z."""
    for b in range(NB):
        first = structure.first_speed[b]
        n = structure.first_speed[b + 1] - first
        x = v[first:]
        for i in range(n):
            x[i] = z[first + i]
        solve_block_transposed(n, work.lower[structure.mass_at[b] :], x)


@routine
def along_rows(structure: Structure, work: Stepping, b: int, x: Array) -> None:
    """Takes from x, a vector of block b in the metric, what the lasting constraints do not let pass."""
    n = structure.first_speed[b + 1] - structure.first_speed[b]
    count = structure.first_row[b + 1] - structure.first_row[b]
    rows = work.rows[structure.rows_at[b] :]
    for c in range(count):
        row = rows[c * n :]
        add_part(n, -dot_of(n, row, x), row, x)


@routine
def drift_to_metric(structure: Structure, work: Stepping) -> None:
    """The drift of the lasting constraints becomes R⁻¹ drift."""
    if NL > 0:
        for b in range(NB):
            begin = structure.first_row[b]
            count = structure.first_row[b + 1] - begin
            r = work.r[structure.r_at[b] :]
            given = work.drift[begin:]
            for c in range(count):
                total = given[c]
                for j in range(c):
                    total -= r[c * count + j] * given[j]
                given[c] = total * r[c * count + c]


@routine
def keep_constraints(structure: Structure, work: Stepping) -> None:
    """Gives the free speeds C (v + v₊)/2 + drift = 0 in the middle of the step: constraints take no energy there."""
    if NL > 0:
        for b in range(NB):
            first = structure.first_speed[b]
            n = structure.first_speed[b + 1] - first
            begin = structure.first_row[b]
            rows = work.rows[structure.rows_at[b] :]
            for c in range(structure.first_row[b + 1] - begin):
                row = rows[c * n :]
                mean = dot_of(n, row, work.z_free[first:]) + dot_of(n, row, work.z[first:])
                add_part(n, -(mean + 2.0 * work.drift[begin + c]), row, work.z_free[first:])
