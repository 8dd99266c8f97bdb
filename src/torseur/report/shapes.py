"""Shapes a body is drawn with, in the body's own frame, lengths in metres."""

from __future__ import annotations

from dataclasses import dataclass

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


Shape = Capsule | Cylinder | Box | Sphere | Line


def describe(shape: Shape) -> dict[str, object]:
    """The shape as plain data for the page's script."""
    kind = type(shape).__name__.lower()
    return {"kind": kind, **vars(shape)}
