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

from torseur.biomechanics.axes import OPENSIM_AXES
from torseur.biomechanics.body_in_motion import BodyInMotion
from torseur.biomechanics.force_plates import PlateRecord
from torseur.biomechanics.human36 import human36
from torseur.biomechanics.joint_motion import JointMotion, coordinate_names
from torseur.biomechanics.limb import Limb, LimbEstimate, identified_limb, limb_of, located_joint
from torseur.biomechanics.limb.identified import percent
from torseur.biomechanics.markers import Markers
from torseur.biomechanics.motion_trial import MotionTrial
from torseur.identification.arrays import Array
from torseur.mechanism import Mechanism

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
    found = []
    for name, motion in shoulder_motions(rate, frequency).items():
        body = BodyInMotion(person(), motion)
        exact = np.stack([body.place(person().frame(label))[0] for label in labels], axis=1)
        seen = exact + rng.uniform(-noise, noise, exact.shape)
        force, moment = body.external_wrench
        corners = np.array([[-0.3, 0, -0.3], [0.3, 0, -0.3], [0.3, 0, 0.3], [-0.3, 0, 0.3]])
        plate = PlateRecord(motion.time, force, moment, np.full_like(force, np.nan), corners, axes=OPENSIM_AXES)
        found.append(MotionTrial(Markers(motion.time, labels, seen, OPENSIM_AXES, name), (plate,)))
    return tuple(found)


def identified(seen: tuple[MotionTrial, ...], **options: Any) -> LimbEstimate:
    """The limb, with the true centre of the shoulder unless said otherwise (see `identified_limb`)."""
    given = {"labels": EIGHT, "centre": "model", "point": POINT} | options
    return identified_limb(seen, limb(), **given)


def errors(found: LimbEstimate) -> tuple[float, float, float | None]:
    """Percent by which the inertia, the first moment and the place of the shoulder are off, in spectral norm."""
    off = None if found.centre is None else percent(found.centre, true_centre())
    return *found.differences, off


def located_shoulder(seen: tuple[MotionTrial, ...]) -> float:
    """How far SCoRE places the shoulder from where it is (m)."""
    return float(np.linalg.norm(located_joint(seen, limb(), EIGHT) - limb().joint))


def median_errors(count: int = 20, **options: Any) -> tuple[float, float]:
    """Medians of the errors of inertia and first moment over trials with fresh noise, in percent."""
    found = [identified(recordings(noise=NOISE, seed=seed), **options).differences for seed in range(count)]
    return float(np.median([inertia for inertia, _ in found])), float(np.median([moment for _, moment in found]))


@cache
def true_centre() -> Array:
    """The shoulder from POINT, in the axes of the trunk."""
    still = limb().still
    shoulder = still.place(person().body(limb().segments[0]).frame)[0][0]
    return np.asarray(shoulder - still.place(person().frame(POINT))[0][0])
