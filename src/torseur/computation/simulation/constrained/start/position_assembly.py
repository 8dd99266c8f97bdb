"""Positions that satisfy the constraints while given coordinates keep their values."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.model.system import Vector

Mask: TypeAlias = NDArray[np.bool_]

ITERATIONS = 100
STARTS = 24  # guesses of what is not given, the first one as it stands
CLOSED = 1e-10  # largest residual of a closed mechanism, in its own units
LONGEST_MOVE = 1.0  # in one iteration, in the mechanism's units
TOUCHES = 1e-9  # part of a unit move by which a coordinate counts as moved


# Why not the assembly of the loop analysis: docs/decisions/0033-simulation-has-its-own-assembly.md.
@dataclass(frozen=True)
class Assembly:
    """A closed state, or the nearest to it that was found; `start` counts the guesses before it."""

    y: Vector
    residual: Vector
    start: int = 0

    @property
    def is_closed(self) -> bool:
        return bool(np.abs(self.residual).max(initial=0.0) <= CLOSED)


def assemble(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> Assembly:
    """The first closed state found from several guesses of the coordinates that are not given."""
    free = free_moves(numbers, t, y, given)
    best: Assembly | None = None
    for start, guess in enumerate(_guesses(numbers, t, y, free)):
        found = closed_from(numbers, t, guess, free, start)
        if best is None or np.abs(found.residual).max(initial=0.0) < np.abs(best.residual).max(initial=0.0):
            best = found
        if best.is_closed or not free.any():
            break
    assert best is not None
    return best


def free_moves(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> Mask:
    """The speeds along which no given coordinate moves."""
    names = numbers.equations.layout.coordinate_names
    fixed = [slot for slot, name in enumerate(names) if name in given]
    return ~np.any(np.abs(numbers.reach(t, y)[fixed]) > TOUCHES, axis=0)


def _guesses(numbers: StateNumbers, t: float, y: Vector, free: Mask) -> Iterator[Vector]:
    yield y
    random = np.random.default_rng(0)
    for _ in range(STARTS - 1):
        yield numbers.moved(t, y, np.where(free, random.uniform(-np.pi, np.pi, len(free)), 0.0))


def closed_from(numbers: StateNumbers, t: float, y: Vector, free: Mask, start: int = 0) -> Assembly:
    """Damped Gauss-Newton (Levenberg-Marquardt) on the residuals, moving along the free speeds only."""
    residual, slopes = numbers.closure(t, y)
    damping = 1.0
    for _ in range(ITERATIONS):
        size = float(np.linalg.norm(residual))
        if size <= 1e-3 * CLOSED:
            break
        move = np.where(free, _step(slopes * free, residual, damping * size**2), 0.0)
        move *= min(1.0, LONGEST_MOVE / max(np.abs(move).max(initial=0.0), 1e-300))
        trial = numbers.moved(t, y, move)
        new_residual, new_slopes = numbers.closure(t, trial)
        better = np.linalg.norm(new_residual) < size
        damping = damping / 4.0 if better else damping * 8.0
        if better:
            y, residual, slopes = trial, new_residual, new_slopes
        elif damping > 1e12:
            break
    return Assembly(y, residual, start)


def _step(slopes: Vector, residual: Vector, damping: float) -> Vector:
    """-Jᵀ (J Jᵀ + damping)⁻¹ r, by singular values."""
    u, s, vt = np.linalg.svd(slopes, full_matrices=False)
    cut = np.where(s > 1e-12 * s.max(initial=0.0), s / (s * s + damping), 0.0)
    step: Vector = -vt.T @ (cut * (u.T @ residual))
    return step
