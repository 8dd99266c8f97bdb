"""`simulate`: from equations to a trajectory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.errors import SimulationError, TorseurError
from torseur.graph import Program
from torseur.simulation import memory
from torseur.simulation.binding import Binding
from torseur.simulation.dense import DenseOutput
from torseur.simulation.dop853 import PIECE_STATE, PIECE_TIME
from torseur.simulation.failure import failure_message
from torseur.simulation.from_equations import Model, as_system
from torseur.simulation.integrator import Run
from torseur.simulation.laws import called
from torseur.simulation.problem import (
    Problem,
    Samples,
    Tolerance,
    absolute_tolerance,
    checked_rtol,
    finite_state,
    finite_time,
    kept_of_steps,
    longest_step,
    most_steps,
    sample_times,
)
from torseur.simulation.requests import (
    Event,
    Output,
    as_events,
    as_outputs,
    is_python,
    output_program,
    quantity_of,
)
from torseur.simulation.system import System, Vector
from torseur.simulation.trajectory import Column, Kind, Occurrence, Trajectory


def simulate(
    model: Model,
    until: float,
    *,
    start: float = 0.0,
    samples: Samples = None,
    initial: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
    outputs: Sequence[str | Output] = (),
    events: Sequence[str | Event] = (),
    laws: Mapping[str, Callable[..., float]] | None = None,
    rtol: float = 1e-9,
    atol: Tolerance = None,
    dense: bool = False,
    max_steps: int = 1_000_000,
    max_step: float | None = None,
    backend: str = "auto",
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """The motion from `start` to `until` (which may lie before it), by an explicit method of order 8.

    samples     the times to keep, or how many, evenly spaced; by default every step of the method
    initial     values of states that replace those of the equations; `parameters` likewise
    laws        a Python function for each law the equations leave open
    rtol, atol  error allowed per step and state: atol + rtol |y|. By default atol is rtol times the largest initial
                magnitude among the states of the same unit, or rtol where these vanish
    dense       keeps the interpolant of every step, so that `state_at` knows any time
    max_step    longest step; by default a tenth of the time span
    progress    is called now and then with the part of the time span that is done

    Raises SimulationError when the motion ends early; its `trajectory` holds the valid part.
    """
    system = as_system(model, parameters, initial)
    state = np.array(system.initial)
    wanted = as_outputs(outputs)
    columns = _columns(system, wanted)
    ordered = tuple(sorted(as_events(events), key=is_python))
    start, until = finite_time("start", start), finite_time("until", until)
    problem = Problem(
        initial=finite_state(state, system), parameters=np.array(system.values), start=start, until=until,
        rtol=checked_rtol(rtol), atol=absolute_tolerance(atol, rtol, system, state),
        times=sample_times(samples, start, until), keep=kept_of_steps(samples, dense), max_steps=most_steps(max_steps),
        max_step=longest_step(max_step, start, until), directions=tuple(event.direction for event in ordered),
        limits=tuple(int(event.stop) for event in ordered), progress=progress,
    )
    binding = Binding(system, laws)
    formulas = output_program(wanted, system)
    run = binding.integrator(ordered, backend).run(problem)
    result = _Result(binding, problem, run, wanted, formulas, columns, ordered, backend, samples is None, dense)
    if run.error is not None:
        raise SimulationError(f"{system.name}: {run.error}", result.trajectory()) from run.error.__cause__
    if run.answer not in (memory.DONE, memory.STOPPED):
        raise SimulationError(failure_message(run, problem, system), result.trajectory())
    return result.trajectory()


@dataclass(frozen=True)
class _Result:
    """A run with what was asked of it, on its way to a trajectory."""

    binding: Binding
    problem: Problem
    run: Run
    outputs: tuple[Output, ...]
    formulas: Program | None
    columns: tuple[Column, ...]
    events: tuple[Event, ...]
    backend: str
    by_steps: bool
    dense: bool

    def trajectory(self) -> Trajectory:
        system = self.binding.system
        times, states = self._kept()
        values = np.column_stack([states, *self._outputs(times, states)])
        return Trajectory(
            time=times, values=values, columns=self.columns, name=system.name,
            events=tuple(self._occurrence(mark) for mark in self.run.marks), statistics=self.run.statistics,
            dense=self._dense_output() if self.dense and len(self.run.rows) else None,
        )

    def _kept(self) -> tuple[Vector, Vector]:
        """Times and states: the samples asked for, or the start of every step and the end of the last."""
        if not self.by_steps:
            return self.problem.times[: len(self.run.samples)].copy(), self.run.samples
        rows, n = self.run.rows, len(self.run.y)
        states = np.vstack([rows[:, PIECE_STATE : PIECE_STATE + n], self.run.y])
        return np.append(rows[:, PIECE_TIME], self.run.t), states

    def _outputs(self, times: Vector, states: Vector) -> list[Vector]:
        table = np.empty((len(times), 0))
        if self.formulas is not None:
            table = self.binding.outputs(self.formulas, times, states, self.problem.parameters, self.backend)
        computed = iter(table.T)
        return [
            _python_output(output, times, states) if is_python(output) else next(computed) for output in self.outputs
        ]

    def _occurrence(self, mark: Vector) -> Occurrence:
        names = [state.name for state in self.binding.system.states]
        event = self.events[int(mark[1])]
        return Occurrence(event.name, float(mark[0]), dict(zip(names, mark[2:].tolist(), strict=True)))

    def _dense_output(self) -> DenseOutput:
        settle = self.binding.settle(self.problem.parameters, self.backend)
        return DenseOutput(self.run.rows, self.run.t, settle)


def _columns(system: System, outputs: Sequence[Output]) -> tuple[Column, ...]:
    kinds = [Kind.COORDINATE if slot < system.coordinates else Kind.VELOCITY for slot in range(len(system.states))]
    states = [Column(quantity, kind) for quantity, kind in zip(system.states, kinds, strict=True)]
    columns = (*states, *(Column(quantity_of(output, system), Kind.OUTPUT) for output in outputs))
    names = [column.name for column in columns]
    for name in names:
        if names.count(name) > 1:
            raise TorseurError(f"two columns are named '{name}': the states are columns already, and names are unique.")
    return columns


def _python_output(output: Output, times: Vector, states: Vector) -> Vector:
    function = output.function
    assert callable(function)
    rows = zip(times.tolist(), states, strict=True)
    return np.array([called(f"output '{output.name}'", t, function, t, state) for t, state in rows])
