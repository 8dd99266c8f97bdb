"""Values of expressions in every scalar, mixed scalars, guarded singularities, laws and errors."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from algebra.graph.recipes import Undecided, built, numbers, recipes, tolerance, value
from torseur.algebra.graph import (
    PI,
    Expr,
    Table,
    UndeterminedFunction,
    as_expr,
    constant_value,
    evaluate,
    gradient,
    scalar,
    substitute,
    symbol,
    symbols_of,
)
from torseur.errors import TorseurError

x, y, z = (symbol(name) for name in "xyz")


def only(result):
    (single,) = result
    return single


def test_constants_are_exact_in_rational_arithmetic():
    formula = x / 3 + Fraction(1, 7) * y - 2
    assert only(evaluate([formula], {x: Fraction(1, 2), y: 5})) == Fraction(1, 6) + Fraction(5, 7) - 2


def test_constants_have_all_digits_in_mpmath():
    with mpmath.workdps(50):
        result = only(evaluate([x / 3 + PI], {x: mpmath.mpf(1)}))
        assert abs(result - (mpmath.mpf(1) / 3 + mpmath.pi)) < mpmath.mpf(10) ** -49


def test_sympy_values_give_sympy_expressions():
    a = sympy.Symbol("a", real=True)
    result = only(evaluate([x / 3 + scalar.sin(PI / 5) * x], {x: a}))
    assert result == a / 3 + sympy.sin(sympy.pi / 5) * a


@pytest.mark.parametrize(
    "values",
    [
        {x: 0.5, y: z},
        {y: z, x: 0.5},
        {x: Fraction(1, 2), y: z},
        {x: np.float64(0.5), y: z},
    ],
)
def test_one_expression_among_numbers_makes_expressions(values):
    """Fractions stay exact and other symbols stay free, whichever value comes first."""
    result = only(evaluate([x + y / 3 + symbol("w")], values))
    assert result is as_expr(values[x]) + z / 3 + symbol("w")


@pytest.mark.parametrize("values", [{x: mpmath.mpf(1), y: 2.0}, {y: 2.0, x: mpmath.mpf(1)}, {x: 1, y: mpmath.mpf(2)}])
def test_one_mpmath_number_among_floats_makes_mpmath_numbers(values):
    with mpmath.workdps(40):
        result = only(evaluate([x / 3 + y / 3], values))
        assert abs(result - 1) < mpmath.mpf(10) ** -38


def test_fractions_among_floats_and_arrays_are_floats():
    assert only(evaluate([x * y], {x: Fraction(1, 2), y: 0.5})) == 0.25
    result = only(evaluate([x * y], {x: Fraction(1, 2), y: np.array([1.0, 2.0])}))
    assert result.dtype == float
    assert result.tolist() == [0.5, 1.0]


def test_integer_arrays_do_not_wrap_around():
    result = only(evaluate([x**4 * 10**6], {x: np.array([10**4, 3])}))
    assert result.tolist() == [1e22, 81e6]
    assert only(evaluate([x**-2], {x: np.array([2, 4])})).tolist() == [0.25, 0.0625]
    assert float(only(evaluate([x**7], {x: np.int32(1000)}))) == 1e21


def test_large_exact_constants_meet_arrays():
    result = only(evaluate([10**20 * x + Fraction(1, 3)], {x: np.array([1.0, 2.0])}))
    assert result.dtype == float
    assert result.tolist() == [1e20 + 1 / 3, 2e20 + 1 / 3]


def test_without_values_only_constants_have_values():
    assert evaluate([as_expr(Fraction(1, 4)) + PI], {}) == [0.25 + math.pi]
    with pytest.raises(TorseurError, match="'x' has no value"):
        evaluate([x + 1], {})
    assert evaluate([], {}) == []


def test_intermediate_results_can_be_given():
    inner = scalar.sin(x) + y
    assert evaluate([inner * 2], {inner: 5.0}) == [10.0]


def test_arrays_choose_lane_by_lane():
    formula = scalar.where(x < 0, -x, scalar.where(x < 1, x * x, 2 * x - 1))
    points = np.array([-2.0, 0.5, 3.0])
    assert only(evaluate([formula], {x: points})).tolist() == [2.0, 0.25, 5.0]
    assert only(evaluate([scalar.both(x < 1, y < 1)], {x: points, y: points[::-1]})).tolist() == [0.0, 1.0, 0.0]
    assert only(evaluate([scalar.invert(x < 1)], {x: points})).tolist() == [0.0, 0.0, 1.0]


def test_a_scalar_condition_chooses_between_arrays():
    points = np.array([1.0, 2.0])
    assert only(evaluate([scalar.where(y < 0, x, -x)], {x: points, y: 1.0})).tolist() == [-1.0, -2.0]
    assert only(evaluate([scalar.where(y < 0, x, -x)], {x: points, y: np.float64(-1)})).tolist() == [1.0, 2.0]


def test_numpy_scalars_choose_scalars():
    assert np.ndim(only(evaluate([scalar.where(x < 0, x, -x)], {x: np.float64(1)}))) == 0


SINC = scalar.where(abs(x) < Fraction(1, 10**6), 1 - x * x / 6, scalar.sin(x) / x)
GUARDED = {
    "sin(x)/x": (SINC, 1),
    "log": (scalar.where(x > 0, scalar.log(x), -1), -1),
    "sqrt": (scalar.where(x >= 1, scalar.sqrt(x - 1), 7), 7),
    "1/x²": (scalar.where(x * x > 0, 1 / x**2, 3), 3),
}


@pytest.mark.parametrize("case", GUARDED)
@pytest.mark.parametrize("zero", [0.0, 0, Fraction(0), mpmath.mpf(0), as_expr(0), np.float64(0)])
def test_the_branch_not_taken_may_be_undefined(case, zero):
    formula, expected = GUARDED[case]
    with np.errstate(all="ignore"):
        assert float(only(evaluate([formula], {x: zero}))) == expected


def test_the_branch_not_taken_may_be_undefined_in_arrays():
    with np.errstate(all="ignore"):
        result = only(evaluate([SINC], {x: np.array([0.0, 1.0])}))
    assert result == pytest.approx([1, math.sin(1)], abs=1e-15)


def test_an_undefined_value_names_the_expression():
    with pytest.raises(TorseurError, match=r"'1/x' has no value: .*division"):
        evaluate([1 + 1 / x], {x: 0.0})
    with pytest.raises(TorseurError, match=r"'log\(x\)' has no value: .*domain"):
        evaluate([scalar.log(x) + y], {x: -1.0, y: 1.0})
    with pytest.raises(TorseurError, match="division of '1' by zero"):
        substitute([1 / x + y], {x: 0})
    with pytest.raises(TorseurError, match=r"x\^\(1/3\)"):
        evaluate([x ** Fraction(1, 3)], {x: -8.0})


def test_an_open_choice_needs_both_branches():
    with pytest.raises(TorseurError, match="division"):
        substitute([scalar.where(y < 0, 1 / x, 2)], {x: 0})


def test_substitution_folds():
    assert substitute([x * y + z], {x: 0}) == [z]
    assert substitute([x * y + z], {x: 2.0, y: Fraction(1, 2)}) == [1 + z]
    assert substitute([x + y], {x: y, y: x}) == [x + y]
    assert substitute([x, y], {}) == [x, y]


FORCE = UndeterminedFunction("F", 2)


def test_functions_take_their_law():
    assert evaluate([FORCE(x, y) + 1], {x: 2.0, y: 3.0}, {"F": lambda a, b: a * b}) == [7.0]
    assert evaluate([FORCE(x, y)], {x: z, y: y}, {"F": lambda a, b: a - b}) == [z - y]


def test_functions_without_a_law_stay_formal():
    assert substitute([FORCE(x, y)], {x: z}) == [FORCE(z, y)]
    with pytest.raises(TorseurError, match=r"function 'F' has no law.*laws=\{'F'"):
        evaluate([FORCE(x, y)], {x: 1.0, y: 1.0})
    with pytest.raises(TorseurError, match="takes 2 arguments, got 1"):
        FORCE(x)


def test_formal_functions_stay_formal_in_sympy():
    a, b = sympy.symbols("a b", real=True)
    slope = only(gradient(FORCE(x, y), [x]))
    assert only(evaluate([slope], {x: a, y: b})) == sympy.Function("F", real=True)(a, b).diff(a)


def test_a_law_brings_its_derivatives():
    """Oracle: d²/dxdy of sin(x y²) by SymPy."""
    mixed = only(gradient(only(gradient(FORCE(x, y), [x])), [y]))
    law = {"F": lambda a, b: scalar.sin(a * b * b)}
    a, b = sympy.symbols("a b")
    expected = sympy.diff(sympy.sin(a * b**2), a, b).subs({a: 0.7, b: 1.3})
    assert only(evaluate([mixed], {x: 0.7, y: 1.3}, law)) == pytest.approx(float(expected), rel=1e-14)
    assert not symbols_of(evaluate([mixed], {x: as_expr(2), y: as_expr(3)}, law))
    given = only(evaluate([mixed], {x: 1.0, y: 1.0}, law | {"F_1_1": lambda a, b: 42.0}))
    assert given == 42.0


def test_a_law_that_cannot_be_differentiated_says_so():
    slope = only(gradient(FORCE(x, y), [x]))
    with pytest.raises(TorseurError, match=r"law of 'F' cannot be differentiated.*laws=\{'F_1_0'"):
        evaluate([slope], {x: 1.0, y: 1.0}, {"F": lambda a, b: math.sin(a) * b})


def test_tables_take_every_scalar():
    cam = Table("cam", (0, 1, 2, 3), (0, 1, 8, 27))
    formula = cam(x)
    with mpmath.workdps(30):
        assert abs(only(evaluate([formula], {x: mpmath.mpf("1.5")})) - mpmath.mpf("3.375")) < 1e-14
    assert only(evaluate([formula], {x: 1.5})) == pytest.approx(3.375, rel=1e-14)
    assert only(evaluate([formula], {x: np.array([1.5, 2.5])})) == pytest.approx([3.375, 15.625], rel=1e-14)
    assert substitute([formula], {x: y}) == [cam(y)]
    assert only(evaluate([formula], {x: sympy.Symbol("a")})).func.lookup.table == cam


def test_numbers_of_expressions():
    assert float(PI / 2) == math.pi / 2
    assert constant_value(scalar.sqrt(as_expr(2))) == math.sqrt(2)
    assert float(as_expr(Fraction(1, 3))) == 1 / 3
    with pytest.raises(TorseurError, match=r"'x \+ y' has no number yet: 'x' is not given"):
        float(x + y)


def test_an_expression_has_no_truth_value():
    assert bool(as_expr(1) < 2)
    with pytest.raises(TorseurError, match=r"'x < y' has no truth value.*where"):
        bool(x < y)
    with pytest.raises(TorseurError):
        sorted([x, y])


def test_arrays_of_expressions_compute_element_by_element():
    column = np.array([x, y], dtype=object)
    assert (column * 2 + 1).tolist() == [2 * x + 1, 2 * y + 1]
    assert (x * np.array([1, 2])).tolist() == [x, 2 * x]
    assert isinstance(np.float64(0.5) * x, Expr)


@pytest.mark.slow
@given(recipes(numbers), st.lists(st.floats(-3, 3), min_size=3, max_size=3))
@settings(max_examples=150, deadline=None)
def test_float_array_and_sympy_values_agree(recipe, point):
    """Oracle: mpmath with 60 digits. SymPy evaluates the same formula at the same exact point."""
    with mpmath.workdps(60):
        try:
            expected, allowed = value(recipe, point), tolerance(recipe, point)
        except Undecided:
            assume(False)
        formula = built(recipe, [x, y, z])
        with np.errstate(all="ignore"):
            lanes = only(evaluate([formula], {v: np.array([p, p]) for v, p in zip((x, y, z), point, strict=True)}))
        exact = {v: sympy.Rational(*p.as_integer_ratio()) for v, p in zip((x, y, z), point, strict=True)}
        symbolic = only(evaluate([formula], exact))
        assert np.all(np.abs(np.asarray(lanes, dtype=float) - float(expected)) <= float(allowed))
        assert abs(mpmath.mpf(str(sympy.N(symbolic, 30))) - expected) <= allowed
