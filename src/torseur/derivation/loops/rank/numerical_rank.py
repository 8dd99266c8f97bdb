"""Rank of a Jacobian in floating point, with how clear the decision is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array

# Closed to 1e-12, a configuration at a distance d from a singular one has singular values of the order of d, and at a
# singular one, which is met to the root of that only, about 1e-6: the threshold lies above it.
THRESHOLD = 1e-5
# Columns beyond which a decomposition of JᵀJ saves more time than its lost digits matter.
_LARGE = 200
_CLEAR_ABOVE, _CLEAR_BELOW = 1e-4, 1e-6


@dataclass(frozen=True, eq=False)
class NumericalRank:
    """Rank, the singular values relative to the largest, and bases of the motions N and of the redundancies W.

    J N = 0 and Wᵀ J = 0, columns orthonormal. The decision is clear when no singular value lies between 1e-6 and 1e-4.
    """

    rank: int
    singular_values: Array
    motions: Array
    jacobian: Array

    @cached_property
    def redundancies(self) -> Array:
        """W, computed when it is asked for: the left side of a large decomposition costs more than the rest."""
        left: Array = np.linalg.svd(self.jacobian)[0]
        return left[:, self.rank :]

    @property
    def is_clear(self) -> bool:
        values = self.singular_values
        return not np.any((values < _CLEAR_ABOVE) & (values > _CLEAR_BELOW))

    @property
    def gap(self) -> float:
        """Ratio of the last singular value that counts to the first that does not."""
        values = self.singular_values
        if self.rank in (0, len(values)):
            return float("inf")
        return float(values[self.rank - 1] / max(values[self.rank], 1e-300))


def numerical_rank(jacobian: Array, threshold: float = THRESHOLD) -> NumericalRank:
    """The rank of a matrix whose columns are of comparable size."""
    rows, n = jacobian.shape
    if rows == 0:
        return NumericalRank(0, np.zeros(0), np.eye(n), jacobian)
    values, right = _from_gram(jacobian) if n > _LARGE else np.linalg.svd(jacobian)[1:]
    # Columns are of size 1 or so: where all singular values are small, they are all zero.
    largest = max(float(np.max(values, initial=0.0)), 1.0)
    rank = int(np.sum(values > threshold * largest))
    return NumericalRank(rank, values / largest, right[rank:].T, jacobian)


def _from_gram(jacobian: Array) -> tuple[Array, Array]:
    """(singular values, right singular vectors) from JᵀJ: half the digits, which is enough to decide, in less time."""
    # Squaring leaves singular values below 1e-8 of the largest to rounding, three decades under the threshold.
    squares, vectors = np.linalg.eigh(jacobian.T @ jacobian)
    values: Array = np.sqrt(np.maximum(squares[::-1], 0.0))
    return values[: min(jacobian.shape)], vectors[:, ::-1].T


def ranks(jacobians: Array, threshold: float = THRESHOLD) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The ranks of many matrices, from the eigenvalues of their smaller Gram matrices."""
    across = np.swapaxes(jacobians, 1, 2)
    # Both have the same eigenvalues but for zeros: squares of the singular values, hence the threshold's square below.
    gram = jacobians @ across if jacobians.shape[1] <= jacobians.shape[2] else across @ jacobians
    values = np.linalg.eigvalsh(gram)
    largest = np.maximum(np.max(values, axis=1, initial=0.0, keepdims=True), 1.0)
    count: np.ndarray[Any, np.dtype[np.int64]] = np.sum(values > threshold**2 * largest, axis=1)
    return count
