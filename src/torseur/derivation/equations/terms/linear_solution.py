"""Linear equations solved by determinants: every unknown one fraction, with what both sides share cancelled.

Elimination leaves fractions within fractions; minors leave x_i = N_i / det A, whose numerator and denominator are sums
of products that trigonometry shortens and division by their greatest common divisor cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import gcd, lcm

from torseur.algebra.graph import Expr, as_expr
from torseur.derivation.equations.terms.common_parts import SUMS, common_factor, quotient
from torseur.derivation.equations.terms.factoring import factored_expression, symbols_of
from torseur.derivation.equations.terms.polynomial import (
    ONE,
    Monomial,
    Polynomial,
    TooManyTerms,
    expand,
    expression_of,
    monomial,
    plus,
    product,
    scale,
    times,
)
from torseur.derivation.equations.terms.rational_factors import rational_factors, without_common_divisor
from torseur.derivation.equations.terms.short_sum import few_terms
from torseur.derivation.equations.terms.trigonometry import (
    shorten_by_trigonometry,
    without_cosines_squared,
    without_sines_squared,
)

MOST_UNKNOWNS, MOST_TERMS = 4, 400
Matrix = Sequence[Sequence[Expr]]


@dataclass(frozen=True)
class Quotient:
    """above / below, with nothing in common."""

    above: Polynomial
    below: Polynomial

    @property
    def value(self) -> Expr:
        """Divided by one factor after the other, so that each is read as a power of its own."""
        front = common_factor(self.below)
        inverse = tuple((own, -exponent) for own, exponent in front)
        content, powers = rational_factors({product(term, inverse): c for term, c in self.below.items()})
        total = factored_expression(self.above) / expression_of({front: content})
        for base, exponent in powers:
            total = total / expression_of(base) ** exponent
        return total

    @property
    def length(self) -> int:
        """How many symbols are written."""
        return symbols_of(self.above) + symbols_of(self.below)


def solve_by_minors(matrix: Matrix, right: Sequence[Expr]) -> list[Quotient] | None:
    """x with A x = b, each as one fraction; None where it would be long or numbers are rounded."""
    minors = _minors(matrix, right)
    return None if minors is None else [_shortest_fraction(numerator, minors[1]) for numerator in minors[0]]


def determinant(matrix: Matrix) -> Polynomial | None:
    """The determinant of a matrix as a short sum; None where it would be long."""
    try:
        return shorten_by_trigonometry(_determinant([[few_terms(entry) for entry in row] for row in matrix]))
    except TooManyTerms:
        return None


def inverse_by_minors(matrix: Matrix) -> list[list[Expr]] | None:
    """A⁻¹ by rows, each entry one fraction; None where it would be long or numbers are rounded."""
    n = len(matrix)
    columns = []
    for k in range(n):
        column = solve_by_minors(matrix, [as_expr(int(i == k)) for i in range(n)])
        if column is None:
            return None
        columns.append([own.value for own in column])
    return [list(row) for row in zip(*columns, strict=True)]


def form_of_inverse(matrix: Matrix, vector: Sequence[Expr]) -> Quotient | None:
    """pᵀ A⁻¹ p as one fraction; None where it would be long or numbers are rounded."""
    minors = _minors(matrix, vector)
    if minors is None:
        return None
    try:
        parts = [_times(few_terms(p), numerator) for p, numerator in zip(vector, minors[0], strict=True)]
    except TooManyTerms:
        return None
    return _shortest_fraction(plus(pair for part in parts for pair in part.items()), minors[1])


def _minors(matrix: Matrix, right: Sequence[Expr]) -> tuple[list[Polynomial], Polynomial] | None:
    """N and det A with x_i = N_i / det A: Cramer's rule, column i of A replaced by b."""
    n = len(right)
    if n > MOST_UNKNOWNS:
        return None
    try:
        rows = [_without_denominators([few_terms(e) for e in (*row, b)]) for row, b in zip(matrix, right, strict=True)]
        if any(isinstance(c, float) for row in rows for entry in row for c in entry.values()):
            return None
        # n + 1 determinants of size n <= MOST_UNKNOWNS; polynomials stay short because every minor is shortened at
        # once.
        below = _determinant([row[:n] for row in rows])
        above = [_determinant([[*row[:i], row[n], *row[i + 1 : n]] for row in rows]) for i in range(n)]
    except TooManyTerms:
        return None
    return (above, below) if below else None


def _without_denominators(row: Sequence[Polynomial]) -> list[Polynomial]:
    """A row times what its terms are divided by; sums in brackets are multiplied out."""
    lowest: dict[Expr, int] = {}
    for entry in row:
        for term in entry:
            for own, exponent in term:
                lowest[own] = min(lowest.get(own, 0), exponent)
    # A row of [A b] may be multiplied by anything: all determinants of Cramer's rule take the same factor.
    front = monomial({own: -exponent for own, exponent in lowest.items() if exponent < 0})
    raised = [{product(term, front): c for term, c in entry.items()} for entry in row]
    return [_multiplied_out(entry) for entry in raised]


def _multiplied_out(polynomial: Polynomial) -> Polynomial:
    total: list[tuple[Monomial, Fraction | int | float]] = []
    for term, c in polynomial.items():
        part: Polynomial = {tuple(pair for pair in term if pair[0].op not in SUMS): c}
        for own, exponent in term:
            for _ in range(exponent if own.op in SUMS else 0):
                part = _times(part, expand(own))
        total += part.items()
    return plus(total)


def _determinant(rows: Sequence[Sequence[Polynomial]]) -> Polynomial:
    """By minors of the first rows, each computed once."""
    n = len(rows)

    @cache
    def minor(columns: tuple[int, ...]) -> Polynomial:
        if not columns:
            return {ONE: 1}
        # Laplace along the first row that is left: minors of the last rows by their columns, 2^n of them instead of n!
        # products.
        row = rows[n - len(columns)]
        total: list[tuple[Monomial, Fraction | int | float]] = []
        for place, column in enumerate(columns):
            if row[column]:
                rest = minor((*columns[:place], *columns[place + 1 :]))
                total += scale(_times(row[column], rest), -1 if place % 2 else 1).items()
        return without_sines_squared(plus(total))

    return minor(tuple(range(n)))


def _times(first: Polynomial, second: Polynomial) -> Polynomial:
    result = times(first, second)
    if len(result) > MOST_TERMS:
        raise TooManyTerms(MOST_TERMS)
    return result


def _shortest_fraction(above: Polynomial, below: Polynomial) -> Quotient:
    """above / below with what they share cancelled, in the writing with fewest symbols.

    sin² x (...) / sin x is cancelled where squares are those of sines, (1 - cos² x) / cos x where they are cosines'.
    """
    if not above:
        return Quotient({}, {ONE: 1})
    # Which squares are written decides what cancels: sin² x / sin x, or (1 - cos² x) / cos x. Tried, not guessed.
    writings = (without_sines_squared, without_cosines_squared, shorten_by_trigonometry)
    return min((_cancelled(write(above), write(below)) for write in writings), key=lambda own: own.length)


def _cancelled(above: Polynomial, below: Polynomial) -> Quotient:
    top, bottom = map(shorten_by_trigonometry, without_common_divisor(above, below))
    # J + 2 m l² below, and not 2 J + 4 m l² or J/2 + m l².
    numbers = [Fraction(c) for c in bottom.values()]
    number = Fraction(gcd(*(c.numerator for c in numbers)), lcm(*(c.denominator for c in numbers)))
    if all(c < 0 for c in numbers):
        number = -number
    return Quotient(
        {t: quotient(c, number) for t, c in top.items()}, {t: quotient(c, number) for t, c in bottom.items()}
    )
