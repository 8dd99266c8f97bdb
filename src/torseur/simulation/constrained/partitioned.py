"""Accelerations by partition of the speeds into dependent and independent ones, and reduction to the latter.

    v' = N v'_in + a,   N = [-C_de⁻¹ C_in; 1],   a = [C_de⁻¹ γ; 0]
    (Nᵀ M N) v'_in = Nᵀ (f - M a)

Which speeds are dependent, and which constraints determine them, stands in p (see sizes.py). It is chosen outside the
compiled loop, which is left when the choice has become a bad one: when a dependent speed is much faster than the
independent ones that drive it.
"""

from __future__ import annotations

import math

from torseur.codegen.routine import Array, IntArray, izeros, routine, zeros
from torseur.simulation.constrained.accelerations import add, dot
from torseur.simulation.constrained.sizes import LIMIT, NC, NP, NQ, NV, ORDER, PIVOT, RANK, ROWS, dynamics, positions
from torseur.simulation.laws import NU, laws

VANISHING = 1e-6  # part of its usual size below which a pivot is left out while a singularity is passed


@routine
def partitioned(t: float, y: Array, p: Array, dy: Array, multipliers: Array) -> float:
    """Rates, accelerations and multipliers by the reduced equations."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    gamma = zeros(NC)
    basis = zeros(NV * NV + NV)
    dependent = zeros(NC * NC)
    pivots = izeros(NC)
    u = zeros(NU + 1)
    force = dy[NQ:]
    if NU > 0:
        laws(t, y, p, u)
    dynamics(t, y, p, u, dy, mass, force, rows, gamma)
    smallest = make_basis(p, rows, gamma, basis, dependent, pivots)
    reduced_solution(p, mass, force, basis, multipliers, dependent, pivots)
    return smallest * smallest


@routine
def make_basis(p: Array, rows: Array, gamma: Array, basis: Array, dependent: Array, pivots: IntArray) -> float:
    """Rows of Nᵀ, then a; leaves C_de factored in `dependent`. Its smallest pivot, in units of its usual size."""
    rank = int(p[NP + RANK])
    for i in range(rank):
        row = rows[int(p[NP + ROWS + i]) * NV :]
        for j in range(rank):
            dependent[i * NC + j] = row[int(p[NP + ORDER + j])]
    smallest = eliminate_rows(dependent, rank, p[NP + PIVOT], pivots)
    column = zeros(NC)
    for k in range(NV - rank + 1):
        member = basis[k * NV :]
        free = int(p[NP + ORDER + rank + k]) if k < NV - rank else -1
        for i in range(rank):
            source = int(p[NP + ROWS + i])
            column[i] = -rows[source * NV + free] if free >= 0 else gamma[source]
        solve_rows(dependent, rank, pivots, column)
        for j in range(NV):
            member[j] = 0.0
        for i in range(rank):
            member[int(p[NP + ORDER + i])] = column[i]
        if free >= 0:
            member[free] = 1.0
    return smallest


@routine
def reduced_solution(
    p: Array, mass: Array, force: Array, basis: Array, multipliers: Array, dependent: Array, pivots: IntArray
) -> None:
    """Forces become accelerations; the multipliers balance the forces along the dependent speeds."""
    rank = int(p[NP + RANK])
    free = NV - rank
    reduced = zeros(NV * NV)
    answer = zeros(NV)
    taken = zeros(NV)
    left = zeros(NV)
    particular = basis[free * NV :]
    mass_times(mass, particular, taken)
    for i in range(NV):
        left[i] = force[i] - taken[i]
    for k in range(free):
        mass_times(mass, basis[k * NV :], taken)
        for m in range(k + 1):
            reduced[k * NV + m] = dot(basis[m * NV :], taken)
        answer[k] = dot(basis[k * NV :], left)
    solve_positive(reduced, answer, free)
    for i in range(NV):
        left[i] = particular[i]
    for k in range(free):
        add(answer[k], basis[k * NV :], left)
    mass_times(mass, left, taken)
    balance = zeros(NC)
    for i in range(rank):
        slot = int(p[NP + ORDER + i])
        balance[i] = force[slot] - taken[slot]
    solve_columns(dependent, rank, pivots, balance)
    for c in range(NC):
        multipliers[c] = 0.0
    for i in range(rank):
        multipliers[int(p[NP + ROWS + i])] = balance[i]
    for i in range(NV):
        force[i] = left[i]


@routine
def mass_times(mass: Array, x: Array, out: Array) -> None:
    """M x, from the lower triangle of M."""
    for i in range(NV):
        total = 0.0
        for j in range(i + 1):
            total += mass[i * NV + j] * x[j]
        for j in range(i + 1, NV):
            total += mass[j * NV + i] * x[j]
        out[i] = total


@routine
def solve_positive(a: Array, b: Array, n: int) -> None:
    """b becomes the solution of a symmetric positive system of n equations; not a number where it is not positive."""
    for j in range(n):
        row = a[j * NV :]
        left = row[j]
        for k in range(j):
            left -= row[k] * row[k]
        inverse = 1.0 / math.sqrt(left) if left > 0.0 else math.nan
        row[j] = inverse
        for i in range(j + 1, n):
            other = a[i * NV :]
            total = other[j]
            for k in range(j):
                total -= other[k] * row[k]
            other[j] = total * inverse
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= a[i * NV + k] * b[k]
        b[i] = total * a[i * NV + i]
    for i in range(n - 1, -1, -1):
        value = b[i] * a[i * NV + i]
        b[i] = value
        for k in range(i):
            b[k] -= a[i * NV + k] * value


@routine
def eliminate_rows(a: Array, n: int, usual: float, pivots: IntArray) -> float:
    """Factors a matrix of n equations in place, with exchanges of rows; its diagonal holds inverses.

    The answer is the smallest pivot in units of `usual`; one that all but vanishes is left out.
    """
    smallest = 1.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i * NC + k]) > abs(a[best * NC + k]):
                best = i
        pivots[k] = best
        for j in range(n):
            kept = a[k * NC + j]
            a[k * NC + j] = a[best * NC + j]
            a[best * NC + j] = kept
        size = abs(a[k * NC + k]) / usual
        smallest = min(smallest, size)
        inverse = 1.0 / a[k * NC + k] if size > VANISHING else 0.0
        a[k * NC + k] = inverse
        for i in range(k + 1, n):
            factor = a[i * NC + k] * inverse
            a[i * NC + k] = factor
            for j in range(k + 1, n):
                a[i * NC + j] -= factor * a[k * NC + j]
    return smallest


@routine
def solve_rows(a: Array, n: int, pivots: IntArray, b: Array) -> None:
    """b becomes the solution of A x = b."""
    for k in range(n):
        kept = b[k]
        b[k] = b[pivots[k]]
        b[pivots[k]] = kept
    for i in range(n):
        for j in range(i):
            b[i] -= a[i * NC + j] * b[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= a[i * NC + j] * b[j]
        b[i] *= a[i * NC + i]


@routine
def solve_columns(a: Array, n: int, pivots: IntArray, b: Array) -> None:
    """b becomes the solution of Aᵀ x = b."""
    for i in range(n):
        b[i] *= a[i * NC + i]
        for j in range(i + 1, n):
            b[j] -= a[i * NC + j] * b[i]
    for i in range(n - 1, -1, -1):
        for j in range(i):
            b[j] -= a[i * NC + j] * b[i]
    for k in range(n - 1, -1, -1):
        kept = b[k]
        b[k] = b[pivots[k]]
        b[pivots[k]] = kept


@routine
def is_well_partitioned(t: float, y: Array, p: Array) -> bool:
    """Whether no dependent speed is faster than its limit when the independent ones are one."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    phi = zeros(NC)
    basis = zeros(NV * NV + NV)
    dependent = zeros(NC * NC)
    pivots = izeros(NC)
    u = zeros(NU + 1)
    if NU > 0:
        laws(t, y, p, u)
    positions(t, y, p, u, mass, rows, phi)
    make_basis(p, rows, phi, basis, dependent, pivots)
    largest = 0.0
    for k in range(NV - int(p[NP + RANK])):
        free = int(p[NP + ORDER + int(p[NP + RANK]) + k])
        for i in range(NV):
            largest = max(largest, abs(basis[k * NV + i]) * p[NP + free] / p[NP + i])
    return largest <= p[NP + LIMIT]
