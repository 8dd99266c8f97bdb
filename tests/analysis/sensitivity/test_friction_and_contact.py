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


# A box slides with friction and viscous drag: nothing happens within a step, and derivatives are those of the steps.
SLIDE = """mechanism slide ; param mu = 0.3, v0 = 2 m/s, c = 3 N*s/m ;
gravity = [0, -9.81 m/s^2, 0] ;
let block = body mass = 2 kg, centre = 0, inertia = diag(0.008, 0.008, 0.008) kg*m^2 end ;
join earth and block.frame as flight with planar(x, y, q) end ;
contact block.box size [20, 10, 10] cm with earth normal [0,1,0] friction mu as floor ;
apply force [-c*x', 0, 0] on block as drag ;
init y = 0.05 m, x' = v0 ;"""

# A ball bounces, a block slides and both meet, with friction of the ground beneath either.
MEETING = """mechanism meeting ; param mu = 0.3, v0 = 3 m/s, e = 0.5, w = 0.4 ;
gravity = [0, -9.81 m/s^2, 0] ;
let block = body mass = 2 kg, centre = 0, inertia = diag(0.008, 0.008, 0.008) kg*m^2 end ;
let ball = body mass = 1 kg, centre = 0, inertia = diag(0.001, 0.001, 0.001) kg*m^2 end ;
join earth and block.frame as slide with planar(x, y, q) end ;
join earth and ball.frame as flight with planar(X, Y, Q) end ;
contact block.box size [20, 10, 10] cm with earth normal [0,1,0] friction mu as floor ;
contact ball.sphere radius 5 cm with earth normal [0,1,0] friction w, restitution e as ground ;
constrain X - x >= 0.15 m restitution e as hit ;
init y = 0.05 m, x' = v0, X = 0.5 m, Y = 0.3 m ;"""

STICKING = """mechanism carts ; param e = 0.6, v0 = 3 m/s, m = 1 kg, k = 200 N/m, F = 2 N ;
let a = body mass = m, centre = 0, inertia = 0 end ;
let b = body mass = 2 kg, centre = 0, inertia = 0 end ;
join earth and a.frame as ra with prismatic(x) along [1,0,0] friction = F end ;
join earth and b.frame as rb with prismatic(z) along [1,0,0] stiffness = k, friction = 3 N end ;
constrain z - x >= 0 restitution e as hit ;
init x = -0.5 m, x' = v0 ;"""

GATE = """mechanism gate ; param e = 0.4, tau = 30 N*m, L = 1 m, m = 2 kg ;
gravity = [0, -9.81 m/s^2, 0] ;
let crank = body mass = 1 kg, centre = [0.15 m, 0, 0], inertia = diag(0, 0, 0.01) kg*m^2 end ;
let rod = body mass = m, centre = [0.5 m, 0, 0], inertia = diag(0, 0, 0.2) kg*m^2 end ;
let rocker = body mass = 2 kg, centre = [0.3 m, 0, 0], inertia = diag(0, 0, 0.1) kg*m^2 end ;
join earth and crank.frame as A with revolute(q1) about [0,0,1] torque = tau end ;
join [0.3 m, 0, 0] @ crank and rod.frame as B with revolute(q2) about [0,0,1] end ;
join [L, 0, 0] @ earth and rocker.frame as D with revolute(q3) about [0,0,1]
    stops 40 deg, 100 deg restitution e, friction = 0.5 N*m end ;
join [1 m, 0, 0] @ rod and [0.6 m, 0, 0] @ rocker as C with revolute(q4) about [0,0,1] end ;
init q1 = 60 deg, q2 about -30 deg, q3 about 80 deg ;"""


def test_derivatives_of_steps_are_those_of_their_equations():
    """Oracle: central differences of the same steps, in which nothing happens within a step."""
    slide, options = ts.parse(SLIDE), {"until": 0.1, "verify": False, "integrator": "time_stepping"}
    found = ts.sensitivity(slide, ["x", "x'"], "mu,v0,c", **options, backend="python")
    for name, value in {"mu": 0.3, "v0": 2.0, "c": 3.0}.items():
        ends = [
            ts.simulate(slide, until=0.1, samples=2, method="time_stepping", parameters={name: value * (1 + part)})
            for part in (1e-5, -1e-5)
        ]
        for criterion in ("x", "x'"):
            difference = (ends[0][criterion][-1] - ends[1][criterion][-1]) / (2e-5 * value)
            column = [p.name for p in found.parameters].index(name)
            assert found[criterion].gradient[column] == pytest.approx(difference, rel=1e-7, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "until", "criteria", "names", "step", "close"),
    [
        (MEETING, 0.45, ["x", "X"], "mu,v0,e,w", 5e-4, 0.01),
        (STICKING, 0.6, ["x", "z"], "e,v0,m,k,F", 2e-4, 0.02),
        (GATE, 0.15, ["q1", "q3"], "e,tau,L,m", 2e-4, 0.01),
    ],
)
def test_derivatives_go_through_time_steps(text, until, criteria, names, step, close):
    """Oracle: the motion with events, whose tangents jump at each of them; steps err in first order."""
    mechanism = ts.parse(text)
    exact = ts.sensitivity(mechanism, criteria, names, until=until, verify=False)
    steps = ts.sensitivity(
        mechanism, criteria, names, until=until, verify=False, integrator="time_stepping", max_step=step
    )
    for criterion in criteria:
        expected = exact[criterion].gradient
        assert steps[criterion].gradient == pytest.approx(expected, abs=close * np.abs(expected).max())


@pytest.mark.slow
def test_bounces_and_integrals_in_time_steps():
    """Oracle: the closed form of the first impact, and the integral of the motion with events."""
    ball = ts.parse(BALL)
    found = ts.sensitivity(ball, "x", "mu,e,v0,h", until=0.4, integrator="time_stepping", max_step=2.5e-4)
    assert found.trusted
    assert not any("closed 0" in note for note in found.notes)
    assert found["x"].gradient == pytest.approx(gradient_of(place_of_ball, 0.2, 0.5, 3, 0.3), rel=1e-3, abs=2e-4)
    over_time = [
        ts.sensitivity(ball, "y", "e,h", until=0.4, integral=True, verify=False, **more).responses[0].gradient
        for more in ({}, {"integrator": "time_stepping", "max_step": 2.5e-4})
    ]
    assert over_time[1] == pytest.approx(over_time[0], rel=5e-3)


def test_what_time_steps_do_not_differentiate_is_said():
    options = {"until": 1, "integrator": "time_stepping"}
    ball = ts.parse(BALL)
    for more in ({"method": "adjoint"}, {"second_order": True}, {"from_equilibrium": True}):
        with pytest.raises(UnsupportedError, match="integrator='time_stepping' gives first derivatives"):
            ts.sensitivity(ball, "x", "mu", **options, **more)
    with pytest.raises(UnsupportedError, match="not of accelerations or multipliers"):
        ts.sensitivity(ball, "ball.acceleration.y", "mu", **options)
