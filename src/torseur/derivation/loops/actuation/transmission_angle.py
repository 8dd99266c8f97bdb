"""The transmission angle: how squarely a coupler pushes the link that it drives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.loop_report import joint_places
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.model.poses import Poses, body_poses
from torseur.derivation.loops.model.skeleton import MOVE, TURN, Edge
from torseur.derivation.loops.singularities.singularities import driven_states
from torseur.description.mechanism import Mechanism
from torseur.errors import MechanismError


@dataclass(frozen=True, repr=False)
class Transmission:
    """Transmission angles (rad, between 0 and a right angle) over the values of a driven coordinate (SI)."""

    coordinate: str
    values: Array
    angles: Array

    def __repr__(self) -> str:
        return (f"Transmission: at least {np.degrees(self.least):.4g} deg, at {self.coordinate} = {self.at_least:.6g}, "
                f"while it goes from {self.values[0]:.6g} to {self.values[-1]:.6g}")  # fmt: skip

    @property
    def least(self) -> float:
        """The smallest angle: 90° is best, below some 40° friction and play begin to rule."""
        return float(np.min(self.angles))

    @property
    def at_least(self) -> float:
        """Where the driven coordinate has the smallest angle."""
        return float(self.values[int(np.argmin(self.angles))])


def transmission_angle(mechanism: Mechanism, coupler: str, output: str, coordinate: str, start: float, stop: float, *,
                       at: Mapping[str, float] | None = None,
                       locked: Sequence[str] = ()) -> Transmission:  # fmt: skip
    """Angles between a coupler's force and what its output link cannot yield to, while a coordinate is driven.

    The coupler is held by two joints, and pushes along the line between them (its own inertia is left out). The output
    link turns or slides in one other joint. The angle is 90° where the push is along the way of the joint between
    them, 0 where it is across: of a four-bar, the angle between coupler and rocker (Alt 1932).
    """
    for name in (coupler, output):
        mechanism.body(name)
    system, states = driven_states(mechanism, coordinate, start, stop, at=at, locked=locked)
    shared, far, guide = _joints(system, coupler, output)
    slot = [f.name for f in system.frame.freedoms].index(coordinate)
    angles = [_angle(system, state, shared, far, guide) for state in states]
    values = np.array([state.x[0, slot] for state in states]) * system.amounts.units[slot]
    return Transmission(coordinate, values, np.array(angles))


def _joints(system: LoopSystem, coupler: str, output: str) -> tuple[Edge, Edge, Edge]:
    """The joint between coupler and output, the coupler's other one, and the joint that guides the output."""
    of = {name: [e for e in system.edges if name in (e.start, e.end)] for name in (coupler, output)}
    shared = [e for e in of[coupler] if e in of[output]]
    far = [e for e in of[coupler] if e not in shared]
    guide = [e for e in of[output] if e not in shared and len(e.steps) == 1 and e.steps[0].kind in (TURN, MOVE)]
    name = system.frame.mechanism.name
    if len(shared) != 1 or len(far) != 1:
        held = ", ".join(e.joint for e in of[coupler]) or "none"
        raise MechanismError(
            f"mechanism '{name}': body '{coupler}' is not a coupler of '{output}': expected two joints, one of them to "
            f"'{output}'; it has {held}."
        )
    if len(guide) != 1:
        raise MechanismError(
            f"mechanism '{name}': body '{output}' has {len(guide)} revolute or prismatic joints besides "
            f"'{shared[0].joint}'; a transmission angle needs one, which says where it can go."
        )
    return shared[0], far[0], guide[0]


def _angle(system: LoopSystem, state: State, shared: Edge, far: Edge, guide: Edge) -> float:
    places = {name: np.array(place) for name, place in joint_places(system, state).items()}
    push = places[shared.joint] - places[far.joint]
    axis = _axis(body_poses(system, state), guide)
    # The way of the shared joint with the output link: along the guide, or around it.
    way = axis if guide.steps[0].kind == MOVE else np.cross(axis, places[shared.joint] - places[guide.joint])
    sine = abs(float(push @ way)) / max(float(np.linalg.norm(push) * np.linalg.norm(way)), 1e-300)
    return float(np.arcsin(min(1.0, sine)))


def _axis(poses: Poses, edge: Edge) -> Array:
    """The axis of a joint's first step in the earth's axes."""
    step = edge.steps[0]
    local = step.before.rotation.to_parent(step.axis)
    axis: Array = poses.rotation[edge.start] @ np.array([float(c) for c in local])
    return axis
