"""Graph expressions as neutral expressions, in the order an engineer writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from torseur.algebra.graph import Expr, live_nodes
from torseur.algebra.graph.expr import Number as Scalar
from torseur.derivation.equations.equations import multiplier_display_name
from torseur.derivation.equations.terms.factoring import Group, common_factor, common_number, groups, quotient
from torseur.derivation.equations.terms.polynomial import Monomial, Polynomial, TooManyTerms, expand
from torseur.derivation.equations.terms.polynomial import product as monomials_product
from torseur.derivation.equations.terms.trigonometry import shorten_by_trigonometry
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
    product,
)
from torseur.presentation.typesetting.plain_text import plain_text
from torseur.presentation.typesetting.reading_order import factor_key, term_key

Names = Mapping[Expr, str]
NO_NAMES: Names = {}
LIMIT = 60  # terms of an entry above which it is written as it was computed
ALL_AT_ONCE, STEP_BY_STEP = 300, 150  # terms it may have on the way, shortened at the end or at every step
LARGEST_WRITING = 300  # operations of an expression that can be read as it was computed
# Why longer sums are not tried: docs/decisions/0051-hopeless-sums-are-not-tried.md.
HOPELESS = 15_000  # operations, shared parts counted as often as they occur, that never came down to a short sum


RELATIONS = {"lt": LESS, "le": AT_MOST}
_ARITHMETIC = ("add", "sub", "neg", "mul", "div", "pow")


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


def written_size(expression: Expr, names: Names = NO_NAMES) -> int:
    """How many operations the expression has when written out, shared parts as often as they occur."""
    return written_sizes([expression], names)[0]


def written_sizes(expressions: Sequence[Expr], names: Names = NO_NAMES) -> list[int]:
    """The sizes of several expressions, what they share walked once."""
    sizes: dict[Expr, int] = {}
    for node in live_nodes(expressions, names):
        sizes[node] = 1 + sum(sizes[a] for a in node.args if node not in names)
    return [sizes[expression] for expression in expressions]


def few_terms(expression: Expr, limit: int = LIMIT, hopeless: int = HOPELESS) -> Polynomial:
    """The expression as a short sum; raises TooManyTerms when it has more than `limit` terms.

    One of more than `hopeless` operations is not tried.
    """
    # Counted on the graph in one walk, before anything is multiplied out.
    if written_size(expression) > hopeless:
        raise TooManyTerms(limit)
    try:
        # sin² + cos² = 1 shortens best when it sees the whole sum. Where that is too long on the way, shortening after
        # every operation keeps it small, at the price of identities that it then does not see.
        result = shorten_by_trigonometry(expand(expression, ALL_AT_ONCE))
    except TooManyTerms:
        result = shorten_by_trigonometry(expand(expression, STEP_BY_STEP, shorten=shorten_by_trigonometry))
    if len(result) > limit:
        raise TooManyTerms(limit)
    return result


def factored_form(polynomial: Polynomial, names: Names = NO_NAMES) -> Node:
    """A sum with what all its terms have in common in front of a bracket, like quantities added up in brackets."""
    if len(polynomial) < 2:
        return _sum_of_groups(polynomial, names)
    # 2 m l² x + 4 m l y  ->  2 m l (l x + 2 y): what every monomial is divided by goes in front.
    number, shared = common_number(polynomial.values()), common_factor(polynomial)
    below = tuple((factor, -exponent) for factor, exponent in shared)
    inside = {monomials_product(monomial, below): quotient(c, number) for monomial, c in polynomial.items()}
    front = [_factor(factor, exponent, names) for factor, exponent in shared]
    if number == 1 and not front:
        return _sum_of_groups(inside, names)
    total = _sum_of_groups(inside, names)
    factors = sorted([*front, *_factors(total)], key=factor_key)
    return product(tuple(factors) if number == 1 else (Number(_value(number)), *factors))


def term_sources(polynomial: Polynomial) -> list[list[Monomial]]:
    """For every term of `factored_form`, in its order, the terms of the polynomial that it stands for."""
    shared = common_factor(polynomial) if len(polynomial) > 1 else ()
    if shared or (len(polynomial) > 1 and common_number(polynomial.values()) != 1):
        return [list(polynomial)]
    return [group.terms for group in sorted(groups(polynomial), key=lambda one: term_key(_group(one, NO_NAMES)))]


def _sum_of_groups(polynomial: Polynomial, names: Names) -> Node:
    terms = [_group(group, names) for group in groups(polynomial)]
    if not terms:
        return Number(Fraction(0))
    return terms[0] if len(terms) == 1 else Sum(tuple(sorted(terms, key=term_key)))


def _group(group: Group, names: Names) -> Node:
    """(m1 + m2) r² for a group of like quantities, a plain term for one alone."""
    if not group.like:
        return term(group.rest, group.coefficient, names)
    # m1 - m2 and not -m2 + m1: what is added comes before what is taken away.
    like = sorted(group.like, key=lambda one: (one[1] < 0, factor_key(literal_form(one[0], names))))
    bracket = Sum(tuple(term(((x, 1),), weight, names) for x, weight in like))
    factors = sorted((bracket, *_factors(term(group.rest, group.coefficient, names))), key=factor_key)
    return product(tuple(f for f in factors if f != ONE))


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
        base, exponent = readable_form(factor.args[0], names), exponent // 2
        return base if exponent == 1 else Power(base, Number(Fraction(exponent)))
    base = literal_form(factor, names) if factor in names or not factor.args else _closed_factor(factor, names)
    return base if exponent == 1 else Power(base, Number(Fraction(exponent)))


def _closed_factor(factor: Expr, names: Names) -> Node:
    """A function with readable arguments, or a sum below a fraction bar."""
    if factor.op in ("add", "sub", "neg", "mul", "div"):
        return readable_form(factor, names)
    if factor.op in RELATIONS:
        return _comparison(factor, names)
    arguments = tuple(readable_form(a, names) for a in factor.args)
    return Power(arguments[0], arguments[1]) if factor.op == "pow" else Call(_name(factor), arguments)


def _value(value: Scalar) -> Fraction | float:
    return value if isinstance(value, float) else Fraction(value)


def _name(node: Expr) -> str:
    return str(node.data.name) if node.op in ("apply", "table") else node.op


def _leaf(node: Expr, names: Names) -> Node:
    if node.op == "constant":
        return Number(_value(node.value))
    return Name("pi") if node.op == "pi" else read_name(str(node.data.name))


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
    factors = [factor for factor in (*_factors(first), *_factors(second)) if factor != ONE]
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
