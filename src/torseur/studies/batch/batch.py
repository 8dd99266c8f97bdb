"""A study's motions compiled together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from torseur.codegen.c.compiler import find_compiler
from torseur.codegen.compiled import CompiledRoutine
from torseur.graph import Input, Program, vector
from torseur.sensitivity.criteria import ReadCriterion
from torseur.sensitivity.loop import routine_of
from torseur.sensitivity.routines import OpenRoutines
from torseur.sensitivity.variation import Variation
from torseur.simulation.memory import DONE
from torseur.simulation.problem import checked_rtol, longest_step
from torseur.simulation.system import System, Vector
from torseur.studies.batch.lanes import LANES, lane_motions
from torseur.studies.batch.motions import motions
from torseur.studies.batch.programs import KINDS, Observed, prepared_together, widened
from torseur.studies.batch.starts import Starts

MOST_STEPS = 1_000_000
MOST_IN_LANES = 400  # operations of the slopes up to which eight motions side by side pay
WORTH_LANES = 50_000  # motions that save more time than the C compiler takes
ENOUGH_FOR_LANES = 64  # points from which the lanes are full for long enough


class Found(NamedTuple):
    """Values (point, criterion), slopes (point, criterion, parameter), outputs (point, output, time), and which rows
    have them.
    """

    values: Vector
    slopes: Vector
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
    """Motions of one system from `starts`, judged by criteria, with slopes by what varies in `starts.variation`.

    `expected` is how many motions there will be in all: many are worth more compilation.
    """

    starts: Starts
    criteria: tuple[ReadCriterion, ...]
    until: float
    outputs: tuple[ReadCriterion, ...] = ()
    times: tuple[float, ...] = ()
    backend: str = "auto"
    expected: int = 0

    def __call__(self, points: Vector) -> Found:
        """Criteria at points, one row of the axes' values each."""
        if len(points) >= ENOUGH_FOR_LANES and self.lanes is not None:
            return self._in_lanes(self.lanes, points)
        states, given, tolerances = self.starts.rows(points)
        out = np.full((len(points), self._width), np.nan)
        kept = np.full((len(points), len(self.times), len(self.outputs)), np.nan)
        answers = np.zeros(max(len(points), 1), dtype=np.int64)
        samples = np.empty(max(len(self.times) * states.shape[1], 1))
        self.routine(
            len(points), self._settings, np.array(self.times or (0.0,)), _flat(states), _flat(given),
            _flat(tolerances), *self._labels, samples, _flat(out), _flat(kept), answers,
        )  # fmt: skip
        return self._found(out, kept, answers[: len(points)] == DONE)

    def _in_lanes(self, lanes: CompiledRoutine, points: Vector) -> Found:
        """Points whose motions run side by side; those that do not end well are done again one after another."""
        states, given, tolerances = self.starts.rows(points)
        out = np.full((len(points), self._width), np.nan)
        answers = np.zeros(len(points), dtype=np.int64)
        lanes(len(points), self._settings, _flat(states), _flat(given), _flat(tolerances), _flat(out), answers)
        return self._found(out, np.empty((len(points), 0, 0)), answers == DONE)

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
        externals, statics = self._linked
        wide = {"rhs_lanes": widened(externals["rhs"], LANES)}
        return routine_of(lane_motions, self._variation.size, statics, {**externals, **wide}, "c")

    @property
    def _variation(self) -> Variation:
        return self.starts.variation

    @cached_property
    def _observed(self) -> Observed:
        """Criteria with events of their own first, as the routine expects them."""
        plain = [c for c in self.criteria if c.kind != "integral"]
        return Observed(tuple(sorted(plain, key=lambda c: c.when is None)), self._variation)

    @cached_property
    def _order(self) -> list[int]:
        """For each criterion its place among the routine's results: observed ones, then integrals."""
        integrals = [c for c in self.criteria if c.kind == "integral"]
        listed = [*self._observed.criteria, *integrals]
        return [listed.index(criterion) for criterion in self.criteria]

    @property
    def _width(self) -> int:
        return max(len(self.criteria) * (1 + self._variation.columns), 1)

    @cached_property
    def _settings(self) -> Vector:
        looks = float(self._variation.columns == 0)
        integration = self.starts.integration
        longest = longest_step(integration.max_step, 0.0, self.until)
        rtol = checked_rtol(integration.rtol)
        return np.array([0.0, self.until, rtol, longest, MOST_STEPS, looks, len(self.times)])

    @cached_property
    def _labels(self) -> list[NDArray[np.int64]]:
        """Kind, event and occurrence of each criterion, and the directions of the events."""
        observed = self._observed
        return [
            _integers([KINDS[c.kind] for c in observed.criteria]),
            _integers(observed.watched),
            _integers([c.criterion.occurrence for c in observed.criteria]),
            _integers([direction for _, direction in observed.events]),
        ]

    @cached_property
    def routine(self) -> CompiledRoutine:
        """The loop over points; compiled when first used."""
        externals, statics = self._linked
        size = self._variation.size * (1 + self._variation.columns)
        return routine_of(motions, size, statics, externals, self.backend)

    @cached_property
    def _linked(self) -> tuple[dict[str, Any], dict[str, int]]:
        """Externals and compile-time numbers of the loop."""
        variation, observed = self._variation, self._observed
        routines = OpenRoutines(variation)
        externals = {**(routines.direct if variation.columns else routines.forward), **observed.externals()}
        if self.outputs:
            formulas = [output.formula for output in self.outputs]
            externals["outputs"] = Program("outputs", variation.rhs.inputs, (vector("z", formulas),))
        parameters = next((g for g in variation.rhs.inputs if g.name == "p"), Input("p", ()))
        externals = prepared_together(externals, parameters)
        statics = {
            **routines.statics,
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

    def _found(self, out: Vector, kept: Vector, is_done: NDArray[np.bool_]) -> Found:
        columns = self._variation.columns
        table = out.reshape(len(out), -1, 1 + columns)[:, self._order]
        is_good = is_done & np.isfinite(table).all(axis=(1, 2)) & np.isfinite(kept).all(axis=(1, 2))
        return Found(table[:, :, 0], table[:, :, 1:], kept.transpose(0, 2, 1), is_good)


def _flat(array: Vector) -> Vector:
    flat: Vector = np.ascontiguousarray(array).reshape(-1)
    return flat if flat.size else np.zeros(1)


def _integers(values: Sequence[int]) -> NDArray[np.int64]:
    return np.array(values or [0], dtype=np.int64)
