"""How a person and force plates are drawn."""

from __future__ import annotations

import numpy as np

from torseur.analysis.biomechanics.person.person_analysis import PersonTrial
from torseur.analysis.biomechanics.person_model.human36 import dimensions
from torseur.analysis.biomechanics.person_model.human36_text import HEEL
from torseur.description.mechanism import Mechanism
from torseur.presentation.scene.bodies.body_poses import point, quaternion_of
from torseur.presentation.scene.palette import Colour
from torseur.presentation.scene.shapes import Box, Capsule, Shape, Sphere

RIGHT, LEFT, MIDDLE = Colour("#0f8a72", "#3fc3a4"), Colour("#b0416f", "#ea86ab"), Colour("#8b94a0", "#a8b2bd")
# Radii over stature.
_THICK = {"upper_arm": 0.017, "forearm": 0.013, "thigh": 0.026, "shank": 0.018}
PLATE, SUNK = 0.006, 0.004  # m: thickness of a plate, and the floor below its top


def person_shapes(mechanism: Mechanism) -> dict[str, tuple[Shape, ...]]:
    """A figure of rods and balls in the frames of the segments."""
    size = dimensions(mechanism)
    H = size["height"]
    shapes: dict[str, tuple[Shape, ...]] = {
        "pelvis": _pelvis(size, H), "trunk": _trunk(size, H), "head": _head(size, H), "lumbar_spine": (),
    }  # fmt: skip
    for side in "rl":
        for segment, radius in _THICK.items():
            name = f"{side}_{segment}"
            shapes[name] = (Capsule((0, 0, 0), (0, -size[f"{name}_length"], 0), radius * H),)
        shapes[f"{side}_hand"] = _hand(size[f"{side}_hand_length"], H)
        shapes[f"{side}_foot"] = _foot(size[f"{side}_foot_length"], size["ankle_height"], H)
    return shapes


def _pelvis(size: dict[str, float], H: float) -> tuple[Shape, ...]:
    w, L = size["hip_half_width"], size["pelvis_length"]
    return (
        Capsule((0, 0, -w), (0, 0, w), 0.04 * H),
        *(Capsule((0, 0.05 * L, s * 0.5 * w), (0, 0.55 * L, s * 0.45 * w), 0.047 * H) for s in (-1, 1)),
        Capsule((0, 0.3 * L, 0), (0, L, 0), 0.047 * H),
    )


def _trunk(size: dict[str, float], H: float) -> tuple[Shape, ...]:
    L, w = size["trunk_length"], size["shoulder_half_width"]
    shoulder = size["shoulder_height"] - size["hip_height"] - size["pelvis_length"]
    chest = [
        Capsule((0.008 * H, 0.36 * L, s * 0.034 * H), (0.002 * H, 0.74 * L, s * 0.05 * H), 0.047 * H) for s in (-1, 1)
    ]
    shoulders = [Capsule((0, 0.92 * L, s * 0.012 * H), (0, shoulder, s * w), 0.02 * H) for s in (-1, 1)]
    return (
        Capsule((0, 0, 0), (0, 0.4 * L, 0), 0.05 * H),
        *chest,
        Capsule((0.008 * H, 0.3 * L, 0), (0.004 * H, 0.76 * L, 0), 0.05 * H),
        *shoulders,
        Capsule((0, 0.8 * L, 0), (0, L, 0), 0.024 * H),
    )


def _head(size: dict[str, float], H: float) -> tuple[Shape, ...]:
    L, r = size["head_length"], 0.042 * H
    return (
        Capsule((0, 0, 0), (0.004 * H, 0.4 * L, 0), 0.022 * H),
        Capsule((0.008 * H, 0.55 * L, 0), (0.002 * H, L - r, 0), r),
        Sphere((0.05 * H, 0.55 * L, 0), 0.008 * H),
    )


def _hand(length: float, H: float) -> tuple[Shape, ...]:
    return (
        Capsule((0, -0.12 * length, -0.008 * H), (0, -0.48 * length, -0.008 * H), 0.011 * H),
        Capsule((0, -0.12 * length, 0.008 * H), (0, -0.48 * length, 0.008 * H), 0.011 * H),
        Capsule((0, -0.45 * length, 0), (0, -length + 0.008 * H, 0), 0.009 * H),
    )


def _foot(length: float, ankle: float, H: float) -> tuple[Shape, ...]:
    r = 0.014 * H
    low = -ankle + r
    back, ball, front = -HEEL * length + r, 0.45 * length, (1 - HEEL) * length - r
    return (
        Sphere((0, 0, 0), 0.022 * H),
        Capsule((0, 0, 0), (back + 0.02 * H, low, 0), 0.018 * H),
        Capsule((0.01 * H, -0.01 * H, 0), (ball, low, 0.01 * H), 0.016 * H),
        Capsule((back, low, 0), (front, low, 0), r),
        Capsule((ball, low, 0.014 * H), (ball, low, -0.014 * H), r),
    )


def plate_shapes(person: PersonTrial) -> tuple[Shape, ...]:
    """Force plates as thin blocks in the floor."""
    plates = []
    for plate in person.plates:
        a, b, _, d = plate.corners
        x, y = b - a, d - a
        size = (float(np.linalg.norm(x)), float(np.linalg.norm(y)), PLATE)
        if min(size) < 1e-6:
            continue
        axes = np.stack([x / size[0], y / size[1], np.cross(x, y) / (size[0] * size[1])], axis=1)
        sunk = plate.corners.mean(axis=0) - PLATE / 2 * person.feet.up
        plates.append(Box(point(sunk), size, quaternion_of(axes), shade=0.95))
    return tuple(plates)


def in_words(name: str) -> str:
    """The name of a segment or a coordinate for reading: r_thigh is the right thigh."""
    words = name.replace("_", " ")
    for short, long in (("r ", "right "), ("l ", "left ")):
        if words.startswith(short):
            return long + words[2:]
    return words
