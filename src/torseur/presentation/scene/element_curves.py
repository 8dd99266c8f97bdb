"""The lines along which springs and ropes run at one instant. The viewer's `elements.js` draws the same lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torseur.presentation.scene.scene import Array

PER_TURN = 12  # points of a coil per turn
LEAD = 0.08  # part of a coil's length that is straight at either end
ARC = 12  # points of a rope about a pulley


def coil(start: Array, end: Array, radius: float, turns: int) -> Array:
    """A helix about the line between two points, straight at its ends."""
    way = end - start
    length = float(np.linalg.norm(way))
    if not length > 0:
        return np.stack([start, end])
    axis = way / length
    across = sideways(axis)
    upright = np.cross(axis, across)
    steps = np.linspace(0.0, 1.0, turns * PER_TURN + 1)
    angles = 2 * np.pi * turns * steps
    # The radius grows from nothing over the first half turn and falls back over the last one.
    grown = np.minimum(1.0, 2 * turns * np.minimum(steps, 1 - steps))
    heights = (LEAD + (1 - 2 * LEAD) * steps) * length
    helix = start + heights[:, None] * axis
    helix = helix + (radius * grown * np.cos(angles))[:, None] * across
    helix = helix + (radius * grown * np.sin(angles))[:, None] * upright
    return np.concatenate([start[None], helix, end[None]])


def sideways(axis: Array) -> Array:
    """A unit vector across a unit axis, the same one as in the viewer."""
    aside = np.array([1.0, 0.0, 0.0]) if abs(axis[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    across = np.cross(aside, axis)
    return across / np.linalg.norm(across)


def rope(points: Sequence[Array], radii: Sequence[float]) -> Array:
    """A taut line through points, wound about those that have a radius: tangents and arcs between them.

    A pulley lies inside the bend that the points make; with a negative radius the rope passes on its other side.
    The number of points depends on the radii alone.
    """
    circles = _circles(points, radii)
    line: list[Array] = [points[0]]
    for k in range(1, len(points) - 1):
        if not radii[k]:
            line.append(points[k])
            continue
        line += _arc(circles, points, k)
    return np.array([*line, points[-1]])


def _circles(points: Sequence[Array], radii: Sequence[float]) -> list[tuple[Array, float]]:
    """For each point the normal of the plane its pulley turns in, and the signed radius about that normal."""
    circles = []
    for k, here in enumerate(points):
        before, after = points[max(k - 1, 0)], points[min(k + 1, len(points) - 1)]
        normal = np.cross(here - before, after - here)
        size = float(np.linalg.norm(normal))
        scale = float(np.linalg.norm(here - before) * np.linalg.norm(after - here))
        if not radii[k] or size <= 1e-9 * max(scale, 1e-300):
            circles.append((np.zeros(3), 0.0))
        else:
            circles.append((normal / size, radii[k]))
    return circles


def _arc(circles: list[tuple[Array, float]], points: Sequence[Array], k: int) -> list[Array]:
    """Points about pulley k from where the rope reaches it to where it leaves it."""
    normal, radius = circles[k]
    centre = points[k]
    if not radius:
        return [centre] * (ARC + 1)
    arriving = _tangent(centre, radius, points[k - 1], _signed_radius(circles[k - 1], normal), normal, coming=True)
    leaving = _tangent(centre, radius, points[k + 1], _signed_radius(circles[k + 1], normal), normal, coming=False)
    start, end = arriving - centre, leaving - centre
    turn = float(np.arctan2(np.cross(start, end) @ normal, start @ end))
    # The rope turns about the normal with the sign of its radius, by less than a full turn.
    if radius > 0 and turn < -1e-9:
        turn += 2 * np.pi
    if radius < 0 and turn > 1e-9:
        turn -= 2 * np.pi
    beside = np.cross(normal, start)
    return [centre + np.cos(a) * start + np.sin(a) * beside for a in np.linspace(0.0, turn, ARC + 1)]


def _signed_radius(circle: tuple[Array, float], normal: Array) -> float:
    """The signed radius of a neighbouring pulley about this one's normal."""
    other, radius = circle
    return radius * float(np.sign(other @ normal)) if radius else 0.0


def _tangent(centre: Array, radius: float, other: Array, far: float, normal: Array, coming: bool) -> Array:
    """Where a line from or to a neighbouring circle touches this one.

    With signed radii r and s of circles that both turn about `normal`, the common tangent of centres at distance d is
    turned out of their line by asin((r - s) / d).
    """
    way = other - centre
    way = way - normal * (way @ normal)
    distance = float(np.linalg.norm(way))
    if distance <= 1e-12:
        return centre
    along = way / distance
    across = np.cross(normal, along)
    cosine = np.clip((radius - far) / distance, -1.0, 1.0)
    # Arriving ropes touch on the other side of the line of centres than leaving ones.
    side = (1.0 if coming else -1.0) * np.sqrt(1 - cosine * cosine)
    touch: Array = centre + abs(radius) * np.sign(radius) * (cosine * along + side * across)
    return touch
