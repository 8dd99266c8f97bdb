"""Operations in their order, cut into stretches that one thread can hold in its registers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from torseur.algebra.graph.expr import Expr
from torseur.computation.codegen.straight_line import fewest_live, most_live, pair_sines

MOST_LIVE = 280
"""Values that may be live at once in a stretch. A few more than registers: spilling some costs less than a further cut,
which sends everything that crosses it through memory."""
GRAIN = 256
"""Stretches grow by so many operations."""
SHORTEST = 0.6
"""How much of the longest stretch may be given up to cut where few values cross."""


def cut_into_stretches(order: Sequence[Expr], results: set[Expr], live: int = MOST_LIVE) -> list[list[Expr]]:
    """The operations in few stretches that keep within the limit."""
    return _Cutting(order, results, live).stretches()


class _Cutting:
    """An order of operations on its way to stretches."""

    def __init__(self, order: Sequence[Expr], results: set[Expr], live: int) -> None:
        self.order, self.results, self.live = order, results, live
        place = {node: k for k, node in enumerate(order)}
        self.last = {argument: k for k, node in enumerate(order) for argument in node.args if argument in place}
        # Differences first, summed below: a value crosses every place from behind its own to its last reader.
        begun = [0] * (len(order) + 1)
        for node, end in self.last.items():
            begun[place[node] + 1] += 1
            begun[end + 1] -= 1
        self.crossing = list(accumulate(begun))
        """By place in the order: values computed before it that are read at it or later."""

    def stretches(self) -> list[list[Expr]]:
        stretches: list[list[Expr]] = []
        start = 0
        while start < len(self.order):
            length = self._longest(start)
            if start + length < len(self.order):
                shortest = max(1, int(SHORTEST * length))
                # Of the places in the last 40 % the one that fewest values cross; of equal ones the latest.
                length = min(range(shortest, length + 1), key=lambda n: (self.crossing[start + n], -n))
            stretches.append(self._stretch(start, length))
            start += length
        return stretches

    def _longest(self, start: int) -> int:
        """The longest stretch that fits, found by doubling and halving; one grain is always taken."""
        left = len(self.order) - start
        most = -(-left // GRAIN)
        fits, fails = 1, most + 1
        while fails - fits > 1:
            grains = min(2 * fits, most) if fails > most else (fits + fails) // 2
            if most_live(self._stretch(start, grains * GRAIN)) <= self.live:
                fits = grains
            else:
                fails = grains
        return min(fits * GRAIN, left)

    def _stretch(self, start: int, length: int) -> list[Expr]:
        """A part of the order, scheduled by itself; what is read later leaves as results do."""
        part = self.order[start : start + length]
        end = start + length
        leaving = [node for node in part if node in self.results or self.last.get(node, 0) >= end]
        return pair_sines(fewest_live(part, leaving))
