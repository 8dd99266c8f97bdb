"""Where bodies touch along a motion: wheels that roll, and the shapes of contacts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torseur.algebra.graph import as_expr
from torseur.algebra.spatial import Vec3
from torseur.computation.simulation.constrained.contacts.nearest_points import nearest_point
from torseur.description.mechanism import Contact, Rolling
from torseur.presentation.scene.bodies.body_places import Places
from torseur.presentation.scene.overlays import Dots
from torseur.presentation.scene.palette import CONTACT
from torseur.presentation.scene.scene import Array

DOT = 0.022  # radius of a contact point, as a part of the typical length
TOUCHING = 1e-4  # a gap that no eye sees, as a part of the typical length: steps of fixed length leave some


def contact_points(places: Places) -> tuple[Dots, ...]:
    """The points where wheels and shapes touch what is under them; none while a shape is off its ground."""
    mechanism = places.numbers.tree.mechanism
    tracks: list[tuple[str, Array]] = []
    for rolling in mechanism.constraints:
        if isinstance(rolling, Rolling) and (path := _rolling_point(places, rolling)) is not None:
            tracks.append((rolling.name, path))
    for contact in mechanism.contacts:
        if isinstance(contact, Contact):
            tracks += [(contact.name, path) for path in _touching(places, contact)]
    if not tracks:
        return ()
    positions = np.stack([path for _, path in tracks], axis=1)
    return (Dots("contact", positions, tuple(name for name, _ in tracks), DOT * places.size, CONTACT),)


def _rolling_point(places: Places, rolling: Rolling) -> Array | None:
    """Where a rolling wheel is lowest above its plane: from its centre down across the axle, then down the tyre."""
    wheel, ground = places.path(rolling.wheel), places.path(rolling.on)
    values = [places.numbers.value(c) for c in (rolling.radius, *rolling.normal)]
    tyre = 0.0 if rolling.tyre_radius is None else places.numbers.value(rolling.tyre_radius)
    if wheel is None or ground is None or None in values or tyre is None:
        return None
    normal = np.array(values[1:], dtype=float)
    up = ground[1] @ (normal / np.linalg.norm(normal))
    return wheel[0] + _rim(wheel[1][:, :, 2], up, float(values[0] or 0.0), tyre)


def _touching(places: Places, contact: Contact) -> Iterator[Array]:
    """The path of each point of a shape that can touch, NaN while it does not.

    On a height field none is drawn: where a shape touches it is found by the simulation only.
    """
    shape, ground = places.path(contact.frame), places.path(contact.ground)
    known = {name: places.numbers.value(value) for name, value in contact.sizes}
    sizes = {name: value for name, value in known.items() if value is not None}
    if shape is None or ground is None or len(sizes) < len(known) or contact.height is not None:
        return
    (centre, axes), (origin, base) = shape, ground
    if contact.normal is not None:
        values = [places.numbers.value(c) for c in contact.normal]
        if None in values:
            return
        normal, radius = np.array(values, dtype=float), 0.0
        up = base @ (normal / np.linalg.norm(normal))
        lowest = [centre + way for way in _ways_down(contact.shape, sizes, axes, up)]
    else:
        radius = (None if contact.ground_radius is None else places.numbers.value(contact.ground_radius)) or 0.0
        # Of a capsule both ends are asked, each towards the centre of the ball.
        middles = [centre + offset for offset in _middles(contact.shape, sizes, axes)]
        ups = [(middle - origin) / np.linalg.norm(middle - origin, axis=1, keepdims=True) for middle in middles]
        lowest = [middle - sizes.get("radius", 0.0) * up for middle, up in zip(middles, ups, strict=True)]
        if contact.shape in ("box", "disc", "torus", "ellipsoid"):
            lowest = [centre + np.einsum("tij,tj->ti", axes, _nearest(contact.shape, sizes, centre, axes, origin))]
    for spot in lowest:
        gap = (
            np.einsum("ti,ti->t", spot - origin, up)
            if contact.normal is not None
            else np.linalg.norm(spot - origin, axis=1) - radius
        )
        yield np.where((gap < TOUCHING * places.size)[:, None], spot, np.nan)


def _nearest(shape: str, sizes: dict[str, float], centre: Array, axes: Array, origin: Array) -> Array:
    """The point of a broad shape that is nearest to a ball's centre, from its own in its axes."""
    towards = np.einsum("tji,tj->ti", axes, origin - centre)
    points = []
    for row in towards.tolist():
        given = {name: as_expr(value) for name, value in sizes.items()}
        point, skin = nearest_point(shape, given, Vec3(*map(as_expr, row)))
        core = np.array([float(component) for component in point])
        way = np.array(row) - core
        points.append(core + float(skin) * way / max(float(np.linalg.norm(way)), 1e-300))
    return np.array(points)


def _middles(shape: str, sizes: dict[str, float], axes: Array) -> list[Array]:
    """The centres of the balls that a point, a sphere or a capsule ends in, from the origin of its frame."""
    half = 0.5 * sizes.get("length", 0.0) * axes[:, :, 2]
    return [half, -half] if shape == "capsule" else [0.0 * half]


def _ways_down(shape: str, sizes: dict[str, float], axes: Array, up: Array) -> list[Array]:
    """From the origin of a shape's frame to its points that are lowest against `up`: of a box, to all its corners."""
    if shape == "box":
        signs = [(a, b, c) for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in (-0.5, 0.5)]
        return [axes @ (np.array(sign) * [sizes[name] for name in "xyz"]) for sign in signs]
    if shape == "ellipsoid":
        # The support point of an ellipsoid with semiaxes A in the direction -m is -A² m / |A m|.
        semiaxes = np.array([sizes[name] for name in "xyz"])
        stretched = np.einsum("tji,tj->ti", axes, up) * semiaxes
        support = semiaxes * stretched / np.linalg.norm(stretched, axis=1, keepdims=True)
        return [-np.einsum("tij,tj->ti", axes, support)]
    if shape in ("disc", "torus"):
        return [_rim(axes[:, :, 2], up, sizes["radius"], sizes.get("tyre", 0.0))]
    return [middle - sizes.get("radius", 0.0) * up for middle in _middles(shape, sizes, axes)]


def _rim(axle: Array, up: Array, radius: float, tyre: float) -> Array:
    """From the centre of a wheel to its lowest point; NaN where it lies flat and touches with all its rim."""
    across = up - axle * np.einsum("ti,ti->t", axle, up)[:, None]
    size = np.linalg.norm(across, axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(size > 1e-9, -radius * across / size - tyre * up, np.nan)
