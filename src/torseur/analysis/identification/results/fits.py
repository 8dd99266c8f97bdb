"""How well parameters explain a trial: predicted and measured forces, and what their difference looks like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.identification.estimators.regression import Regression
from torseur.analysis.identification.model.linear_model import LinearModel
from torseur.errors import TorseurError, unknown_name


@dataclass(frozen=True)
class ResidualStatistics:
    """The difference of one equation over a trial.

    rms         its size; `relative` is that over the size of the measured force
    correlation of neighbours in time: near 0 for white noise
    coloured    part of the first 20 autocorrelations beyond what white noise shows
    kurtosis    excess: 0 for a normal distribution, large with outliers
    worst, at   the largest difference and its time
    """

    rms: float
    relative: float
    correlation: float
    coloured: float
    kurtosis: float
    worst: float
    at: float


@dataclass(frozen=True, eq=False)
class Fit:
    """A trial with what the parameters predict: one column per equation."""

    name: str
    time: Array
    equations: tuple[str, ...]
    units: tuple[str, ...]
    measured: Array
    predicted: Array

    @property
    def residual(self) -> Array:
        return self.measured - self.predicted

    @property
    def relative(self) -> float:
        """|measured - predicted| / |measured| over all equations, each by the size of its own force."""
        sizes = np.sqrt(np.mean(self.measured**2, axis=0))
        sizes = np.where(sizes > 0, sizes, 1.0)
        return float(np.sqrt(np.mean((self.residual / sizes) ** 2)))

    def statistics(self, equation: str) -> ResidualStatistics:
        """What the residual of an equation looks like."""
        if equation not in self.equations:
            raise TorseurError(unknown_name("equation", equation, self.equations))
        number = self.equations.index(equation)
        r, measured = self.residual[:, number], self.measured[:, number]
        rms = float(np.sqrt(np.mean(r**2)))
        size = float(np.sqrt(np.mean(measured**2)))
        lags = _autocorrelation(r, 20)
        centred = r - r.mean()
        variance = float(np.mean(centred**2))
        kurtosis = float(np.mean(centred**4)) / variance**2 - 3 if variance > 0 else 0.0
        worst = int(np.argmax(np.abs(r)))
        # White noise leaves 5 % of its autocorrelations beyond 1.96 / √n.
        beyond = float(np.mean(np.abs(lags) > 1.96 / np.sqrt(len(r)))) if len(lags) else 0.0
        first = float(lags[0]) if len(lags) else 0.0
        relative = rms / size if size > 0 else 0.0
        return ResidualStatistics(rms, relative, first, beyond, kurtosis, float(r[worst]), float(self.time[worst]))


def _autocorrelation(r: Array, most: int) -> Array:
    centred = r - r.mean()
    square = float(centred @ centred)
    lags = range(1, min(most, len(r) - 2) + 1)
    return np.array([float(centred[:-k] @ centred[k:]) / square if square > 0 else 0.0 for k in lags])


def fits_of(regression: Regression, values: Array) -> tuple[Fit, ...]:
    """Measured and predicted forces of every trial; `values` holds all columns of the model."""
    measured: dict[tuple[int, int], list[Array]] = {}
    predicted: dict[tuple[int, int], list[Array]] = {}
    for block in regression.blocks():
        measured.setdefault((block.trial, block.equation), []).append(block.right)
        predicted.setdefault((block.trial, block.equation), []).append(block.matrix @ values[block.columns])
    names, units = regression.equations, force_units(regression.model)
    fits = []
    for number, trial in enumerate(regression.trials):
        order = sorted(k for t, k in measured if t == number)
        fits.append(
            Fit(
                trial.name,
                trial.time,
                tuple(names[k] for k in order),
                tuple(units.get(names[k], "") for k in order),
                np.column_stack([np.concatenate(measured[number, k]) for k in order]),
                np.column_stack([np.concatenate(predicted[number, k]) for k in order]),
            )
        )
    return tuple(fits)


def force_units(model: LinearModel) -> dict[str, str]:
    """The unit of the force along each coordinate."""
    units = {"m/s": "N", "rad/s": "N m", "1/s": "N m"}
    speeds = model.equations.layout.speeds
    return {str(v.name).removesuffix("'"): units.get(v.data.unit, "") for v in speeds}
