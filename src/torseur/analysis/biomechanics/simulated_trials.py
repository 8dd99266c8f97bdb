"""Trials of a Human36 by computation: a walk, and what a laboratory records of it. To try the tools on, and for tests.

Feet roll on the floor from heel to toes, a pelvis is carried over them, legs reach, arms swing. The motion is
prescribed, not that of a real person; forces follow from it by the laws of motion. Markers have noise, force plates lie
under the feet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.forces.foot_loads import human_footing
from torseur.analysis.biomechanics.forces.ground_reaction import (
    Footing,
    Reaction,
    ground_reaction,
    share_between_feet,
    vertical,
)
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion, coordinate_names, joint_motion
from torseur.analysis.biomechanics.person_model.human36 import dimensions
from torseur.analysis.biomechanics.person_model.human36_text import HEEL
from torseur.analysis.biomechanics.recordings.force_plates import PlateRecord
from torseur.analysis.biomechanics.recordings.laboratory_axes import OPENSIM_AXES
from torseur.analysis.biomechanics.recordings.markers import Markers, runs
from torseur.analysis.biomechanics.recordings.motion_trial import MotionTrial
from torseur.analysis.identification.data.differentiation import Derivatives
from torseur.description.mechanism import Mechanism

# Parts of a cycle that begins when the heel strikes.
FLAT, RISE, OFF = 0.12, 0.36, 0.60
STRIKE_ANGLE, OFF_ANGLE = np.radians(16.0), np.radians(-38.0)  # of the foot to the floor, toes up
# 1.5 (end - start) / duration: the speed at the end of a quintic from rest that arrives without acceleration.
_STRIKE_RATE, _OFF_RATE = 1.5 * -STRIKE_ANGLE / FLAT, 1.5 * OFF_ANGLE / (OFF - RISE)
CLEARANCE = 0.035  # m: by which the ankle is lifted in the middle of the swing
Jet = tuple[Array, Array, Array]  # value, first and second derivative


@dataclass(frozen=True)
class FootSize:
    """Ankle height, and how far heel and toes lie behind and before the ankle (m)."""

    height: float
    heel: float
    toe: float


def foot_path(phase: Array, place: Array, stride: float, size: FootSize) -> tuple[Array, Array, Array]:
    """Forward place and height of the ankle, and the foot's angle to the floor, by the phase of its cycle.

    `place` is where the ankle stands, flat, in the cycle of each sample; the next place is a `stride` farther. Twice
    differentiable throughout.
    """
    angle = _angle(phase)[0]
    standing = phase < OFF
    x, y = _standing(np.where(standing, phase, 0.0), size)
    swing_x, swing_y = _swinging(np.where(standing, OFF, phase), stride, size)
    return place + np.where(standing, x, swing_x), np.where(standing, y, swing_y), angle


def _angle(phase: Array) -> Jet:
    """The foot's angle, with its first and second derivative by the phase."""
    pieces = (
        (phase < FLAT, _quintic(phase, 0.0, FLAT, (STRIKE_ANGLE, _STRIKE_RATE, 0.0), (0.0, 0.0, 0.0))),
        ((phase >= RISE) & (phase < OFF), _quintic(phase, RISE, OFF, (0.0, 0.0, 0.0), (OFF_ANGLE, _OFF_RATE, 0.0))),
        (phase >= OFF, _quintic(phase, OFF, 1.0, (OFF_ANGLE, _OFF_RATE, 0.0), (STRIKE_ANGLE, _STRIKE_RATE, 0.0))),
    )
    total = tuple(sum(np.where(where, jet[k], 0.0) for where, jet in pieces) for k in range(3))
    return np.asarray(total[0]), np.asarray(total[1]), np.asarray(total[2])


def _standing(phase: Array, size: FootSize) -> tuple[Array, Array]:
    """The ankle turns about the heel while the toes are up, about the toes while the heel is."""
    angle = _angle(phase)[0]
    return _ankle_over_pivot(angle, size)


def _ankle_over_pivot(angle: Array, size: FootSize) -> tuple[Array, Array]:
    """Where the ankle is while the foot turns about its heel (toes up) or its toes (heel up), which do not slip."""
    # Ankle = pivot + R(angle) (ankle - pivot), toes up positive.
    pivot = np.where(angle > 0, -size.heel, size.toe)
    c, s = np.cos(angle), np.sin(angle)
    return pivot - pivot * c - size.height * s, -pivot * s + size.height * c


def _swinging(phase: Array, stride: float, size: FootSize) -> tuple[Array, Array]:
    """A quintic from toe-off to the next strike, lifted in the middle."""
    ends = [_jet_at(angle, rate, size) for angle, rate in ((OFF_ANGLE, _OFF_RATE), (STRIKE_ANGLE, _STRIKE_RATE))]
    (x0, y0), (x1, y1) = ends
    x = _quintic(phase, OFF, 1.0, x0, (x1[0] + stride, x1[1], x1[2]))[0]
    s = (phase - OFF) / (1 - OFF)
    # 64 (s (1 - s))³ is one in the middle and has no value, slope or curvature at the ends.
    return x, _quintic(phase, OFF, 1.0, y0, y1)[0] + 64 * CLEARANCE * (s * (1 - s)) ** 3


def _jet_at(angle: float, rate: float, size: FootSize) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Place of the ankle and its derivatives where the foot has an angle that changes at a constant rate."""
    pivot = -size.heel if angle > 0 else size.toe
    c, s = float(np.cos(angle)), float(np.sin(angle))
    x, y = -pivot * c - size.height * s, -pivot * s + size.height * c  # from the pivot
    return (pivot + x, -rate * y, -(rate**2) * x), (y, rate * x, -(rate**2) * y)


def _quintic(
    t: Array, start: float, end: float, first: tuple[float, float, float], last: tuple[float, float, float]
) -> Jet:
    """The polynomial of fifth degree with given values and derivatives at both ends."""
    h = end - start
    # Six conditions in s from 0 to 1: value, first and second derivative at both ends; derivatives by t are those by s
    # over h.
    powers = np.array([[x**k for k in range(6)] for x in (0.0, 1.0)])
    rates = np.array([[k * x ** max(k - 1, 0) for k in range(6)] for x in (0.0, 1.0)])
    curvatures = np.array([[k * (k - 1) * x ** max(k - 2, 0) for k in range(6)] for x in (0.0, 1.0)])
    rows = np.concatenate([powers, rates, curvatures])
    wanted = [first[0], last[0], h * first[1], h * last[1], h * h * first[2], h * h * last[2]]
    c = np.polynomial.Polynomial(np.linalg.solve(rows, wanted))
    s = (t - start) / h
    return c(s), c.deriv(1)(s) / h, c.deriv(2)(s) / h**2


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
    angles = {}
    for side, sign in SIDES.items():
        swing = -sign * np.cos(turn)
        angles[f"{side}_shoulder_flexion"] = 0.08 + 0.38 * swing
        angles[f"{side}_shoulder_adduction"] = np.full(len(turn), -0.12)
        angles[f"{side}_elbow_flexion"] = 0.45 + 0.2 * swing
        angles[f"{side}_elbow_pronation"] = np.full(len(turn), 1.2)
    return angles


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
    place = {
        "pelvis_x": forward + 0.008 * H * np.sin(2 * turn + 0.6),
        "pelvis_z": 0.013 * H * np.sin(turn - 0.35),
        "pelvis_y": -0.011 * H * np.cos(2 * turn - 0.25),
    }
    leg = how.reach * (size["r_thigh_length"] + size["r_shank_length"])
    room = []
    for side, (ankle, _) in ankles.items():
        hip = _hip(side, {**values, **place}, size)
        across = np.sum((hip - ankle)[:, [0, 2]] ** 2, axis=1)
        room.append(float(np.min(ankle[:, 1] + np.sqrt(np.maximum(leg**2 - across, 0.0)) - hip[:, 1])))
    return {**place, "pelvis_y": place["pelvis_y"] + min(room)}


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
    # The knee by the law of cosines from the distance of hip and ankle, then the hip's two angles from the direction.
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


_MARGIN = 0.06  # m: of a plate around the places a sole takes on it


def simulated_markers(body: BodyInMotion, noise: float = 0.0, seed: int = 0, name: str = "trial") -> Markers:
    """The markers of a model, with white noise of a standard deviation (m) on every coordinate."""
    frames = dict(body.mechanism.frames)
    exact = np.stack([body.place(frame)[0] for frame in frames.values()], axis=1)
    seen = exact + noise * np.random.default_rng(seed).normal(size=exact.shape)
    return Markers(body.motion.time, tuple(frames), seen, OPENSIM_AXES, name, ("computed, not recorded",))


def simulated_trial(
    mechanism: Mechanism,
    motion: JointMotion,
    *,
    reactions: Mapping[str, Reaction] | None = None,
    noise: float = 0.0,
    seed: int = 0,
    name: str = "trial",
) -> MotionTrial:
    """Markers, and a force plate under every contact of a foot with the floor.

    Plates record `reactions` of the feet ("r_foot", "l_foot"), such as those of simulated contacts. Without them they
    record what the motion needs, shared between both feet by the law of the lever.
    """
    body = BodyInMotion(mechanism, motion)
    feet = human_footing(body)
    parts = reactions or share_between_feet(ground_reaction(body), feet, vertical(body))
    plates: list[PlateRecord] = []
    for foot, contact in feet.contact.items():
        for first, last in runs(contact):
            plates.append(_plate(body, feet, foot, parts[foot], slice(first, last + 1), f"plate {len(plates) + 1}"))
    markers = simulated_markers(body, noise, seed, name)
    return MotionTrial(markers, tuple(plates))


def _plate(body: BodyInMotion, feet: Footing, foot: str, reaction: Reaction, frames: slice, name: str) -> PlateRecord:
    """A plate around the sole's places during one contact, that feels the foot then."""
    up = vertical(body)
    on = np.zeros(len(body.motion))
    on[frames] = 1.0
    felt = reaction.share(on)
    centre = felt.centre_of_pressure(up, feet.floor)
    return PlateRecord(
        body.motion.time, felt.force, felt.moment, centre, _corners(feet, foot, frames), name, axes=OPENSIM_AXES
    )


def _corners(feet: Footing, foot: str, frames: slice) -> Array:
    points = feet.soles[foot][frames]
    low = points[points[:, :, 1] < points[:, :, 1].min() + 0.02]
    (x0, _, z0), (x1, _, z1) = low.min(axis=0) - _MARGIN, low.max(axis=0) + _MARGIN
    return np.array([[x0, feet.floor, z0], [x1, feet.floor, z0], [x1, feet.floor, z1], [x0, feet.floor, z1]])
