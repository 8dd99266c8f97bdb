"""Linear systems with many right sides, cut into blocks of columns that share their zeros.

A column of derivatives by a motion of one limb is zero in the rows of all others, and stays so while the limb is
eliminated: of A = Lᵀ D L only the limb's rows and those further inward matter for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from torseur.algebra.graph import COLUMNS, Block, Expr, Output, as_expr, vector
from torseur.algebra.graph.solve import SymmetricFactors

_ZERO = as_expr(0)
Columns = Mapping[int, Sequence[Expr]]


@dataclass(frozen=True)
class System:
    """-A⁻¹ B in terms: see Solved."""

    outputs: tuple[Output, ...]
    pattern: tuple[tuple[int, int], ...]
    blocks: tuple[Block, ...]
    places: tuple[tuple[int, int], ...]


# Why blocks of columns that share their zeros: docs/decisions/0012-systems-by-blocks.md.
def system(factors: SymmetricFactors, sides: Sequence[Columns], known: Mapping[tuple[int, int], Expr]) -> System:
    """The system of several outputs: `sides[k]` are columns of B by their number, `known` results by their place."""
    terms: list[Expr] = []
    blocks: list[Block] = []
    for k, columns in enumerate(sides):
        for numbers in _cut_columns(columns, factors):
            rows = _nonzero_rows(factors, [columns[j] for j in numbers])
            entries = [columns[j][row] if j in numbers else _ZERO for row in rows for j in _eight(numbers)]
            place = (k, numbers.start, len(numbers), rows)
            if all(entry.is_constant for entry in entries):
                blocks.append(Block(*place, 0, tuple(float(entry) for entry in entries)))
            else:
                blocks.append(Block(*place, len(terms)))
                terms += entries
    pattern = tuple((k, i) for k, row in enumerate(factors.lower) for i in sorted(row))
    outputs = (
        vector("right", terms),
        vector("lower", [factors.lower[k][i] for k, i in pattern]),
        vector("inverse", factors.inverse),
        vector("known", list(known.values())),
    )
    return System(outputs, pattern, tuple(blocks), tuple(known))


def _eight(numbers: range) -> range:
    return range(numbers.start, numbers.start + COLUMNS)


def _cut_columns(columns: Columns, factors: SymmetricFactors) -> list[range]:
    """Runs of columns, none longer than a vector, such that little work is done on zeros."""
    every = sum(len(row) + 1 for row in factors.lower)

    def cost(run: range) -> int:
        # Outward every run passes all factors, inward only those of rows that are not zero: longer runs pay the first
        # less often, and share more zeros the shorter they are.
        return every + sum(len(factors.lower[k]) for k in _nonzero_rows(factors, [columns[j] for j in run]))

    @cache
    def best(start: int) -> tuple[int, tuple[range, ...]]:
        """The cheapest cuts of the columns from one on."""
        if start > max(columns, default=-1):
            return 0, ()
        if start not in columns:
            return best(start + 1)
        choices = []
        for stop in range(start + 1, start + COLUMNS + 1):
            if stop - 1 not in columns:
                break
            after, cuts = best(stop)
            choices.append((cost(range(start, stop)) + after, (range(start, stop), *cuts)))
        return min(choices, key=lambda item: item[0])

    return list(best(0)[1])


def _nonzero_rows(factors: SymmetricFactors, columns: Sequence[Sequence[Expr]]) -> tuple[int, ...]:
    """The rows that are not zero, or will not stay so when rows further outward are eliminated."""
    rows = {k for column in columns for k, entry in enumerate(column) if not entry.is_zero}
    for k in range(len(factors.lower) - 1, -1, -1):
        if k in rows:
            rows.update(factors.lower[k])
    return tuple(sorted(rows))
