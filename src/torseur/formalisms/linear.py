"""Expressions that are linear in some symbols, taken apart."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.graph import Expr, dense_jacobian, substitute


def coefficients(expressions: Sequence[Expr], symbols: Sequence[Expr]) -> tuple[list[list[Expr]], list[Expr]]:
    """(A, b) with expressions = A x + b, for expressions linear in the symbols x."""
    matrix = dense_jacobian(expressions, symbols)
    return matrix, substitute(expressions, {symbol: 0 for symbol in symbols})


def hessian(gradient: Sequence[Expr], symbols: Sequence[Expr]) -> list[list[Expr]]:
    """Second derivatives from a gradient by the same symbols: the lower triangle, mirrored."""
    rows = dense_jacobian(gradient, symbols)
    return [[rows[max(i, j)][min(i, j)] for j in range(len(symbols))] for i in range(len(symbols))]
