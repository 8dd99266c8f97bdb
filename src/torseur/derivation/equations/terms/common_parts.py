"""What terms of a sum share: factors, denominators, numbers."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd

from torseur.algebra.graph import Expr
from torseur.algebra.graph.expr import Number
from torseur.derivation.equations.terms.polynomial import Monomial, monomial

SUMS = ("add", "sub")
MOMENTA = ("kg*m/s", "kg*m^2/s")


def common_factor(terms: Iterable[Monomial]) -> Monomial:
    """What all terms have in common above the bar."""
    listed = list(terms)
    shared = dict(listed[0]) if listed else {}
    for term in listed[1:]:
        own = dict(term)
        shared = {factor: min(e, own[factor]) for factor, e in shared.items() if factor in own}
    return monomial({factor: e for factor, e in shared.items() if e > 0})


def shared_factors(terms: Iterable[Monomial]) -> Monomial:
    """What all terms have in common, denominators too."""
    first, *others = (dict(term) for term in terms)
    for own in others:
        # Same sign on both sides: x in one term and 1/x in another share nothing.
        first = {f: min(e, own[f], key=abs) for f, e in first.items() if f in own and e * own[f] > 0}
    return monomial(first)


def front_of(terms: Iterable[Monomial]) -> Monomial:
    """What stands in front of a sum: what all share, and denominators of most, where fewer symbols are written so.

    (a² + x² - 2 a x cos φ - R²)/R and not a²/R + x²/R - 2 a x cos φ/R - R. In an equation of motion m x'' stays what
    it is.
    """
    listed = [dict(term) for term in terms]
    front = dict(shared_factors(tuple(own.items()) for own in listed))
    if any(is_acceleration(factor) for own in listed for factor in own):
        return monomial(front)
    for factor in {factor: None for own in listed for factor, e in own.items() if e < 0 and factor.op not in SUMS}:
        exponents = [own.get(factor, 0) for own in listed]
        now, lowest = front.get(factor, 0), min(exponents)
        if _shown(exponents, lowest) < _shown(exponents, now):
            front[factor] = lowest
    return monomial(front)


def _shown(exponents: list[int], front: int) -> int:
    """How often a factor is written when its power `front` is drawn out."""
    return int(front != 0) + sum(1 for e in exponents if e != front)


def common_number(coefficients: Iterable[Number]) -> Fraction | int:
    """The number to draw out of a sum: the size all exact coefficients share, -1 when all are negative, otherwise 1."""
    listed = list(coefficients)
    if 1 in listed:  # most sums have a term without a number: only the same throughout could be drawn out
        return 1
    sign = -1 if all(c < 0 for c in listed) else 1
    sizes = {abs(Fraction(c)) for c in listed if not isinstance(c, float)}
    exact = len(sizes) == 1 and not any(isinstance(c, float) for c in listed)
    return sign * sizes.pop() if exact else sign


def shared_number(coefficients: Iterable[Number]) -> Number:
    """As `common_number`, and a rounded number that all have."""
    listed = list(coefficients)
    return listed[0] if len(set(listed)) == 1 else common_number(listed)


def common_divisor(coefficients: Iterable[Number]) -> Fraction | int:
    """As `common_number`, for sums that stand in brackets anyway: what divides all, or leaves fewest numbers."""
    listed = list(coefficients)
    number = common_number(listed)
    if abs(number) != 1 or any(isinstance(c, float) for c in listed):
        return number
    exact = [Fraction(c) for c in listed]
    if all(c.denominator == 1 for c in exact):
        return number * gcd(*map(int, exact))
    # (x² + y² - 2 x y cos φ)/2 and not x²/2 + y²/2 - x y cos φ.
    smallest = min(abs(c) for c in exact)
    whole = all((c / smallest).denominator == 1 for c in exact)
    fewer = 1 + sum(1 for c in exact if abs(c) != smallest) < sum(1 for c in exact if abs(c) != 1)
    return number * smallest if whole and fewer else number


def quotient(coefficient: Number, number: Number) -> Number:
    """The quotient of two coefficients, exact where both are."""
    if isinstance(coefficient, float):
        return coefficient / number
    return Fraction(coefficient) if number == 1 else Fraction(coefficient) / number


def moves(own: Expr) -> bool:
    """Whether a factor belongs to the motion, not to the coefficient before it: speeds, momenta, functions, λ."""
    return own.op != "symbol" or is_rate(own) or is_multiplier(own) or own.data.unit in MOMENTA


def is_rate(own: Expr) -> bool:
    """Whether a factor is the rate of a coordinate or a speed, which may have a name without a prime."""
    return own.op == "symbol" and (str(own.name).endswith("'") or own.data.unit in ("m/s", "rad/s"))


def is_acceleration(own: Expr) -> bool:
    """Whether a factor is the rate of a speed."""
    return own.op == "symbol" and bool(own.data.unit.endswith("/s^2")) and str(own.name).endswith("'")


def is_multiplier(own: Expr) -> bool:
    """Whether a factor is the multiplier of a constraint."""
    return own.op == "symbol" and str(own.name).startswith("lambda.")
