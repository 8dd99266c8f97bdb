"""Accelerations by partition of the speeds into dependent and independent ones, and reduction to the latter.

    v' = N v'_in + a,   N = [-C_de⁻¹ C_in; 1],   a = [C_de⁻¹ γ; 0]
    (Nᵀ M N) v'_in = Nᵀ (f - M a)

Which speeds are dependent, and which constraints determine them, stands in p (see sizes.py). It is chosen outside the
compiled loop, which is left when the choice has become a bad one: when a dependent speed is much faster than the
independent ones that drive it.
"""

from __future__ import annotations

import math
from typing import Annotated

from torseur.computation.codegen.routine import Array, IntArray, Record, routine, zeros
from torseur.computation.simulation.constrained.solver.constrained_sizes import (
    NC,
    NP,
    NQ,
    NV,
    Factors,
    Settings,
    dynamics,
    positions,
)
from torseur.computation.simulation.constrained.solver.factors import add, dot
from torseur.computation.simulation.model.force_laws import NU, laws

VANISHING = 1e-6  # part of its usual size below which a pivot is left out while a singularity is passed


class Partition(Record):
    """A choice of dependent speeds: rows of Nᵀ and then a, and the factors of C_de."""

    basis: Annotated[Array, NV + 1, NV]
    dependent: Annotated[Array, NC, NC]
    pivots: Annotated[IntArray, NC]


@routine
def partitioned(t: float, y: Array, p: Array, dy: Array, multipliers: Array) -> float:
    """Rates, accelerations and multipliers by the reduced equations."""
    factors = Factors()
    partition = Partition()
    u = zeros(NU + 1)
    force = dy[NQ:]
    if NU > 0:
        laws(t, y, p, u)
    dynamics(t, y, p, u, dy, force, factors)
    smallest = make_basis(p, factors, partition)
    solve_reduced(p, factors.mass, partition, force, multipliers)
    # Squared, as the other formulations measure their distance from a singular configuration.
    return smallest * smallest


@routine
def make_basis(p: Array, factors: Factors, partition: Partition) -> float:
    """The basis from C and γ; the smallest pivot of C_de, in units of its usual size."""
    settings = Settings.view(p[NP:])
    rank = int(settings.rank)
    for i in range(rank):
        row = factors.rows[int(settings.rows[i])]
        for j in range(rank):
            partition.dependent[i, j] = row[int(settings.order[j])]
    smallest = eliminate_rows(partition.dependent, rank, settings.pivot, partition.pivots)
    # With the speeds in the order of the settings, dependent ones first, and only the rows that determine them,
    #     [ C_de  C_in ]     C_de x = -C_in e_k   makes column k of N, with a one in its own place below,
    #                        C_de x = γ           makes a, which stands behind the columns.
    column = zeros(NC)
    #     basis   [ column of N for independent speed 0 ]
    #             [                 ...                 ]   NV - rank of them, over all speeds in the layout's order
    #             [ a                                   ]   the last one
    for k in range(NV - rank + 1):
        member = partition.basis[k]
        free = int(settings.order[rank + k]) if k < NV - rank else -1
        for i in range(rank):
            source = int(settings.rows[i])
            column[i] = -factors.rows[source, free] if free >= 0 else factors.gamma[source]
        solve_rows(partition.dependent, rank, partition.pivots, column)
        for j in range(NV):
            member[j] = 0.0
        for i in range(rank):
            member[int(settings.order[i])] = column[i]
        if free >= 0:
            member[free] = 1.0
    return smallest


@routine
def solve_reduced(
    p: Array, mass: Annotated[Array, NV, NV], partition: Partition, force: Array, multipliers: Array
) -> None:
    """Forces become accelerations; the multipliers balance the forces along the dependent speeds."""
    settings = Settings.view(p[NP:])
    rank = int(settings.rank)
    free = NV - rank
    # The lower triangle of Nᵀ M N is enough for Cholesky's factors.
    reduced = zeros(NV, NV)
    answer = zeros(NV)
    taken = zeros(NV)
    left = zeros(NV)
    basis = partition.basis
    particular = basis[free]
    mass_times(mass, particular, taken)
    for i in range(NV):
        left[i] = force[i] - taken[i]
    for k in range(free):
        mass_times(mass, basis[k], taken)
        for m in range(k + 1):
            reduced[k, m] = dot(basis[m], taken)
        answer[k] = dot(basis[k], left)
    solve_positive(reduced, answer, free)
    for i in range(NV):
        left[i] = particular[i]
    for k in range(free):
        add(answer[k], basis[k], left)
    mass_times(mass, left, taken)
    # M v' + Cᵀ λ = f. The rows of independent speeds hold by the reduction; those of dependent ones are C_deᵀ λ = (f -
    # M v')_de. Constraints that determine nothing keep λ = 0, which is what other rows carry for them.
    balance = zeros(NC)
    for i in range(rank):
        slot = int(settings.order[i])
        balance[i] = force[slot] - taken[slot]
    solve_columns(partition.dependent, rank, partition.pivots, balance)
    for c in range(NC):
        multipliers[c] = 0.0
    for i in range(rank):
        multipliers[int(settings.rows[i])] = balance[i]
    for i in range(NV):
        force[i] = left[i]


@routine
def mass_times(mass: Annotated[Array, NV, NV], x: Array, out: Array) -> None:
    """M x, from the lower triangle of M."""
    for i in range(NV):
        total = 0.0
        for j in range(i + 1):
            total += mass[i, j] * x[j]
        for j in range(i + 1, NV):
            total += mass[j, i] * x[j]
        out[i] = total


@routine
def solve_positive(a: Annotated[Array, NV, NV], b: Array, n: int) -> None:
    """b becomes the solution of a symmetric positive system of n equations; not a number where it is not positive."""
    for j in range(n):
        row = a[j]
        left = row[j]
        for k in range(j):
            left -= row[k] * row[k]
        # Not a number makes the step fail and be tried again, shorter: a mass matrix of bodies is never indefinite for
        # long.
        inverse = 1.0 / math.sqrt(left) if left > 0.0 else math.nan
        row[j] = inverse
        for i in range(j + 1, n):
            other = a[i]
            total = other[j]
            for k in range(j):
                total -= other[k] * row[k]
            other[j] = total * inverse
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= a[i, k] * b[k]
        b[i] = total * a[i, i]
    for i in range(n - 1, -1, -1):
        value = b[i] * a[i, i]
        b[i] = value
        for k in range(i):
            b[k] -= a[i, k] * value


@routine
def eliminate_rows(a: Annotated[Array, NC, NC], n: int, usual: float, pivots: IntArray) -> float:
    """Factors a matrix of n equations in place, with exchanges of rows; its diagonal holds inverses.

    The answer is the smallest pivot in units of `usual`; one that all but vanishes is left out.
    """
    smallest = 1.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[best, k]):
                best = i
        pivots[k] = best
        for j in range(n):
            kept = a[k, j]
            a[k, j] = a[best, j]
            a[best, j] = kept
        size = abs(a[k, k]) / usual
        smallest = min(smallest, size)
        # At a singular configuration a dependent speed is not determined by this row: without it, it keeps its own
        # course.
        inverse = 1.0 / a[k, k] if size > VANISHING else 0.0
        a[k, k] = inverse
        for i in range(k + 1, n):
            factor = a[i, k] * inverse
            a[i, k] = factor
            for j in range(k + 1, n):
                a[i, j] -= factor * a[k, j]
    return smallest


@routine
def solve_rows(a: Annotated[Array, NC, NC], n: int, pivots: IntArray, b: Array) -> None:
    """b becomes the solution of A x = b."""
    for k in range(n):
        kept = b[k]
        b[k] = b[pivots[k]]
        b[pivots[k]] = kept
    for i in range(n):
        for j in range(i):
            b[i] -= a[i, j] * b[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= a[i, j] * b[j]
        b[i] *= a[i, i]


@routine
def solve_columns(a: Annotated[Array, NC, NC], n: int, pivots: IntArray, b: Array) -> None:
    """b becomes the solution of Aᵀ x = b."""
    for i in range(n):
        b[i] *= a[i, i]
        for j in range(i + 1, n):
            b[j] -= a[i, j] * b[i]
    for i in range(n - 1, -1, -1):
        for j in range(i):
            b[j] -= a[i, j] * b[i]
    for k in range(n - 1, -1, -1):
        kept = b[k]
        b[k] = b[pivots[k]]
        b[pivots[k]] = kept


@routine
def is_well_partitioned(t: float, y: Array, p: Array) -> bool:
    """Whether no dependent speed is faster than its limit when the independent ones are one."""
    settings = Settings.view(p[NP:])
    factors = Factors()
    partition = Partition()
    phi = zeros(NC)
    u = zeros(NU + 1)
    if NU > 0:
        laws(t, y, p, u)
    positions(t, y, p, u, phi, factors)
    make_basis(p, factors, partition)
    largest = 0.0
    rank = int(settings.rank)
    for k in range(NV - rank):
        scale = settings.scales[int(settings.order[rank + k])]
        for i in range(NV):
            # Speeds of angles and of lengths are compared as moves of the mechanism's size.
            largest = max(largest, abs(partition.basis[k, i]) * scale / settings.scales[i])
    return largest <= settings.limit
