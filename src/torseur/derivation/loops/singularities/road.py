"""The way of a driven coordinate: closed states from one of its values to the next, and motions there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.projection import CLOSED, project
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.rank.numerical_rank import numerical_rank

_AT_REST = 1e-2  # a limit is found to 1e-9, and what moves there falls like the root of the distance
_TRIES = 8  # starts from which a range that was lost is looked for again


@dataclass(frozen=True)
class Road:
    """A coordinate to drive in a system, with others held; values in the units of the system."""

    system: LoopSystem
    slot: int
    held: tuple[int, ...]
    free: Array
    part: list[int]

    @property
    def unit(self) -> float:
        return float(self.system.amounts.units[self.slot])

    def step(self, state: State, value: float) -> State | None:
        """The closed state with the driven coordinate at a value; None when it cannot be reached without a jump."""
        motions = self.motions(state)
        # The predictor follows the first-order motion that moves the driven coordinate as asked with least |dq|.
        change = value - float(state.x[0, self.slot])
        row = motions[self.slot]
        size = float(row @ row)
        step = motions @ row * (change / size) if size > 1e-12 else np.zeros(self.system.n)
        step = step * min(1.0, 0.5 / max(float(np.max(np.abs(step), initial=0.0)), 1e-300))
        guess = self.system.move(state, step[None])
        guess.x[0, self.slot] = value
        closed = project(self.system, guess, free=self.free, steps=60)
        # A radian or a unit of length in one step is a jump to another branch, not a way along this one.
        far = np.max(np.abs(self.system.difference(state, closed.state))) > 1.0
        return None if closed.gap[0] > self.system.open_limit(CLOSED) or far else closed.state

    def motions(self, state: State) -> Array:
        """First-order motions with the held coordinates at rest."""
        rows = np.eye(self.system.n)[list(self.held)]
        return numerical_rank(np.concatenate([self.system.linearise(state)[1][0], rows])).motions

    def is_turning_back(self, state: State) -> bool:
        """Whether the driven coordinate is at rest in all first-order motions; else a jump alone ended the way."""
        return float(np.linalg.norm(self.motions(state)[self.slot])) < _AT_REST

    def own_motions(self, state: State) -> Array:
        """First-order motions of the parts of the drive and of what is watched on it, over all freedoms."""
        own = numerical_rank(self.system.linearise(state)[1][0][:, self.part]).motions
        motions = np.zeros((self.system.n, own.shape[1]))
        motions[self.part] = own
        return motions

    def find(self, near: State, value: float, rng: np.random.Generator) -> State | None:
        """A closed state with the driven coordinate at a value, the nearest of a few."""
        tries = near.repeat(_TRIES)
        nudges = rng.normal(size=(_TRIES, self.system.n)) * np.linspace(0, 1.5, _TRIES)[:, None] * self.free
        moved = self.system.move(tries, nudges)
        moved.x[:, self.slot] = value
        closed = project(self.system, moved, free=self.free, steps=80)
        good = np.flatnonzero(closed.gap < self.system.open_limit(CLOSED))
        return closed.state.lane(int(good[0])) if len(good) else None

    def limit(self, state: State, value: float) -> State:
        """The last state that can be reached on the way to a value, by bisection."""
        for _ in range(40):
            middle = (float(state.x[0, self.slot]) + value) / 2
            moved = self.step(state, middle)
            if moved is None:
                value = middle
            else:
                state = moved
        return state
