"""A sum written with what its terms have in common in front, and like terms gathered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.graph.expr import Number
from torseur.derivation.equations.terms.common_parts import (
    SUMS,
    common_divisor,
    common_factor,
    common_number,
    front_of,
    is_acceleration,
    moves,
    quotient,
    shared_number,
)
from torseur.derivation.equations.terms.like_terms import Candidate, is_stiffness, levers, like_terms
from torseur.derivation.equations.terms.polynomial import Monomial, Polynomial, expression_of, product
from torseur.derivation.equations.terms.rational_factors import rational_factors

SPREAD = (*SUMS, "mul", "div", "neg", "pow")  # operations whose arguments are all read


@dataclass(frozen=True)
class Group:
    """coefficient · rest · (weighted sum of like quantities); nothing in `like` stands for a term by itself.

    `second` is another sum that multiplies the first: (J + m l²) (a'' + b'').
    """

    rest: Monomial
    coefficient: Number
    like: tuple[tuple[Monomial, Number], ...]
    second: tuple[tuple[Monomial, Number], ...] = ()

    @property
    def terms(self) -> list[Monomial]:
        """The terms that it gathers."""
        fronts = [product(self.rest, x) for x, _ in self.second] or [self.rest]
        return [product(front, x) for front in fronts for x, _ in self.like] or fronts


@dataclass(frozen=True)
class Factored:
    """number · front · (sum of groups)^exponent · ..., with one sum or several; none where there is one term."""

    number: Number
    front: Monomial
    sums: tuple[tuple[tuple[Group, ...], int], ...] = ()


def factor(polynomial: Polynomial, across: bool = False) -> Factored:
    """A sum with what all its terms have in common in front, as a product of sums where it is one: (R - r)² x''.

    With `across` inertias stand in front of whatever they multiply, as in numerators: (J + m l²) (F - b x').
    """
    if len(polynomial) == 1:
        ((only, coefficient),) = polynomial.items()
        return Factored(coefficient, only)
    return _factor(_key(polynomial), across)


_Key = tuple[tuple[Monomial, Number, bool], ...]


def _key(polynomial: Polynomial) -> _Key:
    """The terms of a polynomial to look results up by.

    1/2 and 0.5 are equal to a dictionary and are not written alike: what was met before must not decide which is.
    """
    return tuple((term, c, isinstance(c, float)) for term, c in polynomial.items())


def _polynomial(key: _Key) -> Polynomial:
    return {term: c for term, c, _ in key}


# A bracket is met on many roads: as part of several candidates, in each order, by every formalism.
@lru_cache(maxsize=4096)
def _factor(key: _Key, across: bool) -> Factored:
    polynomial = _polynomial(key)
    shared = front_of(polynomial)
    number = (common_divisor if shared else common_number)(polynomial.values())
    below = tuple((own, -exponent) for own, exponent in shared)
    inside = {product(term, below): quotient(c, number) for term, c in polynomial.items()}
    # Over the rationals FLINT finds every product; whether it is shorter to read is counted in symbols afterwards.
    content, powers = _with_fewest_numbers(*rational_factors(inside))
    whole = _across(groups(inside)) if across else groups(inside)
    if len(powers) > 1 or any(exponent > 1 for _, exponent in powers):
        sums = tuple((tuple(groups(base)), exponent) for base, exponent in powers)
        if sum(symbols_shown(one) for one, _ in sums) <= symbols_shown(whole):
            return Factored(number * content, shared, sums)
    return Factored(number, shared, ((tuple(whole), 1),))


def _with_fewest_numbers(
    content: Number, powers: list[tuple[Polynomial, int]]
) -> tuple[Number, list[tuple[Polynomial, int]]]:
    """(R - r) (7/5 (R - r) x'' + g sin x) and not 1/5 (R - r) (7 (R - r) x'' + 5 g sin x)."""
    for k, (base, exponent) in enumerate(powers):
        inside = {term: content * c for term, c in base.items()}
        if exponent == 1 and content > 0 and _numbers(inside) < _numbers(base) + (content != 1):
            return 1, [*powers[:k], (inside, 1), *powers[k + 1 :]]
    return content, powers


def _numbers(polynomial: Polynomial) -> int:
    """How many terms have a number in front."""
    return sum(1 for c in polynomial.values() if abs(c) != 1)


def symbols_shown(gathered: Iterable[Group]) -> int:
    """How many symbols are written; brackets within brackets count as one each, since they are harder to read."""
    return sum(_size(g.rest) + sum(symbols_of(dict(own)) for own in (g.like, g.second)) for g in gathered)


def _size(term: Monomial) -> int:
    """How many symbols a term is written with, those of sums below a bar among them."""
    return sum(_symbols_below(own) if own.op in SUMS else 1 for own, _ in term)


@lru_cache(maxsize=4096)
def _symbols_below(closed: Expr) -> int:
    return sum(_symbols_below(argument) for argument in closed.args) if closed.op in SPREAD else 1


def symbols_of(bracket: Polynomial) -> int:
    """How many symbols a sum in brackets is written with."""
    return _symbols_of(_key(bracket))


@lru_cache(maxsize=4096)
def _symbols_of(key: _Key) -> int:
    bracket = _polynomial(key)
    plain = sum(max(1, _size(term)) for term in bracket)
    if len(bracket) < 2 or plain == len(bracket):
        return plain
    written = factor(bracket)
    inner = sum(1 for one, _ in written.sums for g in one for own in (g.like, g.second) if len(own) > 1)
    return _size(written.front) + sum(symbols_shown(one) for one, _ in written.sums) + inner


def groups(polynomial: Polynomial) -> list[Group]:
    """The terms, those gathered that differ in one quantity: m1 r² + m2 r² / 2 is (m1 + m2/2) r².

    Either all but one symbol is shared, and these symbols have the same unit, or the same motion multiplies different
    parameters, as in (J + m l²) x''. What is gathered first decides what is left for others; of several orders, by
    what saves most at once, single symbols first, sums that occur most often first, sums of motions first, what an
    acceleration multiplies first, and sums of lengths first, the one that writes fewest symbols is taken.
    """
    return list(_groups(_key(polynomial)))


@lru_cache(maxsize=4096)
def _groups(key: _Key) -> tuple[Group, ...]:
    polynomial = _polynomial(key)
    # What is gathered shares a factor; most rows of named intermediates have none that stands in two terms.
    factors = [own for term in polynomial for own, _ in term]
    if len(set(factors)) == len(factors):
        return tuple(Group(term, c, ()) for term, c in polynomial.items())
    sums, products = like_terms(polynomial)
    candidates = [*(_Weighed.of(one, _saving(one)) for one in sums),
                  *(_Weighed.of(one, _saving_of_product(one)) for one in products)]  # fmt: skip
    arms = [_Weighed.of(one, _saving(one)) for one in levers(polynomial)]
    if not candidates and not arms:
        return tuple(Group(term, c, ()) for term, c in polynomial.items())
    often = Counter(one.bracket for one in candidates)
    orders = [
        # Greedy, because gathering is a covering problem: each term goes into one bracket, and brackets compete.
        # Several orders and the best of them come close to the best for sums of mechanics, which have a dozen terms.
        sorted(candidates, key=lambda one: one.saving),
        sorted(candidates, key=lambda one: (one.several, one.saving)),
        sorted(candidates, key=lambda one: (-often[one.bracket], one.several, one.saving)),
        sorted(candidates, key=lambda one: (not one.motion, one.saving)),
        sorted(candidates, key=lambda one: (not any(is_acceleration(own) for own, _ in one.rest), one.saving)),
    ]
    if arms:
        orders.append([*sorted(arms, key=lambda one: one.saving), *orders[0]])
    # Of two as short, the one that has each acceleration once: (M + m) x'' + M g and not M (x'' + g) + m x''.
    # Few candidates are in one order by all of them.
    different = {tuple(map(id, order)): order for order in orders}.values()
    gathered = [tuple(_gather(polynomial, order)) for order in different]
    return min(gathered, key=lambda own: (symbols_shown(own), _split(own))) if len(gathered) > 1 else gathered[0]


def _split(gathered: Iterable[Group]) -> int:
    """In how many terms accelerations stand."""
    return sum(1 for group in gathered for own in {f for term in group.terms for f, _ in term} if is_acceleration(own))


_Saving = tuple[int, int, tuple[tuple[int, int], ...]]


@dataclass(frozen=True)
class _Weighed:
    """A way to gather terms, with what decides when it is tried."""

    rest: Monomial
    members: tuple[tuple[Monomial, Monomial, Number], ...]
    """The terms, each with what it has beyond `rest` and the weight of that."""
    saving: _Saving
    bracket: tuple[Any, ...]
    motion: bool
    several: bool
    """Whether what is added up are products of several symbols."""

    @classmethod
    def of(cls, candidate: Candidate, saving: _Saving) -> _Weighed:
        rest, like = candidate
        members = tuple((product(rest, x), x, c) for x, c in like.items())
        several = max(len(x) for x in like) > 1
        return cls(rest, members, saving, _bracket(candidate), _is_motion(candidate), several)


def _is_motion(candidate: Candidate) -> bool:
    """Whether motions are added up: I (a'' + b''), k (x + a θ - z)."""
    front = candidate[0]
    if len(front) == 1 and is_stiffness(front[0][0]):
        return True
    return all(x and all(own.op == "symbol" and moves(own) for own, _ in x) for x in candidate[1])


def _bracket(candidate: Candidate) -> tuple[Any, ...]:
    """The sum that a candidate puts in brackets, whatever stands in front."""
    like = sorted(candidate[1].items(), key=lambda pair: _structure(pair[0]))
    number = shared_number([c for _, c in like])
    return tuple((x, quotient(c, number)) for x, c in like)


def _gather(polynomial: Polynomial, candidates: Iterable[_Weighed]) -> list[Group]:
    taken: set[Monomial] = set()
    gathered: list[Group] = []
    for one in candidates:
        like = [(x, c) for term, x, c in one.members if term not in taken]
        if len(like) > 1:
            number = shared_number([c for _, c in like])
            gathered.append(Group(one.rest, number, tuple((x, quotient(c, number)) for x, c in like)))
            taken |= {term for term, _, _ in one.members}
    alone = (Group(term, c, ()) for term, c in polynomial.items() if term not in taken)
    return [*_same_brackets(gathered), *alone]


def _across(gathered: Iterable[Group]) -> list[Group]:
    """Groups with one sum of parameters made one, whatever it multiplies."""
    listed = list(gathered)
    single = [g for g in listed if g.like and not g.second and not any(moves(own) for x, _ in g.like for own, _ in x)]
    others = [g for g in listed if g not in single]
    return [*_same_brackets(map(_bare_bracket, single), across=True), *others]


def _bare_bracket(group: Group) -> Group:
    """b (J + m l²) x' of (b J + b m l²) x'."""
    shared = common_factor(x for x, _ in group.like)
    below = tuple((own, -exponent) for own, exponent in shared)
    like = tuple((product(x, below), c) for x, c in group.like)
    return Group(product(group.rest, shared), group.coefficient, like)


def _same_brackets(gathered: Iterable[Group], across: bool = False) -> list[Group]:
    """Groups of one and the same sum made one: J (a + b) + m l² (a + b) is (J + m l²) (a + b).

    What they differ in are parameters: (m1 + m2) r x'' and (m1 + m2) g sin x are an inertia and a weight. B (a - b) and
    C (b - a) have one sum too.
    """
    by_sum: dict[tuple[Any, ...], list[Group]] = {}
    for group in gathered:
        like = sorted(group.like, key=lambda pair: _structure(pair[0]))
        # a - b and b - a are one bracket: the sign of its first term is made positive in the key.
        sign = -1 if like and like[0][1] < 0 else 1
        motion = [pair for pair in group.rest if moves(pair[0]) and not across]
        by_sum.setdefault((*((x, sign * c) for x, c in like), *motion), []).append(group)
    return [_merge(same) if len(same) > 1 else same[0] for same in by_sum.values()]


def _merge(same: list[Group]) -> Group:
    shared = common_factor(group.rest for group in same)
    below = tuple((own, -exponent) for own, exponent in shared)
    own = dict(same[0].like)
    weights = [group.coefficient * (1 if dict(group.like) == own else -1) for group in same]
    number = shared_number(weights)
    pairs = zip(same, weights, strict=True)
    fronts = tuple((product(group.rest, below), quotient(weight, number)) for group, weight in pairs)
    return Group(shared, number, same[0].like, fronts)


def _structure(term: Monomial) -> tuple[tuple[int, int], ...]:
    return tuple((own.rank, exponent) for own, exponent in term)


def _saving(candidate: Candidate) -> _Saving:
    """Sort key: symbols saved; single symbols before coefficients; then the structure, so that the order is fixed."""
    rest, like = candidate
    numbers = {abs(c) for c in like.values()}
    shown_once = _size(rest) + (len(numbers) == 1 and numbers != {1})
    several = max(len(x) for x in like)
    # A coefficient of parameters saves inside too: J x'' + m1 r² x'' + m2 r² x'' is (J + (m1 + m2) r²) x''.
    of_parameters = several > 1 and not any(moves(own) for x in like for own, _ in x)
    inside = [g for g in groups(like) if g.like] if of_parameters else []
    saved = (len(like) - 1) * shown_once + sum((len(g.like) - 1) * len(g.rest) for g in inside)
    return (-saved, several, tuple((own.rank, e) for own, e in rest))


def _saving_of_product(candidate: Candidate) -> _Saving:
    rest, like = candidate
    saved = sum(_size(rest) + _size(x) for x in like) - _size(rest) - symbols_of(like)
    return (-saved, max(len(x) for x in like), tuple((own.rank, e) for own, e in rest))


def factored_expression(polynomial: Polynomial) -> Expr:
    """The sum as `factor` writes it."""
    if not polynomial:
        return as_expr(0)
    written = factor(polynomial)
    total = expression_of({written.front: written.number})
    for gathered, exponent in written.sums:
        inside = as_expr(0)
        for group in gathered:
            term = expression_of({group.rest: group.coefficient})
            for bracket in (group.second, group.like):
                term = term * factored_expression(dict(bracket)) if bracket else term
            inside = inside + term
        total = total * inside**exponent
    return total
