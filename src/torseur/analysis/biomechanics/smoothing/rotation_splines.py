"""Rotations as splines of time, with angular velocities and accelerations that are exactly their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from torseur.algebra.arrays import Array, Mask, Slots
from torseur.algebra.spatial.rotation_arrays import skew
from torseur.errors import RecordingError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_ORDER = 5  # quintic: accelerations are cubic splines
_STIFF = 1e-9  # of a spline's bending beside one frame: bridges gaps, and is not felt elsewhere


@dataclass(frozen=True, eq=False)
class Basis:
    """Values, first and second derivatives (frames, count) of B-splines at the frames.

    `first` is the first of the splines that are not zero in a frame.
    """

    tables: tuple[Array, Array, Array]
    first: Slots

    @property
    def count(self) -> int:
        return int(self.tables[0].shape[1])

    def spread(self, factors: Sequence[Array | None]) -> csr_array:
        """Rows Σ_k factor_k (frames, d, n) times the k-th derivatives of the splines: six of them are felt a frame."""
        from scipy.sparse import csr_array

        given = [factor for factor in factors if factor is not None]
        frames, d, n = given[0].shape
        near = self.first[:, None] + np.arange(_ORDER + 1)
        values = np.zeros((frames, d, _ORDER + 1, n))
        for factor, table in zip(factors, self.tables, strict=True):
            if factor is not None:
                values += factor[:, :, None, :] * np.take_along_axis(table, near, axis=1)[:, None, :, None]
        columns = np.broadcast_to((n * near[:, None, :, None] + np.arange(n)), values.shape)
        starts = np.arange(frames * d + 1) * (_ORDER + 1) * n
        return csr_array((values.reshape(-1), columns.reshape(-1), starts), shape=(frames * d, n * self.count))


@dataclass(frozen=True, eq=False)
class RotationSpline:
    """R (frames, 3, 3), ω and α (frames, 3) in turned axes, of the direction of a spline of quaternions.

    `coefficients` (count, 4) are the spline's; its length does not count.
    """

    basis: Basis
    coefficients: Array

    @cached_property
    def quaternions(self) -> tuple[Array, Array, Array]:
        """q, q' and q'' (frames, 4), scalar first."""
        value, first, second = (table @ self.coefficients for table in self.basis.tables)
        return value, first, second

    @cached_property
    def scale(self) -> tuple[Array, Array, Array]:
        """2 / |q|² and its derivatives (frames, 1)."""
        q, dq, ddq = self.quaternions
        n, dn, ddn = (np.sum(x, axis=1, keepdims=True) for x in (q * q, 2 * q * dq, 2 * (dq * dq + q * ddq)))
        return 2 / n, -2 * dn / n**2, 4 * dn**2 / n**3 - 2 * ddn / n**2

    @cached_property
    def rotation(self) -> Array:
        q = self.quaternions[0]
        q = q / np.linalg.norm(q, axis=1, keepdims=True)
        s = skew(q[:, 1:])
        return np.eye(3) + 2 * q[:, :1, None] * s + 2 * s @ s

    @cached_property
    def omega(self) -> Array:
        q, dq, _ = self.quaternions
        return self.scale[0] * _vector(q, dq)

    @cached_property
    def alpha(self) -> Array:
        # The rate of ω = m vec(q̄ q'); vec(q̄' q') is zero.
        q, dq, ddq = self.quaternions
        m, dm, _ = self.scale
        return dm * _vector(q, dq) + m * _vector(q, ddq)

    @cached_property
    def tensor(self) -> Array:
        """U = α̃ + ω̃ ω̃: R̈ = R U."""
        w = skew(self.omega)
        return skew(self.alpha) + w @ w

    def by_coefficients(self, bend: tuple[Array, Array | None, Array | None]) -> csr_array:
        """Derivatives (d rows a frame, 4 count) by the coefficients of b₀ φ + b₁ φ' + b₂ φ'' in R exp(φ).

        φ = m vec(q̄ p) with m = 2 / |q|² where q becomes q + p.
        """
        V, dV, ddV = (_left_matrices(q) for q in self.quaternions)
        m, dm, ddm = (x[:, :, None] for x in self.scale)
        b0, b1, b2 = bend
        factors: list[Array | None] = [b0 @ (m * V), None, None]
        if b1 is not None and b2 is not None:
            # φ'  = (m V)' p + m V p'                φ'' = (m V)'' p + 2 (m V)' p' + m V p''
            rate = dm * V + m * dV
            factors = [
                b0 @ (m * V) + b1 @ rate + b2 @ (ddm * V + 2 * dm * dV + m * ddV),
                b1 @ (m * V) + 2 * b2 @ rate,
                b2 @ (m * V),
            ]
        return self.basis.spread(factors)

    def moved(self, change: Array) -> RotationSpline:
        return RotationSpline(self.basis, self.coefficients + change.reshape(-1, 4))


def spline_basis(time: Array, spacing: float) -> Basis:
    """Quintic B-splines over a recording, their knots about `spacing` (s) apart."""
    from scipy.interpolate import BSpline

    pieces = max(int(np.ceil((time[-1] - time[0]) / spacing)), 1)
    inner = np.linspace(time[0], time[-1], pieces + 1)
    knots = np.concatenate([np.repeat(inner[0], _ORDER), inner, np.repeat(inner[-1], _ORDER)])
    count = pieces + _ORDER
    if len(time) <= count:
        raise RecordingError(f"{len(time)} frames are too few for splines with {count} coefficients.")
    splines = BSpline(knots, np.eye(count), _ORDER)
    value, first, second = (np.asarray(splines(time, nu)) for nu in range(3))
    piece = np.clip(np.searchsorted(inner, time, side="right") - 1, 0, pieces - 1)
    return Basis((value, first, second), piece)


def spline_rotation(basis: Basis, rotation: Array) -> RotationSpline:
    """The spline through recorded rotations (frames, 3, 3); NaN where they are not known, which it bridges."""
    seen = np.asarray(np.isfinite(rotation).all(axis=(1, 2)))
    return RotationSpline(basis, _smooth(basis, _quaternions(rotation[seen]), seen))


def _smooth(basis: Basis, values: Array, seen: Mask) -> Array:
    table, bend = basis.tables[0][seen], basis.tables[2]
    size = float(np.sum(table**2)) / max(float(np.sum(bend**2)), 1e-300)
    return np.asarray(np.linalg.solve(table.T @ table + _STIFF * size * (bend.T @ bend), table.T @ values))


def _quaternions(rotation: Array) -> Array:
    """Unit quaternions (frames, 4), scalar first, each with the sign that is nearest to the one before."""
    from scipy.spatial.transform import Rotation

    q = Rotation.from_matrix(rotation).as_quat(scalar_first=True)
    turn = np.concatenate([[1.0], np.where(np.sum(q[1:] * q[:-1], axis=1) < 0, -1.0, 1.0)])
    return np.asarray(q * np.cumprod(turn)[:, None])


def _vector(q: Array, p: Array) -> Array:
    """Vector part of q̄ p."""
    return q[:, :1] * p[:, 1:] - p[:, :1] * q[:, 1:] - np.cross(q[:, 1:], p[:, 1:])


def _left_matrices(q: Array) -> Array:
    """V(q) (frames, 3, 4) with V(q) p = vec(q̄ p)."""
    # [ -v   w 1 - ṽ ]
    return np.concatenate([-q[:, 1:, None], q[:, :1, None] * np.eye(3) - skew(q[:, 1:])], axis=2)
