"""Responses of formulas to any input against transfer functions written by hand."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts

W = np.array([1.0, 7.0, 30.0, 100.0])
MS, MU, KS, CS, KT = 300.0, 40.0, 20e3, 1500.0, 200e3
QUARTER = """
param ms = 300 kg, mu = 40 kg, ks = 20 kN/m, cs = 1500 N*s/m, kt = 200 kN/m, road = 0 m, act = 0 N ;
gravity = [0, 0, -9.81] ;
let body = body mass = ms, centre = 0, inertia = 0 end ;
let wheel = body mass = mu, centre = 0, inertia = 0 end ;
join earth and wheel with prismatic(zu) along [0, 0, 1] end ;
join earth and body with prismatic(zs) along [0, 0, 1] end ;
law tyre(d in m) = kt*d ;
apply force [0, 0, tyre(road - zu)] on wheel as contact ;
apply force [0, 0, -ks*(zs - zu) - cs*(zs' - zu') + act] on body as strut ;
apply force [0, 0, ks*(zs - zu) + cs*(zs' - zu') - act] on wheel as reaction ;
"""


def quarter(force):
    """(zs, zu) per unit of the generalised forces."""
    found = []
    for s in 1j * W:
        coupling = -(CS * s + KS)
        stiffness = [[MS * s * s + CS * s + KS, coupling], [coupling, MU * s * s + CS * s + KS + KT]]
        found.append(np.linalg.solve(np.array(stiffness), force))
    return np.array(found).T


@pytest.mark.parametrize(
    ("given", "output", "expected"),
    [
        ("road", "body.acceleration.z", lambda: quarter([0, KT])[0] * (1j * W) ** 2),
        ("tyre", "zs - zu", lambda: -np.subtract(*quarter([0, 1])[::-1])),
        ("act", "zs", lambda: quarter([1, -1])[0]),
        ("zs", "zu", lambda: quarter([1, 0])[1]),
    ],
)
def test_quarter_car(given, output, expected):
    found = ts.input_motions(ts.parse(QUARTER), given, rest=True).response(output, W)
    np.testing.assert_allclose(found.values, expected(), rtol=1e-11)


def test_an_input_that_moves_a_joint_acts_by_its_acceleration():
    """Oracle: the pendulum under a pivot that is shaken, x = u - l θ with l θ'' + c θ'/(m l) + g θ = u''."""
    text = """
    param a = 0 m ; gravity = [0, -9.81, 0] ;
    let slide = body mass = 1 kg, centre = 0, inertia = 0 end ;
    let bob = body mass = 1 kg, centre = [0, -1, 0] m, inertia = 0 end ;
    join earth and slide with link() dof = a along [1, 0, 0] end ;
    join slide and bob with revolute(q) about [0, 0, 1] damping = 0.3 N*m*s end ;
    """
    found = ts.input_motions(ts.parse(text), "a").response("bob.iframe.position.x", W)
    s = 1j * W
    np.testing.assert_allclose(found.values, 1 - s * s / (s * s + 0.3 * s + 9.81), rtol=1e-10)


@pytest.mark.parametrize(
    ("given", "words"), [("ms", "'ms' cannot be an input: body 'body': the mass"), ("roda", "road")]
)
def test_what_cannot_be_an_input(given, words):
    with pytest.raises(ts.TorseurError, match=words):
        ts.input_motions(ts.parse(QUARTER), given)
