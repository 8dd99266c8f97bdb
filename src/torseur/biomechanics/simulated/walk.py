"""A walk of Human36: feet that roll on the floor, a pelvis carried over them, legs that reach, arms that swing.

The motion is prescribed, not that of a real person; forces follow from it by the laws of motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.biomechanics.human36 import dimensions
from torseur.biomechanics.human36_text import HEEL
from torseur.biomechanics.joint_motion import JointMotion, coordinate_names, joint_motion
from torseur.biomechanics.simulated.foot_path import FootSize, foot_path
from torseur.identification.arrays import Array
from torseur.identification.differentiation import Derivatives
from torseur.mechanism import Mechanism

SIDES = {"r": 1.0, "l": -1.0}
_TOE = 1 - HEEL  # the tip of the toes before the ankle, over the length of the foot, which is stiff


@dataclass(frozen=True)
class Walk:
    """Duration of a cycle (s), stride and width (m, over stature), and how straight the legs become (1 straight)."""

    cycle: float = 1.2
    stride: float = 0.68
    width: float = 0.055
    reach: float = 0.985


def walking(mechanism: Mechanism, seconds: float = 3.9, rate: float = 100.0, walk: Walk | None = None) -> JointMotion:
    """A person walking forward, the right heel striking at the beginning."""
    how = walk or Walk()
    size = dimensions(mechanism)
    time = np.arange(round(seconds * rate) + 1) / rate
    turn = 2 * np.pi * time / how.cycle
    values = {name: np.zeros(len(time)) for name in coordinate_names(mechanism)}
    values |= {
        "pelvis_tilt": np.full(len(time), -0.06), "pelvis_list": 0.05 * np.sin(turn - 0.3),
        "pelvis_rotation": -0.08 * np.cos(turn), "lumbar_extension": np.full(len(time), 0.03),
        "lumbar_bending": -0.05 * np.sin(turn - 0.3), "thoracic_rotation": 0.16 * np.cos(turn),
        "neck_rotation": -0.08 * np.cos(turn), "neck_extension": np.full(len(time), 0.03),
    }  # fmt: skip
    values |= _arms(turn)
    ankles = {side: _ankle(time, side, how, size) for side in SIDES}
    values |= _pelvis(turn, time, how, size, ankles, values)
    for side in SIDES:
        values |= _leg(side, values, size, ankles[side])
    q = np.stack([values[name] for name in coordinate_names(mechanism)], axis=1)
    return joint_motion(mechanism, time, q, Derivatives("spline"))


def _arms(turn: Array) -> dict[str, Array]:
    found = {}
    for side, sign in SIDES.items():
        swing = -sign * np.cos(turn)
        found[f"{side}_shoulder_flexion"] = 0.08 + 0.38 * swing
        found[f"{side}_shoulder_adduction"] = np.full(len(turn), -0.12)
        found[f"{side}_elbow_flexion"] = 0.45 + 0.2 * swing
        found[f"{side}_elbow_pronation"] = np.full(len(turn), 1.2)
    return found


def _ankle(time: Array, side: str, how: Walk, size: dict[str, float]) -> tuple[Array, Array]:
    """Place of the ankle (frames, 3), and the foot's angle to the floor."""
    H, length = size["height"], size[f"{side}_foot_length"]
    cycles = time / how.cycle + (0.0 if side == "r" else 0.5)
    number = np.floor(cycles)
    place = how.stride * H * (number - (0.0 if side == "r" else 0.5))
    foot = FootSize(size["ankle_height"], HEEL * length, _TOE * length)
    x, y, angle = foot_path(cycles - number, place, how.stride * H, foot)
    return np.stack([x, y, np.full(len(time), SIDES[side] * how.width * H)], axis=1), angle


def _pelvis(
    turn: Array, time: Array, how: Walk, size: dict[str, float], ankles: dict[str, tuple[Array, Array]],
    values: dict[str, Array],
) -> dict[str, Array]:  # fmt: skip
    """Carried forward and over the standing foot, as high as the legs let it."""
    H = size["height"]
    forward = how.stride * H * (time / how.cycle - 0.25)
    found = {
        "pelvis_x": forward + 0.008 * H * np.sin(2 * turn + 0.6),
        "pelvis_z": 0.013 * H * np.sin(turn - 0.35),
        "pelvis_y": -0.011 * H * np.cos(2 * turn - 0.25),
    }
    leg = how.reach * (size["r_thigh_length"] + size["r_shank_length"])
    room = []
    for side, (ankle, _) in ankles.items():
        hip = _hip(side, {**values, **found}, size)
        across = np.sum((hip - ankle)[:, [0, 2]] ** 2, axis=1)
        room.append(float(np.min(ankle[:, 1] + np.sqrt(np.maximum(leg**2 - across, 0.0)) - hip[:, 1])))
    return {**found, "pelvis_y": found["pelvis_y"] + min(room)}


def _rotation(axis: int, angle: Array) -> Array:
    """Rotations (frames, 3, 3) about a coordinate axis."""
    R = np.tile(np.eye(3), (len(angle), 1, 1))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[:, i, i], R[:, j, j] = np.cos(angle), np.cos(angle)
    R[:, i, j], R[:, j, i] = -np.sin(angle), np.sin(angle)
    return R


def _pelvis_rotation(values: dict[str, Array]) -> Array:
    tilt, lean, turn = (values[f"pelvis_{what}"] for what in ("tilt", "list", "rotation"))
    return _rotation(2, tilt) @ _rotation(0, lean) @ _rotation(1, turn)


def _hip(side: str, values: dict[str, Array], size: dict[str, float]) -> Array:
    place = np.stack([values[f"pelvis_{axis}"] for axis in "xyz"], axis=1)
    return place + _pelvis_rotation(values) @ np.array([0.0, 0.0, SIDES[side] * size["hip_half_width"]])


def _leg(side: str, values: dict[str, Array], size: dict[str, float], ankle: tuple[Array, Array]) -> dict[str, Array]:
    """Angles that bring the ankle to its place and the foot to its angle, without rotation of the hip."""
    thigh, shank, s = size[f"{side}_thigh_length"], size[f"{side}_shank_length"], SIDES[side]
    pelvis = _pelvis_rotation(values)
    d = np.einsum("tji,tj->ti", pelvis, ankle[0] - _hip(side, values, size))
    bent = (np.sum(d**2, axis=1) - thigh**2 - shank**2) / (2 * thigh * shank)
    knee = np.arccos(np.clip(bent, -1.0, 1.0))
    ux, uy = -shank * np.sin(knee), -thigh - shank * np.cos(knee)
    inward = np.arcsin(d[:, 2] / uy)
    hip = np.arctan2(d[:, 1], d[:, 0]) - np.arctan2(uy * np.cos(inward), ux)
    hip = np.arctan2(np.sin(hip), np.cos(hip))
    above = pelvis @ _rotation(2, hip) @ _rotation(0, inward) @ _rotation(2, -knee)
    left = np.swapaxes(above, 1, 2) @ _rotation(2, ankle[1])
    return {
        f"{side}_hip_flexion": hip,
        f"{side}_hip_adduction": s * inward,
        f"{side}_knee_flexion": knee,
        f"{side}_ankle_flexion": np.arctan2(-left[:, 0, 1], left[:, 1, 1]),
        f"{side}_ankle_inversion": s * np.arcsin(np.clip(left[:, 2, 1], -1.0, 1.0)),
    }
