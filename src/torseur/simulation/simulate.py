"""`simulate`: from equations to a trajectory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isnan

import numpy as np

from torseur.errors import SimulationError, TorseurError
from torseur.graph import Expr, Program, symbols_of
from torseur.simulation import memory
from torseur.simulation.binding import Binding
from torseur.simulation.constrained.determinacy import undetermined_outputs
from torseur.simulation.constrained.diagnosis import explain_constrained
from torseur.simulation.constrained.setup import at_start, formulation_named
from torseur.simulation.dense import DenseOutput
from torseur.simulation.dop853 import PIECE_STATE, PIECE_TIME
from torseur.simulation.failure import failure_message
from torseur.simulation.from_equations import Model, as_system
from torseur.simulation.integrator import Run
from torseur.simulation.jumps import Jumps
from torseur.simulation.laws import called, given_laws
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
    Impact,
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
    events: Sequence[str | Event | Impact] = (),
    laws: Mapping[str, Callable[..., float]] | None = None,
    method: str = "auto",
    formulation: str = "augmented",
    independent: Sequence[str] = (),
    rtol: float = 1e-9,
    atol: Tolerance = None,
    dense: bool = False,
    max_steps: int = 1_000_000,
    max_step: float | None = None,
    backend: str = "auto",
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """The motion from `start` to `until` (which may lie before it).

    method      "explicit" (order 8), "radau5" or "radau9" (implicit, for stiff systems), or "auto": explicit, and
                implicit from where the system turns out to be stiff
    formulation of constrained systems: "augmented", "partitioned" or "projector"; they give the same motion
    independent coordinates or speeds that the partitioned formulation keeps independent while they are well conditioned
    samples     the times to keep, or how many, evenly spaced; by default every step of the method
    initial     values of states that replace those of the equations; `parameters` likewise. Coordinates and speeds that
                nobody gives follow from the constraints
    events      also contacts that rebound (Impact)
    laws        a Python function for each law the equations leave open
    rtol, atol  error allowed per step and state: atol + rtol |y|. By default atol is rtol times the largest initial
                magnitude among the states of the same unit, or rtol where these vanish
    dense       keeps the interpolant of every step, so that `state_at` knows any time
    max_step    longest step; by default a tenth of the time span
    progress    is called now and then with the part of the time span that is done

    What was decided on the way (an implicit method, other independent speeds, redundant constraints, outputs that are
    not determined) stands in the trajectory's `notes`.

    Raises SimulationError when the motion ends early; its `trajectory` holds the valid part.
    """
    impacts = [event for event in events if isinstance(event, Impact)]
    ordered = tuple(sorted(as_events([e for e in events if not isinstance(e, Impact)]), key=is_python))
    system = started(as_system(model, parameters, initial, impacts), laws, start, formulation, independent)
    state = np.array(system.initial)
    wanted = as_outputs(outputs)
    columns = _columns(system, wanted)
    start, until = finite_time("start", start), finite_time("until", until)
    given = system.solver_parameters
    jumps = Jumps(system, ordered, given)
    problem = Problem(
        initial=finite_state(state, system),
        parameters=given,
        start=start,
        until=until,
        rtol=checked_rtol(rtol),
        atol=absolute_tolerance(atol, rtol, system, state),
        times=sample_times(samples, start, until),
        keep=kept_of_steps(samples, dense),
        max_steps=most_steps(max_steps),
        max_step=longest_step(max_step, start, until),
        directions=jumps.directions,
        limits=jumps.limits,
        progress=progress,
        repartition=partial(_repartition, system, given),
        hold=partial(_hold, system, given),
        reselect=partial(_reselect, system, given) if system.constrained and system.constrained.is_redundant else None,
        jump=jumps.apply,
    )
    binding = Binding(system, laws)
    formulas = output_program(wanted, system)
    run = binding.integrator_for(method, rtol, ordered, backend).run(problem)
    result = _Result(binding, problem, run, wanted, formulas, columns, jumps, backend, samples is None, dense)
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
    jumps: Jumps
    backend: str
    by_steps: bool
    dense: bool

    def trajectory(self) -> Trajectory:
        system = self.binding.system
        times, states = self._kept()
        undetermined = self._undetermined(times, states)
        values = np.column_stack([states, *self._outputs(times, states, undetermined)])
        open_notes = _open_notes(undetermined)
        return Trajectory(
            time=times,
            values=values,
            columns=self.columns,
            name=system.name,
            events=self._occurrences(),
            statistics=self.run.statistics,
            dense=self._dense_output() if self.dense and len(self.run.rows) else None,
            notes=(*system.notes, *self.run.notes, *open_notes),
        )

    def _kept(self) -> tuple[Vector, Vector]:
        """Times and states: the samples asked for, or the start of every step and the end of the last."""
        if not self.by_steps:
            return self.problem.times[: len(self.run.samples)].copy(), self.run.samples
        rows, n = self.run.rows, len(self.run.y)
        states = np.vstack([rows[:, PIECE_STATE : PIECE_STATE + n], self.run.y])
        return np.append(rows[:, PIECE_TIME], self.run.t), states

    def _outputs(self, times: Vector, states: Vector, undetermined: Collection[str]) -> list[Vector]:
        table = np.empty((len(times), 0))
        if self.formulas is not None:
            table = self.binding.outputs(self.formulas, times, states, self.problem.parameters, self.backend)
        computed = iter(table.T)
        columns = [
            _python_output(output, times, states) if is_python(output) else next(computed) for output in self.outputs
        ]
        names = [output.name for output in self.outputs]
        return [
            np.full(len(times), np.nan) if name in undetermined else column
            for name, column in zip(names, columns, strict=True)
        ]

    def _undetermined(self, times: Vector, states: Vector) -> dict[str, str]:
        """Outputs without a value, each with the reason."""
        system = self.binding.system
        names = [output.name for output in self.outputs if not is_python(output)]
        known = getattr(system.quantities, "undetermined", {})
        found = {name: known[name] for name in names if name in known}
        if self.formulas is None:
            return found
        formulas = dict(zip(names, self.formulas.outputs[0].entries, strict=True))
        if system.constrained is not None:
            found |= undetermined_outputs(system.constrained, formulas, times, states)
        return found | _without_values(system, formulas)

    def _occurrences(self) -> tuple[Occurrence, ...]:
        states = [state.name for state in self.binding.system.states]
        contacts, labels = self.binding.contacts, iter(self.jumps.labels)
        found = []
        for mark in self.run.marks:
            number = int(mark[1])
            name = next(labels) if number < contacts else self.jumps.events[number - contacts].name
            found.append(Occurrence(name, float(mark[0]), dict(zip(states, mark[2:].tolist(), strict=True))))
        return tuple(found)

    def _dense_output(self) -> DenseOutput:
        settle = self.binding.settle(self.problem.parameters, self.backend)
        return DenseOutput(self.run.rows, self.run.t, settle)


def _without_values(system: System, formulas: Mapping[str, Expr]) -> dict[str, str]:
    """Outputs that depend on a parameter nobody gave, which the motion itself does not need."""
    missing = {p.name for p, value in zip(system.parameters, system.values, strict=True) if isnan(value)}
    found = {}
    for name, formula in formulas.items() if missing else ():
        lacking = sorted({str(x.name) for x in symbols_of([formula])} & missing)
        if lacking:
            found[name] = f"no value is given for '{lacking[0]}'"
    return found


def _open_notes(undetermined: Mapping[str, str]) -> list[str]:
    """Outputs without a value, those with the same reason together."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in undetermined.items():
        by_reason.setdefault(reason, []).append(f"'{name}'")
    return [
        f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} not determined: {reason}."
        for reason, names in by_reason.items()
    ]


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


def started(
    system: System,
    laws: Mapping[str, Callable[..., float]] | None,
    start: float,
    formulation: str,
    independent: Sequence[str] = (),
) -> System:
    """The system with an initial state on its constraints."""
    if system.constrained is None:
        return system
    functions = dict(zip([law.name for law in system.laws], given_laws(system, laws), strict=True))
    constrained = replace(system.constrained, formulation=formulation_named(formulation))
    values, state = np.array(system.values), np.array(system.initial)
    ready, found = at_start(constrained, values, functions, start, state, independent)
    assert ready.numbers is not None and ready.usual is not None
    explain = partial(explain_constrained, ready.numbers, ready.usual)
    return replace(system, constrained=ready, initial=tuple(found.y.tolist()), notes=found.notes, explain=explain)


def _repartition(system: System, parameters: Vector, t: float, y: Vector) -> str:
    assert system.constrained is not None
    chosen, note = system.constrained.partitioned(t, y)
    parameters[len(parameters) - len(chosen) :] = chosen
    return note


def _reselect(system: System, parameters: Vector, t: float, y: Vector) -> None:
    """Writes another selection of constraints into the parameters, and the partition that goes with it."""
    constrained = system.constrained
    assert constrained is not None
    if constrained.reselect(t, y):
        first = len(system.values) + constrained.statics["SIZES"]
        parameters[first : first + constrained.statics["NC"]] = constrained.sizes
        if constrained.is_partitioned:
            _repartition(system, parameters, t, y)


def _hold(system: System, parameters: Vector, slope: Vector) -> None:
    """Keeps the accelerations for the passage of a singular configuration."""
    assert system.constrained is not None
    statics = system.constrained.statics
    first = len(system.values) + statics["HELD"]
    parameters[first - 1] = 1.0
    parameters[first : first + statics["NV"]] = slope[statics["NQ"] :]
