"""Expressions to SymPy and back, exactly in both directions."""

from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from algebra.graph.recipes import Undecided, built, exact_numbers, numbers, recipes, value
from torseur.algebra.graph import (
    OPERATIONS,
    PI,
    Table,
    UndeterminedFunction,
    as_expr,
    constant,
    evaluate,
    from_sympy,
    gradient,
    scalar,
    symbol,
    to_sympy,
)
from torseur.algebra.graph.construction.folding import build
from torseur.errors import TorseurError, UnsupportedError

x, y, z = (symbol(name) for name in "xyz")
X, Y, Z = sympy.symbols("x y z", real=True)
SYMBOLS = {"x": x, "y": y, "z": z}
FORCE = UndeterminedFunction("F", 2, "N", "tyre force")
CAM = Table("cam", (0, 1, 2, 3), (0, 1, 0, 2))


def there(node, **options):
    (written,) = to_sympy([node], **options)
    return written


def back(written):
    return from_sympy(written, SYMBOLS, {"F": FORCE})


@pytest.mark.parametrize("name", ["q1'", "q1''", "arm.mass", "θ", "lambda", "I", "E", "a b", "x_1"])
def test_names_survive(name):
    node = symbol(name, "m", "a length")
    written = there(node)
    assert written == sympy.Symbol(name, real=True)
    assert from_sympy(written, {name: node}) is node


@given(st.one_of(st.integers(), st.fractions(), st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_survive(number):
    node = constant(number)
    written = there(node)
    assert sympy.Rational(written) == sympy.Rational(Fraction(number))
    assert written.is_Float == isinstance(node.value, float)
    assert from_sympy(written, {}) is node


def test_numbers_of_sympy():
    assert from_sympy(sympy.pi, {}) is PI
    assert from_sympy(sympy.E, {}) is scalar.exp(as_expr(1))
    long = sympy.Float("0.1", 40)
    assert from_sympy(long, {}).value == Fraction(*sympy.Rational(long).as_numer_denom())
    assert from_sympy(sympy.Float("1e400", 15), {}).value > 10**399
    assert from_sympy(2, {}) is as_expr(2)
    assert from_sympy(0.1, {}) is as_expr(0.1)


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_survives(name):
    conditions = {"both": (x < y, y <= z), "invert": (x < y,), "where": (x < y, y, z)}
    node = build(name, conditions.get(name, (x, y, z)[: OPERATIONS[name].arity]))
    assert back(there(node)) is node


def test_every_operation_is_the_one_of_sympy():
    """Oracle: SymPy's own functions, called directly."""
    pairs = {
        x + y: X + Y,
        x - y: X - Y,
        x * y: X * Y,
        x / y: X / Y,
        -x: -X,
        x**3: X**3,
        x**y: X**Y,
        scalar.sqrt(x): sympy.sqrt(X),
        scalar.sin(x): sympy.sin(X),
        scalar.acos(x): sympy.acos(X),
        scalar.atan2(x, y): sympy.atan2(X, Y),
        scalar.tanh(x): sympy.tanh(X),
        scalar.exp(x): sympy.exp(X),
        scalar.log(x): sympy.log(X),
        abs(x): sympy.Abs(X),
        scalar.sign(x): sympy.sign(X),
        scalar.floor(x): sympy.floor(X),
        scalar.minimum(x, y): sympy.Min(X, Y),
        scalar.maximum(x, scalar.maximum(y, z)): sympy.Max(X, Y, Z),
        x < y: X < Y,
        x <= y: X <= Y,
        x > 0: X > 0,
        scalar.both(x < y, y < z): sympy.And(X < Y, Y < Z),
        scalar.where(x < y, x, z): sympy.Piecewise((X, X < Y), (Z, True)),
    }
    assert to_sympy(list(pairs)) == list(pairs.values())


SAME = {
    "x - y": x - y,
    "-(x + y)": -(x + y),
    "2 (x + y)": 2 * (x + y),
    "0.1 (x + y)": 0.1 * (x + y),
    "x y / 3": x * y / 3,
    "x / (y z)": x / (y * z),
    "1 / sqrt(x y)": 1 / scalar.sqrt(x * y),
    "0.1 x + 0.2 x": 0.1 * x + 0.2 * x,
    "1 / (0.1 x)": 1 / (0.1 * x),
    "sqrt(0.1 x)": scalar.sqrt(0.1 * x),
    "x^0.3": x**0.3,
    "0^x": as_expr(0) ** x,
    "sin(x)^2 sin(y)": scalar.sin(x) ** 2 * scalar.sin(y),
    "(1/2)^x": as_expr(Fraction(1, 2)) ** x,
    "(-2)^x": as_expr(-2) ** x,
    "(x y)^0.3": (x * y) ** 0.3,
    "sin(0.1 x - y)": scalar.sin(0.1 * x - y),
    "nested where": scalar.where(x < 0, x, scalar.where(y < z, y, z)),
    "where in a value": scalar.where(x < 0, scalar.where(y < z, y, z), 1),
    "where not": scalar.where(scalar.invert(scalar.both(x < 0, y < 0)), x, y),
    "F(x, y)": FORCE(x, y),
    "dF/dx": gradient(FORCE(x, y), [x])[0],
    "d²F/dxdy": gradient(gradient(FORCE(x, y), [x])[0], [y])[0],
    "d²F/dx² at 2x": gradient(gradient(FORCE(2 * x, y), [x])[0], [x])[0],
    "F with a repeated variable": gradient(FORCE(x, x), [x])[0],
    "F of a function": gradient(FORCE(FORCE(x, y), y), [x])[0],
    "cam(x)": CAM(x),
    "cam'(x y)": gradient(CAM(x * y), [x])[0],
}


@pytest.mark.parametrize("case", SAME)
def test_the_same_node_comes_back(case):
    assert back(there(SAME[case])) is SAME[case]


def test_floats_are_not_combined():
    """SymPy would write 0.1 x + 0.2 x as 0.3 x, and 1/(0.1 x) as 10/x: other numbers."""
    assert str(there(0.1 * x + 0.2 * x)) == "0.1*x + 0.2*x"
    assert there(x**0.1 * x**0.2) != X**0.3
    assert there(0.1 * (3 * (x + 1) - 3 * 1)).count(sympy.Float) == 1
    assert there(scalar.exp(0.1 * x) * scalar.exp(0.2 * x)) != sympy.exp(0.3 * X)


@pytest.mark.slow
@given(recipes(numbers), st.lists(st.fractions(-2, 2, max_denominator=40), min_size=3, max_size=3))
@settings(max_examples=200, deadline=None)
def test_round_trip_is_the_same_function(recipe, point):
    """Oracle: mpmath. Both graphs, and SymPy's own evaluation of the formula between them, have one value."""
    with mpmath.workdps(60):
        at = [mpmath.mpf(p.numerator) / p.denominator for p in point]
        try:
            value(recipe, at)
        except Undecided:
            assume(False)
        formula = built(recipe, [x, y, z])
        written = there(formula)
        bindings = dict(zip((x, y, z), at, strict=True))
        first, second = evaluate([formula, back(written)], bindings)
        assert abs(first - second) <= mpmath.mpf(10) ** -45 * (1 + abs(first))
        exact = {s: sympy.Rational(p.numerator, p.denominator) for s, p in zip((X, Y, Z), point, strict=True)}
        third = mpmath.mpf(str(sympy.N(_with_exact_floats(written).subs(exact), 40)))
        assert abs(first - third) <= mpmath.mpf(10) ** -25 * (1 + abs(first))


def _with_exact_floats(written):
    """SymPy rounds its floats to 15 digits when it evaluates; as fractions they keep their value."""
    return written.replace(lambda part: part.is_Float, sympy.Rational)


@pytest.mark.slow
@given(recipes(exact_numbers))
@settings(max_examples=200, deadline=None)
def test_sympy_comes_back_equal(recipe):
    """What has been through the graph once is in canonical form: from then on SymPy -> Expr -> SymPy is equality."""
    try:
        written = there(built(recipe, [x, y, z]))
    except TorseurError:
        assume(False)
    assert there(back(written)) == there(back(there(back(written))))


f = sympy.Function("F", real=True)
SYMPY = [
    X + Y + Z + sympy.sin(X + Y),
    -X - Y,
    3 * X**2 * Y / (7 * Z) - X / 2 + sympy.Rational(5, 3),
    sympy.Float(0.1) * X + sympy.Float(0.2) * Y + sympy.Float(0.3),
    sympy.factor(2 * X + 2 * Y),
    (X + Y) ** 2 * (X - Y) ** -3,
    (X**2 + 1) ** sympy.Rational(-3, 2),
    sympy.sqrt(X * Y) / sympy.sqrt(2) + sympy.sqrt(6) * X,
    1 / sympy.sqrt(X * Y),
    X ** sympy.Rational(1, 3) / Y ** sympy.Rational(2, 3),
    X**70 + X**Y + 2**X + X**0.3,
    sympy.exp(-X) * sympy.cosh(Y) + sympy.E * X + sympy.pi**2,
    sympy.log(X**2 + 1) - sympy.atan2(Y, X) + sympy.tan(X / 3),
    sympy.Max(X, Y, Z, 1) - sympy.Min(X, 2 * Y),
    sympy.Piecewise((X, X > 0), (Y**2, sympy.And(X < Y, Y <= Z)), (Z, True)),
    sympy.Piecewise((1, X < Y), (0, True)) * Z,
    sympy.Abs(X * Y) + sympy.sign(X) * sympy.floor(Y),
    f(X, Y).diff(X, 2, Y) + f(2 * X, Y).diff(X) + f(X, X).diff(X),
    sympy.cos(X) ** 2 * sympy.sin(Y) ** 2,
    sympy.And(X < Y, Y <= Z),
]


@pytest.mark.parametrize("formula", SYMPY, ids=range(len(SYMPY)))
def test_sympy_formulas_come_back_identical(formula):
    assert there(back(formula)) == formula


def test_own_functions_of_sympy_can_be_used():
    own = sympy.Function("F")
    assert there(FORCE(x, y) + 1, functions={"F": own}) == own(X, Y) + 1
    assert there(gradient(FORCE(x, 2 * y), [y])[0], functions={"F": own}) == own(X, 2 * Y).diff(Y)


def test_new_functions_are_made_by_name():
    node = from_sympy(sympy.Function("damping")(X), SYMBOLS)
    assert node is UndeterminedFunction("damping", 1)(x)


def test_derivatives_of_sympy_are_taken():
    assert from_sympy(sympy.Derivative(sympy.sin(X * Y), X), SYMBOLS) is y * scalar.cos(x * y)
    table = there(CAM(x))
    assert from_sympy(table.diff(X), SYMBOLS) is gradient(CAM(x), [x])[0]
    substituted = sympy.Subs(sympy.Derivative(f(X, Y), X), X, 3 * Z)
    assert back(substituted) is evaluate([gradient(FORCE(x, y), [x])[0]], {x: 3 * z})[0]


def test_logic_of_sympy():
    at = {x: 1.0, y: 2.0, z: 2.0}
    cases = {
        sympy.Eq(Y, Z): 1,
        sympy.Eq(X, Z): 0,
        sympy.Ne(X, Y): 1,
        sympy.Or(X > Y, Y >= Z): 1,
        sympy.Not(sympy.And(X < Y, Y < Z)): 1,
        sympy.true: 1,
        sympy.false: 0,
        sympy.ITE(X < Y, Y < Z, X < Z): 0,
    }
    for formula, expected in cases.items():
        assert float(evaluate([from_sympy(formula, SYMBOLS)], at)[0]) == expected


def test_conditions_count_as_numbers_and_numbers_as_conditions():
    at = {x: 1.0, y: 2.0, z: 3.0}
    for node in ((x < y) * z, scalar.where(x - 1, y, z), scalar.where(x, y, z) + (y < x)):
        assert evaluate([back(there(node))], at) == evaluate([node], at)


MISTAKES = {
    "unknown symbol 'w'. Symbols: x, y, z.": lambda: back(sympy.Symbol("w")),
    "SymPy's 'gamma' is not an operation of the graph": lambda: back(sympy.gamma(X)),
    "SymPy's 'ImaginaryUnit' is not": lambda: back(sympy.I * X),
    "must be a finite number, got SymPy's 'oo'": lambda: back(sympy.oo),
    "must be a finite number, got SymPy's 'nan'": lambda: back(sympy.nan),
    "a Piecewise without a last case": lambda: back(sympy.Piecewise((X, X > 0))),
    "two symbols are named 'm'": lambda: to_sympy([symbol("m", "kg") + symbol("m", "g")]),
    "function 'F' takes 2 arguments, got 1": lambda: back(f(X)),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_are_named(message):
    with pytest.raises(TorseurError) as caught:
        MISTAKES[message]()
    assert message in str(caught.value)


def test_what_the_graph_lacks_is_an_unsupported_operation():
    with pytest.raises(UnsupportedError):
        back(sympy.gamma(X))


def test_shared_parts_stay_shared():
    """60 doublings: as a tree it would have 2^60 leaves."""
    node = x
    for _ in range(60):
        node = scalar.sin(node) * scalar.cos(node) + y
    written = there(node)
    assert back(written) is node
    parts = written.args[1].args if written.args[0] == Y else written.args[0].args
    assert parts[0].args[0] is parts[1].args[0]


DEEP = {
    "sin": lambda node: scalar.sin(node),
    "quotient": lambda node: x / (node + y),
    "choice": lambda node: scalar.where(node < y, node, z),
    "otherwise": lambda node: scalar.where(y < z, x, scalar.where(node < x, node, z)),
    "extremum": lambda node: abs(scalar.maximum(node, y)) + x,
}


def test_products_of_roots_are_collected():
    """Oracle: SymPy's own product."""
    root = scalar.sqrt(x * y)
    assert there(scalar.sqrt(x) * scalar.sqrt(x)) == sympy.sqrt(X) * sympy.sqrt(X)
    assert there(root * (root * x)) == sympy.sqrt(X * Y) * sympy.sqrt(X * Y) * X
    assert there(z * x / (x * z)) == 1
    assert there(scalar.sqrt(as_expr(2)) * (scalar.sqrt(as_expr(6)) * x)) == 2 * sympy.sqrt(3) * X


def test_deep_factors_of_one_kind():
    left, right = x, y
    for _ in range(2000):
        left, right = scalar.sin(left), scalar.sin(right)
    node = left * right + scalar.cos(left) * scalar.cos(right) - left
    at = {x: 0.5, y: 0.25}
    assert evaluate([back(there(node))], at) == pytest.approx(evaluate([node], at), rel=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("case", DEEP)
def test_depth_has_no_limit(case):
    node = x
    for _ in range(3000):
        node = DEEP[case](node)
    assert back(there(node)) is node


def test_one_expression_is_one_expression():
    x = symbol("x")
    assert to_sympy(x) == to_sympy([x])[0]
    assert to_sympy(2 * x + 1) == 2 * to_sympy(x) + 1
    assert to_sympy(3) == 3
    with pytest.raises(TorseurError, match="an expression or a list"):
        to_sympy(object())
