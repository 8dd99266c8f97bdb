"""Structures of constants in many digits, so that long sums of them are rounded once."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from torseur.graph import Expr, as_expr, constant_value, live_nodes
from torseur.tree.flatten import flatten, rebuild

DIGITS = 60
_NOTHING = Decimal(10) ** -40


def in_decimals(thing: Any) -> Any | None:
    """The structure with decimals for its numbers; None if something in it is no number yet.

    Plain integers stay what they are: exact zeros, ones, and numbers of axes.
    """
    found = [_decimal(leaf) for leaf in flatten(thing)]
    return None if any(number is None for number in found) else rebuild(thing, iter(found))


def _decimal(leaf: Any) -> Decimal | int | None:
    if isinstance(leaf, int):
        return leaf
    number = _number(leaf) if isinstance(leaf, Expr) else leaf
    if isinstance(number, Fraction):
        return Decimal(number.numerator) / Decimal(number.denominator)
    return None if number is None else Decimal(number)


def _number(node: Expr) -> int | float | Fraction | None:
    """The number that an expression is; None if symbols stand in it."""
    if node.is_constant:
        return node.value
    known = all(part.args or part.is_constant or part.op == "pi" for part in live_nodes([node]))
    return constant_value(node) if known else None


def rounded(thing: Any) -> Any:
    """The structure with constants for its decimals; what is nothing beside the largest of them is an exact zero."""
    leaves = flatten(thing)
    largest = max((abs(leaf) for leaf in leaves if isinstance(leaf, Decimal)), default=Decimal(0))
    return rebuild(thing, iter([_rounded(leaf, largest * _NOTHING) for leaf in leaves]))


def _rounded(leaf: Any, nothing: Decimal) -> Any:
    if not isinstance(leaf, Decimal):
        return leaf
    return as_expr(0 if abs(leaf) <= nothing else float(leaf))
