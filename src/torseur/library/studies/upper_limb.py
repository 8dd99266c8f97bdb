"""The inertia of a right upper limb from ground reactions and markers: Monnet (2007), tables 5.3 to 5.5.

Human36 stands still and moves its right arm, straight, about the shoulder. The body is two segments: the limb, and all
the rest. From the ground's reaction and the rotation of the limb follow its inertia matrix and its first moment, and
the centre of the shoulder where that is not known: A J Bᵀ - B J Aᵀ = T. Errors are in the spectral norm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from torseur.biomechanics.body_in_motion import BodyInMotion
from torseur.biomechanics.human36 import human36
from torseur.biomechanics.joint_centres import score
from torseur.biomechanics.joint_motion import JointMotion, coordinate_names
from torseur.biomechanics.markers import Markers
from torseur.biomechanics.segment_motion import SegmentMotion, segment_motion
from torseur.biomechanics.smoothing import rotation_rates
from torseur.identification.arrays import Array
from torseur.identification.segments import (
    Descent,
    SegmentTrial,
    Stopping,
    identify_segments,
    inertia_from_poinsot,
    segment_trial,
)
from torseur.mechanism import Mechanism

SECONDS, NOISE = 5.0, 0.003  # of each movement; the greatest error of a coordinate of a marker, as in the source
LIMB = ("r_upper_arm", "r_forearm", "r_hand")
THREE = ("RUPA", "RELB", "RWRB")  # as many as in the source
EIGHT = ("RUPA", "RUPB", "RELB", "RELM", "RFRA", "RFRB", "RWRA", "RWRB")
TRUNK = ("STRN", "CLAV", "C7", "T10")
POINT = "STRN"  # where moments are taken while the shoulder is not known
# The source's anatomical axes: y along the limb to the hand, x forward.
ANATOMICAL = np.diag([1.0, -1.0, -1.0])
_SHOULDER = "r_shoulder_"


@dataclass(frozen=True, eq=False)
class LimbRecording:
    """A movement as a laboratory sees it: markers, and the ground's reaction about the laboratory's origin."""

    name: str
    markers: Markers
    force: Array
    moment: Array


@dataclass(frozen=True, eq=False)
class LimbEstimate:
    """Inertia (kg m²) at the shoulder and first moment (kg m) in anatomical axes, the shoulder from POINT (m)."""

    J: Array
    inertia: Array
    moment: Array
    centre: Array | None
    descent: Descent

    @property
    def positive(self) -> bool:
        """Whether the limb's part of J is that of a real body."""
        return bool(np.linalg.eigvalsh(self.J[:3, :3])[0] > 0)

    @property
    def errors(self) -> tuple[float, float, float | None]:
        """Percent by which the inertia, the first moment and the place of the shoulder are off, in spectral norm."""
        inertia, moment = true_limb()
        off = None if self.centre is None else percent(self.centre, true_centre())
        return percent(self.inertia, inertia), percent(self.moment, moment), off


def percent(found: Array, truth: Array) -> float:
    """|found - truth| / |truth| in percent: the spectral norm of a matrix, the length of a vector."""
    return 100 * float(np.linalg.norm(found - truth, 2) / np.linalg.norm(truth, 2))


@cache
def person() -> Mechanism:
    """The person of the source: 1.74 m, 63 kg."""
    return human36()


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
) -> tuple[LimbRecording, ...]:
    """The four movements, white noise within ± `noise` (m) on every coordinate of every marker."""
    rng = np.random.default_rng(seed)
    labels = (*TRUNK, *EIGHT)
    found = []
    for name, motion in shoulder_motions(rate, frequency).items():
        body = BodyInMotion(person(), motion)
        exact = np.stack([body.place(person().frame(label))[0] for label in labels], axis=1)
        seen = exact + rng.uniform(-noise, noise, exact.shape)
        force, moment = body.external_wrench
        found.append(LimbRecording(name, Markers(motion.time, labels, seen, name=name), force, moment))
    return tuple(found)


def limb_motion(recording: LimbRecording, labels: Sequence[str] = EIGHT) -> SegmentMotion:
    """The limb's motion in its anatomical axes, from the markers it carries."""
    places = {label: place @ ANATOMICAL for label, place in _places(LIMB[0], labels).items()}
    return segment_motion(recording.markers, labels, places, name="upper limb")


def trunk_motion(recording: LimbRecording) -> SegmentMotion:
    return segment_motion(recording.markers, TRUNK, _places("trunk", TRUNK), name="trunk")


def identified_limb(
    seen: Sequence[LimbRecording],
    *,
    labels: Sequence[str] = EIGHT,
    rates: str = "kalman",
    centre: str = "unknown",
    positive: bool = True,
    iterations: int = 1000,
) -> LimbEstimate:
    """The limb from recordings of its movements.

    `centre` is "unknown" (found with the rest), "known" (the true one) or "score" (located by SCoRE from the same
    markers). `rates` says how rotations are differentiated (see `rotation_rates`); `positive` projects J.
    """
    place = _shoulder_of(seen, labels, centre)
    trials = [_trial(one, labels, rates, place) for one in seen]
    zero = np.zeros((7, 7), dtype=bool)
    if centre != "unknown":
        zero[:3, 3:6] = zero[3:6, :3] = True
    rules = Stopping(gradient=1e-9, change=1e-7, iterations=iterations)
    found = identify_segments(trials, known_zero=zero, positive=positive, stopping=rules)
    part = np.ix_([0, 1, 2, 6], [0, 1, 2, 6])
    _, moment, inertia = inertia_from_poinsot(found.J[part])
    told = found.J[:3, 3:6].T @ moment / (moment @ moment) if centre == "unknown" else None
    return LimbEstimate(found.J, inertia, moment, told, found.descent)


def _shoulder_of(seen: Sequence[LimbRecording], labels: Sequence[str], centre: str) -> Array | None:
    """The shoulder in laboratory axes, where it is to be known."""
    if centre == "unknown":
        return None
    return _shoulder() if centre == "known" else located_shoulder(seen, labels)


def located_shoulder(seen: Sequence[LimbRecording], labels: Sequence[str] = EIGHT) -> Array:
    """The shoulder by SCoRE from the markers of all movements together (m, laboratory axes)."""
    count = np.cumsum([0, *(len(one.markers) for one in seen)])
    time = np.arange(count[-1], dtype=float)
    points = np.concatenate([one.markers.positions for one in seen])
    whole = LimbRecording("all", Markers(time, seen[0].markers.labels, points), np.zeros((0, 3)), np.zeros((0, 3)))
    trunk = trunk_motion(whole)
    return np.asarray(trunk.at(score(trunk, limb_motion(whole, labels)).proximal).mean(axis=0))


def _trial(one: LimbRecording, labels: Sequence[str], rates: str, shoulder: Array | None) -> SegmentTrial:
    """The rest of the body stands still: its rotation is the mean one, and moments are taken at a mean point."""
    limb, trunk = limb_motion(one, labels), trunk_motion(one)
    turning = rotation_rates(limb.time, limb.rotation, rates)
    inner = slice(2, -2)  # differences at the ends are of lower order
    still = np.broadcast_to(_mean_rotation(trunk.rotation), limb.rotation.shape)[inner]
    point = one.markers.of(POINT).mean(axis=0) if shoulder is None else shoulder
    return segment_trial(
        [still, turning.rotation[inner]], [0 * still, turning.second[inner]], np.zeros((len(still), 3)),
        one.force[inner], (one.moment - np.cross(point, one.force))[inner],
        gravity=_still().gravity.tolist(), step=float(limb.time[1] - limb.time[0]), name=one.name,
    )  # fmt: skip


def _mean_rotation(rotations: Array) -> Array:
    """The rotation nearest to the mean."""
    left, _, right = np.linalg.svd(rotations.mean(axis=0))
    return np.asarray(left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right)


def median_errors(count: int = 20, **options: Any) -> tuple[float, float]:
    """Medians of the errors of inertia and first moment over trials with fresh noise, in percent."""
    found = [identified_limb(recordings(noise=NOISE, seed=seed), centre="known", rates="source", **options).errors
             for seed in range(count)]  # fmt: skip
    return float(np.median([inertia for inertia, _, _ in found])), float(np.median([moment for _, moment, _ in found]))


# What is looked for


@cache
def _still() -> BodyInMotion:
    return _at_rest(person())


def _at_rest(mechanism: Mechanism) -> BodyInMotion:
    """A person upright, arms hanging."""
    names = coordinate_names(mechanism)
    nothing = np.zeros((1, len(names)))
    return BodyInMotion(mechanism, JointMotion(np.zeros(1), names, nothing, nothing, nothing))


def _shoulder() -> Array:
    return _still().place(person().body(LIMB[0]).frame)[0][0]


def _places(segment: str, labels: Sequence[str]) -> dict[str, Array]:
    """Markers in a segment's axes, at rest."""
    origin, rotation = _still().place(person().body(segment).frame)
    return {label: (_still().place(person().frame(label))[0][0] - origin[0]) @ rotation[0] for label in labels}


@cache
def true_limb() -> tuple[Array, Array]:
    """Inertia matrix at the shoulder and first moment of the model's own limb, in anatomical axes."""
    return limb_of(person())


def limb_of(mechanism: Mechanism) -> tuple[Array, Array]:
    """Inertia matrix at the shoulder and first moment of any Human36's limb, in anatomical axes."""
    body = _at_rest(mechanism)
    shoulder = body.place(mechanism.body(LIMB[0]).frame)[0][0]
    total, moment = np.zeros((3, 3)), np.zeros(3)
    for segment in LIMB:
        inertia = body.now.links[body.link(segment)].inertia
        d = body.place(mechanism.body(segment).frame)[0][0] - shoulder
        m, h = float(inertia.mass), np.array([float(x) for x in inertia.moment])
        own = np.array([[float(x) for x in row] for row in inertia.matrix.rows])
        total += own + (m * (d @ d) + 2 * d @ h) * np.eye(3) - m * np.outer(d, d) - np.outer(d, h) - np.outer(h, d)
        moment += h + m * d
    return ANATOMICAL @ total @ ANATOMICAL, ANATOMICAL @ moment


@cache
def true_centre() -> Array:
    """The shoulder from POINT, in the axes of the trunk."""
    return _shoulder() - _still().place(person().frame(POINT))[0][0]
