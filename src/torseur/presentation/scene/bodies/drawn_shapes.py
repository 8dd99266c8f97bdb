"""What `draw` says of one body, as shapes in its frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from torseur.algebra.spatial import Transform
from torseur.description.mechanism import Drawing
from torseur.description.mechanism.drawings import rgb
from torseur.description.readers.meshes import Mesh as Simple
from torseur.description.readers.meshes import read_mesh
from torseur.description.readers.meshes.mesh_decimation import decimate
from torseur.errors import TorseurError
from torseur.presentation.scene.bodies.body_poses import point, quaternion_of, rotation_matrix
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.scene import Array
from torseur.presentation.scene.shapes import (
    MOST_VERTICES,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Label,
    Line,
    Mesh,
    Paint,
    Ring,
    Shape,
    Sphere,
    Tube,
)

MOST_TRIANGLES = 6_000
THIN, HEAD = 0.012, (4.0, 2.4)  # of the typical length; length and width of an arrow's head by its thickness
SPOKES = 3
Sizes = dict[str, float]


def paint_of(drawing: Drawing, numbers: Numbers) -> Paint | None:
    """The colour and transparency that a drawing says; None where it says neither."""
    clear = None if drawing.transparency is None else numbers.value(drawing.transparency)
    if not drawing.colour and clear is None:
        return None
    red, green, blue = rgb(drawing.colour) if drawing.colour else (0.55, 0.6, 0.66)
    return Paint(red, green, blue, min(1.0, max(0.0, clear or 0.0)))


def drawn_shapes(drawing: Drawing, places: Sequence[Transform], numbers: Numbers, size: float) -> Iterator[Shape]:
    """The shapes of a drawing whose frames lie in one body; none where a size or a place has no value."""
    values = {name: numbers.value(value) for name, value in drawing.sizes}
    known: Sizes = {name: value for name, value in values.items() if value is not None}
    if len(places) < len(drawing.frames) or len(known) < len(values) or drawing.kind == "nothing":
        return
    points = [np.array(point(place.position)) for place in places]
    turn = rotation_matrix(places[0].rotation, 1)[0]
    paint = paint_of(drawing, numbers)
    if drawing.kind == "mesh":
        shapes: Iterator[Shape] = iter([_mesh(drawing.text, known, points[0], turn)])
    elif drawing.kind == "text":
        shapes = iter([Label(point(points[0]), drawing.text, known.get("height", 0.0))])
    elif len(points) > 1:
        shapes = _between(drawing.kind, known, points, size)
    else:
        shapes = _SHAPES[drawing.kind](known, points[0], turn, size)
    yield from (replace(shape, paint=paint) if paint is not None else shape for shape in shapes)


def _between(kind: str, d: Sizes, points: list[Array], size: float) -> Iterator[Shape]:
    """Rods and lines between points of the same body."""
    start, end = point(points[0]), point(points[-1])
    match kind:
        case "cylinder":
            yield Cylinder(start, end, d["radius"])
        case "capsule":
            yield Capsule(start, end, d["radius"])
        case "cone":
            yield Cone(start, end, d["radius"])
        case "tube":
            yield Tube(start, end, d["radius"], max(d["radius"] - d["thickness"], 0.0))
        case "arrow":
            yield from arrow(points[0], points[-1], d.get("thickness", 2 * THIN * size))
        case "track":
            yield Capsule(start, end, d.get("width", 2 * THIN * size) / 2)
        case "rod" | "spring" | "damper":
            yield Capsule(start, end, d.get("radius", THIN * size))
        case _:
            yield Line(tuple(point(p) for p in points), radius=d.get("thickness", 0.0) / 2)


def arrow(start: Array, end: Array, thickness: float) -> Iterator[Shape]:
    """A shaft and a head."""
    way = end - start
    length = float(np.linalg.norm(way))
    if not length > 0:
        return
    head = min(HEAD[0] * thickness, 0.6 * length)
    neck = end - way * (head / length)
    yield Cylinder(point(start), point(neck), thickness / 2)
    yield Cone(point(neck), point(end), HEAD[1] * thickness / 2)


def wheel(centre: Array, turn: Array, radius: float, width: float) -> Iterator[Shape]:
    """A rim with spokes, so that one sees it turn and sees through it."""
    axis, wire = turn[:, 2], min(width / 2, 0.5 * radius)
    yield Ring(point(centre), point(axis), radius - wire, wire)
    for k in range(SPOKES):
        angle = np.pi * k / SPOKES
        spoke = (np.cos(angle) * turn[:, 0] + np.sin(angle) * turn[:, 1]) * (radius - wire)
        yield Capsule(point(centre - spoke), point(centre + spoke), 0.4 * min(wire, 0.12 * radius), shade=0.9)
    half = axis * max(width, 0.15 * radius) / 2
    yield Cylinder(point(centre - half), point(centre + half), 0.14 * radius, shade=0.8)


@lru_cache(maxsize=128)
def _coarse_mesh(file: str, changed: float) -> Simple:
    """The mesh with few triangles; kept, because a page asks for it with every motion, until the file is changed."""
    return decimate(read_mesh(Path(file)), MOST_TRIANGLES)


def _mesh(file: str, d: Sizes, at: Array, turn: Array) -> Mesh:
    try:
        mesh = _coarse_mesh(file, Path(file).stat().st_mtime)
    except OSError as problem:
        raise TorseurError(f"the mesh '{file}' cannot be read: {problem.strerror}.") from None
    if len(mesh.vertices) > MOST_VERTICES:
        raise TorseurError(f"the mesh '{file}' has more than {MOST_VERTICES} vertices.")
    factors = np.array([d.get(f"scale_{axis}", d.get("scale", 1.0)) for axis in "xyz"])
    # A mirror turns triangles inside out.
    triangles = mesh.triangles if np.prod(factors) > 0 else mesh.triangles[:, ::-1]
    return Mesh(at + (mesh.vertices * factors) @ turn.T, triangles)


def _along(d: Sizes, at: Array, turn: Array) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    half = turn[:, 2] * d["length"] / 2
    return point(at - half), point(at + half)


def _ring(d: Sizes, at: Array, turn: Array, size: float) -> Iterator[Shape]:
    yield Ring(point(at), point(turn[:, 2]), d["radius"], d.get("thickness", min(2 * THIN * size, d["radius"] / 4)) / 2)


def _plane(d: Sizes, at: Array, turn: Array, size: float) -> Iterator[Shape]:
    thin = 0.004 * max(d["x"], d["y"])
    yield Box(point(at - turn[:, 2] * thin / 2), (d["x"], d["y"], thin), quaternion_of(turn))


def _track(d: Sizes, at: Array, turn: Array, size: float) -> Iterator[Shape]:
    width = d.get("width", 4 * THIN * size)
    thin = min(0.25 * width, THIN * size)
    yield Box(point(at - turn[:, 2] * thin / 2), (d["length"], width, thin), quaternion_of(turn), shade=0.9)


def _arrow(d: Sizes, at: Array, turn: Array, size: float) -> Iterator[Shape]:
    yield from arrow(at, at + turn[:, 2] * d["length"], d.get("thickness", 0.05 * d["length"]))


def _cone(d: Sizes, at: Array, turn: Array, size: float) -> Iterator[Shape]:
    yield Cone(point(at), point(at + turn[:, 2] * d["length"]), d["radius"])


_SHAPES: dict[str, Callable[[Sizes, Array, Array, float], Iterator[Shape]]] = {
    "box": lambda d, at, turn, size: iter([Box(point(at), (d["x"], d["y"], d["z"]), quaternion_of(turn))]),
    "sphere": lambda d, at, turn, size: iter([Sphere(point(at), d["radius"])]),
    "ellipsoid": lambda d, at, turn, size: iter(
        [Ellipsoid(point(at), (d["x"] / 2, d["y"] / 2, d["z"] / 2), quaternion_of(turn))]
    ),
    "cylinder": lambda d, at, turn, size: iter([Cylinder(*_along(d, at, turn), d["radius"])]),
    "capsule": lambda d, at, turn, size: iter([Capsule(*_along(d, at, turn), d["radius"])]),
    "cone": _cone,
    "tube": lambda d, at, turn, size: iter(
        [Tube(*_along(d, at, turn), d["radius"], max(d["radius"] - d["thickness"], 0.0))]
    ),
    "ring": _ring,
    "hoop": _ring,
    "wheel": lambda d, at, turn, size: wheel(at, turn, d["radius"], d.get("width", 0.2 * d["radius"])),
    "plane": _plane,
    "track": _track,
    "arrow": _arrow,
}
