"""Response surfaces: a criterion over the axes of a study as a formula or an interpolation, with its error said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from torseur.analysis.studies.definition.axes import Axis, Vector
from torseur.analysis.studies.sweeps.result_store import DONE, Store
from torseur.errors import TorseurError, unknown_name

KINDS = ("auto", "quadratic", "interpolated")
LEAST_ON_GRID = 4  # values of an axis from which a grid is interpolated


@dataclass(frozen=True, eq=False)
class ResponseSurface:
    """A criterion between the points of a sweep.

    `error` is the root mean square of what the surface misses at points it was not made from: left out one by one for
    a quadratic, and every other value of the grid for an interpolation. `explained` is the part of the variance.
    """

    criterion: str
    axes: tuple[str, ...]
    low: Vector
    high: Vector
    kind: str
    error: float
    explained: float
    function: Any

    def __call__(self, points: Vector) -> Vector:
        """Values at points, one row of the axes' values each."""
        values: Vector = np.asarray(self.function(np.atleast_2d(points)), dtype=float)
        return values


def response_surface(store: Store, criterion: str, operating_point: int = 0, kind: str = "auto") -> ResponseSurface:
    """The surface of one criterion at one operating point: interpolated on grids that are fine enough, else fitted."""
    labels = [column.label for column in store.columns]
    if criterion not in labels:
        raise TorseurError(unknown_name("criterion", criterion, labels))
    if kind not in KINDS:
        raise TorseurError(unknown_name("kind of surface", kind, KINDS))
    study = store.study
    names = tuple(axis.name for axis in study.axes)
    block = study.design.size(study.axes)
    part = slice(operating_point * block, (operating_point + 1) * block)
    points = np.column_stack([store.column(name)[part] for name in names])
    values, good = store.column(criterion)[part], store.column("status")[part] == DONE
    is_grid = study.design.kind == "grid" and good.all()
    if kind == "interpolated" and not is_grid:
        raise TorseurError(f"'{criterion}': only a finished grid is interpolated. Use kind='quadratic'.")
    fine = is_grid and all(len(axis.numbers) >= LEAST_ON_GRID for axis in study.axes)
    if kind == "interpolated" or (kind == "auto" and fine):
        return interpolate(criterion, study.axes, values)
    return quadratic(criterion, names, points[good], values[good])


def quadratic(criterion: str, names: Sequence[str], points: Vector, values: Vector) -> ResponseSurface:
    """The quadratic that fits best, c + Σ cᵢ zᵢ + Σ cᵢⱼ zᵢ zⱼ, over the axes scaled to -1 to 1."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), np.where(high > low, 0.5 * (high - low), 1.0)
    matrix = _monomials((points - middle) / half)
    if len(points) <= matrix.shape[1]:
        raise TorseurError(
            f"'{criterion}': a quadratic of {len(names)} axes has {matrix.shape[1]} coefficients and needs more points "
            f"than that; there are {len(points)}."
        )
    coefficients = np.linalg.lstsq(matrix, values, rcond=1e-10)[0]
    # What each point would miss if it were left out, from the diagonal of the hat matrix.
    basis = np.linalg.qr(matrix)[0]
    leverage = np.minimum((basis * basis).sum(axis=1), 1.0 - 1e-9)
    missed = (values - matrix @ coefficients) / (1.0 - leverage)
    return ResponseSurface(
        criterion, tuple(names), low, high, "quadratic", *_quality(missed, values),
        lambda at: _monomials((at - middle) / half) @ coefficients,
    )  # fmt: skip


def _monomials(z: Vector) -> Vector:
    """1, zᵢ and zᵢ zⱼ, a column each."""
    pairs = combinations_with_replacement(range(z.shape[1]), 2)
    return np.column_stack([np.ones(len(z)), z, *(z[:, i] * z[:, j] for i, j in pairs)])


def interpolate(criterion: str, axes: Sequence[Axis], values: Vector) -> ResponseSurface:
    """The values of a grid joined by cubic splines along each axis."""
    # Splines need rising values; study files may list them in any order.
    grids = [np.array(axis.numbers) for axis in axes]
    order = [np.argsort(grid) for grid in grids]
    table = values.reshape([len(grid) for grid in grids])[np.ix_(*order)]
    grids = [grid[k] for grid, k in zip(grids, order, strict=True)]
    missed, left_out = _errors_between(grids, table)
    low, high = np.array([grid[0] for grid in grids]), np.array([grid[-1] for grid in grids])
    return ResponseSurface(
        criterion, tuple(axis.name for axis in axes), low, high, "interpolated", *_quality(missed, left_out),
        _spline(grids, table),
    )  # fmt: skip


def _spline(grids: Sequence[Vector], table: Vector) -> Any:
    from scipy.interpolate import RegularGridInterpolator

    fine = all(len(grid) >= LEAST_ON_GRID for grid in grids)
    return RegularGridInterpolator(grids, table, method="cubic" if fine else "linear")


def _errors_between(grids: Sequence[Vector], table: Vector) -> tuple[Vector, Vector]:
    """What the splines through every other value miss at the values left out, and these values."""
    kept = [np.unique([*range(0, len(grid), 2), len(grid) - 1]) for grid in grids]
    coarse = _spline([grid[k] for grid, k in zip(grids, kept, strict=True)], table[np.ix_(*kept)])
    mesh = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, len(grids))
    # Leave-every-other-out: the error is that of a grid twice as coarse, an upper estimate for smooth criteria.
    was_kept = np.zeros(table.shape, dtype=bool)
    was_kept[np.ix_(*kept)] = True
    out = ~was_kept.ravel()
    values = table.ravel()[out]
    return values - coarse(mesh[out]), values


def _quality(missed: Vector, values: Vector) -> tuple[float, float]:
    """Root mean square of what is missed, and the part of the variance that is explained."""
    if not len(missed):
        return float("nan"), float("nan")
    error = float(np.sqrt(np.mean(missed**2)))
    variance = float(values.var())
    return error, 1.0 - error**2 / variance if variance > 0.0 else float("nan")


def leading_axes(surface: ResponseSurface, count: int = 2) -> list[int]:
    """The axes along which a surface changes most through its middle, the strongest first."""
    middle = 0.5 * (surface.low + surface.high)
    ranges = []
    for k in range(len(surface.axes)):
        along = np.tile(middle, (21, 1))
        along[:, k] = np.linspace(surface.low[k], surface.high[k], 21)
        ranges.append(float(np.ptp(surface(along))))
    return [int(k) for k in np.argsort(ranges)[::-1][:count]]
