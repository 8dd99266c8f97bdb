"""An expression as the shortest sum of terms that the rules find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from torseur.algebra.graph import Expr, live_nodes
from torseur.derivation.equations.terms.common_denominators import over_common_denominators
from torseur.derivation.equations.terms.equal_values import merge_equal_values
from torseur.derivation.equations.terms.factoring import factored_expression, symbols_of
from torseur.derivation.equations.terms.harmonics import shorten_by_harmonics
from torseur.derivation.equations.terms.polynomial import DUST, Monomial, Polynomial, TooManyTerms, expand
from torseur.derivation.equations.terms.trigonometry import shorten_by_trigonometry

LIMIT = 60  # terms of an entry above which it is written as it was computed
ALL_AT_ONCE, STEP_BY_STEP = 300, 150  # terms it may have on the way, shortened at the end or at every step
# Why longer sums are not tried: docs/decisions/0051-hopeless-sums-are-not-tried.md.
HOPELESS = 15_000  # operations, shared parts counted as often as they occur, that never came down to a short sum
_NO_NAMES: Mapping[Expr, str] = {}


def written_size(expression: Expr, names: Mapping[Expr, str] = _NO_NAMES) -> int:
    """How many operations the expression has when written out, shared parts as often as they occur."""
    return written_sizes([expression], names)[0]


def written_sizes(expressions: Sequence[Expr], names: Mapping[Expr, str] = _NO_NAMES) -> list[int]:
    """The sizes of several expressions, what they share walked once."""
    sizes: dict[Expr, int] = {}
    for node in live_nodes(expressions, names):
        sizes[node] = 1 + sum(sizes[a] for a in node.args if node not in names)
    return [sizes[expression] for expression in expressions]


def few_terms(expression: Expr, limit: int = LIMIT, hopeless: int = HOPELESS) -> Polynomial:
    """The expression as a short sum; raises TooManyTerms when it has more than `limit` terms.

    One of more than `hopeless` operations is not tried.
    """
    shorter = _few_terms(expression, limit, hopeless)
    if shorter is None:
        raise TooManyTerms(limit)
    return dict(shorter)  # those who ask may change theirs


# The square of a distance below a bar is met again in every term of a row; that a sum is too long is kept too. Only
# a few, since whole rows are among them, which would stay in a process that answers about text after text.
@lru_cache(maxsize=256)
def _few_terms(expression: Expr, limit: int, hopeless: int) -> Polynomial | None:
    # Counted on the graph in one walk, before anything is multiplied out.
    # A shared graph may be short and its written form astronomical.
    if written_size(expression) > hopeless:
        return None
    try:
        result = _multiplied_out(expression)
    except TooManyTerms:
        return None
    result = _with_sums_of_angles(over_common_denominators(without_dust(result)), limit)
    return result if len(result) <= limit else None


def _multiplied_out(expression: Expr) -> Polynomial:
    try:
        # sin² + cos² = 1 shortens best when it sees the whole sum. Where that is too long on the way, shortening after
        # every operation keeps it small, at the price of identities that it then does not see.
        return shorten_by_trigonometry(expand(expression, ALL_AT_ONCE))
    except TooManyTerms:
        return shorten_by_trigonometry(expand(expression, STEP_BY_STEP, shorten=shorten_by_trigonometry))


# Why harmonics: docs/decisions/0104-sums-of-angles-by-harmonics.md.
def _with_sums_of_angles(polynomial: Polynomial, limit: int) -> Polynomial:
    """The sum by sums of angles where it is written with fewer symbols so.

    Fewer terms may have more of them: b c (cos² - sin²) + (b² - c²) sin cos is a product, with cos 2x it is none.
    """
    turned = shorten_by_harmonics(polynomial)
    if turned is polynomial or len(polynomial) > limit:
        return turned
    return min(turned, polynomial, key=symbols_of)


def without_dust(polynomial: Polynomial) -> Polynomial:
    """The sum without terms that rounding left: next to nothing beside others of the same units."""
    if not any(isinstance(c, float) for c in polynomial.values()):
        return polynomial
    largest: dict[tuple[str, ...], float] = {}
    kinds = {term: _units(term) for term in polynomial}
    for term, coefficient in polynomial.items():
        largest[kinds[term]] = max(largest.get(kinds[term], 0.0), abs(float(coefficient)))
    return {
        term: c for term, c in polynomial.items() if not isinstance(c, float) or abs(c) > DUST * largest[kinds[term]]
    }


def _units(term: Monomial) -> tuple[str, ...]:
    """The units of what a term multiplies; sines and cosines have none, other functions count as themselves."""
    factors = [pair for pair in term if pair[0].op not in ("sin", "cos")]
    return tuple(sorted(f"{own.data.unit if own.op == 'symbol' else own.rank}^{exponent}" for own, exponent in factors))


def short_expression(expression: Expr) -> Expr:
    """The expression with few terms, like quantities added up and what all have in common in front.

    One that is long in any writing is returned without what vanishes in it.
    """
    try:
        return factored_expression(few_terms(expression))
    except TooManyTerms:
        merged = merge_equal_values([expression])[0]
    try:
        return factored_expression(few_terms(merged))
    except TooManyTerms:
        return merged
