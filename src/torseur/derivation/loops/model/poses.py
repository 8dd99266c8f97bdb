"""Places of the bodies and motions of the joints in the earth's axes, at one state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.spatial.rotation_arrays import cross_rows
from torseur.derivation.loops.model.cycles import Passage
from torseur.derivation.loops.model.joint_chains import chain, number_slots, stack_chains, walk
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.tree import spanning_tree
from torseur.description.mechanism import EARTH_NAME


@dataclass(frozen=True)
class Poses:
    """Per body: rotation, position (in units of length), and the screws of the freedoms that carry it.

    Screws (6, n) are at the earth's origin and in its axes, angular part first.
    """

    rotation: dict[str, Array]
    position: dict[str, Array]
    screws: dict[str, Array]


def body_poses(system: LoopSystem, state: State) -> Poses:
    """Every body's place and the motions its position depends on, along the spanning tree."""
    edges = system.edges
    number = {edge.joint: k for k, edge in enumerate(edges)}
    branches = [b for b in spanning_tree(system.frame.mechanism).branches if not b.closes]
    slots = number_slots(system.frame)
    passages = [Passage(number[b.joint.name], not b.reverse) for b in branches]
    chains = stack_chains([chain(edges, slots, [passage]) for passage in passages], system.length)
    turned, moved, screws = walk(chains, system.amounts.values(state.x), state.balls)
    rows = system.rows_by_freedom(chains, screws, state)[0]
    poses = Poses({EARTH_NAME: np.eye(3)}, {EARTH_NAME: np.zeros(3)}, {EARTH_NAME: np.zeros((6, system.n))})
    for k, branch in enumerate(branches):
        turn, shift = poses.rotation[branch.parent], poses.position[branch.parent]
        # From the parent's origin to the earth's: v_earth = R v - (R w) x p.
        angular = turn @ rows[k, :3]
        linear = turn @ rows[k, 3:] - cross_rows(angular, shift)
        poses.rotation[branch.child] = turn @ turned[0, k]
        poses.position[branch.child] = shift + turn @ moved[0, k]
        poses.screws[branch.child] = poses.screws[branch.parent] + np.concatenate([angular, linear])
    return poses
