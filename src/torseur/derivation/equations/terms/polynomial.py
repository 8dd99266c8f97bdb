"""Expressions multiplied out: sums of monomials whose factors are symbols, sines, cosines and closed subexpressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from fractions import Fraction

from torseur.algebra.graph import Expr, as_expr, live_nodes
from torseur.algebra.graph.expr import Number
from torseur.errors import UnsupportedError

Monomial = tuple[tuple[Expr, int], ...]  # (factor, exponent) pairs in the order of the factors; no exponent is 0
Polynomial = Mapping[Monomial, Number]
Known = Mapping[Expr, Polynomial]

ONE: Monomial = ()
LARGEST_POWER = 6
WORTH_SHORTENING = 12
EFFORT = 25  # products of terms, per term allowed, after which the expression is given up


class TooManyTerms(UnsupportedError):
    """Multiplying out would not make the expression easier to read."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the expression has more than {limit} terms when multiplied out.")


def expand(
    expression: Expr,
    limit: int = 400,
    closed: Set[Expr] | Mapping[Expr, object] = frozenset(),
    shorten: Callable[[Polynomial], Polynomial] | None = None,
) -> Polynomial:
    """The expression as a sum of at most `limit` monomials; raises TooManyTerms beyond.

    Nodes in `closed`, other than the expression itself, are taken as factors. `shorten` is applied to longer sums
    on the way, which keeps them from growing.
    """
    known: dict[Expr, Polynomial] = {}
    effort = 0
    for node in [*live_nodes(expression.args, closed), expression]:
        if node in closed and node is not expression:
            known[node] = single(node)
            continue
        effort += _effort(node, known)
        if effort > EFFORT * limit:
            raise TooManyTerms(limit)
        polynomial = _RULES.get(node.op, _single_factor)(node, known)
        known[node] = shorten(polynomial) if shorten is not None and len(polynomial) > WORTH_SHORTENING else polynomial
        if len(known[node]) > limit:
            raise TooManyTerms(limit)
    return known[expression]


def expression_of(polynomial: Polynomial) -> Expr:
    """The sum of monomials as an expression."""
    total = as_expr(0)
    for term, coefficient in polynomial.items():
        part = as_expr(coefficient)
        for f, exponent in term:
            part = part * f**exponent
        total = total + part
    return total


def _effort(node: Expr, known: Known) -> int:
    """Products of terms that a node takes."""
    if node.op not in ("mul", "pow"):
        return 0
    first, second = (len(known[a]) for a in node.args)
    return first * second if node.op == "mul" else first**2


def plus(terms: Iterable[tuple[Monomial, Number]]) -> Polynomial:
    """Terms added up; what cancels disappears."""
    total: dict[Monomial, Number] = {}
    for monomial, coefficient in terms:
        total[monomial] = total.get(monomial, 0) + coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient != 0}


def times(first: Polynomial, second: Polynomial) -> Polynomial:
    """The product, multiplied out."""
    return plus((product(a, b), x * y) for a, x in first.items() for b, y in second.items())


def scale(polynomial: Polynomial, factor: Number) -> Polynomial:
    """The polynomial times a number."""
    return {monomial: factor * coefficient for monomial, coefficient in polynomial.items()}


def product(first: Monomial, second: Monomial) -> Monomial:
    """Two monomials multiplied."""
    exponents = dict(first)
    for factor, exponent in second:
        exponents[factor] = exponents.get(factor, 0) + exponent
    return monomial(exponents)


def monomial(exponents: Mapping[Expr, int]) -> Monomial:
    """The monomial with these exponents."""
    present = [(factor, exponent) for factor, exponent in exponents.items() if exponent]
    return tuple(sorted(present, key=lambda pair: pair[0].rank))


def single(node: Expr, exponent: int = 1) -> Polynomial:
    """One factor alone."""
    return {((node, exponent),): 1}


def inverse(node: Expr, polynomial: Polynomial) -> Polynomial:
    """1 / node: a monomial is turned over, a sum stays closed below the bar."""
    if len(polynomial) != 1:
        return single(node, -1)
    ((only, coefficient),) = polynomial.items()
    below = 1 / coefficient if isinstance(coefficient, float) else 1 / Fraction(coefficient)
    return {tuple((factor, -exponent) for factor, exponent in only): below}


def _single_factor(node: Expr, known: Known) -> Polynomial:
    return single(node)


def _constant(node: Expr, known: Known) -> Polynomial:
    return {ONE: node.value} if node.value != 0 else {}


def _sum(node: Expr, known: Known) -> Polynomial:
    first, second = (known[a] for a in node.args)
    return plus([*first.items(), *second.items()])


def _difference(node: Expr, known: Known) -> Polynomial:
    first, second = (known[a] for a in node.args)
    return plus([*first.items(), *scale(second, -1).items()])


def _product(node: Expr, known: Known) -> Polynomial:
    return times(known[node.args[0]], known[node.args[1]])


def _quotient(node: Expr, known: Known) -> Polynomial:
    above, below = node.args
    return times(known[above], inverse(below, known[below]))


def _power(node: Expr, known: Known) -> Polynomial:
    base, exponent = node.args
    if not exponent.is_constant or not isinstance(exponent.value, int) or abs(exponent.value) > LARGEST_POWER:
        return single(node)
    factor = known[base] if exponent.value > 0 else inverse(base, known[base])
    result: Polynomial = {ONE: 1}
    for _ in range(abs(exponent.value)):
        result = times(result, factor)
    return result


_RULES: dict[str, Callable[[Expr, Known], Polynomial]] = {
    "constant": _constant,
    "add": _sum,
    "sub": _difference,
    "neg": lambda node, known: scale(known[node.args[0]], -1),
    "mul": _product,
    "div": _quotient,
    "pow": _power,
}
