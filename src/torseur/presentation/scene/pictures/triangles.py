"""Shapes and elements as triangles, for shaded pictures and GLB."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.presentation.scene.element_curves import sideways
from torseur.presentation.scene.orientation import rotation
from torseur.presentation.scene.scene import Array
from torseur.presentation.scene.shapes import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Label,
    Line,
    Mesh,
    Ring,
    Shape,
    Sphere,
    Tube,
)

AROUND, CAP, RING = 36, 6, 48
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Surface:
    """Vertices (n, 3) and triangles (m, 3), anticlockwise seen from outside."""

    vertices: Array
    triangles: Indices


def surface_of(shape: Shape, thin: float) -> Surface | None:
    """The surface of a shape; lines without a radius get `thin`; None for what has none, such as a text."""
    match shape:
        case Mesh():
            return Surface(shape.vertices, shape.triangles)
        case Label():
            return None
        case Line():
            return wire(np.array(shape.points), shape.radius or thin)
        case Box():
            return _place(_cube(), np.array(shape.size), shape.centre, shape.turn)
        case Ellipsoid():
            return _place(_globe(), np.array(shape.size), shape.centre, shape.turn)
        case Sphere():
            ball = _globe()
            return Surface(np.array(shape.centre) + shape.radius * ball.vertices, ball.triangles)
        case Ring():
            angles = np.linspace(0, 2 * np.pi, 13)
            profile = np.stack([shape.radius + shape.wire * np.cos(angles), shape.wire * np.sin(angles)], axis=1)
            return _lathe(profile, np.array(shape.centre), np.array(shape.axis), RING)
        case Capsule() | Cylinder() | Cone() | Tube():
            return _rod(shape)


def _rod(shape: Capsule | Cylinder | Cone | Tube) -> Surface:
    start, end = np.array(shape.start), np.array(shape.end)
    length = float(np.linalg.norm(end - start))
    axis = (end - start) / length if length > 0 else np.array([0.0, 0.0, 1.0])
    r = shape.radius
    match shape:
        case Tube():
            profile = [(shape.inner, 0), (r, 0), (r, length), (shape.inner, length), (shape.inner, 0)]
        case Cone():
            profile = [(0, 0), (r, 0), (0, length)]
        case Cylinder():
            profile = [(0, 0), (r, 0), (r, length / 2), (r, length), (0, length)]
        case Capsule():
            a = np.linspace(-np.pi / 2, np.pi / 2, 2 * CAP + 1)
            low = [(r * np.cos(x), r * np.sin(x)) for x in a[: CAP + 1]]
            # Long triangles are cut, so that the painter's order of what they cross is right.
            cuts = [(r, length * k / 6) for k in range(1, 6)]
            profile = [*low, *cuts, *((r * np.cos(x), length + r * np.sin(x)) for x in a[CAP:])]
    return _lathe(np.array(profile, dtype=float), start, axis, AROUND)


def _lathe(profile: Array, start: Array, axis: Array, around: int) -> Surface:
    """A surface of revolution: rows of a profile (radius, height) about an axis, first row below."""
    across = sideways(axis / np.linalg.norm(axis))
    unit = axis / np.linalg.norm(axis)
    angles = np.arange(around) * 2 * np.pi / around
    spokes = np.cos(angles)[:, None] * across + np.sin(angles)[:, None] * np.cross(unit, across)
    rows = start + profile[:, 1, None, None] * unit + profile[:, 0, None, None] * spokes
    return Surface(rows.reshape(-1, 3), _grid(len(profile), around))


def _grid(rows: int, around: int) -> Indices:
    """Triangles of a closed band of rows, anticlockwise from outside when rows go up the axis."""
    row, k = (grid.ravel() for grid in np.meshgrid(np.arange(rows - 1), np.arange(around), indexing="ij"))
    a, b = row * around + k, row * around + (k + 1) % around
    return np.concatenate([np.stack([a, b, b + around], axis=1), np.stack([a, b + around, a + around], axis=1)])


def _globe() -> Surface:
    angles = np.linspace(-np.pi / 2, np.pi / 2, 2 * CAP + 1)
    profile = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return _lathe(profile, np.zeros(3), np.array([0.0, 0.0, 1.0]), AROUND)


def _cube() -> Surface:
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [(a, b, c) for a, b, c, _ in faces] + [(a, c, d) for a, _, c, d in faces]
    return Surface(corners, np.array(triangles))


def _place(unit: Surface, size: Array, centre: tuple[float, ...], turn: tuple[float, ...]) -> Surface:
    return Surface(np.array(centre) + (unit.vertices * size) @ rotation(np.array(turn)).T, unit.triangles)


def wire(points: Array, radius: float, around: int = 7) -> Surface:
    """A round wire along a line, closed at its ends; its rings are carried along without twist."""
    gaps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    line = points[np.concatenate([[True], gaps > 1e-12])]
    if len(line) < 2:
        return Surface(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64))
    tangents = np.gradient(line, axis=0) if len(line) > 2 else np.tile(line[1] - line[0], (2, 1))
    tangents = tangents / np.maximum(np.linalg.norm(tangents, axis=1, keepdims=True), 1e-300)
    angles = np.arange(around) * 2 * np.pi / around
    across, rows = sideways(tangents[0]), []
    for place, along in zip(line, tangents, strict=True):
        kept = across - along * (across @ along)
        across = kept / np.linalg.norm(kept) if np.linalg.norm(kept) > 1e-6 else sideways(along)
        beside = np.cross(along, across)
        rows.append(place + radius * (np.outer(np.cos(angles), across) + np.outer(np.sin(angles), beside)))
    # The first and the last ring shrink to their middle.
    rings = [np.tile(line[0], (around, 1)), *rows, np.tile(line[-1], (around, 1))]
    return Surface(np.concatenate(rings), _grid(len(rings), around))
