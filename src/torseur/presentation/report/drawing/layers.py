"""Where bodies go in a drawing of the mechanism: layers by distance from the ground, few crossings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.presentation.report.page.report_content import Joint
from torseur.presentation.scene.scene import Body

SWEEPS = 6


@dataclass(frozen=True)
class Layers:
    """Body indices by layer, ground first, each layer in drawing order."""

    layers: tuple[tuple[int, ...], ...]

    def place(self) -> dict[int, tuple[int, int]]:
        """Layer and rank of every body."""
        return {body: (depth, rank) for depth, layer in enumerate(self.layers) for rank, body in enumerate(layer)}

    @property
    def widest(self) -> int:
        """Number of bodies in the fullest layer."""
        return max(map(len, self.layers), default=0)


def joint_pairs(bodies: Sequence[Body], joints: Sequence[Joint]) -> list[tuple[int, int]]:
    """Index pairs (parent, child) of every joint."""
    index = {body.name: number for number, body in enumerate(bodies)}
    return [(index[joint.parent], index[joint.child]) for joint in joints]


def arrange(bodies: Sequence[Body], joints: Sequence[Joint]) -> Layers:
    """Breadth-first layers, then ordered by the mean rank of neighbours in alternating sweeps."""
    edges = joint_pairs(bodies, joints)
    depth = _distances(bodies, edges)
    layers = [[b for b in range(len(bodies)) if depth[b] == d] for d in range(max(depth.values(), default=-1) + 1)]
    neighbours = _neighbours(len(bodies), edges)
    # The barycentre heuristic of layered drawings (Sugiyama, Tagawa and Toda, 1981): sorting a layer by the mean
    # rank of
    # its neighbours in the one beside removes most crossings; sweeps go down and up in turn until little changes.
    for sweep in range(SWEEPS):
        order = range(1, len(layers)) if sweep % 2 == 0 else range(len(layers) - 2, -1, -1)
        for d in order:
            _sort_by_neighbours(layers, d, d - 1 if sweep % 2 == 0 else d + 1, neighbours)
    return Layers(tuple(map(tuple, layers)))


def _distances(bodies: Sequence[Body], edges: list[tuple[int, int]]) -> dict[int, int]:
    """Joints between each body and the ground; a body joined to nothing counts one."""
    neighbours = _neighbours(len(bodies), edges)
    roots = [number for number, body in enumerate(bodies) if body.fixed] or list(range(min(1, len(bodies))))
    depth = dict.fromkeys(roots, 0)
    frontier = roots
    while frontier:
        reached = [(b, depth[a] + 1) for a in frontier for b in neighbours[a]]
        frontier = []
        for body, distance in reached:
            if body not in depth:
                depth[body] = distance
                frontier.append(body)
    return {body: depth.get(body, 1) for body in range(len(bodies))}


def _neighbours(count: int, edges: list[tuple[int, int]]) -> list[list[int]]:
    neighbours: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    return neighbours


def _sort_by_neighbours(layers: list[list[int]], at: int, beside: int, neighbours: list[list[int]]) -> None:
    rank = {body: number for number, body in enumerate(layers[beside])}
    here = {body: number for number, body in enumerate(layers[at])}

    def mean(body: int) -> float:
        ranks = [rank[n] for n in neighbours[body] if n in rank]
        # A body without neighbours there stays where it is; the sort is stable.
        return sum(ranks) / len(ranks) if ranks else here[body]

    layers[at].sort(key=mean)
