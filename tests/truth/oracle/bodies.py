"""Mass, mass centre and inertia of every body, as numbers.

Inertia matrices are moved between points by Huygens' theorem, J_O = J_G + m (|r|² 1 - r rᵀ), and turned by R J Rᵀ.
The homogeneous solids are those of any table of moments of inertia.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truth.oracle.places import placed

# Per shape: volume (length, surface), distance of the centre along z, moments per unit mass about the centre.
_SHAPES = {
    "box": lambda x, y, z: (x * y * z, 0, ((y**2 + z**2) / 12, (x**2 + z**2) / 12, (x**2 + y**2) / 12)),
    "cylinder": lambda r, h: (np.pi * r**2 * h, 0, (r**2 / 4 + h**2 / 12, r**2 / 4 + h**2 / 12, r**2 / 2)),
    "sphere": lambda r: (4 / 3 * np.pi * r**3, 0, (2 / 5 * r**2,) * 3),
    "shell": lambda r: (4 * np.pi * r**2, 0, (2 / 3 * r**2,) * 3),
    "cone": lambda r, h: (np.pi * r**2 * h / 3, h / 4, (3 / 20 * r**2 + 3 / 80 * h**2,) * 2 + (3 / 10 * r**2,)),
    "rod": lambda h: (h, h / 2, (h**2 / 12, h**2 / 12, 0 * h)),
}
_ORDER = {
    "box": "xyz",
    "cylinder": ("radius", "length"),
    "cone": ("radius", "length"),
    "sphere": ("radius",),
    "shell": ("radius",),
    "rod": ("length",),
}


@dataclass(frozen=True)
class Inertia:
    """Mass, mass centre from the body's origin, inertia matrix about the centre; all in the body's axes."""

    mass: float
    centre: np.ndarray
    matrix: np.ndarray


def inertia_of(body, value):
    """What a body of the description weighs; `value` evaluates its formulas."""
    parts = [_of_solid(solid, value) for solid in body.solids]
    if body.mass is not None or not body.solids:
        parts.append(_of_matrix(body, value))
    mass = sum(part.mass for part in parts)
    if len(parts) == 1:
        return parts[0]
    centre = sum(part.mass * part.centre for part in parts) / mass
    return Inertia(mass, centre, sum(part.matrix + part.mass * _huygens(part.centre - centre) for part in parts))


def _huygens(r):
    return np.dot(r, r) * np.eye(3) - np.outer(r, r)


def _place(placement, value):
    """Offset and rotation matrix of a placement without motion."""
    place = placed(placement, value)
    return place.position.value[0], place.rotation.value[0]


def _of_solid(solid, value):
    sizes = dict(solid.dimensions)
    volume, height, gyration = _SHAPES[solid.shape](*(value(sizes[name]) for name in _ORDER[solid.shape]))
    mass = value(solid.mass) if solid.mass is not None else value(solid.density) * volume
    offset, turn = _place(solid.placement, value)
    return Inertia(mass, offset + turn @ np.array([0, 0, height]), turn @ (mass * np.diag(gyration)) @ turn.T)


def _of_matrix(body, value):
    def own(name):
        return value(f"{body.name}.{name}")

    mass = own("mass") if body.mass is None else value(body.mass)
    if body.iframe is None:
        centre, axes = np.array([own(f"centre.{x}") for x in "xyz"]), np.eye(3)
    else:
        centre, axes = _place(body.iframe, value)
    if body.inertia is None:
        components, about = [own(f"I{c}") for c in ("xx", "yy", "zz", "xy", "xz", "yz")], "iframe"
    else:
        components, about = [value(c) for c in body.inertia.components], body.inertia.about
    xx, yy, zz, xy, xz, yz = components
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if about == "iframe":
        return Inertia(mass, centre, axes @ matrix @ axes.T)
    point, turn = (np.zeros(3), np.eye(3)) if about == "frame" else _place(about, value)
    return Inertia(mass, centre, turn @ matrix @ turn.T - mass * _huygens(point - centre))
