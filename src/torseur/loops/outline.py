"""The outline of the loops at a configuration: which joints and bodies each passes, and where the joints are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.loops.poses import body_poses
from torseur.loops.system import LoopSystem, State

Point = tuple[float, float, float]
Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class LoopPath:
    """A loop walked once around: `bodies[k]` is between `joints[k]` and the next."""

    joints: tuple[str, ...]
    bodies: tuple[str, ...]


@dataclass(frozen=True)
class Outline:
    """The loops, and the place of every joint in the earth's axes (m)."""

    loops: tuple[LoopPath, ...]
    places: dict[str, Point]


def outline(system: LoopSystem, state: State) -> Outline:
    """The outline at a closed state."""
    return Outline(tuple(_path(system, c) for c in range(len(system.cycles))), _places(system, state))


def _path(system: LoopSystem, cycle: int) -> LoopPath:
    passages = system.cycles[cycle].passages
    edges = [system.frame.edges[p.edge] for p in passages]
    after = [e.end if p.forward else e.start for e, p in zip(edges, passages, strict=True)]
    return LoopPath(tuple(e.joint for e in edges), tuple(after))


def _places(system: LoopSystem, state: State) -> dict[str, Point]:
    poses = body_poses(system, state)
    places: dict[str, Point] = {}
    for edge in system.edges:
        offset = edge.steps[0].before if edge.steps else edge.last
        local = np.array([float(c) for c in offset.position])
        x, y, z = poses.position[edge.start] * system.length + poses.rotation[edge.start] @ local
        places[edge.joint] = (float(x), float(y), float(z))
    return places
