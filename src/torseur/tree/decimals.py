"""Structures of constants in many digits, so that long sums of them are rounded once."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from torseur.graph import Expr, as_expr
from torseur.tree.flatten import flatten, rebuild

DIGITS = 60
_NOTHING = Decimal(10) ** -40


def in_decimals(thing: Any) -> Any | None:
    """The structure with decimals for its numbers; None if something in it is none: a symbol, or an exact sqrt(2).

    Plain integers stay what they are: exact zeros, ones, and numbers of axes.
    """
    found = [_decimal(leaf) for leaf in flatten(thing)]
    return None if any(number is None for number in found) else rebuild(thing, iter(found))


def _decimal(leaf: Any) -> Decimal | int | None:
    if isinstance(leaf, int):
        return leaf
    number = leaf
    if isinstance(leaf, Expr):
        number = leaf.value if leaf.is_constant else None
    if number is None or isinstance(number, (int, float)):
        return None if number is None else Decimal(number)
    return Decimal(number.numerator) / Decimal(number.denominator)


def as_constants(thing: Any) -> Any:
    """The structure with exact constants for its decimals; what is nothing beside the largest of them is zero.

    Constants keep all digits, so that equations agree in any precision; they are rounded where code is written.
    """
    leaves = flatten(thing)
    largest = max((abs(leaf) for leaf in leaves if isinstance(leaf, Decimal)), default=Decimal(0))
    return rebuild(thing, iter([_constant(leaf, largest * _NOTHING) for leaf in leaves]))


def _constant(leaf: Any, nothing: Decimal) -> Any:
    if not isinstance(leaf, Decimal):
        return leaf
    return as_expr(0 if abs(leaf) <= nothing else Fraction(leaf))
