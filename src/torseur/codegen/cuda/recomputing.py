"""What a stage computes again and what it reads back: the cheaper way, as a minimum cut.

Every value that an earlier stage has computed can be read from memory or computed again from values that can. A price
for words that go through memory and one for operations make this a cut in a network: cutting at a value means to read
it, going on to its arguments means to pay for its operation.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from torseur.graph.expr import Expr
from torseur.graph.operations import OPERATIONS

WORD = 20
"""Price of a word through memory, in operations: a device does some 20e12 operations and 1e12 words per second."""
MANY = 1 << 24


def needed(
    targets: Sequence[Expr], known: Collection[Expr], stored: Collection[Expr], given: Collection[Expr]
) -> list[Expr]:
    """The operations that give the targets, in order; what they read besides comes from memory.

    known   values that earlier stages have computed
    stored  those that are in memory already
    given   inputs
    """
    fresh, seams = _fresh(targets, known, given)
    again = _again(seams, stored, given)
    return sorted(fresh | again, key=lambda node: node.serial)


def _fresh(targets: Sequence[Expr], known: Collection[Expr], given: Collection[Expr]) -> tuple[set[Expr], set[Expr]]:
    """Operations that nobody has done yet, and the known values that they read."""
    fresh, seams = set[Expr](), set[Expr]()
    pending = [node for node in targets if node.args and node not in given]
    while pending:
        node = pending.pop()
        if node in known:
            seams.add(node)
        elif node not in fresh:
            fresh.add(node)
            pending += [a for a in node.args if a.args and a not in given]
    return fresh, seams - set(targets)


def _again(seams: set[Expr], stored: Collection[Expr], given: Collection[Expr]) -> set[Expr]:
    """The operations to repeat: those on the near side of the cut."""
    if not seams:
        return set()
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    nodes = _below(seams, given)
    place = {node: 2 + 2 * k for k, node in enumerate(nodes)}  # 0 is the source, 1 the sink, then two points a value
    edges: dict[tuple[int, int], int] = {(0, place[node]): MANY for node in seams}
    for node, k in place.items():
        if node in given:
            edges[k, 1] = WORD
            continue
        edges[k, k + 1] = WORD if node in stored else 2 * WORD
        edges[k + 1, 1] = _cost(node)
        edges |= {(k + 1, place[a]): MANY for a in node.args if a in place}
    rows, columns = np.array(list(edges), dtype=np.int32).T
    shape = (2 + 2 * len(nodes),) * 2
    capacity = csr_array((np.array(list(edges.values()), dtype=np.int32), (rows, columns)), shape=shape)
    rest = (capacity - maximum_flow(capacity, 0, 1).flow).tocsr()
    rest.data[rest.data < 0] = 0
    rest.eliminate_zeros()
    reached = set(breadth_first_order(rest, 0, return_predecessors=False).tolist())
    return {node for node, k in place.items() if node not in given and k + 1 in reached}


def _below(seams: set[Expr], given: Collection[Expr]) -> list[Expr]:
    """The seams and all they depend on, constants left out."""
    found, pending = set(seams), list(seams)
    while pending:
        node = pending.pop()
        for argument in () if node in given else node.args:
            if argument not in found and (argument.args or argument in given):
                found.add(argument)
                pending.append(argument)
    return sorted(found, key=lambda node: node.serial)


def _cost(node: Expr) -> int:
    return int(OPERATIONS[node.op].cost) if node.op in OPERATIONS else 10
