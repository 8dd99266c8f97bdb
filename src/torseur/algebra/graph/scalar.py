"""Functions of any scalar: float, NumPy array, SymPy expression, mpmath number or graph expression.

The algorithms of this package call these and never ask what they compute with.
A graph expression answers through its own methods, everything else through its library.
"""

from __future__ import annotations

import math
from importlib import import_module
from types import ModuleType
from typing import Any

from torseur.errors import TorseurError


class ScalarError(TorseurError, TypeError):
    """Something that is no number, and no expression, where a function of numbers is asked for."""


_NUMPY_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "abs": "absolute"}


def _root(value: Any) -> str:
    """The package that a value's type comes from."""
    return type(value).__module__.partition(".")[0]


def _library(value: Any) -> ModuleType:
    """The module that computes with this kind of number."""
    if isinstance(value, (int, float)):
        return math
    root = _root(value)
    if root in ("sympy", "mpmath", "numpy"):
        return import_module(root)
    if root == "fractions":
        return math
    raise ScalarError(f"no scalar functions are known for {type(value).__name__}: expected a number or an expression.")


def _is_graph(*values: Any) -> bool:
    return any(hasattr(value, "apply_operation") or hasattr(value, "__expr__") for value in values)


def _call(name: str, *values: Any) -> Any:
    for value in values:
        if hasattr(value, "apply_operation"):
            return value.apply_operation(name, values)
        if hasattr(value, "__expr__"):
            return value.__expr__().apply_operation(name, values)
    library = _library(next((v for v in values if not isinstance(v, (int, float))), values[0]))
    if library.__name__ == "numpy":
        name = _NUMPY_NAMES.get(name, name)
    return getattr(library, name)(*values)


# One algorithm for every scalar, and what that asks of it: docs/decisions/0001-scalar-contract.md.
def sin(x: Any) -> Any:
    """The sine of an angle (rad)."""
    return _call("sin", x)


def cos(x: Any) -> Any:
    """The cosine of an angle (rad)."""
    return _call("cos", x)


def tan(x: Any) -> Any:
    """The tangent of an angle (rad)."""
    return _call("tan", x)


def asin(x: Any) -> Any:
    """The angle (rad) whose sine is x, between -pi/2 and pi/2."""
    return _call("asin", x)


def acos(x: Any) -> Any:
    """The angle (rad) whose cosine is x, between 0 and pi."""
    return _call("acos", x)


def atan(x: Any) -> Any:
    """The angle (rad) whose tangent is x, between -pi/2 and pi/2."""
    return _call("atan", x)


def atan2(y: Any, x: Any) -> Any:
    """The angle (rad) from the x axis to the point (x, y), between -pi and pi."""
    return _call("atan2", y, x)


def sinh(x: Any) -> Any:
    """The hyperbolic sine."""
    return _call("sinh", x)


def cosh(x: Any) -> Any:
    """The hyperbolic cosine."""
    return _call("cosh", x)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent: a smooth step from -1 to 1."""
    return _call("tanh", x)


def exp(x: Any) -> Any:
    """e to the power x."""
    return _call("exp", x)


def log(x: Any) -> Any:
    """The natural logarithm."""
    return _call("log", x)


def sqrt(x: Any) -> Any:
    """The square root."""
    return _call("sqrt", x)


def floor(x: Any) -> Any:
    """The largest whole number that is not above x."""
    return _call("floor", x)


def power(x: Any, y: Any) -> Any:
    if _is_graph(x, y):
        return _call("pow", x, y)
    result = x**y
    if isinstance(result, complex):
        raise ValueError(f"{x} to the power {y} is not real")
    return result


def absolute(x: Any) -> Any:
    return _call("abs", x) if _is_graph(x) else abs(x)


def sign(x: Any) -> Any:
    """-1, 0 or 1."""
    if _is_graph(x):
        return _call("sign", x)
    library = _library(x)
    return (x > 0) * 1.0 - (x < 0) * 1.0 if library is math else library.sign(x)


def minimum(x: Any, y: Any) -> Any:
    """The smaller of two."""
    return _extremum("min", x, y)


def maximum(x: Any, y: Any) -> Any:
    """The larger of two."""
    return _extremum("max", x, y)


def _extremum(name: str, x: Any, y: Any) -> Any:
    if _is_graph(x, y):
        return _call(name, x, y)
    for value in (x, y):
        _library(value)  # said here what is no number; the comparison below would say it in other words
    roots = {_root(x), _root(y)}
    if "numpy" in roots:
        import numpy

        return numpy.minimum(x, y) if name == "min" else numpy.maximum(x, y)
    if "sympy" in roots:
        import sympy

        return sympy.Min(x, y) if name == "min" else sympy.Max(x, y)
    return min(x, y) if name == "min" else max(x, y)


def less(x: Any, y: Any) -> Any:
    """1 where x < y, else 0 (a relation for SymPy)."""
    return _call("lt", x, y) if _is_graph(x, y) else _truth(x < y)


def less_equal(x: Any, y: Any) -> Any:
    """1 where x <= y, else 0 (a relation for SymPy)."""
    return _call("le", x, y) if _is_graph(x, y) else _truth(x <= y)


def _truth(relation: Any) -> Any:
    return relation if _root(relation) == "sympy" else relation * 1.0


def both(x: Any, y: Any) -> Any:
    """Logical and of two conditions."""
    if _is_graph(x, y):
        return _call("both", x, y)
    if "sympy" in (_root(x), _root(y)):
        import sympy

        return sympy.And(x, y)
    return x * y


def invert(x: Any) -> Any:
    """Logical not of a condition."""
    if _is_graph(x):
        return _call("invert", x)
    if _root(x) == "sympy":
        import sympy

        return sympy.Not(x)
    return 1.0 - x


def where(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, y elsewhere."""
    if _is_graph(condition, x, y):
        return _call("where", condition, x, y)
    root = _root(condition)
    if root == "numpy" and condition.ndim:
        import numpy

        return numpy.where(condition != 0, x, y)
    if root == "sympy":
        import sympy

        return sympy.Piecewise((x, condition), (y, True))
    return x if condition else y
