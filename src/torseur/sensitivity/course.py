"""The motion along which changes are computed: its span, samples and tolerances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from torseur.sensitivity.variation import Variation
from torseur.simulation import memory
from torseur.simulation.problem import Problem, Tolerance, absolute_tolerance, checked_rtol, longest_step
from torseur.simulation.system import Vector

MOST_BYTES = 256e6  # kept of a motion to go back through it, unless said otherwise


@dataclass(frozen=True, eq=False)
class Course:
    """From `start` to `until`, with changes wanted at `times`."""

    start: float
    until: float
    times: Vector
    rtol: float = 1e-9
    atol: Tolerance = None
    max_steps: int = 1_000_000
    max_step: float | None = None
    backend: str = "auto"
    most_bytes: float = MOST_BYTES
    progress: Callable[[float], None] | None = None
    integrator: str = "auto"

    def problem(
        self, variation: Variation, with_changes: bool, times: Vector | None = None, keep: int = memory.KEEP_NOTHING
    ) -> Problem:
        """What the integrator is asked for."""
        atol = self._tolerances(variation)
        initial = variation.initial
        if with_changes:
            scales = np.array([parameter.scale for parameter in variation.varied])
            atol = np.concatenate([atol, np.outer(atol, 1.0 / scales).ravel()])
            initial = np.concatenate([initial, variation.initial_changes.ravel()])
        return Problem(
            initial=initial,
            parameters=variation.system.solver_parameters,
            start=self.start,
            until=self.until,
            rtol=checked_rtol(self.rtol),
            atol=atol,
            times=self.times if times is None else times,
            keep=keep,
            max_steps=self.max_steps,
            max_step=longest_step(self.max_step, self.start, self.until),
            progress=self.progress,
        )

    def _tolerances(self, variation: Variation) -> Vector:
        """Absolute tolerances of x; integrals count from the size of the span on."""
        own = absolute_tolerance(self.atol, self.rtol, variation.system, np.array(variation.system.initial))
        integrals = np.full(len(variation.integrands), self.rtol * abs(self.until - self.start))
        return np.concatenate([own, integrals])
