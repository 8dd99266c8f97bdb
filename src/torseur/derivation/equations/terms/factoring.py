"""What the terms of a sum have in common."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from torseur.algebra.graph import Expr
from torseur.algebra.graph.expr import Number
from torseur.derivation.equations.terms.polynomial import ONE, Monomial, Polynomial, monomial, product

Key = tuple[Monomial, str, float | None]


@dataclass(frozen=True)
class Group:
    """coefficient · rest · (weighted sum of like quantities); nothing in `like` stands for a term by itself."""

    rest: Monomial
    coefficient: Number
    like: tuple[tuple[Expr, Number], ...]

    @property
    def terms(self) -> list[Monomial]:
        """The terms that it gathers."""
        return [product(self.rest, ((x, 1),)) for x, _ in self.like] or [self.rest]


def common_factor(terms: Iterable[Monomial]) -> Monomial:
    """What all terms have in common."""
    listed = list(terms)
    shared = dict(listed[0]) if listed else {}
    for term in listed[1:]:
        own = dict(term)
        shared = {factor: min(e, own[factor]) for factor, e in shared.items() if factor in own}
    return monomial({factor: e for factor, e in shared.items() if e > 0})


def common_number(coefficients: Iterable[Number]) -> Fraction | int:
    """The number to draw out of a sum: the size all exact coefficients share, -1 when all are negative, otherwise 1."""
    listed = list(coefficients)
    sign = -1 if all(c < 0 for c in listed) else 1
    sizes = {abs(Fraction(c)) for c in listed if not isinstance(c, float)}
    exact = len(sizes) == 1 and not any(isinstance(c, float) for c in listed)
    return sign * sizes.pop() if exact else sign


def shared_number(coefficients: Iterable[Number]) -> Number:
    """As `common_number`, and a rounded number that all have."""
    listed = list(coefficients)
    return listed[0] if len(set(listed)) == 1 else common_number(listed)


def quotient(coefficient: Number, number: Number) -> Number:
    """The quotient of two coefficients, exact where both are."""
    return coefficient / number if isinstance(coefficient, float) else Fraction(coefficient) / number


def groups(polynomial: Polynomial) -> list[Group]:
    """The terms, those gathered that differ in one symbol of the same unit: m1 r² + m2 r² / 2 is (m1 + m2/2) r²."""
    alike = _alike(polynomial)
    taken: set[Monomial] = set()
    gathered: list[Group] = []
    for key in sorted(alike, key=lambda key: -len(alike[key])):
        like = {x: c for x, c in alike[key].items() if product(key[0], ((x, 1),)) not in taken}
        if len(like) > 1:
            number = shared_number(like.values())
            gathered.append(Group(key[0], number, tuple((x, quotient(c, number)) for x, c in like.items())))
            taken |= set(gathered[-1].terms)
    return [*gathered, *(Group(term, c, ()) for term, c in polynomial.items() if term not in taken)]


def _alike(polynomial: Polynomial) -> dict[Key, dict[Expr, Number]]:
    """Symbols with their coefficients by what multiplies them; rounded coefficients only where they are equal."""
    alike: dict[Key, dict[Expr, Number]] = {}
    for term, coefficient in polynomial.items():
        for factor, exponent in term:
            rest = product(term, ((factor, -1),))
            if exponent == 1 and factor.op == "symbol" and rest != ONE:
                rounded = coefficient if isinstance(coefficient, float) else None
                alike.setdefault((rest, factor.data.unit, rounded), {})[factor] = coefficient
    return alike
