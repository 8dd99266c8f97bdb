"""The cost of a generalised Poinsot matrix: how far A J Bᵀ - B J Aᵀ is from T over several trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.identification.segments.segment_trials import SegmentTrial
from torseur.errors import IdentificationError

_NEGLIGIBLE = 1e-12


@dataclass(frozen=True, eq=False)
class PoinsotCost:
    """f(J) = ¼ Σ ∫ |A J Bᵀ - B J Aᵀ - T|² dt, a quadratic function of the symmetric matrix J.

    f = ½ J : curvature J + linear : J + constant. Products of the samples are summed once, so that an
    iteration costs the same whatever the number of samples.
    """

    curvature: Array  # (d, d, d, d): G_ad = Σ_bc curvature_abcd J_bc
    linear: Array
    constant: float
    size: int

    @staticmethod
    def of(trials: Sequence[SegmentTrial]) -> PoinsotCost:
        if not trials:
            raise IdentificationError("identification needs at least one trial.")
        size = trials[0].size
        for trial in trials:
            if trial.size != size:
                raise IdentificationError(
                    f"trial '{trial.name}' has matrices for {trial.size} columns, the first trial for {size}."
                )
        parts = [_sums(trial) for trial in trials]
        curvature, linear, constant = (sum(part[k] for part in parts) for k in range(3))
        return PoinsotCost(np.asarray(curvature), np.asarray(linear), float(constant), size)

    def value(self, J: Array) -> float:
        return 0.5 * float(np.sum(J * self.hessian_product(J))) + float(np.sum(J * self.linear)) + self.constant

    def gradient(self, J: Array) -> Array:
        """∇f, symmetric."""
        return self.hessian_product(J) + self.linear

    def hessian_product(self, J: Array) -> Array:
        """The gradient's linear part: Σ ∫ sym(BᵀB J AᵀA - BᵀA J BᵀA) dt."""
        full = np.tensordot(self.curvature, J, axes=([1, 2], [0, 1]))
        return _symmetric(full)

    @cached_property
    def hessian(self) -> Array:
        """Second derivatives by the entries of the upper triangle, row by row; one off the diagonal moves both."""
        rows, columns = np.triu_indices(self.size)
        c = self.curvature
        halves = np.where(rows == columns, 0.5, 1.0)
        pairs = c[rows, :, :, columns] + c[columns, :, :, rows]
        full = pairs[:, rows, columns] + pairs[:, columns, rows]
        return halves[:, None] * (full + full.T) / 2 * halves

    @cached_property
    def excited_entries(self) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
        """Which entries of J the motion feels at all."""
        diagonal = np.diag(self.hessian)
        felt = diagonal > _NEGLIGIBLE * max(float(np.max(diagonal, initial=0.0)), 1e-300)
        mask = np.zeros((self.size, self.size), dtype=bool)
        mask[np.triu_indices(self.size)] = felt
        return mask | mask.T


def _sums(trial: SegmentTrial) -> tuple[Array, Array, float]:
    A, B, T, weight = trial.A, trial.B, trial.T, trial.weights
    size = trial.size
    across = np.swapaxes(B, 1, 2)
    # ∇f = sym(BᵀB J AᵀA - BᵀA J BᵀA + BᵀT A) at every sample: products of A, B and T alone, summed over time once.
    BA, BB = across @ A, across @ B
    AA = np.swapaxes(A, 1, 2) @ A
    flat = [m.reshape(len(weight), -1) for m in (BA, BB, AA)]
    curvature = (flat[1] * weight[:, None]).T @ flat[2] - (flat[0] * weight[:, None]).T @ flat[0]
    linear = np.einsum("t,tij->ij", weight, across @ T @ A)
    constant = 0.25 * float(np.einsum("t,tij,tij->", weight, T, T))
    return curvature.reshape(size, size, size, size), _symmetric(linear), constant


def _symmetric(matrix: Array) -> Array:
    return (matrix + matrix.T) / 2
