"""What a laboratory records of a computed motion: markers with noise, and force plates under the feet."""

from __future__ import annotations

import numpy as np

from torseur.biomechanics.axes import OPENSIM_AXES
from torseur.biomechanics.body_in_motion import BodyInMotion
from torseur.biomechanics.foot_loads import human_footing
from torseur.biomechanics.force_plates import PlateRecord
from torseur.biomechanics.ground_reaction import Footing, Reaction, ground_reaction, shared, vertical
from torseur.biomechanics.joint_motion import JointMotion
from torseur.biomechanics.markers import Markers, runs
from torseur.biomechanics.motion_trial import MotionTrial
from torseur.identification.arrays import Array
from torseur.mechanism import Mechanism

_MARGIN = 0.06  # m: of a plate around the places a sole takes on it


def simulated_markers(body: BodyInMotion, noise: float = 0.0, seed: int = 0, name: str = "trial") -> Markers:
    """The markers of a model, with white noise of a standard deviation (m) on every coordinate."""
    frames = dict(body.mechanism.frames)
    exact = np.stack([body.place(frame)[0] for frame in frames.values()], axis=1)
    seen = exact + noise * np.random.default_rng(seed).normal(size=exact.shape)
    return Markers(body.motion.time, tuple(frames), seen, OPENSIM_AXES, name, ("computed, not recorded",))


def simulated_trial(
    mechanism: Mechanism, motion: JointMotion, *, noise: float = 0.0, seed: int = 0, name: str = "trial"
) -> MotionTrial:
    """Markers, and a force plate under every contact of a foot with the floor."""
    body = BodyInMotion(mechanism, motion)
    feet = human_footing(body)
    parts = shared(ground_reaction(body), feet, vertical(body))
    plates: list[PlateRecord] = []
    for foot, contact in feet.contact.items():
        for first, last in runs(contact):
            plates.append(_plate(body, feet, foot, parts[foot], slice(first, last + 1), f"plate {len(plates) + 1}"))
    markers = simulated_markers(body, noise, seed, name)
    return MotionTrial(markers, tuple(plates))


def _plate(body: BodyInMotion, feet: Footing, foot: str, reaction: Reaction, frames: slice, name: str) -> PlateRecord:
    """A plate around the sole's places during one contact, that feels the foot then."""
    up = vertical(body)
    on = np.zeros(len(body.motion))
    on[frames] = 1.0
    felt = reaction.share(on)
    centre = felt.centre_of_pressure(up, feet.floor)
    return PlateRecord(
        body.motion.time, felt.force, felt.moment, centre, _corners(feet, foot, frames), name, axes=OPENSIM_AXES
    )


def _corners(feet: Footing, foot: str, frames: slice) -> Array:
    points = feet.soles[foot][frames]
    low = points[points[:, :, 1] < points[:, :, 1].min() + 0.02]
    (x0, _, z0), (x1, _, z1) = low.min(axis=0) - _MARGIN, low.max(axis=0) + _MARGIN
    return np.array([[x0, feet.floor, z0], [x1, feet.floor, z0], [x1, feet.floor, z1], [x0, feet.floor, z1]])
