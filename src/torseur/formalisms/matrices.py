"""Products of small matrices of expressions, given by rows; products with zero cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torseur.graph import Expr, as_expr

Matrix = list[list[Expr]]
Rows = Sequence[Sequence[Any]]


def product(a: Rows, b: Rows) -> Matrix:
    """A B."""
    return product_transposed(a, transposed(b))


def product_transposed(a: Rows, b: Rows) -> Matrix:
    """A Bᵀ."""
    return [[dot(row, other) for other in b] for row in a]


def apply(a: Rows, vector: Sequence[Any]) -> list[Expr]:
    """A x."""
    return [dot(row, vector) for row in a]


def dot(a: Sequence[Any], b: Sequence[Any]) -> Expr:
    """Σ a_k b_k."""
    total = as_expr(0)
    for x, y in zip(a, b, strict=True):
        if not _vanishes(x) and not _vanishes(y):
            total = total + x * y
    return total


def contraction(a: Rows, b: Rows) -> Expr:
    """A : B = Σ A_rs B_rs."""
    return dot(flat(a), flat(b))


def plus(a: Rows, b: Rows) -> Matrix:
    """A + B."""
    return [[as_expr(x) + y for x, y in zip(row, other, strict=True)] for row, other in zip(a, b, strict=True)]


def scaled(a: Rows, factor: Any) -> Matrix:
    """A times a number."""
    return [[as_expr(factor) * x for x in row] for row in a]


def transposed(a: Rows) -> Matrix:
    """Aᵀ."""
    return [list(column) for column in zip(*a, strict=True)]


def flat(a: Rows) -> list[Any]:
    """The entries, row after row."""
    return [entry for row in a for entry in row]


def rows_of(entries: Sequence[Any], width: int) -> list[list[Any]]:
    """A matrix from its entries, row after row."""
    return [list(entries[k : k + width]) for k in range(0, len(entries), width)]


def zeros(height: int, width: int) -> Matrix:
    """A matrix of zeros."""
    return [[as_expr(0)] * width for _ in range(height)]


def _vanishes(x: Any) -> bool:
    return x.is_zero if isinstance(x, Expr) else bool(x == 0)
