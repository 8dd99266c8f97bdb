"""Bounds on degrees and coefficients of rational functions as they are written, without expanding them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import Any


@dataclass(frozen=True)
class Size:
    """Of numerator / (whole number · product of denominators): degree of the numerator, bits of the sum of its
    coefficients and of the number, and the denominators with their powers."""

    degree: int
    bits: float
    number: float
    below: Mapping[Any, int]


class Sizes:
    """Sizes of expressions, whose variables count with a weight each."""

    def __init__(self, weights: Mapping[Any, int]) -> None:
        self._weights = weights
        self._known: dict[Any, Size] = {}

    def row(self, row: Sequence[Any]) -> tuple[int, int, float]:
        """(largest degree of a row times its common denominator, degree of that denominator, bits of coefficients)."""
        total = self._sum([self.of(x) for x in row])
        return total.degree, self._below(total.below).degree, total.bits

    def of(self, expression: Any) -> Size:
        if expression not in self._known:
            self._known[expression] = self._made(expression)
        return self._known[expression]

    def _made(self, expression: Any) -> Size:
        if expression.is_Rational:
            return Size(0, log2(abs(int(expression.p)) + 1), log2(int(expression.q)), {})
        if expression in self._weights:
            return Size(self._weights[expression], 0.0, 0.0, {})
        parts = [self.of(x) for x in expression.args]
        if expression.is_Add:
            return self._sum(parts)
        if expression.is_Mul:
            return _product(parts)
        base, exponent = self.of(expression.base), int(expression.exp)
        if exponent >= 0:
            return _power(base, exponent)
        # The numerator of the base stands below, under the base's own name.
        over = _product([self._below(base.below), Size(0, base.number, 0.0, {})])
        return _power(Size(over.degree, over.bits, 0.0, {expression.base: 1}), -exponent)

    def _below(self, below: Mapping[Any, int]) -> Size:
        """The product of denominators, as a numerator."""
        return _product([_power(Size(self.of(p).degree, self.of(p).bits, 0.0, {}), k) for p, k in below.items()])

    def _sum(self, parts: Sequence[Size]) -> Size:
        common: Counter[Any] = Counter()
        for part in parts:
            common |= Counter(part.below)
        number = sum(part.number for part in parts)
        degree, bits = 0, 0.0
        for part in parts:
            more = self._below(common - Counter(part.below))
            degree = max(degree, part.degree + more.degree)
            bits = max(bits, part.bits + more.bits + number)
        return Size(degree, bits + log2(max(len(parts), 1)), number, common)


def _product(parts: Sequence[Size]) -> Size:
    below: Counter[Any] = Counter()
    for part in parts:
        below.update(part.below)
    return Size(sum(p.degree for p in parts), sum(p.bits for p in parts), sum(p.number for p in parts), below)


def _power(size: Size, k: int) -> Size:
    return Size(size.degree * k, size.bits * k, size.number * k, {p: n * k for p, n in size.below.items()})
