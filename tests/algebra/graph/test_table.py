"""Tabulated functions: splines with exact derivatives."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline, make_interp_spline

from torseur.algebra.graph import Table, symbol
from torseur.errors import TorseurError

x = symbol("x")


@st.composite
def tables(draw, degree=3):
    steps = draw(st.lists(st.floats(0.2, 3), min_size=degree + 1, max_size=9))
    heights = draw(st.lists(st.floats(-5, 5), min_size=len(steps), max_size=len(steps)))
    return Table("t", tuple(np.cumsum(steps) - 4.0), tuple(heights), degree)


@given(tables())
@settings(max_examples=60, deadline=None)
def test_cubic_is_the_not_a_knot_spline(table):
    """Oracle: scipy.interpolate.CubicSpline, another implementation of the same spline; also beyond the ends."""
    reference = CubicSpline(table.points, table.values)
    at = np.linspace(table.points[0] - 1, table.points[-1] + 1, 41)
    scale = 1 + np.abs(reference(at)).max()
    for order in range(3):
        assert table.value(at, order) == pytest.approx(reference(at, order), abs=1e-8 * scale, rel=1e-8)


@pytest.mark.parametrize("degree", [3, 5])
def test_spline_passes_through_its_points_and_is_smooth(degree):
    """The value and degree - 1 derivatives are continuous: the pieces on both sides of a knot agree."""
    points = np.array([0.0, 0.4, 1.1, 1.5, 2.6, 3.0, 4.2, 5.0])
    table = Table("cam", tuple(points), tuple(np.sin(points)), degree)
    assert table.value(points) == pytest.approx(np.sin(points), abs=1e-13)
    for k, width in enumerate(np.diff(table.knots)[:-1]):
        left = np.polynomial.Polynomial(table.coefficients[k])
        right = np.polynomial.Polynomial(table.coefficients[k + 1])
        for order in range(degree):
            assert (left.deriv(order) if order else left)(width) == pytest.approx(
                (right.deriv(order) if order else right)(0.0), abs=1e-9
            )


@pytest.mark.parametrize("degree", [3, 5])
def test_polynomials_are_reproduced(degree):
    """Oracle: the polynomial itself, which is the spline of its degree through its own points."""
    coefficients = [2.0, -1.0, 0.5, 0.25, -0.125, 0.0625][: degree + 1]
    polynomial = np.polynomial.Polynomial(coefficients)
    points = np.linspace(-2, 3, degree + 4)
    table = Table("polynomial", tuple(points), tuple(polynomial(points)), degree)
    at = np.linspace(-3, 4, 29)
    for order in range(degree + 2):
        expected = polynomial.deriv(order)(at) if order else polynomial(at)
        assert table.value(at, order) == pytest.approx(expected, abs=1e-8)


def test_quintic_agrees_with_scipy():
    points = np.linspace(0, 4, 9)
    reference = make_interp_spline(points, np.exp(-points), k=5)
    table = Table("decay", tuple(points), tuple(np.exp(-points)), 5)
    at = np.linspace(0, 4, 33)
    for order in range(6):
        assert table.value(at, order) == pytest.approx(reference(at, nu=order), abs=1e-8)


def test_scalars_arrays_and_mpmath_agree():
    table = Table("cam", (0, 1, 2, 4), (0, 1, -1, 3))
    lanes = table.value(np.array([0.5, 1.0, 3.7]))
    assert [table.value(at) for at in (0.5, 1.0, 3.7)] == pytest.approx(lanes.tolist(), rel=1e-15)
    with mpmath.workdps(40):
        assert abs(table.value(mpmath.mpf("3.7")) - mpmath.mpf(lanes[2])) < 1e-14
        assert isinstance(table.value(mpmath.mpf("3.7")), mpmath.mpf)
    assert np.isnan(table.value(float("nan")))


def test_equal_tables_share_their_nodes():
    one = Table("cam", (0, 1, 2, 3), (0, 1, 0, 2))
    same = Table("cam", np.array([0.0, 1.0, 2.0, 3.0]), [0.0, 1.0, 0.0, 2.0])
    assert one == same
    assert one(x) is same(x)
    for other in (
        Table("cam", (0, 1, 2, 3), (0, 1, 0, 2.5)),
        Table("tyre", (0, 1, 2, 3), (0, 1, 0, 2)),
        Table("cam", (0, 1, 2, 3), (0, 1, 0, 2), unit="m"),
    ):
        assert other != one
        assert other(x) is not one(x)


def test_a_table_does_not_follow_its_source():
    heights = [0.0, 1.0, 0.0, 2.0]
    table = Table("cam", (0, 1, 2, 3), heights)
    heights[0] = 99.0
    assert table.values[0] == 0.0


MISTAKES = {
    "table 't': the degree must be 3 or 5, got 4.": lambda: Table("t", (0, 1, 2, 3, 4), (0, 1, 2, 3, 4), 4),
    "table 't' has 4 points but 3 values.": lambda: Table("t", (0, 1, 2, 3), (0, 1, 2)),
    "table 't' has 3 points; degree 3 needs at least 4.": lambda: Table("t", (0, 1, 2), (0, 1, 2)),
    "table 't' holds a value that is not finite.": lambda: Table("t", (0, 1, 2, 3), (0, 1, float("nan"), 3)),
    "table 't' is not increasing: point 3 (1) follows 1.": lambda: Table("t", (0, 1, 1, 3), (0, 1, 2, 3)),
    "table 't': the values must be numbers.": lambda: Table("t", (0, 1, 2, 3), (0, 1, "two", 3)),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_are_named(message):
    with pytest.raises(TorseurError) as caught:
        MISTAKES[message]()
    assert str(caught.value) == message
