"""Objective and limits of a study as functions of x, the axes scaled to between 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torseur.errors import TorseurError
from torseur.sensitivity import sensitivity
from torseur.studies.axes import Vector
from torseur.studies.evaluation import Evaluator
from torseur.studies.goals import goal_of, limits_of
from torseur.studies.single import INITIAL
from torseur.studies.study import SweepStudy


class Problem:
    """Criteria and their slopes at x, a row per operating point; the last x is remembered."""

    def __init__(self, study: SweepStudy) -> None:
        self.study = study
        self._refuse_other_axes()
        self.names = [axis.name for axis in study.axes]
        self.low = np.array([axis.numbers[0] for axis in study.axes])
        self.span = np.array([axis.numbers[1] - axis.numbers[0] for axis in study.axes])
        self.labels = [criterion.label for criterion in study.criteria]
        self.goal = goal_of(study)
        middle = np.concatenate([study.operating.rows[0], self.low + 0.5 * self.span])
        columns = Evaluator(study, middle).columns[: len(self.labels)]
        self.limits = limits_of(study, [column.unit for column in columns])
        self.units = {axis.name: axis.unit for axis in study.axes} | {c.label: c.unit for c in columns}
        self._last: tuple[Vector, Vector, Vector] | None = None

    def _refuse_other_axes(self) -> None:
        study = self.study
        for axis in study.axes:
            if axis.shape != "uniform" or axis.name in study.tables.get("tolerances", {}):
                raise TorseurError(
                    f"'{study.path}': vary.{axis.name}: an optimisation needs from and to, without count."
                )
            if not axis.numbers[1] > axis.numbers[0]:
                raise TorseurError(f"'{study.path}': vary.{axis.name}: 'to' must be more than 'from'.")
        if not study.axes:
            raise TorseurError(f"'{study.path}': vary: nothing varies.")

    def objective(self, values: Vector) -> float:
        """The mean over the operating points, from all criteria."""
        return float(self.table(values)[:, self.goal.criterion].mean())

    def objective_slopes(self, x: Vector) -> Vector:
        slopes: Vector = self.gradients(x)[:, self.goal.criterion].mean(axis=0)
        return slopes

    def table(self, values: Sequence[float] | Vector) -> Vector:
        """Criteria as rows of operating points."""
        return np.asarray(values, dtype=float).reshape(len(self.study.operating), len(self.labels))

    def values(self, x: Vector) -> Vector:
        """All criteria, a row per operating point."""
        return self._evaluated(x)[0]

    def gradients(self, x: Vector) -> Vector:
        """Slopes of all criteria by x (operating point, criterion, axis)."""
        return self._evaluated(x)[1]

    def point(self, x: Vector) -> dict[str, float]:
        return dict(zip(self.names, (self.low + self.span * x).tolist(), strict=True))

    def _evaluated(self, x: Vector) -> tuple[Vector, Vector]:
        if self._last is None or not np.array_equal(self._last[0], x):
            found = [self._motion(x, row) for row in self.study.operating.rows]
            self._last = (x.copy(), np.array([v for v, _ in found]), np.array([s for _, s in found]))
        return self._last[1:]

    def _motion(self, x: Vector, operating: tuple[float, ...]) -> tuple[Vector, Vector]:
        """Criteria and slopes of the motion at one operating point."""
        study, values, initial = self.study, dict(self.study.values), dict(self.study.initial)
        named = dict(zip([axis.name for axis in study.operating.axes], operating, strict=True))
        for name, number in {**named, **self.point(x)}.items():
            if name.endswith(INITIAL):
                initial[name.removesuffix(INITIAL)] = number
            else:
                values[name] = number
        settings = study.integration
        found = sensitivity(
            study.model, study.criteria, self.names, until=study.until, values=values, initial=initial,
            rtol=settings.rtol, atol=settings.atol, max_step=settings.max_step,
        )  # fmt: skip
        numbers = np.array([float(response.values[-1]) for response in found.responses])
        slopes = np.array([np.asarray(response.slopes)[-1] * self.span for response in found.responses])
        return numbers, slopes
