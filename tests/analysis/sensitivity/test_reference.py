"""Sensitivities against reference numbers: closed forms and extrapolation in extended precision."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from torseur.analysis.sensitivity import Criterion
from torseur.description import library

ORACLES = Path(__file__).parents[2] / "oracles"
NAMES = ("m1", "m2", "l2", "r2")


def reference(name: str) -> dict:
    return json.loads((ORACLES / f"{name}.json").read_text())


@pytest.mark.parametrize("method", ["direct", "adjoint", "continuous_adjoint"])
def test_double_pendulum_at_the_end(method):
    """Kinetic energy and its integral at 5 s, first order to 1e-9."""
    case = reference("double_pendulum")["cases"]["pi/4"]
    criteria = ["kinetic_energy", Criterion("kinetic_energy", "integral")]
    found = ts.sensitivity(library.load("double_pendulum"), criteria, list(NAMES), until=5, rtol=1e-11, method=method)
    for response, key in zip(found.responses, ("dT_d", "dintT_d"), strict=True):
        assert response.gradient == pytest.approx([case[key][name][5] for name in NAMES], rel=0, abs=1e-9)
    assert found.method == method


@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_double_pendulum_as_functions_of_time(method):
    """Forward, and from a basis of adjoint solutions."""
    case = reference("double_pendulum")["cases"]["pi/4"]
    criteria = ["kinetic_energy", Criterion("kinetic_energy", "integral"), "q1'"]
    found = ts.sensitivity(
        library.load("double_pendulum"), criteria, list(NAMES), until=5, samples=6, rtol=1e-11, method=method
    )
    assert found.method == method
    assert np.abs(found.derivatives("kinetic_energy") - np.array([case["dT_d"][n] for n in NAMES]).T).max() < 1e-9
    integral = found.derivatives("integral of kinetic_energy")
    assert np.abs(integral - np.array([case["dintT_d"][n] for n in NAMES]).T).max() < 1e-9
    rates = np.array([[row[2] for row in case["dstate_d"][n]] for n in NAMES]).T
    assert np.abs(found.derivatives("q1'") - rates).max() < 1e-9


def test_mass_spring_damper_first_and_second_order():
    """All 36 points, under, over and critically damped: 1e-9 and 1e-8."""
    names = ["k", "c", "m", "x(0)", "x'(0)"]
    keys = ("dq_dk", "dq_dc", "dq_dm", "dq_dq0", "dq_dv0")
    mechanism = library.load("mass_spring_damper")
    for row in reference("mass_spring_damper")["rows"]:
        if row["t"] == 0:
            continue
        found = ts.sensitivity(
            mechanism, "x", names, until=row["t"], rtol=1e-11, second_order=True, method="adjoint",
            values={"k": row["k"], "c": row["c"]}, initial={"x": 0.0, "x'": 5.0},
        )["x"]  # fmt: skip
        assert found.gradient == pytest.approx([float(row[key]) for key in keys], rel=0, abs=1e-9)
        entries = [found.hessian[0, 0], found.hessian[0, 1], found.hessian[1, 1]]
        seconds = [float(row[key]) for key in ("d2q_dk2", "d2q_dkdc", "d2q_dc2")]
        assert entries == pytest.approx(seconds, rel=0, abs=1e-8)


def test_pendulum_by_length_and_release():
    """Oracle: elliptic functions (IFToMM A01), ten seconds, and the derivatives of the period itself."""
    case = reference("classics")["A01_sensitivity"]
    pendulum = ts.parse(
        """mechanism pendulum ; param L = 1 m, g = 9.81 m/s^2, release = 1.5707963267948966 ; gravity = [0, -g, 0] ;
        let bob = body mass = 1 kg, centre = [0, -L, 0], inertia = 0 end ;
        join earth and bob.frame as pin with revolute(theta) about [0, 0, 1] end ;
        init theta = -release ;"""
    )
    periods = Criterion("t", "event time", when="theta'", direction=1, occurrence=1, name="period")
    for t in (1, 2, 5, 10):
        found = ts.sensitivity(pendulum, ["theta", "theta'"], "L,release", until=t, rtol=1e-12)
        expected = case[str(t)]
        assert found.derivative("theta", "L")[-1] == pytest.approx(float(expected["dtheta_dL"]), abs=1e-9)
        assert found.derivative("theta", "release")[-1] == pytest.approx(float(expected["dtheta_dth0"]), abs=1e-9)
        assert found.derivative("theta'", "L")[-1] == pytest.approx(float(expected["dthetadot_dL"]), abs=1e-9)
    found = ts.sensitivity(pendulum, periods, "L,release", until=4, rtol=1e-12)
    assert found["period"].gradient[0] == pytest.approx(float(case["dPeriod_dL"]), abs=1e-9)
    assert found["period"].gradient[1] == pytest.approx(float(case["dPeriod_dth0"]), abs=1e-9)


@pytest.mark.slow
def test_second_order_through_a_curved_start():
    """x(t) = b² cos(w t) + sqrt(a) sin(w t) / w: the start is a formula with curvature of its own."""
    mechanism = ts.parse(
        """mechanism bob ; param k = 9 N/m, a = 4, b = 0.5 ; let bob = body mass = 1 kg, centre = [0, 0, 0], inertia = 0 end ;
        join earth and bob.frame as rail with prismatic(x) along [1, 0, 0] stiffness = k end ;
        init x = b^2 * 1 m, x' = sqrt(a) * 1 m/s ;"""
    )
    found = ts.sensitivity(mechanism, "x", "a,b", until=0.7, rtol=1e-12, second_order=True)["x"]
    w, t = 3.0, 0.7
    by_a = -0.25 * 4**-1.5 * np.sin(w * t) / w
    assert found.hessian == pytest.approx(np.array([[by_a, 0], [0, 2 * np.cos(w * t)]]), abs=1e-10)
