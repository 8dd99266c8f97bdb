"""Elimination of a symmetric matrix along a tree, leaves first, without filling in.

Entry (i, j) can differ from zero only where j is above i (Featherstone 2008, section 6.5). `above[k]` is the next speed
towards the earth, -1 at the root; k - 1 everywhere makes it the ordinary dense elimination.
"""

from __future__ import annotations

import math

from torseur.codegen.routine import Array, IntArray, Static, routine, zeros

N: int = Static("N")  # rows


@routine
def factor_tree(a: Array, above: IntArray) -> None:
    """Lᵀ L = A in place, L lower triangular with the inverses of its diagonal on the diagonal."""
    for k in range(N - 1, -1, -1):
        row = a[k * (k + 1) // 2 :]
        inverse = 1.0 / math.sqrt(row[k]) if row[k] > 0.0 else 0.0
        row[k] = inverse
        i = above[k]
        while i >= 0:
            row[i] *= inverse
            i = above[i]
        i = above[k]
        while i >= 0:
            other = a[i * (i + 1) // 2 :]
            j = i
            while j >= 0:
                other[j] -= row[i] * row[j]
                j = above[j]
            i = above[i]


@routine
def solve_tree(a: Array, above: IntArray, x: Array) -> None:
    """x becomes A⁻¹ x: first Lᵀ, leaves first, then L."""
    for k in range(N - 1, -1, -1):
        row = a[k * (k + 1) // 2 :]
        x[k] *= row[k]
        i = above[k]
        while i >= 0:
            x[i] -= row[i] * x[k]
            i = above[i]
    for k in range(N):
        row = a[k * (k + 1) // 2 :]
        total = x[k]
        i = above[k]
        while i >= 0:
            total -= row[i] * x[i]
            i = above[i]
        x[k] = total * row[k]


@routine
def weakest_pivot(a: Array, above: IntArray, low: Array, high: Array) -> float:
    """The smallest pivot as a part of its own diagonal entry: 0 where some motion changes nothing.

    Speeds without room between their limits do not count.
    """
    factor = zeros(N * (N + 1) // 2)
    for k in range(N * (N + 1) // 2):
        factor[k] = a[k]
    weakest = 1.0
    for k in range(N - 1, -1, -1):
        row = factor[k * (k + 1) // 2 :]
        whole = a[k * (k + 1) // 2 + k]
        left = row[k]
        inverse = 0.0
        if low[k] < high[k]:
            weakest = min(weakest, left / whole) if whole > 0.0 else 0.0
            inverse = 1.0 / left if left > 1e-13 * whole else 0.0
        i = above[k]
        while i >= 0:
            other = factor[i * (i + 1) // 2 :]
            part = row[i] * inverse
            j = i
            while j >= 0:
                other[j] -= part * row[j]
                j = above[j]
            i = above[i]
    return weakest
