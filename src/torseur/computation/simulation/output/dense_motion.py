"""The state at any time, from the pieces of motion that the steps left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from torseur.computation.simulation.model.system import Vector
from torseur.errors import TorseurError


@dataclass(frozen=True, eq=False)
class DenseOutput:
    """Pieces of motion, one row each in the order of the steps; `settle` brings states back on their manifold."""

    pieces: Vector
    end: float
    settle: Callable[[Vector, Vector], Vector] | None = None

    def at(self, t: float | Vector) -> Vector:
        """States at the given times, one row per time when t is an array."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        self._check(times)
        states = self._interpolate(times)
        if self.settle is not None:
            states = self.settle(times, states)
        return states if np.ndim(t) else states[0]

    def _check(self, times: Vector) -> None:
        first, last = sorted((float(self.pieces[0, 0]), self.end))
        outside = times[~((times >= first) & (times <= last))]
        if outside.size:
            raise TorseurError(
                f"t = {outside[0]:g} s lies outside the motion, which runs from {first:g} s to {last:g} s."
            )

    def _interpolate(self, times: Vector) -> Vector:
        """Horner's rule with the factors x and 1 - x in turn, as in `dop853.interpolate_at`.

        A piece is its time, its length, the state at its start and seven coefficients of each state.
        """
        starts = self.pieces[:, 0]
        # Motions may run backwards, and searching takes rising times only. "right": where two pieces meet, the later
        # one counts, whose state is the one that an event left.
        direction = 1.0 if self.end >= starts[0] else -1.0
        chosen = np.searchsorted(direction * starts, direction * times, side="right") - 1
        piece = self.pieces[chosen]
        state, *dense = np.split(piece[:, 2:], 8, axis=1)
        x = ((times - piece[:, 0]) / piece[:, 1])[:, np.newaxis]
        value = dense[6]
        for r in range(5, -1, -1):
            value = dense[r] + (1.0 - x if r % 2 == 0 else x) * value
        result: Vector = state + x * value
        return result
