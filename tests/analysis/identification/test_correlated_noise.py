"""Deviations under noise that is related in time: they cover the truth as often as they say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.signal import lfilter

from torseur.analysis.identification.estimators.correlated_noise import long_run


@pytest.mark.parametrize("rho", [0.0, 0.9, -0.5])
def test_long_run_variance_is_that_of_the_process(rho):
    """Oracle: σ² n / (1 - ρ)² of an autoregression of first order driven by noise of variance σ²."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(40):
        x = lfilter([1.0], [1.0, -rho], rng.normal(size=(2000, 2)), axis=0)
        found.append(np.diag(long_run(x)))
    assert np.mean(found) == pytest.approx(2000 / (1 - rho) ** 2, rel=0.1)


@dataclass
class Line:
    """A fit of a slope and a wave to one equation, as the estimator sees it."""

    trials: tuple
    X: np.ndarray
    y: np.ndarray

    def blocks(self):
        from torseur.analysis.identification.estimators.regression import Block

        yield Block(0, 0, slice(0, len(self.y)), np.array([0, 1]), self.X, self.y)


@pytest.mark.parametrize("rho", [0.0, 0.95])
def test_intervals_cover(rho):
    """95 % of 300 draws, within what 300 draws can tell; deviations of white noise cover half as often at ρ = 0.95."""
    from torseur.analysis.identification.estimators.correlated_noise import related_covariance
    from torseur.analysis.identification.estimators.least_squares import Solution

    rng, time = np.random.default_rng(1), np.arange(1500) / 100
    X = np.stack([np.sin(0.8 * time), np.sin(2.1 * time + 0.3)], axis=1)
    inside, plain = [], []
    for _ in range(300):
        noise = lfilter([np.sqrt(1 - rho**2)], [1.0, -rho], rng.normal(size=len(time)))
        y = X @ [2.0, -1.0] + noise
        A = np.linalg.inv(X.T @ X)
        values = A @ X.T @ y
        s = float(np.std(y - X @ values))
        solution = Solution(values, s**2 * A, {0: s})
        C = related_covariance(Line((time,), X, y), [0, 1], solution)
        gap = np.abs(values - [2.0, -1.0])
        inside.append(gap < 1.96 * np.sqrt(np.diag(C)))
        plain.append(gap < 1.96 * s * np.sqrt(np.diag(A)))
    assert 0.9 <= np.mean(inside) <= 0.985
    assert rho == 0 or np.mean(plain) < 0.6
