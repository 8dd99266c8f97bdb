"""Dimensions of everything in a text, found together: what is not said follows from how it is used.

A dimension is a product of powers of base units and of unknowns. Each use of a quantity is an equation between
dimensions, linear in their exponents; equations are solved as they come, so the first that cannot hold is the fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from torseur.description.mechanism.units import Dimension, kind_of, si_name, unit_of

Exponent = int | Fraction
MOST_UNKNOWNS = 50


def _exact(value: float | Fraction) -> Exponent:
    exact = Fraction(value).limit_denominator(1000)
    return exact.numerator if exact.denominator == 1 else exact


@dataclass(frozen=True)
class Dim:
    """Exponents of the base units, and of unknowns by their number."""

    base: tuple[Exponent, ...]
    unknowns: tuple[tuple[int, Exponent], ...] = ()

    def times(self, other: Dim, power: Exponent = 1) -> Dim:
        """This dimension times a power of another."""
        base = tuple(a + power * b for a, b in zip(self.base, other.base, strict=True))
        if not other.unknowns:
            return Dim(base, self.unknowns)
        total = dict(self.unknowns)
        for number, exponent in other.unknowns:
            total[number] = total.get(number, 0) + power * exponent
        return Dim(base, tuple((n, e) for n, e in total.items() if e))

    def power(self, exponent: Exponent) -> Dim:
        return NUMBER.times(self, exponent)

    @property
    def is_known(self) -> bool:
        return not self.unknowns

    @property
    def exponents(self) -> Dimension:
        return tuple(float(e) for e in self.base)


NUMBER = Dim((0,) * 7)


@lru_cache(maxsize=1024)
def dimension_of(unit: str) -> Dim:
    """The dimension of a unit."""
    return Dim(tuple(_exact(e) for e in unit_of(unit).dimension))


LENGTH, MASS, TIME = dimension_of("m"), dimension_of("kg"), dimension_of("s")
RATE = dimension_of("1/s")


class Dimensions:
    """The equations found so far, kept solved: each solved unknown in terms of others."""

    def __init__(self) -> None:
        self._count = 0
        self._solved: dict[int, Dim] = {}

    def unknown(self) -> Dim:
        """A dimension about which nothing is known yet."""
        self._count += 1
        return Dim(NUMBER.base, ((self._count, 1),))

    def resolve(self, dimension: Dim) -> Dim:
        """The dimension with all that has been learnt put in."""
        # Chains of unknowns that stand for each other are shortened on the way, as in union-find.
        passed = []
        while any(number in self._solved for number, _ in dimension.unknowns):
            if dimension.base == NUMBER.base and len(dimension.unknowns) == 1 and dimension.unknowns[0][1] == 1:
                passed.append(dimension.unknowns[0][0])
            current = Dim(dimension.base)
            for number, exponent in dimension.unknowns:
                part = self._solved.get(number, Dim(NUMBER.base, ((number, 1),)))
                current = current.times(part, exponent)
            dimension = current
        for number in passed:
            self._solved[number] = dimension
        return dimension

    def equal(self, first: Dim, second: Dim) -> bool:
        """Makes two dimensions equal; False when they cannot be."""
        if not first.unknowns and not second.unknowns:
            return first.base == second.base
        difference = self.resolve(first.times(second, -1))
        if difference.is_known:
            return difference.base == NUMBER.base
        if len(difference.unknowns) > MOST_UNKNOWNS:
            return False
        # The youngest unknown is solved for, in terms of older ones: so no chain of them leads back to itself.
        number, exponent = max(difference.unknowns)
        rest = Dim(difference.base, tuple(pair for pair in difference.unknowns if pair[0] != number))
        self._solved[number] = rest.power(_exact(Fraction(-1) / exponent))
        return True

    def unit(self, dimension: Dim, number: str = "1") -> str:
        """The SI unit; unknowns that nothing determined count as plain numbers."""
        known = self.resolve(dimension)
        return number if known.base == NUMBER.base else si_name(known.exponents)

    def in_words(self, dimension: Dim) -> str:
        """What the dimension is called, for messages."""
        return kind_of(self.resolve(dimension).exponents)


def with_article(kind: str) -> str:
    """a length, an acceleration."""
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
