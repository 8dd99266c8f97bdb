"""Jumps and contacts, with and without constraints: closed forms, other descriptions, other engines' differences."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import torseur as ts
from torseur.analysis.sensitivity import Criterion, Jump
from torseur.computation.simulation import Impact
from torseur.description import library
from torseur.errors import TorseurError, UnsupportedError

BALL = """mechanism ball ; param g = 9.81 m/s^2, e = 0.8 ; gravity = [0, 0, -g] ;
let bead = body mass = 1 kg, centre = [0, 0, 0], inertia = 0 end ;
join earth and bead.frame as fall with prismatic(z) along [0, 0, 1] end ; init z = 1 m ;"""

BOUNCES = {
    "jump": (Jump("z", {"z'": "-e * z'"}, direction=-1), ["g", "e", "z(0)"]),
    "contact": (Impact("floor", "z", 0.8), ["g", "restitution", "z(0)"]),
}


def bounced(g, e, height):
    """Height, speed and integral of the height of a bouncing ball after 1.5 s."""
    t, begin = mp.mpf(1.5), mp.sqrt(2 * height / g)
    speed, integral = e * g * begin, height * begin - g * begin**3 / 6
    while begin + 2 * speed / g < t:
        flight = 2 * speed / g
        integral += speed * flight**2 / 2 - g * flight**3 / 6
        begin, speed = begin + flight, e * speed
    s = t - begin
    return speed * s - g * s * s / 2, speed - g * s, integral + speed * s * s / 2 - g * s**3 / 6


def derivatives(function, point, order):
    """All derivatives of that order of a function of three numbers, by mpmath with 40 digits."""
    with mp.workdps(40):
        point = tuple(mp.mpf(str(x)) for x in point)
        ones = np.eye(len(point), dtype=int)
        if order == 1:
            return np.array([float(mp.diff(function, point, tuple(int(i) for i in a))) for a in ones])
        return np.array([[float(mp.diff(function, point, tuple(int(i) for i in a + b))) for b in ones] for a in ones])


@pytest.mark.parametrize("kind", BOUNCES)
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_two_bounces_to_second_order(kind, method):
    """Oracle: the closed form, differentiated by mpmath."""
    jump, names = BOUNCES[kind]
    criteria = ["z", "z'", Criterion("z", "integral")]
    options = {"until": 1.5, "jumps": [jump], "rtol": 1e-12, "method": method, "second_order": True}
    found = ts.sensitivity(ts.parse(BALL), criteria, names, **options)
    for k, response in enumerate(found.responses):
        expected = [derivatives(lambda *x, k=k: bounced(*x)[k], (9.81, 0.8, 1.0), n) for n in (1, 2)]
        assert response.gradient == pytest.approx(expected[0], abs=1e-10)
        assert response.hessian == pytest.approx(expected[1], abs=1e-9)


SWING = """mechanism swing ; param m = 2 kg, L = 0.8 m, g = 9.81 m/s^2, e = 0.7 ; gravity = [0, -g, 0] ; {} ;"""
BY_ANGLE = SWING.format(
    """let bob = body mass = m, centre = [0, -L, 0], inertia = 0 end ;
    join earth and bob.frame as hinge with revolute(q) about [0, 0, 1] end ; init q = 1 rad"""
)
BY_CONSTRAINT = SWING.format(
    """let bob = body mass = m, centre = [0, 0, 0], inertia = diag(0, 0, 1 kg*m^2) about iframe end ;
    join earth and bob.frame as plane with planar(x, y, psi) end ;
    constrain distance [0, 0, 0] @ earth to [0, 0, 0] @ bob = L ;
    init x = L * sin(1), y = -L * cos(1), psi = 0 rad"""
)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_constrained_and_free_description_jump_alike(method):
    """A pendulum that loses speed at its lowest point: one speed is given, the others follow from the constraint."""
    options = {"until": 1.3, "rtol": 1e-12, "method": method, "second_order": True}
    free = ts.sensitivity(
        ts.parse(BY_ANGLE), "L * sin(q)", "m,L,g,e", jumps=[Jump("q", {"q'": "-e * q'"}, direction=-1)], **options
    )
    bound = ts.sensitivity(
        ts.parse(BY_CONSTRAINT), "x", "m,L,g,e", jumps=[Jump("x", {"x'": "-e * x'"}, direction=-1)], **options
    )
    first, second = free.responses[0], bound.responses[0]
    assert first.value == pytest.approx(second.value, abs=1e-11)
    assert first.gradient == pytest.approx(second.gradient, abs=1e-9)
    assert first.hessian == pytest.approx(second.hessian, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_a_four_bar_that_hits_a_stop(method):
    """Oracle: differences of simulations with the same contact, whose state is not differentiated."""
    mechanism = library.load("four_bar")
    gamma = next(q for joint in mechanism.joints for q in joint.coordinates if q.name == "gamma")

    def end(e, **parameters):
        stop = Impact("stop", 2.3 - gamma, e)
        motion = ts.simulate(mechanism, 0.8, parameters=parameters, samples=2, events=[stop], rtol=1e-12)
        return float(motion["gamma'"][-1])

    found = ts.sensitivity(
        mechanism, "gamma'", ["a", "restitution"], until=0.8, jumps=[Impact("stop", "2.3 - gamma", 0.6)], rtol=1e-11,
        method=method,
    )  # fmt: skip
    a, h = float(mechanism.parameter("a").value), 1e-3
    near = [(end(0.6, a=a + k * h), end(0.6 + k * h)) for k in (-2, -1, 1, 2)]
    expected = [(8 * (z - y) - (w - x)) / (12 * h) for x, y, z, w in zip(*near, strict=True)]
    assert found.responses[0].gradient == pytest.approx(expected, rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_a_contact_that_lets_go(method):
    """A block on a shaking table, which throws it when A w² sin(w t) = g. Oracle: the closed form."""
    mechanism = ts.parse(
        """mechanism shaken ; param g = 9.81 m/s^2, A = 0.1 m, w = 12 1/s ; gravity = [0, 0, -g] ;
        let block = body mass = 1 kg, centre = [0, 0, 0], inertia = 0 end ;
        join earth and block.frame as fall with prismatic(z) along [0, 0, 1] end ; init z = 0 m, z' = A * w ;"""
    )

    def thrown(g, a, w):
        leaves = mp.asin(g / (a * w * w)) / w
        flight = mp.mpf("0.25") - leaves
        return a * mp.sin(w * leaves) + a * w * mp.cos(w * leaves) * flight - g * flight**2 / 2

    table = Impact("table", "z - A * sin(w * t)", 0.3)
    found = ts.sensitivity(mechanism, "z", "g,A,w", until=0.25, jumps=[table], rtol=1e-12, method=method)
    assert found["z"].value == pytest.approx(float(thrown(9.81, 0.1, 12.0)), abs=1e-11)
    assert found["z"].gradient == pytest.approx(derivatives(thrown, (9.81, 0.1, 12), 1), abs=1e-9)
    with pytest.raises(UnsupportedError, match="lets go.*second order needs events"):
        ts.sensitivity(mechanism, "z", "g", until=0.25, jumps=[table], second_order=True)


@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_criteria_on_a_closed_contact(method):
    """A ball that falls and stays: then nothing accelerates any more."""
    mechanism, criteria = ts.parse(BALL), ["z''", Criterion("z''", "minimum")]
    options = {"until": 0.8, "jumps": [Impact("floor", "z", 0.0)], "rtol": 1e-11, "method": method}
    found = ts.sensitivity(mechanism, criteria, "g", **options)
    assert found["z''"].value == pytest.approx(0.0, abs=1e-10)
    assert found["z''"].gradient == pytest.approx([0.0], abs=1e-9)
    assert found["minimum of z''"].value == pytest.approx(-9.81)
    assert found["minimum of z''"].gradient == pytest.approx([-1.0])


@pytest.mark.slow
def test_contacts_of_which_the_first_is_not_known():
    pair = ts.parse(
        """mechanism pair ; param g = 9.81 m/s^2 ; gravity = [0, 0, -g] ;
        let a = body mass = 1 kg, centre = [0, 0, 0], inertia = 0 end ;
        let b = body mass = 1 kg, centre = [0, 0, 0], inertia = 0 end ;
        join earth and a.frame as one with prismatic(za) along [0, 0, 1] end ;
        join earth and b.frame as two with prismatic(zb) along [0, 0, 1] end ; init za = 1 m, zb = 1 m ;"""
    )
    floors = [Impact("left", "za", 0.5), Impact("right", "zb", 0.5)]
    with pytest.raises(UnsupportedError, match="'left' and 'right' are hit at the same time"):
        ts.sensitivity(pair, "za", "g", until=1.0, jumps=floors)
    apart = ts.sensitivity(pair, "za", "g", until=0.8, jumps=floors, initial={"zb": 2.0}, rtol=1e-11)
    alone = ts.sensitivity(pair, "za", "g", until=0.8, jumps=floors[:1], rtol=1e-11)
    assert apart["za"].gradient == pytest.approx(alone["za"].gradient, rel=1e-9)


@pytest.mark.slow
def test_verification_sees_jumps():
    found = ts.sensitivity(
        library.load("four_bar"), "gamma'", ["a", "restitution"], until=0.8, verify=True,
        jumps=[Impact("stop", "2.3 - gamma", 0.6)], rtol=1e-10,
    )  # fmt: skip
    assert all(a.is_good and a.difference < 1e-6 for a in found.agreement)


BAD = {
    "new position": (Jump("gamma", {"gamma": "1 rad"}), "'gamma' is a position of four_bar, which is constrained"),
    "unknown state": (Jump("gamma", {"gama'": "0 rad/s"}), "unknown state \"gama'\"|unknown state 'gama''"),
    "contradiction": (Jump("gamma - 2.3", {"gamma'": "0 rad/s", "alpha'": "1 rad/s"}), "contradict the constraints"),
    "gap of a speed": (Impact("stop", "gamma' + 1 rad/s", 0.5), "gap depends on the speed"),
    "no jump at all": ("gamma", "a jump is a Jump or an Impact, not 'gamma'"),
    "gap of nothing": (Impact("stop", "a - 1 m", 0.5), "does not depend on any coordinate"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_jumps_are_told(case):
    jump, message = BAD[case]
    with pytest.raises(TorseurError, match=message):
        ts.sensitivity(library.load("four_bar"), "gamma", "a", until=0.8, jumps=[jump])


@pytest.mark.slow
def test_integrals_run_through_jumps_of_a_loop():
    """Direct and adjoint, with checkpoints on the way."""
    mechanism, stop = library.load("four_bar"), Impact("stop", "2.3 - gamma", 0.6)
    criterion = Criterion("A.force.x * gamma", "integral")
    options = {"until": 0.8, "jumps": [stop], "rtol": 1e-11}
    first = ts.sensitivity(mechanism, criterion, "a,restitution", method="direct", **options)
    second = ts.sensitivity(mechanism, criterion, "a,restitution", method="adjoint", memory=2e4, **options)
    assert first.responses[0].gradient == pytest.approx(second.responses[0].gradient, rel=1e-8)
    assert math.isfinite(first.responses[0].value)
