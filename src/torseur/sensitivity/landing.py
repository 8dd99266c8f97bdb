"""A jump that happened: the state and its changes after it, and weights carried back through it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.sensitivity.crossing import Crossing, Met, Weights
from torseur.sensitivity.motion_slopes import MotionSlope
from torseur.simulation.system import Vector


@dataclass(frozen=True, eq=False)
class Landing:
    """The crossing as it was met, the changes u of x before it, the slope x' after it, and the settings before it."""

    crossing: Crossing
    met: Met
    u: Vector
    after: MotionSlope
    settings: Vector

    @property
    def _states(self) -> int:
        return self.crossing.kept

    @property
    def x(self) -> Vector:
        """x after the jump; integrals go on."""
        return np.concatenate([self.met.z[: self._states], self.met.x[self._states :]])

    @property
    def changes(self) -> Vector:
        """u after the jump."""
        later, arriving, found = self.crossing.changes(self.met, self.u)
        arriving[: self._states] = found[: self._states]
        return np.asarray(arriving - np.outer(self.after.value, later))

    def back(self, weights: Vector, pbar: Vector) -> tuple[Vector, Vector]:
        """Weights before the jump (a row per criterion), from those after it."""
        own = self._split(weights, -weights @ self.after.value)
        arriving, of_parameters, _, _ = self.crossing.weigh(self.met, own)
        return arriving, pbar + of_parameters

    def back_twice(self, weights: Vector, gains: Vector) -> tuple[Vector, Vector]:
        """Weights of one criterion and their changes (x, u as one vector), pulled back; what parameters gain.

        `gains` holds the weights of the parameters, then the Hessian.
        """
        size = len(self.met.x)
        value, changes = weights[:size], weights[size:].reshape(size, -1).T
        later, _, found = self.crossing.changes(self.met, self.u)
        new, parts = np.zeros_like(self.u), self.after.parts
        new[: self._states] = found[: self._states]
        of_time = -changes @ self.after.value - value @ self.after.along(new)
        of_time += later * (value @ (parts.by_state @ self.after.value[: self._states] - parts.by_time))
        of_state = changes.copy()
        of_state[:, : self._states] -= np.outer(later, value @ parts.by_state)
        own = self._split(value[None], -value[None] @ self.after.value)
        pulled = self.crossing.weigh_twice(self.met, self.u, own, self._split(of_state, of_time))
        arriving, moved, of_parameters, rows = pulled
        rows = rows - np.outer(later, value @ parts.by_parameters)
        gained = np.concatenate([of_parameters, rows.T.ravel()])
        return np.concatenate([arriving, moved.T.ravel()]), gains + gained

    def _split(self, weights: Vector, of_time: Vector) -> Weights:
        """Weights of F as those of what is kept, and of integrals, which go straight on."""
        straight = weights.copy()
        straight[:, : self._states] = 0.0
        return Weights(weights[:, : self._states], straight, of_time)
