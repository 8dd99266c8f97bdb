"""Statements of states beyond mechanics: what they mean, that they are written back, and what is refused."""

from __future__ import annotations

import pytest

import torseur as ts

TEXT = """
param R = 2 ohm, tau = 0.1 s ;
let b = body mass = 1 kg, centre = 0, inertia = 0 end ;
join earth and b.frame as j with prismatic(x) along [1,0,0] force = z - (3 N/m)*x + tau*z' end ;
state z = 20 mN "push", z' = (2 N*sin(t/1 s) - z)/tau ;
state p = 1 bar, p' = -p/tau + (1e5 Pa/m)*x' ;
state u = 1, v = 2 ;
equation u' - 2*v' = v/1 s ;
equation v' + x*u'/1 m = -u/1 s ;
"""


def test_states_say_their_values_units_and_rates():
    mechanism = ts.parse(TEXT)
    z, p, u, v = mechanism.states
    assert (z.name, z.unit, z.meaning) == ("z", "N", "push")
    assert (p.unit, u.unit, u.formula, v.formula) == ("Pa", "1", None, None)
    start = {name: float(value) for name, value in mechanism.initial}
    assert start == pytest.approx({"z": 0.02, "p": 1e5, "u": 1, "v": 2})
    assert len(mechanism.state_equations) == 2


def test_states_are_written_back():
    mechanism = ts.parse(TEXT)
    text = ts.to_text(mechanism)
    assert ts.parse(text) == mechanism
    assert "state p = 1" in text.replace("100000 Pa", "1 bar")


def test_python_and_text_say_the_same():
    current = ts.State("i", "A", "current")
    voltage, inductance = ts.parameter("U", 12, "V"), ts.parameter("L", 0.5, "H")
    states = {current: voltage / inductance}
    made = ts.Mechanism("coil", parameters=[voltage, inductance], states=states, initial={"i": 2})
    assert made == ts.parse('mechanism coil ; param U = 12 V, L = 0.5 H ; state i = 2 A "current", i\' = U/L ;')


BODY = "let b = body mass = 1 kg, centre = 0, inertia = 0 end ; join earth and b.frame as j with prismatic(q) along [1,0,0] end ;"


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("state x = 1 ;", "1:7", "state 'x': 1 state without a formula"),
        ("state x = 1, x' = y ;", "1:19", "unknown name 'y'"),
        ("state x = 1, x' = x' ;", "1:19", "not on the rate of a state 'x''"),
        ("state x = 1, x = 2, x' = 1/1 s ;", "1:14", "the initial value of state 'x' is given twice"),
        ("state x = 1 m, x' = 2 kg ;", "1:21", "expected a speed, got 2 kg"),
        ("state x'' = 1 ;", "1:7", "a first rate only"),
        ("state t = 1, t' = 1/1 s ;", "1:7", "that is time"),
        ("state x = 1, x' = 1/1 s ; equation x' = 2/1 s ;", "1:7", "no state is left without a formula"),
        ("state x = 1, x' = 1/1 s ; param x = 2 ;", "1:7", "'x' is defined twice"),
        ("state x = 1, x' = 1/1 s ; init x = 3 ;", "1:32", "is given twice"),
        ("state a = 1 m, a' = 0 ; constrain q = a ;" + BODY, "1:39", "not on the state 'a'"),
        ("state a = 1 m, a' = 0 ; let f = [a,0,0] @ b ;" + BODY, "1:", "not on the state 'a'"),
        ("state x = 1 m, y = 2 s ; equation x' = 1 m/s ; equation y' = x' ;", "1:48", "the two sides differ"),
    ],
)
def test_mistakes_are_named_where_they_stand(text, where, words):
    with pytest.raises(ts.TorseurError) as caught:
        ts.parse(text)
    assert words in str(caught.value)
    assert f"<text>:{where}" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("state x = 1, y = 1 ; equation x' = 1/1 s ; equation x' = 2/1 s ;", "do not determine y:"),
        ("state x = 1, y = 2 ; equation x'*y' = 1/1 s^2 ; equation x' = 1/1 s ;", "x' must occur linearly"),
        ("state x = 1, y = 2 ; equation x' + y' = 1/1 s ; equation 2*x' + 2*y' = 1/1 s ;", "singular"),
    ],
)
def test_equations_that_determine_no_rates_are_refused(text, words):
    with pytest.raises(ts.TorseurError, match=words.replace("*", r"\*")):
        ts.derive(ts.parse(text))
