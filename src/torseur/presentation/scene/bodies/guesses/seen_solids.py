"""What is added to solids so that one sees where tiny ones are, that round ones turn, and the pins within them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from torseur.description.mechanism import Rolling
from torseur.presentation.scene.bodies.body_poses import point
from torseur.presentation.scene.pictures.triangles import surface_of
from torseur.presentation.scene.scene import Array
from torseur.presentation.scene.shapes import Capsule, Cylinder, Shape, Sphere

if TYPE_CHECKING:
    from torseur.presentation.scene.bodies.body_shapes import Pictures

SEEN, MARKER = 0.004, 0.015  # of the typical length: what is seen at all, and the radius of the ball that shows it
OUT = 0.03  # of its length, how far a pin stands out of a solid on either side
MARK = 0.035  # radius of the line on the face of a disc, as a part of the disc's


def seen_of_solids(pictures: Pictures, body: str, solids: Sequence[Shape]) -> Iterator[Shape]:
    """A ball about solids that are tiny beside the whole, a line on the faces of discs that turn about their axes."""
    corners = _corners(solids)
    if len(corners) and float(np.linalg.norm(np.ptp(corners, axis=0))) < SEEN * pictures.size:
        yield Sphere(point(corners.mean(axis=0)), MARKER * pictures.size)
        return
    for solid in solids:
        if isinstance(solid, Cylinder) and _turns(pictures, body, solid):
            yield from _marks(solid)


def standing_out(hubs: Sequence[Shape], solids: Sequence[Shape]) -> Iterator[Shape]:
    """Pins of joints, made so long that they stand out of the solids in which they lie."""
    corners = _corners(solids)
    for pin in hubs:
        if not isinstance(pin, Cylinder) or not len(corners):
            yield pin
            continue
        start, end = np.array(pin.start), np.array(pin.end)
        middle, length = (start + end) / 2, float(np.linalg.norm(end - start))
        axis, along = (end - start) / length, (corners - start) @ (end - start) / length
        is_within = bool(np.all((corners.min(axis=0) <= middle) & (middle <= corners.max(axis=0))))
        low = min(0.0, float(along.min()) - OUT * length) if is_within else 0.0
        high = max(length, float(along.max()) + OUT * length) if is_within else length
        yield Cylinder(point(start + low * axis), point(start + high * axis), pin.radius, shade=pin.shade)


def _corners(solids: Sequence[Shape]) -> Array:
    surfaces = [surface for solid in solids if (surface := surface_of(solid, 0.0)) is not None]
    return np.vstack([surface.vertices for surface in surfaces]) if surfaces else np.zeros((0, 3))


def _turns(pictures: Pictures, body: str, disc: Cylinder) -> bool:
    """Whether a disc turns about its own direction in a joint, or rolls."""
    way = np.array(disc.end) - np.array(disc.start)
    length = float(np.linalg.norm(way))
    rolls = any(isinstance(c, Rolling) and c.wheel.body == body for c in pictures.numbers.tree.mechanism.constraints)
    return length > 0 and (rolls or any(abs(float(axis @ way)) > 0.999 * length for axis in pictures.axes_of(body)))


def _marks(disc: Cylinder) -> Iterator[Shape]:
    """A radius drawn on both faces of a disc."""
    start, end = np.array(disc.start), np.array(disc.end)
    axis = (end - start) / np.linalg.norm(end - start)
    across = np.linalg.svd(axis[None])[2][1] * (1 - MARK) * disc.radius
    for face in (start, end):
        yield Capsule(point(face), point(face + across), MARK * disc.radius, shade=0.6)
