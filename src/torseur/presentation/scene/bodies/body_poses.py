"""Where every body is along a trajectory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from torseur.algebra.spatial import Rotation, Transform
from torseur.computation.simulation import Trajectory
from torseur.derivation.dynamics import link_poses
from torseur.derivation.tree import GROUND
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.scene import Array, Motion


def motion_of(numbers: Numbers, trajectory: Trajectory) -> Motion | None:
    """Poses of the earth and of every body at every sample; None for a motion of fewer than two samples."""
    times = np.asarray(trajectory.time, dtype=float)
    if len(times) < 2 or not np.all(np.diff(times) > 0):
        return None
    return _motion(times, body_poses(numbers, trajectory))


def motion_through(numbers: Numbers, poses: Sequence[Mapping[str, float]], seconds: float) -> Motion | None:
    """A motion through configurations (coordinates by name) that all are of time 0; None for fewer than two."""
    if len(poses) < 2:
        return None
    q = [np.array([pose[name] for pose in poses]) for name in numbers.tree.layout.coordinate_names]
    return _motion(np.linspace(0.0, seconds, len(poses)), _poses(numbers, q, np.zeros(len(poses))))


def _motion(times: Array, moving: list[tuple[Array, Array]]) -> Motion:
    places = [_at_rest(len(times)), *moving]
    return Motion(
        times,
        np.stack([position for position, _ in places], axis=1),
        np.stack([quaternions(matrix) for _, matrix in places], axis=1),
    )


def body_poses(numbers: Numbers, trajectory: Trajectory) -> list[tuple[Array, Array]]:
    """Positions (T, 3) and rotation matrices (T, 3, 3) of the bodies, in their order."""
    q = [np.asarray(trajectory[name]) for name in numbers.tree.layout.coordinate_names]
    return _poses(numbers, q, np.asarray(trajectory.time))


def _poses(numbers: Numbers, q: list[Array], times: Array) -> list[tuple[Array, Array]]:
    tree = numbers.tree.with_parameters({str(symbol.name): value for symbol, value in numbers.by_symbol.items()})
    samples = len(times)
    links = link_poses(tree.at(q, None, times))
    poses = []
    for body in tree.mechanism.bodies:
        link, place, _ = tree.places[body.name]
        fixed: Transform = numbers.of(place)
        poses.append(arrays(fixed if link == GROUND else links[link].then(fixed), samples))
    return poses


def arrays(place: Transform, samples: int) -> tuple[Array, Array]:
    """A transform of scalars and arrays as full arrays."""
    position = np.stack([broadcast(c, samples) for c in place.position], axis=-1)
    return position, rotation_matrix(place.rotation, samples)


def rotation_matrix(rotation: Rotation, samples: int) -> Array:
    """A rotation as matrices (T, 3, 3)."""
    rows = [[broadcast(c, samples) for c in row] for row in rotation.matrix.rows]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def broadcast(value: Any, samples: int) -> Array:
    """A number or an array as an array of all samples."""
    return np.broadcast_to(np.asarray(value, dtype=float), (samples,))


def _at_rest(samples: int) -> tuple[Array, Array]:
    return np.zeros((samples, 3)), np.broadcast_to(np.eye(3), (samples, 3, 3))


def quaternions(matrices: Array) -> Array:
    """Unit quaternions (w, x, y, z) of rotation matrices (T, 3, 3), by the largest of the four components.

    Each row of the symmetric table below is the quaternion times four times one of its components.
    """
    r = matrices
    xx, yy, zz = r[:, 0, 0], r[:, 1, 1], r[:, 2, 2]
    wx, wy, wz = r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]
    xy, xz, yz = r[:, 1, 0] + r[:, 0, 1], r[:, 0, 2] + r[:, 2, 0], r[:, 2, 1] + r[:, 1, 2]
    table = np.array([
        [1 + xx + yy + zz, wx, wy, wz],
        [wx, 1 + xx - yy - zz, xy, xz],
        [wy, xy, 1 - xx + yy - zz, yz],
        [wz, xz, yz, 1 - xx - yy + zz],
    ])  # fmt: skip
    best = np.argmax(np.stack([table[k, k] for k in range(4)]), axis=0)
    chosen = table[best, :, np.arange(len(r))]
    result: Array = chosen / np.linalg.norm(chosen, axis=1, keepdims=True)
    return result


def quaternion_of(matrix: Array) -> tuple[float, float, float, float]:
    """The unit quaternion of one rotation matrix."""
    w, x, y, z = quaternions(np.asarray(matrix, dtype=float)[None])[0].tolist()
    return w, x, y, z


def point(values: Iterable[Any]) -> tuple[float, float, float]:
    """Three numbers as a point."""
    x, y, z = (float(value) for value in values)
    return x, y, z
