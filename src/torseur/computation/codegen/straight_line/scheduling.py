"""Orders of operations: few values alive at a time, and none waiting for a long chain that began late.

Two list schedulers share their bookkeeping. `fewest_live` takes, of the operations that are ready, the one that changes
the number of live values least: what fits in registers need not go to memory. It starts from several orders, because
none is best for all programs. `longest_chains_first` takes the one that the longest chain waits for, and follows the
other rule only where many values are live.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush

from torseur.algebra.graph.expr import Expr
from torseur.algebra.graph.operations import OPERATIONS
from torseur.algebra.graph.program import Program

Order = list[int]
"""Operations by their numbers."""


# What few live values gain for one state: docs/decisions/0014-few-live-values.md.
def fewest_live(operations: Sequence[Expr], *results: Sequence[Expr], registers: int = 0) -> list[Expr]:
    """The operations reordered such that few of them and of the values they read are live at once.

    What they read from outside is loaded when it is first used. Results leave when they are computed; they are given
    in one or several orders to start from. With a number of `registers` that order is taken in which fewest values
    have to leave them for a time.
    """
    work = _number_operations(operations)
    starts = [[*range(len(work.reads))]]
    for ends in results:
        start = work.depth_first([work.numbers[end] for end in ends if end in work.numbers])
        if start not in starts:
            starts.append(start)
    candidates: list[Order] = []
    for start in starts:
        candidates += [order for order in (start, work.greedy(start)) if order not in candidates]
    if not registers:
        best = min(candidates, key=work.most_live)
        return [operations[k] for k in best]
    best, fewest = candidates[0], work.count_stores(candidates[0], registers, len(operations))
    for order in candidates[1:]:
        stores = work.count_stores(order, registers, fewest)
        if stores < fewest:
            best, fewest = order, stores
    return [operations[k] for k in best]


MANY_LIVE = 24
"""Live values from which `longest_chains_first` saves registers: x86 has sixteen and reads one operand from memory at
no cost. Of 14, 24, 32, 48 and 64 the one with which no dynamics of three robots came out slower than before."""


# What it gains for one state: docs/decisions/0014-few-live-values.md.
def longest_chains_first(operations: Sequence[Expr]) -> list[Expr]:
    """The operations reordered such that those start early on which the longest chains hang (Goodman and Hsu 1988).

    A processor looks some 200 operations ahead; a chain that begins later than it could is waited for in the end.
    """
    work = _number_operations(operations)
    behind = [0.0] * len(operations)
    for k in range(len(operations) - 1, -1, -1):
        node = operations[k]
        own = OPERATIONS[node.op].cost if node.op in OPERATIONS else 1.0
        behind[k] = own + max([behind[reader] for reader in work.readers[k]], default=0.0)
    base = sorted(range(len(operations)), key=lambda k: -behind[k])
    return [operations[k] for k in work.greedy(base, MANY_LIVE)]


def most_live(order: Sequence[Expr]) -> int:
    """The largest number of values that are live at once, values from outside included."""
    work = _number_operations(order)
    return work.most_live(range(len(work.reads)))


def result_orders(program: Program) -> list[list[Expr]]:
    """The results of a program by rows, the same backwards, and by columns from the last to the first.

    The last suits derivatives of chains: column by column from the tip, what one column needs the next one shares.
    """
    places = []
    for output in program.outputs:
        columns = output.shape[-1] if len(output.shape) == 2 else 1
        places += [(divmod(k, columns), entry) for k, entry in enumerate(output.entries)]
    rows = [entry for _, entry in places]
    by_columns = [entry for _, entry in sorted(places, key=lambda place: (-place[0][1], -place[0][0]))]
    return [rows, rows[::-1], by_columns]


def read_values(node: Expr) -> tuple[Expr, ...]:
    """The arguments that occupy a register, each once."""
    return tuple(dict.fromkeys([a for a in node.args if a.op not in ("constant", "pi")]))


def _number_operations(operations: Sequence[Expr]) -> _Work:
    """The operations by number; values from outside are numbered after them."""
    numbers = {node: k for k, node in enumerate(operations)}
    reads = [tuple([numbers.setdefault(a, len(numbers)) for a in read_values(node)]) for node in operations]
    return _Work(numbers, reads)


@dataclass(frozen=True)
class _Work:
    """Operations and the values they read, all as numbers: `reads[k]` of operation k, each value once."""

    numbers: dict[Expr, int]
    reads: list[tuple[int, ...]]

    @cached_property
    def readers(self) -> list[Order]:
        """The operations that read each value."""
        readers: list[Order] = [[] for _ in self.numbers]
        for k, read in enumerate(self.reads):
            for value in read:
                readers[value].append(k)
        return readers

    def depth_first(self, results: Sequence[int]) -> Order:
        """The operations in the order in which computing one result after the other needs them."""
        count = len(self.reads)
        done = bytearray(count)
        order: Order = []
        for result in [*results, *range(count)]:
            pending = [result]
            while pending:
                k = pending.pop()
                if k < 0:  # the complement of an operation whose arguments are there
                    order.append(~k)
                elif k < count and not done[k]:
                    done[k] = 1
                    pending.append(~k)
                    pending.extend(reversed(self.reads[k]))
        return order

    def most_live(self, order: Sequence[int]) -> int:
        """The largest number of values that are live at once."""
        reads, readers, count = self.reads, self.readers, len(self.reads)
        left = [len(reading) for reading in readers]
        live = most = 0
        for k in order:
            ended = 0
            for value in reads[k]:
                # A value from outside takes a register from its first use on, not from the start.
                if value >= count and left[value] == len(readers[value]):
                    live += 1
                left[value] -= 1
                ended += not left[value]
            # A result without readers goes straight to its array and takes no register afterwards.
            live += bool(readers[k])
            # Before the operands are let go: an operation needs them and its result at the same time.
            most = max(most, live)
            live -= ended
        return most

    # Why stores are counted for batches: docs/decisions/0015-batches-with-vectors-of-states.md.
    def count_stores(self, order: Sequence[int], registers: int, limit: int) -> int:
        """How many values are stored for later when those go first whose next use is farthest (Belady 1966).

        Counting ends at the limit: an order that stores so many is no better than another.
        """
        reads, count, total = self.reads, len(self.reads), len(self.numbers)
        uses: list[Order] = [[] for _ in range(total)]
        for place in range(len(order) - 1, -1, -1):
            for value in reads[order[place]]:
                uses[value].append(place)
        # A heap entry is stale once its value was read again: `here` has the next use that counts. An entry is one
        # number, which the heap compares in half the time of a pair: the use that is farthest first, then the value.
        here: dict[int, int] = {}
        # key = value - use · total: the smallest is the farthest use. As 0 <= value < total, divmod by `total` gives
        # (-use, value) back.
        farthest: list[int] = []
        kept: set[int] = set()
        for k in order:
            for value in reads[k]:
                following = uses[value]
                following.pop()
                if following:
                    here[value] = following[-1]
                    heappush(farthest, value - following[-1] * total)
                else:
                    here.pop(value, None)
            if uses[k]:
                here[k] = uses[k][-1]
                heappush(farthest, k - uses[k][-1] * total)
            # Belady's rule is optimal for loads alone; it is only compared here, between orders, and no code is written
            # from it.
            while len(here) > registers:
                place, value = divmod(heappop(farthest), total)
                if here.get(value) == -place:
                    del here[value]
                    # What came from outside needs no store: it is loaded again from where it was.
                    if value < count:
                        kept.add(value)
            if len(kept) >= limit:
                return limit
        return len(kept)

    def greedy(self, base: Sequence[int], many: int = 0) -> Order:
        """The order that takes, of the operations that are ready, the one after which fewest values are live.

        While fewer than `many` values are live, it takes the first of the `base`.
        """
        # Two heaps over the same operations: `ready` by (change of live values, place in the base), `early` by place
        # alone. Entries of one heap stay behind when the other has taken the operation: `done` tells them.
        state = _Greedy(self)
        place = [0] * len(base)
        for p, k in enumerate(base):
            place[k] = p
        ready = [(state.change(k), place[k], k) for k in base if not state.waits[k]]
        early = [place for _, place, _ in ready] if many else []
        heapify(ready)
        done = bytearray(len(base))
        order: Order = []
        live = 0
        while len(order) < len(base):
            if live < many:
                k = base[heappop(early)]
                # On a tie of changes the base decides, so that the order is the same in every process.
                change = state.change(k)
            else:
                change, _, k = heappop(ready)
            if done[k]:
                continue
            # Entries are not updated in the heap when a neighbour is computed; a stale one goes back with its new key.
            now = state.change(k)
            if now != change:
                heappush(ready, (now, place[k], k))
                continue
            done[k] = 1
            live += change
            order.append(k)
            for other in state.complete(k):
                if not done[other]:
                    heappush(ready, (state.change(other), place[other], other))
                    if many:
                        heappush(early, place[other])
        return order


class _Greedy:
    """How many readers of each value are to come, which values are there, and what each operation waits for."""

    def __init__(self, work: _Work) -> None:
        count = len(work.reads)
        self.reads, self.readers = work.reads, work.readers
        self.left = [len(reading) for reading in work.readers]
        self.loaded = bytearray([value < count for value in range(len(work.numbers))])
        self.waits = [sum([value < count for value in read]) for read in work.reads]

    def change(self, k: int) -> int:
        """By how much computing an operation changes the number of live values."""
        change = 1 if self.readers[k] else 0
        left, loaded = self.left, self.loaded
        for value in self.reads[k]:
            if not loaded[value]:
                change += 1
            if left[value] == 1:
                change -= 1
        return change

    def complete(self, k: int) -> Order:
        """After an operation: those that become ready, and those that may now free a value."""
        left, waits = self.left, self.waits
        candidates: Order = []
        for value in self.reads[k]:
            left[value] -= 1
            # Only these two events change what an operation would do to the number of live values: a value with one
            # reader left is freed by it, a value from outside that is loaded already costs it nothing.
            if left[value] == 1 or not self.loaded[value]:
                self.loaded[value] = 1
                candidates += [other for other in self.readers[value] if not waits[other]]
        for reader in self.readers[k]:
            waits[reader] -= 1
            if not waits[reader]:
                candidates.append(reader)
        return candidates
