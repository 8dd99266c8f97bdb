"""An order of operations that keeps few values alive at a time: what fits in registers need not go to memory.

Greedy list scheduling: of the operations that are ready, take the one that changes the number of live values least;
ties keep the order they came in. It starts from several orders, because none is best for all programs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush

from torseur.graph.expr import Expr
from torseur.graph.program import Program

Reads = Mapping[Expr, tuple[Expr, ...]]
"""What each operation reads, each value once."""


def fewest_live(operations: Sequence[Expr], *results: Sequence[Expr], registers: int = 0) -> list[Expr]:
    """The operations reordered such that few of them and of the values they read are live at once.

    What they read from outside is loaded when it is first used. Results leave when they are computed; they are given
    in one or several orders to start from. With a number of `registers` that order is taken in which fewest values
    have to leave them for a time.
    """
    given = list(operations)
    reads = {node: read_values(node) for node in given}
    starts = [given, *(depth_first(given, ends) for ends in results)]
    candidates = [order for start in starts for order in (start, _greedy(start, reads))]
    if registers:
        return min(candidates, key=lambda order: _stored(order, reads, registers))
    return min(candidates, key=lambda order: _most_live(order, reads))


def most_live(order: Sequence[Expr]) -> int:
    """The largest number of values that are live at once, values from outside included."""
    return _most_live(order, {node: read_values(node) for node in order})


def _most_live(order: Sequence[Expr], reads: Reads) -> int:
    last = {argument: k for k, node in enumerate(order) for argument in reads[node]}
    live: set[Expr] = set()
    most = 0
    for k, node in enumerate(order):
        live.update(reads[node])
        if node in last:
            live.add(node)
        most = max(most, len(live))
        live.difference_update([a for a in reads[node] if last[a] == k])
    return most


def _stored(order: Sequence[Expr], reads: Reads, registers: int) -> int:
    """How many values are stored for later when those go first whose next use is farthest (Belady 1966)."""
    uses: dict[Expr, list[int]] = {}
    for k, node in enumerate(order):
        for argument in reads[node]:
            uses.setdefault(argument, []).append(k)
    for places in uses.values():
        places.reverse()
    here: dict[Expr, int] = {}
    farthest: list[tuple[int, int, Expr]] = []
    own, stored = set(order), set[Expr]()
    for node in order:
        for argument in reads[node]:
            uses[argument].pop()
        for value in (*reads[node], node):
            if not uses.get(value):
                here.pop(value, None)
                continue
            here[value] = uses[value][-1]
            heappush(farthest, (-here[value], value.serial, value))
        while len(here) > registers:
            place, _, value = heappop(farthest)
            if here.get(value) == -place:
                del here[value]
                if value in own:
                    stored.add(value)
    return len(stored)


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


def depth_first(operations: Sequence[Expr], results: Sequence[Expr]) -> list[Expr]:
    """The operations in the order in which computing one result after the other needs them."""
    wanted, done = set(operations), set[Expr]()
    order: list[Expr] = []
    for result in [*results, *operations]:
        pending = [(result, False)]
        while pending:
            node, ready = pending.pop()
            if ready:
                order.append(node)
            elif node in wanted and node not in done:
                done.add(node)
                pending.append((node, True))
                pending.extend((argument, False) for argument in reversed(node.args))
    return order


def read_values(node: Expr) -> tuple[Expr, ...]:
    """The arguments that occupy a register, each once."""
    return tuple(dict.fromkeys([a for a in node.args if a.op not in ("constant", "pi")]))


class _Readers:
    """Who reads a value, and how many of them are still to come."""

    def __init__(self, order: Sequence[Expr], reads: Reads) -> None:
        self.reads = reads
        self.of: dict[Expr, list[Expr]] = {}
        for node in order:
            for argument in reads[node]:
                self.of.setdefault(argument, []).append(node)
        self.left = {value: len(readers) for value, readers in self.of.items()}
        self.loaded: set[Expr] = set(order)

    def change(self, node: Expr) -> int:
        """By how much computing a node changes the number of live values."""
        change = int(node in self.of)
        for argument in self.reads[node]:
            change += (argument not in self.loaded) - (self.left[argument] == 1)
        return change


def _greedy(base: Sequence[Expr], reads: Reads) -> list[Expr]:
    readers, place, own = _Readers(base, reads), {node: k for k, node in enumerate(base)}, set(base)
    waits = {node: sum(a in own for a in reads[node]) for node in base}
    ready = [(readers.change(node), place[node], node) for node in base if not waits[node]]
    heapify(ready)
    done: set[Expr] = set()
    order: list[Expr] = []
    while ready:
        change, _, node = heappop(ready)
        if node in done:
            continue
        now = readers.change(node)
        if now != change:
            heappush(ready, (now, place[node], node))
            continue
        done.add(node)
        order.append(node)
        for other in _touched(node, readers, waits):
            if other not in done:
                heappush(ready, (readers.change(other), place[other], other))
    return order


def _touched(node: Expr, readers: _Readers, waits: dict[Expr, int]) -> list[Expr]:
    """After a node: the operations that become ready, and those that may now free a value."""
    found: list[Expr] = []
    for argument in readers.reads[node]:
        readers.left[argument] -= 1
        fresh = argument not in readers.loaded
        readers.loaded.add(argument)
        if fresh or readers.left[argument] == 1:
            found += [other for other in readers.of[argument] if not waits[other]]
    for reader in readers.of.get(node, ()):
        waits[reader] -= 1
        if not waits[reader]:
            found.append(reader)
    return found
