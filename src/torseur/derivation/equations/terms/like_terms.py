"""Ways to gather terms of a sum: which of them are a common front times a sum of like things."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from math import isqrt

from torseur.algebra.graph import Expr
from torseur.algebra.graph.expr import Number
from torseur.derivation.equations.terms.common_parts import (
    SUMS,
    is_acceleration,
    is_multiplier,
    is_rate,
    moves,
    shared_factors,
)
from torseur.derivation.equations.terms.polynomial import ONE, Monomial, Polynomial, product
from torseur.derivation.equations.terms.rational_factors import is_product

CIRCULAR = ("sin", "cos")
FUNCTION = "function"  # sines and cosines are like each other
LONGEST_PRODUCT = 16  # terms of a part that is tried to be written as a product

Like = dict[Monomial, Number]
Candidate = tuple[Monomial, Like]  # what is shared, and the weights of what differs
_Families = dict[Monomial, Like]


def like_terms(polynomial: Polynomial) -> tuple[list[Candidate], list[Candidate]]:
    """Ways to gather two terms or more: as a sum, and as a product of sums."""
    # Families, by what stands in front of the brackets:
    #     by_motion       x''         (J + m l²) x''              by_rates        m l     (a'² + 2 a' b')
    #     by_symbol       k           k (x - z)                   by_odd          a' sin θ (A - B sin² φ)
    #     by_force        cos φ       (λ₁ - a λ₂) cos φ           by_denominator  1/sin θ (p sin φ + q cos φ)
    #     by_closed_sum   1/(a + b)   with what is over other denominators as well inside
    by_motion: _Families = {}
    by_denominator: _Families = {}
    by_closed_sum: _Families = {}
    by_symbol: _Families = {}
    by_rates: _Families = {}
    by_odd: _Families = {}
    by_force: _Families = {}
    for term, coefficient in polynomial.items():
        motion = tuple(pair for pair in term if moves(pair[0]))
        if motion:
            by_motion.setdefault(motion, {})[tuple(pair for pair in term if not moves(pair[0]))] = coefficient
        for own, exponent in term:
            if exponent > 0 and own.op == "symbol":
                by_symbol.setdefault(((own, exponent),), {})[product(term, ((own, -exponent),))] = coefficient
        rates = tuple(pair for pair in term if is_rate(pair[0]))
        if sum(exponent for _, exponent in rates) == 2:
            by_rates.setdefault(tuple(pair for pair in term if pair not in rates), {})[rates] = coefficient
        if any(is_multiplier(own) for own, _ in term):
            for own, _ in term:
                if moves(own) and not is_multiplier(own):
                    by_force.setdefault(((own, 1),), {})[product(term, ((own, -1),))] = coefficient
        elif motion and len(even := tuple(pair for pair in motion if _is_even(pair))) < len(motion):
            odd = tuple(pair for pair in motion if pair not in even)
            by_odd.setdefault(odd, {})[tuple(pair for pair in term if pair not in odd)] = coefficient
        below = tuple((own, exponent) for own, exponent in term if exponent < 0)
        if below:
            by_denominator.setdefault(below, {})[term] = coefficient
            sums = tuple(pair for pair in below if pair[0].op in SUMS)
            if sums and sums != below:
                by_closed_sum.setdefault(sums, {})[term] = coefficient
    # Of a closure equation or of an equation of motion? In the one lengths belong together, in the other inertias do.
    kinematic = not any(_is_kinetic(own) for term in polynomial for own, _ in term)
    whole = [(rest, _belonging(rest[0], like, kinematic)) for rest, like in by_symbol.items()]
    listed = [*_by_quantity(polynomial), *by_motion.items(), *whole, *by_odd.items(), *by_force.items()]
    listed += [_over_one_bar(family) for family in by_denominator.values()]
    for below, family in by_closed_sum.items():
        family |= by_denominator.get(below, {})
        over = tuple((own, -exponent) for own, exponent in below)
        listed.append((below, {product(term, over): c for term, c in family.items()}))
    # ONE: the whole sum may be a square or a product without anything in front.
    products = _products({**by_symbol, **by_rates, ONE: dict(polynomial)})
    return [(rest, like) for rest, like in listed if len(like) > 1], products


def _belonging(front: tuple[Expr, int], like: Like, kinematic: bool) -> Like:
    """The terms with a factor that belong together, whatever else is in them.

    A column of C, λ (r sin a + l sin b); the elongation of a spring, k (x + a θ - z); what resists an acceleration,
    (A + m l² sin² θ) θ''; in a constraint what a length multiplies, a (x cos φ + y sin φ).
    """
    own, exponent = front
    if exponent != 1:
        return {}
    if is_acceleration(own):
        return {x: c for x, c in like.items() if all(e % 2 == 0 for f, e in x if f.op in ("sin", "cos"))}
    return like if is_multiplier(own) or is_stiffness(own) or (kinematic and own.data.unit == "m") else {}


def levers(polynomial: Polynomial) -> list[Candidate]:
    """Lengths that turn in part, added up: a'² sin b (R + r cos b), a'' (R + r cos b)."""
    families: _Families = {}
    for term, coefficient in polynomial.items():
        turning = tuple(pair for pair in term if pair[0].op in CIRCULAR)
        for own, exponent in term if any(is_rate(f) for f, _ in term) else ():
            if exponent == 1 and own.op == "symbol" and own.data.unit == "m":
                arm = product(((own, 1),), turning)
                families.setdefault(product(term, tuple((f, -e) for f, e in arm)), {})[arm] = coefficient
    listed = []
    for rest, like in families.items():
        functions = {f: None for x in like for f, _ in x if f.op in CIRCULAR}
        fronts: list[Monomial] = [ONE, *(((own, 1),) for own in functions)]
        for front in fronts:
            below = tuple((f, -e) for f, e in front)
            arms = {product(x, below): c for x, c in like.items() if all(f in dict(x) for f, _ in front)}
            if len(arms) > 1 and any(len(x) == 1 for x in arms):
                listed.append((product(rest, front), arms))
    return listed


def is_stiffness(own: Expr) -> bool:
    """Whether a factor is a force per displacement or per speed."""
    unit = own.data.unit if own.op == "symbol" else ""
    return "N" in unit and ("/m" in unit or "/rad" in unit or "*s" in unit)


def _is_kinetic(own: Expr) -> bool:
    """Whether a factor is an inertia, a force or an acceleration, none of which constraints hold."""
    return own.op == "symbol" and ("kg" in own.data.unit or "N" in own.data.unit or is_acceleration(own))


def _by_quantity(polynomial: Polynomial) -> Iterator[Candidate]:
    """Terms that differ in one quantity alone, of one unit; x (1 - cos a) too."""
    # Rounded coefficients are gathered by a single quantity only where they are equal.
    families: dict[tuple[Monomial, str, float | None], Like] = {}
    for term, coefficient in polynomial.items():
        rounded = coefficient if isinstance(coefficient, float) else None
        for quantity, kind in _quantities(term):
            rest = product(term, tuple((own, -exponent) for own, exponent in quantity))
            if rest != ONE:
                families.setdefault((rest, kind, rounded), {})[quantity] = coefficient
    for (rest, kind, rounded), like in families.items():
        # The term without the function is one of the sum.
        if kind == FUNCTION and polynomial.get(rest) is not None and (rounded is None or polynomial[rest] == rounded):
            like[ONE] = polynomial[rest]
        yield rest, like


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


def _over_one_bar(family: Polynomial) -> Candidate:
    """(p sin φ + q cos φ)/sin θ: terms of one denominator, with whatever else they share."""
    shared = shared_factors(family)
    below = tuple((own, -exponent) for own, exponent in shared)
    return shared, {product(term, below): c for term, c in family.items()}


def _products(families: Mapping[Monomial, Like]) -> list[Candidate]:
    """Terms that make a square or a product of sums.

    k r²/2 - k r l + k l²/2 is k (r - l)²/2; a'² + 2 a' b' is a' (a' + 2 b'); m r² + 2 m r R + m R² is m (r + R)².
    """
    listed: list[Candidate] = []
    for rest, like in families.items():
        if len(like) < 3 or max(sum(e for _, e in x) for x in like) < 2:
            continue
        if rest != ONE and len(like) <= LONGEST_PRODUCT and is_product(like):
            listed.append((rest, like))
        elif len(like) > 3:
            listed += [(rest, square) for square in _squares(like)]
    return listed


def _squares(like: Like) -> Iterator[Like]:
    """Three terms a² ± 2 a b + b² of a longer sum."""
    bare = [(own, root) for own, c in like.items() if own != ONE and (root := _root(own, c)) is not None]
    for k, (first, (a, p)) in enumerate(bare):
        for second, (b, q) in bare[k + 1 :]:
            mixed = product(a, b)
            # a² ± 2 a b + b²: the weights are squares p², q², and the mixed term has ±2 p q.
            if mixed not in (first, second) and like.get(mixed) in (2 * p * q, -2 * p * q):
                yield {term: like[term] for term in (first, mixed, second)}


def _root(term: Monomial, coefficient: Number) -> tuple[Monomial, Fraction] | None:
    """The square root of a term that has one."""
    if isinstance(coefficient, float) or coefficient < 0 or any(e % 2 for _, e in term):
        return None
    number = Fraction(coefficient)
    above, below = isqrt(number.numerator), isqrt(number.denominator)
    if above**2 != number.numerator or below**2 != number.denominator:
        return None
    return tuple((own, e // 2) for own, e in term), Fraction(above, below)


def _is_even(pair: tuple[Expr, int]) -> bool:
    """Whether a factor is the square of a sine or cosine: (A - B sin² φ - C cos² φ) a' b' sin θ."""
    return pair[0].op in ("sin", "cos") and pair[1] % 2 == 0
