"""The inertia of a limb from recordings of its movements: A J Bᵀ - B J Aᵀ = T for two segments, limb and rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from torseur.biomechanics.joint_centres import score
from torseur.biomechanics.limb.setup import Limb
from torseur.biomechanics.markers import Markers
from torseur.biomechanics.motion_trial import MotionTrial
from torseur.biomechanics.segment_motion import SegmentMotion, segment_motion
from torseur.biomechanics.smoothing import rotation_rates
from torseur.errors import RecordingError
from torseur.identification.arrays import Array
from torseur.identification.segments import (
    SegmentEstimate,
    SegmentTrial,
    Stopping,
    identify_segments,
    inertia_from_poinsot,
    segment_trial,
)

CENTRES = ("score", "model", "unknown")
STILL = np.radians(3.0)  # by which the rest of the body may turn
_ENDS = 2  # frames: differences at the ends are of lower order


@dataclass(frozen=True, eq=False)
class LimbEstimate:
    """Inertia matrix (kg m²) at the joint and first moment (kg m), in the axes of the limb's first segment.

    `centre` is the joint's place from the point where moments were taken, in the carrier's axes, where it was unknown;
    `deviation` are standard deviations of the entries of J = [K, m c ⊗ d, m c; ...].
    """

    limb: Limb
    J: Array
    deviation: Array
    inertia: Array
    moment: Array
    centre: Array | None
    estimate: SegmentEstimate
    trials: tuple[SegmentTrial, ...]
    warnings: tuple[str, ...] = ()

    @property
    def positive(self) -> bool:
        """Whether the limb's part of J is that of a real body."""
        return bool(np.linalg.eigvalsh(self.J[:3, :3])[0] > 0)

    @property
    def differences(self) -> tuple[float, float]:
        """Percent by which inertia and first moment differ from the model's, in spectral norm."""
        inertia, moment = self.limb.inertia
        return percent(self.inertia, inertia), percent(self.moment, moment)


def percent(found: Array, truth: Array) -> float:
    """|found - truth| / |truth| in percent: the spectral norm of a matrix, the length of a vector."""
    return 100 * float(np.linalg.norm(found - truth, 2) / np.linalg.norm(truth, 2))


def identified_limb(
    seen: Sequence[MotionTrial],
    limb: Limb,
    *,
    labels: Sequence[str] = (),
    rates: str = "source",
    centre: str = "score",
    point: str = "",
    positive: bool = True,
    iterations: int = 1000,
) -> LimbEstimate:
    """The limb's inertia from trials along the model's axes, in which nothing but the limb moves.

    Moments are taken at the joint: located by SCoRE from the markers of all trials ("score"), or where the model has it
    ("model"); or at a marker, `point`, and the joint is found with the rest ("unknown"). `rates` says how rotations are
    differentiated (see `rotation_rates`), `positive` keeps J that of a real body.
    """
    _check(seen, centre, point, limb)
    used = tuple(labels) or limb.labels(seen[0].markers.labels)
    place = _joint_place(seen, limb, used, centre)
    trials = tuple(_trial(one, limb, used, rates, place, point) for one in seen)
    zero = np.zeros((7, 7), dtype=bool)
    if centre != "unknown":
        zero[:3, 3:6] = zero[3:6, :3] = True
    rules = Stopping(gradient=1e-9, change=1e-7, iterations=iterations)
    found = identify_segments(trials, known_zero=zero, positive=positive, stopping=rules)
    part = np.ix_([0, 1, 2, 6], [0, 1, 2, 6])
    _, moment, inertia = inertia_from_poinsot(found.J[part])
    told = found.J[:3, 3:6].T @ moment / (moment @ moment) if centre == "unknown" else None
    return LimbEstimate(limb, found.J, found.deviation, inertia, moment, told, found, trials, tuple(_moved(seen, limb)))


def limb_motion(trial: MotionTrial, limb: Limb, labels: Sequence[str] = ()) -> SegmentMotion:
    """The limb as one body, from its markers; its axes are those of its first segment."""
    used = tuple(labels) or limb.labels(trial.markers.labels)
    return segment_motion(trial.markers, used, limb.places(limb.segments[0], used), name=limb.name)


def carrier_motion(trial: MotionTrial, limb: Limb) -> SegmentMotion:
    used = limb.carrier_labels(trial.markers.labels)
    return segment_motion(trial.markers, used, limb.places(limb.carrier, used), name=limb.carrier)


def located_joint(seen: Sequence[MotionTrial], limb: Limb, labels: Sequence[str] = ()) -> Array:
    """The limb's joint in its carrier's axes (m) by SCoRE, from the markers of all trials together."""
    time = np.arange(sum(len(one.markers) for one in seen), dtype=float)
    points = np.concatenate([one.markers.positions for one in seen])
    whole = MotionTrial(replace(seen[0].markers, time=time, positions=points))
    return score(carrier_motion(whole, limb), limb_motion(whole, limb, labels)).proximal


def _joint_place(seen: Sequence[MotionTrial], limb: Limb, labels: Sequence[str], centre: str) -> Array | None:
    """The joint in the carrier's axes, where it is to be known."""
    if centre == "unknown":
        return None
    return limb.joint if centre == "model" else located_joint(seen, limb, labels)


def _trial(
    one: MotionTrial, limb: Limb, labels: Sequence[str], rates: str, joint: Array | None, point: str
) -> SegmentTrial:
    """The rest of the body stands still: its rotation is the mean one, and moments are taken at a mean point."""
    moving, carrier = limb_motion(one, limb, labels), carrier_motion(one, limb)
    turning = rotation_rates(moving.time, moving.rotation, rates)
    inner = slice(_ENDS, -_ENDS)
    still = np.broadcast_to(_mean_rotation(carrier.rotation), moving.rotation.shape)[inner]
    at = one.markers.of(point).mean(axis=0) if joint is None else carrier.at(joint).mean(axis=0)
    force, moment = _total_load(one, moving.time)
    return segment_trial(
        [still, turning.rotation[inner]], [0 * still, turning.second[inner]], np.zeros((len(still), 3)), force[inner],
        (moment - np.cross(at, force))[inner], gravity=limb.still.gravity.tolist(),
        step=float(moving.time[1] - moving.time[0]), name=one.name,
    )  # fmt: skip


def _total_load(one: MotionTrial, time: Array) -> tuple[Array, Array]:
    """Force and moment about the laboratory's origin of all plates at the frames of the markers."""
    records = [plate.at(time) for plate in one.plates]
    force = np.sum([record.force for record in records], axis=0)
    return force, np.sum([record.moment_about_origin for record in records], axis=0)


def _mean_rotation(rotations: Array) -> Array:
    """The rotation nearest to the mean."""
    left, _, right = np.linalg.svd(rotations.mean(axis=0))
    return np.asarray(left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right)


def _check(seen: Sequence[MotionTrial], centre: str, point: str, limb: Limb) -> None:
    if not seen:
        raise RecordingError(f"{limb.name}: identification needs at least one trial.")
    if centre not in CENTRES:
        raise RecordingError(f"the joint's centre is {', '.join(CENTRES)}, not '{centre}'.")
    if centre == "unknown" and not point:
        raise RecordingError("with an unknown centre moments are taken at a marker of the carrier: give its `point`.")
    for one in seen:
        if not one.plates:
            raise RecordingError(f"trial '{one.name}' has no force plate: the person stands or sits on one.")
        _require_whole(one.markers, limb)


def _require_whole(markers: Markers, limb: Limb) -> None:
    for label in (*limb.labels(markers.labels), *limb.carrier_labels(markers.labels)):
        hidden = int(np.sum(~markers.present[:, markers.slot(label)]))
        if hidden:
            raise RecordingError(
                f"trial '{markers.name}': marker '{label}' is hidden in {hidden} frames. Fill short gaps first "
                "(torseur.biomechanics.filled), or leave the marker out."
            )


def _moved(seen: Sequence[MotionTrial], limb: Limb) -> list[str]:
    """Trials in which the carrier of the limb does not stand still."""
    found = []
    for one in seen:
        rotation = carrier_motion(one, limb).rotation
        mean = _mean_rotation(rotation)
        cosine = (np.trace(np.swapaxes(rotation, 1, 2) @ mean, axis1=1, axis2=2) - 1) / 2
        turn = float(np.sqrt(np.mean(np.arccos(np.clip(cosine, -1.0, 1.0)) ** 2)))
        if turn > STILL:
            found.append(
                f"trial '{one.name}': the {limb.carrier} turns by {np.degrees(turn):.1f}° (root mean square); the "
                "method takes all of the body but the limb as still."
            )
    return found
