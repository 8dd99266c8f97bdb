"""Products of sines and cosines of several angles, written by the sums of these angles where that is shorter.

cos² a cos² b + sin² a sin² b - 2 sin a cos a sin b cos b has two harmonics, (1 + cos(2 a + 2 b))/2, which
is cos²(a + b). Harmonics are one writing of a sum, whatever products it came from; two of the same weight make a
product again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import gcd
from operator import add, sub
from typing import Any, cast

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.graph import scalar as s
from torseur.algebra.graph.expr import Number
from torseur.derivation.equations.terms.polynomial import (
    ONE,
    Monomial,
    Polynomial,
    expand,
    expression_of,
    plus,
    product,
)

CIRCULAR = ("sin", "cos")
MOST_TERMS, MOST_FACTORS = 16, 5  # of a family that is tried, and of sines and cosines in one of its terms
_Angle = tuple[int, ...]  # whole multiples of the parts that the angles are made of
_Harmonic = tuple[bool, _Angle]  # whether it is a cosine, and its angle
_Weights = dict[_Harmonic, Number]
HALF = Fraction(1, 2)


def shorten_by_harmonics(polynomial: Polynomial) -> Polynomial:
    """The same sum; of terms that differ in sines and cosines alone, those that become fewer by sums of angles."""
    families: dict[Monomial, dict[Monomial, Number]] = {}
    for term, coefficient in polynomial.items():
        turning = tuple(pair for pair in term if pair[0].op in CIRCULAR)
        if turning:
            still = tuple(pair for pair in term if pair[0].op not in CIRCULAR)
            families.setdefault(still, {})[turning] = coefficient
    families = {still: own for still, own in families.items() if _is_promising(own)}
    if not families:
        return polynomial
    angles = _Angles(list({f.args[0]: None for own in families.values() for term in own for f, _ in term}))
    changed: list[tuple[Monomial, Number]] = []
    for still, own in families.items():
        constant = polynomial.get(still)
        whole = own if constant is None else {**own, ONE: constant}
        if (shorter := _shorter(whole, angles)) is not None:
            changed += [(product(still, term), c) for term, c in shorter.items()]
            changed += [(product(still, term), -c) for term, c in whole.items()]
    return plus([*polynomial.items(), *changed]) if changed else polynomial


def _is_promising(family: Polynomial) -> bool:
    """Whether there are few terms, with products of few functions of several angles."""
    if not 1 < len(family) <= MOST_TERMS or len({f.args[0] for term in family for f, _ in term}) < 2:
        return False
    degrees = [sum(e for _, e in term) for term in family]
    whole = all(e > 0 for term in family for _, e in term)
    return whole and 1 < max(degrees) <= MOST_FACTORS


def _shorter(family: Polynomial, angles: _Angles) -> Polynomial | None:
    """A sum of products of sines and cosines with fewer terms; None where harmonics find none."""
    # Harmonics are independent functions: a sum has one writing by them, and cancels there if anywhere.
    weights = _harmonics(family, angles)
    if len(weights) > 2 * len(family):  # two make one at best
        return None
    written = _products(weights, angles)
    return written if _length(written) < _length(family) else None


def _length(polynomial: Polynomial) -> tuple[int, int]:
    return len(polynomial), sum(len(term) for term in polynomial)


class _Angles:
    """Angles as whole multiples of their parts, and back; an angle that is there keeps its writing."""

    def __init__(self, angles: list[Expr]) -> None:
        parts = {angle: {term: Fraction(c) for term, c in expand(angle).items()} for angle in angles}
        units: dict[Monomial, Fraction] = {}
        for own in parts.values():
            for term, c in own.items():
                units[term] = _common(units.get(term, abs(c)), abs(c))
        self.terms = sorted(units, key=lambda term: [(f.rank, e) for f, e in term])
        self.units = [units[term] for term in self.terms]
        self.still: _Angle = (0,) * len(self.terms)
        self.of = {
            angle: tuple(int(own.get(term, 0) / unit) for term, unit in zip(self.terms, self.units, strict=True))
            for angle, own in parts.items()
        }
        self.written = {place: angle for angle, place in self.of.items()}

    def function(self, cosine: bool, place: _Angle) -> tuple[Expr, int]:
        """The sine or cosine of an angle, and its sign in the writing that is used."""
        opposite = tuple(-k for k in place)
        # sin(a - b) beside sin(b - a) would be two factors of one value.
        if place not in self.written and (opposite in self.written or next(k for k in place if k) < 0):
            function, sign = self.function(cosine, opposite)
            return function, sign if cosine else -sign
        if place not in self.written:
            self.written[place] = self._sum(place)
        value: Expr = (s.cos if cosine else s.sin)(self.written[place])
        return value, 1

    def _sum(self, place: _Angle) -> Expr:
        angle = as_expr(0)
        for term, unit, k in zip(self.terms, self.units, place, strict=True):
            if k:
                part, c = expression_of({term: 1}), k * unit
                angle = angle - part if c == -1 else angle + as_expr(c) * part
        return angle


def _common(a: Fraction, b: Fraction) -> Fraction:
    """The greatest angle of which both are whole multiples."""
    return Fraction(gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)


def _harmonics(family: Polynomial, angles: _Angles) -> _Weights:
    """Σ c cos(angle) + Σ s sin(angle), each angle once."""
    listed: list[tuple[Any, Number]] = []
    for term, coefficient in family.items():
        own: _Weights = {(True, angles.still): coefficient}
        for factor, exponent in term:
            for _ in range(exponent):
                own = _times(own, factor.op == "cos", angles.of[factor.args[0]])
        listed += own.items()
    # `plus` takes any keys: what cancels disappears, rounded numbers too.
    return dict(cast("Mapping[_Harmonic, Number]", plus(listed)))


def _times(weights: _Weights, cosine: bool, angle: _Angle) -> _Weights:
    """cos a cos b = (cos(a + b) + cos(a - b))/2, and its like."""
    total: _Weights = {}
    for (own, place), c in weights.items():
        above = tuple(map(add, place, angle))
        below = tuple(map(sub, place, angle))
        half = c * HALF
        # f(a) cos b keeps the function; sin a sin b and cos a sin b exchange it.
        signs = (1, 1) if cosine else (1, -1) if own else (-1, 1)
        for where, sign in zip((above, below), signs, strict=True):
            harmonic, weight = _normal(own == cosine, where, sign * half)
            if weight:
                total[harmonic] = total.get(harmonic, 0) + weight
    return total


def _normal(cosine: bool, place: _Angle, weight: Number) -> tuple[_Harmonic, Number]:
    """With a positive first part: sin(-x) is -sin x; sin 0 is nothing."""
    lead = next((k for k in place if k), 0)
    if lead > 0:
        return (cosine, place), weight
    return (cosine, tuple(-k for k in place)), weight if cosine else -weight if lead else 0


def _products(weights: _Weights, angles: _Angles) -> Polynomial:
    """Harmonics of equal or opposite weight two by two as products, the rest alone."""
    left = dict(weights)
    # Each harmonic is used once; the order of the pairs prefers squares (1 + cos 2x) and small angles.
    terms: list[tuple[Monomial, Number]] = []
    for first, second in _pairs(weights, angles):
        if first in left and second in left:
            terms.append(_product(first, second, (left.pop(first), left.pop(second)), angles))
    for (cosine, place), c in left.items():
        half = _half(place)
        if not cosine and half is not None:  # sin 2x is 2 sin x cos x
            terms.append(_term([(False, half), (True, half)], 2 * c, angles))
        else:
            terms.append(_term([(cosine, place)], c, angles))
    return plus(terms)


def _pairs(weights: _Weights, angles: _Angles) -> Iterator[tuple[_Harmonic, _Harmonic]]:
    """What can be made a product, squares first, then the smallest angles."""
    listed = list(weights)
    pairs = []
    for k, one in enumerate(listed):
        for other in listed[k + 1 :]:
            alike = one[0] == other[0] and abs(weights[one]) == abs(weights[other])
            if alike and _half(tuple(map(add, one[1], other[1]))) is not None:
                size = sum(map(abs, (*one[1], *other[1])))
                pairs.append((angles.still not in (one[1], other[1]), size, k, one, other))
    yield from ((one, other) for *_, one, other in sorted(pairs, key=lambda row: row[:3]))


def _half(place: _Angle) -> _Angle | None:
    """Half an angle where it is made of whole multiples."""
    return None if any(k % 2 for k in place) else tuple(k // 2 for k in place)


def _product(
    first: _Harmonic, second: _Harmonic, weights: tuple[Number, Number], angles: _Angles
) -> tuple[Monomial, Number]:
    """p (f(a) ± f(b)) as a product of functions of (a + b)/2 and (a - b)/2."""
    (cosine, a), (_, b) = first, second
    p, q = weights
    mean = tuple(k // 2 for k in map(add, a, b))
    gap = tuple(k // 2 for k in map(sub, a, b))
    #     cos a + cos b =  2 cos m cos g        sin a + sin b = 2 sin m cos g
    #     cos a - cos b = -2 sin m sin g        sin a - sin b = 2 cos m sin g        m = (a+b)/2, g = (a-b)/2
    if cosine:
        same = p == q
        return _term([(same, mean), (same, gap)], 2 * p if same else -2 * p, angles)
    return _term([(p != q, mean), (p == q, gap)], 2 * p, angles)


def _term(functions: list[_Harmonic], coefficient: Number, angles: _Angles) -> tuple[Monomial, Number]:
    whole: Monomial = ONE
    for cosine, place in functions:
        if any(place):  # cos 0 is 1; sin 0 comes of no pair
            function, sign = angles.function(cosine, place)
            whole, coefficient = product(whole, ((function, 1),)), coefficient * sign
    return whole, coefficient
