"""Projection on the closed configurations: Levenberg-Marquardt on many states at once.

The step d = -Jᵀ (J Jᵀ + λ)⁻¹ r is short where J loses rank, so it converges (linearly) to singular configurations too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.derivation.loops.model.loop_system import LoopSystem, State

CLOSED = 1e-9
_LARGEST_STEP = 1.0
# Entries of J up to which singular values, then dense normal equations are taken; beyond, sparse ones.
_SMALL = 600
_LARGE = 2_000
_FLOOR = 1e-14


@dataclass(frozen=True)
class Projection:
    """States after projection, the norm of what is left of their closures, and the number of steps taken."""

    state: State
    gap: Array
    steps: Array

    @property
    def is_closed(self) -> Mask:
        return self.gap < CLOSED


def project(system: LoopSystem, state: State, *, free: Array | None = None, steps: int = 100,
            tolerance: float = 1e-13, damping: float = 1e-3) -> Projection:  # fmt: skip
    """The closed states near the given ones; freedoms where `free` is 0 stay as they are."""
    # Every lane has its own damping and stops by itself; only lanes still at work are evaluated.
    mask = np.ones(system.n) if free is None else free
    damp = np.full(len(state), damping)
    residual, jacobian = system.linearise(state)
    cost, taken = np.sum(residual**2, axis=1), np.zeros(len(state))
    stuck = np.zeros(len(state), int)
    for _ in range(steps):
        active = (np.sqrt(cost) > tolerance) & (stuck < 12)
        if not active.any():
            break
        lanes = np.flatnonzero(active)
        step = _step(jacobian[lanes] * mask, residual[lanes], damp[lanes])
        tried = system.move(state.lanes(lanes), step)
        new_residual, new_jacobian = system.linearise(tried)
        new_cost = np.sum(new_residual**2, axis=1)
        better = new_cost < cost[lanes]
        won, lost = lanes[better], lanes[~better]
        damp[won] = _less_damping(damp[won], new_cost[better], cost[won])
        damp[lost] = np.maximum(damp[lost], 1e-14) * 10
        stuck[won], stuck[lost] = 0, stuck[lost] + 1
        state = _replace_lanes(state, won, tried.lanes(better))
        residual[won], jacobian[won], cost[won] = new_residual[better], new_jacobian[better], new_cost[better]
        taken[won] += 1
    return Projection(state, np.sqrt(cost), taken)


def _less_damping(damp: Array, new: Array, old: Array) -> Array:
    """Less damping after a good step; near closure no more than the squared residual."""
    # λ of the order of |r|² keeps Levenberg-Marquardt quadratic where J has full rank and convergent where it has not
    # (Yamashita and Fukushima 2001).
    less = np.maximum(damp * np.where(new < 0.25 * old, 0.1, 0.5), 1e-16)
    return np.where(new > 1e-4, less, np.minimum(damp * 0.1, np.maximum(new, 1e-28)))


def _step(jacobian: Array, residual: Array, damp: Array) -> Array:
    """d = -Jᵀ (J Jᵀ + λ)⁻¹ r, no component larger than one radian (or one unit of length)."""
    size = jacobian.shape[1] * jacobian.shape[2]
    solve = _by_singular_values if size <= _SMALL else _by_normal_equations if size <= _LARGE else _by_sparse_equations
    step = solve(jacobian, residual, damp)
    largest = np.max(np.abs(step), axis=1, initial=0.0)
    limited: Array = step * np.minimum(1.0, _LARGEST_STEP / np.maximum(largest, 1e-300))[:, None]
    return limited


def _by_singular_values(jacobian: Array, residual: Array, damp: Array) -> Array:
    """Exact near singular configurations; for small systems."""
    left, values, right = np.linalg.svd(jacobian, full_matrices=False)
    seen = (np.swapaxes(left, 1, 2) @ residual[..., None])[..., 0]
    gain = values / (values**2 + damp[:, None])
    step: Array = -(np.swapaxes(right, 1, 2) @ (gain * seen)[..., None])[..., 0]
    return step


def _by_normal_equations(jacobian: Array, residual: Array, damp: Array) -> Array:
    # (JᵀJ + λ)⁻¹ Jᵀ = Jᵀ (J Jᵀ + λ)⁻¹: the smaller of the two squares is factored.
    across = np.swapaxes(jacobian, 1, 2)
    wide = jacobian.shape[1] <= jacobian.shape[2]
    square = jacobian @ across if wide else across @ jacobian
    floor = _FLOOR * np.max(np.diagonal(square, axis1=1, axis2=2), axis=1)
    square = square + np.maximum(damp, floor)[:, None, None] * np.eye(square.shape[1])
    if wide:
        step: Array = -(across @ np.linalg.solve(square, residual[..., None]))[..., 0]
    else:
        step = -np.linalg.solve(square, across @ residual[..., None])[..., 0]
    return step


def _by_sparse_equations(jacobian: Array, residual: Array, damp: Array) -> Array:
    """One lane after the other with sparse factors: loops of a large net touch few of its joints."""
    from scipy.sparse import csr_matrix, eye
    from scipy.sparse.linalg import splu

    steps = []
    for j, r, d in zip(jacobian, residual, damp, strict=True):
        sparse = csr_matrix(j)
        square = sparse @ sparse.T
        shift = max(d, _FLOOR * square.diagonal().max())
        factor = splu((square + shift * eye(len(r))).tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
                      options={"SymmetricMode": True})  # fmt: skip
        steps.append(-(sparse.T @ factor.solve(r)))
    return np.stack(steps)


def _replace_lanes(state: State, lanes: Any, new: State) -> State:
    x, balls = state.x.copy(), state.balls.copy()
    x[lanes], balls[lanes] = new.x, new.balls
    return State(x, balls)


def random_states(system: LoopSystem, count: int, rng: np.random.Generator, spread: float = np.pi) -> State:
    """Coordinates drawn uniformly (angles in ±spread, lengths in ± one unit), rotations of any kind for balls."""
    angles = np.array([f.unit != "m" for f in system.frame.freedoms])
    step = rng.uniform(-1, 1, (count, system.n)) * np.where(angles, spread, min(1.0, spread))
    return system.move(system.start(count), step)
