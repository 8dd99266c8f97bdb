"""Roots of many equations by Levenberg and Marquardt's steps, for many states (lanes) at once.

The step d = -Jᵀ (J Jᵀ + λ)⁻¹ r is short where J loses rank, so it converges (linearly) to singular configurations too.
Every assembly of loops is this one: the loop analysis moves joints on their groups, a simulation's start moves the
coordinates of the layout, and sweeps translate the rule (`first_damping`, `next_damping`, the constants) into compiled
code: docs/decisions/0061-one-assembly-of-loops.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from torseur.algebra.arrays import Array

TOLERANCE = 1e-13  # norm of the residual that counts as nothing
LARGEST_STEP = 1.0  # of a component: one radian, or one unit of length
MOST_REFUSALS = 12  # steps in a row that make nothing better, after which the state stays where it is
# Entries of J up to which singular values, then dense normal equations are taken; beyond, sparse ones.
_SMALL = 600
_LARGE = 2_000
# Of the largest diagonal entry, added to normal equations: their rounding is 1e-16 of it, and redundant loops make them
# singular.
_FLOOR = 1e-14


class Lanes(Protocol):
    """States side by side, which are chosen and put back by their numbers."""

    def __len__(self) -> int: ...

    def lanes(self, chosen: Any) -> Self: ...

    def with_lanes(self, chosen: Any, new: Self) -> Self: ...


S = TypeVar("S", bound=Lanes)


@dataclass(frozen=True)
class Descent(Generic[S]):
    """States after the steps, the norms of what is left of their equations, and the numbers of steps taken."""

    state: S
    gap: Array
    steps: Array


def first_damping(cost: float) -> float:
    """λ of the first step from the squared residual: near a root as small as it becomes there."""
    return min(1e-3, cost)


def next_damping(damping: float, cost: float, new: float) -> float:
    """λ after a step that changed the squared residual from `cost` to `new`."""
    # λ of the order of |r|² keeps the method quadratic where J has full rank and convergent where it has not
    # (Yamashita and Fukushima 2001). Far away a step that gains much is trusted more than one that gains little.
    if not new < cost:
        return max(damping, 1e-14) * 10.0
    if new > 1e-4:
        return max(damping * (0.1 if new < 0.25 * cost else 0.5), 1e-16)
    return min(damping * 0.1, max(new, 1e-28))


def descend(linearise: Callable[[S], tuple[Array, Array]], move: Callable[[S, Array], S], state: S, *,
            free: Array | None = None, steps: int = 100, tolerance: float = TOLERANCE,
            negligible: float = 0.0) -> Descent[S]:  # fmt: skip
    """The roots near the given states: `linearise` gives (residual, Jacobian), `move` takes a step (lanes, n).

    What is not `free` stays as it is. Singular values of the Jacobian up to `negligible`, in units of the largest but
    at least of 1, are rounding of dimensions: what they leave open is not closed.
    """
    # Every lane has its own damping and stops by itself; only lanes still at work are evaluated.
    residual, jacobian = linearise(state)
    mask = np.ones(jacobian.shape[2]) if free is None else free
    cost, taken = np.sum(residual**2, axis=1), np.zeros(len(state))
    damping = np.array([first_damping(c) for c in cost])
    refused = np.zeros(len(state), int)
    for _ in range(steps):
        lanes = np.flatnonzero((np.sqrt(cost) > tolerance) & (refused < MOST_REFUSALS))
        if not len(lanes):
            break
        step = _step(jacobian[lanes] * mask, residual[lanes], damping[lanes], negligible)
        step = step * mask  # not even rounding moves the rest
        tried = move(state.lanes(lanes), step)
        new_residual, new_jacobian = linearise(tried)
        new_cost = np.sum(new_residual**2, axis=1)
        better = new_cost < cost[lanes]
        before = zip(damping[lanes], cost[lanes], new_cost, strict=True)
        damping[lanes] = [next_damping(*numbers) for numbers in before]
        won, lost = lanes[better], lanes[~better]
        refused[won], refused[lost] = 0, refused[lost] + 1
        state = state.with_lanes(won, tried.lanes(better))
        residual[won], jacobian[won], cost[won] = new_residual[better], new_jacobian[better], new_cost[better]
        taken[won] += 1
    return Descent(state, np.sqrt(cost), taken)


def _step(jacobian: Array, residual: Array, damping: Array, negligible: float) -> Array:
    """d = -Jᵀ (J Jᵀ + λ)⁻¹ r, no component larger than the largest step."""
    size = jacobian.shape[1] * jacobian.shape[2]
    if size <= _SMALL or negligible > 0.0:
        step = _by_singular_values(jacobian, residual, damping, negligible)
    else:
        step = (_by_normal_equations if size <= _LARGE else sparse_steps)(jacobian, residual, damping)
    largest = np.max(np.abs(step), axis=1, initial=0.0)
    limited: Array = step * np.minimum(1.0, LARGEST_STEP / np.maximum(largest, 1e-300))[:, None]
    return limited


def _by_singular_values(jacobian: Array, residual: Array, damping: Array, negligible: float) -> Array:
    """Exact near singular configurations; for small systems, and where dimensions are rounded."""
    left, values, right = np.linalg.svd(jacobian, full_matrices=False)
    values = np.where(values > negligible * np.maximum(1.0, values[:, :1]), values, 0.0)
    seen = (np.swapaxes(left, 1, 2) @ residual[..., None])[..., 0]
    # σ / (σ² + λ): as J⁻¹ where σ is large, nothing where σ is zero, so that redundant rows and idle columns do no
    # harm.
    gain = values / np.maximum(values**2 + damping[:, None], 1e-300)
    step: Array = -(np.swapaxes(right, 1, 2) @ (gain * seen)[..., None])[..., 0]
    return step


def _by_normal_equations(jacobian: Array, residual: Array, damping: Array) -> Array:
    # (JᵀJ + λ)⁻¹ Jᵀ = Jᵀ (J Jᵀ + λ)⁻¹: the smaller of the two squares is factored.
    across = np.swapaxes(jacobian, 1, 2)
    wide = jacobian.shape[1] <= jacobian.shape[2]
    square = jacobian @ across if wide else across @ jacobian
    floor = _FLOOR * np.max(np.diagonal(square, axis1=1, axis2=2), axis=1)
    square = square + np.maximum(damping, floor)[:, None, None] * np.eye(square.shape[1])
    if wide:
        step: Array = -(across @ np.linalg.solve(square, residual[..., None]))[..., 0]
    else:
        step = -np.linalg.solve(square, across @ residual[..., None])[..., 0]
    return step


def sparse_steps(jacobian: Array, residual: Array, damping: Array) -> Array:
    """-Jᵀ (J Jᵀ + λ)⁻¹ r, lane by lane with sparse factors: loops of a large net touch few of its joints."""
    from scipy.sparse import csr_matrix, eye
    from scipy.sparse.linalg import splu

    steps = []
    for j, r, d in zip(jacobian, residual, damping, strict=True):
        sparse = csr_matrix(j)
        square = sparse @ sparse.T
        shift = max(d, _FLOOR * square.diagonal().max())
        # Symmetric and positive definite by the shift: no pivots are exchanged, the order is chosen for few entries
        # alone.
        factor = splu((square + shift * eye(len(r))).tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
                      options={"SymmetricMode": True})  # fmt: skip
        steps.append(-(sparse.T @ factor.solve(r)))
    return np.stack(steps)
