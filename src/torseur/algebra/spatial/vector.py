"""Vectors and 3x3 matrices of any scalar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Scalar = Any


@dataclass(frozen=True, slots=True)
class Vec3:
    """Three components along the axes of some frame."""

    x: Scalar
    y: Scalar
    z: Scalar

    def __iter__(self) -> Iterator[Scalar]:
        yield self.x
        yield self.y
        yield self.z

    def __add__(self, other: Vec3) -> Vec3:
        return Vec3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vec3) -> Vec3:
        return Vec3(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vec3:
        return Vec3(-self.x, -self.y, -self.z)

    def __mul__(self, factor: Scalar) -> Vec3:
        return Vec3(factor * self.x, factor * self.y, factor * self.z)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Scalar) -> Vec3:
        return Vec3(self.x / divisor, self.y / divisor, self.z / divisor)

    def dot(self, other: Vec3) -> Scalar:
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vec3) -> Vec3:
        return Vec3(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )


# Integers 0 and 1 are exact in every scalar, and keep it sparse: docs/decisions/0001-scalar-contract.md.
NULL = Vec3(0, 0, 0)
UNIT = (Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1))


@dataclass(frozen=True, slots=True)
class Symmetric3:
    """A symmetric 3x3 matrix."""

    xx: Scalar
    yy: Scalar
    zz: Scalar
    xy: Scalar
    xz: Scalar
    yz: Scalar

    def __iter__(self) -> Iterator[Scalar]:
        yield from (self.xx, self.yy, self.zz, self.xy, self.xz, self.yz)

    def __add__(self, other: Symmetric3) -> Symmetric3:
        return Symmetric3(
            self.xx + other.xx, self.yy + other.yy, self.zz + other.zz,
            self.xy + other.xy, self.xz + other.xz, self.yz + other.yz,
        )  # fmt: skip

    def __sub__(self, other: Symmetric3) -> Symmetric3:
        return Symmetric3(
            self.xx - other.xx, self.yy - other.yy, self.zz - other.zz,
            self.xy - other.xy, self.xz - other.xz, self.yz - other.yz,
        )  # fmt: skip

    def __matmul__(self, v: Vec3) -> Vec3:
        return Vec3(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )

    @property
    def rows(self) -> tuple[Vec3, Vec3, Vec3]:
        return (
            Vec3(self.xx, self.xy, self.xz),
            Vec3(self.xy, self.yy, self.yz),
            Vec3(self.xz, self.yz, self.zz),
        )


ZERO_SYMMETRIC = Symmetric3(0, 0, 0, 0, 0, 0)


def symmetric(rows: Sequence[Sequence[Scalar]]) -> Symmetric3:
    """The symmetric matrix with this upper triangle."""
    return Symmetric3(rows[0][0], rows[1][1], rows[2][2], rows[0][1], rows[0][2], rows[1][2])


# With a = b = r it is twice the inertia matrix of a unit mass at r, hence the name; with two vectors it carries inertia
# and its rates from frame to frame.
def point_tensor(a: Vec3, b: Vec3) -> Symmetric3:
    """2 (a·b) 1 - (a bᵀ + b aᵀ), the terms that cancel on the diagonal left out."""
    xx, yy, zz = 2 * a.x * b.x, 2 * a.y * b.y, 2 * a.z * b.z
    return Symmetric3(
        yy + zz, xx + zz, xx + yy,
        -(a.x * b.y + b.x * a.y), -(a.x * b.z + b.x * a.z), -(a.y * b.z + b.y * a.z),
    )  # fmt: skip


def isotropic(value: Scalar) -> Symmetric3:
    """value times the identity."""
    return Symmetric3(value, value, value, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Matrix3:
    """A 3x3 matrix by rows."""

    rows: tuple[Vec3, Vec3, Vec3]

    def __add__(self, other: Matrix3) -> Matrix3:
        (a, b, c), (p, q, r) = self.rows, other.rows
        return Matrix3((a + p, b + q, c + r))

    def __sub__(self, other: Matrix3) -> Matrix3:
        (a, b, c), (p, q, r) = self.rows, other.rows
        return Matrix3((a - p, b - q, c - r))

    def __matmul__(self, v: Vec3) -> Vec3:
        a, b, c = self.rows
        return Vec3(a.dot(v), b.dot(v), c.dot(v))

    @property
    def transpose(self) -> Matrix3:
        a, b, c = self.rows
        return Matrix3((Vec3(a.x, b.x, c.x), Vec3(a.y, b.y, c.y), Vec3(a.z, b.z, c.z)))


def skew(a: Vec3) -> Matrix3:
    """ã, with ã b = a x b."""
    return Matrix3((Vec3(0, -a.z, a.y), Vec3(a.z, 0, -a.x), Vec3(-a.y, a.x, 0)))
