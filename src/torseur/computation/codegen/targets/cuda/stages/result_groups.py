"""Results of a program in groups that need the same inputs: the limbs of a mechanism, then what joins them.

An entry of a derivative that belongs to an arm depends on the arm and on what carries it; entries of the trunk depend
on everything. So the inputs that results depend on show the tree, without the program saying that there is one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from torseur.algebra.graph.expr import Expr

Support = int
"""A set of inputs, one bit each."""


def supports(nodes: Iterable[Expr], given: Iterable[Expr], ends: Collection[Expr] = ()) -> dict[Expr, Support]:
    """By node the given nodes it depends on, not looking behind `ends`. Nodes come in order of evaluation."""
    support = dict.fromkeys(ends, 0) | {node: 1 << k for k, node in enumerate(given)}
    for node in nodes:
        if node not in support:
            known = 0
            for argument in node.args:
                known |= support.get(argument, 0)
            support[node] = known
    return support


def components(results: Sequence[Expr], support: Mapping[Expr, Support]) -> list[list[Expr]]:
    """Results in groups that share no input."""
    groups: list[tuple[Support, list[Expr]]] = []
    for result in results:
        # A result that overlaps several groups joins them: union of sets by bits.
        mine, members = support.get(result, 0), [result]
        apart = []
        for other, others in groups:
            if other & mine:
                mine |= other
                members = others + members
            else:
                apart.append((other, others))
        groups = [*apart, (mine, members)]
    return [members for _, members in groups]


def limbs(results: Sequence[Expr], support: Mapping[Expr, Support]) -> list[list[Expr]]:
    """Results in groups such that every group comes after those whose inputs are among its own."""
    left = list(results)
    trunk: list[Expr] = []
    while left:
        # While one set of inputs contains all others, its results belong to the trunk; then the tree forks.
        widest = _widest({support.get(node, 0) for node in left})
        if len(widest) > 1:
            break
        trunk += [node for node in left if support.get(node, 0) == widest[0]]
        left = [node for node in left if support.get(node, 0) != widest[0]]
    if not left:
        return [trunk]
    branches: dict[Support, list[Expr]] = {wide: [] for wide in widest}
    for node in left:
        own = support.get(node, 0)
        branches[next(wide for wide in widest if own | wide == wide)].append(node)
    return [group for branch in branches.values() for group in limbs(branch, support)] + ([trunk] if trunk else [])


def _widest(sets: set[Support]) -> list[Support]:
    """The sets that no other contains, in the order of their first inputs."""
    return sorted(s for s in sets if not any(s != other and s | other == other for other in sets))
