"""Second order: which first-order motions the curvature of the closures forbids.

With J N = 0 and Wᵀ J = 0, a motion starting along N a needs Q(a, a) = Wᵀ f''(N a, N a) = 0. No real zero but a = 0
means that the configuration is isolated; otherwise the zeros are the only directions in which it may move.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torseur.loops.spot import Spot

Floats = np.ndarray[Any, np.dtype[np.float64]]

_STEP = 1e-4
_FLAT = 1e-6
_ZERO = 1e-7


def quadrics(here: Spot) -> Floats:
    """Q, (redundancies, k, k), symmetric in the last two, from central differences of the Jacobian along N."""
    motions, directions = here.rank.motions, np.eye(here.count)
    ahead, behind = (here.system.linearised(here.moved(directions, step))[1] for step in (_STEP, -_STEP))
    slopes = (ahead - behind) / (2 * _STEP)
    q = np.einsum("rd,irn,nj->dij", here.rank.redundancies, slopes, motions, optimize=True)
    symmetric: Floats = (q + np.swapaxes(q, 1, 2)) / 2
    return symmetric


def is_flat(q: Floats) -> bool:
    """Whether nothing is forbidden at second order."""
    return q.size == 0 or float(np.max(np.abs(q))) < _FLAT


def compressed(q: Floats) -> Floats:
    """Independent combinations of the quadrics, of unit size: most of them are the same few."""
    flat = q.reshape(len(q), -1)
    _, values, right = np.linalg.svd(flat, full_matrices=False)
    kept = values > _FLAT * max(float(values[0]), 1.0)
    return right[kept].reshape(-1, *q.shape[1:])


def zero_directions(q: Floats, rng: np.random.Generator, starts: int = 60, steps: int = 60) -> Floats:
    """Unit vectors a with Q(a, a) = 0, found from random starts; (found, k)."""
    k = q.shape[1]
    small = compressed(q)
    a = rng.normal(size=(starts, k))
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    for _ in range(steps):
        value = np.einsum("dij,bi,bj->bd", small, a, a)
        slope = 2 * np.einsum("dij,bj->bdi", small, a)
        residual = np.concatenate([value, (np.sum(a * a, axis=1, keepdims=True) - 1) / 2], axis=1)
        jacobian = np.concatenate([slope, a[:, None]], axis=1)
        a = a - _damped(jacobian, residual)
    value = np.einsum("dij,bi,bj->bd", small, a, a)
    # A double zero is approached linearly: its residual is the square of what is left.
    good = (np.max(np.abs(value), axis=1, initial=0.0) < _ZERO) & (np.abs(np.sum(a * a, axis=1) - 1) < 1e-6)
    found: Floats = a[good] / np.linalg.norm(a[good], axis=1, keepdims=True)
    return found


def _damped(jacobian: Floats, residual: Floats) -> Floats:
    left, values, right = np.linalg.svd(jacobian, full_matrices=False)
    damp = np.sum(residual**2, axis=1, keepdims=True) + 1e-18
    seen = (np.swapaxes(left, 1, 2) @ residual[..., None])[..., 0]
    step: Floats = (np.swapaxes(right, 1, 2) @ (values / (values**2 + damp) * seen)[..., None])[..., 0]
    return step
