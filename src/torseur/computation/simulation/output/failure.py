"""Why a motion could not be computed to its end, in words."""

from __future__ import annotations

import numpy as np

from torseur.computation.simulation.constrained.start.diagnosis import rounded_dimensions
from torseur.computation.simulation.loop import memory
from torseur.computation.simulation.loop.integrator import Run
from torseur.computation.simulation.model.system import System
from torseur.computation.simulation.problem import Problem

DIVERGED = 1e6  # growth of a state over its scale that counts as divergence


def failure_message(run: Run, problem: Problem, system: System) -> str:
    """When the motion ended, on which state, and why."""
    return f"{system.name}: {_what(run, problem, system)} {_why(run, problem, system)}"


def _what(run: Run, problem: Problem, system: System) -> str:
    when, name = f"t = {run.t:.9g} s", system.states[max(run.worst, 0)].name
    if run.answer == memory.PAUSED:
        return f"the motion has reached only {when} of {problem.until:g} s after {problem.max_steps} steps."
    if run.answer == memory.NONFINITE and run.statistics.steps == 0:
        return f"the motion cannot start: at {when} the rate of change of '{name}' is not a finite number."
    if run.answer == memory.NONFINITE:
        return f"the motion ends at {when}: just after it the rate of change of '{name}' is not a finite number."
    return f"the motion ends at {when}: no step is small enough to follow '{name}' there."


def _why(run: Run, problem: Problem, system: System) -> str:
    # The surest reason first: constraints that cannot go on, then growth, then stiffness as the steps measured it; what
    # is left is said in general words.
    explained = system.explain(run.t, run.y) if system.explain is not None else None
    if explained:
        return explained
    grown = np.abs(run.y) / system.state_scales(problem.initial)
    largest = int(np.argmax(grown))
    if grown[largest] > DIVERGED:
        return f"The motion diverges: '{system.states[largest].name}' has grown to {run.y[largest]:.3g}."
    if run.answer == memory.PAUSED and run.statistics.stiffness > memory.STIFF:
        return (
            f"The system is stiff (h |eigenvalue| is about {run.statistics.stiffness:.1f}): "
            "use method='radau9', soften its stiffest springs and dampers, or replace them by constraints."
        )
    if run.answer == memory.PAUSED:
        return (
            f"Raise max_steps, or loosen rtol = {problem.rtol:g}. Where the equations jump to and fro, as dry friction "
            "does, no step is short enough: smooth them, for instance by tanh."
        )
    if run.answer == memory.NONFINITE:
        return "Look for a division by zero, a root or logarithm of a negative number, or a singular mass matrix."
    rounded = _rounding(run, system)
    if rounded:
        return f"The tolerance rtol = {problem.rtol:g} cannot be met: {rounded}"
    return (
        f"The tolerance rtol = {problem.rtol:g} cannot be met: the equations jump or are singular there, "
        "or the tolerance is below the rounding errors."
    )


def _rounding(run: Run, system: System) -> str | None:
    numbers = system.constrained.numbers if system.constrained is not None else None
    return rounded_dimensions(numbers, run.t, run.y) if numbers is not None else None
