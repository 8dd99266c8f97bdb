"""Closure of a joint that closes a loop: what it forbids between its two frames.

Lower pairs and their like forbid some translations and rotations, written without their own coordinates. Any other
joint has its far side carried by the tree with its coordinates kept, and is closed by holding that side
and the other body together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torseur.graph import Expr
from torseur.loops.directions import AXES, Direction, across, unit
from torseur.loops.relative_pose import relative_pose
from torseur.loops.residuals import Residual, residual
from torseur.mechanism import ElementaryMotion, Frame, Joint
from torseur.spatial import NULL, SAME, Rotation, Transform, Vec3, about
from torseur.tree import Pair, Snapshot, far_side, pair_of

Values = Mapping[Expr, float]


def closure(joint: Joint, now: Snapshot, values: Values) -> list[Residual]:
    """The residuals of a joint that closes a loop; lengths in m, rotations in rad to first order."""
    owner = f"joint '{joint.name}'"
    if far_side(joint.name) in now.tree.places:
        held = relative_pose(now, Frame(far_side(joint.name)), joint.child)
        return [*_positions(owner, held.position, AXES), *_no_rotation(owner, held.rotation)]
    pair = pair_of(joint)
    assert pair is not None, f"joint '{joint.name}' closes a loop and keeps no coordinates"
    between = relative_pose(now, joint.parent, joint.child)
    freed = path_of(pair.before).inverse.then(between).then(path_of(pair.after).inverse)
    return [*_no_translation(owner, pair, freed, values), *_rotations(owner, pair, freed.rotation, values)]


def path_of(motions: Sequence[ElementaryMotion]) -> Transform:
    """The place reached by motions whose amounts are known."""
    place = SAME
    for motion in motions:
        axis = Vec3(*motion.axis)
        if motion.kind == "rotation":
            place = place.then(Transform(about(axis, motion.amount), NULL))
        else:
            place = place.then(Transform(Rotation(), unit(axis) * motion.amount))
    return place


def _no_translation(owner: str, pair: Pair, between: Transform, values: Values) -> list[Residual]:
    """No displacement across the free translations, in the axes of the side they are fixed in."""
    if len(pair.translations) == 3:
        return []
    held = across(pair.translations, values) if pair.translations else AXES
    return _positions(owner, between.inverse.position if pair.late else between.position, held)


def _positions(owner: str, position: Vec3, directions: Sequence[Direction]) -> list[Residual]:
    return [residual(owner, d.name, d.vector.dot(position), "m") for d in directions]


def _rotations(owner: str, pair: Pair, rotation: Rotation, values: Values) -> list[Residual]:
    axes = [unit(axis) for axis in pair.rotations]
    if not axes:
        return _no_rotation(owner, rotation)
    if len(axes) == 1:
        return _one_axis(owner, axes[0], rotation, values)
    if len(axes) == 2:
        first, second = axes
        angle = first.dot(rotation.to_parent(second)) - first.dot(second)
        return [residual(owner, "angle between its axes", angle, "rad")]
    return []


def _one_axis(owner: str, axis: Vec3, rotation: Rotation, values: Values) -> list[Residual]:
    """The axis must be the same on both sides: for w across it, (w x a) · R a is the rotation about w."""
    turned = rotation.to_parent(axis)
    tilts = [(w.name, w.vector.cross(axis).dot(turned)) for w in across([axis], values)]
    return [residual(owner, f"rotation about {name}", tilt, "rad") for name, tilt in tilts]


def _no_rotation(owner: str, rotation: Rotation) -> list[Residual]:
    """The vector of (R - Rᵀ)/2, which is the rotation vector near R = 1."""
    x, y, z = (list(row) for row in rotation.matrix.rows)
    twist = ((z[1] - y[2]) / 2, (x[2] - z[0]) / 2, (y[0] - x[1]) / 2)
    return [residual(owner, f"rotation about {name}", value, "rad") for name, value in zip("xyz", twist, strict=True)]
