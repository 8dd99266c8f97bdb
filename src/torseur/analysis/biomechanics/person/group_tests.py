"""Tests of differences over subjects: paired ones, and analysis of variance, with repeated measures too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.errors import RecordingError


@dataclass(frozen=True)
class GroupTest:
    """A statistic with its degrees of freedom, the probability of one as large by chance, and the size of the effect.

    The effect is Cohen's d of the differences for a paired test, η² (of repeated measures, the partial one) for an
    analysis of variance.
    """

    name: str
    statistic: float
    freedom: tuple[float, ...]
    p: float
    effect: float

    def __str__(self) -> str:
        degrees = ", ".join(f"{x:g}" for x in self.freedom)
        return f"{self.name}({degrees}) = {self.statistic:.3g}, p = {self.p:.3g}, effect {self.effect:.2f}"


def paired_test(first: Sequence[float], second: Sequence[float]) -> GroupTest:
    """Whether the same subjects differ between two conditions: Student's t of the differences."""
    from scipy.stats import t as student

    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.shape != b.shape or a.ndim != 1 or len(a) < 2:
        raise RecordingError(
            f"a paired test needs two values of each of two subjects or more, not {len(a)} and {len(b)}."
        )
    gap = a - b
    spread = float(np.std(gap, ddof=1))
    if not spread > 0:
        raise RecordingError("all subjects differ by the same amount: a paired test has nothing to compare with.")
    effect = float(gap.mean()) / spread
    statistic = effect * np.sqrt(len(gap))
    return GroupTest("t", statistic, (len(gap) - 1,), float(2 * student.sf(abs(statistic), len(gap) - 1)), effect)


def variance_analysis(groups: Mapping[str, Sequence[float]], *, repeated: bool = False) -> GroupTest:
    """Whether groups or, `repeated`, conditions of the same subjects differ: Fisher's F, one way.

    Repeated measures take off what subjects differ by; with unequal variances of the differences the degrees of freedom
    shrink by Greenhouse and Geisser's ε.
    """
    from scipy.stats import f as fisher

    rows = [np.asarray(values, dtype=float) for values in groups.values()]
    if len(rows) < 2 or min(map(len, rows)) < 2 or not all(np.isfinite(row).all() for row in rows):
        raise RecordingError("an analysis of variance needs two groups or more, of two finite values each or more.")
    if repeated and len({len(row) for row in rows}) > 1:
        raise RecordingError("repeated measures need one value of every subject in every condition.")
    everything = np.concatenate(rows)
    between = sum(len(row) * (row.mean() - everything.mean()) ** 2 for row in rows)
    within = sum(float(np.sum((row - row.mean()) ** 2)) for row in rows)
    k, n, epsilon = len(rows), len(everything), 1.0
    if repeated:
        table = np.stack(rows)
        # What subjects differ by in all conditions alike is no error of the comparison.
        within -= k * float(np.sum((table.mean(axis=0) - everything.mean()) ** 2))
        freedom, epsilon = (k - 1) * (table.shape[1] - 1), sphericity(table)
    else:
        freedom = n - k
    if not within > 1e-12 * max(between, 1e-300):
        raise RecordingError("nothing varies within the groups: an analysis of variance has nothing to compare with.")
    degrees = (epsilon * (k - 1), epsilon * freedom)
    statistic = float(between / (k - 1) / (within / freedom))
    return GroupTest(
        "F", statistic, degrees, float(fisher.sf(statistic, *degrees)), float(between / (between + within))
    )


def sphericity(table: Array) -> float:
    """Greenhouse and Geisser's ε of conditions (rows) and subjects (columns): 1 where all differences vary alike."""
    k = len(table)
    centre = np.eye(k) - 1 / k
    # ε = (tr C)² / ((k - 1) tr C²) of the doubly centred covariance (Greenhouse and Geisser 1959).
    C = centre @ np.atleast_2d(np.cov(table)) @ centre
    return float(np.trace(C) ** 2 / ((k - 1) * np.sum(C * C)))
