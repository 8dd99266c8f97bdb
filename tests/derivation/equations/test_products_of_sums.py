"""Which sums are products of sums, beside what SymPy factors."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import sympy

from torseur.algebra.graph import Expr, as_expr, symbol, to_sympy
from torseur.derivation.equations.terms.factoring import factor, groups
from torseur.derivation.equations.terms.polynomial import expand
from torseur.derivation.equations.terms.rational_factors import is_product

TRIED = 40


def random_sum(random: Random, unknowns: list[Expr]) -> Expr:
    """Two or three terms, some a product of two unknowns, some a number alone."""
    total = as_expr(0)
    for _ in range(random.randint(2, 3)):
        term = as_expr(random.choice((-2, -1, 1, 3)))
        for own in random.sample(unknowns, random.randint(0, 2)):
            term = term * own
        total = total + term
    return total


def test_sums_that_are_products_are_those_that_sympy_factors() -> None:
    random, found = Random(7), {True: 0, False: 0}
    unknowns = [symbol(name) for name in "abcd"]
    while sum(found.values()) < TRIED:
        value = random_sum(random, unknowns)
        if random.random() < 0.5:
            value = value * random_sum(random, unknowns)
        terms = expand(value)
        if not 3 <= len(terms) <= 40:
            continue
        _, factors = sympy.factor_list(to_sympy(value))
        expected = sum(e for base, e in factors if base.is_Add) > 1
        assert is_product(terms) == expected, value
        found[expected] += 1
    assert min(found.values()) > TRIED / 5


def test_what_was_met_before_does_not_decide_how_numbers_are_written() -> None:
    """1/2 and 0.5 are one key of a dictionary and two texts."""
    a, b, c = (symbol(name) for name in "abc")
    terms = {((a, 1), (c, 1)): Fraction(1, 2), ((b, 1), (c, 1)): Fraction(3, 4)}
    rounded = {term: float(number) for term, number in terms.items()}
    exact, written = groups(terms), repr(factor(terms))
    assert any(isinstance(c, Fraction) for one in exact for _, c in one.like)
    assert all(isinstance(c, float) for one in groups(rounded) for _, c in one.like if c != 1)
    assert repr(factor(rounded)) != written and repr(factor(terms)) == written and groups(terms) == exact
