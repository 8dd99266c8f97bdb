"""Values that wait long leave their registers for shared memory, and come back before they are used.

A thread that needs fewer registers leaves room for more threads, and those hide each other's waiting. What leaves is
what is needed again last (Belady's rule); every value is stored at most once and keeps its place until its last use.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from torseur.algebra.graph.expr import Expr
from torseur.computation.codegen.straight_line import read_values

LOAD_AHEAD = 48
"""Operations between a load from memory and its use: they hide some of the latency, and cost few registers."""
FETCH_AHEAD = 10
"""The same for shared memory, which answers within 30 cycles."""
NEVER = 1 << 60


@dataclass
class Spilling:
    """Which values wait in shared memory, by place in the order of operations."""

    slots: int = 0
    slot: dict[Expr, int] = field(default_factory=dict)
    leave: dict[int, list[Expr]] = field(default_factory=dict)
    """Values stored after an operation."""
    fetch: dict[int, list[Expr]] = field(default_factory=dict)
    """Values that come back before an operation."""


# Why the generator spills registers itself: docs/decisions/0023-gpu-spilling-to-shared-memory.md.
def plan_spilling(
    order: Sequence[Expr], room: int, weights: Mapping[Expr, int] | None = None, most: int = NEVER
) -> Spilling:
    """What to spill so that the values held in registers at a time take about `room`; a value takes one by default.

    There are at most `most` places; what finds none is left to the compiler.
    """
    return _SpillWalk(order, room, weights or {}, most).plan()


class _SpillWalk:
    """An order of operations that is walked through once, with the values in registers at each place."""

    def __init__(self, order: Sequence[Expr], room: int, weights: Mapping[Expr, int], most: int) -> None:
        self.order, self.room, self.weights, self.most = order, room, weights, most
        self.taken = 0
        self.own = set(order)
        self.uses = _uses(order)
        self.numbers = {value: number for number, value in enumerate(dict.fromkeys([*self.uses, *order]))}
        """Settles which of two values leaves that are needed at the same place."""
        self.next: dict[Expr, int] = {}
        """Values in registers and where they are needed next."""
        self.furthest: list[tuple[int, int, Expr]] = []
        self.free: list[int] = []
        self.result = Spilling()

    def plan(self) -> Spilling:
        for k, node in enumerate(self.order):
            self._bring(k, LOAD_AHEAD, outside=True)
            self._bring(k, FETCH_AHEAD, outside=False)
            if node in self.uses:
                self._hold(node, self.uses[node][0])
            for value in read_values(node):
                self._consume(value, k)
            self._make_room(k)
        return self.result

    def _bring(self, k: int, ahead: int, outside: bool) -> None:
        """Loads or fetches what the operation some places further reads; at the beginning, what all before it do."""
        last = min(k + ahead, len(self.order)) - 1
        for place in range(0 if k == 0 else last, last + 1):
            for value in read_values(self.order[place]):
                spilled = value in self.result.slot
                if value in self.next or spilled == outside or (outside and value in self.own):
                    continue
                if spilled:
                    self.result.fetch.setdefault(k, []).append(value)
                self._hold(value, self._next_use(value, k))

    def _hold(self, value: Expr, use: int) -> None:
        if value not in self.next:
            self.taken += self.weights.get(value, 1)
        self.next[value] = use
        heappush(self.furthest, (-use, self.numbers[value], value))

    def _consume(self, value: Expr, k: int) -> None:
        use = self._next_use(value, k + 1)
        if use < NEVER:
            self._hold(value, use)
            return
        self._release(value)
        if value in self.result.slot:
            self.free.append(self.result.slot[value])

    def _release(self, value: Expr) -> None:
        del self.next[value]
        self.taken -= self.weights.get(value, 1)

    def _next_use(self, value: Expr, k: int) -> int:
        uses = self.uses[value]
        later = bisect_left(uses, k)
        return uses[later] if later < len(uses) else NEVER

    def _make_room(self, k: int) -> None:
        staying = []
        while self.taken > self.room and self.furthest:
            use, _, value = entry = heappop(self.furthest)
            if self.next.get(value) != -use:  # a stale entry: the value was read, or has left
                continue
            # Needed so soon that it would have to come back at once: all others are needed even sooner.
            if -use <= k + FETCH_AHEAD:
                staying.append(entry)
                break
            if value in self.result.slot or self._assign_slot(value, k):
                self._release(value)
            else:
                staying.append(entry)
        for entry in staying:
            heappush(self.furthest, entry)

    def _assign_slot(self, value: Expr, k: int) -> bool:
        """Whether a value could be stored after an operation."""
        if not self.free and self.result.slots == self.most:
            return False
        if not self.free:
            self.free.append(self.result.slots)
            self.result.slots += 1
        self.result.slot[value] = self.free.pop()
        self.result.leave.setdefault(k, []).append(value)
        return True


def _uses(order: Sequence[Expr]) -> Mapping[Expr, list[int]]:
    """By value the places where it is read."""
    uses: dict[Expr, list[int]] = {}
    for k, node in enumerate(order):
        for value in read_values(node):
            uses.setdefault(value, []).append(k)
    return uses
