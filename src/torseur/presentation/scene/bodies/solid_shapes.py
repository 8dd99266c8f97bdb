"""Homogeneous solids as shapes to draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from torseur.algebra.graph import Expr
from torseur.derivation.tree.body_constants import transform_of
from torseur.description.mechanism import Body, Solid
from torseur.presentation.scene.bodies.body_poses import point, quaternion_of, rotation_matrix
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.scene import Array
from torseur.presentation.scene.shapes import Box, Capsule, Cone, Cylinder, Shape, Sphere

Sizes = Mapping[str, float]


def solid_shapes(body: Body, numbers: Numbers, thickness: float) -> Iterator[Shape]:
    """The solids of a body; those with an unknown size are left out."""
    for solid in body.solids:
        sizes = {name: numbers.value(value) for name, value in solid.dimensions}
        place = _place(solid, numbers)
        known = {name: value for name, value in sizes.items() if value is not None}
        if place is not None and len(known) == len(sizes):
            yield from _SHAPES[solid.shape](known, *place, thickness)


def _place(solid: Solid, numbers: Numbers) -> tuple[Array, Array] | None:
    """Position and rotation matrix of a solid in its body."""
    place = transform_of(solid.placement)
    values = [numbers.value(c) for c in place.position if isinstance(c, Expr)]
    rotation = numbers.described(place.rotation)
    if any(value is None for value in values) or rotation is None:
        return None
    position = [numbers.value(c) if isinstance(c, Expr) else float(c) for c in place.position]
    return np.array(position, dtype=float), rotation_matrix(rotation, 1)[0]


def _box(d: Sizes, at: Array, turn: Array, thickness: float) -> Iterator[Shape]:
    yield Box(point(at), (d["x"], d["y"], d["z"]), quaternion_of(turn))


def _cylinder(d: Sizes, at: Array, turn: Array, thickness: float) -> Iterator[Shape]:
    half = turn[:, 2] * d["length"] / 2
    yield Cylinder(point(at - half), point(at + half), d["radius"])


def _sphere(d: Sizes, at: Array, turn: Array, thickness: float) -> Iterator[Shape]:
    yield Sphere(point(at), d["radius"])


def _rod(d: Sizes, at: Array, turn: Array, thickness: float) -> Iterator[Shape]:
    yield Capsule(point(at), point(at + turn[:, 2] * d["length"]), thickness)


def _cone(d: Sizes, at: Array, turn: Array, thickness: float) -> Iterator[Shape]:
    yield Cone(point(at), point(at + turn[:, 2] * d["length"]), d["radius"])


_SHAPES: dict[str, Callable[[Sizes, Array, Array, float], Iterator[Shape]]] = {
    "box": _box,
    "cylinder": _cylinder,
    "sphere": _sphere,
    "shell": _sphere,
    "rod": _rod,
    "cone": _cone,
}
