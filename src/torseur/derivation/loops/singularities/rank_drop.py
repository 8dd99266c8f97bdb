"""The configuration near a given one where the rank of the closures drops, by Newton's method.

Unknown are the state x and a first-order motion a besides those there are anyway (B a = 0):
f(x) = 0, L(x) a = 0, |a| = 1. What is found is sharpened with all motions V at once: f(x) = 0, L(x) V = 0, Cᵀ V = 1,
which has no other solutions nearby. L is the Jacobian J of the closures f, with constant rows below it for what must be
at rest: inputs, for what moves though they are locked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.rank.numerical_rank import ranks

_STEP = 1e-5
_CLOSED = 1e-9
_ROUNDS = 40
_LEVEL = 1e-5  # gradient, in units of what is missing, at which nothing more is to be won
_SHARP_ROUNDS = 8
_FLAT = 1e-6  # of the largest singular value; curvatures are differences
_MOVES = 1e-3  # share of a direction that is the state's own
_FURTHER = 0.02  # rad or units of length


def rank_drop(system: LoopSystem, state: State, rank: int, resting: Array | None = None) -> State | None:
    """A closed state where the rank is below `rank`, near a closed state; None when Newton's method finds none.

    The rank is that of the closures, with further constant rows in `resting`: motions must leave these at rest.
    """
    closures = _Closures(system, np.zeros((0, system.n)) if resting is None else resting)
    # The right singular vector of the least singular value that counts: the motion that is nearest to becoming free.
    a = np.linalg.svd(closures.at(state)[2])[2][rank - 1]
    damping = 1e-3
    value, derivative = _augmented_equations(closures, state, a, rank)
    for _ in range(_ROUNDS):
        if np.linalg.norm(value) < _CLOSED * 1e-2:
            break
        # Levenberg-Marquardt: the equations are more than the unknowns, and redundant closures make them dependent.
        downhill = derivative.T @ value
        if np.linalg.norm(downhill) < _LEVEL * np.linalg.norm(value):
            break  # the nearest to a drop that there is, and none
        normal = derivative.T @ derivative + damping * np.eye(derivative.shape[1])
        step = np.asarray(-np.linalg.solve(normal, downhill), float)
        step = step * min(1.0, 0.3 / max(float(np.max(np.abs(step))), 1e-300))
        tried = system.move(state, step[None, : system.n])
        new = a + step[system.n :]
        new_value, new_derivative = _augmented_equations(closures, tried, new, rank)
        if np.linalg.norm(new_value) < np.linalg.norm(value):
            state, a, value, derivative, damping = tried, new, new_value, new_derivative, max(damping / 5, 1e-15)
        else:
            damping = max(damping * 6, 1e-12)
    dropped = np.linalg.norm(value) < _CLOSED and ranks(closures.at(state)[2][None])[0] < rank
    return _sharpen(closures, state, rank) if dropped else None


@dataclass(frozen=True)
class RankDrop:
    """A closed state where the rank of the closures, with rows that rest below them, is less than `rank`."""

    system: LoopSystem
    state: State
    rank: int
    resting: Array

    def family(self, part: Sequence[int]) -> int:
        """The dimension of the family of such states around this one, within a part; 0 where it is alone."""
        closures = _Closures(self.system, self.resting)
        a = np.linalg.svd(closures.at(self.state)[2])[2][self.rank - 1]
        _, sizes, directions = np.linalg.svd(_augmented_equations(closures, self.state, a, self.rank)[1])
        along = np.zeros((len(directions), self.system.n))
        along[:, list(part)] = directions[:, list(part)]
        _, lengths, ways = np.linalg.svd(along[int(np.sum(sizes > _FLAT * sizes[0])) :], full_matrices=False)
        dimension = int(np.sum(lengths > _MOVES))
        # The equations may be flat at a state that is alone: one further on has to be found.
        if not dimension:
            return 0
        further = rank_drop(self.system, self.system.move(self.state, _FURTHER * ways[:1]), self.rank, self.resting)
        if further is None:
            return 0
        distance = float(np.linalg.norm(self.system.difference(self.state, further)[0, list(part)]))
        return dimension if _FURTHER / 2 < distance < 2 * _FURTHER else 0


@dataclass(frozen=True)
class _Closures:
    """The closures of a system, and rows that motions leave at rest."""

    system: LoopSystem
    resting: Array

    def at(self, state: State) -> tuple[Array, Array, Array]:
        """(f, J, L) at one state."""
        residual, jacobian = (part[0] for part in self.system.linearise(state))
        return residual, jacobian, np.vstack([jacobian, self.resting])

    def curvature(self, state: State, a: Array) -> Array:
        """d (L a) / d x; what rests does so everywhere."""
        return np.vstack([_curvature(self.system, state, a), np.zeros((len(self.resting), self.system.n))])


def _sharpen(closures: _Closures, state: State, rank: int) -> State:
    """The state where the rank drops by one, to rounding; the given one where that does not converge."""
    system = closures.system
    border = np.linalg.svd(closures.at(state)[2])[2][rank - 1 :].T
    motions, n, best = border, system.n, state
    size = np.inf
    for _ in range(_SHARP_ROUNDS):
        value, derivative = _bordered_equations(closures, state, motions, border)
        if np.linalg.norm(value) >= size:
            return best
        best, size = state, float(np.linalg.norm(value))
        step = np.asarray(np.linalg.lstsq(derivative, -value, rcond=1e-10)[0], float)
        state = system.move(state, step[None, :n])
        motions = motions + step[n:].reshape(motions.shape[1], n).T
    return best


def _bordered_equations(closures: _Closures, state: State, motions: Array, border: Array) -> tuple[Array, Array]:
    """The equations of the state and all its motions, and their Jacobian."""
    residual, jacobian, whole = closures.at(state)
    n, count, closed, rows = closures.system.n, motions.shape[1], len(residual), len(whole)
    value = np.concatenate([residual, (whole @ motions).T.ravel(), (border.T @ motions - np.eye(count)).T.ravel()])
    # Unknown x, then the columns V_1 ... V_c of the motions, one after the other:
    #
    #              x            V_1    V_2
    #     f        J
    #     L V_1    d(L V_1)/dx  L
    #     L V_2    d(L V_2)/dx         L
    #     Cᵀ V_1                Cᵀ
    #     Cᵀ V_2                       Cᵀ
    derivative = np.zeros((closed + count * (rows + count), n * (1 + count)))
    derivative[:closed, :n] = jacobian
    for k in range(count):
        first, last, own = closed + k * rows, closed + count * rows + k * count, slice(n + k * n, n + (k + 1) * n)
        derivative[first : first + rows, :n] = closures.curvature(state, motions[:, k])
        derivative[first : first + rows, own] = whole
        derivative[last : last + count, own] = border.T
    return value, derivative


def _augmented_equations(closures: _Closures, state: State, a: Array, rank: int) -> tuple[Array, Array]:
    """The equations and their Jacobian over (x, a)."""
    residual, jacobian, whole = closures.at(state)
    known = _usual_motions(whole, a, rank)
    value = np.concatenate([residual, whole @ a, known @ a, [(a @ a - 1) / 2]])
    n, closed = closures.system.n, len(residual)
    #              x            a
    #     f        J            0
    #     L a      d(L a)/dx    L
    #     B a      0            B       (B held: it turns with x at second order only)
    #     |a|²/2   0            aᵀ
    top = np.concatenate([jacobian, np.zeros((closed, n))], axis=1)
    middle = np.concatenate([closures.curvature(state, a), whole], axis=1)
    bottom = np.concatenate([np.zeros((len(known) + 1, n)), np.vstack([known, a])], axis=1)
    return value, np.concatenate([top, middle, bottom])


def _usual_motions(whole: Array, a: Array, rank: int) -> Array:
    """The motions there are anyway, orthogonal to a: what a leaves of the least singular vectors."""
    space = np.linalg.svd(whole)[2][rank - 1 :]
    usual: Array = np.linalg.svd((space @ a)[None])[2][1:] @ space
    return usual


def _curvature(system: LoopSystem, state: State, a: Array) -> Array:
    """d (J a) / d x by central differences, (rows, n)."""
    steps = _STEP * np.vstack([np.eye(system.n), -np.eye(system.n)])
    ahead, behind = np.split(system.linearise(system.move(state.repeat(2 * system.n), steps))[1] @ a, 2)
    curvature: Array = ((ahead - behind) / (2 * _STEP)).T
    return curvature
