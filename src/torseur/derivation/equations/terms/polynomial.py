"""Expressions multiplied out: sums of monomials whose factors are symbols, sines, cosines and closed subexpressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from fractions import Fraction
from functools import lru_cache
from math import isqrt, sqrt

from torseur.algebra.graph import Expr, as_expr, live_nodes
from torseur.algebra.graph import scalar as s
from torseur.algebra.graph.expr import Number
from torseur.errors import UnsupportedError

Monomial = tuple[tuple[Expr, int], ...]  # (factor, exponent) pairs in the order of the factors; no exponent is 0
Polynomial = Mapping[Monomial, Number]
Known = Mapping[Expr, Polynomial]

ONE: Monomial = ()
DUST = 1e-14  # of what cancels: what rounding leaves
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
        # Counted before it is spent: one product of two long sums may take minutes.
        effort += _effort(node, known)
        if effort > EFFORT * limit:
            raise TooManyTerms(limit)
        polynomial = _RULES.get(node.op, _single_factor)(node, known)
        known[node] = shorten(polynomial) if shorten is not None and len(polynomial) > WORTH_SHORTENING else polynomial
        if len(known[node]) > limit:
            raise TooManyTerms(limit)
    return known[expression]


@lru_cache(maxsize=4096)
def _one_writing(total: Expr) -> Expr:
    """A sum that stays closed, below a bar or under a root, in one writing: computed in two ways it is one factor."""
    # Here and not above: trigonometry is written in terms of this module, and closed sums are shortened by it.
    from torseur.derivation.equations.terms.trigonometry import shorten_by_trigonometry, without_sines_squared

    try:
        terms = shorten_by_trigonometry(without_sines_squared(expand(total)))
    except TooManyTerms:
        return total
    return expression_of(dict(sorted(terms.items(), key=lambda pair: [(f.rank, e) for f, e in pair[0]])))


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
    """Terms added up; what cancels disappears, rounded numbers too, which leave the last digits of what they were."""
    total: dict[Monomial, Number] = {}
    sizes: dict[Monomial, float] = {}
    for monomial, coefficient in terms:
        before = total.get(monomial)
        if before is None:
            total[monomial] = coefficient
            continue
        # Exact numbers cancel exactly; only where a float takes part is there dust to sweep.
        if isinstance(coefficient, float) or isinstance(before, float):
            # What a sum passed through, not what it is: rounding is relative to that.
            sizes[monomial] = max(sizes.get(monomial, 0.0), abs(float(before)), abs(float(coefficient)))
        total[monomial] = before + coefficient
    return {
        monomial: coefficient
        for monomial, coefficient in total.items()
        if coefficient != 0 and not (monomial in sizes and abs(float(coefficient)) <= DUST * sizes[monomial])
    }


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
    for factor in exponents:
        if factor.op in _REDUCIBLE:
            exponents = _without_even_roots(_with_single_magnitudes(exponents))
            break
    present = [pair for pair in exponents.items() if pair[1]]
    if len(present) > 1:
        present.sort(key=_rank)
    return tuple(present)


_REDUCIBLE = ("abs", "sqrt")


def _rank(pair: tuple[Expr, int]) -> int:
    return pair[0].rank


def _with_single_magnitudes(exponents: Mapping[Expr, int]) -> Mapping[Expr, int]:
    """x^a |x|^b with b = 1, 0 or -1: even powers of |x| are powers of x, and x² / |x| is |x|."""
    settled = dict(exponents)
    for magnitude in [factor for factor in exponents if factor.op == "abs"]:
        x = magnitude.args[0]
        power, inner = settled.pop(magnitude), settled.pop(x, 0)
        if power % 2 == 0:
            rest, left = 0, power + inner
        else:
            # x^(total) with the sign of x^inner: |x| or 1/|x| takes the odd part.
            total = power + inner
            rest = 1 if inner % 2 == 0 or total > 0 else -1
            left = total - rest
        settled |= {magnitude: rest, x: left}
    return settled


def _without_even_roots(exponents: Mapping[Expr, int]) -> Mapping[Expr, int]:
    """sqrt(x)² is x, and x sqrt(x) is sqrt(x)³: one of both, as the power is even or odd."""
    rooted = dict(exponents)
    for root in [factor for factor in exponents if factor.op == "sqrt"]:
        inside = root.args[0]
        halves = rooted.pop(root) + 2 * rooted.pop(inside, 0)
        rooted |= {root: halves} if halves % 2 else {inside: halves // 2}
    return rooted


def single(node: Expr, exponent: int = 1) -> Polynomial:
    """One factor alone."""
    return {((node, exponent),): 1}


def inverse(node: Expr, polynomial: Polynomial) -> Polynomial:
    """1 / node: a monomial is turned over, a sum stays closed below the bar."""
    if len(polynomial) != 1:
        return single(_one_writing(node), -1)
    ((only, coefficient),) = polynomial.items()
    # One stays a whole number: products with fractions take ten times as long.
    below: Number = coefficient
    if coefficient != 1:
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


def _root(node: Expr, known: Known) -> Polynomial:
    """sqrt(c² x² y⁴) is c |x| y²; a root of anything else is a factor by itself."""
    inside = known[node.args[0]]
    if len(inside) != 1:
        return single(s.sqrt(_one_writing(node.args[0]))) if inside else {}
    ((term, coefficient),) = inside.items()
    number = _exact_root(coefficient)
    if number is None or any(exponent % 2 for _, exponent in term):
        return single(node)
    exponents: dict[Expr, int] = {}
    for factor, exponent in term:
        half = exponent // 2
        exponents[factor if half % 2 == 0 else abs(factor)] = half
    return {monomial(exponents): number}


def _exact_root(number: Number) -> Number | None:
    if number < 0:
        return None
    if isinstance(number, float):
        return sqrt(number)
    fraction = Fraction(number)
    above, below = isqrt(fraction.numerator), isqrt(fraction.denominator)
    root = Fraction(above, below)
    return root if root * root == fraction else None


def _circular(node: Expr, known: Known) -> Polynomial:
    """Sine or cosine; of an inverse function the fraction it stands for: cos(atan2(y, x)) is x / sqrt(x² + y²)."""
    inner = node.args[0]
    rule = _INVERSES.get(inner.op)
    if rule is None:
        return _without_quarter_turns(node, known[inner])
    sine, cosine = rule(*inner.args)
    return expand(sine if node.op == "sin" else cosine)


def _without_quarter_turns(node: Expr, angle: Polynomial) -> Polynomial:
    """cos(β) for sin(π/2 - β), and its like."""
    turn = next((term for term in angle if len(term) == 1 and term[0][0].op == "pi" and term[0][1] == 1), None)
    quarters = Fraction(2 * angle[turn]) if turn is not None and not isinstance(angle[turn], float) else Fraction(1, 2)
    if quarters.denominator != 1 or len(angle) == 1:
        return single(node)
    rest = expression_of({term: c for term, c in angle.items() if term != turn})
    quadrant = int(quarters) % 4
    # sin(x + π/2) = cos x, sin(x + π) = -sin x; the cosine is a quarter turn ahead of the sine.
    ahead = (quadrant + (node.op == "cos")) % 4
    function, sign = (s.sin if ahead % 2 == 0 else s.cos), 1 if ahead < 2 else -1
    return scale(expand(function(rest)), sign)


def _of_atan2(y: Expr, x: Expr) -> tuple[Expr, Expr]:
    radius = s.sqrt(x * x + y * y)
    return y / radius, x / radius


def _of_atan(x: Expr) -> tuple[Expr, Expr]:
    radius = s.sqrt(1 + x * x)
    return x / radius, 1 / radius


# Sine and cosine of an inverse function, by its arguments.
_INVERSES: dict[str, Callable[..., tuple[Expr, Expr]]] = {
    "atan2": _of_atan2,
    "atan": _of_atan,
    "asin": lambda x: (x, s.sqrt(1 - x * x)),
    "acos": lambda x: (s.sqrt(1 - x * x), x),
}

_RULES: dict[str, Callable[[Expr, Known], Polynomial]] = {
    "constant": _constant,
    "add": _sum,
    "sub": _difference,
    "neg": lambda node, known: scale(known[node.args[0]], -1),
    "mul": _product,
    "div": _quotient,
    "pow": _power,
    "sqrt": _root,
    "sin": _circular,
    "cos": _circular,
}
