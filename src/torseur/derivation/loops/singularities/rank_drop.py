"""The configuration near a given one where the rank of the closures drops, by Newton's method.

Unknown are the state x and a first-order motion a besides those there are anyway (B a = 0):
f(x) = 0, J(x) a = 0, |a| = 1. What is found is sharpened with all motions V at once: f(x) = 0, J(x) V = 0, Cᵀ V = 1,
which has no other solutions nearby.
"""

from __future__ import annotations

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.rank.numerical_rank import ranks

_STEP = 1e-5
_CLOSED = 1e-9
_ROUNDS = 40
_SHARP_ROUNDS = 8


def rank_drop(system: LoopSystem, state: State, rank: int) -> State | None:
    """A closed state where the rank is below `rank`, near a closed state; None when Newton's method finds none."""
    a = np.linalg.svd(system.linearise(state)[1][0])[2][rank - 1]
    damping = 1e-3
    value, derivative = _augmented_equations(system, state, a, rank)
    for _ in range(_ROUNDS):
        if np.linalg.norm(value) < _CLOSED * 1e-2:
            break
        # Levenberg-Marquardt: the equations are more than the unknowns, and redundant closures make them dependent.
        normal = derivative.T @ derivative + damping * np.eye(derivative.shape[1])
        step = np.asarray(-np.linalg.solve(normal, derivative.T @ value), float)
        step = step * min(1.0, 0.3 / max(float(np.max(np.abs(step))), 1e-300))
        tried = system.move(state, step[None, : system.n])
        new = a + step[system.n :]
        new_value, new_derivative = _augmented_equations(system, tried, new, rank)
        if np.linalg.norm(new_value) < np.linalg.norm(value):
            state, a, value, derivative, damping = tried, new, new_value, new_derivative, max(damping / 5, 1e-15)
        else:
            damping = max(damping * 6, 1e-12)
    dropped = np.linalg.norm(value) < _CLOSED and ranks(system.linearise(state)[1])[0] < rank
    return _sharpen(system, state, rank) if dropped else None


def _sharpen(system: LoopSystem, state: State, rank: int) -> State:
    """The state where the rank drops by one, to rounding; the given one where that does not converge."""
    border = np.linalg.svd(system.linearise(state)[1][0])[2][rank - 1 :].T
    motions, n, best = border, system.n, state
    size = np.inf
    for _ in range(_SHARP_ROUNDS):
        value, derivative = _bordered_equations(system, state, motions, border)
        if np.linalg.norm(value) >= size:
            return best
        best, size = state, float(np.linalg.norm(value))
        step = np.asarray(np.linalg.lstsq(derivative, -value, rcond=1e-10)[0], float)
        state = system.move(state, step[None, :n])
        motions = motions + step[n:].reshape(motions.shape[1], n).T
    return best


def _bordered_equations(system: LoopSystem, state: State, motions: Array, border: Array) -> tuple[Array, Array]:
    """The equations of the state and all its motions, and their Jacobian."""
    residual, jacobian = (part[0] for part in system.linearise(state))
    n, count, rows = system.n, motions.shape[1], len(residual)
    value = np.concatenate([residual, (jacobian @ motions).T.ravel(), (border.T @ motions - np.eye(count)).T.ravel()])
    # Unknown x, then the columns V_1 ... V_c of the motions, one after the other:
    #
    #              x            V_1    V_2
    #     f        J
    #     J V_1    d(J V_1)/dx  J
    #     J V_2    d(J V_2)/dx         J
    #     Cᵀ V_1                Cᵀ
    #     Cᵀ V_2                       Cᵀ
    derivative = np.zeros((rows + count * (rows + count), n * (1 + count)))
    derivative[:rows, :n] = jacobian
    for k in range(count):
        first, last, own = rows + k * rows, rows + count * rows + k * count, slice(n + k * n, n + (k + 1) * n)
        derivative[first : first + rows, :n] = _curvature(system, state, motions[:, k])
        derivative[first : first + rows, own] = jacobian
        derivative[last : last + count, own] = border.T
    return value, derivative


def _augmented_equations(system: LoopSystem, state: State, a: Array, rank: int) -> tuple[Array, Array]:
    """The equations and their Jacobian over (x, a)."""
    residual, jacobian = (part[0] for part in system.linearise(state))
    known = _usual_motions(jacobian, a, rank)
    value = np.concatenate([residual, jacobian @ a, known @ a, [(a @ a - 1) / 2]])
    n, rows = system.n, len(residual)
    #              x            a
    #     f        J            0
    #     J a      d(J a)/dx    J
    #     B a      0            B       (B held: it turns with x at second order only)
    #     |a|²/2   0            aᵀ
    top = np.concatenate([jacobian, np.zeros((rows, n))], axis=1)
    middle = np.concatenate([_curvature(system, state, a), jacobian], axis=1)
    bottom = np.concatenate([np.zeros((len(known) + 1, n)), np.vstack([known, a])], axis=1)
    return value, np.concatenate([top, middle, bottom])


def _usual_motions(jacobian: Array, a: Array, rank: int) -> Array:
    """The motions there are anyway, orthogonal to a: what a leaves of the least singular vectors."""
    space = np.linalg.svd(jacobian)[2][rank - 1 :]
    usual: Array = np.linalg.svd((space @ a)[None])[2][1:] @ space
    return usual


def _curvature(system: LoopSystem, state: State, a: Array) -> Array:
    """d (J a) / d x by central differences, (rows, n)."""
    steps = _STEP * np.eye(system.n)
    many = state.repeat(system.n)
    ahead, behind = (system.linearise(system.move(many, sign * steps))[1] @ a for sign in (1.0, -1.0))
    curvature: Array = ((ahead - behind) / (2 * _STEP)).T
    return curvature
