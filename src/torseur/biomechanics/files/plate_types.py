"""Channels of force plates to a force and a moment at the centre of the plate's surface, in the plate's own axes.

The types of the C3D format. Everything in N, N m and m; the plate's z axis points into it. `origin` is the vector from
the plate's sensors to the centre of its surface.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torseur.identification.arrays import Array

CHANNELS = {1: 6, 2: 6, 3: 8, 4: 6}
UNITS = {
    1: ("N", "N", "N", "m", "m", "N*m"),
    2: ("N", "N", "N", "N*m", "N*m", "N*m"),
    3: ("N",) * 8,
    4: ("V",) * 6,
}


def wrench_of(kind: int, channels: Array, origin: Array) -> tuple[Array, Array]:
    """Force and moment at the surface's centre (samples, 3) of a plate of type 1 to 4; type 4 after its calibration."""
    return _TYPES[kind](channels, origin)


def _centre_of_pressure(channels: Array, origin: Array) -> tuple[Array, Array]:
    """Type 1: force, centre of pressure on the surface, free moment."""
    force = channels[:, :3]
    zero = np.zeros(len(channels))
    place = np.column_stack([channels[:, 3], channels[:, 4], zero])
    free = np.column_stack([zero, zero, channels[:, 5]])
    return force, np.cross(place, force) + free


def _six_components(channels: Array, origin: Array) -> tuple[Array, Array]:
    """Types 2 and 4: force and moment at the sensors' origin."""
    force, moment = channels[:, :3], channels[:, 3:6]
    return force, moment - np.cross(origin, force)


def _four_columns(channels: Array, origin: Array) -> tuple[Array, Array]:
    """Type 3: eight forces of four columns at (±a, ±b), at the depth of the origin below the surface."""
    x12, x34, y14, y23, z1, z2, z3, z4 = channels.T
    a, b, depth = origin
    force = np.column_stack([x12 + x34, y14 + y23, z1 + z2 + z3 + z4])
    moment = np.column_stack([
        b * (z1 + z2 - z3 - z4), a * (-z1 + z2 + z3 - z4), b * (-x12 + x34) + a * (y14 - y23),
    ])  # fmt: skip
    return force, moment - np.cross([0.0, 0.0, depth], force)


_TYPES: dict[int, Callable[[Array, Array], tuple[Array, Array]]] = {
    1: _centre_of_pressure,
    2: _six_components,
    3: _four_columns,
    4: _six_components,
}
