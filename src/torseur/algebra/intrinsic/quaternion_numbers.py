"""Quaternions of four numbers or expressions: the level of coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph import scalar as s
from torseur.algebra.intrinsic.operators import IntrinsicError


def whole_power(base: Any, exponent: int, one: Any) -> Any:
    """Integer powers; negative ones by the inverse."""
    if isinstance(exponent, bool) or not isinstance(exponent, int):
        raise IntrinsicError(f"a quaternion to the power {exponent!r}: expected a whole number.")
    factor = base if exponent >= 0 else base.inverse
    for _ in range(abs(exponent)):
        one = one * factor
    return one


def product_of_numbers(p: tuple[Any, ...], q: tuple[Any, ...]) -> tuple[Any, ...]:
    """The product of two quaternions of four numbers each, scalar first."""
    if len(p) != 4 or len(q) != 4:
        raise IntrinsicError(f"a quaternion has four numbers; got {len(p)} and {len(q)}.")
    a, b, c, d = p
    e, f, g, h = q
    return (
        # Hamilton's product with i² = j² = k² = i j k = -1, scalar first.
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    )


@dataclass(frozen=True)
class Quaternion:
    """w + x i + y j + z k of four numbers or expressions, scalar first; any norm."""

    w: Any
    x: Any
    y: Any
    z: Any

    def __post_init__(self) -> None:
        for value in self:
            if isinstance(value, str | bool | list | tuple | dict) or value is None:
                raise IntrinsicError(f"a quaternion has four numbers or expressions; got {value!r}.")

    @staticmethod
    def about(axis: Sequence[Any], angle: Any) -> Quaternion:
        """The unit quaternion of the rotation by an angle about an axis of any length."""
        x, y, z = _three(axis)
        if all(isinstance(c, int | float) and c == 0 for c in (x, y, z)):
            raise IntrinsicError("a rotation needs an axis other than [0, 0, 0].")
        # The axis is made a unit vector in the same division: any length will do, and zero is refused above.
        factor = s.sin(angle / 2) / s.sqrt(x * x + y * y + z * z)
        return Quaternion(s.cos(angle / 2), x * factor, y * factor, z * factor)

    @staticmethod
    def pure(vector: Sequence[Any]) -> Quaternion:
        """A vector as a quaternion without scalar part."""
        return Quaternion(0, *_three(vector))

    def __iter__(self) -> Iterator[Any]:
        yield from (self.w, self.x, self.y, self.z)

    def __add__(self, other: Quaternion) -> Quaternion:
        return Quaternion(*(a + b for a, b in zip(self, _quaternion(other, "+"), strict=True)))

    def __sub__(self, other: Quaternion) -> Quaternion:
        return Quaternion(*(a - b for a, b in zip(self, _quaternion(other, "-"), strict=True)))

    def __neg__(self) -> Quaternion:
        return Quaternion(*(-a for a in self))

    def __mul__(self, other: Any) -> Quaternion:
        """The product with a quaternion, or with a scalar."""
        if isinstance(other, Quaternion):
            return Quaternion(*product_of_numbers((*self,), (*other,)))
        if hasattr(other, "mixed") or hasattr(other, "coordinates"):
            raise IntrinsicError(
                "a quaternion of four numbers times one in symbols: expected the same level; coordinates() of the "
                "other gives its four numbers."
            )
        return Quaternion(*(a * other for a in self))

    def __rmul__(self, factor: Any) -> Quaternion:
        return Quaternion(*(factor * a for a in self))

    def __truediv__(self, divisor: Any) -> Quaternion:
        """p q⁻¹, or the quotient by a scalar."""
        if isinstance(divisor, Quaternion):
            return self * divisor.inverse
        return Quaternion(*(a / divisor for a in self))

    def __pow__(self, exponent: int) -> Quaternion:
        result: Quaternion = whole_power(self, exponent, Quaternion(1, 0, 0, 0))
        return result

    @property
    def conjugate(self) -> Quaternion:
        return Quaternion(self.w, -self.x, -self.y, -self.z)

    @property
    def square(self) -> Any:
        """|q|²."""
        return self.w * self.w + self.x * self.x + self.y * self.y + self.z * self.z

    @property
    def norm(self) -> Any:
        """|q|."""
        return s.sqrt(self.square)

    @property
    def inverse(self) -> Quaternion:
        """q* / |q|²."""
        square = self.square
        if isinstance(square, int | float) and square == 0:
            raise IntrinsicError("the quaternion 0 has no inverse.")
        return self.conjugate / square

    @property
    def matrix(self) -> tuple[tuple[Any, ...], ...]:
        """The rotation matrix of v to q v q⁻¹, by rows; q need not be of unit norm."""
        w, x, y, z = self
        square = self.square
        if isinstance(square, int | float) and square == 0:
            raise IntrinsicError("the zero quaternion does not represent a rotation.")
        rows = (
            # Written with the four squares and divided by |q|²: a quaternion that has drifted from unit norm is still a
            # rotation.
            (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
        )
        return tuple(tuple(entry / square for entry in row) for row in rows)

    @property
    def left_matrix(self) -> tuple[tuple[Any, ...], ...]:
        """The 4x4 matrix of p to q p, by rows."""
        w, x, y, z = self
        # q p and p q as matrices that act on the column of the other: they differ by the sign of the tilde in the lower
        # right block, and commute with each other, which is associativity.
        return ((w, -x, -y, -z), (x, w, -z, y), (y, z, w, -x), (z, -y, x, w))

    @property
    def right_matrix(self) -> tuple[tuple[Any, ...], ...]:
        """The 4x4 matrix of p to p q, by rows."""
        w, x, y, z = self
        return ((w, -x, -y, -z), (x, w, z, -y), (y, -z, w, x), (z, y, -x, w))

    def rotated(self, vector: Sequence[Any]) -> tuple[Any, Any, Any]:
        """q v q⁻¹."""
        turned = self * Quaternion.pure(vector) * self.inverse
        return turned.x, turned.y, turned.z

    def __str__(self) -> str:
        parts = [f"{_bracketed(part)} {unit}".rstrip() for part, unit in zip(self, ("", "i", "j", "k"), strict=True)]
        return " + ".join(parts).replace("+ -", "- ")


def _bracketed(part: Any) -> str:
    """A component as a factor of i, j or k: sums in brackets."""
    return f"({part})" if getattr(part, "is_Add", False) else str(part)


def _three(vector: Sequence[Any]) -> tuple[Any, Any, Any]:
    parts = [*vector] if not isinstance(vector, str) else []
    if len(parts) != 3:
        raise IntrinsicError(f"expected three components, such as [0, 0, 1]; got {vector!r}.")
    return parts[0], parts[1], parts[2]


def _quaternion(value: Any, sign: str) -> Quaternion:
    if not isinstance(value, Quaternion):
        raise IntrinsicError(
            f"a quaternion {sign} {type(value).__name__}: expected a Quaternion; a number is Quaternion(c, 0, 0, 0)."
        )
    return value
