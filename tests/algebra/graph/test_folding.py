"""Every fold, one by one; and that folding never changes a value."""

from fractions import Fraction

import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from algebra.graph.recipes import Undecided, built, exact_numbers, numbers, recipes, tolerance, value
from torseur.algebra.graph import PI, as_expr, constant, evaluate, scalar, substitute, symbol, symbols_of
from torseur.algebra.graph.construction.folding import build
from torseur.errors import TorseurError

x, y, z = (symbol(name) for name in "xyz")
ZERO, ONE = as_expr(0), as_expr(1)
sin, cos = scalar.sin, scalar.cos
THIRD = Fraction(1, 3)

SAME = {
    "x + 0": (x + 0, x),
    "0 + x": (0 + x, x),
    "x - 0": (x - 0, x),
    "0 - x": (0 - x, -x),
    "x - x": (x - x, ZERO),
    "0 x": (0 * x, ZERO),
    "0.0 x": (0.0 * x, ZERO),
    "1 x": (1 * x, x),
    "-1 x": (-1 * x, -x),
    "x / 1": (x / 1, x),
    "0 / x": (0 / x, ZERO),
    "x / x": (x / x, ONE),
    "x y / x": (x * y / x, y),
    "x y / y": (x * y / y, x),
    "x + x": (x + x, 2 * x),
    "-(-x)": (-(0 - x), x),
    "+x": (+x, x),
    "(x + y) - y": ((x + y) - y, x),
    "(x + y) - x": ((x + y) - x, y),
    "x - (x + y)": (x - (x + y), -y),
    "y - (x + y)": (y - (x + y), -x),
    "(x - y) + y": ((x - y) + y, x),
    "y + (x - y)": (y + (x - y), x),
    "-(x - y)": (-(x - y), y - x),
    "x + (-y)": (x + (-y), x - y),
    "(-x) + y": ((-x) + y, y - x),
    "x - (-y)": (x - (-y), x + y),
    "(-x) - y": ((-x) - y, -(x + y)),
    "(-x) y": ((-x) * y, -(x * y)),
    "x (-y)": (x * (-y), -(x * y)),
    "(-x)(-y)": ((-x) * (-y), x * y),
    "(-x) / y": ((-x) / y, -(x / y)),
    "x / (-y)": (x / (-y), -(x / y)),
    "2 (3 x)": (2 * (3 * x), 6 * x),
    "x (y / x)": (x * (y / x), y),
    "(y / x) x": ((y / x) * x, y),
    "(2 x)(3 y)": ((2 * x) * (3 * y), 6 * (x * y)),
    "-2 x": (-2 * x, -(2 * x)),
    "2 (-x)": (2 * (-x), -(2 * x)),
    "x / 4": (x / 4, Fraction(1, 4) * x),
    "x / 3": (x / 3, THIRD * x),
    "1 + (2 + x)": (1 + (2 + x), 3 + x),
    "1 + (2 - x)": (1 + (2 - x), 3 - x),
    "1 - (2 + x)": (1 - (2 + x), -1 - x),
    "1 - (2 - x)": (1 - (2 - x), -1 + x),
    "x - 2": (x - 2, -2 + x),
    "1/3 + 1/6": (as_expr(THIRD) + Fraction(1, 6), constant(Fraction(1, 2))),
    "2 / 6": (as_expr(2) / 6, constant(THIRD)),
    "sin² + cos²": (sin(x) ** 2 + cos(x) ** 2, ONE),
    "cos² + sin²": (cos(x) * cos(x) + sin(x) * sin(x), ONE),
    "k sin² + k cos²": (y * sin(x) ** 2 + y * cos(x) ** 2, y),
    "2 sin² + 2 cos²": (2 * sin(x) ** 2 + 2 * cos(x) ** 2, as_expr(2)),
    "sin²y sin²x + sin²y cos²x": (sin(y) ** 2 * sin(x) ** 2 + sin(y) ** 2 * cos(x) ** 2, sin(y) ** 2),
    "1 - sin²": (1 - sin(x) ** 2, cos(x) ** 2),
    "1 - cos²": (1 - cos(x) ** 2, sin(x) ** 2),
    "sin 0": (sin(0 * x), ZERO),
    "cos 0": (cos(0 * x), ONE),
    "exp 0": (scalar.exp(0 * x), ONE),
    "log 1": (scalar.log(x / x), ZERO),
    "sin(-x)": (sin(-x), -sin(x)),
    "cos(-x)": (cos(-x), cos(x)),
    "tanh(-x)": (scalar.tanh(-x), -scalar.tanh(x)),
    "|-x|": (abs(-x), abs(x)),
    "sin(-1)": (sin(as_expr(-1)), -sin(as_expr(1))),
    "cos(-1)": (cos(as_expr(-1)), cos(as_expr(1))),
    "sin pi": (sin(PI), ZERO),
    "sin pi/6": (sin(PI / 6), as_expr(Fraction(1, 2))),
    "sin 7pi/6": (sin(PI * 7 / 6), as_expr(Fraction(-1, 2))),
    "cos pi/3": (cos(PI / 3), as_expr(Fraction(1, 2))),
    "cos pi": (cos(PI), as_expr(-1)),
    "cos -3pi/2": (cos(-3 * PI / 2), ZERO),
    "sqrt 9/4": (scalar.sqrt(as_expr(Fraction(9, 4))), as_expr(Fraction(3, 2))),
    "x^0": (x**0, ONE),
    "x^1": (x**1, x),
    "x^2": (x**2, x * x),
    "x^-1": (x**-1, 1 / x),
    "x^0.5": (x**0.5, scalar.sqrt(x)),
    "x^1/2": (x ** Fraction(1, 2), scalar.sqrt(x)),
    "x^-1/2": (x**-0.5, 1 / scalar.sqrt(x)),
    "x^3/2": (x**1.5, x * scalar.sqrt(x)),
    "x^-3/2": (x**-1.5, 1 / (x * scalar.sqrt(x))),
    "min(x, x)": (scalar.minimum(x, x), x),
    "max(1, 2)": (scalar.maximum(as_expr(1), 2), as_expr(2)),
    "floor 7/2": (scalar.floor(as_expr(Fraction(7, 2))), as_expr(3)),
    "sign -2": (scalar.sign(as_expr(-2)), as_expr(-1)),
    "true and c": (scalar.both(as_expr(1) < 2, x < y), x < y),
    "false and c": (scalar.both(x < y, as_expr(2) < 1), ZERO),
    "1 < 2": (as_expr(1) < 2, ONE),
    "where(1 < 2, x, y)": (scalar.where(as_expr(1) < 2, x, y), x),
    "where(c, x, x)": (scalar.where(x < y, z, z), z),
}


@pytest.mark.parametrize("case", SAME)
def test_fold(case):
    built_form, expected = SAME[case]
    assert built_form is expected


KEPT = {
    "sin 1": lambda: sin(as_expr(1)),
    "sin pi/4": lambda: sin(PI / 4),
    "sqrt 2": lambda: scalar.sqrt(as_expr(2)),
    "2 pi": lambda: 2 * PI,
    "2^100": lambda: as_expr(2) ** 100,
    "sin²x + cos²y": lambda: sin(x) ** 2 + cos(y) ** 2,
    "y sin²x + z cos²x": lambda: y * sin(x) ** 2 + z * cos(x) ** 2,
    "2 - sin²x": lambda: 2 - sin(x) ** 2,
}


@pytest.mark.parametrize("case", KEPT)
def test_what_is_not_exact_stays_a_formula(case):
    assert not KEPT[case]().is_constant


UNDEFINED = {
    "division of 'x' by zero": lambda: x / 0,
    "division of '1' by zero": lambda: as_expr(0) ** -1,
    "sqrt(-1) has no real value": lambda: scalar.sqrt(as_expr(-1)),
    "log(-1.5) has no finite real value": lambda: scalar.log(as_expr(-1.5)),
    "asin(2.5) has no finite real value": lambda: scalar.asin(as_expr(2.5)),
    "exp(1000.5) has no finite real value": lambda: scalar.exp(as_expr(1000.5)),
    "pow(-1.5, 0.3) has no finite real value": lambda: as_expr(-1.5) ** 0.3,
}


@pytest.mark.parametrize("message", UNDEFINED)
def test_undefined_constant_is_refused(message):
    with pytest.raises(TorseurError) as caught:
        UNDEFINED[message]()
    assert str(caught.value) == message + "."


def test_every_operation_rebuilds_to_itself():
    """A folded graph has nothing left to fold: substituting symbols by themselves gives the same nodes."""
    formula = scalar.where(x < y, (x - 2 * y) / (1 + z) ** 3, scalar.sqrt(x * x + y) - scalar.atan2(x, -y))
    assert substitute([formula], {s: s for s in symbols_of([formula])}) == [formula]


@pytest.mark.slow
@given(recipes(numbers))
@settings(max_examples=300, deadline=None)
def test_random_formula_rebuilds_to_itself(recipe):
    try:
        formula = built(recipe, [x, y, z])
    except TorseurError:
        assume(False)
    for node in reversed([formula, *formula.args]):
        if node.args:
            assert build(node.op, node.args) is node


points = st.lists(st.fractions(-3, 3, max_denominator=50), min_size=3, max_size=3)


@pytest.mark.slow
@given(recipes(exact_numbers), points)
@settings(max_examples=400, deadline=None)
def test_folding_keeps_the_exact_value(recipe, point):
    """Oracle: the unfolded formula in mpmath with 60 digits. Rational constants leave no room for rounding."""
    with mpmath.workdps(60):
        at = [mpmath.mpf(p.numerator) / p.denominator for p in point]
        try:
            expected = value(recipe, at)
        except Undecided:
            assume(False)
        (result,) = evaluate([built(recipe, [x, y, z])], dict(zip((x, y, z), at, strict=True)))
        assert abs(result - expected) <= mpmath.mpf(10) ** -35 * (1 + abs(expected))


@pytest.mark.slow
@given(recipes(numbers), st.lists(st.floats(-3, 3), min_size=3, max_size=3))
@settings(max_examples=400, deadline=None)
def test_floats_fold_within_rounding(recipe, point):
    """Oracle: mpmath with 60 digits; the tolerance is the spread of its own evaluations disturbed in bit 52."""
    with mpmath.workdps(60):
        try:
            expected, allowed = value(recipe, point), tolerance(recipe, point)
        except Undecided:
            assume(False)
        formula = built(recipe, [x, y, z])
        (result,) = evaluate([formula], dict(zip((x, y, z), point, strict=True)))
        assert abs(mpmath.mpf(result) - expected) <= allowed
