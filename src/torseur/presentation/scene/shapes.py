"""Shapes a body is drawn with, in the body's own frame, lengths in metres."""

from __future__ import annotations

import base64
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
UNTURNED: Quaternion = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Paint:
    """A colour of its own, red, green, blue from 0 to 1, and how much of what is behind is seen through it."""

    red: float
    green: float
    blue: float
    transparency: float = 0.0

    @property
    def rgb(self) -> tuple[float, float, float]:
        return self.red, self.green, self.blue


@dataclass(frozen=True, kw_only=True)
class Coat:
    """How a shape is coloured: by its body's colour times `shade` (below 1 darker), or by a paint of its own."""

    shade: float = 1.0
    paint: Paint | None = None


@dataclass(frozen=True)
class Capsule(Coat):
    """A rod with round ends."""

    start: Point
    end: Point
    radius: float


@dataclass(frozen=True)
class Cylinder(Coat):
    """A rod with flat ends."""

    start: Point
    end: Point
    radius: float


@dataclass(frozen=True)
class Cone(Coat):
    """A cone from the middle of its base to its tip."""

    start: Point
    end: Point
    radius: float


@dataclass(frozen=True)
class Tube(Coat):
    """A hollow cylinder, open at both ends."""

    start: Point
    end: Point
    radius: float
    inner: float


@dataclass(frozen=True)
class Ring(Coat):
    """A torus about an axis of unit length; `wire` is the radius of what is bent to the ring."""

    centre: Point
    axis: Point
    radius: float
    wire: float


@dataclass(frozen=True)
class Box(Coat):
    """A block with its edges along the frame turned by a quaternion (w, x, y, z)."""

    centre: Point
    size: Point
    turn: Quaternion = UNTURNED


@dataclass(frozen=True)
class Sphere(Coat):
    """A ball."""

    centre: Point
    radius: float


@dataclass(frozen=True)
class Ellipsoid(Coat):
    """A ball stretched to half axes along the frame turned by a quaternion."""

    centre: Point
    size: Point
    turn: Quaternion = UNTURNED


@dataclass(frozen=True)
class Line(Coat):
    """A polyline; without a radius it is thin at any distance."""

    points: tuple[Point, ...]
    radius: float = 0.0


@dataclass(frozen=True)
class Label(Coat):
    """A text beside a point, always facing the viewer; `height` of its letters in metres, 0 for that of the page."""

    centre: Point
    text: str
    height: float = 0.0


@dataclass(frozen=True, eq=False)
class Mesh(Coat):
    """Triangles: vertices (n, 3) and their indices (m, 3), anticlockwise seen from outside."""

    vertices: NDArray[np.float64]
    triangles: NDArray[np.int64]


Shape = Capsule | Cylinder | Cone | Tube | Ring | Box | Sphere | Ellipsoid | Line | Label | Mesh
STEPS = 65535
MOST_VERTICES = 65536  # their indices fit sixteen bits


def describe(shape: Shape) -> dict[str, object]:
    """The shape as plain data for the page's script."""
    kind = type(shape).__name__.lower()
    fields = _pack(shape) if isinstance(shape, Mesh) else {"kind": kind, **vars(shape)}
    if shape.paint is None:
        del fields["paint"]
    else:
        fields["paint"] = paint_data(shape.paint)
    return fields


def paint_data(paint: Paint) -> list[float]:
    """Red, green, blue and opacity."""
    return [round(c, 4) for c in (*paint.rgb, 1 - paint.transparency)]


def _pack(mesh: Mesh) -> dict[str, object]:
    """A mesh in sixteen bits a number: vertices as parts of the box around it, triangles as indices."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    step = np.where(high > low, (high - low) / STEPS, 1.0)
    packed = {"vertices": np.rint((mesh.vertices - low) / step), "triangles": mesh.triangles}
    texts = {name: base64.b64encode(values.astype("<u2").tobytes()).decode("ascii") for name, values in packed.items()}
    box = {"low": [round(float(x), 6) for x in low], "high": [round(float(x), 6) for x in high]}
    return {"kind": "mesh", **box, **texts, "shade": mesh.shade, "paint": mesh.paint}
