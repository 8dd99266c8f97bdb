"""The functions of the language: those of the expression graph, with the dimensions they ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph import Expr, as_expr, constant_value, live_nodes
from torseur.algebra.graph import scalar as s

LARGEST_EXPONENT = 1_000_000


@dataclass(frozen=True)
class KnownFunction:
    """A function's arity and dimension rule.

    "number": plain numbers give a plain number; "same": arguments and value are alike (the first argument of
    `where` is a condition); "ratio": arguments are alike, the value is a number; "root": half the exponents.
    """

    arity: int
    rule: str
    value: Callable[..., Any]


FUNCTIONS: dict[str, KnownFunction] = {
    **{name: KnownFunction(1, "number", getattr(s, name)) for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "floor")},
    "sqrt": KnownFunction(1, "root", s.sqrt), "abs": KnownFunction(1, "same", s.absolute),
    "sign": KnownFunction(1, "ratio", s.sign), "atan2": KnownFunction(2, "ratio", s.atan2),
    "min": KnownFunction(2, "same", s.minimum), "max": KnownFunction(2, "same", s.maximum),
    "where": KnownFunction(3, "same", s.where), "both": KnownFunction(2, "number", s.both),
    "invert": KnownFunction(1, "number", s.invert),
}  # fmt: skip


def call_function(name: str, arguments: list[Expr]) -> Expr:
    """The function's expression; raises ValueError or ArithmeticError where it has no value."""
    if name == "pow":
        return _power(*arguments)
    return as_expr(FUNCTIONS[name].value(*arguments))


def _power(base: Expr, exponent: Expr) -> Expr:
    """A power, refused when it is a number beyond any use.

    Numbers are tried in floats before anything computes them exactly: the digits of 9^9^90 fill no memory.
    """
    size = _number(exponent)
    if size is not None and abs(size) > LARGEST_EXPONENT:
        raise ValueError("the exponent is too large")
    number = None if size is None else _number(base)
    if size is not None and number is not None:
        _ = number**size
    return as_expr(base**exponent)


def _number(node: Expr) -> float | None:
    """The value of an expression without symbols and functions to be determined."""
    free = any(leaf.op in ("symbol", "apply") for leaf in live_nodes([node]))
    return None if free else constant_value(node)
