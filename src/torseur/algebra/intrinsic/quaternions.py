"""Quaternions at three levels: as symbols, as scalar and vector, and as four numbers, with the ways between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torseur.algebra.intrinsic.normal_form import normal_form
from torseur.algebra.intrinsic.operators import Cross, Dot, IntrinsicError, vector


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

    def scaled(self, factor: Any) -> Symbolic:
        return _collect([(word, factor * c) for word, c in self.terms])

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
            if not letter.unit:
                factor = factor * sympy.Symbol(f"|{letter.name}|", positive=True) ** 2
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

    @property
    def conjugate(self) -> Mixed:
        return Mixed(self.scalar, -self.vector)

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

    def numbers(self) -> tuple[Any, Any, Any, Any]:
        """Four scalars: vectors by the components of their symbols."""
        from sympy import expand

        explicit = self.vector.as_explicit()
        scalar = self.scalar.replace(lambda e: isinstance(e, Dot), lambda e: e.as_explicit())
        return tuple(expand(x) for x in (scalar, *explicit))


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
