"""Places of the bodies and motions of the joints in the earth's axes, at one state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.loops.chains import chain, number_slots, stacked, walk
from torseur.loops.cycles import Passage
from torseur.loops.so3 import cross_rows
from torseur.loops.system import LoopSystem, State
from torseur.mechanism import EARTH_NAME
from torseur.tree import spanning_tree

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Poses:
    """Per body: rotation, position (in units of length), and the screws of the freedoms that carry it.

    Screws (6, n) are at the earth's origin and in its axes, angular part first.
    """

    rotation: dict[str, Floats]
    position: dict[str, Floats]
    screws: dict[str, Floats]


def body_poses(system: LoopSystem, state: State) -> Poses:
    """Every body's place and the motions its position depends on, along the spanning tree."""
    edges = system.edges
    number = {edge.joint: k for k, edge in enumerate(edges)}
    branches = [b for b in spanning_tree(system.frame.mechanism).branches if not b.closes]
    slots = number_slots(system.frame)
    passages = [Passage(number[b.joint.name], not b.reverse) for b in branches]
    chains = stacked([chain(edges, slots, [passage]) for passage in passages], system.length)
    turned, moved, screws = walk(chains, system.amounts.values(state.x), state.balls)
    rows = system.rows_by_freedom(chains, screws, state)[0]
    poses = Poses({EARTH_NAME: np.eye(3)}, {EARTH_NAME: np.zeros(3)}, {EARTH_NAME: np.zeros((6, system.n))})
    for k, branch in enumerate(branches):
        turn, shift = poses.rotation[branch.parent], poses.position[branch.parent]
        angular = turn @ rows[k, :3]
        linear = turn @ rows[k, 3:] - cross_rows(angular, shift)
        poses.rotation[branch.child] = turn @ turned[0, k]
        poses.position[branch.child] = shift + turn @ moved[0, k]
        poses.screws[branch.child] = poses.screws[branch.parent] + np.concatenate([angular, linear])
    return poses
