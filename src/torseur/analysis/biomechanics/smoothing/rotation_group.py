"""Rotations and rotation vectors, many at a time: exponential, logarithm, antisymmetric matrices."""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from torseur.algebra.arrays import Array

_ONE = np.eye(3)


def antisymmetric(vectors: Array) -> Array:
    """ṽ with ṽ u = v x u, for vectors (..., 3)."""
    x, y, z = np.moveaxis(np.asarray(vectors, dtype=float), -1, 0)
    zero = np.zeros_like(x)
    rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def axial(matrices: Array) -> Array:
    """The vector of the antisymmetric part of matrices (..., 3, 3)."""
    m = matrices
    parts = [m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]]
    return 0.5 * np.stack(parts, axis=-1)


def exponential(vectors: Array) -> Array:
    """Rotations by the vectors (..., 3): Rodrigues' formula."""
    angle = np.linalg.norm(vectors, axis=-1)[..., None, None]
    K = antisymmetric(vectors)
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    a = np.where(small, 1 - angle**2 / 6, np.sin(safe) / safe)
    b = np.where(small, 0.5 - angle**2 / 24, (1 - np.cos(safe)) / safe**2)
    return np.eye(3) + a * K + b * (K @ K)


def logarithm(rotations: Array) -> Array:
    """Rotation vectors (..., 3) of rotations, of length at most π; NaN where a rotation is NaN."""
    sine = axial(rotations)
    length = np.linalg.norm(sine, axis=-1)
    cosine = 0.5 * (np.trace(rotations, axis1=-2, axis2=-1) - 1)
    safe = np.where(length > 1e-12, length, 1.0)
    vectors = np.asarray(sine * np.where(length > 1e-12, np.arctan2(length, cosine) / safe, 1.0)[..., None])
    # Near half a turn the sine is too small to give the axis; elsewhere it is the faster way.
    if np.any(cosine < -0.9):
        return np.where((cosine < -0.9)[..., None], _large_logarithm(rotations), vectors)
    return vectors


def _large_logarithm(rotations: Array) -> Array:
    """The same near half a turn, where the sine vanishes: through the quaternion."""
    from scipy.spatial.transform import Rotation

    flat = rotations.reshape(-1, 3, 3)
    vectors = np.full((len(flat), 3), np.nan)
    known = np.isfinite(flat).all(axis=(1, 2))
    vectors[known] = Rotation.from_matrix(flat[known]).as_rotvec()
    return vectors.reshape(rotations.shape[:-1])


def right_jacobian(vectors: Array) -> Array:
    """Right Jacobian J of the exponential: the angular velocity in turned axes is J(φ) φ'."""
    angle = np.linalg.norm(vectors, axis=-1)[..., None, None]
    K = antisymmetric(vectors)
    small = angle < 1e-3
    safe = np.where(small, 1.0, angle)
    # J = 1 - (1 - cos φ)/φ² φ̃ + (φ - sin φ)/φ³ φ̃², by its series where the quotients lose their digits.
    a = np.where(small, 0.5 - angle**2 / 24, (1 - np.cos(safe)) / safe**2)
    b = np.where(small, 1 / 6 - angle**2 / 120, (safe - np.sin(safe)) / safe**3)
    return np.eye(3) - a * K + b * (K @ K)


def exponential_and_jacobian(vector: Array) -> tuple[Array, Array]:
    """Exponential and right Jacobian of a single vector, in a fraction of the time."""
    x, y, z = vector.tolist()
    square = x * x + y * y + z * z
    angle = sqrt(square)
    if angle < 1e-3:
        a, b, c = 1 - square / 6, 0.5 - square / 24, 1 / 6 - square / 120
    else:
        a, b, c = sin(angle) / angle, (1 - cos(angle)) / square, (angle - sin(angle)) / (angle * square)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    K2 = K @ K
    return _ONE + a * K + b * K2, _ONE - b * K + c * K2
