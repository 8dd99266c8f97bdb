"""Solution of a positive semidefinite system, whose rows may follow from each other, as straight-line expressions.

A = Pᵀ L D Lᵀ P with exchanges P inside groups of rows, chosen by value and without branches: an exchange is a pair of
selections, so that the same code runs in every language and over batches of states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.algebra.graph import scalar
from torseur.algebra.graph.expr import Expr, as_expr

_ZERO, _ONE = as_expr(0), as_expr(1)


@dataclass(frozen=True)
class Limits:
    """A value at most `low` is nothing, one above `high` is something; between the two nobody can tell."""

    low: float
    high: float

    def judge(self, value: Expr, unit: Expr = _ONE) -> tuple[Expr, Expr]:
        """Whether a value is something in this unit, and whether that is clear: 1 or 0 each."""
        something = as_expr(scalar.less(self.high * unit, value))
        return something, as_expr(1 - scalar.less(self.low * unit, value) + something)

    def raised(self, low: float) -> Limits:
        """The same gap from a higher value on, where that is higher."""
        return self if low <= self.low else Limits(low, low * (self.high / self.low))


@dataclass(frozen=True)
class Exchange:
    """Rows `first` and `second` change places where the condition holds."""

    first: int
    second: int
    condition: Expr

    @staticmethod
    def larger_first(first: int, second: int, a: Expr, b: Expr) -> Exchange | None:
        """The exchange that brings the larger of two pivots to the first place; None where it never happens."""
        condition = as_expr(scalar.less(a, b))
        return None if condition.is_zero else Exchange(first, second, condition)

    def pair(self, a: Expr, b: Expr) -> tuple[Expr, Expr]:
        if a is b:
            return a, b
        return as_expr(scalar.where(self.condition, b, a)), as_expr(scalar.where(self.condition, a, b))

    def apply(self, entries: list[Expr]) -> None:
        i, k = self.first, self.second
        entries[i], entries[k] = self.pair(entries[i], entries[k])


class SemidefiniteFactors:
    """The factors of a matrix with ones on its diagonal, or zeros where a row is nothing.

    `groups` are the sizes of runs of rows. The rows of a group span the same, whichever of them stand for the others,
    and the rows of later groups are left with the same: so exchanging within the groups is enough, at a small part of
    the cost of exchanging all. `is_clear` is 1 where the rank is beyond doubt. `units` are what the limits of each row
    are multiplied by, 1 without them.
    """

    def __init__(
        self, matrix: Sequence[Sequence[Expr]], groups: Sequence[int], limits: Limits, units: Sequence[Expr] = ()
    ) -> None:
        n = len(matrix)
        self.units = list(units) or [_ONE] * n
        self.rest = [list(row[: i + 1]) for i, row in enumerate(matrix)]
        self.lower: list[list[Expr]] = [[] for _ in range(n)]
        self.kept: list[Expr] = []
        self.inverse: list[Expr] = []
        self.exchanges: list[Exchange] = []
        self.is_clear = _ONE
        ends = [end for k, size in enumerate(groups) for end in [sum(groups[: k + 1])] * size]
        for k in range(n):
            # Pivoted Cholesky, the rank revealed by the pivots (Higham 1990). A pass of compare-and-exchange over the
            # rest of the group leaves its largest diagonal entry at k; the sequence of places is fixed, only the
            # conditions are values.
            for other in range(k + 1, ends[k]):
                self._exchange(k, other)
            kept, clear = limits.judge(self.rest[k][k], self.units[k])
            self.kept.append(kept)
            self.inverse.append(safe_inverse(kept, self.rest[k][k]))
            self.is_clear = as_expr(scalar.both(self.is_clear, clear))
            self._eliminate(k)

    def _exchange(self, k: int, other: int) -> None:
        """Brings the larger of two diagonal entries to place k, with its row and column."""
        rest = self.rest
        a, b = rest[k][k], rest[other][other]
        swap = Exchange.larger_first(k, other, a, b)
        if swap is None:
            return
        # max and min instead of two selections by the condition: the same values, and no dependence on it.
        rest[k][k], rest[other][other] = as_expr(scalar.maximum(a, b)), as_expr(scalar.minimum(a, b))
        swap.apply(self.units)
        for j in range(k + 1, len(rest)):
            if j != other:
                # Only the lower triangle is stored: entry (other, j) stands in the row of the larger of the two.
                i, at = max(j, other), min(j, other)
                rest[j][k], rest[i][at] = swap.pair(rest[j][k], rest[i][at])
        for j, (x, y) in enumerate(zip(self.lower[k], self.lower[other], strict=True)):
            self.lower[k][j], self.lower[other][j] = swap.pair(x, y)
        self.exchanges.append(swap)

    def _eliminate(self, k: int) -> None:
        for i in range(k + 1, len(self.rest)):
            factor = self.rest[i][k] * self.inverse[k]
            for j in range(k + 1, i + 1):
                self.rest[i][j] = self.rest[i][j] - factor * self.rest[j][k]
            self.lower[i].append(factor)

    def forward(self, right: Sequence[Expr]) -> list[Expr]:
        """L⁻¹ P b. What is left of it in a row that follows from others is how far b contradicts them."""
        b = [as_expr(entry) for entry in right]
        for swap in self.exchanges:
            swap.apply(b)
        for i, row in enumerate(self.lower):
            for k, factor in enumerate(row):
                # Exchanges are done on b before: L is that of the exchanged matrix.
                b[i] = b[i] - factor * b[k]
        return b

    def backward(self, forward: Sequence[Expr]) -> list[Expr]:
        """x with A x = b from L⁻¹ P b; zero in the rows that follow from others."""
        return self._upward([entry * inverse for entry, inverse in zip(forward, self.inverse, strict=True)])

    def null_combination(self) -> list[Expr]:
        """A combination of the vectors x with A x = 0: not zero where an entry of a solution could be anything."""
        weights = weights_of_rows(len(self.kept))
        return self._upward([weight * (1 - kept) for weight, kept in zip(weights, self.kept, strict=True)])

    def _upward(self, entries: Sequence[Expr]) -> list[Expr]:
        x = list(entries)
        for i in range(len(x) - 1, -1, -1):
            for k, factor in enumerate(self.lower[i]):
                x[k] = x[k] - factor * x[i]
        for swap in reversed(self.exchanges):
            swap.apply(x)
        return x


def weights_of_rows(count: int) -> list[float]:
    """Weights that no mechanism has in it, one for each row that may follow from others."""
    # A vector x with A x = 0 belongs to each such row. Their sum with these weights vanishes only where all of them do,
    # and costs one substitution instead of one each.
    return [1.0 + 0.6180339887498949 * ((0.7548776662466927 * k) % 1.0) for k in range(count)]


def safe_inverse(condition: Expr, value: Expr) -> Expr:
    """1 / value where the condition holds, else 0."""
    # Without a branch, and without 1 / 0 in either case: code over batches of states computes both.
    return as_expr(condition / (condition * value + (1 - condition)))


def or_nan(condition: Expr) -> Expr:
    """1 where the condition holds, else not a number: a factor for what is known there only."""
    # The root of -1 is the one NaN that every language gives without raising, and its derivative is harmless at 1.
    return as_expr(scalar.sqrt(2 * condition - 1))
