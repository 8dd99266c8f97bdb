"""Limbs of Human36 that move as one rigid body about their first joint, while the rest of the body stands still."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.biomechanics.body_in_motion import BodyInMotion
from torseur.biomechanics.human36 import marker_places
from torseur.biomechanics.joint_motion import JointMotion, coordinate_names
from torseur.errors import RecordingError, unknown_name
from torseur.identification.arrays import Array
from torseur.mechanism import Mechanism

# Limb: its segments, the first at the joint that moves, and the segment that carries it.
LIMBS = {
    "right arm": (("r_upper_arm", "r_forearm", "r_hand"), "trunk"),
    "left arm": (("l_upper_arm", "l_forearm", "l_hand"), "trunk"),
    "right leg": (("r_thigh", "r_shank", "r_foot"), "pelvis"),
    "left leg": (("l_thigh", "l_shank", "l_foot"), "pelvis"),
}


def at_rest(mechanism: Mechanism) -> BodyInMotion:
    """A person in the neutral posture, in one frame."""
    names = coordinate_names(mechanism)
    nothing = np.zeros((1, len(names)))
    return BodyInMotion(mechanism, JointMotion(np.zeros(1), names, nothing, nothing, nothing))


@dataclass(frozen=True, eq=False)
class Limb:
    """A limb of a model, straight: its markers, its inertia by the model, the place of its joint."""

    mechanism: Mechanism
    name: str
    segments: tuple[str, ...]
    carrier: str

    @cached_property
    def still(self) -> BodyInMotion:
        return at_rest(self.mechanism)

    def labels(self, seen: Sequence[str]) -> tuple[str, ...]:
        """Markers of the limb among those seen."""
        places = marker_places(self.mechanism)
        return tuple(label for label in seen if places.get(label) in self.segments)

    def carrier_labels(self, seen: Sequence[str]) -> tuple[str, ...]:
        places = marker_places(self.mechanism)
        return tuple(label for label in seen if places.get(label) == self.carrier)

    def places(self, segment: str, labels: Sequence[str]) -> dict[str, Array]:
        """Places of markers in a segment's axes, in the neutral posture."""
        origin, rotation = self.still.place(self.mechanism.body(segment).frame)
        return {
            label: (self.still.place(self.mechanism.frame(label))[0][0] - origin[0]) @ rotation[0] for label in labels
        }

    @cached_property
    def joint(self) -> Array:
        """The limb's joint in its carrier's axes (m)."""
        place = self.still.place(self.mechanism.body(self.segments[0]).frame)[0][0]
        origin, rotation = self.still.place(self.mechanism.body(self.carrier).frame)
        return np.asarray((place - origin[0]) @ rotation[0])

    @cached_property
    def inertia(self) -> tuple[Array, Array]:
        """Inertia matrix (kg m²) at the joint and first moment (kg m) by the model, in the first segment's axes."""
        joint = self.still.place(self.mechanism.body(self.segments[0]).frame)[0][0]
        total, moment = np.zeros((3, 3)), np.zeros(3)
        for segment in self.segments:
            inertia = self.still.now.links[self.still.link(segment)].inertia
            d = self.still.place(self.mechanism.body(segment).frame)[0][0] - joint
            m, h = float(inertia.mass), np.array([float(x) for x in inertia.moment])
            own = np.array([[float(x) for x in row] for row in inertia.matrix.rows])
            transport = (m * (d @ d) + 2 * d @ h) * np.eye(3) - m * np.outer(d, d) - np.outer(d, h) - np.outer(h, d)
            total, moment = total + own + transport, moment + h + m * d
        return total, moment


def limb_of(mechanism: Mechanism, name: str = "right arm") -> Limb:
    """A limb of Human36: right arm, left arm, right leg or left leg."""
    if name not in LIMBS:
        raise RecordingError(unknown_name("limb", name, LIMBS))
    segments, carrier = LIMBS[name]
    return Limb(mechanism, name, segments, carrier)
