"""Criteria at the points of a study: all motions in one compiled call where possible, else one after another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.errors import TorseurError
from torseur.sensitivity.criteria import Criterion, read_criterion
from torseur.sensitivity.initial import initial_changes
from torseur.sensitivity.preparation import Prepared, prepare
from torseur.sensitivity.routines import OpenRoutines
from torseur.sensitivity.variation import Variation
from torseur.studies.axes import Vector
from torseur.studies.batch import Batch, Starts, why_not
from torseur.studies.single import SingleMotion, named_values
from torseur.studies.study import SweepStudy


@dataclass(frozen=True)
class Column:
    """A number that is kept of every motion: a criterion, or its slope by a parameter."""

    label: str
    unit: str
    kind: str
    formula: str


@dataclass(frozen=True)
class Evaluated:
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
        asked = [*study.slopes] or [axis.name for axis in study.all_axes[:1]]
        ready = prepare(study.model, asked, values, initial, {}, 0.0)
        self.ready: Prepared = ready if study.slopes else replace(ready, varied=())
        self.criteria = tuple(read_criterion(criterion, ready.system) for criterion in study.criteria)
        self.outputs = tuple(read_criterion(output, ready.system) for output in study.outputs)
        self.single = SingleMotion(study)

    def __call__(self, points: Vector) -> Evaluated:
        """The results at points, one row of all axes' values each."""
        columns, samples = len(self.columns), (len(self.outputs), len(self.study.samples))
        found = Evaluated(np.full((len(points), columns), np.nan), np.full((len(points), *samples), np.nan), {})
        left = range(len(points)) if self.reason else self._together(points, found)
        for row in left:
            try:
                found.values[row], found.outputs[row] = self.single(points[row])
            except TorseurError as problem:
                found.failures[row] = str(problem)
        return found

    def _together(self, points: Vector, found: Evaluated) -> list[int]:
        """Fills what the batch can compute; the rows that are left have to be looked at by themselves."""
        batch = self.batch(points)
        rows = len(points)
        values = np.hstack([batch.values, batch.slopes.reshape(rows, -1)])
        found.values[batch.is_good], found.outputs[batch.is_good] = values[batch.is_good], batch.outputs[batch.is_good]
        return [int(row) for row in np.flatnonzero(~batch.is_good)]

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """What is kept of each motion: the criteria, then their slopes."""
        read = zip(self.study.criteria, self.criteria, strict=True)
        plain = [Column(c.label, r.unit, c.kind, _words(c)) for c, r in read]
        slopes = [
            Column(f"{c.label} by {v.name}", _over(c.unit, v.unit), "slope", f"d {c.label} / d {v.name}")
            for c in plain
            for v in self.ready.varied
        ]
        return (*plain, *slopes)

    @cached_property
    def reason(self) -> str:
        """Why motions are computed one after another; nothing when they are compiled together."""
        found = why_not(self.ready.system)
        if not found and self.study.slopes and OpenRoutines(self._bare).is_large:
            return f"slopes of {self.ready.system.name} need its mass matrix factored by numbers"
        return found

    @property
    def _bare(self) -> Variation:
        system, varied = self.ready.system, self.ready.varied
        integrands = tuple(criterion.formula for criterion in self.criteria if criterion.kind == "integral")
        return Variation(system, varied, np.zeros((len(system.states), len(varied))), integrands)

    @cached_property
    def batch(self) -> Batch:
        """All motions as one routine."""
        study, bare = self.study, self._bare
        variation = replace(bare, start=initial_changes(replace(bare, integrands=()), self.ready.initial, 0.0))
        starts = Starts(variation, study.all_axes, dict(study.initial), study.integration, study.until)
        return Batch(starts, self.criteria, study.until, self.outputs, study.samples)


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
    """The unit of a slope."""
    if other == "1":
        return unit
    return f"{unit}/({other})" if "*" in other or "/" in other else f"{unit}/{other}"
