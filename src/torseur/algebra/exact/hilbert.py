"""Dimension, Hilbert series and Hilbert polynomial from leading monomials: what a standard basis does not reduce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

Powers = tuple[int, ...]


def independent_variables(staircase: Sequence[Powers], count: int) -> tuple[int, ...]:
    """The largest set of variables in whose powers alone no leading monomial lies; its size is the dimension."""
    supports = {frozenset(k for k, power in enumerate(powers) if power) for powers in staircase}
    if frozenset() in supports:
        return ()
    # A set is independent where every support leaves it: the complement meets all supports.
    # Sets of one size after the other, so that the first to fit is the largest that is independent (Cox, Little,
    # O'Shea: Ideals, Varieties, and Algorithms, chapter 9). Exponential in the number of variables, of which there are
    # few.
    for left_out in range(count + 1):
        for removed in combinations(range(count), left_out):
            if all(support & {*removed} for support in supports):
                return tuple(k for k in range(count) if k not in removed)
    return ()


def dimension_of(staircase: Sequence[Powers], count: int) -> int:
    """The dimension of the common zeros; -1 where 1 is a leading monomial."""
    if any(not any(powers) for powers in staircase):
        return -1
    return len(independent_variables(staircase, count))


@dataclass(frozen=True)
class HilbertSeries:
    """Σ_d H(d) z^d = numerator(z) / (1 - z)^(n + 1), with H(d) the number of monomials of degree at most d left over.

    For large d, H(d) is the Hilbert polynomial: its degree is the dimension, its leading coefficient the degree of the
    variety divided by the factorial of the dimension.
    """

    numerator: tuple[int, ...]
    count: int

    @staticmethod
    def of(staircase: Sequence[Powers], count: int) -> HilbertSeries:
        return HilbertSeries(tuple(_numerator([*staircase], count)), count)

    @property
    def polynomial(self) -> Any:
        """The Hilbert polynomial in d (SymPy)."""
        import sympy as sp

        d = sp.Symbol("d")
        # z^k / (1 - z)^(n+1) has the coefficients binomial(d - k + n, n), a polynomial in d for d >= k.
        total = sum(c * _binomial(d - k + self.count, self.count) for k, c in enumerate(self.numerator))
        return sp.Poly(sp.expand(total), d).as_expr() if total != 0 else sp.Integer(0)

    @property
    def degree(self) -> int:
        """The degree of the variety: its number of points where the dimension is 0."""
        import sympy as sp

        polynomial = sp.Poly(self.polynomial, sp.Symbol("d"))
        return int(polynomial.LC() * sp.factorial(polynomial.degree())) if polynomial != 0 else 0

    def value(self, degree: int) -> int:
        """H(degree): monomials of at most this degree that are left over."""
        from math import comb

        return sum(c * comb(degree - k + self.count, self.count) for k, c in enumerate(self.numerator) if k <= degree)

    def __str__(self) -> str:
        return f"Hilbert polynomial {str(self.polynomial).replace('**', '^')}, degree {self.degree}"


def _binomial(top: Any, below: int) -> Any:
    import sympy as sp

    return sp.expand(sp.Mul(*(top - i for i in range(below))) / sp.factorial(below))


def _numerator(staircase: list[Powers], count: int) -> list[int]:
    """Numerator of the series of a monomial ideal: 1 for none, and N(I + m) = N(I) - z^deg(m) N(I : m)."""
    minimal = [m for m in staircase if not any(_divides(o, m) and o != m for o in staircase)]
    minimal = sorted(dict.fromkeys(minimal))
    if not minimal:
        return [1]
    # From the exact sequence 0 -> (S / (I : m))(-deg m) -> S / I -> S / (I + m) -> 0 (Bayer and Stillman 1992).
    *rest, last = minimal
    quotient = [tuple(max(a - b, 0) for a, b in zip(m, last, strict=True)) for m in rest]
    first, second = _numerator(rest, count), _numerator(quotient, count)
    total = [0] * max(len(first), len(second) + sum(last))
    for k, c in enumerate(first):
        total[k] += c
    for k, c in enumerate(second):
        total[k + sum(last)] -= c
    while len(total) > 1 and total[-1] == 0:
        total.pop()
    return total


def _divides(a: Powers, b: Powers) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))
