"""Small motions and steady states of mechanisms with states beyond mechanics, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts

MOTOR = """
param R = 2 ohm, L = 0.5 H, k = 0.1 N*m/A, J = 0.02 kg*m^2, c = 0.001 N*m*s/rad, U = 12 V ;
let rotor = body mass = 1 kg, centre = 0, inertia = diag(J, J, J) end ;
join earth and rotor.frame as axle with revolute(theta) about [0,0,1] torque = k*i - c*theta' end ;
state i = 0.4 A, i' = (U - R*i - k*theta')/L ;
"""
# A spring pushed by a state that the spring's own length holds back: k x = z and z + x² = u².
HELD = """
param tau = 2 s, u = 3, k = 4 N/m, c = 1 N*s/m, m = 1 kg ;
let b = body mass = m, centre = 0, inertia = 0 end ;
join earth and b.frame as j with prismatic(x) along [1,0,0] force = z*(1 N) - k*x - c*x' end ;
state z = 0.3, z' = (u*u - z - x*x/(1 m^2))/tau ;
"""


def test_state_matrix_is_that_of_the_linear_system():
    motions = ts.linearise(ts.parse(MOTOR))
    assert motions.state_names == ["theta", "i", "theta'"]
    assert np.allclose(motions.state_matrix, [[0, 0, 1], [0, -4, -0.2], [0, 5, -0.05]], atol=1e-12)
    assert motions.trusted


def test_steady_motion_with_derivatives_has_its_closed_form():
    motor = ts.parse(MOTOR)
    steady = ts.steady_motion(motor, moving=["theta"])
    r, k, c, u = 2.0, 0.1, 0.001, 12.0
    below = r * c + k * k
    assert steady.state["theta'"] == pytest.approx(u * k / below)
    assert steady.state["i"] == pytest.approx(u * c / below)
    result = ts.steady_sensitivity(motor, ["theta'"], ["R", "k", "c", "U"], moving=["theta"])
    exact = [-u * k * c / below**2, u / below - 2 * u * k * k / below**2, -u * k * r / below**2, k / below]
    assert np.allclose(result.responses[0].derivatives[0], exact, rtol=1e-7)
    assert result.trusted


@pytest.mark.slow
def test_equilibrium_and_its_second_derivatives():
    """z + z²/k² = u² differentiated by hand; the motion that starts there stays."""
    z = (-1 + np.sqrt(1 + 4 * 9 / 16)) * 8
    assert ts.equilibrium(ts.parse(HELD)).state == pytest.approx({"x": z / 4, "z": z, "x'": 0}, abs=1e-9)
    result = ts.sensitivity(ts.parse(HELD), "z", ["u"], until=0.5, from_equilibrium=True, second_order=True)
    slope = 1 + 2 * z / 16
    first = 6 / slope
    assert result.responses[0].derivatives[0, 0] == pytest.approx(first, rel=1e-7)
    assert result.responses[0].hessian.ravel()[0] == pytest.approx((2 - 2 * first**2 / 16) / slope, rel=1e-6)


@pytest.mark.slow
def test_a_state_that_never_rests_is_named():
    with pytest.raises(ts.TorseurError, match="the state 'i' would still change by 24 per second"):
        ts.equilibrium(ts.parse(MOTOR), {"i": 0.0}, fixed=["i"])
    with pytest.raises(ts.TorseurError, match="the state 'x' would still change by 0.5 per second"):
        ts.equilibrium(ts.parse("param T = 2 s ; state x = 1, x' = 1/T ;"))


def test_states_alone_have_modes():
    """A decay and an oscillation, in a matrix of their own."""
    text = "param w = 3 rad/s ; state a = 1, a' = w*b ; state b = 0, b' = -w*a ; state d = 1, d' = -d/(2 s) ;"
    motions = ts.linearise(ts.parse(text))
    assert motions.trusted
    assert sorted(np.linalg.eigvals(motions.state_matrix), key=lambda s: (s.real, s.imag)) == pytest.approx(
        [-0.5, -3j, 3j]
    )
