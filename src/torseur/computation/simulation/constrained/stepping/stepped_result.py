"""From a run of time steps to a trajectory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.graph import Program
from torseur.computation.simulation.constrained.stepping.stepped_motion import SteppedMotion
from torseur.computation.simulation.events.state_jumps import Jumps
from torseur.computation.simulation.loop import memory
from torseur.computation.simulation.loop.integrator import Run
from torseur.computation.simulation.model.outputs_and_events import Output, is_python
from torseur.computation.simulation.model.system import Vector
from torseur.computation.simulation.output.extrapolation import table_notes
from torseur.computation.simulation.output.failure import failure_message
from torseur.computation.simulation.output.run_result import open_notes, python_output, reasons_without_value
from torseur.computation.simulation.output.trajectory import Column, Occurrence, Trajectory
from torseur.computation.simulation.problem import Problem


@dataclass(frozen=True)
class SteppedResult:
    """A run with what was asked of it."""

    motion: SteppedMotion
    problem: Problem
    run: Run
    outputs: tuple[Output, ...]
    formulas: Program | None
    columns: tuple[Column, ...]
    jumps: Jumps

    def trajectory(self) -> Trajectory:
        system, bare = self.motion.system, self.motion.binding.system
        states = self.run.samples
        times = self.problem.times[: len(states)].copy()
        formulas = {} if self.formulas is None else dict(
            zip(self._formula_names, self.formulas.outputs[0].entries, strict=True)
        )  # fmt: skip
        undetermined = reasons_without_value(system, bare.constrained, formulas, times, states)
        values = np.column_stack([states, *self._outputs(times, states, set(undetermined))])
        return Trajectory(
            time=times,
            values=values,
            columns=self.columns,
            name=system.name,
            events=self._occurrences(),
            statistics=self.run.statistics,
            notes=(
                *bare.notes,
                *self.run.notes,
                *self.motion.account(self.run.statistics.steps),
                *self.motion.binding.switches.notes,
                *open_notes(undetermined),
                *table_notes(bare, times, states),
            ),
        )

    def failure(self) -> str:
        """Why the motion ended before its time."""
        if self.motion.work.contradictory:
            return f"{self.motion.system.name}: {self.motion.contradiction(self.run.t)}"
        if self.run.answer == memory.STEP_TOO_SMALL:
            return (
                f"{self.motion.system.name}: the motion ends at t = {self.run.t:.9g} s: forces that depend on speeds "
                f"are too stiff for steps of {self.motion.structure.longest:.3g} s. Shorten max_step, or choose "
                "method='radau9'."
            )
        return failure_message(self.run, self.problem, self.motion.binding.system)

    @property
    def _formula_names(self) -> list[str]:
        return [output.name for output in self.outputs if not is_python(output)]

    def _outputs(self, times: Vector, states: Vector, undetermined: set[str]) -> list[Vector]:
        table = np.empty((len(times), 0))
        if self.formulas is not None and len(times):
            table = self.motion.outputs(self.formulas, times, states, self.problem.parameters)
        computed = iter(table.T if self.formulas is None or len(times) else np.empty((len(self._formula_names), 0)))
        columns = [python_output(o, times, states) if is_python(o) else next(computed) for o in self.outputs]
        return [
            np.full(len(times), np.nan) if output.name in undetermined else column
            for output, column in zip(self.outputs, columns, strict=True)
        ]

    def _occurrences(self) -> tuple[Occurrence, ...]:
        names = [state.name for state in self.motion.binding.system.states]
        labels = [*(event.name for event in self.motion.events), *self.motion.labels]
        return tuple(
            Occurrence(labels[int(mark[1])], float(mark[0]), dict(zip(names, mark[2:].tolist(), strict=True)))
            for mark in self.run.marks
        )
