"""Values of the formulas of a description, on numbers and on jets.

A formula is a graph of nodes (`op`, `args`, `data`); this walks it with the oracle's own arithmetic. Names are looked up
in an environment; laws are evaluated with their arguments as names; tables are splines made anew from their points.
"""

from __future__ import annotations

from collections import ChainMap
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
from scipy.interpolate import BSpline, CubicSpline, PPoly, make_interp_spline

from truth.oracle.jets import FUNCTIONS, Jet, function


def evaluate(formula, names, laws=None, memory=None):
    """The value of a formula; `names` gives each symbol's, `laws` the functions defined by the description."""
    memory = {} if memory is None else memory
    if id(formula) not in memory:
        # The node is kept with its value, so that no other node can get its id meanwhile.
        memory[id(formula)] = (formula, _value(formula, names, laws or {}, memory))
    return memory[id(formula)][1]


def _value(node, names, laws, memory):
    if node.op == "constant":
        return _number(node.data, names)
    if node.op == "pi":
        return mpmath.pi + 0 if names.get("high precision") else np.pi
    if node.op == "symbol":
        return names[node.data.name]
    arguments = [evaluate(argument, names, laws, memory) for argument in node.args]
    if node.op == "apply":
        return _law(node.data, arguments, names, laws)
    if node.op == "table":
        return _spline_value(node.data.table, node.data.order, *arguments)
    if node.op in FUNCTIONS:
        return function(node.op, *arguments)
    return _OPERATIONS[node.op](*arguments)


def _number(data, names):
    if not names.get("high precision"):
        return float(data)
    return mpmath.mpf(data.numerator) / data.denominator if isinstance(data, Fraction) else mpmath.mpf(data)


def _law(application, arguments, names, laws):
    if any(application.orders):
        raise NotImplementedError(f"derivative of the law '{application.function.name}'")
    law = laws[application.function.name]
    given = {a.data.name: value for a, value in zip(law.arguments, arguments, strict=True)}
    return evaluate(law.formula, ChainMap(given, names), laws)


def _spline_value(table, order, x):
    """The spline through the points of a table: cubic with not-a-knot ends, or of degree five."""
    pieces = _pieces(table.degree, table.points, table.values)

    def polynomial(k):
        return lambda place: _horner(pieces, place, order + k)

    return x.through(polynomial(0), polynomial(1), polynomial(2)) if isinstance(x, Jet) else polynomial(0)(x)


@cache
def _pieces(degree, points, values):
    if degree == 3:
        return CubicSpline(points, values, bc_type="not-a-knot")
    spline = make_interp_spline(points, values, k=degree)
    pieces = PPoly.from_spline(BSpline(spline.t, spline.c, spline.k))
    real = np.flatnonzero(np.diff(pieces.x) > 0)
    return PPoly(pieces.c[:, real], np.append(pieces.x[real], pieces.x[real[-1] + 1]))


def _horner(pieces, x, order):
    """The derivative of a piecewise polynomial at numbers that may be complex; the end pieces go on beyond the ends."""
    place = np.asarray(_real(x), dtype=float)
    k = np.clip(np.searchsorted(pieces.x, place, side="right") - 1, 0, len(pieces.x) - 2)
    local, total, degree = x - pieces.x[k], 0 * x, pieces.c.shape[0] - 1
    for row, power in zip(pieces.c, range(degree, -1, -1), strict=True):
        if power >= order:
            factor = float(np.prod(np.arange(power, power - order, -1), initial=1.0))
            total = total * local + row[k] * factor
    return total


def _real(x):
    x = x.value if isinstance(x, Jet) else x
    return x if isinstance(x, mpmath.mpf) or getattr(x, "dtype", None) == np.dtype(object) else np.real(x)


def _power(x, y):
    """x^y; a constant whole exponent needs no logarithm, so that negative bases work."""
    if isinstance(y, Jet):
        return function("exp", y * function("log", x))
    if isinstance(x, Jet):
        return x.through(
            lambda b: b**y, lambda b: y * b ** (y - 1), lambda b: y * (y - 1) * b ** (y - 2) if y != 1 else 0 * b
        )
    return x**y


def _choice(condition, x, y):
    """x where the condition holds, else y, jets and all."""
    held = np.asarray(_real(condition)) != 0
    if not isinstance(x, Jet) and not isinstance(y, Jet):
        return np.where(held, x, y) if np.ndim(held) else (x if held else y)
    x, y = (z if isinstance(z, Jet) else Jet(z) for z in (x, y))
    return Jet(*(np.where(held, getattr(x, part), getattr(y, part)) for part in ("value", "rate", "second")))


def _atan2(y, x):
    """The angle of (x, y), by its derivative d = (x dy - y dx) / (x² + y²) on jets."""
    if not isinstance(y, Jet) and not isinstance(x, Jet):
        return _angle(y, x)
    y, x = (z if isinstance(z, Jet) else Jet(z) for z in (y, x))
    square = x.value * x.value + y.value * y.value
    rate = (x.value * y.rate - y.value * x.rate) / square
    turned = x.value * y.second - y.value * x.second
    return Jet(
        _angle(y.value, x.value), rate, turned / square - 2 * rate * (x.value * x.rate + y.value * y.rate) / square
    )


def _angle(y, x):
    if (
        isinstance(y, mpmath.mpf)
        or isinstance(x, mpmath.mpf)
        or np.dtype(object) in (getattr(y, "dtype", None), getattr(x, "dtype", None))
    ):
        return np.frompyfunc(mpmath.atan2, 2, 1)(y, x)
    if np.iscomplexobj(y) or np.iscomplexobj(x):
        # A complex step: the real angle, and the derivative along the imaginary part.
        real = np.arctan2(np.real(y), np.real(x))
        moved = np.real(x) * np.imag(y) - np.real(y) * np.imag(x)
        return real + 1j * moved / (np.real(x) ** 2 + np.real(y) ** 2)
    return np.arctan2(y, x)


def _sign(x):
    real = _real(x)
    return (np.asarray(real) > 0) * 1.0 - (np.asarray(real) < 0) * 1.0


_OPERATIONS = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "neg": lambda x: -x,
    "pow": _power,
    "atan2": _atan2,
    "abs": lambda x: _choice((np.asarray(_real(x)) >= 0) * 1.0, x, -x),
    "sign": _sign,
    "floor": lambda x: np.floor(np.asarray(_real(x), dtype=float)),
    "lt": lambda x, y: (np.asarray(_real(x)) < np.asarray(_real(y))) * 1.0,
    "le": lambda x, y: (np.asarray(_real(x)) <= np.asarray(_real(y))) * 1.0,
    "both": lambda x, y: np.asarray(x) * np.asarray(y),
    "invert": lambda x: 1.0 - np.asarray(x),
    "where": _choice,
    "min": lambda x, y: _choice((np.asarray(_real(x)) <= np.asarray(_real(y))) * 1.0, x, y),
    "max": lambda x, y: _choice((np.asarray(_real(x)) >= np.asarray(_real(y))) * 1.0, x, y),
}
