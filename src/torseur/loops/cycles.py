"""Independent cycles of joints, short ones, each closed by one joint that no earlier cycle uses."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torseur.loops.skeleton import Edge


@dataclass(frozen=True)
class Passage:
    """A joint walked from start to end (forward) or back."""

    edge: int
    forward: bool


@dataclass(frozen=True)
class Cycle:
    """Joints walked one after the other from a body back to itself; the last one closes it."""

    passages: tuple[Passage, ...]

    @property
    def closing(self) -> int:
        return self.passages[-1].edge


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
    left = [k for k in range(len(edges)) if k not in tree]
    left.sort(key=lambda k: len(graph.path(edges[k].end, edges[k].start)))
    cycles = []
    for k in left:
        cycles.append(Cycle((*graph.path(edges[k].end, edges[k].start), Passage(k, True))))
        graph.add(k)
    return cycles
