"""Quaternions at three levels: as symbols, as scalar and vector, and as four numbers, with the ways between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph import Expr, to_sympy
from torseur.algebra.intrinsic.normal_form import normal_form
from torseur.algebra.intrinsic.operators import Cross, Dot, IntrinsicError, Tilde, as_expression, vector
from torseur.algebra.intrinsic.quaternion_numbers import Quaternion, whole_power


def _scalar(value: Any) -> Any:
    """A number or an expression of SymPy; quaternions of another level, and all else, are refused."""
    import sympy

    try:
        number = to_sympy(value) if isinstance(value, Expr) else sympy.sympify(value, strict=True)
    except sympy.SympifyError:
        number = None
    if not isinstance(number, sympy.Expr):
        raise IntrinsicError(
            f"a quaternion times {type(value).__name__}: expected a number, an expression, or a quaternion at the same "
            "level; mixed() leads from symbols to scalar and vector, coordinates() on to four numbers."
        )
    return number


def _same_level(value: Any, level: type, sign: str) -> None:
    if not isinstance(value, level):
        raise IntrinsicError(
            f"a quaternion {sign} {type(value).__name__}: expected a quaternion at the same level; mixed() leads from "
            "symbols to scalar and vector, coordinates() on to four numbers."
        )


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
        _same_level(other, Symbolic, "+")
        return _collect([*self.terms, *other.terms])

    def __sub__(self, other: Symbolic) -> Symbolic:
        _same_level(other, Symbolic, "-")
        return self + other.scaled(-1)

    def __mul__(self, other: Any) -> Symbolic:
        """The product with a quaternion, or with a scalar."""
        if not isinstance(other, Symbolic):
            return self.scaled(other)
        return _collect([(v + w, c * d) for v, c in self.terms for w, d in other.terms])

    def __neg__(self) -> Symbolic:
        return self.scaled(-1)

    def __rmul__(self, factor: Any) -> Symbolic:
        return self.scaled(factor)

    def __truediv__(self, divisor: Any) -> Symbolic:
        return self * divisor.inverse if isinstance(divisor, Symbolic) else self.scaled(1 / _scalar(divisor))

    def __pow__(self, exponent: int) -> Symbolic:
        return whole_power(self, exponent, _collect([((), 1)]))

    def scaled(self, factor: Any) -> Symbolic:
        number = _scalar(factor)
        return _collect([(word, number * c) for word, c in self.terms])

    @property
    def norm(self) -> Any:
        """|c p q| = |c| |p| |q| of a product; of a sum it is no product of norms."""
        import sympy

        if not self.terms:
            return sympy.S.Zero
        # |p + q| is no product of |p|, |q|: sums are sent to the level of scalars and vectors.
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
        text = " + ".join(_term_text(word, c) for word, c in self.terms) or "0"
        return text.replace("+ -", "- ")

    @property
    def conjugate(self) -> Symbolic:
        """(p q)* = q* p*."""
        turned = [(tuple(_conjugate(x) for x in reversed(word)), c) for word, c in self.terms]
        return _collect(turned)

    # True is a proof, False is not: letters do not commute here, though q + q* is a number and commutes with all.
    # `mixed` leads to the level where that is seen.
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


def _term_text(word: tuple[Letter, ...], c: Any) -> str:
    if not word:
        return str(c)
    factor = "" if c == 1 else "-" if c == -1 else f"{c} " if c.is_Atom else f"({c}) "
    return factor + _word_text(word)


def _word_text(word: tuple[Letter, ...]) -> str:
    return " ".join(letter.name + ("*" if letter.conjugated else "") for letter in word) or "1"


def _letter_norm(letter: Letter) -> Any:
    import sympy

    return sympy.S.One if letter.unit else sympy.Symbol(f"|{letter.name}|", positive=True)


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
        # Short words first in a fixed order: two sums are equal exactly when their terms are.
        total[short] = sympy.expand(total.get(short, sympy.S.Zero) + coefficient * factor)
    kept = [(word, c) for word, c in total.items() if c != 0]
    return Symbolic(tuple(sorted(kept, key=lambda item: (len(item[0]), str(item[0])))))


def _cancel_conjugates(word: tuple[Letter, ...]) -> tuple[tuple[Letter, ...], Any]:
    """q q* = |q|², a number: 1 for a unit quaternion."""
    import sympy

    # A stack, so that one pass also finds pairs that meet when the one between them has gone: p q q* p* = 1.
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
        from sympy.matrices.expressions import ZeroMatrix

        return Mixed(as_expression(value), ZeroMatrix(3, 1))

    @staticmethod
    def named(name: str) -> Mixed:
        from sympy import Symbol

        return Mixed(Symbol(f"{name}_0", real=True), vector(name))

    @staticmethod
    def pure(value: Any) -> Mixed:
        """A vector as a quaternion without scalar part."""
        if getattr(value, "shape", None) != (3, 1):
            raise IntrinsicError(
                f"expected a vector without components, such as ts.algebra.vector('v'); got {value!r}. "
                "coordinates() leads to the level of four numbers, which takes lists."
            )
        return Mixed.number(0) + Mixed(Mixed.number(0).scalar, value)

    def __add__(self, other: Mixed) -> Mixed:
        _same_level(other, Mixed, "+")
        return Mixed(self.scalar + other.scalar, (self.vector + other.vector).doit(deep=False))

    def __sub__(self, other: Mixed) -> Mixed:
        _same_level(other, Mixed, "-")
        return Mixed(self.scalar - other.scalar, (self.vector - other.vector).doit(deep=False))

    def __mul__(self, other: Any) -> Mixed:
        """The product with a quaternion, or with a scalar."""
        if not isinstance(other, Mixed):
            return self.scaled(other)
        scalar = self.scalar * other.scalar - Dot(self.vector, other.vector)
        crossed = Cross(self.vector, other.vector)
        return Mixed(scalar, self.scalar * other.vector + other.scalar * self.vector + crossed).simplified()

    def __neg__(self) -> Mixed:
        return self.scaled(-1)

    def __rmul__(self, factor: Any) -> Mixed:
        return self.scaled(factor)

    def __truediv__(self, divisor: Any) -> Mixed:
        return self * divisor.inverse if isinstance(divisor, Mixed) else self.scaled(1 / _scalar(divisor))

    def __pow__(self, exponent: int) -> Mixed:
        result: Mixed = whole_power(self, exponent, Mixed.number(1))
        return result

    def scaled(self, factor: Any) -> Mixed:
        number = _scalar(factor)
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

        # Euler-Rodrigues. Without the division by |q|² at the end it would be |q|² times the rotation.
        own = (self.scalar**2 - Dot(self.vector, self.vector)) * Identity(3)
        turned = own + 2 * self.vector * self.vector.T + 2 * self.scalar * Tilde(self.vector)
        return normal_form(turned) / self.square

    @property
    def square(self) -> Any:
        """|q|² = s² + v · v."""
        return normal_form(self.scalar**2 + Dot(self.vector, self.vector))

    def rotated(self, value: Any) -> Any:
        # With q* for q⁻¹, which saves a division by |q|² and holds for unit quaternions only.
        """q v q*, the vector turned by a unit quaternion; |q|² times that by another, where `matrix` divides."""
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
