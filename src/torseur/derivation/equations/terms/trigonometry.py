"""Sums of monomials written with the fewest terms that trigonometry allows."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.graph import scalar as s
from torseur.algebra.graph.expr import Number
from torseur.derivation.equations.terms.polynomial import (
    Monomial,
    Polynomial,
    TooManyTerms,
    expand,
    plus,
    product,
)

CLOSE = 1e-12  # rounded coefficients this near count as equal
MANY = 400  # above this number of terms pairs of terms are no longer compared
_OTHER = {"sin": "cos", "cos": "sin"}


def shorten_by_trigonometry(polynomial: Polynomial) -> Polynomial:
    """The same sum with sin² + cos² = 1 and the sums of angles used wherever they save terms."""
    current = _without_squares(polynomial)
    if len(current) > MANY:
        return current
    joined = _with_sums_of_angles(current)
    while len(joined) < len(current):
        current = _without_squares(joined)
        joined = _with_sums_of_angles(current)
    return current


# Why not SymPy's expand: docs/decisions/0053-own-zero-test-of-sums.md.
def vanishes(expression: Expr) -> bool:
    """Whether an expression is zero, also where only multiplying out shows it; a very long one is taken not to be."""
    if expression.is_constant:
        return bool(expression.is_zero)
    try:
        return not shorten_by_trigonometry(expand(expression))
    except TooManyTerms:
        return False


def _without_squares(polynomial: Polynomial) -> Polynomial:
    """Each angle's even powers written by its cosine or by its sine, whichever gives fewer terms.

    What one angle saves can let another save more, so the angles are gone through until nothing is saved.
    """
    current, before = polynomial, len(polynomial) + 1
    while len(current) < before:
        before = len(current)
        for angle in _squared_angles(current):
            sine, cosine = _function("sin", angle), _function("cos", angle)
            choices = [current, _without_square(current, sine, cosine), _without_square(current, cosine, sine)]
            current = min(choices, key=len)
    return _join_squares(current)


def without_sines_squared(polynomial: Polynomial) -> Polynomial:
    """sin² replaced by 1 - cos² everywhere: equal sums of products of sines and cosines become the same terms."""
    return _without_squares_of("sin", polynomial)


def without_cosines_squared(polynomial: Polynomial) -> Polynomial:
    """cos² replaced by 1 - sin² everywhere."""
    return _without_squares_of("cos", polynomial)


def _without_squares_of(function: str, polynomial: Polynomial) -> Polynomial:
    current = polynomial
    for angle in _squared_angles(current):
        current = _without_square(current, _function(function, angle), _function(_OTHER[function], angle))
    return current


def _join_squares(polynomial: Polynomial) -> Polynomial:
    """Pairs of terms made one where other squares of the angle stay: x sin² + x cos² is x, x - x cos² is x sin²."""
    current = dict(polynomial)
    pending = deque(current)
    while pending:
        term = pending.popleft()
        for factor in [f for f, exponent in term if f.op in _OTHER and exponent >= 2]:
            if term not in current:
                break
            rest = product(term, ((factor, -2),))
            partner = product(rest, ((_function(_OTHER[factor.op], factor.args[0]), 2),))
            if partner in current and _ratio(current[term], current[partner]) == 1:
                joined, coefficient, gone = rest, current[term], partner
            elif rest in current and _ratio(current[rest], current[term]) == -1:
                joined, coefficient, gone = partner, current[rest], rest
            else:
                continue
            del current[term], current[gone]
            total = plus([(joined, current.pop(joined, 0)), (joined, coefficient)])
            current |= total
            pending.extend(total)
    return current


def _squared_angles(polynomial: Polynomial) -> list[Expr]:
    """Angles of which a sine or cosine occurs squared, in their order."""
    angles = {f.args[0] for term in polynomial for f, exponent in term if exponent > 1 and f.op in _OTHER}
    return sorted(angles, key=lambda angle: angle.rank)


def _without_square(polynomial: Polynomial, square: Expr, other: Expr) -> Polynomial:
    """square² replaced by 1 - other² until at most its first power is left."""
    current = polynomial
    while any(_exponent(term, square) >= 2 for term in current):
        current = plus(_lower_square(current, square, other))
    return current


def _lower_square(polynomial: Polynomial, square: Expr, other: Expr) -> Iterator[tuple[Monomial, Number]]:
    for term, coefficient in polynomial.items():
        if _exponent(term, square) < 2:
            yield term, coefficient
            continue
        rest = product(term, ((square, -2),))
        yield rest, coefficient
        yield product(rest, ((other, 2),)), -coefficient


def _exponent(term: Monomial, factor: Expr) -> int:
    return next((exponent for own, exponent in term if own is factor), 0)


@dataclass(frozen=True)
class _Pair:
    """A term with two of its factors taken out: functions f(a) g(b) times the rest."""

    first: str
    second: str
    a: Expr
    b: Expr
    term: Monomial

    @property
    def rest(self) -> Monomial:
        """The term without the two."""
        taken = ((_function(self.first, self.a), -1), (_function(self.second, self.b), -1))
        return product(self.term, taken)


def _with_sums_of_angles(polynomial: Polynomial) -> Polynomial:
    """Pairs of terms made one until none is left: sin a cos b + cos a sin b = sin(a + b), and its like."""
    current = dict(polynomial)
    pending = deque(current)
    # Most terms have no partner. A number that every term has, and that changes by a known amount when sine and cosine
    # are exchanged, says so before the partner is made; whether it is really there is then looked up.
    marks = set(map(_mark, current))
    while pending:
        term = pending.popleft()
        match = _match(term, current, marks) if term in current else None
        if match is not None:
            partner, new, coefficient = match
            del current[term], current[partner]
            total = plus([(new, current.pop(new, 0)), (new, coefficient)])
            current |= total
            pending.extend(total)
            marks.update(map(_mark, total))
    return current


def _mark(term: Monomial) -> int:
    return sum(exponent * hash(factor) for factor, exponent in term)


def _match(term: Monomial, polynomial: Polynomial, marks: Collection[int]) -> tuple[Monomial, Monomial, Number] | None:
    """A partner of a term, and the term and coefficient that both make together."""
    for pair in _pairs(term, marks):
        partner = _partner(pair)
        if partner != term and partner in polynomial:
            joined = _join(pair, polynomial[term], polynomial[partner])
            if joined is not None:
                return partner, product(pair.rest, joined[0]), joined[1]
    return None


def _pairs(term: Monomial, marks: Collection[int]) -> Iterator[_Pair]:
    """Every choice of two trigonometric factors of different angles whose exchange may give a term of these marks."""
    turning = [
        (factor, hash(_function(_OTHER[factor.op], factor.args[0])) - hash(factor))
        for factor, exponent in term
        if factor.op in _OTHER and exponent > 0
    ]
    if len(turning) < 2:
        return
    mark = _mark(term)
    for i, (f, of_f) in enumerate(turning):
        for g, of_g in turning[i + 1 :]:
            if mark + of_f + of_g in marks and f.args[0] is not g.args[0]:
                a, b = (f, g) if f.args[0].rank <= g.args[0].rank else (g, f)
                yield _Pair(a.op, b.op, a.args[0], b.args[0], term)


@lru_cache(maxsize=4096)
def _function(name: str, angle: Expr) -> Expr:
    value: Expr = s.sin(angle) if name == "sin" else s.cos(angle)
    return value


def _partner(pair: _Pair) -> Monomial:
    """The term with sine and cosine exchanged."""
    exchange = ((_function(f, x), power) for name, x in ((pair.first, pair.a), (pair.second, pair.b))
                for f, power in ((name, -1), (_OTHER[name], 1)))  # fmt: skip
    return product(pair.term, tuple(exchange))


def _join(pair: _Pair, coefficient: Number, partner: Number) -> tuple[Monomial, Number] | None:
    """The one function both terms make, with its coefficient: cos(a - b) for cos a cos b + sin a sin b."""
    #     sin a cos b ± cos a sin b = sin(a ± b)        cos a cos b ∓ sin a sin b = cos(a ± b)
    ratio = _ratio(coefficient, partner)
    if ratio is None:
        return None
    mixed = pair.first != pair.second
    if mixed:
        sine_first = pair.first == "sin"
        angle, sign = (pair.a + pair.b, 1) if ratio == 1 else (pair.a - pair.b, 1 if sine_first else -1)
        return _normal_term("sin", angle, sign * coefficient)
    cosines = pair.first == "cos"
    angle, sign = (pair.a - pair.b, 1) if ratio == 1 else (pair.a + pair.b, 1 if cosines else -1)
    return _normal_term("cos", angle, sign * coefficient)


def _normal_term(name: str, angle: Expr, coefficient: Number) -> tuple[Monomial, Number]:
    """A function of an angle in its simplest writing; folding may turn sin(-x) into -sin(x)."""
    term, sign = _normal_function(name, angle)
    return term, sign * coefficient


@lru_cache(maxsize=4096)
def _normal_function(name: str, angle: Expr) -> tuple[Monomial, Number]:
    return next(iter(expand(_function(name, _simplest(angle))).items()))


def _simplest(angle: Expr) -> Expr:
    """The angle with like terms collected."""
    total = as_expr(0)
    for term, coefficient in expand(angle).items():
        part = as_expr(1)
        for factor, exponent in term:
            part = part * factor**exponent
        total = total - part if coefficient == -1 else total + as_expr(coefficient) * part
    return total


def _ratio(first: Number, second: Number) -> int | None:
    """1 for equal coefficients, -1 for opposite ones, otherwise None."""
    if not isinstance(first, float) and not isinstance(second, float):
        return 1 if first == second else -1 if first == -second else None
    for sign in (1, -1):
        gap, size = float(first - sign * second), float(first)
        if gap == 0 or (isinstance(first, float) and abs(gap) <= CLOSE * abs(size)):
            return sign
    return None
