"""What is verified of a fit apart from the fit itself: by other sums, over the samples and not their factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.identification.estimators.consistent_fit import Certificate
from torseur.analysis.identification.estimators.least_squares import Solution
from torseur.analysis.identification.estimators.regression import Regression
from torseur.analysis.identification.results.fits import Fit

_UNSETTLED, _PULL, _UNEXPLAINED = 1e-6, 1e-2, 0.5


class FitCheck(NamedTuple):
    """One check: whether it holds, what it is, and what was found."""

    ok: bool
    title: str
    detail: str


def checks_of(
    regression: Regression,
    values: Array,
    columns: Sequence[int],
    method: str,
    solution: Solution,
    certificate: Certificate | None,
    fits: Sequence[Fit],
) -> tuple[FitCheck, ...]:
    """The checks of an estimate."""
    checks = []
    if certificate is not None:
        checks.append(FitCheck(certificate.holds, "The fit is the best one of real bodies", str(certificate)))
    elif method in ("ordinary", "weighted"):
        pull = _pull(regression, values, columns, solution)
        checks.append(
            FitCheck(
                pull < _PULL,
                "No other values fit better",
                f"the residuals of all samples pull at them by {pull:.2g} of a standard deviation at most",
            )
        )
    if method in ("weighted", "robust"):
        last = solution.history[-1]
        checks.append(FitCheck(last < _UNSETTLED, "The weights settled", f"last change {last:.2g}"))
    worst = max(fits, key=lambda fit: fit.relative)
    left = (
        f"{100 * worst.relative:.2g} % of the forces in {worst.name} left, at most {100 * _UNEXPLAINED:g} %; more "
        "means wrong units, signs or columns, or a description of another machine"
    )
    checks.append(FitCheck(worst.relative <= _UNEXPLAINED, "The forces are explained", left))
    return tuple(checks)


def _pull(regression: Regression, values: Array, columns: Sequence[int], solution: Solution) -> float:
    """The longest Newton step that the residuals of all samples still ask for, in standard deviations.

    Summed sample by sample, while the fit itself saw triangular factors only.
    """
    full = np.zeros(regression.width)
    full[list(columns)] = values
    gradient = np.zeros(regression.width)
    for block in regression.blocks():
        residual = (block.right - block.matrix @ full[block.columns]) / solution.noise[block.equation] ** 2
        gradient[block.columns] += block.matrix.T @ residual
    step = solution.covariance @ gradient[list(columns)]
    deviation = np.sqrt(np.maximum(np.diag(solution.covariance), 1e-300))
    return float(np.max(np.abs(step) / deviation, initial=0.0))
