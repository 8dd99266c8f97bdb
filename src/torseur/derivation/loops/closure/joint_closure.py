"""Closure of a joint that closes a loop: what it forbids between its two frames.

Lower pairs and their like forbid some translations and rotations, written without their own coordinates. Any other
joint has its far side carried by the tree with its coordinates kept, and is closed by holding that side
and the other body together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from torseur.algebra.graph import Expr, as_expr, live_nodes
from torseur.algebra.spatial import SAME, Rotation, Transform, Vec3, unit
from torseur.derivation.loops.closure.directions import AXES, Direction, across
from torseur.derivation.tree import Pair, Snapshot, far_side, pair_of
from torseur.derivation.tree.joints.joint_kinematics import displacement
from torseur.description.mechanism import EARTH_NAME, ElementaryMotion, Frame, Joint

POSITION, VELOCITY = "holonomic", "velocity"


@dataclass(frozen=True)
class Residual:
    """0 = value. `owner` is the joint or constraint, `part` which of its equations; the unit is m, rad, m/s, ..."""

    owner: str
    part: str
    value: Expr
    unit: str
    kind: str = POSITION

    @property
    def name(self) -> str:
        return f"{self.owner}: {self.part}" if self.part else self.owner


def residual(owner: str, part: str, value: object, unit: str, kind: str = POSITION) -> Residual:
    """A residual from any scalar of an algorithm."""
    return Residual(owner, part, as_expr(value), unit, kind)


def relative_pose(now: Snapshot, first: Frame, second: Frame) -> Transform:
    """The place of the second frame in the first: what carries both is not walked."""
    here, there = _poses(now, first, second)
    return here.inverse.then(there)


def _poses(now: Snapshot, first: Frame, second: Frame) -> tuple[Transform, Transform]:
    """Both frames in the link that carries both, the outermost one, or in the earth."""
    (i, here), (k, there) = now.place(first), now.place(second)
    shared = set(now.tree.path(i)) & set(now.tree.path(k))
    return _place_below(now, i, here, shared), _place_below(now, k, there, shared)


def _place_below(now: Snapshot, link: int, place: Transform, shared: set[int]) -> Transform:
    for i in now.tree.path(link):
        if i in shared:
            break
        place = now.links[i].motion.transform.then(place)
    return place


Values = Mapping[Expr, float]


def closure(joint: Joint, now: Snapshot, values: Values, to_read: bool = False) -> list[Residual]:
    """The residuals of a joint that closes a loop; lengths in m, rotations in rad to first order."""
    owner = f"joint '{joint.name}'"
    if far_side(joint.name) in now.tree.places:
        first = Frame(far_side(joint.name))
        here, there = _poses(now, first, joint.child)
        rotation = here.inverse.then(there).rotation
        apart = _coincidence(owner, now, (first, joint.child), (here, there), to_read)
        return [*apart, *_no_rotation(owner, rotation)]
    pair = pair_of(joint)
    assert pair is not None, f"joint '{joint.name}' closes a loop and keeps no coordinates"
    # Parent to child is before · free motions · after; what is left between is restricted to the free motions alone.
    here, there = _poses(now, joint.parent, joint.child)
    here, there = here.then(path_of(pair.before)), there.then(path_of(pair.after).inverse)
    freed = here.inverse.then(there)
    apart = (
        _no_translation(owner, pair, freed, values)
        if pair.translations
        else _coincidence(owner, now, (joint.parent, joint.child), (here, there), to_read)
    )
    return [*apart, *_rotations(owner, pair, freed.rotation, values)]


def _coincidence(
    owner: str, now: Snapshot, frames: tuple[Frame, Frame], poses: tuple[Transform, Transform], to_read: bool
) -> list[Residual]:
    """The way from one point to another that must be none, in the joint's axes or in those in which it is shortest.

    Any axes do where all three components vanish: those of the link that carries both sides, of one side, of the other.
    The first of the shortest is taken, so that it does not matter which side the description names first.
    """
    here, there = poses
    sides = {
        _carrier(now, *frames): there.position - here.position,
        "": here.inverse.then(there).position,
        frames[1].body: -there.inverse.then(here).position,
    }
    axes, gap = min(sides.items(), key=lambda side: _operations(side[1])) if to_read else ("", sides[""])
    rows = _positions(owner, gap, AXES)
    # Another component is another multiplier: a name of its own keeps it from being taken for that of a motion.
    return [replace(one, part=f"{one.part} of {axes}") for one in rows] if axes else rows


def _carrier(now: Snapshot, first: Frame, second: Frame) -> str:
    """The body whose link carries both frames, or the earth."""
    (i, _), (k, _) = now.place(first), now.place(second)
    shared = [link for link in now.tree.path(i) if link in set(now.tree.path(k))]
    return now.tree.links[shared[0]].name if shared else EARTH_NAME


def _operations(vector: Vec3) -> int:
    return sum(1 for node in live_nodes([as_expr(component) for component in vector]) if node.args)


def alignment(joint: Joint, now: Snapshot) -> Expr | None:
    """Cosine between the sides of a joint that closes a loop: 1 where it is closed, -1 where it is so by half a turn.

    The residuals are sines, which vanish for both. None for joints that hold no direction.
    """
    if far_side(joint.name) in now.tree.places:
        return _cosine_of_rotation(relative_pose(now, Frame(far_side(joint.name)), joint.child).rotation)
    pair = pair_of(joint)
    if pair is None or len(pair.rotations) > 1:
        return None
    between = relative_pose(now, joint.parent, joint.child)
    rotation = path_of(pair.before).inverse.then(between).then(path_of(pair.after).inverse).rotation
    if not pair.rotations:
        return _cosine_of_rotation(rotation)
    axis = unit(pair.rotations[0])
    return as_expr(axis.dot(rotation.to_parent(axis)))


def _cosine_of_rotation(rotation: Rotation) -> Expr:
    """cos θ from tr R = 1 + 2 cos θ."""
    # The vector of (R - Rᵀ)/2 is sin θ about the axis: it vanishes at half a turn too, which the cosine tells apart.
    diagonal = [list(row)[k] for k, row in enumerate(rotation.matrix.rows)]
    return as_expr((sum(diagonal, as_expr(0)) - 1) / 2)


def path_of(motions: Sequence[ElementaryMotion]) -> Transform:
    """The place reached by motions whose amounts are known."""
    place = SAME
    for motion in motions:
        place = place.then(displacement(motion))
    return place


def _no_translation(owner: str, pair: Pair, between: Transform, values: Values) -> list[Residual]:
    """No displacement across the free translations, in the axes of the side they are fixed in."""
    if len(pair.translations) == 3:
        return []
    held = across(pair.translations, values)
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
        # Two axes (a universal joint) forbid one rotation: the angle between them stays what it is.
        angle = first.dot(rotation.to_parent(second)) - first.dot(second)
        return [residual(owner, "angle between its axes", angle, "rad")]
    return []


def _one_axis(owner: str, axis: Vec3, rotation: Rotation, values: Values) -> list[Residual]:
    """The axis must be the same on both sides: for w across it, (w x a) · R a is the rotation about w."""
    turned = rotation.to_parent(axis)
    # R a - a lies across a: two components say all, and a third would be of second order, without a gradient.
    tilts = [(w.name, w.vector.cross(axis).dot(turned)) for w in across([axis], values)]
    return [residual(owner, f"rotation about {name}", tilt, "rad") for name, tilt in tilts]


def _no_rotation(owner: str, rotation: Rotation) -> list[Residual]:
    """The vector of (R - Rᵀ)/2, which is the rotation vector near R = 1."""
    x, y, z = (list(row) for row in rotation.matrix.rows)
    twist = ((z[1] - y[2]) / 2, (x[2] - z[0]) / 2, (y[0] - x[1]) / 2)
    return [residual(owner, f"rotation about {name}", value, "rad") for name, value in zip("xyz", twist, strict=True)]
