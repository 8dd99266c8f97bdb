"""Rotations as products of simple factors, applied one after the other.

A turn about a coordinate axis costs four products per vector instead of nine, and a quarter turn costs none, so a
rotation keeps its factors and is multiplied out only where a matrix is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph import as_expr
from torseur.algebra.graph import scalar as s
from torseur.algebra.spatial.vector import UNIT, Matrix3, Scalar, Symmetric3, Vec3, symmetric


@dataclass(frozen=True, slots=True)
class AxisTurn:
    """A turn about coordinate axis 0, 1 or 2 with the given cosine and sine."""

    axis: int
    cosine: Scalar
    sine: Scalar

    def to_parent(self, v: Vec3) -> Vec3:
        return self._turn(v, self.sine)

    def to_child(self, v: Vec3) -> Vec3:
        return self._turn(v, -self.sine)

    def _turn(self, v: Vec3, sine: Scalar) -> Vec3:
        # About axis k the plane (i, j) turns, with (k, i, j) cyclic: the same two lines for all three axes.
        c, components = self.cosine, list(v)
        i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
        a, b = components[i], components[j]
        components[i], components[j] = c * a - sine * b, sine * a + c * b
        return Vec3(*components)

    def tensor_to_parent(self, tensor: Symmetric3) -> Symmetric3:
        """R A Rᵀ for a symmetric tensor."""
        return symmetric([[*row] for row in self.matrix_to_parent(Matrix3(tensor.rows)).rows])

    # Products saved: docs/decisions/0017-tensors-rotate-with-few-products.md.
    def matrix_to_parent(self, matrix: Matrix3) -> Matrix3:
        """R A Rᵀ, 12 products, for a symmetric tensor 8: what turns in the plane of the turn takes four.

        There, with u = s (a_ii - a_jj) + c (a_ij + a_ji), the diagonal loses and gains s u, and what is off it becomes
        c u less its mirror image.
        """
        k, i, j = self.axis, (self.axis + 1) % 3, (self.axis + 2) % 3
        c, sine = self.cosine, self.sine
        a = [[*row] for row in matrix.rows]
        mixed = sine * (a[i][i] - a[j][j]) + c * (a[i][j] + a[j][i])
        turned = [[*row] for row in a]
        turned[i][i], turned[j][j] = a[i][i] - sine * mixed, a[j][j] + sine * mixed
        turned[i][j], turned[j][i] = c * mixed - a[j][i], c * mixed - a[i][j]
        turned[i][k], turned[j][k] = c * a[i][k] - sine * a[j][k], sine * a[i][k] + c * a[j][k]
        turned[k][i], turned[k][j] = c * a[k][i] - sine * a[k][j], sine * a[k][i] + c * a[k][j]
        return Matrix3((Vec3(*turned[0]), Vec3(*turned[1]), Vec3(*turned[2])))

    @property
    def inverse(self) -> AxisTurn:
        return AxisTurn(self.axis, self.cosine, -self.sine)


@dataclass(frozen=True, slots=True)
class MatrixTurn:
    """A rotation given by its matrix (child to parent)."""

    matrix: Matrix3

    def to_parent(self, v: Vec3) -> Vec3:
        return self.matrix @ v

    def to_child(self, v: Vec3) -> Vec3:
        return self.matrix.transpose @ v

    def tensor_to_parent(self, tensor: Symmetric3) -> Symmetric3:
        # (R A) Rᵀ by rows, of the second product the upper triangle only: 27 + 18 products instead of 54.
        half = [tensor @ row for row in self.matrix.rows]
        rows = self.matrix.rows
        return symmetric([[half[i].dot(rows[j]) if j >= i else 0 for j in range(3)] for i in range(3)])

    def matrix_to_parent(self, matrix: Matrix3) -> Matrix3:
        # R A Rᵀ = (R (R A)ᵀ)ᵀ for any A: the same operation twice, with a transpose between.
        half = self._turned_columns(matrix).transpose
        return self._turned_columns(half).transpose

    def _turned_columns(self, matrix: Matrix3) -> Matrix3:
        a, b, c = (self.to_parent(column) for column in matrix.transpose.rows)
        return Matrix3((a, b, c)).transpose

    @property
    def inverse(self) -> MatrixTurn:
        return MatrixTurn(self.matrix.transpose)


Factor = AxisTurn | MatrixTurn


@dataclass(frozen=True, slots=True)
class Rotation:
    """R = R1 R2 ..., taking child components to parent components."""

    factors: tuple[Factor, ...] = ()

    def to_parent(self, v: Vec3) -> Vec3:
        for factor in reversed(self.factors):
            # R1 R2 v: the last factor is next to the child.
            v = factor.to_parent(v)
        return v

    def to_child(self, v: Vec3) -> Vec3:
        for factor in self.factors:
            v = factor.to_child(v)
        return v

    def tensor_to_parent(self, tensor: Symmetric3) -> Symmetric3:
        """R A Rᵀ for a symmetric tensor."""
        for factor in reversed(self.factors):
            tensor = factor.tensor_to_parent(tensor)
        return tensor

    def matrix_to_parent(self, matrix: Matrix3) -> Matrix3:
        """R A Rᵀ for any matrix."""
        for factor in reversed(self.factors):
            matrix = factor.matrix_to_parent(matrix)
        return matrix

    def then(self, other: Rotation) -> Rotation:
        """First this, then the other about the turned axes."""
        return Rotation(self.factors + other.factors)

    @property
    def inverse(self) -> Rotation:
        return Rotation(tuple(factor.inverse for factor in reversed(self.factors)))

    @property
    def matrix(self) -> Matrix3:
        """The matrix taking child components to parent components; its columns are the child's axes."""
        columns = [self.to_parent(axis) for axis in UNIT]
        return Matrix3((columns[0], columns[1], columns[2])).transpose


def about(axis: Vec3, angle: Scalar) -> Rotation:
    """The rotation by an angle about an axis of any length."""
    # An axis along a coordinate axis is recognised by exact zeros only: a component of 1e-17 may be meant.
    c, sn = s.cos(angle), s.sin(angle)
    index = _coordinate_axis(axis)
    if index is not None:
        k, sign = index
        return Rotation((AxisTurn(k, c, sn if sign > 0 else -sn),))
    # One division for the axis rather than one for each component; the root folds where the length is known to be 1.
    length = s.sqrt(axis.dot(axis))
    return Rotation((MatrixTurn(_rodrigues(axis * (1 / length), c, sn)),))


def unit(vector: Vec3) -> Vec3:
    """A vector of expressions at unit length; one whose length is known to be 1 stays as it is, without a root."""
    square = as_expr(vector.dot(vector))
    return vector if square is as_expr(1) else vector * (1 / s.sqrt(square))


def _coordinate_axis(axis: Vec3) -> tuple[int, int] | None:
    """(index, sign) when all but one component are exactly zero and the other is a known number."""
    # None (a symbol) differs from zero, so an axis with an unknown component is never taken for a coordinate axis.
    values = [_number(component) for component in axis]
    nonzero = [i for i, value in enumerate(values) if value != 0]
    if len(nonzero) != 1 or values[nonzero[0]] is None:
        return None
    return nonzero[0], 1 if values[nonzero[0]] > 0 else -1


def _number(component: Any) -> Any:
    """The component as a number when it is one, else None."""
    if isinstance(component, (int, float)):
        return component
    if getattr(component, "is_constant", False) is True:
        return component.value
    return component if getattr(component, "is_number", False) is True else None


def _rodrigues(u: Vec3, c: Scalar, sn: Scalar) -> Matrix3:
    """c 1 + (1 - c) u uᵀ + s ũ for a unit vector u."""
    t = u * (1 - c)
    w = u * sn
    return Matrix3((
        Vec3(c + t.x * u.x, t.x * u.y - w.z, t.x * u.z + w.y),
        Vec3(t.x * u.y + w.z, c + t.y * u.y, t.y * u.z - w.x),
        Vec3(t.x * u.z - w.y, t.y * u.z + w.x, c + t.z * u.z),
    ))  # fmt: skip


def from_quaternion(w: Scalar, x: Scalar, y: Scalar, z: Scalar) -> Rotation:
    """The rotation of a unit quaternion, scalar part first."""
    # Of unit quaternions only: nothing here divides by the norm, which the integrator keeps at one.
    # Each of the nine products that occur is made once, its factor 2 included.
    x2, y2, z2 = 2 * x, 2 * y, 2 * z
    xx, yy, zz, xy, xz, yz = x * x2, y * y2, z * z2, x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return Rotation((MatrixTurn(Matrix3((
        Vec3(1 - (yy + zz), xy - wz, xz + wy),
        Vec3(xy + wz, 1 - (xx + zz), yz - wx),
        Vec3(xz - wy, yz + wx, 1 - (xx + yy)),
    ))),))  # fmt: skip


def quaternion_rate(quaternion: Sequence[Scalar], omega: Vec3) -> tuple[Scalar, ...]:
    """Rates of a quaternion whose frame turns at omega, given in the turned frame: q ∘ (0, omega) / 2."""
    # Speeds in the child's axes: the product q ∘ ω stands on this side, ω ∘ q would be for the parent's axes.
    w, x, y, z = quaternion
    hx, hy, hz = omega.x / 2, omega.y / 2, omega.z / 2
    return (
        -(x * hx) - y * hy - z * hz,
        w * hx + y * hz - z * hy,
        w * hy + z * hx - x * hz,
        w * hz + x * hy - y * hx,
    )
