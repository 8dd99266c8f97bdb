"""How a joint is drawn on the body it carries: a pin along a rotation axis, a ball, a sleeve."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from torseur.algebra.graph import Expr, symbols_of
from torseur.algebra.graph import scalar as s
from torseur.algebra.spatial import NULL, SAME, Rotation, Transform, Vec3, about
from torseur.description.mechanism import Joint
from torseur.presentation.scene.bodies.body_poses import point, rotation_matrix
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.scene import Array
from torseur.presentation.scene.shapes import Cylinder, Shape, Sphere

PIN_RADIUS, PIN_LENGTH, BALL, SLEEVE_RADIUS, SLEEVE_LENGTH = 0.05, 0.16, 0.06, 0.055, 0.2


def hub(joint: Joint, numbers: Numbers, place: Transform, size: float) -> Iterator[Shape]:
    """The hub at the joint's child frame, given by its place in the body."""
    if joint.kind.startswith("free") or len(joint.coordinates) > 3:
        return
    origin = np.array(point(place.position))
    turns = [axis for kind, axis in moving_axes(joint, numbers, place) if kind == "rotation"]
    slides = [axis for kind, axis in moving_axes(joint, numbers, place) if kind == "translation"]
    if len(turns) > 1 or any(motion.kind == "quaternion" for motion in joint.motions):
        yield Sphere(point(origin), BALL * size, shade=0.8)
    elif turns:
        yield _rod(origin, turns[0], PIN_RADIUS * size, PIN_LENGTH * size)
    elif len(slides) == 1 and joint.kind != "prismatic":
        yield _rod(origin, slides[0], SLEEVE_RADIUS * size, SLEEVE_LENGTH * size)


def transform_of_offsets(joint: Joint) -> Transform:
    """The place reached by the motions that come before the first one with a coordinate."""
    own = {c.symbol for c in joint.coordinates}
    place = SAME
    for motion in joint.motions:
        if motion.kind == "quaternion" or own & set(symbols_of([motion.amount])):
            break
        axis = Vec3(*motion.axis)
        if motion.kind == "rotation":
            place = place.then(Transform(about(axis, motion.amount), NULL))
        else:
            place = place.then(Transform(Rotation(), axis * (motion.amount / s.sqrt(axis.dot(axis)))))
    return place


def _rod(origin: Array, axis: Array, radius: float, length: float) -> Cylinder:
    half = axis * length / 2
    return Cylinder(point(origin - half), point(origin + half), radius, shade=0.8)


def moving_axes(
    joint: Joint, numbers: Numbers, place: Transform, by: Collection[Expr] = ()
) -> Iterator[tuple[str, Array]]:
    """Kind and unit axis, in the body, of every motion by a coordinate of the joint, or by the given symbols.

    The axis of the last motion is the same on both sides; those of earlier ones are shown as they are at rest.
    """
    own = set(by) or {c.symbol for c in joint.coordinates}
    turn = rotation_matrix(place.rotation, 1)[0]
    for motion in joint.motions:
        axis = numbers.of(motion.axis)
        if axis is not None and own & set(symbols_of([motion.amount])):
            direction = turn @ np.array([float(c) for c in axis])
            yield motion.kind, direction / np.linalg.norm(direction)
