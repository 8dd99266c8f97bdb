"""What the terms of a sum have in common."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from torseur.equations.terms.polynomial import ONE, Monomial, Polynomial, monomial, product
from torseur.graph import Expr
from torseur.graph.expr import Number

Key = tuple[Monomial, Number, str]


@dataclass(frozen=True)
class Group:
    """coefficient · rest · (sum of like quantities); nothing in `like` stands for a term by itself."""

    rest: Monomial
    coefficient: Number
    like: tuple[Expr, ...]


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


def groups(polynomial: Polynomial) -> list[Group]:
    """The terms, those gathered that differ in one symbol of the same unit only: m1 r² + m2 r² is (m1 + m2) r²."""
    alike = _alike(polynomial)
    taken: set[Monomial] = set()
    found: list[Group] = []
    for rest, coefficient, unit in sorted(alike, key=lambda key: -len(alike[key])):
        like = [x for x in alike[rest, coefficient, unit] if product(rest, ((x, 1),)) not in taken]
        if len(like) > 1:
            taken |= {product(rest, ((x, 1),)) for x in like}
            found.append(Group(rest, coefficient, tuple(like)))
    return [*found, *(Group(term, c, ()) for term, c in polynomial.items() if term not in taken)]


def _alike(polynomial: Polynomial) -> dict[Key, list[Expr]]:
    """Symbols by what multiplies them."""
    alike: dict[Key, list[Expr]] = {}
    for term, coefficient in polynomial.items():
        for factor, exponent in term:
            rest = product(term, ((factor, -1),))
            if exponent == 1 and factor.op == "symbol" and rest != ONE:
                alike.setdefault((rest, coefficient, factor.data.unit), []).append(factor)
    return alike
