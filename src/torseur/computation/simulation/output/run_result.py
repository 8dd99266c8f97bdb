"""From a run of the integrator to a trajectory: its rows, outputs, events, and what has to be said."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from torseur.algebra.graph import Expr, Program, symbols_of
from torseur.computation.simulation.constrained.determinacy import undetermined_outputs
from torseur.computation.simulation.constrained.solver.constrained_setup import Constrained
from torseur.computation.simulation.events.state_jumps import Jumps
from torseur.computation.simulation.loop.integrator import Run
from torseur.computation.simulation.loop.routine_binding import Binding
from torseur.computation.simulation.model.force_laws import call_user_function
from torseur.computation.simulation.model.outputs_and_events import Output, is_python, quantity_of
from torseur.computation.simulation.model.system import System, Vector
from torseur.computation.simulation.output.dense_motion import DenseOutput
from torseur.computation.simulation.output.extrapolation import table_notes
from torseur.computation.simulation.output.trajectory import Column, Kind, Occurrence, Trajectory
from torseur.computation.simulation.problem import Problem
from torseur.errors import TorseurError


@dataclass(frozen=True)
class Result:
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
        times, states = self._samples()
        undetermined = self._reasons_without_value(times, states)
        values = np.column_stack([states, *self._outputs(times, states, undetermined)])
        return Trajectory(
            time=times,
            values=values,
            columns=self.columns,
            name=system.name,
            events=self._occurrences(),
            statistics=self.run.statistics,
            dense=self._dense_output() if self.dense and len(self.run.rows) else None,
            notes=(
                *system.notes,
                *self.run.notes,
                *self.jumps.notes,
                *self.binding.switches.notes,
                *self.jumps.too_fast(self.run.unresolved),
                *open_notes(undetermined),
                *table_notes(system, times, states),
            ),
        )

    def _samples(self) -> tuple[Vector, Vector]:
        """Times and states: the samples asked for, or the start of every step and the end of the last."""
        if not self.by_steps:
            return self.problem.times[: len(self.run.samples)].copy(), self.run.samples
        rows, n = self.run.rows, len(self.run.y)
        states = np.vstack([rows[:, 2 : 2 + n], self.run.y])
        return np.append(rows[:, 0], self.run.t), states

    def _outputs(self, times: Vector, states: Vector, undetermined: Collection[str]) -> list[Vector]:
        table = np.empty((len(times), 0))
        if self.formulas is not None:
            parts = [self._formula_values(times, states, *part) for part in self._parts(len(times))]
            table = np.concatenate(parts)
        computed = iter(table.T)
        columns = [
            python_output(output, times, states) if is_python(output) else next(computed) for output in self.outputs
        ]
        names = [output.name for output in self.outputs]
        return [
            np.full(len(times), np.nan) if name in undetermined else column
            for name, column in zip(names, columns, strict=True)
        ]

    def _parts(self, count: int) -> list[tuple[slice, Vector]]:
        """Rows of the table with the parameters in force there: contacts change along the motion."""
        segments = self.jumps.segments
        starts = [min(s.row if self.by_steps else s.sample, count) for s in segments]
        ends = [*starts[1:], count]
        # A segment without a sample has no part, but a motion without any keeps an empty one, which has the columns.
        return [(slice(a, b), s.parameters) for a, b, s in zip(starts, ends, segments, strict=True) if a < b or b == 0]

    def _formula_values(self, times: Vector, states: Vector, rows: slice, parameters: Vector) -> Vector:
        assert self.formulas is not None
        own = np.ascontiguousarray(states[rows])
        return self.binding.outputs(self.formulas, np.ascontiguousarray(times[rows]), own, parameters, self.backend)

    def _reasons_without_value(self, times: Vector, states: Vector) -> dict[str, str]:
        """Outputs without a value, each with the reason."""
        system = self.binding.system
        if self.formulas is None:
            formulas = {}
        else:
            names = [output.name for output in self.outputs if not is_python(output)]
            formulas = dict(zip(names, self.formulas.outputs[0].entries, strict=True))
        return reasons_without_value(system, system.constrained, formulas, times, states)

    def _occurrences(self) -> tuple[Occurrence, ...]:
        states = [state.name for state in self.binding.system.states]
        contacts, labels = self.binding.contacts, iter(self.jumps.labels)
        occurrences = []
        for mark in self.run.marks:
            number = int(mark[1])
            name = next(labels, "contact") if number < contacts else self.jumps.events[number - contacts].name
            occurrences.append(Occurrence(name, float(mark[0]), dict(zip(states, mark[2:].tolist(), strict=True))))
        return tuple(occurrences)

    def _dense_output(self) -> DenseOutput:
        in_force = tuple((segment.time, segment.parameters) for segment in self.jumps.segments)
        settle = self.binding.settle(in_force, self.backend)
        return DenseOutput(self.run.rows, self.run.t, settle)


def reasons_without_value(
    system: System, constrained: Constrained | None, formulas: Mapping[str, Expr], times: Vector, states: Vector
) -> dict[str, str]:
    """Formulas of outputs without a value, each with the reason; `constrained` are the constraints they depend on."""
    known = getattr(system.quantities, "undetermined", {})
    reasons = {name: known[name] for name in formulas if name in known}
    if constrained is not None:
        reasons |= undetermined_outputs(constrained, formulas, times, states)
    return reasons | _without_values(system, formulas)


def open_notes(undetermined: Mapping[str, str]) -> list[str]:
    """Outputs without a value, those with the same reason together."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in undetermined.items():
        by_reason.setdefault(reason, []).append(f"'{name}'")
    return [
        f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} not determined: {reason}."
        for reason, names in by_reason.items()
    ]


def _without_values(system: System, formulas: Mapping[str, Expr]) -> dict[str, str]:
    """Outputs that depend on a parameter nobody gave, which the motion itself does not need."""
    missing = {p.name for p, value in zip(system.parameters, system.values, strict=True) if isnan(value)}
    reasons = {}
    for name, formula in formulas.items() if missing else ():
        lacking = sorted({str(x.name) for x in symbols_of([formula])} & missing)
        if lacking:
            reasons[name] = f"no value is given for '{lacking[0]}'"
    return reasons


def columns_of(system: System, outputs: Sequence[Output]) -> tuple[Column, ...]:
    kinds = [Kind.COORDINATE if slot < system.coordinates else Kind.VELOCITY for slot in range(len(system.states))]
    states = [Column(quantity, kind) for quantity, kind in zip(system.states, kinds, strict=True)]
    columns = (*states, *(Column(quantity_of(output, system), Kind.OUTPUT) for output in outputs))
    names = [column.name for column in columns]
    for name in names:
        if names.count(name) > 1:
            raise TorseurError(f"two columns are named '{name}': the states are columns already, and names are unique.")
    return columns


def python_output(output: Output, times: Vector, states: Vector) -> Vector:
    function = output.function
    assert callable(function)
    rows = zip(times.tolist(), states, strict=True)
    return np.array([call_user_function(f"output '{output.name}'", t, function, t, state) for t, state in rows])
