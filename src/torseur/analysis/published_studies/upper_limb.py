"""The inertia of a right upper limb from ground reactions and markers: Monnet (2007), tables 5.3 to 5.5.

Human36 stands still and moves its right arm, straight, about the shoulder. The body is two segments: the limb, and all
the rest. From the ground's reaction and the rotation of the limb follow its inertia matrix and its first moment, and
the centre of the shoulder where that is not known: A J Bᵀ - B J Aᵀ = T. Errors are in the spectral norm.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.limb_inertia import (
    Limb,
    LimbEstimate,
    identify_limb,
    limb_of,
    percent,
)
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion, coordinate_names
from torseur.analysis.biomechanics.person_model.human36 import human36
from torseur.analysis.biomechanics.recordings.force_plates import PlateRecord
from torseur.analysis.biomechanics.recordings.laboratory_axes import OPENSIM_AXES
from torseur.analysis.biomechanics.recordings.markers import Markers
from torseur.analysis.biomechanics.recordings.motion_trial import MotionTrial
from torseur.description.mechanism import Mechanism

SECONDS, NOISE = 5.0, 0.003  # of each movement; the greatest error of a coordinate of a marker, as in the source
THREE = ("RUPA", "RELB", "RWRB")  # as many as in the source
EIGHT = ("RUPA", "RUPB", "RELB", "RELM", "RFRA", "RFRB", "RWRA", "RWRB")
TRUNK = ("STRN", "CLAV", "C7", "T10")
POINT = "STRN"  # where moments are taken while the shoulder is not known
_SHOULDER = "r_shoulder_"


@cache
def person() -> Mechanism:
    """The person of the source: 1.74 m, 63 kg."""
    return human36()


@cache
def limb() -> Limb:
    return limb_of(person(), "right arm")


def shoulder_motions(rate: float, frequency: float) -> dict[str, JointMotion]:
    """Flexion, abduction, rotation of the lifted arm, and circumduction, as cosines of time."""
    waves: dict[str, dict[str, tuple[float, float, float, float]]] = {
        "flexion": {"flexion": (0.8, 0.8, 1, np.pi)},
        "abduction": {"adduction": (-0.75, 0.75, 1, 0.0)},
        "rotation": {
            "flexion": (1.2, 0.2, 0.5, 0.0), "adduction": (-0.3, 0.1, 1 / 3, 0.0), "rotation": (0.0, 0.8, 1.5, 0.0),
        },
        "circumduction": {
            "flexion": (0.6, 0.5, 1, 0.0), "adduction": (-0.5, 0.5, 1, np.pi / 2), "rotation": (0.0, 0.3, 1.3, 0.0),
        },
    }  # fmt: skip
    time = np.arange(round(SECONDS * rate) + 1) / rate
    return {name: _waving(time, angles, 2 * np.pi * frequency) for name, angles in waves.items()}


def _waving(time: Array, angles: Mapping[str, tuple[float, float, float, float]], omega: float) -> JointMotion:
    """mean + size cos(k ω t + phase) per angle of the shoulder; everything else at rest, upright."""
    names = coordinate_names(person())
    q, v, a = (np.zeros((len(time), len(names))) for _ in range(3))
    for angle, (mean, size, ratio, phase) in angles.items():
        slot, w = names.index(_SHOULDER + angle), ratio * omega
        q[:, slot] = mean + size * np.cos(w * time + phase)
        v[:, slot] = -size * w * np.sin(w * time + phase)
        a[:, slot] = -size * w * w * np.cos(w * time + phase)
    return JointMotion(time, names, q, v, a)


def recordings(
    rate: float = 50.0, frequency: float = 0.75, noise: float = 0.0, seed: int = 0
) -> tuple[MotionTrial, ...]:
    """The four movements on one force plate, white noise within ± `noise` (m) on every coordinate of every marker."""
    rng = np.random.default_rng(seed)
    labels = (*TRUNK, *EIGHT)
    trials = []
    for name, motion in shoulder_motions(rate, frequency).items():
        body = BodyInMotion(person(), motion)
        exact = np.stack([body.place(person().frame(label))[0] for label in labels], axis=1)
        seen = exact + rng.uniform(-noise, noise, exact.shape)
        force, moment = body.external_wrench
        corners = np.array([[-0.3, 0, -0.3], [0.3, 0, -0.3], [0.3, 0, 0.3], [-0.3, 0, 0.3]])
        # The centre of pressure is not used: force and moment about the origin are what the method takes.
        plate = PlateRecord(motion.time, force, moment, np.full_like(force, np.nan), corners, axes=OPENSIM_AXES)
        trials.append(MotionTrial(Markers(motion.time, labels, seen, OPENSIM_AXES, name), (plate,)))
    return tuple(trials)


def identify_right_arm(seen: tuple[MotionTrial, ...], **options: Any) -> LimbEstimate:
    """The limb by `identify_limb`, with the source's rates and the true shoulder unless said otherwise."""
    given = {"labels": EIGHT, "rates": "source", "centre": "model", "point": POINT} | options
    return identify_limb(seen, limb(), **given)


def errors(estimate: LimbEstimate) -> tuple[float, float, float | None]:
    """Percent by which the inertia, the first moment and the place of the shoulder are off, in spectral norm."""
    off = None if estimate.centre is None else percent(estimate.centre, true_centre())
    return *estimate.differences, off


def median_errors(count: int = 20, **options: Any) -> tuple[float, float]:
    """Medians of the errors of inertia and first moment over trials with fresh noise, in percent."""
    estimates = [identify_right_arm(recordings(noise=NOISE, seed=seed), **options) for seed in range(count)]
    inertia, moment = np.median([estimate.differences for estimate in estimates], axis=0).tolist()
    return inertia, moment


@cache
def true_centre() -> Array:
    """The shoulder from POINT, in the axes of the trunk."""
    still = limb().still
    shoulder = still.place(person().body(limb().segments[0]).frame)[0][0]
    return np.asarray(shoulder - still.place(person().frame(POINT))[0][0])
