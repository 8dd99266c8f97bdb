"""Criteria at the points of a study: all motions in one compiled call where possible, else one after another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock

import numpy as np

from torseur.analysis.sensitivity.criteria.criteria import ReadCriterion, read_criterion
from torseur.analysis.sensitivity.events.switches import switches_of
from torseur.analysis.sensitivity.method_routines import OpenRoutines
from torseur.analysis.sensitivity.model.initial_derivatives import initial_tangents
from torseur.analysis.sensitivity.model.motion_derivatives import MotionDerivatives
from torseur.analysis.sensitivity.model.preparation import Prepared, prepare
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.analysis.studies.batch import Batch, BatchResults, Starts, why_not
from torseur.analysis.studies.definition.axes import Vector
from torseur.analysis.studies.definition.study import SweepStudy
from torseur.analysis.studies.sweeps.gpu_points import DeviceMotions
from torseur.analysis.studies.sweeps.single_motion import SingleMotion, named_values
from torseur.computation.simulation.model.criterion import Criterion
from torseur.errors import TorseurError, UnsupportedError

SAMPLE, MANY = 32, 0.2  # points that are tried, and the part of them that is many
_one_at_a_time = Lock()  # what is kept between motions is not made for threads


@dataclass(frozen=True)
class Column:
    """A number that is kept of every motion: a criterion, or its derivative by a parameter."""

    label: str
    unit: str
    kind: str
    formula: str


@dataclass(frozen=True)
class Results:
    """Columns of some points, a row each, nan where a motion failed; outputs (point, output, time); and what the
    failures said, by row.
    """

    values: Vector
    outputs: Vector
    failures: dict[int, str]


class Evaluator:
    """Motions of one study. `reason` says why they are not compiled together, where they are not."""

    def __init__(self, study: SweepStudy, point: Vector | None = None) -> None:
        """`point` is where the model is made ready; the first of the study by default."""
        self.study = study
        values, initial = named_values(study, study.points(0, 1)[0] if point is None else point)
        asked = [*study.differentiate_by] or [axis.name for axis in study.all_axes[:1]]
        ready = prepare(study.model, asked, values, initial, {}, 0.0)
        self.ready: Prepared = ready if study.differentiate_by else replace(ready, varied=())
        self.criteria = tuple(self._read_criterion("criteria", criterion) for criterion in study.criteria)
        self.outputs = tuple(self._read_criterion("outputs", output) for output in study.outputs)
        self.single = SingleMotion(study)

    def _read_criterion(self, table: str, criterion: Criterion) -> ReadCriterion:
        try:
            return read_criterion(criterion, self.ready.system)
        except TorseurError as problem:
            raise TorseurError(f"'{self.study.path}': {table}.{criterion.label}: {problem}") from problem

    def __call__(self, points: Vector) -> Results:
        """The results at points, one row of all axes' values each."""
        columns, samples = len(self.columns), (len(self.outputs), len(self.study.samples))
        results = Results(np.full((len(points), columns), np.nan), np.full((len(points), *samples), np.nan), {})
        if self.is_on_device:
            return self._on_device(points, results)
        # What the batch gives back as not good (stiff, failed) goes one by one, with the implicit method and messages.
        left = range(len(points)) if self.reason else self._together(points, results)
        for row in left:
            with _one_at_a_time:
                try:
                    results.values[row], results.outputs[row] = self.single(points[row])
                except TorseurError as problem:
                    results.failures[row] = str(problem)
        return results

    @cached_property
    def leaves_many(self) -> bool:
        """Whether many of the first points cannot be computed together, as stiff ones: Python is needed for them."""
        if self.is_on_device or self.reason:
            return bool(self.reason)
        first = self.study.points(0, min(SAMPLE, self.study.size))
        return float(np.mean(self.batch(first).is_good)) < 1.0 - MANY

    def _together(self, points: Vector, results: Results) -> list[int]:
        """Fills what the batch can compute; the rows that are left have to be looked at by themselves."""
        return _take_over(self.batch(points), results)

    def _on_device(self, points: Vector, results: Results) -> Results:
        motions = self.device(points)
        for row in _take_over(motions, results):
            results.failures[row] = self.device.why(points[row], motions.values[row])
        return results

    @property
    def is_on_device(self) -> bool:
        return self.study.device.kind == "cuda"

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """What is kept of each motion: the criteria, then their derivatives."""
        read = zip(self.study.criteria, self.criteria, strict=True)
        plain = [Column(c.label, r.unit, c.kind, _words(c)) for c, r in read]
        derivatives = [
            Column(f"{c.label} by {v.name}", _over(c.unit, v.unit), "derivative", f"d {c.label} / d {v.name}")
            for c in plain
            for v in self.ready.varied
        ]
        return (*plain, *derivatives)

    @cached_property
    def reason(self) -> str:
        """Why motions are computed one after another; nothing when they are compiled together."""
        obstacle = why_not(self.ready.system)
        if not obstacle and self.study.integration.integrator != "auto":
            return f"integrator {self.study.integration.integrator} is asked for"
        if not obstacle and self.study.differentiate_by and OpenRoutines(self._bare).is_large:
            return f"derivatives of {self.ready.system.name} need its mass matrix factored by numbers"
        if not obstacle and self.switching:
            return f"derivatives of {self.ready.system.name} jump {self.switching}"
        return obstacle

    @cached_property
    def switching(self) -> str:
        """Where derivatives that are asked for jump, because the loads do; nothing where they do not."""
        switches = switches_of(MotionDerivatives(self._bare)) if self.study.differentiate_by else ()
        return f"where {switches[0].when} changes sign" if switches else ""

    @property
    def _bare(self) -> Variation:
        system, varied = self.ready.system, self.ready.varied
        integrands = tuple(criterion.formula for criterion in self.criteria if criterion.kind == "integral")
        return Variation(system, varied, np.zeros((len(system.states), len(varied))), integrands)

    @cached_property
    def _starts(self) -> Starts:
        study, bare = self.study, self._bare
        variation = replace(bare, start=initial_tangents(replace(bare, integrands=()), self.ready.initial, 0.0))
        return Starts(variation, study.all_axes, dict(study.initial), study.integration, study.until)

    @cached_property
    def batch(self) -> Batch:
        """All motions as one routine."""
        study = self.study
        return Batch(self._starts, self.criteria, study.until, self.outputs, study.samples, expected=study.size)

    @cached_property
    def device(self) -> DeviceMotions:
        """All motions on a GPU."""
        if self.switching:
            raise UnsupportedError(
                f"'{self.study.path}': derivatives of {self.ready.system.name} jump {self.switching}, which backend "
                "'cuda' does not follow. Use backend 'cpu'."
            )
        return DeviceMotions(self.study, self._starts, self.criteria, self.outputs)


def _take_over(motions: BatchResults, results: Results) -> list[int]:
    """Takes over the rows that have results; the others are told."""
    values = np.hstack([motions.values, motions.derivatives.reshape(len(motions.values), -1)])
    good = motions.is_good
    results.values[good], results.outputs[good] = values[good], motions.outputs[good]
    return [int(row) for row in np.flatnonzero(~good)]


def _words(criterion: Criterion) -> str:
    """The criterion as a reader knows it."""
    return {
        "value": f"{criterion.formula} at the end",
        "integral": f"integral of {criterion.formula}",
        "maximum": f"largest {criterion.formula}",
        "minimum": f"smallest {criterion.formula}",
        "event": f"{criterion.formula} where {criterion.when} = 0",
        "event time": f"time when {criterion.when} = 0",
    }[criterion.kind]


def _over(unit: str, other: str) -> str:
    """The unit of a derivative."""
    if other == "1":
        return unit
    return f"{unit}/({other})" if "*" in other or "/" in other else f"{unit}/{other}"
