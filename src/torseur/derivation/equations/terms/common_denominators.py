"""Fractions of a sum brought over one denominator, where that leaves fewer terms."""

from __future__ import annotations

from fractions import Fraction

from torseur.algebra.graph import Expr
from torseur.algebra.graph.expr import Number
from torseur.derivation.equations.terms.common_parts import SUMS
from torseur.derivation.equations.terms.polynomial import ONE, Monomial, Polynomial, expand, plus, product, times
from torseur.derivation.equations.terms.trigonometry import shorten_by_trigonometry, without_sines_squared

LONGEST = 60  # terms of a numerator that is tried


def over_common_denominators(polynomial: Polynomial) -> Polynomial:
    """The same sum with a/D + b/D² written (a D + b)/D² where that is shorter, and D cancelled where it divides.

    Terms are taken together that differ in the quantities of D alone: a fraction whose numerator mixes the masses of
    different bodies would be short and say nothing.
    """
    current = _without_closed_sums(polynomial)
    # One after the other: what was brought over one bar may hold the next.
    for denominator in _closed_sums(current):
        current = _over(current, denominator)
    return current


def _closed_sums(polynomial: Polynomial) -> list[Expr]:
    """Sums that are factors, in a fixed order."""
    sums = {factor for term in polynomial for factor, _ in term if factor.op in SUMS}
    return sorted(sums, key=lambda node: node.rank)


def _without_closed_sums(polynomial: Polynomial) -> Polynomial:
    """Closed sums above the bar, which come of squared roots, multiplied out; all others stay."""
    closed = [(term, f, e) for term in polynomial for f, e in term if f.op in SUMS and e > 0]
    if not closed:
        return polynomial
    total: list[tuple[Monomial, Number]] = []
    for term, coefficient in polynomial.items():
        part: Polynomial = {tuple(pair for pair in term if not (pair[0].op in SUMS and pair[1] > 0)): coefficient}
        for own, factor, exponent in closed:
            for _ in range(exponent if own == term else 0):
                part = times(part, expand(factor))
        total += part.items()
    return shorten_by_trigonometry(plus(total))


def _over(polynomial: Polynomial, denominator: Expr) -> Polynomial:
    below = without_sines_squared(expand(denominator))
    own = _quantities(below)
    families: dict[Monomial, dict[Monomial, Number]] = {}
    for term, coefficient in polynomial.items():
        shared = tuple(pair for pair in term if pair[0] is not denominator and _quantity(pair[0]) not in own)
        families.setdefault(shared, {})[term] = coefficient
    total: dict[Monomial, Number] = {}
    for shared, family in families.items():
        shorter = _one_fraction(shared, family, denominator, below)
        total |= family if shorter is None or len(shorter) >= len(family) else shorter
    return total


def _quantities(polynomial: Polynomial) -> set[Expr]:
    return {_quantity(factor) for term in polynomial for factor, _ in term}


def _quantity(factor: Expr) -> Expr:
    """A factor, or the angle of a sine or cosine."""
    return factor.args[0] if factor.op in ("sin", "cos") else factor


def _one_fraction(shared: Monomial, family: Polynomial, denominator: Expr, below: Polynomial) -> Polynomial | None:
    """A family of terms as shared · N / D^n; None where no term of it has the denominator."""
    powers = {term: dict(term).get(denominator, 0) for term in family}
    n = -min(powers.values())
    if n <= 0:
        return None
    numerator: Polynomial = {}
    for term, coefficient in family.items():
        alone = product(term, tuple((f, -e) for f, e in (*shared, (denominator, powers[term])) if e))
        part: Polynomial = {alone: coefficient}
        # t / D^k is t D^(n-k) / D^n, with -k = powers[term].
        for _ in range(n + powers[term]):
            part = times(part, below)
        numerator = plus([*numerator.items(), *part.items()])
    numerator = without_sines_squared(numerator)
    # A long numerator has no common factor that anybody would see, and division by it takes its length squared.
    if len(numerator) > LONGEST:
        return None
    # D may divide the sum though it divides none of its terms.
    while n and (smaller := exact_quotient(numerator, below)) is not None:
        numerator, n = smaller, n - 1
    front = product(shared, ((denominator, -n),)) if n else shared
    return {product(front, term): c for term, c in shorten_by_trigonometry(numerator).items()}


def exact_quotient(above: Polynomial, below: Polynomial) -> Polynomial | None:
    """above / below where nothing is left over, otherwise None: long division by the leading term."""
    if any(isinstance(c, float) for c in (*above.values(), *below.values())):
        return None
    # In a fixed order of monomials the leading term of a product is the product of leading terms, so that each step
    # removes the leading term of the rest.
    lead = max(below, key=_degree)
    quotient: dict[Monomial, Number] = {}
    rest = dict(above)
    while rest:
        term = max(rest, key=_degree)
        ratio = product(term, tuple((f, -e) for f, e in lead))
        if any(e < 0 for _, e in ratio) and ratio != ONE:
            return None
        factor = Fraction(rest[term]) / Fraction(below[lead])
        quotient[ratio] = factor
        rest = dict(plus([*rest.items(), *((product(ratio, t), -factor * c) for t, c in below.items())]))
        if len(quotient) > LONGEST:
            return None
    return quotient


def _degree(term: Monomial) -> tuple[tuple[int, int], ...]:
    """Lexicographic order of monomials: factors by rank, the first decides."""
    return tuple(sorted(((factor.rank, e) for factor, e in term), reverse=True))
