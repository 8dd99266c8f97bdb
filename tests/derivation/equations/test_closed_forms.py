"""Motions in closed form of several coordinates and of states, put into the equations that they solve."""

from __future__ import annotations

import pytest
import sympy

import torseur as ts

MASSES = """mechanism two ; param m = 1 kg, k = 4 N/m ; gravity = [3, 0, 0] ;
let a = body mass = m end ; let b = body mass = m end ;
join earth and a.frame as ja with prismatic(x) along [1, 0, 0] stiffness = k end ;
join a.frame and b.frame as jb with prismatic(y) along [1, 0, 0] stiffness = k end ;"""
TANKS = """mechanism tanks ; param a = 2, T = 1 s ; state x = 1, y = 0.5 ;
equation a*x' + y' = -x/T ; equation x' - y' = y/T ;"""


def solved(text):
    found = ts.solve_motion(ts.derive(ts.parse(text)))
    numbers = {"m": 1.3, "k": 4.1, "a": 4.7, "T": 0.9, "C1": 0.3, "C2": -0.2, "C3": 0.7, "C4": 0.1}
    t = sympy.Symbol("t")

    def at(formula, order):
        derived = sympy.diff(formula, t, order)
        return complex(derived.subs({s: numbers[s.name] for s in derived.free_symbols if s != t}).subs(t, 0.4).evalf())

    return {str(one.lhs.func): [at(one.rhs, order) for order in range(3)] for one in found}, numbers


@pytest.mark.slow
def test_two_masses_on_springs():
    """2 m x'' + m y'' + k x = 2 m g and m (x'' + y'') + k y = m g."""
    motion, given = solved(MASSES)
    (x, _, xdd), (y, _, ydd) = motion["x"], motion["y"]
    m, k = given["m"], given["k"]
    assert abs(2 * m * xdd + m * ydd + k * x - 6 * m) < 1e-9
    assert abs(m * (xdd + ydd) + k * y - 3 * m) < 1e-9


def test_coupled_states():
    motion, given = solved(TANKS)
    (x, xd, _), (y, yd, _) = motion["x"], motion["y"]
    assert abs(given["a"] * xd + yd + x / given["T"]) < 1e-12 and abs(xd - yd - y / given["T"]) < 1e-12


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TANKS.replace("-x/T", "-x^2/T"), "not linear with constant coefficients"),
        (TANKS.replace("-x/T", "-x/T + t/T^2"), "driven by time"),
        ("state x = 1, y = 1 ; equation x' = y/1 s ; equation y' = 0 ;", "coincide"),
    ],
)
def test_what_has_no_closed_form_is_refused(text, words):
    with pytest.raises(ts.UnsupportedError, match=words):
        ts.solve_motion(ts.derive(ts.parse(text)))
