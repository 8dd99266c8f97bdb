"""Inverse of a small matrix of expressions by minors: no pivot is chosen, so nothing divides by an accidental zero."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from torseur.graph import Expr, as_expr


def inverse_matrix(rows: Sequence[Sequence[Expr]]) -> list[list[Expr]] | None:
    """The inverse, or None when the determinant vanishes identically. For at most about eight rows."""
    n = len(rows)

    @cache
    def minor(row_set: tuple[int, ...], column_set: tuple[int, ...]) -> Expr:
        """Determinant of the chosen rows and columns, expanded along the first row."""
        if not row_set:
            return as_expr(1)
        total = as_expr(0)
        for k, column in enumerate(column_set):
            entry = as_expr(rows[row_set[0]][column])
            if not entry.is_zero:
                term = entry * minor(row_set[1:], column_set[:k] + column_set[k + 1 :])
                total = total + term if k % 2 == 0 else total - term
        return total

    everything = tuple(range(n))
    determinant = minor(everything, everything)
    if determinant.is_zero:
        return None

    # A sign in front of the determinant goes to the cofactors, where it often meets another one.
    odd, size = (1, determinant.args[0]) if determinant.op == "neg" else (0, determinant)

    def cofactor(i: int, j: int) -> Expr:
        value = minor(everything[:i] + everything[i + 1 :], everything[:j] + everything[j + 1 :])
        return value if (i + j + odd) % 2 == 0 else -value

    return [[cofactor(j, i) / size for j in range(n)] for i in range(n)]
