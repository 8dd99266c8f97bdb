"""Lengths of time steps and the times at which a motion in them is kept."""

from __future__ import annotations

import math

import numpy as np

from torseur.computation.simulation.model.system import Vector
from torseur.computation.simulation.problem import Samples, longest_step, sample_times
from torseur.edges.budgets import NUMBER, require_memory
from torseur.errors import UnsupportedError

USUAL_STEP = 1e-3  # s


def step_length(start: float, until: float, max_step: float | None) -> float:
    """The longest time step: what is given, or a millisecond, and no more than a tenth of the time span."""
    longest = longest_step(None, start, until)
    return min(USUAL_STEP, longest) if max_step is None else longest_step(max_step, start, until)


def step_times(samples: Samples, start: float, until: float, max_step: float | None, dense: bool) -> Vector:
    """The times to keep: those asked for, or the ends of all steps."""
    if until < start:
        raise UnsupportedError("method='time_stepping' goes forward in time: impacts cannot be undone.")
    if dense:
        raise UnsupportedError(
            "method='time_stepping' knows states at the ends of its steps alone: ask for samples instead of dense=True."
        )
    if samples is not None:
        return sample_times(samples, start, until)
    count = math.ceil((until - start) / step_length(start, until, max_step) * (1.0 - 1e-9)) if until > start else 0
    require_memory(count, 2 * NUMBER, f"{count} steps")
    return np.linspace(start, until, count + 1)
