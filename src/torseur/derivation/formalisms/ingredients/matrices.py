"""Small matrices of expressions, given by rows: products, in which zeros cost nothing, and linear systems apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torseur.algebra.graph import Expr, as_expr, dense_jacobian, substitute

Matrix = list[list[Expr]]
Rows = Sequence[Sequence[Any]]


def product(a: Rows, b: Rows) -> Matrix:
    """A B."""
    return product_with_transpose(a, transpose(b))


def product_with_transpose(a: Rows, b: Rows) -> Matrix:
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


def scale(a: Rows, factor: Any) -> Matrix:
    """A times a number."""
    return [[as_expr(factor) * x for x in row] for row in a]


def transpose(a: Rows) -> Matrix:
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


def coefficients(expressions: Sequence[Expr], symbols: Sequence[Expr]) -> tuple[list[list[Expr]], list[Expr]]:
    """(A, b) with expressions = A x + b, for expressions linear in the symbols x."""
    matrix = dense_jacobian(expressions, symbols)
    return matrix, substitute(expressions, {symbol: 0 for symbol in symbols})


def hessian(gradient: Sequence[Expr], symbols: Sequence[Expr]) -> list[list[Expr]]:
    """Second derivatives from a gradient by the same symbols: the lower triangle, mirrored."""
    # Second derivatives commute, but two sweeps may write them differently: one half for both makes M symmetric node by
    # node, which every elimination after it counts on.
    rows = dense_jacobian(gradient, symbols)
    return [[rows[max(i, j)][min(i, j)] for j in range(len(symbols))] for i in range(len(symbols))]


def _vanishes(x: Any) -> bool:
    return x.is_zero if isinstance(x, Expr) else bool(x == 0)
