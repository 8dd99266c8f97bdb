"""Equations on the unit sphere of their quaternions, e0² + e1² + e2² + e3² = 1, where they are shorter.

Rotation matrices of unit quaternions have R Rᵀ = 1 on that sphere alone: multiplied out, the mass of a free body stands
beside (e0² + e1² + e2² + e3² - 1) e1 e2, which is zero in every motion.
"""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.graph import Expr, symbols_of
from torseur.algebra.graph.expr import Number
from torseur.derivation.equations.terms.polynomial import (
    Monomial,
    Polynomial,
    TooManyTerms,
    expand,
    expression_of,
    plus,
    product,
)
from torseur.derivation.equations.terms.short_sum import ALL_AT_ONCE, written_size

WORTH_TRYING = 3000  # operations of an entry, written out
Quaternion = tuple[Expr, ...]


def on_unit_sphere(expression: Expr, quaternions: Sequence[Quaternion]) -> Expr:
    """The same value wherever the quaternions have length one, with fewer terms where there are such."""
    present = set(symbols_of([expression]))
    own = [quaternion for quaternion in quaternions if present & set(quaternion)]
    if not own or written_size(expression) > WORTH_TRYING:
        return expression
    try:
        whole = expand(expression, ALL_AT_ONCE)
    except TooManyTerms:
        return expression
    short = whole
    for quaternion in own:
        # Which of the four squares goes is tried: of R_11 = e0² + e1² - e2² - e3² two terms are left by the right one.
        short = min([short, *(_without_square(short, e, quaternion) for e in quaternion)], key=len)
    return expression if short is whole else expression_of(short)


def _without_square(polynomial: Polynomial, e: Expr, quaternion: Quaternion) -> Polynomial:
    """e² replaced by 1 less the squares of the other three, until its first power is left at most."""
    others = [((other, 2),) for other in quaternion if other is not e]
    current = polynomial
    while any(dict(term).get(e, 0) >= 2 for term in current):
        terms: list[tuple[Monomial, Number]] = []
        for term, c in current.items():
            if dict(term).get(e, 0) < 2:
                terms.append((term, c))
                continue
            rest = product(term, ((e, -2),))
            terms += [(rest, c), *((product(rest, other), -c) for other in others)]
        current = plus(terms)
    return current
