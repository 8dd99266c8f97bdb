"""Solution of a symmetric positive system as straight-line expressions."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.errors import MechanismError
from torseur.graph import Expr, as_expr


def solve_symmetric(matrix: Sequence[Sequence[Expr]], right: Sequence[Expr], names: Sequence[str]) -> list[Expr]:
    """x with A x = b for a positive definite A, by A = Lᵀ D L from the last row up.

    Eliminating from the last coordinate keeps the zeros of a tree's mass matrix (Featherstone 2005): no fill-in.
    """
    n = len(right)
    a = [[as_expr(entry) for entry in row] for row in matrix]
    b = [as_expr(entry) for entry in right]
    inverse: list[Expr] = [as_expr(0)] * n
    for k in range(n - 1, -1, -1):
        if a[k][k].is_zero:
            raise MechanismError(f"nothing that '{names[k]}' moves has mass, so its acceleration is undetermined.")
        inverse[k] = 1 / a[k][k]
        for i in range(k):
            if not a[k][i].is_zero:
                factor = a[k][i] * inverse[k]
                b[i] = b[i] - factor * b[k]
                for j in range(i + 1):
                    if not a[k][j].is_zero:
                        a[i][j] = a[i][j] - factor * a[k][j]
    x: list[Expr] = []
    for k in range(n):
        rest = b[k]
        for j in range(k):
            rest = rest - a[k][j] * x[j]
        x.append(rest * inverse[k])
    return x
