"""How a joint is drawn on the body it carries: a pin along a rotation axis, a ball, a sleeve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from torseur.algebra.graph import scalar as s
from torseur.algebra.graph import symbols_of
from torseur.algebra.spatial import NULL, SAME, Rotation, Transform, Vec3, about
from torseur.description.mechanism import Joint
from torseur.presentation.scene.bodies.body_poses import point, quaternion_of, rotation_matrix
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.scene import Array
from torseur.presentation.scene.shapes import Box, Cylinder, Line, Shape, Sphere

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


@dataclass(frozen=True)
class Rail:
    """The line a sliding joint of one coordinate runs along, as far as the motion goes and a little beyond."""

    start: Array
    end: Array

    @property
    def line(self) -> Line:
        return Line((point(self.start), point(self.end)), shade=0.7)

    def wall(self, edge: float) -> Box:
        """A plate across the start of the rail."""
        axis = (self.end - self.start) / np.linalg.norm(self.end - self.start)
        # Any direction across the axis; the singular vectors of a single row give one without a special case.
        across = np.linalg.svd(axis[None])[2][1]
        turn = np.stack([across, np.cross(axis, across), axis], axis=1)
        return Box(point(self.start), (edge, edge, 0.12 * edge), quaternion_of(turn), shade=0.9)


def rail(
    joint: Joint, numbers: Numbers, place: Transform, ranges: Mapping[str, tuple[float, float]], margin: float
) -> Rail | None:
    """The rail of a joint at its place on the parent; None when it does not slide along one axis."""
    if len(joint.coordinates) != 1 or joint.coordinates[0].name not in ranges:
        return None
    low, high = ranges[joint.coordinates[0].name]
    origin = np.array(point(place.position))
    slides = [axis for kind, axis in moving_axes(joint, numbers, place) if kind == "translation"]
    if not slides:
        return None
    return Rail(origin + slides[0] * (low - margin), origin + slides[0] * (high + margin))


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


def moving_axes(joint: Joint, numbers: Numbers, place: Transform) -> Iterator[tuple[str, Array]]:
    """Kind and unit axis, in the body, of every motion by a coordinate.

    The axis of the last motion is the same on both sides; those of earlier ones are shown as they are at rest.
    """
    own = {c.symbol for c in joint.coordinates}
    turn = rotation_matrix(place.rotation, 1)[0]
    for motion in joint.motions:
        axis = numbers.of(motion.axis)
        if axis is not None and own & set(symbols_of([motion.amount])):
            direction = turn @ np.array([float(c) for c in axis])
            yield motion.kind, direction / np.linalg.norm(direction)
