"""Rotations of a segment from the markers on it (Monnet 2007, chapter 7)."""

from __future__ import annotations

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.errors import RecordingError

METHODS = ("algebraic", "eigenvector", "conjugate_gradient")
FLAT = 1e-3  # width over length of a cloud of markers below which it counts as a line
_STEPS, _GRADIENT = 100, 1e-14


def frame_of_three(points: Array) -> Array:
    """The rotation to the axes of three markers M1, M2, M3 (frames, 3, 3): x along M1 M2, z normal to their plane.

    The source leaves z as the product of two unit vectors, which is of unit length at right angles only; here it is
    normalised.
    """
    x = _unit(points[:, 1] - points[:, 0])
    z = _unit(np.cross(x, points[:, 2] - points[:, 0]))
    return np.stack([x, np.cross(z, x), z], axis=2)


def rotations(points: Array, reference: Array, method: str = "eigenvector", weights: Array | None = None) -> Array:
    """The rotation in every frame that takes places in the segment (markers, 3) nearest to points (frames, markers, 3).

    algebraic           from the first three markers, without any minimisation
    eigenvector         maximises tr(Rᵀ F), F = Σ w b cᵀ about the means: the greatest eigenvector of a 4x4 matrix
    conjugate_gradient  the same maximum by conjugate gradient on the Rayleigh quotient, as in the source

    Markers that are NaN in a frame are left out there. Frames in which fewer than three are seen, or those seen lie on
    a line, get NaN.
    """
    if method not in METHODS:
        raise RecordingError(f"rotations are found by {', '.join(METHODS)}, not '{method}'.")
    if reference.shape[0] < 3 or points.shape[1:] != reference.shape:
        raise RecordingError(
            f"a rotation needs at least three markers, each with its place in the segment: got points of "
            f"{points.shape[1]} markers and {reference.shape[0]} places."
        )
    if method == "algebraic":
        return frame_of_three(points[:, :3]) @ frame_of_three(reference[None, :3])[0].T
    weight, seen = _weights(points, weights), determined_frames(points, reference)
    F = cross_moments(points, reference, weight)
    result = np.full((len(points), 3, 3), np.nan)
    solve = best_rotations if method == "eigenvector" else rotations_by_conjugate_gradient
    result[seen] = solve(F[seen])
    return result


def determined_frames(points: Array, reference: Array) -> Mask:
    """Frames in which the markers seen fix a rotation: at least three, not on a line."""
    seen = np.isfinite(points).all(axis=2)
    patterns, which = np.unique(seen, axis=0, return_inverse=True)
    fixed = [pattern.sum() >= 3 and flatness(reference[pattern]) > FLAT for pattern in patterns]
    return np.array(fixed, dtype=bool)[which.reshape(-1)]


def flatness(places: Array) -> float:
    """Width over length of a cloud of points: 0 on a line."""
    sizes = np.linalg.svd(places - places.mean(axis=0), compute_uv=False)
    return float(sizes[1] / sizes[0]) if sizes[0] > 0 else 0.0


def cross_moments(points: Array, reference: Array, weights: Array) -> Array:
    """F = Σ w (b - b̄)(c - c̄)ᵀ in every frame, b recorded and c in the segment."""
    b, c = centre_points(points, weights)[0], centre_points(np.broadcast_to(reference, points.shape), weights)[0]
    return np.einsum("tk,tki,tkj->tij", weights, b, c)


def centre_points(points: Array, weights: Array) -> tuple[Array, Array]:
    """Points less their weighted mean, and the mean; points without weight become zero."""
    known = np.where(weights[:, :, None] > 0, points, 0.0)
    total = np.maximum(weights.sum(axis=1), 1e-300)[:, None]
    mean = np.einsum("tk,tki->ti", weights, known) / total
    return np.where(weights[:, :, None] > 0, known - mean[:, None], 0.0), mean


def _weights(points: Array, weights: Array | None) -> Array:
    """Weight of every marker in every frame, zero where it was not seen."""
    seen = np.isfinite(points).all(axis=2)
    given = np.ones(points.shape[1]) if weights is None else np.asarray(weights, dtype=float)
    if given.shape != (points.shape[1],) or np.any(given < 0) or not np.isfinite(given).all():
        raise RecordingError(f"weights of markers are {points.shape[1]} numbers from zero up.")
    return np.where(seen, given, 0.0)


def best_rotations(F: Array) -> Array:
    """The rotation R that maximises tr(Rᵀ F), for every F of (count, 3, 3)."""
    # The greatest eigenvector is the quaternion that maximises Xᵀ Q X = tr(Rᵀ F) (Horn 1987).
    w, x, y, z = np.linalg.eigh(rotation_form(F))[1][:, :, -1].T
    return rotation_of_quaternion(w, x, y, z)


def rotation_form(F: Array) -> Array:
    """The symmetric 4x4 matrix Q with tr(Rᵀ F) = Xᵀ Q X for the unit quaternion X of R, scalar first."""
    Q = np.empty((len(F), 4, 4))
    trace = np.trace(F, axis1=1, axis2=2)
    skew = np.stack([F[:, 2, 1] - F[:, 1, 2], F[:, 0, 2] - F[:, 2, 0], F[:, 1, 0] - F[:, 0, 1]], axis=1)
    Q[:, 0, 0], Q[:, 0, 1:], Q[:, 1:, 0] = trace, skew, skew
    Q[:, 1:, 1:] = F + np.swapaxes(F, 1, 2) - trace[:, None, None] * np.eye(3)
    return Q


def rotation_of_quaternion(w: Array, x: Array, y: Array, z: Array) -> Array:
    """Rotation matrices (count, 3, 3) of unit quaternions."""
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def rotations_by_conjugate_gradient(F: Array) -> Array:
    """The maximum of tr(Rᵀ F) by Polak-Ribière's conjugate gradient on the Rayleigh quotient of the 4x4 matrix.

    The line search is exact: in the plane of X and the direction the quotient is the larger eigenvector of a 2x2
    matrix. The start is turned away from the lesser eigenvectors, at which the gradient vanishes too.
    """
    Q = rotation_form(F)
    size = np.linalg.norm(Q, axis=(1, 2))[:, None]
    X = _unit(np.einsum("tij,j->ti", Q, [0.9, 0.31, -0.23, 0.17]) + size * np.array([0.9, 0.31, -0.23, 0.17]))
    gradient, direction = _gradient(Q, X), _gradient(Q, X)
    for step in range(_STEPS):
        X = _maximise(Q, X, direction)
        before, gradient = gradient, _gradient(Q, X)
        if np.all(np.linalg.norm(gradient, axis=1, keepdims=True) <= _GRADIENT * size):
            break
        square = np.maximum(np.sum(before * before, axis=1, keepdims=True), 1e-300)
        beta = np.maximum(np.sum(gradient * (gradient - before), axis=1, keepdims=True) / square, 0.0)
        # The sphere of quaternions has three directions; after as many steps the search starts afresh.
        direction = gradient + (beta * direction if step % 3 < 2 else 0.0)
    return rotation_of_quaternion(*X.T)


def _gradient(Q: Array, X: Array) -> Array:
    """Half the gradient of ⟨QX, X⟩ / ⟨X, X⟩ at unit X."""
    pulled = np.einsum("tij,tj->ti", Q, X)
    return pulled - np.sum(pulled * X, axis=1, keepdims=True) * X


def _maximise(Q: Array, X: Array, direction: Array) -> Array:
    """The greatest Rayleigh quotient in the plane of X and a direction."""
    across = direction - np.sum(direction * X, axis=1, keepdims=True) * X
    length = np.linalg.norm(across, axis=1, keepdims=True)
    across = np.where(length > 0, across / np.where(length > 0, length, 1.0), 0.0)
    QX, QD = np.einsum("tij,tj->ti", Q, X), np.einsum("tij,tj->ti", Q, across)
    a, b, c = np.sum(QX * X, axis=1), np.sum(QX * across, axis=1), np.sum(QD * across, axis=1)
    angle = 0.5 * np.arctan2(2 * b, a - c)[:, None]
    return _unit(np.cos(angle) * X + np.sin(angle) * across)


def _unit(vectors: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
