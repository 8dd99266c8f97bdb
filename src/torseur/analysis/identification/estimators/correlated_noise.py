"""The covariance of a fit to noise that is related in time: what neighbours share counts once (Newey and West 1987)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.identification.estimators.least_squares import Solution
from torseur.analysis.identification.estimators.regression import Regression

MOST_ROWS = 20_000  # of one trial; longer ones are summed over neighbours, whose correlation is between the sums
_FEW, _MOST_PAID = 8, 4.0
_MOST_RELATED = 0.97  # autocorrelation from which prewhitening would divide by nearly nothing


def related_covariance(regression: Regression, columns: Sequence[int], solution: Solution) -> Array:
    """Covariance of a solution by least squares for noise of any spectrum, equations related to each other too.

    A S A with A = (WᵀW)⁻¹ and S = Σ over lags of E g_t g_sᵀ, g_t = Σ over equations of their rows times their
    residuals: the long-run covariance by prewhitening (Andrews and Monahan 1992) with Bartlett's weights.
    """
    scale = np.sqrt(np.maximum(np.diag(solution.covariance), 1e-300))
    scores = [_thin(g * scale) for g in _scores(regression, columns, solution)]
    # A in units of deviations, in which columns of kilograms and kg m² compare.
    A = solution.covariance / np.outer(scale, scale)
    S = sum((long_run(g) for g in scores), start=np.zeros_like(A))
    # The residuals have paid for the parameters: n / (n - p) with n as many samples as are not related to each other.
    count = _independent_samples(scores) * len(solution.noise)
    paid = count / max(count - len(columns), count / _MOST_PAID)
    return np.asarray(paid * (A @ S @ A) * np.outer(scale, scale))


def _independent_samples(scores: Sequence[Array]) -> float:
    """n (1 - ρ) / (1 + ρ) of all trials, ρ the mean autocorrelation of neighbours."""
    return sum(len(g) * (1 - rho) / (1 + rho) for g in scores for rho in [max(float(np.mean(_likeness(g))), 0.0)])


def _likeness(scores: Array) -> Array:
    """Autocorrelation of neighbours, per column."""
    before, after = scores[:-1], scores[1:]
    rho = np.sum(before * after, axis=0) / np.maximum(np.sum(before * before, axis=0), 1e-300)
    return np.asarray(np.clip(rho, -_MOST_RELATED, _MOST_RELATED))


def _scores(regression: Regression, columns: Sequence[int], solution: Solution) -> list[Array]:
    """Per trial, what each sample says of every column (samples, columns): W_tᵀ e_t over the squares of the noise."""
    slots = {int(c): k for k, c in enumerate(columns)}
    scores = [np.zeros((len(trial), len(columns))) for trial in regression.trials]
    for block in regression.blocks():
        here = [k for k, c in enumerate(block.columns) if int(c) in slots]
        at = [slots[int(block.columns[k])] for k in here]
        matrix = block.matrix[:, here]
        error = block.right - matrix @ solution.values[at]
        scores[block.trial][block.samples, at] += matrix * (error / solution.noise[block.equation] ** 2)[:, None]
    return scores


def _thin(scores: Array) -> Array:
    """Sums over so many neighbours that a long trial has MOST_ROWS rows."""
    several = -(-len(scores) // MOST_ROWS)
    if several < 2:
        return scores
    return np.add.reduceat(scores, np.arange(0, len(scores), several), axis=0)


def long_run(scores: Array, least: int = 0) -> Array:
    """Σ_t Σ_s E g_t g_sᵀ of one series (rows, columns), over `least` lags at least."""
    if len(scores) < _FEW:
        return np.asarray(scores.T @ scores)
    rho = _likeness(scores)
    # What an autoregression of first order does not explain is nearly white and needs few lags; then it is coloured
    # again.
    white = scores[1:] - rho * scores[:-1]
    left = _likeness(white)
    # The number of lags of Andrews (1991) for Bartlett's weights: 1.1447 (α n)^(1/3).
    alpha = float(np.mean(4 * left**2 / (1 - left**2) ** 2))
    lags = int(min(max(1.1447 * (alpha * len(white)) ** (1 / 3), least), len(white) // 4))
    # Bartlett's weights 1 - lag/(lags + 1) keep the sum positive, whatever the data.
    total = white.T @ white
    for lag in range(1, lags + 1):
        related = white[lag:].T @ white[:-lag]
        total = total + (1 - lag / (lags + 1)) * (related + related.T)
    return np.asarray(total / np.outer(1 - rho, 1 - rho) * len(scores) / len(white))
