"""Rational functions as they are written, brought over common denominators in python-flint within a budget.

Denominators stay products of powers, as they are written: sums need no greatest common divisor then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import comb, gcd, lcm, log2
from typing import Any

from torseur.algebra.exact.flint_ring import FlintRing
from torseur.errors import UnsupportedError, counted

# Products of terms that one question may cost: some seconds and two GB at worst. They are counted before they are
# multiplied: python-flint cannot be interrupted once it has begun.
MOST_PRODUCTS = 5 * 10**7
_WORD = 64  # bits


@dataclass
class Budget:
    """Products of terms that are left; `step` is what is being done, `instead` what else answers."""

    step: str
    instead: str
    left: float = field(default_factory=lambda: MOST_PRODUCTS)

    def spend(self, products: float) -> None:
        self.left -= products
        if self.left < 0:
            raise UnsupportedError(
                f"{self.step} multiplies more than {counted(MOST_PRODUCTS, 'pair')} of terms. {self.instead}; symbols "
                "that have values help too."
            )

    def multiply(self, a: Any, b: Any) -> Any:
        self.spend(len(a) * len(b))
        return a * b

    def power(self, a: Any, k: int) -> Any:
        """a to a whole power, refused by the number and the length of the coefficients that it may have."""
        if len(a) > 1:
            dense = 1
            for degree in a.degrees():
                dense = min(dense * (int(degree) * k + 1), MOST_PRODUCTS)
            terms = min(dense, comb(len(a) + k - 1, k) if len(a) < _WORD else dense)
            # Less than one operation a term and word for most; more where many terms are multiplied by few.
            words = 1 + k * log2(sum(abs(int(c)) for c in a.coeffs())) / _WORD
            self.spend(terms * words * len(a))
        return a**k


@dataclass(frozen=True)
class Fraction:
    """above / (number · product of p^k), p by its text in `below`; whole coefficients."""

    above: Any
    number: int
    below: Mapping[str, int]


class Fractions:
    """Fractions of expressions over one ring, each expression read once."""

    def __init__(self, ring: FlintRing, budget: Budget) -> None:
        self.budget = budget
        self.factors: dict[str, Any] = {}
        self._one = ring.context.from_dict({(0,) * len(ring.variables): 1})
        self._read = {v: Fraction(g, 1, {}) for v, g in zip(ring.variables, ring.context.gens(), strict=True)}

    def of(self, expression: Any) -> Fraction:
        """Raises ZeroDivisionError where a denominator is zero everywhere."""
        known = self._read.get(expression)
        if known is None:
            self._read[expression] = known = self._made(expression)
        return known

    def _made(self, expression: Any) -> Fraction:
        if expression.is_Rational:
            return Fraction(self._one * int(expression.p), int(expression.q), {})
        if expression.is_Add:
            parts = [self.of(x) for x in expression.args]
            number, common, aboves = self._over_one(parts)
            return Fraction(sum(aboves, 0 * self._one), number, common)
        if expression.is_Mul:
            return self._product([self.of(x) for x in expression.args])
        base, exponent = self.of(expression.base), int(expression.exp)
        if exponent < 0:
            base, exponent = self._inverse(base), -exponent
        powers = {p: k * exponent for p, k in base.below.items()}
        return Fraction(self.budget.power(base.above, exponent), base.number**exponent, powers)

    def _product(self, parts: Sequence[Fraction]) -> Fraction:
        above, number, below = self._one, 1, Counter[str]()
        for part in parts:
            above = self.budget.multiply(above, part.above)
            number *= part.number
            below.update(part.below)
        return Fraction(above, number, below)

    def _inverse(self, part: Fraction) -> Fraction:
        if part.above == 0:
            raise ZeroDivisionError
        above = self._one * part.number
        for p, k in part.below.items():
            above = self.budget.multiply(above, self.budget.power(self.factors[p], k))
        if part.above.is_constant():
            number = int(part.above.coefficient(0))
            return Fraction(above if number > 0 else -above, abs(number), {})
        name = str(part.above)
        self.factors[name] = part.above
        return Fraction(above, 1, {name: 1})

    def _over_one(self, parts: Sequence[Fraction]) -> tuple[int, dict[str, int], list[Any]]:
        """A common denominator, and the numerators over it."""
        common: dict[str, int] = {}
        for part in parts:
            for p, k in part.below.items():
                common[p] = max(k, common.get(p, 0))
        number = lcm(*(part.number for part in parts))
        aboves = []
        for part in parts:
            above = part.above * (number // part.number)
            for p, k in common.items():
                if above != 0 and (more := k - part.below.get(p, 0)):
                    above = self.budget.multiply(above, self.budget.power(self.factors[p], more))
            aboves.append(above)
        return number, common, aboves

    def cleared(self, row: Sequence[Any]) -> list[Any]:
        """A row of expressions times a common denominator, without the whole number that divides all of it."""
        _, _, polynomials = self._over_one([self.of(x) for x in row])
        content = gcd(*(int(p.content()) for p in polynomials if p != 0)) or 1
        return [p // content for p in polynomials]


class Blocks:
    """Polynomials in an algebraic number, the last variable, as the matrices by which they multiply.

    Of degree d over the rational functions, the number's field is a space of d dimensions over them, and a matrix over
    it of rank r is one of rank d r in blocks.
    """

    def __init__(self, minimal: Any, ring: FlintRing) -> None:
        import flint

        *below, self._lead = [int(c) for c in reversed(minimal.clear_denoms(convert=True)[1].all_coeffs())]
        self.degree = d = len(below)
        # a w, for the leading coefficient a: its matrix is whole.
        self._root = flint.fmpz_mat([[-below[i] if j == d - 1 else self._lead * (i == j + 1) for j in range(d)]
                                     for i in range(d)])  # fmt: skip
        self._ring = ring

    def of(self, rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """A matrix in blocks, its rows times a power of a."""
        made = []
        for row in rows:
            highest = max(int(p.degrees()[-1]) for p in row)
            blocks = [self._block(p, highest) for p in row]
            made += [[x for block in blocks for x in block[i]] for i in range(self.degree)]
        return made

    def is_zero(self, polynomial: Any) -> bool:
        return all(x == 0 for row in self._block(polynomial, int(polynomial.degrees()[-1])) for x in row)

    def _block(self, polynomial: Any, highest: int) -> list[list[Any]]:
        """a^highest · polynomial; `highest` is not below its degree in the number."""
        parts: dict[int, dict[tuple[int, ...], int]] = {}
        for (*powers, k), c in polynomial.to_dict().items():
            parts.setdefault(int(k), {})[(*map(int, powers), 0)] = int(c)
        d, context = self.degree, self._ring.context
        total = [[context.from_dict({}) for _ in range(d)] for _ in range(d)]
        for k, part in parts.items():
            p, power = context.from_dict(part) * self._lead ** (highest - k), self._root**k
            total = [[x + p * int(power[i, j]) for j, x in enumerate(row)] for i, row in enumerate(total)]
        return total
