"""Random formulas as plain trees, with their value computed by mpmath alone: the oracle of the graph tests.

A recipe is ("x", i) for a variable, ("c", number) for a constant, or (operation, recipe, ...).
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import mpmath
from hypothesis import strategies as st

from torseur.algebra.graph import Expr, as_expr, scalar

Recipe = tuple[Any, ...]

VARIABLES = 3
UNARY = (
    "neg",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "abs",
    "sign",
    "floor",
)
BINARY = ("add", "sub", "mul", "div", "pow", "atan2", "min", "max")

MPMATH = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "pow": lambda a, b: mpmath.power(a, b),
    "atan2": mpmath.atan2,
    "min": min,
    "max": max,
    "abs": abs,
    "lt": lambda a, b: mpmath.mpf(a < b),
    "le": lambda a, b: mpmath.mpf(a <= b),
    "both": lambda a, b: mpmath.mpf(a != 0 and b != 0),
    "invert": lambda a: mpmath.mpf(a == 0),
    "where": lambda c, a, b: a if c != 0 else b,
} | {name: getattr(mpmath, name) for name in UNARY if hasattr(mpmath, name)}

GRAPH = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "pow": lambda a, b: a**b,
    "abs": abs,
    "min": scalar.minimum,
    "max": scalar.maximum,
    "lt": scalar.less,
    "le": scalar.less_equal,
} | {name: getattr(scalar, name) for name in (*UNARY, "atan2", "both", "invert", "where") if hasattr(scalar, name)}

integers = st.integers(-12, 12)
fractions = st.builds(Fraction, st.integers(-30, 30), st.integers(1, 12))
floats = st.floats(-8, 8).filter(lambda value: value == 0 or abs(value) > 1e-6)
exact_numbers = st.one_of(integers, fractions)
numbers = st.one_of(integers, fractions, floats)


def recipes(constants: st.SearchStrategy[Any], leaves: int = 12) -> st.SearchStrategy[Recipe]:
    """Formulas over all operations of the table."""
    variable = st.tuples(st.just("x"), st.integers(0, VARIABLES - 1))
    leaf = st.one_of(variable, variable, st.tuples(st.just("c"), constants))
    return st.recursive(leaf, _grown, max_leaves=leaves)


def _grown(part: st.SearchStrategy[Recipe]) -> st.SearchStrategy[Recipe]:
    comparison = st.tuples(st.sampled_from(["lt", "le"]), part, part)
    condition = st.one_of(
        comparison, st.tuples(st.just("both"), comparison, comparison), st.tuples(st.just("invert"), comparison)
    )
    return st.one_of(
        st.tuples(st.sampled_from(UNARY), part),
        st.tuples(st.sampled_from(BINARY), part, part),
        st.tuples(st.sampled_from(["add", "sub", "mul"]), part, part),
        st.tuples(st.just("where"), condition, part, part),
    )


class Undecided(Exception):
    """The formula is undefined here, not real, too large, or at a jump: no value to compare with."""


def value(recipe: Recipe, point: list[Any], noise: random.Random | None = None) -> mpmath.mpf:
    """The value by mpmath at its working precision; `noise` disturbs every result in its 52nd bit."""
    if recipe[0] == "x":
        return mpmath.mpf(point[recipe[1]])
    if recipe[0] == "c":
        top, bottom = Fraction(recipe[1]).as_integer_ratio()
        return mpmath.mpf(top) / bottom
    name, *parts = recipe
    arguments = [value(part, point, noise) for part in parts]
    _refuse_jumps(name, arguments)
    try:
        result = MPMATH[name](*arguments)
    except (ArithmeticError, ValueError) as error:
        raise Undecided from error
    if isinstance(result, mpmath.mpc) or not mpmath.isfinite(result) or abs(result) > 1e30:
        raise Undecided
    if noise is not None and name not in ("neg", "lt", "le", "both", "invert", "where"):
        result *= 1 + noise.choice((-1, 1)) * mpmath.mpf(2) ** -52
    return mpmath.mpf(result)


def _refuse_jumps(name: str, arguments: list[mpmath.mpf]) -> None:
    """Near a jump, a rounding decides the value: nothing can be compared there."""
    near = mpmath.mpf(10) ** -12
    if name in ("sign", "abs") and abs(arguments[0]) < near:
        raise Undecided
    if name == "floor" and abs(arguments[0] - mpmath.nint(arguments[0])) < near:
        raise Undecided
    if name in ("lt", "le", "min", "max") and abs(arguments[0] - arguments[1]) < near:
        raise Undecided
    if name in ("sqrt", "log", "pow", "div", "atan2", "tan", "asin", "acos"):
        _refuse_edges(name, arguments, near)


def _refuse_edges(name: str, arguments: list[mpmath.mpf], near: mpmath.mpf) -> None:
    """At the edge of a domain, a rounding decides whether there is a value."""
    a, b = arguments[0], arguments[-1]
    edges = {
        "sqrt": a,
        "log": a,
        "pow": a,
        "div": b,
        "atan2": abs(a) if b < near else 1,
        "tan": mpmath.cos(a),
        "asin": 1 - abs(a),
        "acos": 1 - abs(a),
    }
    if abs(edges[name]) < near or (name == "pow" and a < 0):
        raise Undecided


def built(recipe: Recipe, variables: list[Any]) -> Expr:
    """The formula as an expression, through the public scalar functions."""
    if recipe[0] == "x":
        return as_expr(variables[recipe[1]])
    if recipe[0] == "c":
        return as_expr(recipe[1])
    return as_expr(GRAPH[recipe[0]](*[built(part, variables) for part in recipe[1:]]))


def tolerance(recipe: Recipe, point: list[Any], samples: int = 6) -> mpmath.mpf:
    """How far double rounding may take the value: the spread of disturbed evaluations, with a margin."""
    exact = value(recipe, point)
    spread = max(abs(value(recipe, point, random.Random(seed)) - exact) for seed in range(samples))
    return 50 * spread + mpmath.mpf(2) ** -46 * (1 + abs(exact))
