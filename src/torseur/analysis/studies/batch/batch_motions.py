"""A study's motions compiled together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from torseur.algebra.graph import Input, Program, vector
from torseur.analysis.sensitivity.criteria.criteria import ReadCriterion
from torseur.analysis.sensitivity.extended_loop import known_switches, routine_of
from torseur.analysis.sensitivity.method_routines import OpenRoutines
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.analysis.studies.batch.batch_programs import KINDS, Observation, share_preparation, widen
from torseur.analysis.studies.batch.batch_starts import Starts
from torseur.analysis.studies.batch.lanes import EIGHT, lane_motions
from torseur.analysis.studies.batch.motion_points import Criteria, Points, Samples, Task, motions
from torseur.computation.codegen.kernels.compiled_routine import CompiledRoutine
from torseur.computation.codegen.targets.c.c_compiler import find_compiler
from torseur.computation.simulation.loop.memory import DONE
from torseur.computation.simulation.model.system import System, Vector
from torseur.computation.simulation.problem import checked_rtol, longest_step

MOST_STEPS = 1_000_000
MOST_IN_LANES = 400  # operations of the right-hand side up to which eight motions side by side pay
WORTH_LANES = 50_000  # motions that save more time than the C compiler takes
ENOUGH_FOR_LANES = 64  # points from which the lanes are full for long enough


class BatchResults(NamedTuple):
    """Values (point, criterion), derivatives (point, criterion, parameter), outputs (point, output, time), and which
    rows have them.
    """

    values: Vector
    derivatives: Vector
    outputs: Vector
    is_good: NDArray[np.bool_]


def why_not(system: System) -> str:
    """Why motions of a system cannot be compiled together; nothing when they can."""
    if system.constrained is not None:
        return f"{system.name} has constraints, and Python chooses its independent speeds"
    if not isinstance(system.rhs, Program) or system.laws:
        return f"{system.name} calls Python functions"
    return ""


@dataclass(frozen=True, eq=False)
class Batch:
    """Motions of one system from `starts`, judged by criteria, with derivatives by what varies in `starts.variation`.

    `expected` is how many motions there will be in all: many are worth more compilation.
    """

    starts: Starts
    criteria: tuple[ReadCriterion, ...]
    until: float
    outputs: tuple[ReadCriterion, ...] = ()
    times: tuple[float, ...] = ()
    backend: str = "auto"
    expected: int = 0

    def __call__(self, points: Vector) -> BatchResults:
        """Criteria at points, one row of the axes' values each."""
        if len(points) >= ENOUGH_FOR_LANES and self.lanes is not None:
            return self._in_lanes(self.lanes, points)
        rows = self._points(points, self._motion_statics)
        kept = np.full((len(points), len(self.times), len(self.outputs)), np.nan)
        states = np.empty((max(len(self.times), 1), rows.states.shape[1]))
        times = np.array(self.times or (0.0,))
        samples = Samples.bound(self._motion_statics)(times, states, kept.reshape(-1))
        self.routine(rows, self._task, self._criteria_record, samples)
        return self._results(rows.out, kept, rows.answers[: len(points)] == DONE)

    def _points(self, points: Vector, statics: dict[str, int]) -> Points:
        """Where the motions start."""
        states, given, atol = (np.ascontiguousarray(part) for part in self.starts.rows(points))
        out = np.full((len(points), self._width), np.nan)
        answers = np.zeros(max(len(points), 1), dtype=np.int64)
        return Points.bound(statics)(states, given, atol, out, answers, count=len(points))

    def _in_lanes(self, lanes: CompiledRoutine, points: Vector) -> BatchResults:
        """Points whose motions run side by side; those that do not end well are done again one after another."""
        rows = self._points(points, self._lane_statics)
        lanes(rows, self._task)
        return self._results(rows.out, np.empty((len(points), 0, 0)), rows.answers == DONE)

    def compile(self) -> None:
        """Makes ready what calls will use."""
        _ = self.lanes, self.routine

    @property
    def is_plain(self) -> bool:
        """Whether only values at the end and integrals are asked for, of motions on no manifold."""
        kinds = {criterion.kind for criterion in self.criteria}
        return (
            kinds <= {"value", "integral"}
            and not self.outputs
            and not self._variation.columns
            and self._variation.system.project is None
        )

    @cached_property
    def lanes(self) -> CompiledRoutine | None:
        """The loop over points with eight motions side by side; None where it cannot be had or would not pay."""
        operations = len(self._variation.rhs.operations)
        pays = self.is_plain and self.expected >= WORTH_LANES and operations <= MOST_IN_LANES
        if not pays or self.backend not in ("auto", "c") or find_compiler() is None:
            return None
        externals, _ = self._externals_and_statics
        wide = {"rhs_lanes": widen(externals["rhs"], EIGHT)}
        return routine_of(lane_motions, self._variation.size, self._lane_statics, {**externals, **wide}, "c")

    @property
    def _lane_statics(self) -> dict[str, int]:
        return {**self._externals_and_statics[1], "N": self._variation.size, "LANES": EIGHT}

    @property
    def _motion_statics(self) -> dict[str, int]:
        return {**self._externals_and_statics[1], "N": self._variation.size * (1 + self._variation.columns)}

    @property
    def _variation(self) -> Variation:
        return self.starts.variation

    @cached_property
    def _observation(self) -> Observation:
        """Criteria with events of their own first, as the routine expects them."""
        plain = [c for c in self.criteria if c.kind != "integral"]
        return Observation(tuple(sorted(plain, key=lambda c: c.when is None)), self._variation)

    @cached_property
    def _order(self) -> list[int]:
        """For each criterion its place among the routine's results: observed ones, then integrals."""
        integrals = [c for c in self.criteria if c.kind == "integral"]
        listed = [*self._observation.criteria, *integrals]
        return [listed.index(criterion) for criterion in self.criteria]

    @property
    def _width(self) -> int:
        return max(len(self.criteria) * (1 + self._variation.columns), 1)

    @cached_property
    def _task(self) -> Task:
        integration = self.starts.integration
        return Task(
            until=self.until,
            rtol=checked_rtol(integration.rtol),
            max_step=longest_step(integration.max_step, 0.0, self.until),
            most_steps=MOST_STEPS,
            watches_stiffness=self._variation.columns == 0,
            sample_count=len(self.times),
        )

    @cached_property
    def _criteria_record(self) -> Criteria:
        observed = self._observation
        return Criteria(
            _integers([KINDS[c.kind] for c in observed.criteria]),
            _integers(observed.event_numbers),
            _integers([c.criterion.occurrence for c in observed.criteria]),
            _integers([direction for _, direction in observed.events]),
        )

    @cached_property
    def routine(self) -> CompiledRoutine:
        """The loop over points; compiled when first used."""
        statics = self._motion_statics
        return routine_of(motions, statics["N"], statics, self._externals_and_statics[0], self.backend)

    @cached_property
    def _externals_and_statics(self) -> tuple[dict[str, Any], dict[str, int]]:
        """Externals and compile-time numbers of the loop."""
        variation, observed = self._variation, self._observation
        routines = OpenRoutines(variation)
        externals = {**(routines.direct if variation.columns else routines.forward), **observed.externals()}
        if self.outputs:
            formulas = [output.formula for output in self.outputs]
            externals["outputs"] = Program("outputs", variation.rhs.inputs, (vector("z", formulas),))
        switches = known_switches(variation).program
        if switches is not None:
            externals["next_switch"] = switches
        parameters = next((g for g in variation.rhs.inputs if g.name == "p"), Input("p", ()))
        externals = share_preparation(externals, parameters)
        statics = {
            **routines.statics,
            "SWITCHES": int(switches is not None),
            "NX": variation.size,
            "NY": len(variation.states),
            "NPAR": variation.columns,
            "NG": len(observed.events),
            "OBSERVED": len(observed.criteria),
            "WHENS": len(observed.whens),
            "OUTPUTS": len(self.outputs),
            "GIVEN": len(variation.system.parameters),
            "PREPARED": max(len(externals["prepare"].outputs[0]), 1),
        }
        return externals, statics

    def _results(self, out: Vector, kept: Vector, is_done: NDArray[np.bool_]) -> BatchResults:
        columns = self._variation.columns
        table = out.reshape(len(out), -1, 1 + columns)[:, self._order]
        is_good = is_done & np.isfinite(table).all(axis=(1, 2)) & np.isfinite(kept).all(axis=(1, 2))
        return BatchResults(table[:, :, 0], table[:, :, 1:], kept.transpose(0, 2, 1), is_good)


def _integers(values: Sequence[int]) -> NDArray[np.int64]:
    return np.array(values or [0], dtype=np.int64)
