"""How a robot file says its bodies look: its shapes and meshes, made small enough for a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from torseur.description.mechanism import EARTH_NAME
from torseur.description.readers import RobotFile, RobotFileError
from torseur.description.readers import Shape as Described
from torseur.description.readers.meshes import Mesh as Simple
from torseur.description.readers.meshes.mesh_decimation import decimate
from torseur.description.readers.rigid_placement import place_of
from torseur.presentation.scene.bodies.body_poses import point, quaternion_of, rotation_matrix
from torseur.presentation.scene.scene import Array
from torseur.presentation.scene.shapes import (
    MOST_VERTICES,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Mesh,
    Paint,
    Shape,
    Sphere,
)

MOST_TRIANGLES, MOST_OF_ONE, LEAST_OF_ONE = 40_000, 3_000, 200


def looks_of(robot: RobotFile) -> dict[str, tuple[Shape, ...]]:
    """The shapes of all bodies, where the file has any that can be drawn; a body without them is then not seen.

    A body is drawn by its visual shapes, else by those for contact. One whose meshes are not there is left to be drawn
    from its joints and its inertia.
    """
    wanted = {body.name: _choose_shapes(robot, body.name) for body in robot.mechanism.bodies}
    wanted[EARTH_NAME] = _choose_shapes(robot, EARTH_NAME)
    meshes = sum(shape.kind == "mesh" for shapes in wanted.values() for shape in shapes)
    artist = _Artist(min(MOST_OF_ONE, max(LEAST_OF_ONE, MOST_TRIANGLES // max(1, meshes))))
    drawn = {name: tuple(artist.draw(shapes)) for name, shapes in wanted.items()}
    if not any(drawn.values()):
        return {}
    return {name: shapes for name, shapes in drawn.items() if shapes or not wanted[name]}


def _choose_shapes(robot: RobotFile, body: str) -> list[Described]:
    """The shapes that show a body: those for pictures, those for contact where there are none."""
    shown = robot.shapes_of(body) or robot.shapes_of(body, "collision")
    return [shape for shape in shown if shape.kind != "plane"]


@dataclass(frozen=True)
class _Artist:
    """Draws shapes, each mesh with a limited number of triangles; a mesh that several bodies share is read once."""

    most: int
    known: dict[tuple[object, tuple[float, ...]], Simple] = field(default_factory=dict)

    def draw(self, shapes: list[Described]) -> list[Shape]:
        drawn = (self._one(shape) for shape in shapes)
        return [shape for shape in drawn if shape is not None]

    def _one(self, shape: Described) -> Shape | None:
        place = place_of(shape.at)
        at, turn = np.array(point(place.position)), rotation_matrix(place.rotation, 1)[0]
        if shape.kind == "mesh":
            return self._mesh(shape, at, turn)
        return replace(_SHAPES[shape.kind](shape.size, at, turn), paint=_paint(shape))

    def _mesh(self, shape: Described, at: Array, turn: Array) -> Shape | None:
        """The mesh; None when it is not there or cannot be read."""
        assert shape.mesh is not None
        key = (shape.mesh.path or shape.mesh.name, shape.size)
        try:
            if key not in self.known:
                self.known[key] = decimate(shape.mesh.read().scaled(shape.size), self.most)
        except RobotFileError:
            return None
        mesh = self.known[key]
        if not len(mesh.triangles) or len(mesh.vertices) > MOST_VERTICES or not np.isfinite(mesh.vertices).all():
            return None
        return Mesh(at + mesh.vertices @ turn.T, mesh.triangles, paint=_paint(shape))


def _paint(shape: Described) -> Paint | None:
    """The colour of the file; None where it says none, and the body has its own of the palette."""
    if shape.colour is None:
        return None
    red, green, blue, *opacity = (min(1.0, max(0.0, float(c))) for c in shape.colour)
    return Paint(red, green, blue, 1 - (opacity[0] if opacity else 1.0))


def _cylinder(size: tuple[float, ...], at: Array, turn: Array) -> Shape:
    half = turn[:, 2] * size[1] / 2
    return Cylinder(point(at - half), point(at + half), size[0])


def _capsule(size: tuple[float, ...], at: Array, turn: Array) -> Shape:
    half = turn[:, 2] * size[1] / 2
    return Capsule(point(at - half), point(at + half), size[0])


_SHAPES: dict[str, Callable[[tuple[float, ...], Array, Array], Shape]] = {
    "box": lambda size, at, turn: Box(point(at), point(size), quaternion_of(turn)),
    "sphere": lambda size, at, turn: Sphere(point(at), size[0]),
    "cylinder": _cylinder,
    "capsule": _capsule,
    "ellipsoid": lambda size, at, turn: Ellipsoid(point(at), point(size), quaternion_of(turn)),
}
