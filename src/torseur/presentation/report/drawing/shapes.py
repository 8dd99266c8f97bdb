"""Shapes a body is drawn with, in the body's own frame, lengths in metres."""

from __future__ import annotations

import base64
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Capsule:
    """A rod with round ends."""

    start: Point
    end: Point
    radius: float
    shade: float = 1.0  # multiplies the body's colour: below 1 darker


@dataclass(frozen=True)
class Cylinder:
    """A rod with flat ends."""

    start: Point
    end: Point
    radius: float
    shade: float = 1.0


@dataclass(frozen=True)
class Box:
    """A block with its edges along the frame turned by a quaternion (w, x, y, z)."""

    centre: Point
    size: Point
    turn: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    shade: float = 1.0


@dataclass(frozen=True)
class Sphere:
    """A ball."""

    centre: Point
    radius: float
    shade: float = 1.0


@dataclass(frozen=True)
class Line:
    """A thin polyline, such as a spring or the outline of a frame."""

    points: tuple[Point, ...]
    shade: float = 1.0


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles: vertices (n, 3) and their indices (m, 3), anticlockwise seen from outside."""

    vertices: NDArray[np.float64]
    triangles: NDArray[np.int64]
    shade: float = 1.0


Shape = Capsule | Cylinder | Box | Sphere | Line | Mesh
STEPS = 65535
MOST_VERTICES = 65536  # their indices fit sixteen bits


def describe(shape: Shape) -> dict[str, object]:
    """The shape as plain data for the page's script."""
    kind = type(shape).__name__.lower()
    return _pack(shape) if isinstance(shape, Mesh) else {"kind": kind, **vars(shape)}


def _pack(mesh: Mesh) -> dict[str, object]:
    """A mesh in sixteen bits a number: vertices as parts of the box around it, triangles as indices."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    step = np.where(high > low, (high - low) / STEPS, 1.0)
    packed = {"vertices": np.rint((mesh.vertices - low) / step), "triangles": mesh.triangles}
    texts = {name: base64.b64encode(values.astype("<u2").tobytes()).decode("ascii") for name, values in packed.items()}
    box = {"low": [round(float(x), 6) for x in low], "high": [round(float(x), 6) for x in high]}
    return {"kind": "mesh", **box, **texts, "shade": mesh.shade}
