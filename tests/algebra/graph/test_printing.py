"""Text of expressions: it reads back as the same value."""

from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from algebra.graph.recipes import Undecided, built, exact_numbers, recipes, value
from torseur.algebra.graph import PI, Table, UndeterminedFunction, as_expr, gradient, scalar, symbol
from torseur.algebra.graph.printing import to_text
from torseur.errors import TorseurError

x, y, z = (symbol(name) for name in "xyz")

# Factors stand in the order in which they were first made: these names occur nowhere else.
a, b, c = (symbol(f"{name}_of_printing") for name in "abc")

TEXTS = {
    "x + y - z": x + y - z,
    "x - (y - z)": x - (y - z),
    "x - y*z": x - y * z,
    "c*(a + b)": (a + b) * c,
    "x/(y*z)": x / (y * z),
    "x/y/z": x / y / z,
    "-(x + y)": -(x + y),
    "-x*y": -(x * y),
    "x^2": x * x,
    "(x + y)^2": (x + y) ** 2,
    "(x^2)^2": x**4,
    "x^y": x**y,
    "(-x)^y": (-x) ** y,
    "x^(1 + y)": x ** (y + 1),
    "(x^y)^z": (x**y) ** z,
    "x^(y^z)": x ** (y**z),
    "(1/2)^x": as_expr(Fraction(1, 2)) ** x,
    "1/2*x": Fraction(1, 2) * x,
    "-2 + x": x - 2,
    "2*pi": 2 * PI,
    "sin(x + y)": scalar.sin(x + y),
    "atan2(x, y)": scalar.atan2(x, y),
    "where(x < y, x, z)": scalar.where(x < y, x, z),
    "c*(a < b)": (a < b) * c,
    "F(x, 2*y)": UndeterminedFunction("F", 2)(x, 2 * y),
    "cam_d(x)": gradient(Table("cam", (0, 1, 2, 3), (0, 1, 0, 2))(x), [x])[0],
    "arm.mass*q1'": symbol("q1'") * symbol("arm.mass"),
}


@pytest.mark.parametrize("text", TEXTS)
def test_text(text):
    assert to_text(TEXTS[text]).replace("_of_printing", "") == text


def test_named_parts_are_shown_by_name():
    inner = scalar.sin(x) + 1
    assert to_text(inner * y, {inner: "w_arm_z"}) == "y*w_arm_z"


def test_floats_are_shown_with_all_digits():
    assert to_text(0.1 * x) == "0.1*x"
    assert to_text((1 + 2**-52) * x) == "1.0000000000000002*x"


def test_a_shared_graph_is_cut_short_in_messages():
    node = x
    for _ in range(200):
        node = scalar.sin(node) * scalar.cos(node)
    assert len(repr(node)) < 600
    assert repr(node).endswith("...")
    with pytest.raises(TorseurError, match="division of"):
        _ = node / 0


NAMES = {
    "abs": sympy.Abs,
    "min": sympy.Min,
    "max": sympy.Max,
    "x": sympy.Symbol("x"),
    "y": sympy.Symbol("y"),
    "z": sympy.Symbol("z"),
    "where": lambda c, a, b: sympy.Piecewise((a, c), (b, True)),
    "both": sympy.And,
    "invert": sympy.Not,
}


@pytest.mark.slow
@given(recipes(exact_numbers), st.lists(st.fractions(-2, 2, max_denominator=40), min_size=3, max_size=3))
@settings(max_examples=200, deadline=None)
def test_text_reads_back(recipe, point):
    """Oracle: SymPy's parser reads the text; its value is that of the unfolded formula in mpmath."""
    with mpmath.workdps(40):
        try:
            expected = value(recipe, [mpmath.mpf(p.numerator) / p.denominator for p in point])
            formula = built(recipe, [x, y, z])
        except (Undecided, TorseurError):
            assume(False)
        read = sympy.sympify(to_text(formula), locals=NAMES, rational=True)
        at = {NAMES[n]: sympy.Rational(p.numerator, p.denominator) for n, p in zip("xyz", point, strict=True)}
        result = mpmath.mpf(str(sympy.N(read.subs(at), 40)))
        assert abs(result - expected) <= mpmath.mpf(10) ** -20 * (1 + abs(expected))
