"""A study's motions compiled together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from torseur.codegen.compiled import CompiledRoutine
from torseur.graph import Input, Program, vector
from torseur.sensitivity.criteria import ReadCriterion
from torseur.sensitivity.loop import routine_of
from torseur.sensitivity.routines import OpenRoutines
from torseur.sensitivity.variation import Variation
from torseur.simulation.memory import DONE
from torseur.simulation.problem import checked_rtol, longest_step
from torseur.simulation.system import System, Vector
from torseur.studies.batch.motions import motions
from torseur.studies.batch.programs import KINDS, Observed, prepared_together
from torseur.studies.batch.starts import Starts

MOST_STEPS = 1_000_000


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
    """Motions of one system from `starts`, judged by criteria, with slopes by what varies in `starts.variation`."""

    starts: Starts
    criteria: tuple[ReadCriterion, ...]
    until: float
    outputs: tuple[ReadCriterion, ...] = ()
    times: tuple[float, ...] = ()
    backend: str = "auto"

    def __call__(self, points: Vector) -> Found:
        """Criteria at points, one row of the axes' values each."""
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
        variation, observed = self._variation, self._observed
        size = variation.size * (1 + variation.columns)
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
        return routine_of(motions, size, statics, externals, self.backend)

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
