"""Derivatives of starts that constraints complete, against differences of motions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur as ts
from torseur.errors import UnsupportedError

BEAD = """mechanism bead ; param L = 1 m, m = 2 kg ;
let bead = body mass = m, centre = [0, 0, 0], inertia = 0 end ;
join earth and bead.frame as free with link(x, y, z) dof1 = [x, y, z] end ;
constrain distance earth to bead = L ;
init x = 0.3 m, y = 0.4 m, z = sqrt(L^2 - 0.25 m^2), x' = 1 m/s ;"""

# Masses are coupled, so that the speeds that complete the start depend on them, and rows of constraints on positions.
COUPLED = """mechanism coupled ; param L = 1 m, m = 2 kg, M = 5 kg, k = 1.5 ; gravity = [0, 0, -9.81] ;
let a = body mass = m, centre = [0.1 m, 0, 0], inertia = diag(0.1, 0.2, 0.3) end ;
let b = body mass = M, centre = [0, 0.2 m, 0], inertia = diag(0.1, 0.2, 0.3) end ;
join earth and a.frame as slide with link(x, y, z) dof1 = [x, y, z] end ;
join a.frame and b.frame as ball with spherical(al, be, ga) end ;
constrain x + y*z/(1 m) + 0.3 m*sin(al) = L ;
constrain be = k*al + 0.2*ga + (L/(1 m))^2 ;
init y = 0.4 m, z = 0.3 m, x = L - 0.12 m - 0.3 m*sin(0.2), al = 0.2, ga = 0.1,
  be = k*0.2 + 0.02 + (L/(1 m))^2, x' = 1 m/s, al' = k * 0.7 rad/s ;"""


def differences(function, value, step=1e-3):
    """The derivative of a function of one number, of order six."""
    h = step * abs(value)
    parts = [w * (function(value + k * h) - function(value - k * h)) for k, w in ((1, 45.0), (2, -9.0), (3, 1.0))]
    return sum(parts) / (60.0 * h)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["direct", "adjoint"])
@pytest.mark.parametrize("text, criterion, until", [(BEAD, "y", 0.5), (COUPLED, "be", 0.3)])
def test_speeds_that_follow_from_constraints(text, criterion, until, method):
    mechanism = ts.parse(text)
    found = ts.sensitivity(mechanism, criterion, until=until, method=method, rtol=1e-11)

    def motion(name):
        return lambda x: ts.simulate(mechanism, until=until, samples=2, rtol=1e-13, parameters={name: x})[criterion][-1]

    expected = [differences(motion(p.name), p.value) for p in found.parameters]
    assert found[criterion].gradient == pytest.approx(expected, abs=1e-8)


def test_bead_follows_a_great_circle():
    """Without forces y(t) = y cos ωt + y' sin ωt / ω with ω = |v| / L, from the speeds that the start has."""
    mechanism = ts.parse(BEAD)

    def y(length):
        start = ts.simulate(mechanism, until=0.0, parameters={"L": length})
        speeds = np.array([start[name][0] for name in ("x'", "y'", "z'")])
        omega = np.linalg.norm(speeds) / length
        return 0.4 * np.cos(0.5 * omega) + speeds[1] * np.sin(0.5 * omega) / omega

    found = ts.sensitivity(mechanism, "y", "L", until=0.5, rtol=1e-11)
    assert found["y"].gradient[0] == pytest.approx(differences(y, 1.0), rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("text, criterion", [(BEAD, "y"), (COUPLED, "be")])
def test_second_derivatives_of_such_starts(text, criterion):
    """Against differences of gradients."""
    mechanism = ts.parse(text)
    found = ts.sensitivity(mechanism, criterion, until=0.2, rtol=1e-11, second_order=True)
    for k, parameter in enumerate(found.parameters):

        def gradient(x, name=parameter.name):
            return ts.sensitivity(mechanism, criterion, until=0.2, rtol=1e-11, values={name: x})[criterion].gradient

        row = differences(gradient, parameter.value)
        assert found[criterion].hessian[k] == pytest.approx(row, abs=1e-7)


def test_given_values_that_cannot_stay_have_no_second_derivative():
    with pytest.raises(UnsupportedError, match="second order needs initial values that may stay"):
        ts.sensitivity(ts.parse(BEAD), "y", "x(0)", until=0.2, second_order=True)


def test_initial_values_among_the_parameters_stay_given():
    """With y'(0) held, L changes z' alone."""
    mechanism = ts.parse(BEAD)
    found = ts.sensitivity(mechanism, "y", ["L", "y'(0)"], until=0.5, rtol=1e-11)
    held = ts.simulate(mechanism, until=0.0)["y'"][0]

    def motion(length):
        shifted = {"parameters": {"L": length}, "initial": {"y'": held}}
        return ts.simulate(mechanism, until=0.5, samples=2, rtol=1e-13, **shifted)["y"][-1]

    assert found["y"].gradient[0] == pytest.approx(differences(motion, 1.0), rel=1e-7)


def test_a_quaternion_completed_to_length_one_has_the_derivatives_of_its_completion():
    """x = p alone is exact, so w = sqrt(1 - p²): dw/dp = -p/w, d²w/dp² = -1/w³; the body stays at rest."""
    text = """param p = 0.6 ; let top = body mass = 1 kg, centre = 0, inertia = diag(1, 2, 3) kg*m^2 end ;
    join earth and top.frame as ball with spherical(w, x, y, z) angles quaternion end ; init x = p ;"""
    result = ts.sensitivity(ts.parse(text), "w", ["p"], until=0.1, second_order=True)
    assert result.trusted and np.ravel(result.derivative("w", "p"))[0] == pytest.approx(-0.75, abs=1e-12)
    assert np.ravel(result["w"].hessian)[0] == pytest.approx(-1 / 0.8**3, abs=1e-9)


@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_a_rate_that_is_no_speed_is_kept_beside_constraints(method):
    """Oracle: Chaplygin's sleigh, v' = a w², (J + m a²) w' = -m a v w, from v = X/cos θ and no turning."""
    text = """param X = 1 m/s, th0 = 0.6, a = 0.3 m ;
        let b = body mass = 1 kg, centre = [a, 0, 0], inertia = diag(0, 0, 0.2) kg*m^2 end ;
        join earth and b.frame as j with planar(x, y, th) speeds v, u = velocity in b, w = th' end ;
        constrain 0 = u as edge ; init th = th0, x' = X ;"""
    # It goes straight on, y = X tan θ t, whatever a is.
    found = ts.sensitivity(ts.parse(text), "y", ["X", "th0", "a"], until=0.7, method=method, rtol=1e-10)
    expected = [0.7 * math.tan(0.6), 0.7 / math.cos(0.6) ** 2, 0.0]
    assert found["y"].value == pytest.approx(0.7 * math.tan(0.6), rel=1e-9)
    assert found["y"].gradient == pytest.approx(expected, rel=1e-7, abs=1e-8)
    assert found.trusted
