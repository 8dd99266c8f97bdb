"""The configuration near a given one where the rank of the closures drops, by Newton's method.

Unknown are the state x and a first-order motion a besides those there are anyway (B a = 0):
f(x) = 0, J(x) a = 0, |a| = 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torseur.loops.rank import ranks
from torseur.loops.system import LoopSystem, State

Floats = np.ndarray[Any, np.dtype[np.float64]]

_STEP = 1e-5
_CLOSED = 1e-9
_ROUNDS = 40


def rank_drop(system: LoopSystem, state: State, rank: int) -> State | None:
    """A closed state where the rank is below `rank`, near a closed state; None when Newton's method finds none."""
    a = np.linalg.svd(system.linearised(state)[1][0])[2][rank - 1]
    damping = 1e-3
    value, slope = _augmented(system, state, a, rank)
    for _ in range(_ROUNDS):
        if np.linalg.norm(value) < _CLOSED * 1e-2:
            break
        step = np.asarray(-np.linalg.solve(slope.T @ slope + damping * np.eye(slope.shape[1]), slope.T @ value), float)
        step = step * min(1.0, 0.3 / max(float(np.max(np.abs(step))), 1e-300))
        tried = system.moved(state, step[None, : system.n])
        new = a + step[system.n :]
        new_value, new_slope = _augmented(system, tried, new, rank)
        if np.linalg.norm(new_value) < np.linalg.norm(value):
            state, a, value, slope, damping = tried, new, new_value, new_slope, max(damping / 5, 1e-15)
        else:
            damping = max(damping * 6, 1e-12)
    dropped = np.linalg.norm(value) < _CLOSED and ranks(system.linearised(state)[1])[0] < rank
    return state if dropped else None


def _augmented(system: LoopSystem, state: State, a: Floats, rank: int) -> tuple[Floats, Floats]:
    """The equations and their Jacobian over (x, a)."""
    residual, jacobian = (part[0] for part in system.linearised(state))
    known = _usual_motions(jacobian, a, rank)
    value = np.concatenate([residual, jacobian @ a, known @ a, [(a @ a - 1) / 2]])
    n, rows = system.n, len(residual)
    top = np.concatenate([jacobian, np.zeros((rows, n))], axis=1)
    middle = np.concatenate([_curvature(system, state, a), jacobian], axis=1)
    bottom = np.concatenate([np.zeros((len(known) + 1, n)), np.vstack([known, a])], axis=1)
    return value, np.concatenate([top, middle, bottom])


def _usual_motions(jacobian: Floats, a: Floats, rank: int) -> Floats:
    """The motions there are anyway, orthogonal to a: what a leaves of the least singular vectors."""
    space = np.linalg.svd(jacobian)[2][rank - 1 :]
    usual: Floats = np.linalg.svd((space @ a)[None])[2][1:] @ space
    return usual


def _curvature(system: LoopSystem, state: State, a: Floats) -> Floats:
    """d (J a) / d x by central differences, (rows, n)."""
    steps = _STEP * np.eye(system.n)
    many = state.repeated(system.n)
    ahead, behind = (system.linearised(system.moved(many, sign * steps))[1] @ a for sign in (1.0, -1.0))
    slope: Floats = ((ahead - behind) / (2 * _STEP)).T
    return slope
