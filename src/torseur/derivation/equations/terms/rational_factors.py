"""The factors of a sum of monomials over the rational numbers, sines and cosines taken as unknowns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from torseur.algebra.graph import Expr
from torseur.algebra.graph.expr import Number
from torseur.derivation.equations.terms.polynomial import Monomial, Polynomial, monomial

MOST_FACTORED = 40  # terms of a sum that is tried to be written as a product


def rational_factors(polynomial: Polynomial) -> tuple[Number, list[tuple[Polynomial, int]]]:
    """A number and the factors with their exponents; the sum itself where it is no product.

    What stands below bars only is an unknown by its inverse: 1 - d/s is a factor.
    """
    whole: list[tuple[Polynomial, int]] = [(polynomial, 1)]
    # Two terms without a common factor are a product only as a difference of like powers, which nobody prefers; floats
    # have no exact factors.
    if not 3 <= len(polynomial) <= MOST_FACTORED or any(isinstance(c, float) for c in polynomial.values()):
        return 1, whole
    lowest: dict[object, int] = {}
    highest: dict[object, int] = {}
    for term in polynomial:
        for own, exponent in term:
            lowest[own] = min(lowest.get(own, 0), exponent)
            highest[own] = max(highest.get(own, 0), exponent)
    # x and 1/x in one sum: a polynomial in neither.
    if any(lowest[own] < 0 < highest[own] for own in lowest):
        return 1, whole
    if _is_linear_in_one_term(polynomial):
        return 1, whole
    unknowns = _unknowns(polynomial)
    turned = [-1 if lowest[own] < 0 else 1 for own in unknowns]
    # Sines and cosines of one angle as two unknowns: factors over the circle would need another ring, and are rarely
    # read.
    content, found = _flint_sum(polynomial, unknowns, turned).factor()
    powers = [(_sum_of(base, unknowns, turned), int(exponent)) for base, exponent in found]
    return _with_positive_number(Fraction(int(content.p), int(content.q)), powers)


def _is_linear_in_one_term(polynomial: Polynomial) -> bool:
    """Whether a sum is no product because x m + r has a factor x alone in m: it divides m, and then r, or is a number.

    m is a product of unknowns, so a common divisor of m and r is one of all terms.
    """
    uses: Counter[object] = Counter(own for term in polynomial for own, _ in term)
    if len(polynomial) in uses.values():
        return False
    return any(uses[own] == 1 and abs(exponent) == 1 for term in polynomial for own, exponent in term)


def without_common_divisor(first: Polynomial, second: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Both divided by their greatest common divisor; as they are where that is not one of sums of products."""
    terms = [*first, *second]
    rounded = any(isinstance(c, float) for c in (*first.values(), *second.values()))
    if rounded or any(exponent < 0 for term in terms for _, exponent in term):
        return first, second
    unknowns = _unknowns(terms)
    up = [1] * len(unknowns)
    a, b = (_flint_sum(own, unknowns, up) for own in (first, second))
    shared = a.gcd(b)
    return _sum_of(a / shared, unknowns, up), _sum_of(b / shared, unknowns, up)


def _unknowns(terms: Iterable[Monomial]) -> list[Expr]:
    return sorted({own for term in terms for own, _ in term}, key=lambda own: own.rank)


def _flint_sum(polynomial: Polynomial, unknowns: Sequence[Expr], turned: Sequence[int]) -> Any:
    """The sum as FLINT's polynomial in unknowns, or where `turned` is -1 in their inverses."""
    from flint import Ordering, fmpq, fmpq_mpoly_ctx

    context = fmpq_mpoly_ctx.get([f"x{k}" for k in range(len(unknowns))], Ordering.lex)
    entries = {}
    for term, c in polynomial.items():
        powers_of = dict(term)
        place = tuple(sign * powers_of.get(x, 0) for x, sign in zip(unknowns, turned, strict=True))
        entries[place] = fmpq(Fraction(c).numerator, Fraction(c).denominator)
    return context.from_dict(entries)


def _sum_of(given: Any, unknowns: Sequence[Expr], turned: Sequence[int]) -> Polynomial:
    """A polynomial of FLINT as a sum of monomials."""
    return {
        monomial({x: sign * int(e) for x, sign, e in zip(unknowns, turned, place, strict=True)}): Fraction(
            int(c.p), int(c.q)
        )
        for place, c in given.to_dict().items()
    }


def _with_positive_number(
    number: Fraction, powers: list[tuple[Polynomial, int]]
) -> tuple[Number, list[tuple[Polynomial, int]]]:
    """(R - r) (...) and not -(r - R) (...): of a negative product the factor with most negative terms is turned.

    1 - d/s stays so, whatever it multiplies, and of a square that of a reference is subtracted: (r - l0)².
    """
    powers = [
        ({term: -c for term, c in base.items()}, exponent)
        if exponent % 2 == 0 and _is_turned(base)
        else (base, exponent)
        for base, exponent in powers
    ]
    odd = [k for k, (_, exponent) in enumerate(powers) if exponent % 2]
    for k in [k for k in odd if any(e < 0 for term in powers[k][0] for _, e in term)]:
        base, exponent = powers[k]
        if all(c < 0 for term, c in base.items() if all(e > 0 for _, e in term)):
            powers[k], number = ({term: -c for term, c in base.items()}, exponent), -number
        odd.remove(k)
    if number < 0 and odd:
        place = max(odd, key=lambda k: sum(1 if c < 0 else -1 for c in powers[k][0].values()))
        turned, exponent = powers[place]
        powers[place], number = ({term: -c for term, c in turned.items()}, exponent), -number
    return number, powers


def _is_turned(base: Polynomial) -> bool:
    """Whether only references, as l0, are positive."""
    references = {
        term: len(term) == 1 and term[0][0].op == "symbol" and str(term[0][0].name).endswith(("0", "rest"))
        for term in base
    }
    return any(c < 0 and not references[t] for t, c in base.items()) and all(
        references[t] for t, c in base.items() if c > 0
    )


def is_product(polynomial: Polynomial) -> bool:
    """Whether a sum is a square or a product of sums."""
    _, powers = rational_factors(polynomial)
    return sum(exponent for base, exponent in powers if len(base) > 1) > 1
