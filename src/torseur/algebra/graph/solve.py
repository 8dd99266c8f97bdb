"""Solution of a symmetric positive system as straight-line expressions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph.expr import Expr, as_expr
from torseur.errors import MechanismError

_ZERO = as_expr(0)
Arriving = Callable[[int, int, Expr], Expr]
Use = tuple[int, frozenset[int]]
"""A row, and rows without a right side on which it depends."""


@dataclass(frozen=True)
class SymmetricFactors:
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
        return self._outward(self._inward(right), [], Counter())

    def solve_all(self, columns: Sequence[Sequence[Expr]]) -> list[list[Expr]]:
        """The solutions for several right sides; what many of them do alike is done once."""
        inward = [self._inward(right) for right in columns]
        uses = Counter(use for b in inward for use in self._idle(b))
        return [self._outward(b, [], uses) for b in inward]

    def inverse_columns(self) -> list[list[Expr]]:
        """A⁻¹ by columns: of each, what the columns before give by symmetry is not computed again."""
        n = len(self.inverse)
        # Column j of A⁻¹ is row j: of column j only the entries from j on are new.
        inward = [self._inward([as_expr(int(k == j)) for k in range(n)]) for j in range(n)]
        uses = Counter(use for j, b in enumerate(inward) for use in self._idle(b) if use[0] > j)
        columns: list[list[Expr]] = []
        for j, b in enumerate(inward):
            columns.append(self._outward(b, [column[j] for column in columns], uses))
        return columns

    def _inward(self, right: Sequence[Expr]) -> list[Expr]:
        """L⁻ᵀ b: from the last row up, each is taken out of those that carry it."""
        b = [as_expr(entry) for entry in right]
        for k in range(len(b) - 1, -1, -1):
            if not b[k].is_zero:
                for i, factor in self.lower[k].items():
                    b[i] = b[i] - self.arriving(k, i, factor * b[k])
        return b

    def _outward(self, b: Sequence[Expr], known: Sequence[Expr], uses: Counter[Use]) -> list[Expr]:
        """L⁻¹ D⁻¹ b, its first entries known; `uses` counts how many solutions take a row from the same ones."""
        # A = Lᵀ D L with unit lower L, so that x = L⁻¹ D⁻¹ (L⁻ᵀ b):
        #
        #     | 1        |ᵀ | D1       | | 1        |
        #     | L21 1    |  |    D2    | | L21 1    |      L_ki = 0 unless i carries k
        #     | L31 0  1 |  |       D3 | | L31 0  1 |
        x = list(known)
        idle = dict(self._idle(b))
        for k in range(len(known), len(b)):
            rest = b[k] * self.inverse[k]
            zeros = idle.get(k, frozenset())
            passed = self._pays(k, zeros, uses[k, zeros])
            for i, factor in (self._row_through(k, zeros) if passed else self.lower[k]).items():
                rest = rest - factor * x[i]
            x.append(rest)
        return x

    def _idle(self, b: Sequence[Expr]) -> list[Use]:
        """The rows without a right side of their own, each with those it depends on that have none either."""
        zeros = frozenset(k for k, entry in enumerate(b) if entry.is_zero)
        return [(k, zeros & self._dependencies[k]) for k in sorted(zeros)]

    # Why limbs without a right-hand side are taken from their trunk: docs/decisions/0019-limbs-that-only-follow.md.
    def _pays(self, k: int, zeros: frozenset[int], uses: int) -> bool:
        """Whether a row of a limb that only follows is better taken from the trunk directly."""
        # Products that a use saves, against those that the row through its limb takes once.
        saved = len(self.lower[k]) - len(self._ends(k, zeros))
        cost = sum(len(self._ends(i, zeros & self._dependencies[i])) for i in self.lower[k] if i in zeros)
        return uses * saved > cost

    def _ends(self, k: int, zeros: frozenset[int]) -> frozenset[int]:
        """The rows that have a right side among those on which one depends, however it does."""
        return frozenset(i for i in self._dependencies[k] if i not in zeros)

    def _row_through(self, k: int, zeros: frozenset[int]) -> dict[int, Expr]:
        """Row k of L with the rows among `zeros` put in: it follows the others through them."""
        if (k, zeros) not in self._rows_through:
            row: dict[int, Expr] = {}
            for i, factor in self.lower[k].items():
                if i not in zeros:
                    row[i] = row.get(i, _ZERO) + factor
                    continue
                for j, entry in self._row_through(i, zeros & self._dependencies[i]).items():
                    row[j] = row.get(j, _ZERO) - factor * entry
            self._rows_through[k, zeros] = row
        return self._rows_through[k, zeros]

    @cached_property
    def _dependencies(self) -> list[frozenset[int]]:
        """For each row the rows it depends on, directly or through others."""
        reached: list[frozenset[int]] = []
        for row in self.lower:
            reached.append(frozenset(row).union(*(reached[i] for i in row)))
        return reached

    @cached_property
    def _rows_through(self) -> dict[Use, dict[int, Expr]]:
        return {}


def factorize(
    matrix: Sequence[Sequence[Expr]], names: Sequence[str], arriving: Arriving = lambda k, i, x: x
) -> SymmetricFactors:
    """The factors of a positive definite matrix; `names` are those of its rows."""
    n = len(names)
    rows = [{j: as_expr(row[j]) for j in range(i + 1) if not as_expr(row[j]).is_zero} for i, row in enumerate(matrix)]
    lower: list[dict[int, Expr]] = [{} for _ in range(n)]
    inverse = [_ZERO] * n
    # From the last row up: in a tree's mass matrix M_ki is not zero only where one of k, i carries the other, and
    # eliminating the outer one then couples nothing that was not coupled before (Featherstone 2005).
    for k in range(n - 1, -1, -1):
        pivot = rows[k].pop(k, _ZERO)
        if pivot.is_zero:
            raise MechanismError(f"nothing that '{names[k]}' moves has mass, so its acceleration is undetermined.")
        inverse[k] = 1 / pivot
        lower[k] = {i: entry * inverse[k] for i, entry in rows[k].items()}
        for i, factor in lower[k].items():
            for j, entry in rows[k].items():
                if j <= i:
                    # rows[i] -= L_kiᵀ D_k L_kj, the lower triangle alone.
                    rows[i][j] = rows[i].get(j, _ZERO) - arriving(k, i, factor * entry)
    return SymmetricFactors(tuple(lower), tuple(inverse), arriving)


def solve_symmetric(matrix: Sequence[Sequence[Expr]], right: Sequence[Expr], names: Sequence[str]) -> list[Expr]:
    """x with A x = b for a positive definite A."""
    return factorize(matrix, names).solve(right)
