"""Independent cycles of joints, short ones, each closed by one joint that no earlier cycle uses."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torseur.derivation.loops.model.skeleton import Edge
from torseur.description.mechanism import EARTH_NAME


@dataclass(frozen=True)
class Passage:
    """A joint walked from start to end (forward) or back."""

    edge: int
    forward: bool


@dataclass(frozen=True)
class Cycle:
    """Joints walked one after the other from a body back to itself; `closing` is the one that is not in the tree."""

    passages: tuple[Passage, ...]
    closing: int


class JointGraph:
    """Bodies joined by those edges that were added."""

    def __init__(self, edges: Sequence[Edge], chosen: Iterable[int] = ()) -> None:
        self.edges = edges
        self.around: dict[str, list[tuple[int, bool, str]]] = {}
        for k in chosen:
            self.add(k)

    def add(self, k: int) -> None:
        edge = self.edges[k]
        self.around.setdefault(edge.start, []).append((k, True, edge.end))
        self.around.setdefault(edge.end, []).append((k, False, edge.start))

    def depths(self, start: str) -> dict[str, int]:
        """Number of joints from a body to every other."""
        depth = {start: 0}
        waiting = deque([start])
        while waiting:
            here = waiting.popleft()
            for _, _, there in self.around.get(here, ()):
                if there not in depth:
                    depth[there] = depth[here] + 1
                    waiting.append(there)
        return depth

    def path(self, start: str, end: str) -> list[Passage]:
        """A path of fewest joints between two bodies."""
        came: dict[str, tuple[str, Passage] | None] = {start: None}
        waiting = deque([start])
        while waiting and end not in came:
            here = waiting.popleft()
            for k, forward, there in self.around.get(here, ()):
                if there not in came:
                    came[there] = (here, Passage(k, forward))
                    waiting.append(there)
        # Back from the end by who came first: a breadth-first search meets every body by a shortest path.
        walked: list[Passage] = []
        step = came[end]
        while step is not None:
            body, passage = step
            walked.append(passage)
            step = came[body]
        return walked[::-1]


def short_cycles(edges: Sequence[Edge], tree: set[int]) -> list[Cycle]:
    """One cycle per joint outside the tree; each may use the joints that closed earlier, shorter ones.

    Every cycle contains a joint that none before it has, so they are independent.
    """
    graph = JointGraph(edges, sorted(tree))
    depth = graph.depths(EARTH_NAME)
    left = [k for k in range(len(edges)) if k not in tree]
    # Short cycles first: they keep the Jacobian sparse, and a longer one may then take the short way around them.
    left.sort(key=lambda k: len(graph.path(edges[k].end, edges[k].start)))
    cycles = []
    for k in left:
        around = [*graph.path(edges[k].end, edges[k].start), Passage(k, True)]
        cycles.append(Cycle(tuple(_from_nearest(edges, around, depth)), k))
        graph.add(k)
    return cycles


def _from_nearest(edges: Sequence[Edge], around: list[Passage], depth: dict[str, int]) -> list[Passage]:
    """The same cycle walked from its body nearest to the earth."""
    starts = [edges[p.edge].start if p.forward else edges[p.edge].end for p in around]
    # The chain's frame moves least where it begins nearest to the earth, which keeps numbers of the residual small.
    first = min(range(len(around)), key=lambda i: depth[starts[i]])
    return around[first:] + around[:first]
