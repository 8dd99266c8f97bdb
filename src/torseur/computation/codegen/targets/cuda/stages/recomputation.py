"""What a stage computes again and what it reads back: the cheaper way, as a minimum cut.

Every value that an earlier stage has computed can be read from memory or computed again from values that can. A price
for words that go through memory and one for operations make this a cut in a network: cutting at a value means to read
it, going on to its arguments means to pay for its operation.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from torseur.algebra.graph.evaluation import live_nodes
from torseur.algebra.graph.expr import Expr
from torseur.algebra.graph.operations import OPERATIONS

# A machine with other figures would cut elsewhere and still compute the same: the price decides speed alone.
WORD = 20
"""Price of a word through memory, in operations: a device does some 20e12 operations and 1e12 words per second."""
# An edge that no cut takes; a sum of all prices stays far below it, and below what 32 bits hold.
MANY = 1 << 24


def operations_needed(
    targets: Sequence[Expr], known: Collection[Expr], stored: Collection[Expr], given: Collection[Expr]
) -> list[Expr]:
    """The operations that give the targets, in order; what they read besides comes from memory.

    known   values that earlier stages have computed
    stored  those that are in memory already
    given   inputs
    """
    fresh, seams = _fresh(targets, known, given)
    chosen = fresh | _operations_to_repeat(seams, stored, given)
    return [node for node in live_nodes(targets, given) if node in chosen]


def _fresh(targets: Sequence[Expr], known: Collection[Expr], given: Collection[Expr]) -> tuple[set[Expr], list[Expr]]:
    """Operations that nobody has done yet, and the known values that they read, in an order of structure."""
    fresh, seams = set[Expr](), dict[Expr, None]()
    pending = [node for node in targets if node.args and node not in given]
    while pending:
        node = pending.pop()
        if node in known:
            seams[node] = None
        elif node not in fresh:
            fresh.add(node)
            pending += [a for a in node.args if a.args and a not in given]
    wanted = set(targets)
    return fresh, [node for node in seams if node not in wanted]


def _operations_to_repeat(seams: Sequence[Expr], stored: Collection[Expr], given: Collection[Expr]) -> set[Expr]:
    """The operations to repeat: those on the near side of the cut."""
    if not seams:
        return set()
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    # source -> k (MANY) for what is wanted; k -> k + 1 costs reading the value (twice where it must be stored first);
    # k + 1 -> sink costs its operation; k + 1 -> its arguments (MANY): who computes a value needs all of them.
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
    # What the source still reaches in the residual network is on its side of the cut: the second point of a value
    # there means that the edge of reading was not cut, so the value is computed again.
    reached = set(breadth_first_order(rest, 0, return_predecessors=False).tolist())
    return {node for node, k in place.items() if node not in given and k + 1 in reached}


def _below(seams: Sequence[Expr], given: Collection[Expr]) -> list[Expr]:
    """The seams and all they depend on, constants left out."""
    return [node for node in live_nodes(seams, given) if node.args or node in given]


def _cost(node: Expr) -> int:
    return int(OPERATIONS[node.op].cost) if node.op in OPERATIONS else 10
