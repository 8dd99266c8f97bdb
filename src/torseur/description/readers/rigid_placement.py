"""Places and inertias in numbers: composing them, and telling a possible inertia from an impossible one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from torseur.algebra.spatial import NULL, Inertia, Rotation, Symmetric3, Transform, Vec3, about
from torseur.description.mechanism import HERE, Body, Placement, Turn, placement, turn

ROUNDING = 1e-6  # robots are written with about six digits: what they break by less is rounding
POINT = 1e-12  # m²: a body whose radius of gyration is below a micrometre is a point


def place_of(where: Placement) -> Transform:
    """The place a placement of numbers describes."""
    rotation = Rotation()
    for step in where.rotation:
        rotation = rotation.then(about(Vec3(*(float(c) for c in step.axis)), float(step.angle)))
    return Transform(rotation, Vec3(*(float(c) for c in where.position)))


def placement_of(place: Transform) -> Placement:
    """The placement that describes a place: an offset and at most one turn."""
    rows = [list(row) for row in place.rotation.matrix.rows]
    return placement(list(place.position), *turn_of_quaternion(quaternion_of(rows)))


def turn_of_quaternion(quaternion: Sequence[float]) -> tuple[Turn, ...]:
    """The turn of a quaternion (scalar first, any length); none when it does not turn."""
    w, x, y, z = quaternion
    sine = math.hypot(x, y, z)
    if sine == 0.0:
        return ()
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    return (turn(2 * math.atan2(sine, w), (x / sine, y / sine, z / sine)),)


def quaternion_of(rows: Sequence[Sequence[float]]) -> tuple[float, float, float, float]:
    """The unit quaternion (scalar first) of a rotation matrix, from its largest component for accuracy."""
    m = [[float(entry) for entry in row] for row in rows]
    trace = m[0][0] + m[1][1] + m[2][2]
    if trace > 0.0:
        s = 2 * math.sqrt(1 + trace)
        return s / 4, (m[2][1] - m[1][2]) / s, (m[0][2] - m[2][0]) / s, (m[1][0] - m[0][1]) / s
    i = max(range(3), key=lambda k: m[k][k])
    j, k = (i + 1) % 3, (i + 2) % 3
    s = 2 * math.sqrt(max(0.0, 1 + m[i][i] - m[j][j] - m[k][k]))
    vector = [0.0, 0.0, 0.0]
    vector[i], vector[j], vector[k] = s / 4, (m[j][i] + m[i][j]) / s, (m[k][i] + m[i][k]) / s
    return (m[k][j] - m[j][k]) / s, vector[0], vector[1], vector[2]


def body_inertia(solid: Body) -> Inertia:
    """The inertia of a body given by numbers, at its reference frame."""
    assert solid.mass is not None and solid.inertia is not None
    matrix = Symmetric3(*(float(c) for c in solid.inertia.components))
    return place_of(solid.iframe or HERE).inertia_to_parent(Inertia(float(solid.mass), NULL, matrix))


def array_of(matrix: Symmetric3) -> NDArray[np.float64]:
    """A symmetric matrix of numbers as an array."""
    return np.array([[float(entry) for entry in row] for row in matrix.rows])


def principal(mass: float, matrix: Symmetric3) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The eigenvalues of an inertia, and the quaternion (scalar first) of its principal axes.

    What is impossible about the eigenvalues by rounding only is corrected; a point has none.
    """
    moments, axes = np.linalg.eigh(array_of(matrix))
    if np.linalg.det(axes) < 0.0:
        axes[:, 2] = -axes[:, 2]
    low, middle, high = (float(m) for m in moments)
    size = max(abs(low), abs(high))
    if size <= POINT * mass:
        low = middle = high = 0.0
    if -ROUNDING * size <= low < 0.0:
        low = 0.0
    if (1 - ROUNDING) * high <= low + middle < high:
        middle = high - low
    return (low, middle, high), quaternion_of(axes.tolist())


def impossibility(mass: float, central: Symmetric3) -> str | None:
    """Why no distribution of mass has this mass and inertia about its centre, with the eigenvalue; None if one has.

    The principal moments are sums of second moments of mass ∫x² dm, ∫y² dm, ∫z² dm along the principal axes, which
    cannot be negative: none of them is negative, and none exceeds the sum of the other two.
    """
    if mass < 0.0:
        return f"its mass is negative: {mass:g} kg."
    low, middle, high = (float(value) for value in np.linalg.eigvalsh(array_of(central)))
    size = max(abs(low), abs(high))
    if size <= POINT * mass:
        return None
    if mass == 0.0:
        return f"it has no mass but an inertia with eigenvalue {max(low, high, key=abs):g} kg m^2."
    if low < -ROUNDING * size:
        return f"its inertia has the negative eigenvalue {low:.6g} kg m^2 (all: {low:.6g}, {middle:.6g}, {high:.6g})."
    if low + middle < (1 - ROUNDING) * high:
        second = (low + middle - high) / 2
        return (
            f"the eigenvalue {high:.6g} kg m^2 of its inertia exceeds the sum of the others, {low:.6g} and "
            f"{middle:.6g}: the second moment of mass along that axis would be {second:.6g} kg m^2."
        )
    return None
