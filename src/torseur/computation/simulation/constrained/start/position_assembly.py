"""Positions that satisfy the constraints while given coordinates keep their values."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.model.system import Vector
from torseur.derivation.loops.assembly.levenberg_marquardt import descend

Mask: TypeAlias = NDArray[np.bool_]

STARTS = 24  # guesses of what is not given, the first one as it stands
CLOSED = 1e-10  # largest residual of a closed mechanism, in its own units
TOUCHES = 1e-9  # part of a unit move by which a coordinate counts as moved


@dataclass(frozen=True)
class Positions:
    """States of the layout as lanes of a descent."""

    y: Vector

    def __len__(self) -> int:
        return len(self.y)

    def lanes(self, chosen: Any) -> Positions:
        return Positions(self.y[chosen])

    def with_lanes(self, chosen: Any, new: Positions) -> Positions:
        y = self.y.copy()
        y[chosen] = new.y
        return Positions(y)


@dataclass(frozen=True)
class Assembly:
    """A closed state, or the nearest to it; `start` counts the guesses before it, `tolerances` what may stay open."""

    y: Vector
    residual: Vector
    tolerances: Vector
    start: int = 0

    @property
    def gap(self) -> float:
        """The largest residual."""
        return float(np.abs(self.residual).max(initial=0.0))

    @property
    def is_closed(self) -> bool:
        return self.gap <= CLOSED

    @property
    def is_nearly_closed(self) -> bool:
        """Whether nothing is open by more than the rounding of a description leaves."""
        return bool(np.all(np.abs(self.residual) <= np.maximum(self.tolerances, CLOSED)))


def assemble(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> Assembly:
    """The first closed state from several guesses of the coordinates that are not given; the nearest without any."""
    free = free_moves(numbers, t, y, given)
    best: Assembly | None = None
    for start, guess in enumerate(_guesses(numbers, t, y, free)):
        assembly = closed_from(numbers, t, guess, free, start)
        if best is None or assembly.gap < best.gap:
            best = assembly
        # A linkage whose dimensions are rounded closes no better from elsewhere.
        if best.is_closed or (best.is_nearly_closed and best.start == 0) or not free.any():
            break
    assert best is not None
    return best


def free_moves(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> Mask:
    """The speeds along which no given coordinate moves."""
    names = numbers.equations.layout.coordinate_names
    fixed = [slot for slot, name in enumerate(names) if name in given]
    return ~np.any(np.abs(numbers.reach(t, y)[fixed]) > TOUCHES, axis=0)


def _guesses(numbers: StateNumbers, t: float, y: Vector, free: Mask) -> Iterator[Vector]:
    """The state as it stands, then others: a third of them with guessed coordinates kept, as far as they can be."""
    yield y
    random, unguessed = np.random.default_rng(0), free & free_moves(numbers, t, y, numbers.guesses)
    for k in range(STARTS - 1):
        moving = unguessed if k < STARTS // 3 and unguessed.any() else free
        yield numbers.moved(t, y, np.where(moving, random.uniform(-np.pi, np.pi, len(free)), 0.0))


def closed_from(numbers: StateNumbers, t: float, y: Vector, free: Mask, start: int = 0) -> Assembly:
    """The closed state near one, moving along the free speeds only."""

    def linearise(states: Positions) -> tuple[Vector, Vector]:
        residual, jacobian = numbers.closure(t, states.y[0])
        return residual[None], jacobian[None]

    def move(states: Positions, step: Vector) -> Positions:
        return Positions(numbers.moved(t, states.y[0], step[0])[None])

    descent = descend(linearise, move, Positions(y[None]), free=free.astype(float))
    closed: Vector = descent.state.y[0]
    residual = numbers.closure(t, closed)[0]
    return Assembly(closed, residual, numbers.tolerances[: len(residual)], start)
