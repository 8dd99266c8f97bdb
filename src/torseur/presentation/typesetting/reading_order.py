"""The order in which an engineer writes: m g l sin q, and accelerations before speeds before weight."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

from torseur.algebra.graph.operations import OPERATIONS
from torseur.presentation.typesetting.formula_tree import (
    ONE,
    Call,
    Infix,
    Name,
    Node,
    Number,
    Over,
    Power,
    Product,
    Sum,
    children,
    split_sign,
)
from torseur.presentation.typesetting.symbols import symbol

# Letters by convention: masses and inertias, then stiffness and damping, gravity, then lengths.
LETTERS = "mMIJABCkKcdbgGFTRrlLh"
LENGTHS = "RrlLh"  # where units are known, letters decide among lengths only: radii and rods before a, b, c
COORDINATE_LETTERS = "qxyzuvwθφψαβγϕ"
MULTIPLIER = "lambda_"


class Place(IntEnum):
    """Where a factor stands in a product: m g l x λ x' t (...) sin x; a given rotation ω stands with the rates."""

    NUMBER = 0
    CONSTANT = 1  # of gravitation, per mass: G M m
    INERTIA = 2
    STIFFNESS = 3  # and other coefficients with units made of several
    GRAVITY = 4
    GEOMETRY = 5
    COORDINATE = 6
    MULTIPLIER = 7
    RATE = 8
    TIME = 9
    SUM = 10
    FUNCTION = 11


class Group(IntEnum):
    """Where a term stands in an equation of motion."""

    ACCELERATION = 0
    CENTRIFUGAL = 1  # and Coriolis: products of two speeds
    DAMPING = 2
    STIFFNESS = 3
    GRAVITY = 4
    INPUT = 5
    CONSTRAINT = 6


_INERTIA = re.compile(r"(?!.*\bs\b).*\bkg\b")  # kg, kg*m^2, kg/m: no second in it
_SPEEDS = ("m/s", "rad/s", "1/s", "kg*m/s", "kg*m^2/s")  # and momenta
_COMPOUND = re.compile(r".*[*/]")  # 1/m, V*s/rad
_SINES = ("sin", "cos")  # sin x cos x
_STIFFNESS = re.compile(r".*\b(N|Pa|J|W|kg)\b")  # forces per length, speed or angle, and forces themselves


# Sort keys are tuples: the kind of the factor first, then its place within the kind, and its text at last, so that the
# order is the same on every run.
def factor_key(node: Node) -> tuple[int, int, int, str | _Text]:
    """Sort key of a factor: number, inertia, stiffness, gravity, lengths, coordinates, rates, sums, functions."""
    inner = node.base if isinstance(node, Power) else node
    match inner:
        case Number():
            return (Place.NUMBER, 0, 0, "")
        case Name():
            return _name_key(inner.text, inner.dots, inner.unit)
        case Call():
            # What acts before its direction: τ(t) cos α.
            if inner.function not in OPERATIONS:
                return (Place.FUNCTION, -1, 0, _Text(inner))
            known = _SINES.index(inner.function) if inner.function in _SINES else len(_SINES)
            return (Place.FUNCTION, 0, 0, f"{inner.arguments!r} {known} {inner.function}")
        case Sum() | Product() | Power() | Infix() | Over():
            return (_place(inner), len(LETTERS), 0, _Text(inner))


# Names are sorted again and again, and there are few; units are no part of their equality, hence not the nodes.
@lru_cache(maxsize=4096)
def _name_key(text: str, dots: int, unit: str) -> tuple[int, int, int, str]:
    place = _place_of_quantity(text, dots, unit)
    moves = place in (Place.RATE, Place.COORDINATE)
    rank = -_order(Name(text, dots, unit=unit)) if moves else _rank(symbol(text).base, unit)
    # A given speed before one that is looked for: 2 v θ'.
    return (place, rank, int(dots > 0), text)


class _Text:
    """The text of a node in a sort key, which is written only where everything before it is equal."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node

    def __str__(self) -> str:
        return repr(self.node)

    def __eq__(self, other: object) -> bool:
        return self.node == other.node if isinstance(other, _Text) else str(self) == other

    def __lt__(self, other: _Text | str) -> bool:
        return str(self) < str(other)

    def __gt__(self, other: _Text | str) -> bool:
        return str(self) > str(other)

    __hash__ = None  # type: ignore[assignment]


def _place(node: Node) -> Place:
    match node:
        case Number():
            return Place.NUMBER
        case Name():
            return _place_of_name(node)
        case Sum():
            # A bracket stands where the quantity that it adds up would: (m1 + m2) g l. One with functions in it, or
            # with more than one rate in a term, is no quantity by itself.
            places = [_place_of_term(term) for term in _sizes(node)]
            if not _has_functions(node):
                # A length that changes with time as it is told is a length: (l - v t) θ''.
                return min(places) if _depends_on_time(node) else max(places)
            # (A sin² θ + C cos² θ) is an inertia all the same and (R + r cos θ) a length, (m1 r sin φ + m2 l cos φ) is
            # none.
            known = max(places) <= Place.COORDINATE and _rates(node) == (0, 0)
            return max(places) if known and not all(map(_changes_sign, node.terms)) else Place.SUM
        case Power():
            return _place(node.base)
        case Product():
            return min((_place(own) for own in node.factors), default=Place.NUMBER)
        case Call() | Infix() | Over():
            return Place.FUNCTION if isinstance(node, Call) else Place.SUM


def _place_of_term(term: Node) -> Place:
    """That of its first factor; an even power of a function alone is a number: (1 + sin² θ) θ''."""
    if all(isinstance(own, Power) and isinstance(own.base, Call) for own in _factors(term)):
        return Place.NUMBER
    return min((_place(factor) for factor in _factors(term)), default=Place.NUMBER)


def _place_of_name(name: Name) -> Place:
    return _place_of_quantity(name.text, name.dots, name.unit)


@lru_cache(maxsize=4096)
def _place_of_quantity(text: str, dots: int, unit: str) -> Place:
    if dots > 0 or unit in _SPEEDS:
        return Place.RATE
    if text == "t":
        return Place.TIME
    if text.startswith(MULTIPLIER):
        return Place.MULTIPLIER
    if _INERTIA.match(unit):
        return Place.INERTIA
    if _STIFFNESS.match(unit) and "/kg" not in unit:
        return Place.STIFFNESS
    if unit == "m/s^2":
        return Place.GRAVITY
    if _COMPOUND.match(unit):
        return Place.CONSTANT if "/kg" in unit else Place.STIFFNESS
    # The tree knows names and units, and not what stands for a coordinate: a length called x is taken for one.
    return Place.COORDINATE if symbol(text).base in COORDINATE_LETTERS else Place.GEOMETRY


def _changes_sign(term: Node) -> bool:
    """Whether a term has a sine or cosine to the first power."""
    return any(isinstance(factor, Call) for factor in _factors(term))


def _sizes(node: Sum) -> list[Node]:
    """The terms of a sum without their signs and numbers."""
    sizes = (split_sign(term)[1] for term in node.terms)
    return [Product(size.factors[1:]) if isinstance(size, Product) and isinstance(size.factors[0], Number) else size
            for size in sizes]  # fmt: skip


def _factors(node: Node) -> tuple[Node, ...]:
    return node.factors if isinstance(node, Product) else (node,)


def _has_functions(node: Node) -> bool:
    return isinstance(node, Call | Infix | Over) or any(map(_has_functions, children(node)))


def term_key(node: Node) -> tuple[int, int, int, list[tuple[int, int, int, str | _Text]]]:
    """Sort key of a term: accelerations, products of rates, rates, the rest; positive before negative."""
    negative, size = split_sign(node)
    factors = [factor for factor in _factors(size) if not isinstance(factor, Number)]
    return (_group(size), int(negative), len(factors), [*map(factor_key, factors), (0, 0, 0, _Text(size))])


def leading_first(terms: list[Node]) -> list[Node]:
    """Sorted terms with a positive one in front, where something else than an acceleration would lead with a minus.

    A one leads what has no motion in it, 1 + 4 a² x².
    """
    if ONE in terms and any(isinstance(term, Product) for term in terms) and not any(map(_moves, terms)):
        terms = [ONE, *(term for term in terms if term != ONE)]
    lead, size = split_sign(terms[0])
    if not lead or _group(size) == Group.ACCELERATION:
        return terms
    place = next((k for k, term in enumerate(terms) if not split_sign(term)[0]), 0)
    return [terms[place], *terms[:place], *terms[place + 1 :]]


def _moves(node: Node) -> bool:
    """Whether there is a rate or an acceleration in a term."""
    return (isinstance(node, Name) and node.dots > 0) or any(map(_moves, children(node)))


def _group(size: Node) -> Group:
    # M v' before the terms of Coriolis and centrifugal forces, then damping, springs, weight and what acts from
    # outside: as textbooks write it.
    seconds, firsts = _rates(size)
    names, factors = _names(size), _factors(size)
    # ω² cos(ω t) of a driver has the form of a centrifugal term and comes from outside.
    if (seconds or firsts) and (any(name.dots for name in names) or not any(map(_depends_on_time, factors))):
        return Group.ACCELERATION if seconds else Group.CENTRIFUGAL if firsts >= 2 else Group.DAMPING
    places = {_place(factor) for factor in factors} | {_place(name) for name in names}
    if Place.MULTIPLIER in places:
        return Group.CONSTRAINT
    if Place.GRAVITY in places:
        return Group.GRAVITY
    return Group.STIFFNESS if Place.STIFFNESS in places and not _is_force(size) else Group.INPUT


def _depends_on_time(node: Node) -> bool:
    return (isinstance(node, Name) and node.text == "t") or any(map(_depends_on_time, children(node)))


def _is_force(size: Node) -> bool:
    """Whether a term is a given force along some direction, or a number or name alone."""
    return not isinstance(size, Product) or any(name.unit == "N" for name in _names(size))


def _names(node: Node) -> list[Name]:
    """The names of a term outside its functions."""
    if isinstance(node, Name):
        return [node]
    return [] if isinstance(node, Call) else [name for child in children(node) for name in _names(child)]


def _rank(base: str, unit: str) -> int:
    letters = LENGTHS if unit else LETTERS
    return letters.find(base[:1]) if base[:1] in letters else len(letters)


def _order(name: Name) -> int:
    """2 for accelerations, 1 for speeds; the derivative of a speed that has a name of its own, vx', has the unit's."""
    if name.dots == 0:
        return int(name.unit in _SPEEDS)
    return 2 if name.dots >= 2 or name.unit.endswith("/s^2") else 1


def _rates(node: Node) -> tuple[int, int]:
    """How many second and first derivatives multiply in a term."""
    match node:
        case Name():
            order = _order(node)
            return (int(order == 2), int(order == 1))
        case Power(base=base, exponent=Number(value=value)):
            seconds, firsts = _rates(base)
            times = max(0, int(value))
            return (seconds * times, firsts * times)
        case Product():
            pairs = [_rates(factor) for factor in node.factors]
            return (sum(p[0] for p in pairs), sum(p[1] for p in pairs))
        case Sum():
            pairs = [_rates(term) for term in node.terms]
            return (max(p[0] for p in pairs), max(p[1] for p in pairs))
        case _:
            return (0, 0)
