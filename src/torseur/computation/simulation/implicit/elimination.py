"""Gaussian elimination with row exchanges, for one real matrix or one complex matrix in two parts.

Matrices have NE rows and are factored in place; pivots on the diagonal hold their inverses.
"""

from __future__ import annotations

from torseur.computation.codegen.routine import Array, routine
from torseur.computation.simulation.implicit.radau_memory import NE, Pivots, Square


@routine
def eliminate(a: Square, pivots: Pivots) -> None:
    """Factors a in place; pivots[k] is the row that took the place of row k."""
    for k in range(NE):
        best = k
        for i in range(k + 1, NE):
            if abs(a[i, k]) > abs(a[best, k]):
                best = i
        pivots[k] = best
        if best != k:
            exchange(a[k], a[best])
        row = a[k]
        # A zero pivot must not stop compiled code: with a useless correction the iteration does not converge, and the
        # step is shortened.
        inverse = 1.0 / row[k] if row[k] != 0.0 else 0.0
        row[k] = inverse
        for i in range(k + 1, NE):
            other = a[i]
            factor = other[k] * inverse
            other[k] = factor
            # Many rows have nothing to lose: with y = (q, v) the block ∂q'/∂q of J is often zero, and ∂q'/∂v is 1.
            if factor != 0.0:
                for j in range(k + 1, NE):
                    other[j] -= factor * row[j]


@routine
def exchange(a: Array, b: Array) -> None:
    for j in range(NE):
        kept = a[j]
        a[j] = b[j]
        b[j] = kept


@routine
def substitute(a: Square, pivots: Pivots, b: Array) -> None:
    """b becomes the solution."""
    for k in range(NE):
        # Rows were exchanged whole, their factors too, so that all exchanges come before the triangles.
        other = pivots[k]
        kept = b[k]
        b[k] = b[other]
        b[other] = kept
    for i in range(1, NE):
        row = a[i]
        total = b[i]
        for j in range(i):
            total -= row[j] * b[j]
        b[i] = total
    for i in range(NE - 1, -1, -1):
        row = a[i]
        total = b[i]
        for j in range(i + 1, NE):
            total -= row[j] * b[j]
        b[i] = total * row[i]


@routine
def eliminate_complex(re: Square, im: Square, pivots: Pivots) -> None:
    """Factors re + i im in place."""
    for k in range(NE):
        best = k
        largest = -1.0
        for i in range(k, NE):
            # Within a factor of √2 of the modulus, without its root.
            size = abs(re[i, k]) + abs(im[i, k])
            if size > largest:
                largest = size
                best = i
        pivots[k] = best
        if best != k:
            exchange(re[k], re[best])
            exchange(im[k], im[best])
        row_re = re[k]
        row_im = im[k]
        square = row_re[k] * row_re[k] + row_im[k] * row_im[k]
        scale = 1.0 / square if square != 0.0 else 0.0
        # 1 / (a + ib) = (a - ib) / (a² + b²)
        row_re[k] = row_re[k] * scale
        row_im[k] = -row_im[k] * scale
        for i in range(k + 1, NE):
            subtract_row(re[i], im[i], row_re, row_im, k)


@routine
def subtract_row(other_re: Array, other_im: Array, row_re: Array, row_im: Array, k: int) -> None:
    """Makes entry k of the other row vanish and keeps the factor there; the inverse pivot stands in row[k]."""
    factor_re = other_re[k] * row_re[k] - other_im[k] * row_im[k]
    factor_im = other_re[k] * row_im[k] + other_im[k] * row_re[k]
    other_re[k] = factor_re
    other_im[k] = factor_im
    if factor_re != 0.0 or factor_im != 0.0:
        for j in range(k + 1, NE):
            other_re[j] -= factor_re * row_re[j] - factor_im * row_im[j]
            other_im[j] -= factor_re * row_im[j] + factor_im * row_re[j]


@routine
def substitute_complex(re: Square, im: Square, pivots: Pivots, b_re: Array, b_im: Array) -> None:
    """b becomes the solution."""
    for k in range(NE):
        other = pivots[k]
        kept = b_re[k]
        b_re[k] = b_re[other]
        b_re[other] = kept
        kept = b_im[k]
        b_im[k] = b_im[other]
        b_im[other] = kept
    for i in range(1, NE):
        subtract_known(re[i], im[i], b_re, b_im, i, 0, i)
    for i in range(NE - 1, -1, -1):
        subtract_known(re[i], im[i], b_re, b_im, i, i + 1, NE)
        part_re = b_re[i] * re[i, i] - b_im[i] * im[i, i]
        b_im[i] = b_re[i] * im[i, i] + b_im[i] * re[i, i]
        b_re[i] = part_re


@routine
def subtract_known(row_re: Array, row_im: Array, b_re: Array, b_im: Array, i: int, first: int, last: int) -> None:
    """Takes from b[i] the products of its row with the entries from `first` to `last` of b."""
    total_re = b_re[i]
    total_im = b_im[i]
    for j in range(first, last):
        total_re -= row_re[j] * b_re[j] - row_im[j] * b_im[j]
        total_im -= row_re[j] * b_im[j] + row_im[j] * b_re[j]
    b_re[i] = total_re
    b_im[i] = total_im
