"""What must be said of an identification before its values are trusted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.identification.estimators.body_family import NON_NEGATIVE
from torseur.analysis.identification.estimators.regression import Regression
from torseur.analysis.identification.model.linear_model import LinearModel
from torseur.analysis.identification.model.pseudo_inertia import is_consistent, smallest
from torseur.analysis.identification.results.fits import Fit, fits_of

_POOR_CONDITION = 1e3
_COLOURED = 0.5
_ALIKE, _TIMES = 0.8, 30.0


def doubts_about_data(condition: float, unexcited: tuple[str, ...], rows: int, count: int) -> list[str]:
    doubts = []
    if unexcited:
        doubts.append(
            f"the motion does not excite {', '.join(unexcited)} apart from the others: "
            "design an excitation, or take these values from the description."
        )
    if condition > _POOR_CONDITION:
        doubts.append(f"the condition number {condition:.3g} is large: small noise moves the values much.")
    if rows < 10 * count:
        doubts.append(f"{rows} equations for {count} parameters leave little to judge the noise by.")
    return doubts


def doubts_about_signs(model: LinearModel, columns: Sequence[int], values: Array, covariance: Array) -> list[str]:
    """Friction, rotors and stiffness that are negative beyond doubt."""
    reach = 2 * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    negative = [
        model.columns[c].name
        for c, value, doubt in zip(columns, values, reach, strict=True)
        if model.columns[c].kind in NON_NEGATIVE and value < -doubt
    ]
    return [f"{name} is negative, which it cannot be: the model lacks something." for name in negative]


def inconsistent_bodies(model: LinearModel, parameters: Array) -> list[str]:
    """Warnings about bodies whose parameters no body can have."""
    return [
        f"'{owner}' has parameters that no body can have (pseudo-inertia with eigenvalue "
        f"{smallest(parameters[where]):.3g}): use the method consistent."
        for owner, where in model.bodies.items()
        if not is_consistent(parameters[where])
    ]


def doubts_about_residuals(fits: Sequence[Fit]) -> list[str]:
    """Residuals that are no noise."""
    doubts = []
    for fit in fits:
        for equation in fit.equations:
            statistics = fit.statistics(equation)
            if statistics.relative > 1e-6 and statistics.coloured > _COLOURED and abs(statistics.correlation) > 0.3:
                doubts.append(
                    f"the residual of {equation} in {fit.name} is correlated in time (neighbours "
                    f"{statistics.correlation:.2f}): something is not in the model, and deviations are optimistic."
                )
    return doubts


def doubts_about_forces(regression: Regression, described: Array) -> list[str]:
    """Measured forces that are what the description needs but for a sign or a factor: wrong units."""
    doubts = []
    for fit in fits_of(regression, described):
        for name, measured, needed in zip(fit.equations, fit.measured.T, fit.predicted.T, strict=True):
            sizes = float(np.linalg.norm(measured)), float(np.linalg.norm(needed))
            alike = float(measured @ needed) / (sizes[0] * sizes[1]) if min(sizes) > 0 else 0.0
            factor = sizes[0] / max(sizes[1], 1e-300)
            if alike < -_ALIKE:
                doubts.append(f"the force of {name} in {fit.name} has the opposite sign of what the description needs.")
            elif alike > _ALIKE and not 1 / _TIMES < factor < _TIMES:
                doubts.append(
                    f"the force of {name} in {fit.name} is {factor:.3g} times what the description needs: wrong units? "
                    "(1000 is kilo or milli.)"
                )
    return doubts
