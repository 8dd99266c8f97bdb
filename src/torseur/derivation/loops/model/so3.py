"""Rotation vectors and rotation matrices, many at once."""

from __future__ import annotations

import numpy as np

from torseur.algebra.arrays import Array


def skew(vector: Array) -> Array:
    """Cross-product matrices."""
    x, y, z = vector[..., 0], vector[..., 1], vector[..., 2]
    zero = np.zeros_like(x)
    rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def cross(a: Array, b: Array) -> Array:
    """Cross products along the last axis."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def cross_rows(a: Array, b: Array) -> Array:
    """Cross products of columns (..., 3, n) with vectors (..., 3)."""
    bx, by, bz = b[..., 0, None], b[..., 1, None], b[..., 2, None]
    ax, ay, az = a[..., 0, :], a[..., 1, :], a[..., 2, :]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-2)


def turn_about(axis: Array, angle: Array) -> Array:
    """Rotation matrices by angles about unit axes."""
    cross = skew(axis)
    sine, rest = np.sin(angle)[..., None, None], (1 - np.cos(angle))[..., None, None]
    matrix: Array = np.eye(3) + sine * cross + rest * (cross @ cross)
    return matrix


def exponential(vector: Array) -> Array:
    """Rotation matrices of rotation vectors."""
    angle = np.linalg.norm(vector, axis=-1)
    cross = skew(vector)
    sinc = np.sinc(angle / np.pi)[..., None, None]
    # (1 - cos θ) / θ² = ½ sinc²(θ/2): no cancellation at small angles.
    half = np.sinc(angle / (2 * np.pi))[..., None, None]
    matrix: Array = np.eye(3) + sinc * cross + (half * half / 2) * (cross @ cross)
    return matrix


def logarithm(matrix: Array) -> Array:
    """Rotation vectors of rotation matrices, of length at most pi; by the quaternion's largest component."""
    # From the largest of the four squares nothing cancels, whichever way and however far it turns (Shepperd 1978).
    trace = np.trace(matrix, axis1=-2, axis2=-1)
    diagonal = np.stack([matrix[..., k, k] for k in range(3)], axis=-1)
    squares = np.concatenate([(1 + trace)[..., None], 1 + 2 * diagonal - trace[..., None]], axis=-1)
    largest = np.argmax(squares, axis=-1)
    quaternion = np.take_along_axis(_products(matrix, squares), largest[..., None, None], axis=-2)[..., 0, :]
    quaternion = quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)
    quaternion = np.where(quaternion[..., :1] < 0, -quaternion, quaternion)
    sine = np.linalg.norm(quaternion[..., 1:], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(sine, quaternion[..., :1])
    factor = np.where(sine > 1e-30, angle / np.maximum(sine, 1e-300), 2.0)
    vector: Array = factor * quaternion[..., 1:]
    return vector


def _products(matrix: Array, squares: Array) -> Array:
    """4 q qᵀ of the unit quaternion (scalar first): every row is a multiple of it."""
    a = np.stack([matrix[..., i, j] - matrix[..., j, i] for i, j in ((2, 1), (0, 2), (1, 0))], axis=-1)
    xy, xz, yz = (matrix[..., i, j] + matrix[..., j, i] for i, j in ((0, 1), (0, 2), (1, 2)))
    rows = [
        [squares[..., 0], a[..., 0], a[..., 1], a[..., 2]],
        [a[..., 0], squares[..., 1], xy, xz],
        [a[..., 1], xy, squares[..., 2], yz],
        [a[..., 2], xz, yz, squares[..., 3]],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def logarithm_derivative(vector: Array) -> Array:
    """D with d log(R) = D w when R turns at w: 1 - θ̃/2 + (1 - (θ/2) cot(θ/2)) / θ² θ̃².

    The inverse of the left Jacobian of SO(3); near zero the factor is its series 1/12 + θ²/720.
    """
    square = np.sum(vector * vector, axis=-1)
    half = np.sqrt(square) / 2
    safe = np.where(half > 1e-3, half, 1.0)
    far = (1 - safe / np.tan(safe)) / np.where(half > 1e-3, square, 1.0)
    factor = np.where(half > 1e-3, far, 1 / 12 + square / 720)[..., None, None]
    cross = skew(vector)
    derivative: Array = np.eye(3) - cross / 2 + factor * (cross @ cross)
    return derivative
