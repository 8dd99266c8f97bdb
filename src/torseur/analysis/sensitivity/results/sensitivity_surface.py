"""Sensitivities over a grid of two operating parameters: speed and steering, load and stroke."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from torseur.analysis.sensitivity.results.sensitivities import Sensitivities
from torseur.analysis.sensitivity.sensitivity_analysis import sensitivity
from torseur.computation.simulation.model.criterion import Criterion
from torseur.computation.simulation.model.first_order_form import Model
from torseur.computation.simulation.model.system import Vector
from torseur.errors import TorseurError


@dataclass(frozen=True, eq=False)
class Surface:
    """One criterion at every point of a grid: `points[i][j]` for the i-th and j-th value of the two parameters."""

    criterion: str
    over: Mapping[str, Vector]
    points: tuple[tuple[Sensitivities, ...], ...]

    @property
    def values(self) -> Vector:
        """The criterion at each point, at its last time."""
        return np.array([[point[self.criterion].value for point in row] for row in self.points])

    def slopes(self, parameter: str, form: str = "raw") -> Vector:
        """The derivative by one parameter at each point, at its last time."""
        return np.array([[point.slope(self.criterion, parameter, form)[-1] for point in row] for row in self.points])

    def plot(self, path: str | Path, parameter: str, form: str = "raw") -> Path:
        """Draws the derivative over the grid."""
        from torseur.analysis.sensitivity.results.sensitivity_plots import draw_surface

        return draw_surface(self, parameter, Path(path), form)


def sensitivity_surface(
    model: Model,
    criterion: str | Criterion,
    parameters: Any,
    over: Mapping[str, Sequence[float] | Vector],
    **options: Any,
) -> Surface:
    """Sensitivities of one criterion for all pairs of values of two operating parameters; options as `sensitivity`."""
    if len(over) != 2:
        raise TorseurError(
            f"a surface stands over two parameters, not {len(over)}: over={{'V': [...], 'beta': [...]}}."
        )
    given = dict(options.pop("values", None) or {})
    grid = {name: np.asarray(values, dtype=float) for name, values in over.items()}
    (name_x, x), (name_y, y) = grid.items()
    points = tuple(
        tuple(
            sensitivity(model, criterion, parameters, values={**given, name_x: float(a), name_y: float(b)}, **options)
            for b in y
        )
        for a in x
    )
    return Surface(points[0][0].responses[0].name, grid, points)
