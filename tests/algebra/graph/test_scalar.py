"""The functions of any scalar: one formula, six kinds of numbers."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy

from algebra.graph.recipes import MPMATH
from torseur.algebra.graph import as_expr, evaluate, scalar, symbol
from torseur.algebra.graph.expr import Expr, Symbolic

UNARY = [
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
    "sqrt",
    "floor",
    "sign",
    "absolute",
]
BINARY = ["atan2", "power", "minimum", "maximum", "less", "less_equal"]
ORACLE = MPMATH | {
    "absolute": abs,
    "power": lambda a, b: a**b,
    "minimum": min,
    "maximum": max,
    "less": lambda a, b: float(a < b),
    "less_equal": lambda a, b: float(a <= b),
}
NUMBERS = {
    "float": float,
    "numpy": lambda value: np.array([float(value)] * 2),
    "numpy scalar": lambda value: np.float64(float(value)),
    "numpy float32": lambda value: np.float32(float(value)),
    "sympy": lambda value: sympy.Rational(value.numerator, value.denominator),
    "mpmath": lambda value: mpmath.mpf(value.numerator) / value.denominator,
    "fraction": lambda value: value,
    "graph": as_expr,
}
SINGLE = Fraction(3, 7)
PAIR = (Fraction(3, 7), Fraction(5, 4))


def as_float(result):
    if isinstance(result, Expr):
        (result,) = evaluate([result], {})
    if isinstance(result, sympy.logic.boolalg.Boolean):
        result = bool(result)
    return float(np.ravel(result)[0])


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number(kind, name):
    """Oracle: mpmath."""
    result = getattr(scalar, name)(NUMBERS[kind](SINGLE))
    tolerance = 1e-6 if kind == "numpy float32" else 1e-14
    expected = float(ORACLE[name](mpmath.mpf(SINGLE.numerator) / SINGLE.denominator))
    assert as_float(result) == pytest.approx(expected, rel=tolerance)


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers(kind, name):
    """Oracle: mpmath."""
    result = getattr(scalar, name)(*[NUMBERS[kind](value) for value in PAIR])
    tolerance = 1e-6 if kind == "numpy float32" else 1e-14
    expected = float(ORACLE[name](*[mpmath.mpf(v.numerator) / v.denominator for v in PAIR]))
    assert as_float(result) == pytest.approx(expected, rel=tolerance)


@pytest.mark.parametrize("kind", NUMBERS)
def test_choices(kind):
    a, b = (NUMBERS[kind](value) for value in PAIR)
    holds, fails = scalar.less(a, b), scalar.less(b, a)
    assert as_float(scalar.where(holds, a, b)) == pytest.approx(3 / 7, rel=1e-6)
    assert as_float(scalar.where(fails, a, b)) == pytest.approx(5 / 4, rel=1e-6)
    assert as_float(scalar.where(scalar.both(holds, fails), a, b)) == pytest.approx(5 / 4, rel=1e-6)
    assert as_float(scalar.where(scalar.invert(fails), a, b)) == pytest.approx(3 / 7, rel=1e-6)


@pytest.mark.parametrize("kind", ["numpy", "sympy", "mpmath", "graph"])
def test_the_kind_is_kept(kind):
    number = NUMBERS[kind](SINGLE)
    module = type(number).__module__.partition(".")[0]
    for name in ("sin", "sqrt", "exp", "absolute"):
        assert type(getattr(scalar, name)(number)).__module__.partition(".")[0] == module


@pytest.mark.parametrize("kind", ["numpy", "sympy", "mpmath", "graph"])
def test_plain_numbers_mix_with_every_kind(kind):
    number = NUMBERS[kind](SINGLE)
    assert as_float(scalar.atan2(1.0, number)) == pytest.approx(math.atan2(1, 3 / 7))
    assert as_float(scalar.maximum(number, 1)) == 1
    assert as_float(scalar.minimum(0, number)) == 0
    assert as_float(scalar.where(scalar.less(number, 1.0), 2.0, 3.0)) == 2


def test_precision_is_that_of_the_scalar():
    with mpmath.workdps(60):
        assert abs(scalar.sin(mpmath.mpf(1)) - mpmath.sin(1)) == 0
    assert scalar.sin(sympy.Integer(1)) == sympy.sin(1)
    assert scalar.sqrt(as_expr(2)).op == "sqrt"


class Length(Symbolic):
    """A named thing of another module."""

    def __expr__(self):
        return symbol("length", "m")


def test_named_things_compute_like_their_symbol():
    thing, node = Length(), symbol("length", "m")
    assert 2 * thing + 1 is 2 * node + 1
    assert thing - 1 is node - 1 and 1 - thing is 1 - node
    assert thing / 2 is node / 2 and 1 / thing is 1 / node
    assert thing**2 is node**2 and 2**thing is 2**node
    assert -thing is -node and +thing is node and abs(thing) is abs(node)
    assert (thing < 1) is (node < 1) and (thing >= 1) is (node >= 1)
    assert (thing <= 1) is (node <= 1) and (thing > 1) is (node > 1)
    for name in (*UNARY, "invert"):
        assert getattr(scalar, name)(thing) is getattr(scalar, name)(node)
    for name in (*BINARY, "both"):
        assert getattr(scalar, name)(1, thing) is getattr(scalar, name)(1, node)
    assert scalar.where(thing < 1, thing, 2) is scalar.where(node < 1, node, 2)


def test_powers_stay_real():
    with pytest.raises(ValueError, match="not real"):
        scalar.power(-8.0, 1 / 3)
    assert scalar.power(-8.0, 3) == -512


def test_an_unknown_kind_is_refused():
    with pytest.raises(TypeError, match="no scalar functions are known for str"):
        scalar.sin("x")


def test_numpy_functions_of_expressions():
    """np.sin(x) is the expression, alone and for each entry of an array. Oracle: NumPy on numbers."""
    x, y = symbol("x"), symbol("y")
    names = ["sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "floor"]
    for name in names:
        function = getattr(np, name)
        (value,) = evaluate([function(x)], {x: 0.3})
        assert value == pytest.approx(function(0.3))
        assert list(function(np.array([x, y], dtype=object))) == [function(x), function(y)]
    assert np.arctan2(x, y) is scalar.atan2(x, y)
    assert np.abs(x) is abs(x) and np.square(x) is x * x
