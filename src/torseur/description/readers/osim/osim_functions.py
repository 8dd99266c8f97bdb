"""Functions of coordinates: constants, lines, polynomials, and the splines of SIMM."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Expr, Table, as_expr
from torseur.description.readers.attribute_numbers import content_number, content_words, words_as_numbers
from torseur.description.readers.osim.osim_scene import Scene
from torseur.description.readers.xml_document import Element
from torseur.errors import unknown_name

# "NaturalCubicSpline" is what older files call SIMM's spline, which is not the natural one.
_SPLINES = ("SimmSpline", "NaturalCubicSpline", "natCubicSpline")


def read_function(owner: Element, q: list[Expr], name: str, scene: Scene) -> Expr:
    """The function written in an element, or in its <function>, of the coordinates given."""
    inner = owner.first("function")
    places = [owner] if inner is None else [inner, owner]
    for place in places:
        for child in place.children:
            if child.tag in _FUNCTIONS:
                child.used = True
                return _FUNCTIONS[child.tag](child, q, name, scene)
    other = [child for place in places for child in place.children if child.tag not in _BESIDE]
    if other:
        known = ", ".join(_FUNCTIONS)
        raise other[0].fault(f"{unknown_name('function', other[0].tag, list(_FUNCTIONS))} Known are {known}.")
    # OpenSim 2: an empty <function/> is the coordinate itself.
    return q[0] if q else as_expr(0)


_BESIDE = ("function", "coordinates", "axis", "is_rotation", "coordinate", "scale", "independent_coordinate_names",
           "dependent_coordinate_name", "scale_factor", "isDisabled", "isEnforced", "socket_coordinate")  # fmt: skip


def _constant(element: Element, q: list[Expr], name: str, scene: Scene) -> Expr:
    return as_expr(content_number(element, "value", 0.0))


def _linear(element: Element, q: list[Expr], name: str, scene: Scene) -> Expr:
    """Slopes by each coordinate, then what is added."""
    *slopes, at_zero = _list(element, "coefficients")
    if len(slopes) != len(q):
        raise element.fault(f"<LinearFunction> has {len(slopes) + 1} coefficients for {len(q)} coordinates.")
    total = as_expr(at_zero)
    for slope, x in zip(slopes, q, strict=True):
        total = total + (x if slope == 1.0 else slope * x)
    return total


def _polynomial(element: Element, q: list[Expr], name: str, scene: Scene) -> Expr:
    """Coefficients from the highest power down."""
    x, total = _one(element, q), as_expr(0)
    for coefficient in _list(element, "coefficients"):
        total = total * x + coefficient
    return total


def _multiplied(element: Element, q: list[Expr], name: str, scene: Scene) -> Expr:
    scale = content_number(element, "scale", 1.0)
    return as_expr(scale * read_function(element, q, name, scene))


def _spline(element: Element, q: list[Expr], name: str, scene: Scene) -> Expr:
    """SIMM's cubic spline; two points are a line."""
    x, y = np.array(_list(element, "x")), np.array(_list(element, "y"))
    if len(x) != len(y) or len(x) < 2:
        raise element.fault(
            f"<{element.tag}> has {len(x)} values of x and {len(y)} of y; it needs two of each at least."
        )
    if not np.all(np.diff(x) > 0):
        raise element.fault(f"the values of x in <{element.tag}> do not increase.")
    if np.ptp(y) == 0:
        return as_expr(float(y[0]))
    argument = _one(element, q)
    if len(x) == 2:
        slope = float((y[1] - y[0]) / (x[1] - x[0]))
        return as_expr(float(y[0]) + slope * (argument - float(x[0])))
    # A spline through its own points and one more in its first and last interval, where ours has no knot, is the same.
    more = np.insert(x, [1, len(x) - 1], [(x[0] + x[1]) / 2, (x[-2] + x[-1]) / 2])
    curve = simm_spline(x, y)
    table = Table(scene.tables.fresh(name), tuple(more.tolist()), tuple(curve(more).tolist()))
    return table(argument)


def simm_spline(x: Array, y: Array) -> Callable[[Array], Array]:
    """The cubic spline of Forsythe, Malcolm and Moler (1977), which SIMM and OpenSim use.

    In the first and the last interval its third derivative is that of the cubic through the four points there.
    """
    n, h = len(x), np.diff(x)
    slope = np.diff(y) / h
    A, b = np.zeros((n, n)), np.zeros(n)
    for k in range(1, n - 1):
        A[k, k - 1 : k + 2] = h[k - 1], 2 * (h[k - 1] + h[k]), h[k]
        b[k] = 6 * (slope[k] - slope[k - 1])
    A[0, :2] = A[-1, -2:] = -1.0, 1.0
    if n > 3:
        b[0], b[-1] = 6 * h[0] * _third(x[:4], y[:4]), 6 * h[-1] * _third(x[-4:], y[-4:])
    m = np.linalg.solve(A, b)

    def value(at: Array) -> Array:
        k = np.clip(np.searchsorted(x, at, side="right") - 1, 0, n - 2)
        left, right = x[k + 1] - at, at - x[k]
        return np.asarray(
            (m[k] * left**3 + m[k + 1] * right**3) / (6 * h[k])
            + (y[k] / h[k] - m[k] * h[k] / 6) * left + (y[k + 1] / h[k] - m[k + 1] * h[k] / 6) * right
        )  # fmt: skip

    return value


def _third(x: Array, y: Array) -> float:
    """The divided difference of third order."""
    for order in range(1, 4):
        y = np.diff(y) / (x[order:] - x[:-order])
    return float(y[0])


def _straight(element: Element, q: list[Expr], name: str, scene: Scene) -> Expr:
    """Straight pieces: one of them, since at corners nothing would have an acceleration."""
    x, y = _list(element, "x"), _list(element, "y")
    if len(set(y)) == 1 and len(x) == len(y):
        return as_expr(y[0])
    if len(x) != 2 or len(y) != 2 or x[1] <= x[0]:
        raise element.fault(
            f"<PiecewiseLinearFunction> of {len(x)} points has corners, at which speeds would jump. Use a SimmSpline."
        )
    return y[0] + (y[1] - y[0]) / (x[1] - x[0]) * (_one(element, q) - x[0])


def _one(element: Element, q: list[Expr]) -> Expr:
    if len(q) != 1:
        raise element.fault(f"<{element.tag}> is a function of one coordinate, not of {len(q)}.")
    return q[0]


def _list(element: Element, tag: str) -> tuple[float, ...]:
    words = content_words(element, tag)
    if words is None or not words[1]:
        raise element.fault(f"<{element.tag}> needs <{tag}>, numbers.")
    return words_as_numbers(*words)


_FUNCTIONS: dict[str, Callable[[Element, list[Expr], str, Scene], Expr]] = {
    "Constant": _constant,
    "LinearFunction": _linear,
    "PolynomialFunction": _polynomial,
    "MultiplierFunction": _multiplied,
    "PiecewiseLinearFunction": _straight,
    **dict.fromkeys(_SPLINES, _spline),
}
