"""Equilibria, static deflections, eigenvalues and frequency responses, against closed forms and differences."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.analysis.sensitivity import Criterion
from torseur.analysis.sensitivity.steady.small_motion_sensitivity import (
    eigenvalue_sensitivity,
    frequency_response_sensitivity,
)
from torseur.analysis.sensitivity.steady.steady_states import steady_sensitivity
from torseur.computation.linearisation import equilibrium, linearise
from torseur.description import library
from torseur.errors import TorseurError

COLUMN = """mechanism column ; param k1 = 300 N/m, k2 = 200 N/m, m1 = 2 kg, m2 = 3 kg, g = 9.81 m/s^2 ; gravity = [g, 0, 0] ;
let a = body mass = m1, centre = [0, 0, 0], inertia = 0 end ;
let b = body mass = m2, centre = [0, 0, 0], inertia = 0 end ;
join earth and a.frame as upper with prismatic(x1) along [1, 0, 0] stiffness = k1 end ;
join a.frame and b.frame as lower with prismatic(x2) along [1, 0, 0] stiffness = k2 end ;"""


@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_static_deflection(method):
    """K u = f of two springs in series: x1 = (m1 + m2) g / k1, x2 = m2 g / k2."""
    found = steady_sensitivity(ts.parse(COLUMN), ["x1", "x2", "x1 + x2"], method=method)
    assert found.parameter_names == ["k1", "k2", "m1", "m2", "g"]
    x1, x2 = 5 * 9.81 / 300, 3 * 9.81 / 200
    by_x1 = np.array([-x1 / 300, 0, 9.81 / 300, 9.81 / 300, 5 / 300])
    by_x2 = np.array([0, -x2 / 200, 0, 9.81 / 200, 3 / 200])
    assert found["x1"].value == pytest.approx(x1, rel=1e-12)
    assert found["x1"].gradient == pytest.approx(by_x1, abs=1e-12)
    assert found["x2"].gradient == pytest.approx(by_x2, abs=1e-12)
    assert found["x1 + x2"].gradient == pytest.approx(by_x1 + by_x2, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_equilibrium_of_a_loop(method):
    """Oracle: equilibria of changed mechanisms, differenced."""
    mechanism = library.load("four_bar")
    found = steady_sensitivity(mechanism, ["alpha", "gamma"], "a,b,c,d", method=method)
    for column, name in enumerate("abcd"):
        value, h = float(mechanism.parameter(name).value), 1e-4
        near = [equilibrium(mechanism, parameters={name: value + k * h}).state for k in (-2, -1, 1, 2)]
        for criterion in ("alpha", "gamma"):
            x = [state[criterion] for state in near]
            expected = (8 * (x[2] - x[1]) - (x[3] - x[0])) / (12 * h)
            assert found[criterion].gradient[column] == pytest.approx(expected, abs=1e-8)


def test_motion_that_starts_from_equilibrium():
    """x = m g / k + v sin(w t) / w: the start moves with the parameters."""
    mechanism = ts.parse(
        """mechanism bob ; param k = 300 N/m, m = 2 kg, g = 9.81 m/s^2 ; gravity = [g, 0, 0] ;
        let bob = body mass = m, centre = [0, 0, 0], inertia = 0 end ;
        join earth and bob.frame as rail with prismatic(x) along [1, 0, 0] stiffness = k end ;"""
    )
    found = ts.sensitivity(mechanism, "x", until=1.3, from_equilibrium=True, initial={"x'": 0.7}, rtol=1e-11)
    k, m, g, v, t = 300.0, 2.0, 9.81, 0.7, 1.3
    w = np.sqrt(k / m)
    by_w = v * (t * np.cos(w * t) / w - np.sin(w * t) / w**2)
    expected = [-m * g / k**2 + by_w * w / (2 * k), g / k - by_w * w / (2 * m), m / k]
    assert found["x"].gradient == pytest.approx(expected, abs=1e-9)


def test_eigenvalues_of_the_oscillator():
    """s = -c/2m + i sqrt(k/m - c²/4m²), differentiated by hand through s (2 m s + c) ds = -(s² dm + s dc + dk)."""
    found = eigenvalue_sensitivity(library.load("mass_spring_damper"), "m,c,k")
    m, c = 1.0, 0.5
    for s, derivatives in zip(found.eigenvalues, found.derivatives, strict=True):
        assert derivatives == pytest.approx(-np.array([s * s, s, 1]) / (2 * m * s + c), abs=1e-12)
    undamped = np.sqrt(40.0)
    assert found.damping_derivatives[0, 1] == pytest.approx(1 / (2 * undamped), rel=1e-12)
    assert found.frequency_derivatives[0] == pytest.approx(found.frequency_derivatives[1])


@pytest.mark.slow
def test_eigenvalues_about_an_equilibrium_that_moves():
    """A loop: hard points change small motions directly and through the equilibrium. Oracle: differences."""
    mechanism = library.load("four_bar")
    found = eigenvalue_sensitivity(mechanism, "a,g")
    for column, name in enumerate(("a", "g")):
        value, h = float(mechanism.parameter(name).value), 1e-4
        near = []
        for k in (-2, -1, 1, 2):
            given = {name: value + k * h}
            state = equilibrium(mechanism, parameters=given).state
            modes = linearise(mechanism, state, parameters=given).modes
            near.append(max(mode.eigenvalue.real for mode in modes))
        expected = (8 * (near[2] - near[1]) - (near[3] - near[0])) / (12 * h)
        fastest = int(np.argmax(found.eigenvalues.real))
        assert found.derivatives[fastest, column].real == pytest.approx(expected, abs=1e-7)


def test_frequency_response_of_the_oscillator():
    """H = 1 / (k - m w² + i c w)."""
    omega = np.array([3.0, 6.3, 20.0])
    found = frequency_response_sensitivity(library.load("mass_spring_damper"), "x", "x", omega, "m,c,k")
    response = 1 / (40 - omega**2 + 0.5j * omega)
    assert found.values == pytest.approx(response, abs=1e-13)
    expected = -(response[:, None] ** 2) * np.array([-(omega**2), 1j * omega, np.ones(3)]).T
    assert found.derivatives == pytest.approx(expected, abs=1e-11)


def test_frequency_response_of_an_acceleration():
    """Under the force the acceleration is -w² x, which the state alone does not tell."""
    omega = np.array([3.0, 6.3, 20.0])
    mechanism = library.load("mass_spring_damper")
    found = frequency_response_sensitivity(mechanism, "x", "2 * x'' + x / 1 s^2", omega, "m,c,k")
    plain = frequency_response_sensitivity(mechanism, "x", "x", omega, "m,c,k")
    factor = 1 - 2 * omega**2
    assert found.values == pytest.approx(factor * plain.values, abs=1e-12)
    assert found.derivatives == pytest.approx(factor[:, None] * plain.derivatives, abs=1e-10)
    assert found.unit == "m/s^2 per unit force"


@pytest.mark.slow
@pytest.mark.parametrize("output", ["gamma", "A.force.x", "gamma''"])
def test_frequency_response_on_a_loop(output):
    """About an equilibrium that moves with the parameters. Oracle: differences of the response itself."""
    mechanism, omega = library.load("four_bar"), [2.0, 9.0]
    found = frequency_response_sensitivity(mechanism, "gamma", output, omega, "a,rho")
    for column, (name, h) in enumerate((("a", 1e-4), ("rho", 1e-3))):
        value = float(mechanism.parameter(name).value)
        near = [
            frequency_response_sensitivity(mechanism, "gamma", output, omega, "g", values={name: value + k * h}).values
            for k in (-2, -1, 1, 2)
        ]
        expected = (8 * (near[2] - near[1]) - (near[3] - near[0])) / (12 * h)
        assert found.derivatives[:, column] == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_modes_and_responses_as_criteria():
    """Rankings and pictures work on them as on criteria of a motion."""
    mechanism = library.load("mass_spring_damper")
    modes = eigenvalue_sensitivity(mechanism, "m,c,k").criteria
    hertz = np.sqrt(40 - 0.25**2) / (2 * np.pi)
    (frequency,) = [r for r in modes.responses if r.name.startswith("frequency")]
    assert frequency.value == pytest.approx(hertz)
    assert modes.ranking(frequency.name)[0].parameter in ("m", "k")
    response = frequency_response_sensitivity(mechanism, "x", "x", [3.0, 6.0], "m,c,k")
    gain, phase = response.criteria.responses
    assert gain.time == pytest.approx(np.array([3.0, 6.0]) / (2 * np.pi))
    assert gain.derivatives == pytest.approx(response.gain_derivatives)
    step = 1e-6
    near = [1 / (40 + k * step - 9 + 1.5j) for k in (-1, 1)]
    assert phase.derivatives[0, 2] == pytest.approx((np.angle(near[1]) - np.angle(near[0])) / (2 * step), rel=1e-6)
    assert gain.over == "frequency [Hz]"
    with pytest.raises(TorseurError, match="angular frequencies"):
        frequency_response_sensitivity(mechanism, "x", "x", [], "m")
    with pytest.raises(TorseurError, match="unknown quantity 'xx'"):
        frequency_response_sensitivity(mechanism, "x", "xx", [1.0], "m")


@pytest.mark.slow
def test_steady_states_are_verified():
    found = steady_sensitivity(library.load("four_bar"), "gamma", "a,b", verify=True)
    assert all(a.is_good and a.difference < 1e-9 for a in found.agreement)


def test_repeated_and_zero_eigenvalues_say_so():
    free = ts.parse(
        """mechanism slider ; param m = 1 kg ; let block = body mass = m, centre = [0, 0, 0], inertia = 0 end ;
        join earth and block.frame as rail with prismatic(x) along [1, 0, 0] end ;"""
    )
    found = eigenvalue_sensitivity(free, "m")
    assert np.isnan(found.derivatives).all()
    assert "zero or repeated" in found.notes[0]


def test_a_steady_state_has_values_only():
    with pytest.raises(TorseurError, match="values only"):
        steady_sensitivity(ts.parse(COLUMN), Criterion("x1", "integral"), "k1")


STEADY_TURN = """mechanism car ; param m = 1000 kg, J = 1500 kg*m^2, Cf = 60000 N, Cr = 70000 N, V = 20 m/s, d = 0.02, a = 1.2 m, b = 1.5 m ;
let c = body mass = m, centre = 0, inertia = diag(0, 0, J) end ;
join earth and c.frame as ground with planar(x, y, psi) speeds u, v = velocity in c, r = psi' end ;
apply force [0, -Cf*((v + a*r)/u - d), 0] in c on [a, 0, 0] @ c ; apply force [0, -Cr*(v - b*r)/u, 0] in c on [-b, 0, 0] @ c ;
constrain u = V as cruise ; init u = V ;"""


@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_a_steady_turn_in_which_no_force_depends_on_a_position(method):
    """r = V d / (L + K V²) with L = a + b and K = m (b Cr - a Cf) / (L Cf Cr)."""
    length, speed, d = 2.7, 20.0, 0.02
    gradient = 1000 * (1.5 * 7e4 - 1.2 * 6e4) / (length * 6e4 * 7e4)
    below = length + gradient * speed**2
    found = steady_sensitivity(ts.parse(STEADY_TURN), "r", ["d", "V"], moving=("x", "y", "psi"), method=method)
    assert found["r"].value == pytest.approx(speed * d / below, rel=1e-9)
    expected = [speed / below, d / below - 2 * gradient * speed**2 * d / below**2]
    assert found["r"].gradient == pytest.approx(expected, rel=1e-9)
    assert found.trusted
