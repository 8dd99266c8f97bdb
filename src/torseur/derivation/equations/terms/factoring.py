"""What the terms of a sum have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.graph.expr import Number
from torseur.derivation.equations.terms.polynomial import (
    ONE,
    Monomial,
    Polynomial,
    expression_of,
    monomial,
    product,
)

FUNCTION = "function"  # sines and cosines are like each other
MOST_FACTORED = 40  # terms of a sum that is tried to be written as a product


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


def common_factor(terms: Iterable[Monomial]) -> Monomial:
    """What all terms have in common."""
    listed = list(terms)
    shared = dict(listed[0]) if listed else {}
    for term in listed[1:]:
        own = dict(term)
        shared = {factor: min(e, own[factor]) for factor, e in shared.items() if factor in own}
    return monomial({factor: e for factor, e in shared.items() if e > 0})


def common_number(coefficients: Iterable[Number]) -> Fraction | int:
    """The number to draw out of a sum: the size all exact coefficients share, -1 when all are negative, otherwise 1."""
    listed = list(coefficients)
    sign = -1 if all(c < 0 for c in listed) else 1
    sizes = {abs(Fraction(c)) for c in listed if not isinstance(c, float)}
    exact = len(sizes) == 1 and not any(isinstance(c, float) for c in listed)
    return sign * sizes.pop() if exact else sign


def shared_number(coefficients: Iterable[Number]) -> Number:
    """As `common_number`, and a rounded number that all have."""
    listed = list(coefficients)
    return listed[0] if len(set(listed)) == 1 else common_number(listed)


def common_divisor(coefficients: Iterable[Number]) -> Fraction | int:
    """As `common_number`, and the greatest whole number that divides all, for sums that stand in brackets anyway."""
    listed = list(coefficients)
    number = common_number(listed)
    if abs(number) != 1 or any(isinstance(c, float) or Fraction(c).denominator != 1 for c in listed):
        return number
    return number * gcd(*(int(c) for c in listed))


def quotient(coefficient: Number, number: Number) -> Number:
    """The quotient of two coefficients, exact where both are."""
    return coefficient / number if isinstance(coefficient, float) else Fraction(coefficient) / number


@dataclass(frozen=True)
class Factored:
    """number · front · (sum of groups)^exponent · ..., with one sum or several; none where there is one term."""

    number: Number
    front: Monomial
    sums: tuple[tuple[tuple[Group, ...], int], ...] = ()


def factor(polynomial: Polynomial) -> Factored:
    """A sum with what all its terms have in common in front, as a product of sums where it is one: (R - r)² x''."""
    if len(polynomial) == 1:
        ((only, coefficient),) = polynomial.items()
        return Factored(coefficient, only)
    shared = common_factor(polynomial)
    number = (common_divisor if shared else common_number)(polynomial.values())
    below = tuple((own, -exponent) for own, exponent in shared)
    inside = {product(term, below): quotient(c, number) for term, c in polynomial.items()}
    content, powers = _powers(inside)
    whole = groups(inside)
    if len(powers) > 1 or any(exponent > 1 for _, exponent in powers):
        sums = tuple((tuple(groups(base)), exponent) for base, exponent in powers)
        if sum(symbols_shown(one) for one, _ in sums) < symbols_shown(whole):
            return Factored(number * content, shared, sums)
    return Factored(number, shared, ((tuple(whole), 1),))


def _powers(polynomial: Polynomial) -> tuple[Number, list[tuple[Polynomial, int]]]:
    """The factors of a polynomial over the rational numbers, sines and cosines taken as unknowns."""
    whole: list[tuple[Polynomial, int]] = [(polynomial, 1)]
    unsuited = any(isinstance(c, float) for c in polynomial.values()) or any(e < 0 for t in polynomial for _, e in t)
    if not 3 <= len(polynomial) <= MOST_FACTORED or unsuited:
        return 1, whole
    from flint import Ordering, fmpq, fmpq_mpoly_ctx

    unknowns = sorted({own for term in polynomial for own, _ in term}, key=lambda own: own.rank)
    context = fmpq_mpoly_ctx.get([f"x{k}" for k in range(len(unknowns))], Ordering.lex)
    exponents = {term: dict(term) for term in polynomial}
    entries = {
        tuple(exponents[term].get(own, 0) for own in unknowns): fmpq(Fraction(c).numerator, Fraction(c).denominator)
        for term, c in polynomial.items()
    }
    content, found = context.from_dict(entries).factor()
    powers: list[tuple[Polynomial, int]] = []
    for base, exponent in found:
        terms = {
            monomial(dict(zip(unknowns, map(int, place), strict=True))): Fraction(int(c.p), int(c.q))
            for place, c in base.to_dict().items()
        }
        powers.append((terms, int(exponent)))
    number = Fraction(int(content.p), int(content.q))
    if number < 0:
        # (R - r) (...) and not -(r - R) (...): the factor with most negative terms is turned.
        odd = [k for k, (_, exponent) in enumerate(powers) if exponent % 2]
        if odd:
            place = max(odd, key=lambda k: sum(1 if c < 0 else -1 for c in powers[k][0].values()))
            turned, exponent = powers[place]
            powers[place], number = ({term: -c for term, c in turned.items()}, exponent), -number
    return number, powers


def symbols_shown(gathered: Iterable[Group]) -> int:
    """How many symbols are written."""
    return sum(len(g.rest) + sum(max(1, len(x)) for x, _ in (*g.like, *g.second)) for g in gathered)


def groups(polynomial: Polynomial) -> list[Group]:
    """The terms, those gathered that differ in one quantity: m1 r² + m2 r² / 2 is (m1 + m2/2) r².

    Either all but one symbol is shared, and these symbols have the same unit, or the same motion multiplies different
    parameters, as in (J + m l²) x''. What is gathered first decides what is left for others; of three orders, by what
    saves most at once, single symbols first, and sums that occur most often first, the one that writes fewest symbols
    is taken.
    """
    candidates = _candidates(polynomial)
    if not candidates:
        return [Group(term, c, ()) for term, c in polynomial.items()]
    often = Counter(map(_bracket, candidates))
    orders = (
        sorted(candidates, key=_by_saving),
        sorted(candidates, key=_single_symbols_first),
        sorted(candidates, key=lambda one: (-often[_bracket(one)], _single_symbols_first(one))),
    )
    return min((_gather(polynomial, order) for order in orders), key=symbols_shown)


def _bracket(candidate: _Candidate) -> tuple[Any, ...]:
    """The sum that a candidate puts in brackets, whatever stands in front."""
    like = sorted(candidate[1].items(), key=lambda pair: _structure(pair[0]))
    number = shared_number([c for _, c in like])
    return tuple((x, quotient(c, number)) for x, c in like)


def _gather(polynomial: Polynomial, candidates: Iterable[_Candidate]) -> list[Group]:
    taken: set[Monomial] = set()
    gathered: list[Group] = []
    for rest, members in candidates:
        like = {x: c for x, c in members.items() if product(rest, x) not in taken}
        if len(like) > 1:
            number = shared_number(like.values())
            gathered.append(Group(rest, number, tuple((x, quotient(c, number)) for x, c in like.items())))
            taken |= set(gathered[-1].terms)
    alone = (Group(term, c, ()) for term, c in polynomial.items() if term not in taken)
    return [*_same_brackets(gathered), *alone]


def _same_brackets(gathered: Iterable[Group]) -> list[Group]:
    """Groups of one and the same sum made one: J (a + b) + m l² (a + b) is (J + m l²) (a + b).

    What they differ in are parameters: (m1 + m2) r x'' and (m1 + m2) g sin x are an inertia and a weight.
    """
    by_sum: dict[tuple[Any, ...], list[Group]] = {}
    for group in gathered:
        like = sorted(group.like, key=lambda pair: _structure(pair[0]))
        motion = [pair for pair in group.rest if _moves(pair[0])]
        by_sum.setdefault((*like, *motion), []).append(group)
    return [_merge(same) if len(same) > 1 else same[0] for same in by_sum.values()]


def _merge(same: list[Group]) -> Group:
    shared = common_factor(group.rest for group in same)
    below = tuple((own, -exponent) for own, exponent in shared)
    number = shared_number([group.coefficient for group in same])
    fronts = tuple((product(group.rest, below), quotient(group.coefficient, number)) for group in same)
    return Group(shared, number, same[0].like, fronts)


def _structure(term: Monomial) -> tuple[tuple[int, int], ...]:
    return tuple((own.rank, exponent) for own, exponent in term)


_Candidate = tuple[Monomial, dict[Monomial, Number]]  # what is shared, and the weights of what differs


def _candidates(polynomial: Polynomial) -> list[_Candidate]:
    """Ways to gather two terms or more."""
    # Rounded coefficients are gathered by a single quantity only where they are equal.
    by_quantity: dict[tuple[Monomial, str, float | None], dict[Monomial, Number]] = {}
    by_motion: dict[Monomial, dict[Monomial, Number]] = {}
    by_denominator: dict[Monomial, dict[Monomial, Number]] = {}
    by_multiplier: dict[Monomial, dict[Monomial, Number]] = {}
    for term, coefficient in polynomial.items():
        rounded = coefficient if isinstance(coefficient, float) else None
        for quantity, kind in _quantities(term):
            rest = product(term, tuple((own, -exponent) for own, exponent in quantity))
            if rest != ONE:
                by_quantity.setdefault((rest, kind, rounded), {})[quantity] = coefficient
        motion = tuple(pair for pair in term if _moves(pair[0]))
        if motion:
            by_motion.setdefault(motion, {})[tuple(pair for pair in term if not _moves(pair[0]))] = coefficient
        for own, exponent in term:
            if exponent == 1 and _is_multiplier(own):  # a column of C: λ (r sin a + l sin b)
                by_multiplier.setdefault(((own, 1),), {})[product(term, ((own, -1),))] = coefficient
        below = tuple((own, exponent) for own, exponent in term if exponent < 0 and own.op != "symbol")
        if below:
            by_denominator.setdefault(below, {})[term] = coefficient
    # x (1 - cos a): the term without the function is one of the sum.
    for (rest, kind, rounded), like in by_quantity.items():
        if kind == FUNCTION and polynomial.get(rest) is not None and (rounded is None or polynomial[rest] == rounded):
            like[ONE] = polynomial[rest]
    listed = [*((rest, like) for (rest, _, _), like in by_quantity.items()), *by_motion.items(), *by_multiplier.items()]
    listed += [_over_one_bar(family) for family in by_denominator.values()]
    return [(rest, like) for rest, like in listed if len(like) > 1] + _squares(polynomial)


def _quantities(term: Monomial) -> Iterable[tuple[Monomial, str]]:
    """What a term may differ in from its like, and what it is like to: a length, a length squared, a function."""
    for own, exponent in term:
        if exponent < 0:
            continue
        if own.op == "symbol":
            yield ((own, 1),), own.data.unit
            if exponent > 1:
                yield ((own, exponent),), f"{own.data.unit}^{exponent}"
        elif own.op == "apply":
            yield ((own, 1),), own.data.function.unit
        elif own.op in ("sin", "cos"):
            yield ((own, exponent),), FUNCTION


def _over_one_bar(family: Polynomial) -> _Candidate:
    """(p sin φ + q cos φ)/sin θ: terms of one denominator, with whatever else they share."""
    shared = _shared_factors(family)
    below = tuple((own, -exponent) for own, exponent in shared)
    return shared, {product(term, below): c for term, c in family.items()}


def _shared_factors(terms: Iterable[Monomial]) -> Monomial:
    """What all terms have in common, denominators too."""
    first, *others = (dict(term) for term in terms)
    for own in others:
        first = {f: min(e, own[f], key=abs) for f, e in first.items() if f in own and e * own[f] > 0}
    return monomial(first)


def _squares(polynomial: Polynomial) -> list[_Candidate]:
    """Terms that make a square: k r²/2 - k r l + k l²/2 is k (r - l)²/2, a'² + 2 a' b' + b'² is (a' + b')²."""
    families: dict[Monomial, dict[Monomial, Number]] = {}
    for term, coefficient in polynomial.items():
        for own, exponent in term:
            if exponent == 1 and own.op == "symbol" and "N" in own.data.unit:
                families.setdefault(((own, 1),), {})[product(term, ((own, -1),))] = coefficient
        rates = tuple(pair for pair in term if pair[0].op == "symbol" and str(pair[0].name).endswith("'"))
        if sum(exponent for _, exponent in rates) == 2:
            families.setdefault(tuple(pair for pair in term if pair not in rates), {})[rates] = coefficient
    return [
        (rest, like)
        for rest, like in families.items()
        if rest != ONE and len(like) > 2 and any(exponent > 1 for _, exponent in _powers(like)[1])
    ]


def _moves(own: Expr) -> bool:
    """Whether a factor belongs to the motion and not to the coefficient before it: rates, functions, multipliers."""
    return own.op != "symbol" or str(own.name).endswith("'") or _is_multiplier(own)


def _is_multiplier(own: Expr) -> bool:
    return own.op == "symbol" and str(own.name).startswith("lambda.")


def _by_saving(candidate: _Candidate) -> tuple[int, int, tuple[tuple[int, int], ...]]:
    """Sort key: symbols saved; single symbols before coefficients; then the structure, so that the order is fixed."""
    rest, like = candidate
    numbers = {abs(c) for c in like.values()}
    shown_once = len(rest) + (len(numbers) == 1 and numbers != {1})
    several = max(len(x) for x in like)
    # A coefficient of parameters saves inside too: J x'' + m1 r² x'' + m2 r² x'' is (J + (m1 + m2) r²) x''.
    inside = [g for g in groups(like) if g.like] if several > 1 else []
    saved = (len(like) - 1) * shown_once + sum((len(g.like) - 1) * len(g.rest) for g in inside)
    return (-saved, several, tuple((own.rank, e) for own, e in rest))


def _single_symbols_first(candidate: _Candidate) -> tuple[bool, int, int, tuple[tuple[int, int], ...]]:
    return (max(len(x) for x in candidate[1]) > 1, *_by_saving(candidate))


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
