"""Landmarks of the skeleton that laboratories put markers over: the segment of each, and its usual place there."""

from __future__ import annotations

from collections.abc import Mapping

from torseur.errors import RecordingError, unknown_name

# Segment; forward, up, right of the right side, over stature across the segment and over its length along it (up, on
# the foot forward). Typical adults, with the radius of a marker; what a recording measures takes their place.
# Spines of the pelvis: behind, above and beside the hips as Harrington et al. (2007) put hips to spines.
_PAIRS = {
    "asis": ("pelvis", 0.027, 0.57, 0.069),
    "psis": ("pelvis", -0.062, 0.57, 0.026),
    "iliac_crest": ("pelvis", 0.0, 1.0, 0.082),
    "greater_trochanter": ("thigh", 0.0, 0.0, 0.045),
    "lateral_epicondyle_of_the_femur": ("thigh", 0.0, -1.0, 0.032),
    "medial_epicondyle_of_the_femur": ("thigh", 0.0, -1.0, -0.032),
    "head_of_the_fibula": ("shank", -0.008, -0.06, 0.029),
    "tibial_tuberosity": ("shank", 0.027, -0.1, 0.0),
    "lateral_malleolus": ("shank", 0.0, -1.0, 0.022),
    "medial_malleolus": ("shank", 0.0, -1.0, -0.022),
    "heel": ("foot", -0.25, -0.02, 0.0),
    "first_metatarsal": ("foot", 0.45, -0.022, -0.024),
    "second_metatarsal": ("foot", 0.47, -0.018, 0.0),
    "fifth_metatarsal": ("foot", 0.36, -0.028, 0.028),
    "hallux": ("foot", 0.7, -0.026, -0.012),
    "front_of_the_head": ("head", 0.055, 0.72, 0.042),
    "back_of_the_head": ("head", -0.05, 0.72, 0.042),
    "acromion": ("trunk", 0.0, 0.92, 0.105),
    "acromioclavicular_joint": ("trunk", 0.005, 0.92, 0.095),
    "sternoclavicular_joint": ("trunk", 0.045, 0.85, 0.014),
    "lateral_epicondyle_of_the_humerus": ("upper_arm", 0.0, -1.0, 0.024),
    "medial_epicondyle_of_the_humerus": ("upper_arm", 0.0, -1.0, -0.024),
    "radial_styloid": ("forearm", 0.0, -1.0, 0.018),
    "ulnar_styloid": ("forearm", 0.0, -1.0, -0.018),
    "wrist": ("forearm", -0.016, -1.0, 0.0),
    "second_metacarpal": ("hand", -0.008, -0.45, 0.02),
    "third_metacarpal": ("hand", -0.01, -0.5, 0.0),
    "fifth_metacarpal": ("hand", -0.008, -0.4, -0.02),
}  # fmt: skip
_MIDDLE = {
    "sacrum": ("pelvis", -0.062, 0.57, 0.0),
    "c7": ("trunk", -0.045, 1.0, 0.0),
    "t8": ("trunk", -0.065, 0.52, 0.0),
    "t10": ("trunk", -0.065, 0.42, 0.0),
    "jugular_notch": ("trunk", 0.045, 0.84, 0.0),
    "xiphoid_process": ("trunk", 0.068, 0.48, 0.0),
    "vertex": ("head", 0.0, 1.0, 0.0),
}
_CENTRAL = ("head", "trunk", "pelvis")


def landmark_names() -> tuple[str, ...]:
    """Every landmark, with r_ and l_ before those that a person has twice."""
    return (*_MIDDLE, *(f"{side}_{name}" for side in "rl" for name in _PAIRS))


def landmark_segment(name: str) -> str:
    """The segment of Human36 that a landmark is part of."""
    side, row = _row(name)
    return row[0] if row[0] in _CENTRAL else f"{side}_{row[0]}"


def landmark_place(name: str, size: Mapping[str, float]) -> tuple[float, float, float]:
    """The usual place of a landmark in its segment (m), for the dimensions of a model."""
    side, (segment, x, y, z) = _row(name)
    height, length = size["height"], size[f"{landmark_segment(name)}_length"]
    along, across = (length, height) if segment == "foot" else (height, length)
    return x * along, y * across, z * height * (-1 if side == "l" else 1)


def shoulder_below_acromion(size: Mapping[str, float]) -> float:
    """By how much a model's shoulders lie below its acromia (m)."""
    shoulder = size["shoulder_height"] - size["hip_height"] - size["pelvis_length"]
    return landmark_place("r_acromion", size)[1] - shoulder


def _row(name: str) -> tuple[str, tuple[str, float, float, float]]:
    if name in _MIDDLE:
        return "", _MIDDLE[name]
    side, _, rest = name.partition("_")
    if side not in ("r", "l") or rest not in _PAIRS:
        raise RecordingError(unknown_name("landmark", name, landmark_names()))
    return side, _PAIRS[rest]
