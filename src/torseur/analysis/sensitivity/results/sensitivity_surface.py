"""Sensitivities over one or two operating parameters: speed and steering, load and stroke."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from torseur.analysis.sensitivity.results.sensitivities import Sensitivities, derivative_headings, write_table
from torseur.analysis.sensitivity.sensitivity_analysis import sensitivity
from torseur.computation.simulation.model.criterion import Criterion
from torseur.computation.simulation.model.first_order_form import Model
from torseur.computation.simulation.model.system import Vector
from torseur.deprecation import FormerName
from torseur.errors import TorseurError


@dataclass(frozen=True, eq=False)
class Surface:
    """One criterion at every point of a grid: `points[i][j]` for the i-th and j-th value of the two parameters.

    Over one parameter alone each row has one point.
    """

    criterion: str
    over: Mapping[str, Vector]
    points: tuple[tuple[Sensitivities, ...], ...]

    @property
    def name(self) -> str:
        return self.points[0][0].name

    @property
    def parameter_names(self) -> list[str]:
        return self.points[0][0].parameter_names

    @property
    def values(self) -> Vector:
        """The criterion at each point, at its last time."""
        return self._grid([[point[self.criterion].value for point in row] for row in self.points])

    def derivatives(self, parameter: str, form: str = "raw") -> Vector:
        """The derivative by one parameter at each point, at its last time."""
        return self._grid(
            [[point.derivative(self.criterion, parameter, form)[-1] for point in row] for row in self.points]
        )

    def derivatives_over_time(self, parameter: str, form: str = "raw") -> Vector:
        """The derivative by one parameter over the one operating parameter (rows) and time (columns).

        Ask for samples: sensitivity_surface(..., samples=51).
        """
        self._require_one()
        return np.array([row[0].derivative(self.criterion, parameter, form) for row in self.points])

    slopes, slopes_over_time = FormerName("derivatives"), FormerName("derivatives_over_time")

    @property
    def values_over_time(self) -> Vector:
        """The criterion itself over the one operating parameter (rows) and time (columns)."""
        self._require_one()
        return np.array([row[0][self.criterion].values for row in self.points])

    def _require_one(self) -> None:
        if len(self.over) != 1:
            raise TorseurError("a surface over a parameter and time stands over one operating parameter, not two.")

    def overshoots(self, parameter: str) -> Vector:
        """The overshoot of the derivative by one parameter at each point, in percent of its last value."""
        return self._grid([[point.overshoot(self.criterion, parameter) for point in row] for row in self.points])

    def second(self, first: str, second: str) -> Vector:
        """The second derivative by two parameters at each point, where it was asked for."""
        i, j = (self.points[0][0].column(name) for name in (first, second))
        hessians = [[point[self.criterion].hessian for point in row] for row in self.points]
        return self._grid([[np.nan if h is None else h[i, j] for h in row] for row in hessians])

    def _grid(self, numbers: Sequence[Sequence[float]]) -> Vector:
        return np.array(numbers).reshape([len(values) for values in self.over.values()])

    @property
    def trusted(self) -> bool:
        """Whether the derivatives at all points can be trusted."""
        return all(point.trusted for row in self.points for point in row)

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be known of the points, each with its place."""
        return tuple(f"{place}: {note}" for place, point in self._places() for note in point.notes)

    def _places(self) -> Iterator[tuple[str, Sensitivities]]:
        """Every point with the values that it belongs to, as words."""
        for values, point in self.rows():
            yield ", ".join(f"{name} = {x:.6g}" for name, x in zip(self.over, values, strict=True)), point

    def rows(self) -> Iterator[tuple[tuple[float, ...], Sensitivities]]:
        """Every point with the values of the operating parameters there."""
        points = (point for row in self.points for point in row)
        grid = product(*([float(x) for x in values] for values in self.over.values()))
        return zip(grid, points, strict=True)

    def plot(self, path: str | Path, parameter: str | None = None, form: str = "raw") -> Path:
        """Draws the derivatives over the grid, by all parameters or one."""
        from torseur.analysis.sensitivity.results.sensitivity_plots import draw_surface

        return draw_surface(self, self.parameter_names if parameter is None else [parameter], Path(path), form)

    def plot_over_time(self, path: str | Path, parameter: str | None = None, form: str = "raw") -> Path:
        """Draws the derivatives over the operating parameter and time; the criterion itself where its name is given."""
        from torseur.analysis.sensitivity.results.sensitivity_plots import draw_over_time

        return draw_over_time(self, self.parameter_names if parameter is None else [parameter], Path(path), form)

    def save(self, path: str | Path, overwrite: bool = False, form: str = "raw") -> Path:
        """Writes CSV (a row per point and time) or JSON (everything), by the suffix of the path."""
        parameters = self.points[0][0].parameters
        headings = [*self.over, "time [s]", self.criterion, *derivative_headings(parameters, form)]
        rows = [
            [*values, float(t), float(value), *map(float, row)]
            for values, point in self.rows()
            for t, value, row in zip(
                point[self.criterion].time,
                point[self.criterion].values,
                point.derivatives(self.criterion, form),
                strict=True,
            )
        ]
        return write_table(Path(path), overwrite, headings, rows, lambda: self.document(form))

    def document(self, form: str = "raw") -> dict[str, object]:
        """Everything as plain data: the grid at the last time, and each of its points in full."""
        return {
            "criterion": self.criterion,
            "over": {name: values.tolist() for name, values in self.over.items()},
            "trusted": self.trusted,
            "values": self.values.tolist(),
            "form": form,
            "derivatives": {name: self.derivatives(name, form).tolist() for name in self.parameter_names},
            "points": [
                {"at": dict(zip(self.over, values, strict=True)), **point.document(form)}
                for values, point in self.rows()
            ],
        }


def sensitivity_surface(
    model: Model,
    criterion: str | Criterion,
    parameters: Any,
    over: Mapping[str, Sequence[float] | Vector],
    **options: Any,
) -> Surface:
    """Sensitivities of one criterion for all values of one or two operating parameters; options as `sensitivity`."""
    if len(over) not in (1, 2):
        raise TorseurError(
            f"a surface needs one or two operating parameters, not {len(over)}: over={{'V': [...], 'beta': [...]}}."
        )
    given = dict(options.pop("values", None) or {})
    grid = {name: np.asarray(values, dtype=float) for name, values in over.items()}
    second = list(grid.values())[1] if len(grid) == 2 else (None,)

    def point(*values: float | None) -> Sensitivities:
        here = {name: float(x) for name, x in zip(grid, values, strict=False) if x is not None}
        return sensitivity(model, criterion, parameters, values={**given, **here}, **options)

    points = tuple(tuple(point(a, b) for b in second) for a in next(iter(grid.values())))
    return Surface(points[0][0].responses[0].name, grid, points)
