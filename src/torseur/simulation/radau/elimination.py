"""Gaussian elimination with row exchanges, for one real matrix or one complex matrix in two parts.

Matrices are square with NE rows and stand in flat arrays by rows. Pivots on the diagonal hold their inverses.
"""

from __future__ import annotations

from torseur.codegen.routine import Array, Static, routine

NE: int = Static("NE")  # number of equations


@routine
def eliminate(a: Array, pivots: Array) -> None:
    """Factors a in place; pivots[k] is the row that took the place of row k."""
    for k in range(NE):
        best = k
        for i in range(k + 1, NE):
            if abs(a[i * NE + k]) > abs(a[best * NE + k]):
                best = i
        pivots[k] = best
        if best != k:
            exchange(a[k * NE :], a[best * NE :])
        row = a[k * NE :]
        inverse = 1.0 / row[k] if row[k] != 0.0 else 0.0
        row[k] = inverse
        for i in range(k + 1, NE):
            other = a[i * NE :]
            factor = other[k] * inverse
            other[k] = factor
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
def substitute(a: Array, pivots: Array, b: Array) -> None:
    """b becomes the solution."""
    for k in range(NE):
        other = int(pivots[k])
        kept = b[k]
        b[k] = b[other]
        b[other] = kept
    for i in range(1, NE):
        row = a[i * NE :]
        total = b[i]
        for j in range(i):
            total -= row[j] * b[j]
        b[i] = total
    for i in range(NE - 1, -1, -1):
        row = a[i * NE :]
        total = b[i]
        for j in range(i + 1, NE):
            total -= row[j] * b[j]
        b[i] = total * row[i]


@routine
def eliminate_complex(re: Array, im: Array, pivots: Array) -> None:
    """Factors re + i im in place."""
    for k in range(NE):
        best = k
        largest = -1.0
        for i in range(k, NE):
            size = abs(re[i * NE + k]) + abs(im[i * NE + k])
            if size > largest:
                largest = size
                best = i
        pivots[k] = best
        if best != k:
            exchange(re[k * NE :], re[best * NE :])
            exchange(im[k * NE :], im[best * NE :])
        row_re = re[k * NE :]
        row_im = im[k * NE :]
        square = row_re[k] * row_re[k] + row_im[k] * row_im[k]
        scale = 1.0 / square if square != 0.0 else 0.0
        row_re[k] = row_re[k] * scale
        row_im[k] = -row_im[k] * scale
        for i in range(k + 1, NE):
            subtract_row(re[i * NE :], im[i * NE :], row_re, row_im, k)


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
def substitute_complex(re: Array, im: Array, pivots: Array, b_re: Array, b_im: Array) -> None:
    """b becomes the solution."""
    for k in range(NE):
        other = int(pivots[k])
        kept = b_re[k]
        b_re[k] = b_re[other]
        b_re[other] = kept
        kept = b_im[k]
        b_im[k] = b_im[other]
        b_im[other] = kept
    for i in range(1, NE):
        subtract_known(re[i * NE :], im[i * NE :], b_re, b_im, i, 0, i)
    for i in range(NE - 1, -1, -1):
        subtract_known(re[i * NE :], im[i * NE :], b_re, b_im, i, i + 1, NE)
        part_re = b_re[i] * re[i * NE + i] - b_im[i] * im[i * NE + i]
        b_im[i] = b_re[i] * im[i * NE + i] + b_im[i] * re[i * NE + i]
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
