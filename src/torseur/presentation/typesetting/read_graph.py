"""Graph expressions as neutral expressions, in the order an engineer writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import prod

from torseur.algebra.graph import Expr
from torseur.algebra.graph.expr import Number as Scalar
from torseur.derivation.equations.multipliers import multiplier_display_name
from torseur.derivation.equations.terms.factoring import Group, factor, groups
from torseur.derivation.equations.terms.linear_solution import Quotient
from torseur.derivation.equations.terms.polynomial import Monomial, Polynomial, TooManyTerms, expand, expression_of
from torseur.derivation.equations.terms.short_sum import HOPELESS, LIMIT, few_terms, written_size
from torseur.presentation.typesetting.formula_tree import (
    AT_MOST,
    LESS,
    ONE,
    Call,
    Infix,
    Name,
    Node,
    Number,
    Power,
    Product,
    Sum,
    children,
    negative,
    product,
    reciprocal,
    split_sign,
    spread_sign,
)
from torseur.presentation.typesetting.plain_text import plain_text
from torseur.presentation.typesetting.reading_order import factor_key, leading_first, term_key

Names = Mapping[Expr, str]
NO_NAMES: Names = {}
WORDS = re.compile(r"[A-Za-z]\w*")
WORTH_TURNING = 0.8  # of its words, by sums of angles
LARGEST_WRITING = 300  # operations of an expression that can be read as it was computed


RELATIONS = {"lt": LESS, "le": AT_MOST}
_ARITHMETIC = ("add", "sub", "neg", "mul", "div", "pow")


@lru_cache(maxsize=4096)
def read_name(text: str) -> Name:
    """A quantity by its name; primes are time derivatives, and the multiplier of joint 'wrist': x is lambda_wrist_x."""
    if multiplier := multiplier_display_name(text):
        return Name(multiplier)
    bare = text.rstrip("'")
    return Name(bare, len(text) - len(bare))


def readable_form(expression: Expr, names: Names = NO_NAMES, limit: int = LIMIT, hopeless: int = HOPELESS) -> Node:
    """The expression with few terms and its common factor in front, or as it stands when that is short.

    Raises TooManyTerms when it is long in any writing; `recursion.definitions` then breaks it up by names.
    """
    try:
        return factored_form(few_terms(expression, limit, hopeless), names)
    except TooManyTerms:
        if written_size(expression, names) > LARGEST_WRITING:
            raise
        return literal_form(expression, names)


def readable_text(expression: Expr) -> str:
    """An expression with few terms, in the notation of the language: `m1*g*l*sin(q1)`."""
    return plain_text(readable_or_literal_form(expression))


def readable_or_literal_form(expression: Expr) -> Node:
    """The expression with few terms, or as it was computed where it is long in any writing."""
    try:
        return readable_form(expression)
    except TooManyTerms:
        return literal_form(expression)


def factored_form(polynomial: Polynomial, names: Names = NO_NAMES, across: bool = False) -> Node:
    """A sum with what all its terms have in common in front of a bracket, like quantities added up in brackets.

    With `across` sums of parameters stand in front of whatever they multiply.
    """
    if not polynomial:
        return Number(Fraction(0))
    written = factor(polynomial, across)
    if not written.sums:
        return term(written.front, written.number, names)
    sums = [(_sum_of_groups(gathered, names), exponent) for gathered, exponent in written.sums]
    if len(sums) == 1 and sums[0][1] == 1 and not written.front and written.number == 1:
        return sums[0][0]
    brackets = [part for base, exponent in sums for part in _powers_of(base, exponent)]
    front = [_factor(own, exponent, names) for own, exponent in written.front]
    return _one_number((Number(_value(written.number)), *sorted([*front, *brackets], key=factor_key)))


def quotient_form(given: Quotient) -> Node:
    """One fraction, or a sum of several where that is shorter; no fraction has fractions above its bar."""
    below = [
        Power(own, Number(Fraction(-1))) for own in _factors(factored_form(given.below, across=True)) if own != ONE
    ]
    above = _shorter_writing(given.above)
    whole = product(tuple([*(own for own in _factors(above) if own != ONE), *below]) or (ONE,))
    try:
        apart = readable_form(given.value)
    except TooManyTerms:
        return whole
    apart = spread_sign(apart)
    one_bar = isinstance(apart, Product) and any(reciprocal(own) for own in apart.factors)
    # What is one fraction by this road too has its denominator in another writing than its companions have.
    return whole if one_bar or _is_nested(apart) else min(whole, apart, key=_words)


def _words(node: Node) -> int:
    """How many names and functions are read."""
    return len(WORDS.findall(plain_text(node)))


def _shorter_writing(polynomial: Polynomial) -> Node:
    """A sum by products of sines and cosines, or by sums of angles where much is saved: 1/2 sin(a - 2 b) is harder."""
    plain = factored_form(polynomial, across=True)
    try:
        turned = factored_form(few_terms(expression_of(polynomial)), across=True)
    except TooManyTerms:
        return plain
    return turned if _words(turned) <= WORTH_TURNING * _words(plain) else plain


def _is_nested(node: Node) -> bool:
    """Whether there are fractions above the bar of a fraction."""
    if not isinstance(node, Product):
        return isinstance(node, Sum) and any(map(_is_nested, node.terms))
    above = [own for own in node.factors if reciprocal(own) is None]
    return len(above) < len(node.factors) and any(map(_has_fractions, above))


def _has_fractions(node: Node) -> bool:
    return reciprocal(node) is not None or any(map(_has_fractions, children(node)))


def _powers_of(base: Node, exponent: int) -> tuple[Node, ...]:
    if exponent > 1:
        return (Power(base, Number(Fraction(exponent))),)
    return _factors(_with_positive_lead(base))


def gathered_terms(polynomial: Polynomial) -> list[tuple[Node, list[Monomial]]]:
    """The terms with like ones added up, nothing drawn in front of all, and the monomials that each stands for."""
    listed = [(_group(group, NO_NAMES), group.terms) for group in groups(polynomial)]
    return sorted(listed, key=lambda one: term_key(one[0]))


def term_sources(polynomial: Polynomial) -> list[list[Monomial]]:
    """For every term of `factored_form`, in its order, the terms of the polynomial that it stands for."""
    if len(polynomial) < 2:
        return [list(polynomial)]
    written = factor(polynomial)
    ((gathered, exponent), *others) = written.sums or (((), 1),)
    if others or exponent > 1 or written.front or written.number != 1:
        return [list(polynomial)]
    nodes = [_group(group, NO_NAMES) for group in gathered]
    sources = {id(node): group.terms for node, group in zip(nodes, gathered, strict=True)}
    return [sources[id(node)] for node in _in_reading_order(nodes)]


def _sum_of_groups(gathered: Sequence[Group], names: Names) -> Node:
    terms = [_group(group, names) for group in gathered]
    return terms[0] if len(terms) == 1 else Sum(tuple(_in_reading_order(terms)))


def _in_reading_order(terms: Sequence[Node]) -> list[Node]:
    return leading_first(sorted(terms, key=term_key))


def _group(group: Group, names: Names) -> Node:
    """(m1 + m2) r² for a group of like quantities, a plain term for one alone."""
    if not group.like:
        return term(group.rest, group.coefficient, names)
    front = () if group.rest == () and group.coefficient == 1 else _factors(term(group.rest, group.coefficient, names))
    brackets = [factored_form(dict(own), names) for own in (group.second, group.like) if own]
    turned = [_with_positive_lead(bracket) for bracket in brackets]
    factors = sorted((*(f for bracket in turned for f in _factors(bracket)), *front), key=factor_key)
    return _one_number(tuple(f for f in factors if f != ONE))


def _with_positive_lead(bracket: Node) -> Node:
    """- (x'' cos a - a'^2 sin a), and not (-x'' cos a + a'^2 sin a), beside other factors."""
    if isinstance(bracket, Sum) and split_sign(bracket.terms[0])[0]:
        return Product((Number(Fraction(-1)), Sum(tuple(map(negative, bracket.terms)))))
    return bracket


def _one_number(factors: tuple[Node, ...]) -> Node:
    """A product whose numbers, which sorting brings to the front, are multiplied."""
    numbers = [own.value for own in factors if isinstance(own, Number)]
    rest = tuple(own for own in factors if not isinstance(own, Number))
    total = prod(numbers)
    return product(rest if total == 1 and rest else (Number(total), *rest))


def term(monomial: Monomial, coefficient: Scalar, names: Names = NO_NAMES) -> Node:
    """One term: its number, then its factors in reading order."""
    factors = sorted((_factor(factor, exponent, names) for factor, exponent in monomial), key=factor_key)
    number = Number(_value(coefficient))
    return product(tuple(factors) if number == ONE and factors else (number, *factors))


def literal_form(expression: Expr, names: Names = NO_NAMES) -> Node:
    """The expression as it was built, nothing multiplied out; nodes in `names` appear by name.

    For expressions of moderate depth: names keep those of a program short.
    """
    return read_name(names[expression]) if expression in names else definition(expression, names)


def definition(expression: Expr, names: Names) -> Node:
    """What a node stands for, its own name not used."""
    return _WRITERS.get(expression.op, _call)(expression, names)


def tidy_form(expression: Expr, names: Names, limit: int = 12) -> Node:
    """What a node stands for in terms of named nodes: multiplied out and factored where that is shorter."""
    plainly = definition(expression, names)
    if expression.op not in _ARITHMETIC:
        return plainly
    try:
        tidy = factored_form(expand(expression, limit, names), names)
    except TooManyTerms:
        return plainly
    return tidy if len(plain_text(tidy)) <= len(plain_text(plainly)) else plainly


def _factor(factor: Expr, exponent: int, names: Names) -> Node:
    # sqrt(x)² is x: products of roots, as of unit vectors, become readable by this alone.
    if factor.op == "sqrt" and exponent % 2 == 0 and factor not in names:
        base, exponent = _closed_form(factor.args[0], names), exponent // 2
        return base if exponent == 1 else Power(base, Number(Fraction(exponent)))
    base = literal_form(factor, names) if factor in names or not factor.args else _closed_factor(factor, names)
    return base if exponent == 1 else Power(base, Number(Fraction(exponent)))


def _closed_factor(factor: Expr, names: Names) -> Node:
    """A function with readable arguments, or a sum below a fraction bar."""
    if factor.op in ("add", "sub", "neg", "mul", "div"):
        return _closed_form(factor, names)
    if factor.op in RELATIONS:
        return _comparison(factor, names)
    # Most functions are of one angle, which is a name as it is.
    arguments = tuple(
        literal_form(a, names) if a in names or not a.args else _closed_form(a, names) for a in factor.args
    )
    return Power(arguments[0], arguments[1]) if factor.op == "pow" else Call(_name(factor), arguments)


def _closed_form(inside: Expr, names: Names) -> Node:
    """What stands under a root, below a bar or as an argument."""
    return readable_form(inside, names) if names else _nameless_form(inside)


# One distance stands in many terms of many rows, and every comparison of two writings asks for it again.
@lru_cache(maxsize=4096)
def _nameless_form(inside: Expr) -> Node:
    return readable_form(inside)


def _value(value: Scalar) -> Fraction | float:
    return value if isinstance(value, float) else Fraction(value)


def _name(node: Expr) -> str:
    return str(node.data.name) if node.op in ("apply", "table") else node.op


def _leaf(node: Expr, names: Names) -> Node:
    if node.op == "constant":
        return Number(_value(node.value))
    return Name("pi") if node.op == "pi" else _quantity(str(node.data.name), node.data.unit)


@lru_cache(maxsize=4096)
def _quantity(text: str, unit: str) -> Name:
    return replace(read_name(text), unit=unit)


def _call(node: Expr, names: Names) -> Node:
    return Call(_name(node), tuple(literal_form(a, names) for a in node.args))


def _comparison(node: Expr, names: Names) -> Node:
    return Infix(RELATIONS[node.op], *(literal_form(a, names) for a in node.args))


def _sum(node: Expr, names: Names) -> Node:
    first, second = (literal_form(a, names) for a in node.args)
    return Sum((*_terms(first), *(_terms(second) if node.op == "add" else map(_negative, _terms(second)))))


def _terms(node: Node) -> tuple[Node, ...]:
    return node.terms if isinstance(node, Sum) else (node,)


def _factors(node: Node) -> tuple[Node, ...]:
    return node.factors if isinstance(node, Product) else (node,)


def _negative(node: Node) -> Node:
    if isinstance(node, Number):
        return Number(-node.value)
    first, *rest = _factors(node)
    if isinstance(first, Number):
        return product((Number(-first.value), *rest) if first.value != -1 else tuple(rest))
    return Product((Number(Fraction(-1)), first, *rest))


def _product(node: Expr, names: Names) -> Node:
    first, second = (literal_form(a, names) for a in node.args)
    # q*q, which nobody writes.
    if first == second:
        return Power(first, Number(Fraction(2)))
    factors = [f for f in (*_factors(first), *_factors(second)) if not isinstance(f, Number) or f.value != 1]
    return product(tuple(sorted(factors, key=factor_key)))


def _quotient(node: Expr, names: Names) -> Node:
    above, below = (literal_form(a, names) for a in node.args)
    return Product((*_factors(above), Power(below, Number(Fraction(-1)))))


def _power(node: Expr, names: Names) -> Node:
    base, exponent = (literal_form(a, names) for a in node.args)
    return Power(base, exponent)


_WRITERS = {
    "constant": _leaf,
    "symbol": _leaf,
    "pi": _leaf,
    "add": _sum,
    "sub": _sum,
    "neg": lambda node, names: _negative(literal_form(node.args[0], names)),
    "mul": _product,
    "div": _quotient,
    "pow": _power,
    "lt": _comparison,
    "le": _comparison,
}
