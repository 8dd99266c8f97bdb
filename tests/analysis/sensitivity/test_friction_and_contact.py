"""Derivatives through friction and contact, against derivatives of closed forms by mpmath."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import diff, mp, sqrt

import torseur as ts
from torseur.errors import TorseurError, UnsupportedError

CART = """mechanism cart ; param F = 4.4 N, v0 = 2 m/s, k = 30 N/m ;
let block = body mass = 2 kg, centre = 0, inertia = 0 end ;
join earth and block.frame as rail with prismatic(x) along [1,0,0] stiffness = k, friction = F end ;
init x' = v0 ;"""

BALL = """mechanism ball ; param mu = 0.2, e = 0.5, v0 = 3 m/s, h = 0.3 m ;
gravity = [0, -9.81 m/s^2, 0] ;
let ball = body mass = 2 kg, centre = 0, inertia = diag(0.008, 0.008, 0.008) kg*m^2 end ;
join earth and ball.frame as flight with planar(x, y, q) end ;
contact ball.sphere radius 10 cm with earth normal [0,1,0] friction mu, restitution e as floor ;
init y = h, x' = v0 ;"""


def gradient_of(formula, *values):
    """Derivatives of a closed form, with more digits than are asked for."""
    with mp.workdps(30):
        units = np.eye(len(values), dtype=int).tolist()
        return [float(diff(formula, values, n=tuple(unit))) for unit in units]


def rest_of_cart(force, v0, k):
    """Where it comes to rest after it has turned around twice: each half period moves the centre by F/k."""
    first = sqrt((force / k) ** 2 + 2 * v0**2 / k) - force / k
    return 2 * force / k - first


def place_of_ball(mu, e, v0, h):
    """After one impact, in which it slides: the impulse of friction is mu (1 + e) m w."""
    fall = sqrt(2 * (h - 0.1) / mp.mpf("9.81"))
    return v0 * mp.mpf("0.4") - mu * (1 + e) * mp.mpf("9.81") * fall * (mp.mpf("0.4") - fall)


@pytest.mark.parametrize(
    ("text", "until", "names", "formula", "values"),
    [
        (CART, 3.0, "F,v0,k", rest_of_cart, (4.4, 2, 30)),
        (BALL, 0.4, "mu,e,v0,h", place_of_ball, (0.2, 0.5, 3, 0.3)),
        # Without restitution the ball slides from the first impact on, until it rolls with 5/7 of its speed.
        (BALL.replace("e = 0.5", "e = 0"), 1.5, "v0", None, (5 / 7,)),
    ],
)
def test_derivatives_go_through_friction(text, until, names, formula, values):
    mechanism = ts.parse(text)
    criterion = "x" if formula is not None else "x'"
    found = ts.sensitivity(mechanism, criterion, names, until=until, verify=False, backend="python")
    expected = gradient_of(formula, *values) if formula is not None else list(values)
    assert found[criterion].gradient == pytest.approx(expected, rel=1e-6)


def test_breakaway_depends_on_what_holds():
    """Oracle: a load c t breaks away at B/c; from there on m x'' = c t - F, integrated twice."""
    text = """mechanism push ; param F = 2 N, B = 3 N, c = 4 N/s ;
    let block = body mass = 2 kg, centre = 0, inertia = 0 end ;
    join earth and block.frame as rail with prismatic(x) along [1,0,0] force = c*t, friction = F, breakaway = B end ;"""

    def place(force, breakaway, c):
        t, begin = mp.mpf(1), breakaway / c
        return (c * ((t**3 - begin**3) / 6 - begin**2 / 2 * (t - begin)) - force * (t - begin) ** 2 / 2) / 2

    found = ts.sensitivity(ts.parse(text), "x", "F,B,c", until=1, verify=False, backend="python")
    assert found["x"].gradient == pytest.approx(gradient_of(place, 2, 3, 4), rel=1e-8)


def test_what_is_not_followed_is_said():
    cart = ts.parse(CART)
    with pytest.raises(UnsupportedError, match=r"'rail\.friction'.*method='direct'"):
        ts.sensitivity(cart, "x", "F", until=1, method="adjoint")
    with pytest.raises(UnsupportedError, match=r"'rail\.friction': second derivatives"):
        ts.sensitivity(cart, "x", "F", until=1, second_order=True)
    with pytest.raises(UnsupportedError, match="rests on contacts"):
        ts.sensitivity(cart, "x", "F", until=1, from_equilibrium=True)
    recording = ts.identification.Recording(np.array([0.0, 1.0]), {"x": np.array([0.0, 0.1])})
    with pytest.raises(UnsupportedError, match="gauss_newton"):
        ts.fit_motion(cart, [recording], {"F": 3.0}, method="adjoint")
    jumping = ts.parse("mechanism m ; state u = 0 ; every 0.1 s: u = u + 1 as count ;")
    with pytest.raises(TorseurError, match=r"updates of states \('count'\)"):
        ts.sensitivity(jumping, "u", "u(0)", until=1)
