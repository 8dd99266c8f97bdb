"""The inertia of a limb from recordings of its movements: A J Bᵀ - B J Aᵀ = T for two segments, limb and rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.limb.limb_equations import LimbRecording
from torseur.analysis.biomechanics.limb.limb_fit import LimbFit, fit_limb
from torseur.analysis.biomechanics.limb.nearest_body import TO_SECOND_MOMENTS, nearest_body, symmetric
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_centres import score
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion, coordinate_names
from torseur.analysis.biomechanics.motion.segment_motion import SegmentMotion, segment_motion
from torseur.analysis.biomechanics.person_model.human36 import marker_places
from torseur.analysis.biomechanics.recordings.label_check import all_label_faults
from torseur.analysis.biomechanics.recordings.markers import Markers
from torseur.analysis.biomechanics.recordings.motion_trial import MotionTrial
from torseur.analysis.biomechanics.smoothing import rotation_rates
from torseur.analysis.identification.segments import (
    SegmentEstimate,
    SegmentTrial,
    identify_segments,
    inertia_from_poinsot,
    segment_trial,
)
from torseur.description.mechanism import Mechanism
from torseur.errors import RecordingError, unknown_name

# Limbs of Human36 that move as one rigid body about their first joint, while the rest of the body stands still.
# Name: segments, the first at the joint that moves, and the segment that carries it.
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
            # Huygens and Steiner for a frame off the mass centre: ∫ |r + d|² 1 - (r + d)(r + d)ᵀ dm, with h = ∫ r dm.
            transport = (m * (d @ d) + 2 * d @ h) * np.eye(3) - m * np.outer(d, d) - np.outer(d, h) - np.outer(h, d)
            total, moment = total + own + transport, moment + h + m * d
        return total, moment


def limb_of(mechanism: Mechanism, name: str = "right arm") -> Limb:
    """A limb of Human36: right arm, left arm, right leg or left leg."""
    if name not in LIMBS:
        raise RecordingError(unknown_name("limb", name, LIMBS))
    segments, carrier = LIMBS[name]
    return Limb(mechanism, name, segments, carrier)


CENTRES = ("score", "model", "unknown")
TOGETHER = "together"  # of rates: motion and inertia in one fit
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
    label_faults: tuple[str, ...] = ()
    fit: LimbFit | None = None

    @property
    def inertia_deviation(self) -> Array:
        """Standard deviations (3, 3) of the inertia matrix."""
        if self.fit is not None:
            return symmetric(np.sqrt(np.diag(self.fit.covariance))[:6])
        # Of I = tr(K) 1 - K, the entries of K taken as independent.
        # Diagonal: I_xx = K_yy + K_zz; off it I_xy = -K_xy.
        square = self.deviation[:3, :3] ** 2
        return np.sqrt(np.where(np.eye(3) > 0, np.trace(square) - square, square))

    @property
    def positive(self) -> bool:
        """Whether the limb's part of J is that of a real body."""
        # The nearest body may be a flat one, up to rounding.
        return bool(np.linalg.eigvalsh(self.J[:3, :3])[0] > -1e-12 * np.trace(self.J[:3, :3]))

    @property
    def differences(self) -> tuple[float, float]:
        """Percent by which inertia and first moment differ from the model's, in spectral norm."""
        inertia, moment = self.limb.inertia
        return percent(self.inertia, inertia), percent(self.moment, moment)


def percent(estimate: Array, truth: Array) -> float:
    """|found - truth| / |truth| in percent: the spectral norm of a matrix, the length of a vector."""
    return 100 * float(np.linalg.norm(estimate - truth, 2) / np.linalg.norm(truth, 2))


def identify_limb(
    seen: Sequence[MotionTrial],
    limb: Limb,
    *,
    labels: Sequence[str] = (),
    rates: str = TOGETHER,
    centre: str = "score",
    point: str = "",
    positive: bool = True,
) -> LimbEstimate:
    """The limb's inertia from trials along the model's axes, in which nothing but the limb moves.

    Motion and inertia are found in one fit in which every marker, the joint, the axes and the plates have errors
    (`rates` "together"); or rotations are differentiated first, as `rates` says (see `rotation_rates`).

    Moments are taken at the joint: located by SCoRE from the markers of all trials ("score"), or where the model has it
    ("model"); or at a marker, `point`, and the joint is found with the rest ("unknown"). `positive` keeps J that of a
    real body.
    """
    fit = None
    _check(seen, centre, point, limb)
    used = tuple(labels) or limb.labels(seen[0].markers.labels)
    if rates == TOGETHER:
        fit, trials = _fit_together(seen, limb, used, centre)
    else:
        for one in seen:
            _require_whole(one.markers, limb)
        place = _joint_place(seen, limb, used, centre)
        trials = tuple(_trial(one, limb, used, rates, place, point) for one in seen)
    # z = (r in the limb, d in the carrier, 1):  J = [ K      K₊    m c ]
    #                                                [ K₊ᵀ    .     .   ]     K₊ = m c ⊗ d, d from the point of moments
    #                                                [ m cᵀ   .     m   ]     to the joint: zero if they are the same
    zero = np.zeros((7, 7), dtype=bool)
    if centre != "unknown":
        zero[:3, 3:6] = zero[3:6, :3] = True
    estimate = identify_segments(trials, known_zero=zero, positive=positive)
    estimate = estimate if fit is None else _of_fit(estimate, fit, positive)
    part = np.ix_([0, 1, 2, 6], [0, 1, 2, 6])
    _, moment, inertia = inertia_from_poinsot(estimate.J[part])
    joint_place = estimate.J[:3, 3:6].T @ moment / (moment @ moment) if centre == "unknown" else None
    groups = {limb.name: list(used), limb.carrier: list(limb.carrier_labels(seen[0].markers.labels))}
    faults = tuple(f"trial '{one.name}', {fault}" for one in seen for fault in all_label_faults(one.markers, groups))
    warnings = tuple(_movement_warnings(seen, limb))
    return LimbEstimate(
        limb, estimate.J, estimate.deviation, inertia, moment, joint_place, estimate, trials, warnings, faults, fit
    )


def limb_motion(trial: MotionTrial, limb: Limb, labels: Sequence[str] = ()) -> SegmentMotion:
    """The limb as one body, from its markers; its axes are those of its first segment."""
    used = tuple(labels) or limb.labels(trial.markers.labels)
    return segment_motion(trial.markers, used, limb.places(limb.segments[0], used), name=limb.name)


def carrier_motion(trial: MotionTrial, limb: Limb) -> SegmentMotion:
    used = limb.carrier_labels(trial.markers.labels)
    return segment_motion(trial.markers, used, limb.places(limb.carrier, used), name=limb.carrier)


def locate_joint(seen: Sequence[MotionTrial], limb: Limb, labels: Sequence[str] = ()) -> Array:
    """The limb's joint in its carrier's axes (m) by SCoRE, from the markers of all trials together."""
    time = np.arange(sum(len(one.markers) for one in seen), dtype=float)
    points = np.concatenate([one.markers.positions for one in seen])
    whole = MotionTrial(replace(seen[0].markers, time=time, positions=points))
    return score(carrier_motion(whole, limb), limb_motion(whole, limb, labels)).proximal


def _joint_place(seen: Sequence[MotionTrial], limb: Limb, labels: Sequence[str], centre: str) -> Array | None:
    """The joint in the carrier's axes, where it is to be known."""
    if centre == "unknown":
        return None
    return limb.joint if centre == "model" else locate_joint(seen, limb, labels)


def _trial(
    one: MotionTrial, limb: Limb, labels: Sequence[str], rates: str, joint: Array | None, point: str
) -> SegmentTrial:
    """The rest of the body stands still: its rotation is the mean one, and moments are taken at a mean point."""
    moving, carrier = limb_motion(one, limb, labels), carrier_motion(one, limb)
    turning = rotation_rates(moving.time, moving.rotation, rates)
    # Second derivatives at the very ends come from one side.
    inner = slice(_ENDS, -_ENDS)
    # The carrier's own small turns are noise of its markers more than motion: its mean is the better axes.
    still = np.broadcast_to(_mean_rotation(carrier.rotation), moving.rotation.shape)[inner]
    at = one.markers.of(point).mean(axis=0) if joint is None else carrier.at(joint).mean(axis=0)
    force, moment = _total_load(one, moving.time)
    return segment_trial(
        [still, turning.rotation[inner]], [0 * still, turning.second[inner]], np.zeros((len(still), 3)), force[inner],
        (moment - np.cross(at, force))[inner], gravity=limb.still.gravity.tolist(),
        step=float(moving.time[1] - moving.time[0]), name=one.name,
    )  # fmt: skip


def _fit_together(
    seen: Sequence[MotionTrial], limb: Limb, labels: Sequence[str], centre: str
) -> tuple[LimbFit, tuple[SegmentTrial, ...]]:
    """Motion and inertia in one fit, and the trials with the motions that it found."""
    if centre == "unknown":
        raise RecordingError(
            "the joint is always found with the rest where motion and inertia are fitted together: leave centre and "
            "point out, or give the rates otherwise."
        )
    places = limb.places(limb.segments[0], labels)
    recordings, carriers = [], []
    for one in seen:
        motion, carrier = limb_motion(one, limb, labels), carrier_motion(one, limb)
        joint = np.nanmean(carrier.at(limb.joint), axis=0) if centre == "model" else None
        load = _total_load(one, motion.time)
        points = one.markers.of(labels)
        recordings.append(LimbRecording(motion.time, points, *load, motion.rotation, joint, one.name))
        carriers.append(_mean_rotation(carrier.rotation))
    fit = fit_limb(recordings, np.array([places[label] for label in labels]), np.array(limb.still.gravity.tolist()))
    return fit, tuple(_trial_of_fit(read, fit, k, carriers[k], limb.still.gravity) for k, read in enumerate(recordings))


def _trial_of_fit(read: LimbRecording, fit: LimbFit, k: int, carrier: Array, gravity: Array) -> SegmentTrial:
    """One trial with the motion and the joint of the fit."""
    turning = fit.motions[k]
    still = np.broadcast_to(carrier, turning.rotation.shape)
    return segment_trial(
        [still, turning.rotation], [0 * still, turning.rotation @ turning.tensor], np.zeros((len(still), 3)),
        read.force, read.moment - np.cross(fit.joints[k], read.force), gravity=gravity.tolist(),
        step=float(read.time[1] - read.time[0]), name=read.name,
    )  # fmt: skip


def _of_fit(estimate: SegmentEstimate, fit: LimbFit, positive: bool) -> SegmentEstimate:
    """J with the limb's part and its deviations by the fit, at the body nearest to it where `positive` asks for one."""
    values = fit.values
    K = symmetric(TO_SECOND_MOMENTS @ values[:6])
    if positive and np.linalg.eigvalsh(K)[0] <= 0:
        values = nearest_body(fit)
        K = symmetric(TO_SECOND_MOMENTS @ values[:6])
    J, deviation = estimate.J.copy(), estimate.deviation.copy()
    J[:3, :3], J[:3, 6], J[6, :3] = K, values[6:], values[6:]
    spread = TO_SECOND_MOMENTS @ fit.covariance[:6, :6] @ TO_SECOND_MOMENTS.T
    deviation[:3, :3] = symmetric(np.sqrt(np.diag(spread)))
    deviation[:3, 6] = deviation[6, :3] = np.sqrt(np.diag(fit.covariance))[6:]
    warnings: tuple[str, ...] = estimate.warnings
    if not fit.converged:
        warnings = (*warnings, "the fit of motion and inertia did not settle: record more, or slower, movements.")
    return replace(estimate, J=J, deviation=deviation, certificate=None, warnings=warnings)


def _total_load(one: MotionTrial, time: Array) -> tuple[Array, Array]:
    """Force and moment about the laboratory's origin of all plates at the frames of the markers."""
    records = [plate.at(time) for plate in one.plates]
    force = np.sum([record.force for record in records], axis=0)
    return force, np.sum([record.moment_about_origin for record in records], axis=0)


def _mean_rotation(rotations: Array) -> Array:
    """The rotation nearest to the mean."""
    # The polar factor; where it would reflect, the weakest direction turns (Kabsch 1976).
    left, _, right = np.linalg.svd(np.nanmean(rotations, axis=0))
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


def _require_whole(markers: Markers, limb: Limb) -> None:
    for label in (*limb.labels(markers.labels), *limb.carrier_labels(markers.labels)):
        hidden = int(np.sum(~markers.present[:, markers.slot(label)]))
        if hidden:
            raise RecordingError(
                f"trial '{markers.name}': marker '{label}' is hidden in {hidden} frames. Fill short gaps first "
                "(--fill FRAMES, `fill_gaps` in Python), or leave the marker out."
            )


def _movement_warnings(seen: Sequence[MotionTrial], limb: Limb) -> list[str]:
    """Trials in which the carrier of the limb does not stand still."""
    warnings = []
    for one in seen:
        rotation = carrier_motion(one, limb).rotation
        mean = _mean_rotation(rotation)
        cosine = (np.trace(np.swapaxes(rotation, 1, 2) @ mean, axis1=1, axis2=2) - 1) / 2
        turn = float(np.sqrt(np.nanmean(np.arccos(np.clip(cosine, -1.0, 1.0)) ** 2)))
        if turn > STILL:
            warnings.append(
                f"trial '{one.name}': the {limb.carrier} turns by {np.degrees(turn):.1f}° (root mean square); the "
                "method takes all of the body but the limb as still."
            )
    return warnings
