"""Forward, reverse and sparse derivatives, against SymPy and against differences in 60 digits."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from algebra.graph.recipes import MPMATH, Undecided, built, exact_numbers, recipes, value
from torseur.algebra.graph import (
    OPERATIONS,
    Table,
    UndeterminedFunction,
    as_expr,
    dense_jacobian,
    directional_derivative,
    evaluate,
    gradient,
    jacobian,
    scalar,
    symbol,
    time_derivative,
    to_sympy,
    weighted_gradient,
)
from torseur.algebra.graph.construction.folding import build
from torseur.errors import TorseurError

x, y, z = (symbol(name) for name in "xyz")
ZERO, ONE = as_expr(0), as_expr(1)

POINTS = {"asin": ["0.3", "-0.7"], "acos": ["0.3", "-0.7"], "sqrt": ["0.4", "2.5"], "log": ["0.4", "2.5"]}
PAIRS = [("0.6", "1.7"), ("1.9", "-0.8")]
POSITIVE_PAIRS = [("0.6", "1.7"), ("1.9", "0.8")]


def arguments_of(operation):
    """Points where the operation is smooth."""
    if operation.arity == 1:
        return [(p,) for p in POINTS.get(operation.name, ["0.4", "-1.7"])]
    pairs = POSITIVE_PAIRS if operation.name == "pow" else PAIRS
    return pairs if operation.arity == 2 else [("1", *pair) for pair in pairs] + [("0", *pair) for pair in pairs]


CASES = [(name, at) for name, operation in OPERATIONS.items() for at in arguments_of(operation)]


@pytest.mark.parametrize(("name", "at"), CASES)
def test_partial_derivatives_of_every_operation(name, at):
    """Oracle: differences in 60 digits of mpmath's own function."""
    variables = [symbol(f"argument {i}") for i in range(len(at))]
    node = build(name, tuple(variables))
    with mpmath.workdps(60):
        point = [mpmath.mpf(a) for a in at]
        results = evaluate(gradient(node, variables), dict(zip(variables, point, strict=True)))
        for i, result in enumerate(results):
            if name == "where" and i == 0:
                assert result == 0
                continue
            order = tuple(int(k == i) for k in range(len(at)))
            expected = mpmath.diff(MPMATH[name], tuple(point), order)
            assert abs(result - expected) < mpmath.mpf(10) ** -25


SMOOTH = [
    "sqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "pow",
    "add",
    "sub",
    "mul",
    "div",
    "neg",
]


@pytest.mark.parametrize("name", SMOOTH)
def test_partial_derivatives_are_those_of_sympy(name):
    """Oracle: SymPy's derivative of its own function, compared as formulas."""
    variables = [x, y][: OPERATIONS[name].arity]
    node = build(name, tuple(variables))
    (written,) = to_sympy([node])
    for variable, derivative in zip(variables, to_sympy(gradient(node, variables)), strict=True):
        # Positive symbols let SymPy combine powers.
        names = {sympy.Symbol(v.name, real=True): sympy.Symbol(v.name, positive=True) for v in (x, y)}
        expected = sympy.diff(written, sympy.Symbol(variable.name, real=True)).doit()
        assert sympy.simplify((derivative - expected).doit().xreplace(names)) == 0


points = st.lists(st.fractions(-2, 2, max_denominator=40), min_size=3, max_size=3)


@pytest.mark.slow
@given(recipes(exact_numbers, leaves=8), points)
@settings(max_examples=150, deadline=None)
def test_gradient_of_random_formulas(recipe, point):
    """Oracle: central differences in 90 digits of the unfolded formula."""
    with mpmath.workdps(90):
        at = [mpmath.mpf(p.numerator) / p.denominator for p in point]
        step = mpmath.mpf(10) ** -30
        try:
            expected = [
                (value(recipe, _moved(at, i, step)) - value(recipe, _moved(at, i, -step))) / (2 * step)
                for i in range(3)
            ]
            value(recipe, at)
        except Undecided:
            assume(False)
        results = evaluate(gradient(built(recipe, [x, y, z]), [x, y, z]), dict(zip((x, y, z), at, strict=True)))
        size = 1 + max(abs(e) for e in expected)
        assert all(abs(r - e) < mpmath.mpf(10) ** -12 * size**3 for r, e in zip(results, expected, strict=True))


def _moved(point, i, step):
    return [p + step if k == i else p for k, p in enumerate(point)]


@pytest.mark.slow
@given(st.lists(recipes(exact_numbers, leaves=6), min_size=1, max_size=3), points)
@settings(max_examples=100, deadline=None)
def test_forward_reverse_and_sparse_agree(several, point):
    """Three sweeps, one derivative: columns by forward mode, rows by reverse mode, entries by the Jacobian."""
    try:
        outputs = [built(recipe, [x, y, z]) for recipe in several]
        rows = [gradient(output, [x, y, z]) for output in outputs]
    except TorseurError:
        assume(False)
    columns = [directional_derivative(outputs, {v: 1}) for v in (x, y, z)]
    sparse = dense_jacobian(outputs, [x, y, z])
    flat = [entry for matrix in (rows, zip(*columns, strict=True), sparse) for row in matrix for entry in row]
    with mpmath.workdps(60):
        at = {v: mpmath.mpf(p.numerator) / p.denominator for v, p in zip((x, y, z), point, strict=True)}
        try:
            for recipe in several:
                value(recipe, list(at.values()))
            numbers = evaluate(flat, at)
        except (Undecided, TorseurError):
            assume(False)
        n = len(outputs) * 3
        for first, second, third in zip(numbers[:n], numbers[n : 2 * n], numbers[2 * n :], strict=True):
            assert abs(first - second) <= mpmath.mpf(10) ** -40 * (1 + abs(first))
            assert abs(first - third) <= mpmath.mpf(10) ** -40 * (1 + abs(first))


def test_weights_sum_rows():
    outputs, weights = [x * y, x + z * z], [2, y]
    rows = dense_jacobian(outputs, [x, y, z])
    expected = [weights[0] * rows[0][j] + weights[1] * rows[1][j] for j in range(3)]
    at = {x: Fraction(2), y: Fraction(3), z: Fraction(5)}
    assert evaluate(weighted_gradient(outputs, weights, [x, y, z]), at) == evaluate(expected, at)


def test_jacobian_holds_only_what_is_not_zero():
    entries = jacobian([x * y, z, as_expr(3)], [x, y, z])
    assert entries == {(0, 0): y, (0, 1): x, (1, 2): ONE}


def test_repeated_and_intermediate_variables():
    inner = x * y
    assert jacobian([inner + z], [z, inner, z]) == {(0, 0): ONE, (0, 1): ONE, (0, 2): ONE}
    assert gradient(inner * inner + x, [inner, inner, x]) == [2 * inner, 2 * inner, ONE]
    assert gradient(inner, [inner]) == [ONE]
    assert directional_derivative([inner * 3], {inner: 2}) == [as_expr(6)]


def test_time_derivative_follows_rates_and_time():
    t, v = symbol("t"), symbol("v")
    assert time_derivative([x * x + t], {x: v}, t) == [2 * (x * v) + 1]
    assert time_derivative([x * x + t], {x: v}) == [2 * (x * v)]


def test_constants_and_jumps_have_no_derivative():
    assert gradient(scalar.floor(x) + scalar.sign(x) + (x < y) + 3, [x, y]) == [ZERO, ZERO]
    assert gradient(as_expr(5), [x]) == [ZERO]


def test_extrema_and_absolute_value_follow_the_chosen_side():
    at = {x: 2.0, y: 5.0}
    assert evaluate(gradient(scalar.minimum(x * x, y), [x, y]), at) == [4.0, 0.0]
    assert evaluate(gradient(scalar.maximum(x * x, y), [x, y]), at) == [0.0, 1.0]
    assert evaluate(gradient(abs(x - y), [x, y]), at) == [-1.0, 1.0]


SINC = scalar.where(abs(x) < Fraction(1, 10**6), 1 - x * x / 6, scalar.sin(x) / x)


@pytest.mark.parametrize("mode", ["forward", "reverse", "sparse"])
@pytest.mark.parametrize("number", [0.0, np.array([0.0, 0.0]), mpmath.mpf(0)])
def test_guarded_singularities_have_derivatives(mode, number):
    """sin(x)/x at 0: the derivative of the branch not taken is 0/0 and must not leak. Oracle: 1 - x²/6, slope 0."""
    outer = y * SINC + SINC * SINC
    slope = {
        "forward": lambda: directional_derivative([outer], {x: 1})[0],
        "reverse": lambda: gradient(outer, [x])[0],
        "sparse": lambda: jacobian([outer], [x])[0, 0],
    }[mode]()
    with np.errstate(all="ignore"):
        (result,) = evaluate([slope], {x: number, y: 3.0})
    assert np.all(np.asarray(result, dtype=float) == 0)


def test_functions_have_formal_derivatives():
    f = UndeterminedFunction("f", 2, "N")
    total = gradient(f(x * y, x), [x])[0]
    by_first, by_second = (node for node in (gradient(f(x, z), [x])[0], gradient(f(x, z), [z])[0]))
    assert (by_first.data.name, by_second.data.name) == ("f_1_0", "f_0_1")
    law = {"f": lambda a, b: a * a * b}
    (result,) = evaluate([total], {x: 2.0, y: 3.0}, law)
    # f(xy, x) = x³y², so df/dx = 3x²y².
    assert result == pytest.approx(3 * 4 * 9)


def test_mixed_derivatives_do_not_depend_on_order():
    f = UndeterminedFunction("f", 2)
    first = gradient(gradient(f(x, y), [x])[0], [y])[0]
    assert gradient(gradient(f(x, y), [y])[0], [x])[0] is first


def test_tables_have_exact_derivatives():
    """Oracle: SciPy's derivative of the same spline."""
    from scipy.interpolate import make_interp_spline

    at, heights = (0.0, 0.7, 1.5, 2.0, 3.1), (0.0, 1.0, 0.3, -1.0, 2.0)
    reference = make_interp_spline(at, heights, k=3)
    node = Table("cam", at, heights)(x)
    for order in range(5):
        (result,) = evaluate([node], {x: np.array([0.2, 1.1, 2.9])})
        assert result == pytest.approx(reference([0.2, 1.1, 2.9], nu=order), abs=1e-10)
        (node,) = gradient(node, [x])
    assert node is ZERO


def test_powers_with_constant_parts():
    assert gradient(x ** Fraction(1, 3), [x])[0] is Fraction(1, 3) * x ** Fraction(-2, 3)
    assert gradient(as_expr(2) ** x, [x])[0] is as_expr(2) ** x * scalar.log(as_expr(2))
