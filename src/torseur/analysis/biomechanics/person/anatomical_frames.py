"""Joint centres and axes of segments from landmarks: regressions of the hip, middles of epicondyles, chords."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.motion.joint_centres import score
from torseur.analysis.biomechanics.motion.segment_motion import segment_motion
from torseur.analysis.biomechanics.person_model.marker_sets import MarkerSet
from torseur.analysis.biomechanics.recordings.markers import Markers
from torseur.errors import RecordingError, unknown_name


@dataclass(frozen=True)
class PelvisSize:
    """Distance of the anterior spines, depth to the posterior ones, length of the legs (m)."""

    width: float
    depth: float
    leg: float


def _bell(size: PelvisSize) -> tuple[float, float, float]:
    return -0.19 * size.width, -0.30 * size.width, 0.36 * size.width


def _harrington(size: PelvisSize) -> tuple[float, float, float]:
    return -0.24 * size.depth - 0.0099, -0.30 * size.width - 0.0109, 0.33 * size.width + 0.0073


def _hara(size: PelvisSize) -> tuple[float, float, float]:
    return 0.011 - 0.063 * size.leg, -0.009 - 0.078 * size.leg, 0.008 + 0.086 * size.leg


def _davis(size: PelvisSize) -> tuple[float, float, float]:
    # Angles, lengths and the depth of the spine before the trochanter of Davis et al. (1991), radius of a marker 7 mm.
    theta, beta, radius = 0.5, 0.314, 0.007
    # The measured offset of Plug-in-Gait: hip from the middle of the spines, turned by the pelvis' own inclination β
    # and the angle θ.
    c, depth = 0.115 * size.leg - 0.0153, 0.1288 * size.leg - 0.04856
    x = c * np.cos(theta) * np.sin(beta) - (depth + radius) * np.cos(beta)
    y = -c * np.cos(theta) * np.cos(beta) - (depth + radius) * np.sin(beta)
    return float(x), float(y), float(size.width / 2 - c * np.sin(theta))


# Forward, up and to the right from the middle of the anterior spines to the right hip, in the axes of the pelvis.
HIPS: Mapping[str, Callable[[PelvisSize], tuple[float, float, float]]] = {
    "harrington": _harrington,  # Harrington et al. (2007)
    "bell": _bell,  # Bell et al. (1990)
    "hara": _hara,  # Hara et al. (2016)
    "davis": _davis,  # Davis et al. (1991), that of Plug-in-Gait
}
HIP_METHODS = (*HIPS, "score", "model")
MARKER_RADIUS = 0.007  # m: of the markers that laboratories use on adults
# Half a joint's breadth over stature with the radius of a marker, where a person's own is not given.
_HALF_WIDTHS = {"knee": 0.032, "ankle": 0.022, "elbow": 0.024}


@dataclass(frozen=True, eq=False)
class AnatomicalFrames:
    """Joint centres (frames, 3) and rotations (frames, 3, 3) of segments that landmarks give, in the laboratory.

    Axes as the International Society of Biomechanics recommends them (Wu et al. 2002): x forward, y up along the
    segment, z right. `notes` say how each was found.
    """

    centres: Mapping[str, Array]
    rotations: Mapping[str, Array]
    notes: tuple[str, ...] = ()

    def distance(self, a: str, b: str) -> float | None:
        """Median distance of two centres (m); None where one is not known."""
        if a not in self.centres or b not in self.centres:
            return None
        value = _median(np.linalg.norm(self.centres[a] - self.centres[b], axis=1))
        return value if np.isfinite(value) else None


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Recorded landmarks of a set of markers, and the stature of the person (m)."""

    markers: Markers
    marker_set: MarkerSet
    height: float

    def at(self, landmark: str) -> Array | None:
        """A landmark in every frame; None where it was not recorded."""
        label = self.marker_set.label_of(landmark, self.markers.labels)
        if label is None:
            return None
        points = self.markers.of(label)
        return points if np.isfinite(points).any() else None

    def toe(self, side: str) -> Array | None:
        """The second metatarsal's head, or the middle of the first and the fifth."""
        second = self.at(f"{side}_second_metatarsal")
        first, fifth = (self.at(f"{side}_{name}_metatarsal") for name in ("first", "fifth"))
        return second if second is not None or first is None or fifth is None else (first + fifth) / 2

    def trunk_up(self) -> Array:
        """Up along the trunk, from its lower landmarks to its upper ones; up in the laboratory where they are hidden.

        The laboratory's y points up where a model is fitted to a person.
        """
        ends = []
        for names in (("c7", "jugular_notch"), ("t8", "t10", "xiphoid_process")):
            seen = [points for name in names if (points := self.at(name)) is not None]
            ends.append(np.mean(seen, axis=0) if seen else None)
        upright = np.broadcast_to([0.0, 1.0, 0.0], (len(self.markers), 3))
        return upright if ends[0] is None or ends[1] is None else unit(ends[0] - ends[1])

    def wand(self, segment: str) -> Array | None:
        for label, on in self.marker_set.wands.items():
            if on == segment and label in self.markers.labels:
                return self.markers.of(label)
        return None

    def half_width(self, joint: str) -> float:
        """From a lateral landmark's marker to the centre of the joint (m)."""
        own = self.marker_set.widths.get(joint)
        return self.height * _HALF_WIDTHS[joint] if own is None else own / 2 + MARKER_RADIUS

    def spines(self) -> tuple[Array, Array, Array] | None:
        """Right and left anterior spine, and the middle of the posterior ones or the sacrum."""
        right, left, back = self.at("r_asis"), self.at("l_asis"), self.at("sacrum")
        posterior = [self.at("r_psis"), self.at("l_psis")]
        if back is None and posterior[0] is not None and posterior[1] is not None:
            back = (posterior[0] + posterior[1]) / 2
        return None if right is None or left is None or back is None else (right, left, back)


def anatomical_frames(landmarks: Landmarks, hip: str = "harrington", functional: Markers | None = None
                      ) -> AnatomicalFrames:  # fmt: skip
    """What the landmarks of pelvis, legs and arms give, each joint by the best of the ways its markers allow.

    `hip` names the regression for the hips, or "score": the centre of rotation in `functional`, a recording in which
    the legs move in all directions.
    """
    if hip not in HIP_METHODS:
        raise RecordingError(unknown_name("method for the hips", hip, HIP_METHODS))
    centres: dict[str, Array] = {}
    rotations: dict[str, Array] = {}
    notes: list[str] = []
    if hip != "model":
        _pelvis(landmarks, (hip, functional), centres, rotations, notes)
    for side in "rl":
        _leg(landmarks, side, centres, rotations, notes)
        _arm(landmarks, side, centres)
    return AnatomicalFrames(centres, rotations, tuple(notes))


def _pelvis(
    landmarks: Landmarks, how: tuple[str, Markers | None], centres: dict[str, Array], rotations: dict[str, Array],
    notes: list[str],
) -> None:  # fmt: skip
    spines = landmarks.spines()
    if spines is None:
        notes.append("hips where the model has them: three spines of the pelvis, or two and the sacrum, were not seen")
        return
    right, left, back = spines
    middle = (right + left) / 2
    z = unit(right - left)
    x = unit(_across(middle - back, z))
    R = np.stack([x, np.cross(z, x), z], axis=2)
    rotations["pelvis"] = R
    size = PelvisSize(
        _median(np.linalg.norm(right - left, axis=1)), _median(np.linalg.norm(middle - back, axis=1)),
        _leg_length(landmarks),
    )  # fmt: skip
    method, functional = how
    if method == "score":
        hips = _functional_hips(landmarks, functional)
    else:
        # Mirrored to the left: regressions are given for one side.
        x0, y0, z0 = HIPS[method](size)
        hips = {"r": np.array([x0, y0, z0]), "l": np.array([x0, y0, -z0])}
    for side, place in hips.items():
        centres[f"{side}_hip"] = middle + R @ place
    notes.append(
        f"hips by {method.capitalize()} from a pelvis {1e3 * size.width:.0f} mm wide and {1e3 * size.depth:.0f} mm deep"
        if method != "score" else "hips by SCoRE from a recording of moving legs"
    )  # fmt: skip


def _leg_length(landmarks: Landmarks) -> float:
    """From the anterior spine past the knee to the ankle, the mean of both sides (m)."""
    lengths = []
    for side in "rl":
        names = ("asis", "lateral_epicondyle_of_the_femur", "lateral_malleolus")
        a, b, c = (landmarks.at(f"{side}_{name}") for name in names)
        if a is not None and b is not None and c is not None:
            lengths.append(_median(np.linalg.norm(a - b, axis=1)) + _median(np.linalg.norm(b - c, axis=1)))
    return float(np.mean(lengths)) if lengths else 0.49 * landmarks.height


def _functional_hips(landmarks: Landmarks, functional: Markers | None) -> dict[str, Array]:
    """Hips in the axes of the pelvis, from the middle of its anterior spines, by SCoRE."""
    if functional is None:
        raise RecordingError("hips by SCoRE need a recording of moving legs (--functional FILE, `functional`).")
    groups = landmarks.marker_set.groups(functional.labels)
    moving = Landmarks(functional, landmarks.marker_set, landmarks.height)
    spines = moving.spines()
    hips = {}
    for side in "rl":
        if spines is None or any(len(groups.get(part, ())) < 3 for part in ("pelvis", f"{side}_thigh")):
            raise RecordingError(
                "hips by SCoRE need three markers on the pelvis, its spines among them, and on a thigh."
            )
        pelvis = segment_motion(functional, groups["pelvis"], name="pelvis")
        thigh = segment_motion(functional, groups[f"{side}_thigh"], name=f"{side}_thigh")
        centre = pelvis.at(score(pelvis, thigh).proximal)
        middle = (spines[0] + spines[1]) / 2
        z = unit(spines[0] - spines[1])
        x = unit(_across(middle - spines[2], z))
        R = np.stack([x, np.cross(z, x), z], axis=2)
        hips[side] = np.nanmedian(np.einsum("tji,tj->ti", R, centre - middle), axis=0)
    return hips


def _leg(
    landmarks: Landmarks, side: str, centres: dict[str, Array], rotations: dict[str, Array], notes: list[str]
) -> None:
    """Knee and ankle, and the axes of thigh and shank."""
    hip, lateral = centres.get(f"{side}_hip"), landmarks.at(f"{side}_lateral_epicondyle_of_the_femur")
    if lateral is None:
        return
    outward = 1.0 if side == "r" else -1.0
    medial, wand = landmarks.at(f"{side}_medial_epicondyle_of_the_femur"), landmarks.wand(f"{side}_thigh")
    word = {"r": "right", "l": "left"}[side]
    if medial is not None:
        knee, way = (lateral + medial) / 2, "the middle of the epicondyles"
    elif hip is not None and wand is not None:
        knee, way = chord(hip, wand, lateral, landmarks.half_width("knee")), "a chord to the thigh's wand"
    elif "pelvis" in rotations:
        knee = lateral - outward * landmarks.half_width("knee") * rotations["pelvis"][:, :, 2]
        way = "half its breadth along the pelvis"
    else:
        return
    notes.append(f"{word} knee: {way}")
    centres[f"{side}_knee"] = knee
    axis = outward * (lateral - knee)
    if hip is not None:
        rotations[f"{side}_thigh"] = axes_along(hip - knee, axis)
    _ankle(landmarks, side, axis, centres, rotations)


def _ankle(
    landmarks: Landmarks, side: str, axis: Array, centres: dict[str, Array], rotations: dict[str, Array]
) -> None:
    lateral, medial = landmarks.at(f"{side}_lateral_malleolus"), landmarks.at(f"{side}_medial_malleolus")
    if lateral is None:
        return
    knee, wand, half = centres[f"{side}_knee"], landmarks.wand(f"{side}_shank"), landmarks.half_width("ankle")
    if medial is not None:
        ankle = (lateral + medial) / 2
    elif wand is not None:
        ankle = chord(knee, wand, lateral, half)
    else:
        ankle = lateral - half * unit(axis) * (1.0 if side == "r" else -1.0)
    centres[f"{side}_ankle"] = ankle
    # The knee of the model is a hinge: thigh and shank share its axis.
    rotations[f"{side}_shank"] = axes_along(knee - ankle, axis)


def _arm(landmarks: Landmarks, side: str, centres: dict[str, Array]) -> None:
    for joint, pair in (
        ("elbow", ("lateral_epicondyle_of_the_humerus", "medial_epicondyle_of_the_humerus")),
        ("wrist", ("radial_styloid", "ulnar_styloid")),
    ):
        ends = [landmarks.at(f"{side}_{name}") for name in pair]
        if ends[0] is not None and ends[1] is not None:
            centres[f"{side}_{joint}"] = (ends[0] + ends[1]) / 2


def chord(above: Array, wand: Array, lateral: Array, half: float) -> Array:
    """The joint centre at `half` a breadth from its lateral landmark (Davis et al. 1991).

    It lies in the plane of the centre above, the wand and the landmark, away from the wand, where the lines to the
    centre above and to the landmark meet at a right angle.
    """
    along = above - lateral
    length = np.linalg.norm(along, axis=1, keepdims=True)
    u = along / length
    # In the plane of hip, wand and epicondyle, at a right angle to the line to the centre above, away from the wand.
    inward = -unit(_across(wand - lateral, u))
    cosine = np.clip(half / length, 0.0, 1.0)
    # Thales: the angle at the joint centre is right, so it lies on the circle over the line from above to the landmark.
    return lateral + half * (cosine * u + np.sqrt(1 - cosine**2) * inward)


def axes_along(up: Array, right: Array) -> Array:
    """Rotations with y along a segment and z as near as may be to its right."""
    y = unit(up)
    z = unit(_across(right, y))
    return np.stack([np.cross(y, z), y, z], axis=2)


def unit(vectors: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _across(vectors: Array, axis: Array) -> Array:
    """The part of vectors at right angles to an axis of unit length."""
    return vectors - np.sum(vectors * axis, axis=1, keepdims=True) * axis


def _median(values: Array) -> float:
    return float(np.nanmedian(values)) if np.isfinite(values).any() else float("nan")
