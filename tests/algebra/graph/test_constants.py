"""Constants keep their digits: no number is ever moved to a nearby one."""

from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torseur.algebra.graph import as_expr, constant, evaluate, symbol
from torseur.errors import TorseurError

x = symbol("x")

finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.slow
@given(finite)
def test_a_float_keeps_its_bits(value):
    stored = constant(value).value
    assert float(stored) == value
    assert isinstance(stored, float) or stored == int(value)


@given(st.one_of(st.integers(), st.fractions()))
def test_a_rational_stays_exact(value):
    assert constant(value).value == value
    assert not isinstance(constant(value).value, float)


@pytest.mark.parametrize("value", [1 + 2**-52, 1 - 2**-53, 1e-17, 1 / 3, 0.1 + 0.2, 5e-324, 1.7e308, 1e-16])
def test_near_values_are_not_snapped(value):
    assert (value * x).args[0].value == value
    assert (value + x).args[0].value == value


def test_tiny_factors_and_terms_survive():
    assert evaluate([1e-17 * x], {x: 1e17}) == [1.0]
    assert not (1e-300 * x).is_zero
    assert (1e-300 * x) is not (1e-300 * x) * 0


def test_two_floats_combine_as_python_floats_do():
    assert (as_expr(0.1) + 0.2).value == 0.30000000000000004
    assert (as_expr(0.1) * 3).value == 0.1 * 3
    assert (as_expr(Fraction(1, 3)) * 0.5).value == 1 / 3 * 0.5


def test_a_float_is_not_the_fraction_it_looks_like():
    assert constant(0.5) is not constant(Fraction(1, 2))
    assert constant(0.1).value != Fraction(1, 10)


def test_whole_floats_are_integers():
    assert constant(2.0) is constant(2)
    assert constant(-0.0) is constant(0)
    assert constant(1e300).value == 1e300


def test_terms_are_not_merged_when_that_rounds():
    """1e-17 + (1 + x) is 1e-17 at x = -1, and stays so."""
    formula = 1e-17 + (1 + x)
    assert evaluate([formula], {x: -1.0}) == [1e-17]
    assert evaluate([0.1 + (0.2 + x)], {x: -0.2}) == [0.1]


def test_terms_are_merged_when_that_is_exact():
    assert 0.25 + (0.5 + x) is 0.75 + x
    assert 1e16 + (-1e16 + x) is x


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_factors_beyond_the_range_of_floats_are_kept_apart(factor):
    """Oracle: mpmath, whose exponents have no limit; the float result then needs no limit either."""
    formula = factor * (factor * x)
    with mpmath.workdps(30):
        (result,) = evaluate([formula], {x: mpmath.mpf(factor) ** -2})
        assert abs(result - 1) < mpmath.mpf(10) ** -28
    assert evaluate([formula], {x: 1 / factor}) == [pytest.approx(factor)]


def test_divisors_without_a_float_inverse_stay_divisors():
    assert evaluate([x / 5e-324], {x: 5e-324}) == [1.0]
    assert evaluate([x / 1.5e308], {x: 3e307}) == [pytest.approx(0.2)]


def test_huge_integers_meet_floats():
    formula = 10**400 * (0.5 * x)
    with mpmath.workdps(30):
        assert evaluate([formula], {x: mpmath.mpf(2)}) == [mpmath.mpf(10) ** 400]
    with pytest.raises(TorseurError, match="has no value: int too large"):
        evaluate([formula], {x: 2.0})


@pytest.mark.parametrize("value", [np.float64(0.1), np.float32(0.1), np.array(0.1)])
def test_numpy_numbers_are_plain_numbers(value):
    node = as_expr(value)
    assert node is constant(float(value))
    assert type(node.value) is float


def test_numpy_integers_and_truth_values_are_integers():
    assert as_expr(np.int64(3)) is constant(3)
    assert as_expr(np.bool_(True)) is constant(True) is constant(1)
    assert type(constant(True).value) is int


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_constants_are_finite(value):
    with pytest.raises(TorseurError, match="must be finite"):
        constant(value)


@pytest.mark.parametrize("value", ["1", None, 1j, Decimal("0.5"), np.float32(0.5), np.array([1.0])])
def test_what_is_not_a_number_is_refused(value):
    with pytest.raises(TorseurError, match=r"expected a (real )?number"):
        constant(value)
    if not isinstance(value, np.floating):
        with pytest.raises(TorseurError, match="expected a number or an expression"):
            as_expr(value)
