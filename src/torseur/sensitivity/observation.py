"""Formulas and their changes at single states of a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from torseur.codegen.compiled import CompiledRoutine
from torseur.codegen.routine import Array, External, Routine, routine, zeros
from torseur.sensitivity.backward import NQ, pullback
from torseur.sensitivity.loop import routine_of
from torseur.sensitivity.routines import Routines
from torseur.sensitivity.tangent import NX
from torseur.simulation.dop853 import N
from torseur.simulation.system import Vector

FEW = 16  # states that are evaluated sooner by interpreted code than code is compiled

slope = External("rhs", "t: float, y: Array, p: Array, dy: Array")


@routine
def slopes_along(rows: int, times: Array, states: Array, p: Array, out: Array) -> None:
    """Slopes in each state, one row each."""
    for row in range(rows):
        slope(times[row], states[row * N :], p, out[row * N :])


@routine
def observed_back(t: float, y: Array, p: Array, w: Array, ybar: Array, pbar: Array) -> None:
    """Weights of slopes in a state pulled back to weights of states and parameters."""
    dy = zeros(NX)
    slope(t, y, p, dy)
    pullback(t, y, p, dy[NQ:], w, ybar, pbar)


@dataclass(frozen=True, eq=False)
class Observation:
    """Formulas observed along a motion: they stand as the integrands of `routines.variation`."""

    routines: Routines
    parameters: Vector
    backend: str

    @property
    def count(self) -> int:
        return len(self.routines.variation.integrands)

    @property
    def _states(self) -> int:
        return len(self.routines.variation.states)

    @cached_property
    def _size(self) -> int:
        return self.routines.variation.size * (1 + self.routines.variation.columns)

    def _routine(self, entry: Routine, size: int, externals: Mapping[str, Any], rows: int) -> CompiledRoutine:
        """The routine, compiled where it runs often enough to pay for it."""
        backend = self.backend if rows > FEW else "python"
        return routine_of(entry, size, self.routines.statics, externals, backend)

    def changes(self, times: Vector, states: Vector, changes: Vector) -> tuple[Vector, Vector]:
        """Values (time, formula) and their changes (time, formula, parameter), from those of the states."""
        columns, n, m = self.routines.variation.columns, self._states, self.count
        rows = np.zeros((len(times), self._size))
        rows[:, :n] = states
        rows[:, n + m : n + m + n * columns] = changes.reshape(len(times), -1)
        out = np.zeros_like(rows)
        along = self._routine(slopes_along, self._size, self.routines.direct, len(times))
        along(len(times), np.ascontiguousarray(times), rows.reshape(-1), self.parameters, out.reshape(-1))
        values, of_all = out[:, n : n + m], out[:, n + m :].reshape(len(times), n + m, columns)
        return values.copy(), of_all[:, n:].copy()

    def values(self, times: Vector, states: Vector) -> Vector:
        """Values (time, formula)."""
        size = self.routines.variation.size
        rows = np.zeros((len(times), size))
        rows[:, : self._states] = states
        out = np.zeros_like(rows)
        along = self._routine(slopes_along, size, self.routines.forward, len(times))
        along(len(times), np.ascontiguousarray(times), rows.reshape(-1), self.parameters, out.reshape(-1))
        return out[:, self._states :].copy()

    def weights(self, t: float, state: Vector, of_formulas: Vector) -> tuple[Vector, Vector]:
        """Weights of the states and of the parameters, for a weighted sum of the formulas in one state."""
        size = self.routines.variation.size
        back = self._routine(observed_back, size, self.routines.backward, 1)
        y, w = np.concatenate([state, np.zeros(self.count)]), np.concatenate([np.zeros(self._states), of_formulas])
        ybar, pbar = np.zeros(size), np.zeros(max(self.routines.variation.columns, 1))
        back(float(t), y, self.parameters, w, ybar, pbar)
        return ybar[: self._states], pbar
