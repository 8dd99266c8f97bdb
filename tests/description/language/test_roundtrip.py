"""Mechanism to text to Mechanism is the identity."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strategies import mechanisms
from torseur.algebra.graph import PI, Expr, Table, UndeterminedFunction, as_expr, scalar, symbol
from torseur.description.language import parse, to_text
from torseur.description.mechanism import (
    EARTH,
    TIME,
    Coordinate,
    Frame,
    Mechanism,
    Parameter,
    body,
    force,
    free,
    motor,
    parameter,
    revolute,
)
from torseur.errors import TorseurError, UnsupportedError

SLOW_DRAWS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
PROJECT = Path(__file__).resolve().parents[3]


@pytest.mark.slow
@given(mechanisms())
@settings(max_examples=60, deadline=None, suppress_health_check=SLOW_DRAWS)
def test_random_mechanisms_read_back(mechanism):
    assert parse(to_text(mechanism)) == mechanism


@pytest.mark.slow
@given(mechanisms(everything=True, max_bodies=3))
@settings(max_examples=40, deadline=None, suppress_health_check=SLOW_DRAWS)
def test_random_descriptions_read_back(mechanism):
    assert parse(to_text(mechanism)) == mechanism


VALUES = [
    "pi/10", "3*pi/7", "-pi/10", "0.3*pi", "2*pi", "pi^2", "0.1 + pi", "1e-3*pi", "sqrt(2)*pi", "sin(1)", "exp(2)/3", "1/3",
    "30 deg", "0.1 deg", "pi/10 in rad", "10 deg + pi/10", "7 deg * 3", "2*pi * 3 rad/s", "pi * 1 m", "1/3 * 1 m",
    "pi/10 * 1 mm in mm", "k/3", "k*pi/10", "2*pi*sqrt(k / 3 N/m)", "atan2(k, 2 N/m)", "where(k < 1 N/m, 1, 2) * 3 kg",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
def test_formulas_of_parameters_read_back(value):
    """Value and unit of a parameter are the same after writing, whatever formula gave them."""
    text = f"""param k = 2 N/m, a = {value} ; let b = body mass = 1 kg, inertia = 0 end ;
    join earth and b.frame with revolute(q) stiffness = 1 N*m end ;"""
    mechanism = parse(text)
    assert parse(to_text(mechanism)).parameters == mechanism.parameters


# Formulas: any expression of the graph, with units that fit or not, in the place of a force.

Q = Coordinate("q", "rad")
LEAVES = [
    parameter("m", 2, "kg").symbol, parameter("l", 3, "mm").symbol, parameter("n", 3).symbol, TIME, Q.symbol, Q.rate, PI,
]  # fmt: skip
F = UndeterminedFunction("f", 2, "N")
G = UndeterminedFunction("g", 1)
CAM = Table("cam", (0.0, 1.0, 2.0, 3.0), (0.0, 1.0, -0.0, 2.0), unit="m")
ONE = ("sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "exp", "absolute", "sign", "floor")


def numbers() -> st.SearchStrategy[Expr]:
    fractions = st.fractions(-20, 20, max_denominator=1000)
    floats = st.floats(-100, 100).filter(lambda v: abs(v) > 1e-3)
    return (st.integers(-100, 100) | fractions | floats).map(as_expr)


def _larger(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    two = st.tuples(inner, inner)
    return st.one_of(
        two.map(lambda p: p[0] + p[1]), two.map(lambda p: p[0] - p[1]), two.map(lambda p: p[0] * p[1]),
        two.filter(lambda p: not p[1].is_zero).map(lambda p: p[0] / p[1]), inner.map(lambda e: -e),
        st.tuples(inner, st.integers(2, 3)).map(lambda p: p[0] ** p[1]),
        st.tuples(st.sampled_from(LEAVES), st.sampled_from([Fraction(1, 3), 0.3, Fraction(5, 2)])).map(lambda p: p[0] ** p[1]),
        st.tuples(st.sampled_from(ONE), inner).map(lambda p: as_expr(getattr(scalar, p[0])(p[1]))),
        inner.map(lambda e: scalar.sqrt(e * e + 1)), two.map(lambda p: as_expr(scalar.atan2(*p))),
        two.map(lambda p: as_expr(scalar.minimum(*p))), two.map(lambda p: as_expr(scalar.maximum(*p))),
        st.tuples(inner, inner, inner).map(lambda p: as_expr(scalar.where(p[0] < p[1], p[1], p[2]))),
        two.map(lambda p: as_expr(scalar.both(p[0] <= p[1], scalar.invert(p[1] < p[0])))),
        two.map(lambda p: F(*p)), inner.map(G), inner.map(CAM),
    )  # fmt: skip


EXPRESSIONS = st.recursive(st.sampled_from(LEAVES) | numbers(), _larger, max_leaves=12)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=250, deadline=None, suppress_health_check=SLOW_DRAWS)
def test_formulas_read_back_to_the_same_node(data):
    try:
        formula = data.draw(EXPRESSIONS)
    except (ArithmeticError, TorseurError):
        return
    parameters = [parameter("m", 2, "kg"), parameter("l", 3, "mm"), parameter("n", 3)]
    b = body("b", mass=1, centre=(0, 0, 0), inertia=0)
    push = force("push", b, (formula, 0, 0))
    mechanism = Mechanism("m", bodies=[b], joints=[revolute("j", EARTH, b, Q)], parameters=parameters, loads=[push])
    try:
        text = to_text(mechanism)
    except UnsupportedError as refusal:
        assert "has no value" in str(refusal) or "too large" in str(refusal), text_of(formula)
        return
    assert parse(text) == mechanism


def text_of(formula: Expr) -> str:
    return repr(formula)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["kg", "g", "lb", "t"]))
@settings(deadline=None)
def test_a_parameter_keeps_every_bit_in_every_unit(value, unit):
    try:
        p = parameter("p", value, unit)
    except OverflowError:
        return
    mechanism = Mechanism("m", parameters=[p])
    assert parse(to_text(mechanism)) == mechanism


@given(st.floats(-1e6, 1e6), st.sampled_from(["deg", "rad", "rev"]))
@settings(deadline=None)
def test_an_angle_keeps_every_bit(value, unit):
    for p in (parameter("p", value, unit), Parameter(symbol("p", "rad"), as_expr(value), unit)):
        mechanism = Mechanism("m", parameters=[p])
        assert parse(to_text(mechanism)) == mechanism


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="`\n'"), min_size=1, max_size=20)


@pytest.mark.slow
@settings(deadline=None)
@given(NAMES.filter(lambda n: n not in ("earth", "t", "pi")), st.text(max_size=30))
def test_any_name_and_any_meaning(name, meaning):
    b = body(name, mass=parameter(f"{name}.m", 3, "kg", meaning), meaning=meaning)
    q = Coordinate(name, "rad", meaning)
    mechanism = Mechanism(
        name, bodies=[b], joints=[revolute(name, EARTH, b, q)], parameters=[parameter(f"{name}.m", 3, "kg", meaning)],
        loads=[motor(name, name, name, -q.rate * 2)], meaning=meaning, initial={name: 1, f"{name}'": 2},
    )  # fmt: skip
    assert parse(to_text(mechanism)) == mechanism


def test_words_of_the_language_as_names():
    for word in ("end", "body", "joint", "distance", "rolling", "in", "speeds", "force", "frame", "t", "pi"):
        b = body(word, mass=1)
        q = Coordinate(f"{word}.q", "rad")
        mechanism = Mechanism(
            word, bodies=[b], joints=[revolute(word, EARTH, b, q)], loads=[motor(word, word, q.name, q.symbol)]
        )
        assert parse(to_text(mechanism)) == mechanism


def test_what_cannot_be_written_is_refused():
    b = body("b", mass=1)
    joint = revolute("j", EARTH, b, "q")
    undeclared = Mechanism("m", bodies=[b], joints=[joint], loads=[force("f", b, (symbol("nobody", "N"), 0, 0))])
    with pytest.raises(UnsupportedError, match=r"'nobody' .*not declared"):
        to_text(undeclared)
    big = symbol("q", "rad")
    for _ in range(40):
        big = scalar.sin(big) + big * big
    with pytest.raises(UnsupportedError, match="too large"):
        to_text(Mechanism("m", bodies=[b], joints=[joint], loads=[motor("f", "j", "q", big)]))
    with pytest.raises(UnsupportedError, match="backquote"):
        to_text(Mechanism("a`b"))


@pytest.mark.slow
def test_long_sums_are_written_flat():
    b = body("b", mass=1)
    q = Coordinate("q", "rad")
    total = as_expr(0)
    for n in range(1500):
        total = total + scalar.sin(n * q.symbol)
    mechanism = Mechanism("m", bodies=[b], joints=[revolute("j", EARTH, b, q)], loads=[motor("f", "j", "q", total)])
    assert parse(to_text(mechanism)) == mechanism


@pytest.mark.slow
def test_text_does_not_depend_on_what_was_computed_before():
    """The same description is printed the same in two processes whose expressions were made in opposite orders."""
    program = """
import sys
from torseur.algebra.graph import symbol
from torseur.description.language import parse, to_text
names = [("m1", "kg", ""), ("r", "m", ""), ("g", "m/s^2", "gravity"), ("q", "rad", "")]
made = [symbol(*name) for name in (names if sys.argv[1] == "forward" else reversed(names))]
text = '''param m1 = 4 kg, r = 2 m, g = 9.81 m/s^2 "gravity" ;
let b = body mass = m1, centre = [0, -r, 0], inertia = diag(m1*r^2, r*m1*r, 0) end ;
join earth and b.frame with revolute(q) torque = m1*g*r*sin(q) + r*g*m1*(1 - q) end ;'''
print(to_text(parse(text)))
"""
    texts = []
    for order in ("forward", "backward"):
        environment = {**os.environ, "PYTHONPATH": str(PROJECT / "src")}
        run = subprocess.run([sys.executable, "-c", program, order], capture_output=True, text=True, env=environment)
        assert run.returncode == 0, run.stderr
        texts.append(run.stdout)
    assert texts[0] == texts[1]


def test_quaternions_body_speeds_and_sides_survive():
    b, c = body("b", mass=1), body("c", mass=1)
    joints = [
        free("base", EARTH, b, *"xyzabc", angles="zyx", speeds="body"),
        revolute("back", c, EARTH, "q"),
        free("other", Frame("b"), c, "x2", "y2", "z2", "e0", "e1", "e2", "e3", angles="quaternion"),
    ]
    mechanism = Mechanism("m", bodies=[b, c], joints=joints, initial={"base.vx": 2, "other.wz": 1})
    text = to_text(mechanism)
    assert "speeds in b" in text and "join c.frame to earth" in text and "angles quaternion" in text
    assert parse(text) == mechanism
