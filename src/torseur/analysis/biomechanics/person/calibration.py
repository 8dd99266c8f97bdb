"""A model fitted to a person: lengths between joints, hips, and the places of the markers on the segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion
from torseur.analysis.biomechanics.person.anatomical_frames import (
    AnatomicalFrames,
    Landmarks,
    anatomical_frames,
    unit,
)
from torseur.analysis.biomechanics.person.leg_twists import leg_twists, subtalar_axes, twist_notes, twisted_legs
from torseur.analysis.biomechanics.person.protocol import Protocol
from torseur.analysis.biomechanics.person_model.human36 import dimensions, joint_limits
from torseur.analysis.biomechanics.person_model.landmarks import landmark_place, shoulder_below_acromion
from torseur.analysis.biomechanics.person_model.marker_sets import OWN, MarkerSet
from torseur.analysis.biomechanics.recordings.markers import Markers
from torseur.analysis.biomechanics.tracking import inverse_kinematics
from torseur.analysis.biomechanics.tracking.marker_model import MarkerModel
from torseur.description.mechanism import Frame, Mechanism, placement
from torseur.errors import RecordingError

MOST_FRAMES = 60  # of a trial, from which markers are placed without a trial of standing
STILL = 0.02  # m: by which markers of a standing person may sway (standard deviation)
# What a person's own geometry may be beside the table of proportions, and one side beside the other.
EXPECTED, LENGTHS, SIDES_ALIKE = 0.04, 0.2, 0.06
# Parameter of Human36: the centres between which it is measured.
_BETWEEN = {"thigh_length": ("hip", "knee"), "shank_length": ("knee", "ankle"), "forearm_length": ("elbow", "wrist")}
_LOWER, _UPPER = ("pelvis", "thigh", "shank", "foot"), 0.2
_USUAL = 0.02  # weight of a landmark's usual place beside one that was measured
_ORIGINS = {"thigh": "hip", "shank": "knee"}


@dataclass(frozen=True, eq=False)
class Calibration:
    """A model of a person's own size with the markers in their places, and how far to believe it.

    `held_out` (m) tells for every landmark how far from its usual place on the person it was seen, when all others
    place the segments; `lengths` what was measured and what the table has; `standing` whether the person stood still;
    `measured` which markers stand in the axes of landmarks.
    """

    mechanism: Mechanism
    notes: tuple[str, ...] = ()
    held_out: Mapping[str, float] | None = None
    lengths: Mapping[str, tuple[float, float]] | None = None
    standing: bool = False
    measured: frozenset[str] = frozenset()

    @property
    def weights(self) -> dict[str, float]:
        """Weights of the markers above the pelvis, where this one has the axes of its own landmarks.

        Trunk and arms move about joints at usual places: what these are off must not turn the pelvis and the legs.
        """
        carried = {label: frame.body for label, frame in self.mechanism.frames}
        if not any(carried.get(label) == "pelvis" for label in self.measured):
            return {}
        return {label: _UPPER for label, body in carried.items() if not body.endswith(_LOWER)}

    @property
    def misplaced(self) -> dict[str, float]:
        """Landmarks that were seen farther from their usual places than people differ."""
        return {label: gap for label, gap in (self.held_out or {}).items() if gap > EXPECTED}

    @property
    def unusual(self) -> list[str]:
        """Lengths that hardly belong to a person of this stature."""
        return [
            f"{name.replace('_', ' ')} {own:.3f} m, the table has {usual:.3f} m"
            for name, (own, usual) in (self.lengths or {}).items() if abs(own - usual) > LENGTHS * usual
        ]  # fmt: skip

    @property
    def unlike(self) -> list[str]:
        """Lengths in which right and left differ by more than people do."""
        lengths = self.lengths or {}
        pairs = {name[2:]: (own, lengths[f"l_{name[2:]}"][0]) for name, (own, _) in lengths.items()
                 if name.startswith("r_") and f"l_{name[2:]}" in lengths}  # fmt: skip
        return [
            f"{name.replace('_', ' ')} {right:.3f} m right and {left:.3f} m left"
            for name, (right, left) in pairs.items() if abs(right - left) > SIDES_ALIKE * max(right, left)
        ]  # fmt: skip


def calibrate(mechanism: Mechanism, recording: Markers, protocol: Protocol | None = None, *, standing: bool = True
              ) -> Calibration:  # fmt: skip
    """The model with the person's own lengths, hips and places of markers, from standing still or from any movement.

    Hips by regression, knees and ankles from their landmarks; lengths are those between centres. Pelvis, thighs, shanks
    and, of who stands, feet carry their markers where they were seen in the axes of these landmarks. For the other
    segments the model is fitted to the landmarks alone, and then every marker moves to where it was seen; without a
    standing trial their landmarks stay at their usual places.
    """
    how = protocol or Protocol()
    seen = _mean_posture(recording) if standing else _some_frames(recording)
    size = dimensions(mechanism)
    landmarks = Landmarks(seen, how.marker_set, size["height"])
    frames = anatomical_frames(landmarks, how.hips, how.functional)
    lengths = _lengths(frames, landmarks, size)
    twists = leg_twists(frames, landmarks)
    sized, on_feet = subtalar_axes(twisted_legs(mechanism.with_values(**lengths), twists), landmarks)
    usual = usual_places(sized, how.marker_set, seen)
    measured = _measured_places(frames, landmarks, standing)
    placed = {**usual, **{label: _frame(usual[label].body, place) for label, place in measured.items()
                          if label in usual}}  # fmt: skip
    placed = _place_by_fit(sized, seen, how, placed, set(measured), standing)
    model = replace(sized, frames=_frames(mechanism, how.marker_set, placed))
    held_out = _deviations(model, seen, how, usual) if standing else None
    # Tables have the breadth over the shoulders' muscles; what is measured lies between the acromia.
    expected = {**size, "shoulder_half_width": landmark_place("r_acromioclavicular_joint", size)[2]}
    compared = {name: (value, expected[name]) for name, value in lengths.items()}
    notes = (*_notes(lengths, frames, placed, seen), *twist_notes(twists), *on_feet)
    return Calibration(model, notes, held_out, compared, standing, frozenset(measured))


def usual_places(mechanism: Mechanism, marker_set: MarkerSet, seen: Markers) -> dict[str, Frame]:
    """Frames of the recorded markers where landmarks usually are; technical markers in the middle of their segment."""
    if marker_set.name == OWN:
        return {name: frame for name, frame in mechanism.frames if name in seen.labels}
    size, places = dimensions(mechanism), {}
    for label in marker_set.labels:
        if label not in seen.labels or not seen.present[:, seen.slot(label)].any():
            continue
        segment = marker_set.segment(label)
        if label in marker_set.landmarks:
            place = landmark_place(marker_set.landmarks[label], size)
        else:
            place = (0.0, -0.5 * size[f"{segment}_length"], 0.0)
        places[label] = _frame(segment, np.array(place))
    return places


def _frames(mechanism: Mechanism, marker_set: MarkerSet, placed: Mapping[str, Frame]) -> tuple[tuple[str, Frame], ...]:
    """The model's frames: its own markers stay where the recording has others of the same set."""
    own = dict(mechanism.frames) if marker_set.name == OWN else {}
    return tuple({**own, **placed}.items())


def _mean_posture(standing: Markers) -> Markers:
    """One frame, the mean of all, or of the stillest half second; refused where the person moved in that, too."""
    spread = _sway(standing)
    if spread.max(initial=0.0) > STILL:
        whole, standing = standing, _stillest(standing)
        spread = _sway(standing)
        span = f"the stillest half second, from {standing.time[0]:.2f} s on: markers move more in the rest"
        standing = replace(standing, notes=(*whole.notes, span))
    if spread.max(initial=0.0) > STILL:
        worst = ", ".join(standing.labels[k] for k in np.argsort(-spread)[:3] if spread[k] > STILL)
        raise RecordingError(
            f"trial '{standing.name}': {worst} move by up to {1e3 * spread.max():.0f} mm (standard deviation) even in "
            "its stillest half second; for the places of markers the person stands still."
        )
    with np.errstate(all="ignore"):
        mean = np.nanmean(standing.positions, axis=0)
    return Markers(standing.time[:1], standing.labels, mean[None], standing.axes, standing.name, standing.notes)


def _sway(markers: Markers) -> Array:
    """The standard deviation of every marker's place along the axis in which it is greatest (m)."""
    each = zip(markers.positions.swapaxes(0, 1), markers.present.T, strict=True)
    return np.array([np.std(points[seen], axis=0).max() if seen.any() else 0.0 for points, seen in each])


def _stillest(markers: Markers) -> Markers:
    """The half second in which markers move least."""
    length = max(2, round(0.5 * markers.rate)) if len(markers) > 2 else len(markers)
    starts = range(0, max(1, len(markers) - length + 1), max(1, length // 5))
    first = min(starts, key=lambda k: float(_sway(markers.frames(slice(k, k + length))).max(initial=0.0)))
    return markers.frames(slice(first, first + length))


def _some_frames(trial: Markers) -> Markers:
    return trial.frames(np.unique(np.linspace(0, len(trial) - 1, min(MOST_FRAMES, len(trial))).astype(int)))


def _lengths(frames: AnatomicalFrames, landmarks: Landmarks, size: Mapping[str, float]) -> dict[str, float]:
    """Parameters of Human36 that the landmarks measure (m)."""
    lengths: dict[str, float] = {}
    apart = frames.distance("r_hip", "l_hip")
    if apart is not None:
        lengths["hip_half_width"] = apart / 2
    for side in "rl":
        for name, (a, b) in _BETWEEN.items():
            value = frames.distance(f"{side}_{a}", f"{side}_{b}")
            if value is not None:
                lengths[f"{side}_{name}"] = value
        foot = _foot_length(landmarks, side)
        if foot is not None:
            lengths[f"{side}_foot_length"] = foot
    right, left = (landmarks.at(f"{side}_acromion") for side in "rl")
    if right is not None and left is not None and landmarks.marker_set.name != OWN:
        # The joint lies below the acromion, no farther out.
        lengths["shoulder_half_width"] = float(np.nanmedian(np.linalg.norm(right - left, axis=1))) / 2
        for side, acromion in (("r", right), ("l", left)):
            lengths |= _arm_lengths(frames, landmarks, side, acromion, size)
    return {name: value for name, value in lengths.items() if np.isfinite(value) and value > 0}


def _arm_lengths(
    frames: AnatomicalFrames, landmarks: Landmarks, side: str, acromion: Array, size: Mapping[str, float]
) -> dict[str, float]:
    """Upper arm from the shoulder below the acromion; both parts of an arm whose elbow shows one epicondyle only."""
    shoulder = acromion - shoulder_below_acromion(size) * landmarks.trunk_up()
    elbow, wrist = (frames.centres.get(f"{side}_{joint}") for joint in ("elbow", "wrist"))
    half = 0.0 if elbow is not None else landmarks.half_width("elbow")
    middle = landmarks.at(f"{side}_lateral_epicondyle_of_the_humerus") if elbow is None else elbow
    if middle is None:
        return {}
    lengths = {}
    for name, end in (("upper_arm", shoulder), ("forearm", wrist)):
        if end is not None:
            apart = float(np.nanmedian(np.linalg.norm(end - middle, axis=1)))
            # At the elbow's centre the lines to the other joint and to the epicondyle meet at a right angle.
            lengths[f"{side}_{name}_length"] = float(np.sqrt(max(apart**2 - half**2, 0.0)))
    return lengths


def _foot_length(landmarks: Landmarks, side: str) -> float | None:
    """From the heel to the second metatarsal, or the middle of the first and fifth, over its part of the foot."""
    heel, toe = landmarks.at(f"{side}_heel"), landmarks.toe(side)
    if heel is None or toe is None or landmarks.marker_set.name == OWN:
        return None
    return float(np.nanmedian(np.linalg.norm(toe - heel, axis=1))) / 0.72


def _measured_places(frames: AnatomicalFrames, landmarks: Landmarks, standing: bool) -> dict[str, Array]:
    """Places of markers in the axes of segments that landmarks give outright, the median over the frames."""
    origins: dict[str, tuple[Array, Array]] = {}
    if "pelvis" in frames.rotations and {"r_hip", "l_hip"} <= set(frames.centres):
        middle = (frames.centres["r_hip"] + frames.centres["l_hip"]) / 2
        origins["pelvis"] = middle, frames.rotations["pelvis"]
    for side in "rl":
        for segment, joint in _ORIGINS.items():
            if f"{side}_{segment}" in frames.rotations and f"{side}_{joint}" in frames.centres:
                name = f"{side}_{segment}"
                origins[name] = frames.centres[f"{side}_{joint}"], frames.rotations[name]
        foot = _standing_foot(frames, landmarks, side) if standing else None
        if foot is not None:
            origins[f"{side}_foot"] = foot
    places = {}
    for segment, labels in landmarks.marker_set.groups(landmarks.markers.labels).items():
        if segment in origins:
            origin, R = origins[segment]
            for label in labels:
                local = np.einsum("tji,tj->ti", R, landmarks.markers.of(label) - origin)
                if np.isfinite(local).all(axis=1).any():
                    places[label] = np.nanmedian(local, axis=0)
    return places


def _standing_foot(frames: AnatomicalFrames, landmarks: Landmarks, side: str) -> tuple[Array, Array] | None:
    """A foot flat on the floor: x level from heel to toes, y up (trials along the model's axes)."""
    ankle, heel = frames.centres.get(f"{side}_ankle"), landmarks.at(f"{side}_heel")
    toe = landmarks.toe(side)
    if ankle is None or heel is None or toe is None:
        return None
    # The foot of who stands is flat by definition: its markers hardly tell a tilt of a few degrees from their own
    # heights.
    up = np.broadcast_to([0.0, 1.0, 0.0], heel.shape)
    x = unit((toe - heel) * [1.0, 0.0, 1.0])
    return ankle, np.stack([x, up, np.cross(x, up)], axis=2)


def _place_by_fit(
    mechanism: Mechanism, seen: Markers, how: Protocol, placed: Mapping[str, Frame], known: set[str], standing: bool
) -> dict[str, Frame]:
    """Markers whose places are not known yet, where they were seen when the others place the segments."""
    technical = set(how.marker_set.technical)
    loose = {label for label in placed if label not in known and (standing or label in technical)}
    if not loose:
        return dict(placed)
    # The posture comes from landmarks and from markers in place; only then does each other move to where it was seen.
    # Segments in the axes of their own landmarks are not to be pulled away by the usual places of other people's.
    weights = {label: 0.0 if label in technical else _USUAL if known else 1.0 for label in loose}
    body, known_frames = _Posture.of(mechanism, seen, how, placed).body(weights)
    return {label: _seen_place(body, frame, seen.of(label)[known_frames]) if label in loose else frame
            for label, frame in placed.items()}  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Posture:
    """A model ready to be laid over some frames of markers, again and again."""

    model: MarkerModel
    seen: Markers
    held: Mapping[str, float]

    @classmethod
    def of(cls, mechanism: Mechanism, seen: Markers, how: Protocol, placed: Mapping[str, Frame]) -> _Posture:
        model = MarkerModel(replace(mechanism, frames=tuple(placed.items())), dict(placed), {})
        return cls(model, seen, how.held(tuple(model.layout.coordinate_names)))

    def body(self, weights: Mapping[str, float]) -> tuple[BodyInMotion, Mask]:
        """The model in the frames in which every coordinate is known, and which those are."""
        fit = inverse_kinematics(self.model, self.seen, weights=weights, limits=joint_limits(), held=self.held)
        known = np.asarray(np.isfinite(fit.q).all(axis=1))
        nothing = np.zeros_like(fit.q[known])
        motion = JointMotion(fit.time[known], fit.coordinates, fit.q[known], nothing, nothing)
        return BodyInMotion(self.model.mechanism, motion), known


def _deviations(mechanism: Mechanism, standing: Markers, how: Protocol, usual: Mapping[str, Frame]) -> dict[str, float]:
    """How far each landmark was seen from its usual place on the person, when all other markers place the segments."""
    placed = {label: frame for label, frame in mechanism.frames if label in usual}
    posture, gaps = _Posture.of(mechanism, standing, how, placed), {}
    for label in how.marker_set.landmarks:
        if label not in usual:
            continue
        try:
            body, known = posture.body({label: 0.0})
        except RecordingError:
            continue  # alone on its segment: nothing else can judge it
        expected = body.place(usual[label])[0]
        gaps[label] = float(np.nanmax(np.linalg.norm(standing.of(label)[known] - expected, axis=1), initial=0.0))
    return gaps


def _seen_place(body: BodyInMotion, frame: Frame, points: Array) -> Frame:
    """A marker's frame where it was seen; as it was where it was not."""
    origin, rotation = body.place(body.mechanism.body(frame.body).frame)
    local = np.einsum("tji,tj->ti", rotation, points - origin)
    return _frame(frame.body, np.nanmedian(local, axis=0)) if np.isfinite(local).all(axis=1).any() else frame


def _frame(segment: str, place: Array) -> Frame:
    return Frame(segment, placement([float(x) for x in place]))


def _notes(
    lengths: Mapping[str, float], frames: AnatomicalFrames, placed: Mapping[str, Frame], seen: Markers
) -> tuple[str, ...]:
    measured = ", ".join(f"{name.replace('_', ' ')} {value:.3f} m" for name, value in lengths.items())
    return (
        *frames.notes, *([f"measured: {measured}"] if measured else []),
        f"places of {len(placed)} markers from {len(seen)} {'frame' if len(seen) == 1 else 'frames'} of '{seen.name}'",
    )  # fmt: skip
