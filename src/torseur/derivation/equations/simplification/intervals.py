"""Interval arithmetic on expressions: bounds that hold for every value in a box, rounded outward.

Intervals are pairs of ends, not balls: boxes of states are wide, and the product of two balls of [0, 1] is [-1/2, 1].
What a function is at an end comes from arb, whose bounds are proven, where the C library promises nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph import Expr, live_nodes
from torseur.errors import UnsupportedError


@dataclass(frozen=True)
class Interval:
    """All numbers from `low` to `high`."""

    low: float
    high: float

    @property
    def largest(self) -> float:
        """The greatest magnitude."""
        return max(abs(self.low), abs(self.high))

    @property
    def middle(self) -> float:
        return self.low + (self.high - self.low) / 2

    @property
    def radius(self) -> float:
        """The greatest distance from the middle."""
        return up(max(self.high - self.middle, self.middle - self.low))


def up(x: float) -> float:
    """The next float above: sums, products and quotients of floats are right to half a unit in the last place."""
    return math.nextafter(x, math.inf)


def outward(low: float, high: float) -> Interval:
    """The interval with its ends rounded outward; exact zeros stay."""
    # nextafter toward minus infinity, written by the one function that goes up.
    return Interval(-up(-low) if low != 0 else 0.0, up(high) if high != 0 else 0.0)


def bounds(outputs: Sequence[Expr], box: Mapping[Expr, Interval]) -> list[Interval]:
    """Intervals that hold every value of the outputs for symbols in the box."""
    known: dict[Expr, Interval] = {}
    for node in live_nodes(outputs, box):
        known[node] = box[node] if node in box else _interval(node, [known[a] for a in node.args])
    return [known[output] for output in outputs]


def _interval(node: Expr, arguments: list[Interval]) -> Interval:
    if node.op == "constant":
        value = float(node.value)
        return Interval(value, value) if value == node.value else outward(value, value)
    if node.op == "pi":
        return outward(math.pi, math.pi)
    if node.op == "symbol":
        raise UnsupportedError(f"the box has no range for '{node.name}'.")
    if node.op in _RULES:
        return _RULES[node.op](*arguments)
    if node.op in RISING:
        return Interval(_at(node.op, arguments[0].low).low, _at(node.op, arguments[0].high).high)
    if node.op in TOPS:
        return _wave(node.op, arguments[0])
    raise UnsupportedError(f"no interval is known for '{node.op}'; take method='sampling'.")


RISING = ("sqrt", "exp", "log", "tanh", "atan")
"""Functions that rise everywhere, so that their ends are those of the argument."""
TOPS = {"sin": 0.25, "cos": 0.0}
"""Functions of period one turn between -1 and 1: where their top is, in turns."""


def _at(function: str, x: float) -> Interval:
    """Proven bounds of a function at one number."""
    from flint import arb

    ball = getattr(arb(x), function)()
    if not ball.is_finite():
        raise UnsupportedError(f"{function} is not defined on the whole box; make it smaller.")
    return _ends(ball)


def _ends(ball: Any) -> Interval:
    """The ends of a ball as floats, rounded outward: in arb's own precision they may fall between two floats."""
    low, high = float(ball.lower()), float(ball.upper())
    return Interval(low, high) if ball.is_exact() and ball == low else outward(low, high)


def _wave(function: str, a: Interval) -> Interval:
    """A sine or cosine: 1 where the interval holds its top, -1 half a turn from there, between its ends otherwise."""
    ends = (_at(function, a.low), _at(function, a.high))
    top = TOPS[function]
    low = -1.0 if _holds(a, top + 0.5) else min(end.low for end in ends)
    high = 1.0 if _holds(a, top) else max(end.high for end in ends)
    return Interval(max(-1.0, low), min(1.0, high))


def _holds(a: Interval, phase: float) -> bool:
    """Whether the interval may hold `phase` and a whole number of turns besides."""
    from flint import arb

    # In turns, so that one rounding of π serves all; "may hold" errs on the side of a wider interval.
    first = (arb(a.low) / (2 * arb.pi()) - phase).lower().ceil()
    return bool(first <= (arb(a.high) / (2 * arb.pi()) - phase).upper())


def product(a: Interval, b: Interval) -> Interval:
    """All products."""
    # A product is extreme at corners of the rectangle.
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return outward(min(ends), max(ends))


def power(a: Interval, exponent: int) -> Interval:
    """All powers with one whole exponent; an even one is never negative."""
    if exponent < 0:
        return _quotient(Interval(1.0, 1.0), power(a, -exponent))
    if exponent == 0:
        return Interval(1.0, 1.0)
    ends = [_power_at(x, exponent) for x in (a.low, a.high)]
    low, high = min(end.low for end in ends), max(end.high for end in ends)
    return Interval(0.0, high) if exponent % 2 == 0 and a.low < 0 < a.high else Interval(low, high)


def _power_at(x: float, exponent: float) -> Interval:
    """Proven bounds of one power; exact zeros stay."""
    from flint import arb

    if x == 0:
        return Interval(0.0, 0.0)
    return _ends(arb(x) ** (int(exponent) if float(exponent).is_integer() else arb(exponent)))


def _quotient(a: Interval, b: Interval) -> Interval:
    if b.low <= 0 <= b.high:
        raise UnsupportedError("a denominator may vanish within the box; make the box smaller.")
    return product(a, outward(1 / b.high, 1 / b.low))


def _power(a: Interval, exponent: Interval) -> Interval:
    if exponent.low == exponent.high and float(exponent.low).is_integer():
        return power(a, int(exponent.low))
    if a.low <= 0:
        raise UnsupportedError("a power of a quantity that may be negative; make the box smaller.")
    ends = [_power_at(x, y) for x in (a.low, a.high) for y in (exponent.low, exponent.high)]
    return Interval(min(end.low for end in ends), max(end.high for end in ends))


def _magnitude(a: Interval) -> Interval:
    return Interval(0.0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high)), a.largest)


_RULES: dict[str, Callable[..., Interval]] = {
    "add": lambda a, b: outward(a.low + b.low, a.high + b.high),
    "sub": lambda a, b: outward(a.low - b.high, a.high - b.low),
    "neg": lambda a: Interval(-a.high, -a.low),
    "mul": product,
    "div": _quotient,
    "pow": _power,
    "abs": _magnitude,
    "min": lambda a, b: Interval(min(a.low, b.low), min(a.high, b.high)),
    "max": lambda a, b: Interval(max(a.low, b.low), max(a.high, b.high)),
    "where": lambda _, a, b: Interval(min(a.low, b.low), max(a.high, b.high)),
    "lt": lambda a, b: Interval(0.0, 1.0),
    "le": lambda a, b: Interval(0.0, 1.0),
}
