"""Interval arithmetic on expressions: bounds that hold for every value in a box, rounded outward."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from torseur.errors import UnsupportedError
from torseur.graph import Expr, live_nodes

ULPS = 2  # functions of the C library may be wrong in the last place


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
    """The next float above, as often as functions may be wrong."""
    for _ in range(ULPS):
        x = math.nextafter(x, math.inf)
    return x


def outward(low: float, high: float) -> Interval:
    """The interval with its ends rounded outward; exact zeros stay."""
    return Interval(-up(-low) if low != 0 else 0.0, up(high) if high != 0 else 0.0)


def bounds(outputs: Sequence[Expr], box: Mapping[Expr, Interval]) -> list[Interval]:
    """Intervals that hold every value of the outputs for symbols in the box."""
    known: dict[Expr, Interval] = {}
    for node in live_nodes(outputs, box):
        known[node] = box[node] if node in box else _bound(node, [known[a] for a in node.args])
    return [known[output] for output in outputs]


def _bound(node: Expr, arguments: list[Interval]) -> Interval:
    if node.op == "constant":
        value = float(node.value)
        return Interval(value, value) if value == node.value else outward(value, value)
    if node.op == "pi":
        return outward(math.pi, math.pi)
    if node.op == "symbol":
        raise UnsupportedError(f"the box has no range for '{node.name}'.")
    if node.op not in _RULES:
        raise UnsupportedError(f"no interval is known for '{node.op}'; take method='sampling'.")
    return _RULES[node.op](*arguments)


def product(a: Interval, b: Interval) -> Interval:
    """All products."""
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return outward(min(ends), max(ends))


def power(a: Interval, exponent: int) -> Interval:
    """All powers with one whole exponent; an even one is never negative."""
    if exponent < 0:
        return _quotient(Interval(1.0, 1.0), power(a, -exponent))
    if exponent == 0:
        return Interval(1.0, 1.0)
    ends = (a.low**exponent, a.high**exponent)
    if exponent % 2 == 0 and a.low < 0 < a.high:
        return outward(0.0, max(ends))
    return outward(min(ends), max(ends))


def _quotient(a: Interval, b: Interval) -> Interval:
    if b.low <= 0 <= b.high:
        raise UnsupportedError("a denominator may vanish within the box; make the box smaller.")
    return product(a, outward(1 / b.high, 1 / b.low))


def _power(a: Interval, exponent: Interval) -> Interval:
    if exponent.low == exponent.high and float(exponent.low).is_integer():
        return power(a, int(exponent.low))
    if a.low <= 0:
        raise UnsupportedError("a power of a quantity that may be negative; make the box smaller.")
    ends = [x**y for x in (a.low, a.high) for y in (exponent.low, exponent.high)]
    return outward(min(ends), max(ends))


def _turning(function: Callable[[float], float], top: float) -> Callable[[Interval], Interval]:
    """A sine or cosine: 1 where the interval holds its top, -1 half a turn from there, between its ends otherwise."""

    def bound(a: Interval) -> Interval:
        ends = (function(a.low), function(a.high))
        low = -1.0 if _holds(a, top + math.pi) else min(ends)
        high = 1.0 if _holds(a, top) else max(ends)
        return _within_one(low, high)

    return bound


def _within_one(low: float, high: float) -> Interval:
    return Interval(max(-1.0, outward(low, low).low), min(1.0, outward(high, high).high))


def _holds(a: Interval, phase: float) -> bool:
    """Whether the interval, widened a little, holds phase + a multiple of 2 pi."""
    turns = math.ceil((a.low - phase) / math.tau - 1e-12)
    return phase + turns * math.tau <= a.high + 1e-12


def _rising(function: Callable[[float], float]) -> Callable[[Interval], Interval]:
    def bound(a: Interval) -> Interval:
        try:
            return outward(function(a.low), function(a.high))
        except ValueError:
            raise UnsupportedError(f"{function.__name__} is not defined on the whole box; make it smaller.") from None

    return bound


def _magnitude(a: Interval) -> Interval:
    return Interval(0.0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high)), a.largest)


_RULES: dict[str, Callable[..., Interval]] = {
    "add": lambda a, b: outward(a.low + b.low, a.high + b.high),
    "sub": lambda a, b: outward(a.low - b.high, a.high - b.low),
    "neg": lambda a: Interval(-a.high, -a.low),
    "mul": product,
    "div": _quotient,
    "pow": _power,
    "sin": _turning(math.sin, math.pi / 2),
    "cos": _turning(math.cos, 0.0),
    "sqrt": _rising(math.sqrt),
    "exp": _rising(math.exp),
    "log": _rising(math.log),
    "tanh": _rising(math.tanh),
    "atan": _rising(math.atan),
    "abs": _magnitude,
    "min": lambda a, b: Interval(min(a.low, b.low), min(a.high, b.high)),
    "max": lambda a, b: Interval(max(a.low, b.low), max(a.high, b.high)),
    "where": lambda _, a, b: Interval(min(a.low, b.low), max(a.high, b.high)),
    "lt": lambda a, b: Interval(0.0, 1.0),
    "le": lambda a, b: Interval(0.0, 1.0),
}
