"""Dimensions of expressions as they stand, from the units of their symbols."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from torseur.algebra.graph import Expr, live_nodes
from torseur.description.language.formulas.dimensions import NUMBER, Dim, dimension_of
from torseur.description.language.formulas.language_functions import FUNCTIONS
from torseur.errors import UnsupportedError

LARGEST_EXPRESSION = 100_000
DEEPEST_EXPRESSION = 80
_CHAINS = ({"add", "sub"}, {"mul"})


class Sizes:
    """Natural dimension of every node met; None for what is made of bare numbers only."""

    def __init__(self) -> None:
        self._known: dict[Expr, Dim | None] = {}
        self._measured: dict[Expr, tuple[int, int]] = {}

    def natural(self, node: Expr) -> Dim | None:
        """The dimension an expression has by its own symbols."""
        if node not in self._known:
            for inner in live_nodes([node], self._known):
                if inner not in self._known:
                    self._known[inner] = self._of(inner)
        return self._known[node]

    def _of(self, node: Expr) -> Dim | None:
        parts = [self._known[a] for a in node.args]
        match node.op:
            case "symbol":
                return dimension_of(node.data.unit)
            case "apply":
                return dimension_of(node.data.function.unit)
            case "table":
                return dimension_of(node.data.table.unit)
            case "constant" | "pi":
                return None
        if all(part is None for part in parts):
            return None
        return _combine(node, parts)

    def check_size(self, node: Expr) -> None:
        """Refuses expressions too large or too deep to be written as text."""
        for inner in live_nodes([node], self._measured):
            if inner not in self._measured:
                self._measured[inner] = self._size_and_depth(inner)
        size, depth = self._measured[node]
        if size > LARGEST_EXPRESSION or depth > DEEPEST_EXPRESSION:
            raise UnsupportedError(
                f"an expression of {size} operations, {depth} deep, is too large to be written as text."
            )

    def _size_and_depth(self, node: Expr) -> tuple[int, int]:
        """Number of operations when written out, and how deep brackets nest (sums and products are flat)."""
        size, depth = 1, 1
        for argument in node.args:
            inner_size, inner_depth = self._measured[argument]
            flat = any(node.op in chain and argument.op in chain for chain in _CHAINS)
            size, depth = size + inner_size, max(depth, inner_depth + (not flat))
        return size, depth


def _combine(node: Expr, parts: list[Dim | None]) -> Dim:
    first = first_known(parts)
    match node.op:
        case "mul":
            return (parts[0] or NUMBER).times(parts[1] or NUMBER)
        case "div":
            return (parts[0] or NUMBER).times(parts[1] or NUMBER, -1)
        case "pow":
            exponent = constant_exponent(node)
            return NUMBER if exponent is None or parts[0] is None else parts[0].power(exponent)
        case "add" | "sub" | "neg":
            return first
        case "lt" | "le":
            return NUMBER
        case "where":
            return first_known(parts[1:])
    rule = FUNCTIONS[node.op].rule
    return {"number": NUMBER, "ratio": NUMBER, "same": first, "root": first.power(Fraction(1, 2))}[rule]


def first_known(parts: Iterable[Dim | None]) -> Dim:
    """The first dimension that is known; a plain number when none is."""
    return next((part for part in parts if part is not None), NUMBER)


def constant_exponent(node: Expr) -> Fraction | None:
    """The exponent of a power when it is a small multiple of 1/2; units know no other powers."""
    exponent = node.args[1]
    if not exponent.is_constant:
        return None
    exact = Fraction(exponent.value)
    return exact if (2 * exact).denominator == 1 and abs(exact) < 50 else None
