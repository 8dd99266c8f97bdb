"""The functions of the language: those of the expression graph, with the dimensions they ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph import Expr, as_expr, constant_value, live_nodes
from torseur.algebra.graph import scalar as s
from torseur.algebra.graph.construction.decimals import decimal_where_exact, exactly

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
    return combine(arguments, lambda parts: as_expr(FUNCTIONS[name].value(*parts)))


def combine(terms: list[Expr], operation: Callable[[list[Expr]], Expr]) -> Expr:
    """What an operation makes of terms; numbers that meet are computed as the decimals they were written as."""
    # 0.1 + 0.2 is 0.3 and asin(0.8) that of four fifths. Beside symbols a decimal stays one: nothing is rounded there,
    # and 0.3*l reads better than 3*l/10.
    decimals = [term.op == "constant" and isinstance(term.data, float) for term in terms]
    if not any(decimals) or any(term.op != "constant" for term in terms):
        return operation(terms)
    return decimal_where_exact(operation([exactly(term) for term in terms]))


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
