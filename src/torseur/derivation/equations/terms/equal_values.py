"""Expressions in which nothing vanishes and nothing is computed twice, found by values at random points.

Two nodes of different form can be one function: J11 - J22 reached by two recursions, sin² + cos² hidden in a product of
rotations. Multiplying out shows it where that is short; where it is not, values in many digits do. An identity that
holds at two random points and is none has a chance below 1e-60.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from random import Random
from typing import Any

from torseur.algebra.graph import Expr, as_expr, live_nodes
from torseur.algebra.graph.evaluation import with_arguments
from torseur.algebra.graph.operations import OPERATIONS

DIGITS = 100  # a root of what vanishes still has half of them
VANISHING = 1e-35  # relative to what cancels
ROUNDED = 1e-13  # the same where the description holds rounded numbers, whose last digits do not cancel
POINTS = 2
# What is one function everywhere if it is one near a point. |x|, roots, inverse and tabulated functions, switches and
# open force laws are not: each is a random number of its own, the same for equal arguments.
ANALYTIC = ("add", "sub", "neg", "mul", "div", "sin", "cos", "tan", "exp", "sinh", "cosh", "tanh")


# What is merged and what never is: docs/decisions/0071-equal-values-by-random-points.md.
def merge_equal_values(entries: Sequence[Expr]) -> list[Expr]:
    """The entries with what vanishes left out, and nodes that are equal or opposite made one."""
    nodes = list(live_nodes(entries))
    bound = ROUNDED if any(_is_rounded(node) for node in nodes) else VANISHING
    try:
        # Two points: at one an accident of 40 digits is a chance of 1e-40 per pair of nodes, and there are many pairs.
        points = [_Point(nodes, bound, seed) for seed in range(POINTS)]
    except ZeroDivisionError:  # something vanishes below a bar: it is left to whoever evaluates it
        return list(entries)
    merged: dict[Expr, Expr] = {}
    representatives: dict[tuple[Any, ...], Expr] = {}
    for node in nodes:
        merged[node] = _merge(node, merged, points, representatives)
    return [merged[entry] for entry in entries]


def _merge(
    node: Expr, merged: dict[Expr, Expr], points: Sequence[_Point], representatives: dict[tuple[Any, ...], Expr]
) -> Expr:
    if not node.args:
        rebuilt = node
    elif all(point.vanishes(node) for point in points):
        return as_expr(0)
    else:
        rebuilt = _without_dust(node, merged, points)
    key = tuple(point.key(node) for point in points)
    if key in representatives:
        return representatives[key]
    # J₁₁ - J₂₂ and J₂₂ - J₁₁ are one value with two signs: the second costs a sign instead of a name.
    opposite = tuple((1 - negative if digits else negative, digits, place) for negative, digits, place in key)
    if opposite in representatives:
        return -representatives[opposite]
    representatives[key] = rebuilt
    return rebuilt


def _without_dust(node: Expr, merged: dict[Expr, Expr], points: Sequence[_Point]) -> Expr:
    """The node of its merged arguments; a summand that only rounding left there is not added."""
    arguments = [merged[a] for a in node.args]
    if node.op in ("add", "sub"):
        first, second = node.args
        if all(point.is_dust(second, first) for point in points):
            return arguments[0]
        if all(point.is_dust(first, second) for point in points):
            return arguments[1] if node.op == "add" else -arguments[1]
    return with_arguments(node, arguments)


def has_rounded_numbers(entries: Sequence[Expr]) -> bool:
    """Whether numbers of the expressions were computed, so that what should cancel may leave their last digits."""
    return any(map(_is_rounded, live_nodes(entries)))


def _is_rounded(node: Expr) -> bool:
    """Whether a number has the many digits that computing leaves, as a cosine of a given angle does."""
    return node.op == "constant" and isinstance(node.data, float) and len(f"{node.data:.15e}".rstrip("0")) > 12 + 4


class _Point:
    """Values of all nodes where every symbol has a random value, and the sizes of what they were added up from."""

    def __init__(self, nodes: Sequence[Expr], bound: float, seed: int) -> None:
        import mpmath

        self.bound, self.seed = bound, seed
        self.values: dict[Expr, Any] = {}
        self.sizes: dict[Expr, float] = {}
        with mpmath.workdps(DIGITS):
            for node in nodes:
                self.values[node] = self._value(node)
                self.sizes[node] = self._size(node)

    def _value(self, node: Expr) -> Any:
        import mpmath

        arguments = [self.values[a] for a in node.args]
        if node.op == "constant":
            return mpmath.mpf(node.data.numerator) / node.data.denominator if not isinstance(node.data, float) else (
                mpmath.mpf(node.data)
            )  # fmt: skip
        if node.op == "pi":
            return +mpmath.pi
        if node.op in ANALYTIC or (
            node.op == "pow" and node.args[1].is_constant and isinstance(node.args[1].value, int)
        ):
            return OPERATIONS[node.op].value(*arguments)
        return _random_value(f"{self.seed} {node.op} {node.data} {[self.key(a) for a in node.args]}")

    def _size(self, node: Expr) -> float:
        """The magnitude of what a node is the sum of, which is what its rounding is relative to."""
        value = abs(float(self.values[node]))
        sizes = [self.sizes[a] for a in node.args]
        match node.op:
            # What cancels in a sum is judged by its summands, not by what is left of them.
            case "add" | "sub":
                return max(sizes)
            case "mul":
                return sizes[0] * sizes[1]
            case "neg" | "sin" | "tan" | "asin" | "atan" | "abs":
                return max(value, sizes[0])
            case "div":
                below = abs(float(self.values[node.args[1]]))
                return sizes[0] / below if below else value
            case _:
                return value

    def vanishes(self, node: Expr) -> bool:
        return bool(abs(self.values[node]) <= self.bound * self.sizes[node])

    def is_dust(self, summand: Expr, other: Expr) -> bool:
        """Whether a summand is what rounding left beside another; where nothing is rounded there is none."""
        return self.bound == ROUNDED and bool(abs(self.values[summand]) <= self.bound * abs(self.values[other]))

    def key(self, node: Expr) -> tuple[int, int, int]:
        """A value to as many digits as are certain: its sign, and its binary digits with their place."""
        from mpmath.libmp import mpf_pos

        # Rounded to the nearest, so that two ways of computing one value give one key; a pair that falls on either side
        # of a rounding boundary stays two nodes, which is a lost saving and no fault.
        bits = 40 if self.bound == ROUNDED else 133  # 12 or 40 decimal digits
        negative, mantissa, exponent, _ = mpf_pos(self.values[node]._mpf_, bits, "n")
        return int(negative), int(mantissa), int(exponent)


def _random_value(label: str) -> Any:
    """A number between a tenth and one, of 30 digits, that belongs to the label."""
    import mpmath

    random = Random(zlib.crc32(label.encode()))
    return mpmath.mpf(random.randint(10**29, 10**30)) / 10**30
