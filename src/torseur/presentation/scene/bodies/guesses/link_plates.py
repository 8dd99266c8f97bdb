"""What holds the joints and points of a body together: a bar between two of them, a plate between several in a plane.

Textbooks draw a link with three joints as a triangle; a star of rods from one of them hides which points belong
together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from torseur.presentation.scene.bodies.body_poses import point
from torseur.presentation.scene.scene import Array
from torseur.presentation.scene.shapes import Capsule, Mesh, Shape

FLAT = 1e-3  # of the extent of points, what they may lie beside a line or a plane that is said to hold them
THIN = 0.3  # half the thickness of a plate by the radius of the rods about it, which stand out on both sides


def link_of(points: Sequence[Array], centre: Array | None, radius: float) -> Iterator[Shape]:
    """Bars and plates through points, the first of which is where the body is carried, and out to its mass centre."""
    if not points:
        return
    corners = _corners(points) if len(points) > 2 else None
    bars = [(points[0], end) for end in points[1:]]
    if corners is not None:
        bars = list(zip(corners, [*corners[1:], corners[0]], strict=True))
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        yield plate(corners, THIN * radius * normal / np.linalg.norm(normal))
    for start, end in bars:
        yield from _bar(start, end, radius)
    if centre is None or (corners is not None and _is_on(centre, corners, radius)):
        return
    # The mass hangs on what is nearest to it: that of a pendulum on its joint.
    spots = [_nearest(centre, *bar) for bar in bars] or [points[0]]
    yield from _bar(min(spots, key=lambda spot: float(np.linalg.norm(spot - centre))), centre, radius)


def is_polygon(points: Sequence[Array]) -> bool:
    """Whether points are the corners of a convex polygon in a plane, none of them within it."""
    corners = _corners(points) if len(points) > 2 else None
    return corners is not None and len(corners) == len(points)


def _bar(start: Array, end: Array, radius: float) -> Iterator[Shape]:
    if float(np.linalg.norm(end - start)) > 0.05 * radius:
        yield Capsule(point(start), point(end), radius)


def _corners(points: Sequence[Array]) -> list[Array] | None:
    """The corners of points in a plane, one after the other about it; None of points on a line or in space."""
    cloud = np.array(points)
    off = cloud - cloud.mean(axis=0)
    _, sizes, axes = np.linalg.svd(off, full_matrices=False)
    if sizes[1] <= FLAT * sizes[0] or sizes[2] > FLAT * sizes[0]:
        return None
    flat = off @ axes[:2].T
    order = sorted(range(len(points)), key=lambda k: (flat[k, 0], flat[k, 1]))
    lower, upper = _chain(order, flat), _chain(order[::-1], flat)
    hull = [*lower[:-1], *upper[:-1]]
    return [cloud[k] for k in hull] if len(hull) > 2 else None


def _chain(order: Sequence[int], flat: Array) -> list[int]:
    """One side of the convex hull (Andrew's monotone chain)."""
    kept: list[int] = []
    for k in order:
        while len(kept) > 1 and _turn(flat[kept[-2]], flat[kept[-1]], flat[k]) <= FLAT * float(np.ptp(flat)) ** 2:
            kept.pop()
        kept.append(k)
    return kept


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def plate(corners: Sequence[Array], half: Array) -> Mesh:
    """A convex plate of half a thickness on either side of its corners, which go round anticlockwise about `half`."""
    n = len(corners)
    top, bottom = np.array(corners) + half, np.array(corners) - half
    faces = [(0, k, k + 1) for k in range(1, n - 1)]
    below = [(n, n + k + 1, n + k) for k in range(1, n - 1)]
    sides = [t for k in range(n) for t in ((k, n + k, n + (k + 1) % n), (k, n + (k + 1) % n, (k + 1) % n))]
    return Mesh(np.vstack([top, bottom]), np.array([*faces, *below, *sides], dtype=np.int64), shade=0.85)


def _nearest(spot: Array, start: Array, end: Array) -> Array:
    way = end - start
    part = float((spot - start) @ way) / float(way @ way)
    return start + min(1.0, max(0.0, part)) * way


def _is_on(centre: Array, corners: Sequence[Array], radius: float) -> bool:
    """Whether a mass centre lies on the plate, where nothing more need hold it."""
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    unit = normal / np.linalg.norm(normal)
    if abs(float((centre - corners[0]) @ unit)) > radius:
        return False
    rim = zip(corners, [*corners[1:], corners[0]], strict=True)
    return all(float(np.cross(end - start, centre - start) @ unit) >= 0 for start, end in rim)
