"""Inertia of homogeneous shapes, in numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from torseur.algebra.spatial import NO_INERTIA, NULL, Inertia, Symmetric3, inertia_at
from torseur.description.mechanism import Turn
from torseur.description.readers.meshes import enclosed_inertia
from torseur.description.readers.reading_ledger import Ledger
from torseur.description.readers.rigid_placement import place_of
from torseur.description.readers.robot_file import MISSING_MESH, Shape
from torseur.description.readers.xml_document import Element, RobotFileError

Central = tuple[float, tuple[float, ...], tuple[Turn, ...], Symmetric3]


def unit_inertia(shape: Shape) -> Inertia:
    """The inertia of a shape of density 1 (its mass is its volume) in the shape's own frame."""
    if shape.kind == "mesh":
        return _of_mesh(shape)
    volume, (xx, yy, zz) = _VOLUMES[shape.kind](*(abs(length) for length in shape.size))
    return inertia_at(volume, NULL, Symmetric3(xx, yy, zz, 0.0, 0.0, 0.0))


def _of_mesh(shape: Shape) -> Inertia:
    assert shape.mesh is not None
    return enclosed_inertia(shape.mesh.read().scaled(shape.size))


def times(inertia: Inertia, factor: float) -> Inertia:
    """An inertia with all its mass multiplied."""
    return Inertia(inertia.mass * factor, inertia.moment * factor, Symmetric3(*(m * factor for m in inertia.matrix)))


def central(total: Inertia) -> Central:
    """Mass, mass centre, no turn, and the inertia about the mass centre."""
    mass = float(total.mass)
    if mass == 0.0:
        return 0.0, (0.0, 0.0, 0.0), (), Symmetric3(*(float(m) for m in total.matrix))
    centre = total.moment / mass
    about = total.matrix - inertia_at(mass, centre, Symmetric3(0, 0, 0, 0, 0, 0)).matrix
    return mass, tuple(float(c) for c in centre), (), Symmetric3(*(float(m) for m in about))


def shapes_inertia(shapes: Sequence[Shape], density: float, element: Element, ledger: Ledger) -> Central | None:
    """The inertia of shapes of one density fixed together; None, with a note, when one of them is not known."""
    total = NO_INERTIA
    for shape in shapes:
        try:
            local = times(unit_inertia(shape), density)
        except RobotFileError as problem:
            ledger.note(MISSING_MESH, f"body '{shape.body}' has no known inertia: {problem}", element)
            return None
        total = total + place_of(shape.at).inertia_to_parent(local)
    return central(total)


Moments = tuple[float, float, float]


def _box(x: float, y: float, z: float) -> tuple[float, Moments]:
    v = x * y * z
    return v, (v * (y * y + z * z) / 12, v * (x * x + z * z) / 12, v * (x * x + y * y) / 12)


def _ellipsoid(a: float, b: float, c: float) -> tuple[float, Moments]:
    v = 4 / 3 * math.pi * a * b * c
    return v, (v * (b * b + c * c) / 5, v * (a * a + c * c) / 5, v * (a * a + b * b) / 5)


def _sphere(r: float) -> tuple[float, Moments]:
    return _ellipsoid(r, r, r)


def _cylinder(r: float, h: float) -> tuple[float, Moments]:
    v = math.pi * r * r * h
    across = v * (r * r / 4 + h * h / 12)
    return v, (across, across, v * r * r / 2)


def _capsule(r: float, h: float) -> tuple[float, Moments]:
    """A cylinder between two half balls, whose centres are h apart."""
    rod, (across, _, spin) = _cylinder(r, h)
    ball, (of_ball, _, _) = _sphere(r)
    shifted = of_ball + ball * (h * h / 4 + 3 * h * r / 8)
    return rod + ball, (across + shifted, across + shifted, spin + of_ball)


def _plane(*_: float) -> tuple[float, Moments]:
    return 0.0, (0.0, 0.0, 0.0)


_VOLUMES: dict[str, Callable[..., tuple[float, Moments]]] = {
    "box": _box,
    "sphere": _sphere,
    "cylinder": _cylinder,
    "capsule": _capsule,
    "ellipsoid": _ellipsoid,
    "plane": _plane,
}
