"""Quaternions at three levels: as symbols, as scalar and vector, and as four numbers, with the ways between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph import scalar as s
from torseur.algebra.intrinsic.normal_form import normal_form
from torseur.algebra.intrinsic.operators import Cross, Dot, IntrinsicError, Tilde, vector


@dataclass(frozen=True)
class Letter:
    """A named quaternion, conjugated or not; a unit one is a rotation."""

    name: str
    unit: bool = True
    conjugated: bool = False


@dataclass(frozen=True)
class Symbolic:
    """A sum of products of named quaternions, their order kept; `terms` maps products to SymPy numbers."""

    terms: tuple[tuple[tuple[Letter, ...], Any], ...]

    def __add__(self, other: Symbolic) -> Symbolic:
        return _collect([*self.terms, *other.terms])

    def __sub__(self, other: Symbolic) -> Symbolic:
        return self + other.scaled(-1)

    def __mul__(self, other: Symbolic) -> Symbolic:
        return _collect([(v + w, c * d) for v, c in self.terms for w, d in other.terms])

    def __neg__(self) -> Symbolic:
        return self.scaled(-1)

    def __rmul__(self, factor: Any) -> Symbolic:
        return self.scaled(factor)

    def __truediv__(self, divisor: Any) -> Symbolic:
        import sympy

        return self * divisor.inverse if isinstance(divisor, Symbolic) else self.scaled(1 / sympy.sympify(divisor))

    def __pow__(self, exponent: int) -> Symbolic:
        return _power(self, exponent, _collect([((), 1)]))

    def scaled(self, factor: Any) -> Symbolic:
        import sympy

        return _collect([(word, sympy.sympify(factor) * c) for word, c in self.terms])

    @property
    def norm(self) -> Any:
        """|c p q| = |c| |p| |q| of a product; of a sum it is no product of norms."""
        import sympy

        if not self.terms:
            return sympy.S.Zero
        ((word, c),) = self._one_product("norm")
        return abs(c) * sympy.Mul(*(_letter_norm(letter) for letter in word))

    @property
    def inverse(self) -> Symbolic:
        """(p q)⁻¹ = q⁻¹ p⁻¹, with q⁻¹ = q* / |q|²."""
        ((_, c),) = self._one_product("inverse")
        return self.conjugate.scaled(1 / (self.norm**2 if c != 0 else c))

    def _one_product(self, what: str) -> tuple[tuple[tuple[Letter, ...], Any], ...]:
        if len(self.terms) != 1:
            raise IntrinsicError(
                f"{what} of '{self}': a sum has none in symbols; take it in scalars and vectors, with mixed()."
            )
        return self.terms

    def __str__(self) -> str:
        return " + ".join(f"{'' if c == 1 else f'({c}) '}{_word_text(word)}".strip() for word, c in self.terms) or "0"

    @property
    def conjugate(self) -> Symbolic:
        """(p q)* = q* p*."""
        turned = [(tuple(_conjugate(x) for x in reversed(word)), c) for word, c in self.terms]
        return _collect(turned)

    @property
    def is_zero(self) -> bool:
        return not self.terms

    def mixed(self) -> Mixed:
        """Each quaternion q as its scalar q_0 and its vector q."""
        total = Mixed.number(0)
        for word, c in self.terms:
            product = Mixed.number(c)
            for letter in word:
                own = Mixed.named(letter.name)
                product = product * (own.conjugate if letter.conjugated else own)
            total = total + product
        return total


def _word_text(word: tuple[Letter, ...]) -> str:
    return " ".join(letter.name + ("*" if letter.conjugated else "") for letter in word) or "1"


def _letter_norm(letter: Letter) -> Any:
    import sympy

    return sympy.S.One if letter.unit else sympy.Symbol(f"|{letter.name}|", positive=True)


def _power(base: Any, exponent: int, one: Any) -> Any:
    """Integer powers; negative ones by the inverse."""
    if isinstance(exponent, bool) or not isinstance(exponent, int):
        raise IntrinsicError(f"a quaternion to the power {exponent!r}: expected a whole number.")
    factor = base if exponent >= 0 else base.inverse
    for _ in range(abs(exponent)):
        one = one * factor
    return one


def quaternion(name: str, unit: bool = True) -> Symbolic:
    """A quaternion by name; by default of unit norm."""
    return _collect([((Letter(name, unit),), 1)])


def _conjugate(letter: Letter) -> Letter:
    return Letter(letter.name, letter.unit, not letter.conjugated)


def _collect(terms: list[tuple[tuple[Letter, ...], Any]]) -> Symbolic:
    import sympy

    total: dict[tuple[Letter, ...], Any] = {}
    for word, coefficient in terms:
        short, factor = _cancel_conjugates(word)
        total[short] = sympy.expand(total.get(short, sympy.S.Zero) + coefficient * factor)
    kept = [(word, c) for word, c in total.items() if c != 0]
    return Symbolic(tuple(sorted(kept, key=lambda item: (len(item[0]), str(item[0])))))


def _cancel_conjugates(word: tuple[Letter, ...]) -> tuple[tuple[Letter, ...], Any]:
    """q q* = |q|², a number: 1 for a unit quaternion."""
    import sympy

    letters: list[Letter] = []
    factor = sympy.S.One
    for letter in word:
        if letters and letters[-1] == _conjugate(letter):
            letters.pop()
            factor = factor * _letter_norm(letter) ** 2
        else:
            letters.append(letter)
    return tuple(letters), factor


@dataclass(frozen=True)
class Mixed:
    """scalar + vector: (s, v) (t, w) = (s t - v · w, s w + t v + v x w)."""

    scalar: Any
    vector: Any

    @staticmethod
    def number(value: Any) -> Mixed:
        from sympy import sympify
        from sympy.matrices.expressions import ZeroMatrix

        return Mixed(sympify(value), ZeroMatrix(3, 1))

    @staticmethod
    def named(name: str) -> Mixed:
        from sympy import Symbol

        return Mixed(Symbol(f"{name}_0", real=True), vector(name))

    @staticmethod
    def pure(value: Any) -> Mixed:
        """A vector as a quaternion without scalar part."""
        return Mixed.number(0) + Mixed(Mixed.number(0).scalar, value)

    def __add__(self, other: Mixed) -> Mixed:
        return Mixed(self.scalar + other.scalar, (self.vector + other.vector).doit(deep=False))

    def __sub__(self, other: Mixed) -> Mixed:
        return Mixed(self.scalar - other.scalar, (self.vector - other.vector).doit(deep=False))

    def __mul__(self, other: Mixed) -> Mixed:
        scalar = self.scalar * other.scalar - Dot(self.vector, other.vector)
        crossed = Cross(self.vector, other.vector)
        return Mixed(scalar, self.scalar * other.vector + other.scalar * self.vector + crossed).simplified()

    def __neg__(self) -> Mixed:
        return self.scaled(-1)

    def __rmul__(self, factor: Any) -> Mixed:
        return self.scaled(factor)

    def __truediv__(self, divisor: Any) -> Mixed:
        import sympy

        return self * divisor.inverse if isinstance(divisor, Mixed) else self.scaled(1 / sympy.sympify(divisor))

    def __pow__(self, exponent: int) -> Mixed:
        result: Mixed = _power(self, exponent, Mixed.number(1))
        return result

    def scaled(self, factor: Any) -> Mixed:
        import sympy

        number = sympy.sympify(factor)
        return Mixed(number * self.scalar, normal_form(number * self.vector))

    @property
    def conjugate(self) -> Mixed:
        return Mixed(self.scalar, normal_form(-self.vector))

    @property
    def norm(self) -> Any:
        """|q|."""
        import sympy

        return sympy.sqrt(self.square)

    @property
    def inverse(self) -> Mixed:
        """q* / |q|²."""
        if self.square == 0:
            raise IntrinsicError("the quaternion 0 has no inverse.")
        return self.conjugate.scaled(1 / self.square)

    @property
    def matrix(self) -> Any:
        """The rotation of v to q v q⁻¹: ((s² - v · v) 1 + 2 v vᵀ + 2 s ṽ) / |q|²."""
        from sympy import Identity

        own = (self.scalar**2 - Dot(self.vector, self.vector)) * Identity(3)
        turned = own + 2 * self.vector * self.vector.T + 2 * self.scalar * Tilde(self.vector)
        return normal_form(turned) / self.square

    @property
    def square(self) -> Any:
        """|q|² = s² + v · v."""
        return normal_form(self.scalar**2 + Dot(self.vector, self.vector))

    def rotated(self, value: Any) -> Any:
        """q v q*, the vector turned by a unit quaternion."""
        return (self * Mixed.pure(value) * self.conjugate).vector

    def simplified(self) -> Mixed:
        """Both parts in normal form."""
        return Mixed(normal_form(self.scalar), normal_form(self.vector))

    def coordinates(self) -> Quaternion:
        """The quaternion of four scalars."""
        return Quaternion(*self.numbers())

    def numbers(self) -> tuple[Any, Any, Any, Any]:
        """Four scalars: vectors by the components of their symbols."""
        from sympy import expand

        explicit = self.vector.as_explicit()

        def by_components(x: Any) -> Any:
            return expand(x.replace(lambda e: isinstance(e, Dot), lambda e: e.as_explicit()))

        return tuple(by_components(x) for x in (self.scalar, *explicit))


def product_of_numbers(p: tuple[Any, ...], q: tuple[Any, ...]) -> tuple[Any, ...]:
    """The product of two quaternions of four numbers each, scalar first."""
    if len(p) != 4 or len(q) != 4:
        raise IntrinsicError(f"a quaternion has four numbers; got {len(p)} and {len(q)}.")
    a, b, c, d = p
    e, f, g, h = q
    return (
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
        return Quaternion(*(a * other for a in self))

    def __rmul__(self, factor: Any) -> Quaternion:
        return Quaternion(*(factor * a for a in self))

    def __truediv__(self, divisor: Any) -> Quaternion:
        """p q⁻¹, or the quotient by a scalar."""
        if isinstance(divisor, Quaternion):
            return self * divisor.inverse
        return Quaternion(*(a / divisor for a in self))

    def __pow__(self, exponent: int) -> Quaternion:
        result: Quaternion = _power(self, exponent, Quaternion(1, 0, 0, 0))
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
            raise IntrinsicError("the quaternion 0 stands for no rotation.")
        rows = (
            (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
        )
        return tuple(tuple(entry / square for entry in row) for row in rows)

    @property
    def left_matrix(self) -> tuple[tuple[Any, ...], ...]:
        """The 4x4 matrix of p to q p, by rows."""
        w, x, y, z = self
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
        return f"{self.w} + {self.x} i + {self.y} j + {self.z} k"


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
