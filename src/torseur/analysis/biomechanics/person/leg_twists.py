"""What landmarks tell of the joints of legs: fixed angles of knees and shanks, and the axes of the ankles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.person.anatomical_frames import AnatomicalFrames, Landmarks, unit
from torseur.description.mechanism import Frame, Joint, Mechanism, placement, turn
from torseur.description.mechanism.quantities import as_vector

VARUS, TORSION = "knee_varus", "tibial_torsion"
_STRAIGHT = 0.5  # rad: a bent knee's axis, if it is a little off, shows as varus
_X, _Y = (1, 0, 0), (0, 1, 0)
# The axis of the right subtalar joint in the foot: 42° upwards and 16° inwards of forwards (Inman 1976); the left one
# mirrors it.
_SUBTALAR = {"r": (0.714, 0.669, -0.205), "l": (-0.714, -0.669, -0.205)}


def leg_twists(frames: AnatomicalFrames, landmarks: Landmarks) -> dict[str, float]:
    """Rotation (rad) of each shank about its thigh's x axis, and of each foot about its shank's y axis.

    Knees are hinges about the axis that thigh and shank share, ankles turn about two axes of the foot. What is left
    between the landmarks of neighbouring segments belongs to the bones: legs bowed or knocked, shanks twisted between
    knee and foot. Only landmarks tell; of legs without them nothing is assumed.
    """
    twists = {}
    for side in "rl":
        thigh, shank = (frames.rotations.get(f"{side}_{name}") for name in ("thigh", "shank"))
        if shank is None:
            continue
        if thigh is not None:
            twists[f"{side}_{VARUS}"] = _varus(thigh, shank)
        heel, toe = landmarks.at(f"{side}_heel"), landmarks.toe(side)
        if heel is not None and toe is not None:
            twists[f"{side}_{TORSION}"] = _torsion(shank, toe - heel)
    return {name: angle for name, angle in twists.items() if np.isfinite(angle)}


def _varus(thigh: Array, shank: Array) -> float:
    # R = Rz(flexion) Rx(varus) takes y to (-sin f cos v, cos f cos v, sin v).
    y = np.einsum("tji,tj->ti", thigh, shank[:, :, 1])
    straight = np.abs(np.arctan2(y[:, 0], y[:, 1])) < _STRAIGHT
    return float(np.nanmedian(np.arcsin(np.clip(y[straight, 2], -1, 1)))) if straight.any() else float("nan")


def _torsion(shank: Array, forward: Array) -> float:
    # R = Ry(torsion) Rz(flexion) Rx(inversion) takes x to (cos t cos f, sin f, -sin t cos f): a foot that points almost
    # along the shank says little.
    x = np.einsum("tji,tj->ti", shank, unit(forward))
    level = np.hypot(x[:, 0], x[:, 2]) > 0.5
    return float(np.nanmedian(np.arctan2(-x[level, 2], x[level, 0]))) if level.any() else float("nan")


def subtalar_axes(mechanism: Mechanism, landmarks: Landmarks) -> tuple[Mechanism, list[str]]:
    """The model with inversion about the subtalar axis where heel and toes alone mark a foot, and a word on it.

    Markers on a line do not show a turn about it, which the model's own axis is; the anatomical one lies across.
    """
    lines = [side for side in "rl" if _on_a_line(landmarks, side)]
    joints = tuple(
        _subtalar(joint) if joint.name in {f"{side}_ankle" for side in lines} else joint for joint in mechanism.joints
    )
    said = ["feet are marked along a line: they invert about the subtalar axis"] if lines else []
    return replace(mechanism, joints=joints), said


def _on_a_line(landmarks: Landmarks, side: str) -> bool:
    groups = landmarks.marker_set.groups(landmarks.markers.labels)
    marked = {landmarks.marker_set.landmarks.get(label) for label in groups.get(f"{side}_foot", ())}
    return bool(marked) and marked <= {f"{side}_{name}" for name in ("heel", "second_metatarsal", "hallux")}


def _subtalar(joint: Joint) -> Joint:
    first, second = joint.motions
    return replace(joint, motions=(first, replace(second, axis=as_vector(_SUBTALAR[joint.name[0]], "axis"))))


def twisted_legs(mechanism: Mechanism, twists: Mapping[str, float]) -> Mechanism:
    """The model whose knees and ankles have these angles."""
    return replace(mechanism, joints=tuple(_twisted(joint, twists) for joint in mechanism.joints))


def _twisted(joint: Joint, twists: Mapping[str, float]) -> Joint:
    side, _, name = joint.name.partition("_")
    if name == "knee" and (varus := twists.get(f"{side}_{VARUS}")):
        return replace(joint, child=Frame(joint.child.body, placement((0, 0, 0), turn(-varus, _X))))
    if name == "ankle" and (torsion := twists.get(f"{side}_{TORSION}")):
        there = joint.parent.placement
        return replace(joint, parent=replace(joint.parent, placement=replace(there, rotation=(turn(torsion, _Y),))))
    return joint


def twist_notes(twists: Mapping[str, float]) -> list[str]:
    """The angles in words; on the left bones mirror those of the right."""
    words = {VARUS: ("knees bent sideways (varus positive)", 1.0), TORSION: ("feet turned out under the shanks", -1.0)}
    notes = []
    for name, (what, sense) in words.items():
        parts = [
            f"{word} {np.degrees(twists[key]) * sense * mirror:.1f}°"
            for side, word, mirror in (("r", "right", 1.0), ("l", "left", -1.0)) if (key := f"{side}_{name}") in twists
        ]  # fmt: skip
        if parts:
            notes.append(f"{what}: {', '.join(parts)}")
    return notes
