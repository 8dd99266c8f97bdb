"""Formulas: names, order, signs, fractions; every name stays text."""

from __future__ import annotations

from fractions import Fraction
from xml.etree import ElementTree

import pytest
import sympy as sm
from hypothesis import given
from hypothesis import strategies as st

from presentation.report.samples import from_sympy
from torseur.errors import UnsupportedError
from torseur.presentation.typesetting.formula import Formula, formula, name_formula, verify
from torseur.presentation.typesetting.formula_tree import Call, Name, Number, Power, Product, Sum
from torseur.presentation.typesetting.mathml import mathml
from torseur.presentation.typesetting.symbols import Symbol, symbol

t = sm.Symbol("t")
q1 = sm.Function("q1")(t)
m, g, length, x, y = sm.symbols("m g l x y")
HOSTILE = "</math><script>alert(1)</script>"


def texts(markup: str) -> str:
    """What one reads, spaces and invisible operators left out."""
    whole = "".join(ElementTree.fromstring(f"<math>{markup}</math>").itertext())
    return whole.replace("\u2061", "")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("q1", Symbol("q", ("1",))),
        ("m_arm", Symbol("m", ("arm",))),
        ("theta", Symbol("θ")),
        ("theta_2", Symbol("θ", ("2",))),
        ("Omega", Symbol("Ω")),
        ("omega_x", Symbol("ω", ("x",))),
        ("arm.mass", Symbol("m", ("arm",))),
        ("left_arm.mass", Symbol("m", ("left\u2009arm",))),
        ("arm.inertia.xx", Symbol("I", ("arm", "xx"))),
        ("Ixx", Symbol("I", ("xx",))),
        ("vx", Symbol("v", ("x",))),
        ("speed", Symbol("speed")),
        ("k_1_2", Symbol("k", ("1", "2"))),
        ("_", Symbol("_")),
        ("épaule", Symbol("épaule")),
    ],
)
def test_names_become_letters_with_subscripts(name: str, expected: Symbol) -> None:
    assert symbol(name) == expected


def test_derivatives_carry_dots() -> None:
    assert "˙" in name_formula("q1", dots=1).mathml
    assert "¨" in from_sympy(q1.diff(t, 2)).mathml
    assert from_sympy(q1.diff(t, 2)).words == "q 1 double dot"
    assert from_sympy(sm.Symbol("q1''")) == name_formula("q1", dots=2)


def test_a_square_stands_above_the_subscript() -> None:
    squared = from_sympy(q1.diff(t) ** 2).mathml
    assert squared.startswith("<msubsup>")


def test_factors_come_in_the_engineer_s_order() -> None:
    assert texts(from_sympy(sm.sin(q1) * length * g * m).mathml) == "mgℓsinq1"


def test_accelerations_come_first_in_a_sum() -> None:
    shown = texts(from_sympy(m * g + q1.diff(t) ** 2 * m + m * q1.diff(t, 2)).mathml)
    assert shown.index("¨") < shown.index("˙") < shown.index("g")


def test_the_sign_of_a_term_stands_apart() -> None:
    negative = from_sympy(-m * g)
    assert negative.negative
    assert texts(negative.markup(leading=False)) == "−mg"
    assert texts(from_sympy(m).markup(leading=False)) == "+m"
    assert texts(from_sympy(m).markup()) == "m"


def test_fractions_gather_denominators() -> None:
    markup = from_sympy(m * x / (3 * y)).mathml
    root = ElementTree.fromstring(markup)
    assert root.tag == "mfrac"
    assert ["".join(part.itertext()) for part in root] == ["mx", "3y"]


def test_minus_inside_a_function_stays() -> None:
    assert texts(mathml(Call("sin", (Product((Number(Fraction(-2)), Name("x"))),)))) == "sin(−2x)"


def test_roots_absolute_values_and_exponentials() -> None:
    assert "<msqrt>" in from_sympy(sm.sqrt(x + y)).mathml
    assert texts(from_sympy(sm.Abs(x)).mathml) == "|x|"
    assert texts(from_sympy(sm.exp(x)).mathml) == "ex"


def test_undetermined_functions_keep_their_arguments() -> None:
    assert texts(from_sympy(sm.Function("f")(x, y)).mathml) == "f(x,y)"
    assert texts(from_sympy(sm.Function("tau")(x)).mathml) == "τ(x)"  # τ x would be a product


def test_small_numbers_are_scientific() -> None:
    assert texts(mathml(Number(1.5e-9))) == "1.5×10−9"


@pytest.mark.parametrize("place", ["{}", "q_{}", "{}.mass", "arm.{}", "{}1"])
def test_a_hostile_name_stays_text(place: str) -> None:
    shown = name_formula(place.format(HOSTILE))
    assert "<script" not in shown.mathml
    assert "script" in texts(shown.mathml)


@pytest.mark.parametrize("markup", ["<script/>", '<mi onclick="x">a</mi>', '<mi href="x">a</mi>', "<mi>"])
def test_only_presentation_mathml_passes(markup: str) -> None:
    with pytest.raises((ValueError, ElementTree.ParseError)):
        Formula(markup, "", "")


def test_what_cannot_be_typeset_is_said() -> None:
    with pytest.raises(UnsupportedError, match="Matrix"):
        from_sympy(sm.Matrix([[1, 2], [3, 4]]))


names = st.sampled_from(["a", "b", "q1", "theta", "arm.mass"]).map(Name)
numbers = st.fractions(min_value=-9, max_value=9, max_denominator=9).map(Number)
expressions = st.recursive(
    names | numbers,
    lambda inner: (
        st.lists(inner, min_size=2, max_size=3).map(lambda terms: Sum(tuple(terms)))
        | st.lists(inner, min_size=2, max_size=3).map(lambda factors: Product(tuple(factors)))
        | st.tuples(inner, st.integers(1, 3)).map(lambda p: Power(p[0], Number(Fraction(p[1]))))
        | inner.map(lambda argument: Call("sin", (argument,)))
    ),
    max_leaves=8,
)


def value(node: object) -> sm.Expr:
    """The tree as SymPy would compute it."""
    match node:
        case Number(value=number):
            return sm.Rational(number.numerator, number.denominator)
        case Name(text=text):
            return sm.Symbol(text.replace(".", "_"))
        case Sum(terms=terms):
            return sum(map(value, terms), sm.Integer(0))
        case Product(factors=factors):
            return sm.prod(map(value, factors))
        case Power(base=base, exponent=exponent):
            return value(base) ** value(exponent)
        case Call(arguments=arguments):
            return sm.sin(value(arguments[0]))
    raise TypeError(node)


@given(expressions)
def test_every_tree_gives_safe_mathml_and_text_that_reads_back(
    node: Number | Name | Sum | Product | Power | Call,
) -> None:
    """Oracle: SymPy reads the plain text and finds the same value."""
    shown = formula(node)
    verify(shown.markup())
    read = sm.sympify(shown.write().replace("^", "**").replace(".", "_"))
    assert sm.simplify(read - value(node)) == 0
