"""Rotations and rotation vectors as arrays of numbers, many at a time: exponential, logarithm and their derivatives.

Vectors are (..., 3), matrices (..., 3, 3). The symbolic ones are in `rotation.py`.
"""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from torseur.algebra.arrays import Array

_ONE = np.eye(3)


def skew(vector: Array) -> Array:
    """ṽ with ṽ u = v x u."""
    x, y, z = vector[..., 0], vector[..., 1], vector[..., 2]
    zero = np.zeros_like(x)
    rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def axial(matrices: Array) -> Array:
    """The vector of the antisymmetric part of matrices (..., 3, 3)."""
    m = matrices
    parts = [m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]]
    return 0.5 * np.stack(parts, axis=-1)


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
    """Rotation matrices of rotation vectors: Rodrigues' formula."""
    angle = np.linalg.norm(vector, axis=-1)
    # 1 + sin θ/θ ṽ + (1 - cos θ)/θ² ṽ². NumPy's sinc is sin(πx)/(πx), and exact at 0.
    cross = skew(vector)
    sinc = np.sinc(angle / np.pi)[..., None, None]
    # (1 - cos θ) / θ² = ½ sinc²(θ/2): no cancellation at small angles.
    half = np.sinc(angle / (2 * np.pi))[..., None, None]
    matrix: Array = np.eye(3) + sinc * cross + (half * half / 2) * (cross @ cross)
    return matrix


def logarithm(matrix: Array) -> Array:
    """Rotation vectors of rotation matrices, of length at most π; NaN where a matrix is NaN."""
    sine = axial(matrix)
    length = np.linalg.norm(sine, axis=-1)
    cosine = 0.5 * (np.trace(matrix, axis1=-2, axis2=-1) - 1)
    # Below, sine and angle agree to every digit, and the quotient of both is 1. Divided by 1 there, not by 0: NumPy
    # computes both branches of `where`.
    safe = np.where(length > 1e-12, length, 1.0)
    vector = np.asarray(sine * np.where(length > 1e-12, np.arctan2(length, cosine) / safe, 1.0)[..., None])
    # Near half a turn the sine is too small to give the axis; elsewhere it is the faster way.
    # At π the antisymmetric part vanishes and carries the axis with a relative error of eps / (π - θ); at -0.9 (154°)
    # the two ways still agree to the last digits.
    far = cosine < -0.9
    return np.where(far[..., None], _logarithm_by_quaternion(matrix), vector) if np.any(far) else vector


def _logarithm_by_quaternion(matrix: Array) -> Array:
    """The same by the quaternion's largest component."""
    # From the largest of the four squares nothing cancels, whichever way and however far it turns (Shepperd 1978).
    trace = np.trace(matrix, axis1=-2, axis2=-1)
    diagonal = np.stack([matrix[..., k, k] for k in range(3)], axis=-1)
    squares = np.concatenate([(1 + trace)[..., None], 1 + 2 * diagonal - trace[..., None]], axis=-1)
    largest = np.argmax(squares, axis=-1)
    quaternion = np.take_along_axis(_products(matrix, squares), largest[..., None, None], axis=-2)[..., 0, :]
    quaternion = quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)
    # q and -q are one rotation: with a scalar part that is not negative the angle is at most π.
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
    # Below θ = 2e-3 the numerator 1 - x cot x has lost six digits or more; the series' next term, θ⁴/30240, is below
    # 1e-15.
    half = np.sqrt(square) / 2
    safe = np.where(half > 1e-3, half, 1.0)
    far = (1 - safe / np.tan(safe)) / np.where(half > 1e-3, square, 1.0)
    factor = np.where(half > 1e-3, far, 1 / 12 + square / 720)[..., None, None]
    cross = skew(vector)
    derivative: Array = np.eye(3) - cross / 2 + factor * (cross @ cross)
    return derivative


def right_jacobian(vectors: Array) -> Array:
    """Right Jacobian J of the exponential: the angular velocity in turned axes is J(φ) φ'."""
    angle = np.linalg.norm(vectors, axis=-1)[..., None, None]
    K = skew(vectors)
    small = angle < 1e-3
    safe = np.where(small, 1.0, angle)
    # J = 1 - (1 - cos φ)/φ² φ̃ + (φ - sin φ)/φ³ φ̃², by its series where the quotients lose their digits.
    a = np.where(small, 0.5 - angle**2 / 24, (1 - np.cos(safe)) / safe**2)
    b = np.where(small, 1 / 6 - angle**2 / 120, (safe - np.sin(safe)) / safe**3)
    return np.eye(3) - a * K + b * (K @ K)


def exponential_and_jacobian(vector: Array) -> tuple[Array, Array]:
    """Exponential and right Jacobian of a single vector, in a fraction of the time."""
    # Solvers call this for one joint at a time: plain floats spare the overhead of arrays of three numbers.
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
