"""Second order: which first-order motions the curvature of the closures forbids.

With J N = 0 and Wᵀ J = 0, a motion starting along N a needs Q(a, a) = Wᵀ f''(N a, N a) = 0. No real zero but a = 0
means that the configuration is isolated; otherwise the zeros are the only directions in which it may move.
"""

from __future__ import annotations

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.configuration import ClosedConfiguration

# Central differences of J: 1e-8 of truncation, 1e-12 of rounding, both far below what counts as curvature.
_STEP = 1e-4
_FLAT = 1e-6
_ZERO = 1e-7


def quadrics(here: ClosedConfiguration) -> Array:
    """Q, (redundancies, k, k), symmetric in the last two, from central differences of the Jacobian along N."""
    motions, directions = here.rank.motions, np.eye(here.count)
    ahead, behind = (here.system.linearise(here.move(directions, step))[1] for step in (_STEP, -_STEP))
    derivatives = (ahead - behind) / (2 * _STEP)  # of J along each motion: (k, rows, n)
    q = np.einsum("rd,irn,nj->dij", here.rank.redundancies, derivatives, motions, optimize=True)
    symmetric: Array = (q + np.swapaxes(q, 1, 2)) / 2
    return symmetric


def is_flat(q: Array) -> bool:
    """Whether nothing is forbidden at second order."""
    return q.size == 0 or float(np.max(np.abs(q))) < _FLAT


def independent_quadrics(q: Array) -> Array:
    """Independent combinations of the quadrics, of unit size: most of them are the same few."""
    flat = q.reshape(len(q), -1)
    _, values, right = np.linalg.svd(flat, full_matrices=False)
    kept = values > _FLAT * max(float(values[0]), 1.0)
    return right[kept].reshape(-1, *q.shape[1:])


def zero_directions(q: Array, rng: np.random.Generator, starts: int = 60, steps: int = 60) -> Array:
    """Unit vectors a with Q(a, a) = 0, from random starts; (zeros, k)."""
    # Newton on Q(a, a) = 0 and |a| = 1 together, from all starts at once; what does not converge is dropped.
    k = q.shape[1]
    small = independent_quadrics(q)
    a = rng.normal(size=(starts, k))
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    for _ in range(steps):
        value = np.einsum("dij,bi,bj->bd", small, a, a)
        gradient = 2 * np.einsum("dij,bj->bdi", small, a)
        #     residual   Q_d(a, a)        jacobian   2 Q_d a
        #                (|a|² - 1)/2                a
        residual = np.concatenate([value, (np.sum(a * a, axis=1, keepdims=True) - 1) / 2], axis=1)
        jacobian = np.concatenate([gradient, a[:, None]], axis=1)
        a = a - _damped_step(jacobian, residual)
    value = np.einsum("dij,bi,bj->bd", small, a, a)
    # A double zero is approached linearly: its residual is the square of what is left.
    good = (np.max(np.abs(value), axis=1, initial=0.0) < _ZERO) & (np.abs(np.sum(a * a, axis=1) - 1) < 1e-6)
    zeros: Array = a[good] / np.linalg.norm(a[good], axis=1, keepdims=True)
    return zeros


def _damped_step(jacobian: Array, residual: Array) -> Array:
    left, values, right = np.linalg.svd(jacobian, full_matrices=False)
    # λ = |r|²: quadratic where the zero is simple, and still converging where quadrics touch.
    damp = np.sum(residual**2, axis=1, keepdims=True) + 1e-18
    seen = (np.swapaxes(left, 1, 2) @ residual[..., None])[..., 0]
    step: Array = (np.swapaxes(right, 1, 2) @ (values / (values**2 + damp) * seen)[..., None])[..., 0]
    return step
