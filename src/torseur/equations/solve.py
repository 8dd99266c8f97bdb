"""Solution of a symmetric positive system as straight-line expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torseur.errors import MechanismError
from torseur.graph import Expr, as_expr

_ZERO = as_expr(0)
Arriving = Callable[[int, int, Expr], Expr]


@dataclass(frozen=True)
class Factored:
    """A positive definite A as Lᵀ D L, from the last row up.

    Eliminating from the last coordinate keeps the zeros of a tree's mass matrix (Featherstone 2005): no fill-in.
    `lower[k]` maps i < k to L_ki where it is not zero, `inverse[k]` is 1/D_k. `arriving(k, i, x)` is what x, made in
    row k, adds to row i: more than x where a row stands for several.
    """

    lower: tuple[dict[int, Expr], ...]
    inverse: tuple[Expr, ...]
    arriving: Arriving = lambda k, i, x: x

    def solve(self, right: Sequence[Expr]) -> list[Expr]:
        """x with A x = b; zeros of b at its end cost nothing."""
        b = [as_expr(entry) for entry in right]
        for k in range(len(b) - 1, -1, -1):
            if not b[k].is_zero:
                for i, factor in self.lower[k].items():
                    b[i] = b[i] - self.arriving(k, i, factor * b[k])
        return self._downward(b, [])

    def inverse_columns(self) -> list[list[Expr]]:
        """A⁻¹ by columns: of each, what the columns before give by symmetry is not computed again."""
        n = len(self.inverse)
        columns: list[list[Expr]] = []
        for j in range(n):
            b = [as_expr(int(k == j)) for k in range(n)]
            for k in range(j, -1, -1):
                if not b[k].is_zero:
                    for i, factor in self.lower[k].items():
                        b[i] = b[i] - factor * b[k]
            columns.append(self._downward(b, [column[j] for column in columns]))
        return columns

    def _downward(self, b: Sequence[Expr], known: list[Expr]) -> list[Expr]:
        """The outward half of a solution, its first entries known."""
        x = list(known)
        for k in range(len(known), len(b)):
            rest = b[k] * self.inverse[k]
            for i, factor in self.lower[k].items():
                rest = rest - factor * x[i]
            x.append(rest)
        return x


def factored(
    matrix: Sequence[Sequence[Expr]], names: Sequence[str], arriving: Arriving = lambda k, i, x: x
) -> Factored:
    """The factors of a positive definite matrix; `names` are those of its rows."""
    n = len(names)
    rows = [{j: as_expr(row[j]) for j in range(i + 1) if not as_expr(row[j]).is_zero} for i, row in enumerate(matrix)]
    lower: list[dict[int, Expr]] = [{} for _ in range(n)]
    inverse = [_ZERO] * n
    for k in range(n - 1, -1, -1):
        pivot = rows[k].pop(k, _ZERO)
        if pivot.is_zero:
            raise MechanismError(f"nothing that '{names[k]}' moves has mass, so its acceleration is undetermined.")
        inverse[k] = 1 / pivot
        lower[k] = {i: entry * inverse[k] for i, entry in rows[k].items()}
        for i, factor in lower[k].items():
            for j, entry in rows[k].items():
                if j <= i:
                    rows[i][j] = rows[i].get(j, _ZERO) - arriving(k, i, factor * entry)
    return Factored(tuple(lower), tuple(inverse), arriving)


def solve_symmetric(matrix: Sequence[Sequence[Expr]], right: Sequence[Expr], names: Sequence[str]) -> list[Expr]:
    """x with A x = b for a positive definite A."""
    return factored(matrix, names).solve(right)
