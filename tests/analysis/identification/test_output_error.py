"""Parameters that make a simulated motion the recorded one; derivatives against differences."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.analysis.identification import Recording, fit_motion
from torseur.analysis.identification.output_error.fit_motion import _Task
from torseur.analysis.identification.output_error.output_model import OutputModel, sampled_motion
from torseur.description.library import load
from torseur.errors import IdentificationError, UnsupportedError

SWING = """mechanism swing ;
param m = 2 kg, k = 50 N/m ;
let block = body mass = m, centre = 0, inertia = 0 end ;
join earth and block.frame as slide with prismatic(x) along [1, 0, 0] end ;
apply spring stiffness = k on slide.x ;
init x = 100 mm ;"""
UNKNOWN = {"m1": 3.0, "r2": 4.8, "q1'": 0.1}


@pytest.fixture(scope="module")
def pendulum():
    mechanism = load("double_pendulum")
    motion = ts.simulate(mechanism, 2.0, samples=81, rtol=1e-11)
    return mechanism, Recording(motion.time, {"q1": motion["q1"], "q2'": motion["q2'"]})


def test_direct_and_adjoint_derivatives_agree_with_differences(pendulum):
    """Oracle: central differences of the cost, and each method for the other."""
    mechanism, recording = pendulum
    task = _Task(OutputModel.of(mechanism, tuple(UNKNOWN), ("q1", "q2'")), (recording,), 1e-11)
    x = np.array(list(UNKNOWN.values()))
    residual, jacobian = task.residuals(x)
    cost, gradient = task.cost(x)
    assert cost == pytest.approx(0.5 * residual @ residual, rel=1e-9)
    assert np.allclose(gradient, jacobian.T @ residual, rtol=1e-7)
    for k in range(3):
        step = 1e-5 * np.eye(3)[k]
        difference = (task.cost(x + step)[0] - task.cost(x - step)[0]) / 2e-5
        assert gradient[k] == pytest.approx(difference, rel=1e-4)


@pytest.mark.parametrize("method", ["gauss_newton", "adjoint"])
def test_parameters_of_a_recorded_motion(pendulum, method):
    mechanism, recording = pendulum
    found = fit_motion(mechanism, [recording], UNKNOWN, method=method)
    assert found.converged
    for name, value in {"m1": 4.0, "r2": 5.0, "q1'": 0.0}.items():
        assert found[name] == pytest.approx(value, abs=1e-5)


def test_deviations_cover_the_truth(pendulum):
    mechanism, clean = pendulum
    rng = np.random.default_rng(1)
    noisy = Recording(clean.time, {name: x + 0.01 * rng.normal(size=len(x)) for name, x in clean.channels.items()})
    found = fit_motion(mechanism, [noisy], {"m1": 4.2, "r2": 5.1})
    assert np.all(np.abs(found.values - [4.0, 5.0]) < 4 * found.deviation)
    assert np.all(found.deviation > 0)


def test_other_quantities_may_be_recorded():
    mechanism = load("pendulum")
    name = "l"
    body = mechanism.bodies[0].name
    outputs = [f"{body}.position.x", f"{body}.velocity.x", f"{body}.centre.position.x"]
    motion = ts.simulate(mechanism, 1.0, samples=31, outputs=outputs)
    truth = float(mechanism.parameter(name).value)
    recording = Recording(motion.time, {outputs[2]: motion[outputs[2]]})
    found = fit_motion(mechanism, [recording], {name: 1.05 * truth})
    assert found[name] == pytest.approx(truth, rel=1e-6)


def test_faults_are_named(pendulum):
    mechanism, recording = pendulum
    with pytest.raises(IdentificationError, match="unknown parameter or initial state 'm9'"):
        fit_motion(mechanism, [recording], {"m9": 1.0})
    with pytest.raises(IdentificationError, match="unknown quantity 'q9'"):
        fit_motion(mechanism, [Recording(recording.time, {"q9": recording.time})], {"m1": 1.0})
    with pytest.raises(IdentificationError, match="is not a number at t = "):
        Recording(recording.time, {"q1": np.full(81, np.nan)})
    with pytest.raises(IdentificationError, match="method is"):
        fit_motion(mechanism, [recording], UNKNOWN, method="magic")
    with pytest.raises(IdentificationError, match="depends on none of the unknowns"):
        motion = ts.simulate(load("four_bar"), 0.2, samples=11)
        fit_motion(load("four_bar"), [Recording(motion.time, {"alpha": motion["alpha"]})], {"rho": 1.0})


CONSTRAINED = {
    "four_bar": (("alpha", "gamma"), {"a": 0.41, "g": 9.7}, 0.8),
    "rolling_disc": (("x", "spin"), {"r": 0.26, "g": 9.7, "spin'": 9.0}, 1.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CONSTRAINED)
def test_adjoint_of_loops_and_rolling(name):
    """Oracle: central differences of the cost, and the direct method."""
    channels, unknown, until = CONSTRAINED[name]
    mechanism = load(name)
    motion = ts.simulate(mechanism, until, samples=21, rtol=1e-11)
    recording = Recording(motion.time, {c: motion[c] for c in channels})
    task = _Task(OutputModel.of(mechanism, tuple(unknown), channels), (recording,), 1e-11)
    x = np.array(list(unknown.values()))
    residual, jacobian = task.residuals(x)
    cost, gradient = task.cost(x)
    assert cost == pytest.approx(0.5 * residual @ residual, rel=1e-8)
    assert np.allclose(gradient, jacobian.T @ residual, rtol=1e-7)
    for k in range(len(x)):
        step = 1e-5 * np.eye(len(x))[k]
        difference = (task.cost(x + step)[0] - task.cost(x - step)[0]) / 2e-5
        assert gradient[k] == pytest.approx(difference, rel=1e-4)


@pytest.mark.slow
def test_what_the_recording_does_not_tell_is_named():
    """A falling linkage of any density falls alike: that of its bars keeps its start value."""
    mechanism = load("four_bar")
    motion = ts.simulate(mechanism, 0.8, samples=41, rtol=1e-10)
    recording = Recording(motion.time, {"alpha": motion["alpha"], "gamma": motion["gamma"]})
    found = fit_motion(mechanism, [recording], {"a": 0.41, "rho": 2.2, "g": 9.7}, method="adjoint")
    assert found["a"] == pytest.approx(0.4, abs=1e-6) and found["g"] == pytest.approx(9.81, abs=1e-5)
    assert found["rho"] == 2.2 and np.isinf(found.deviation[1])
    assert any("does not depend on rho" in text for text in found.warnings)


def test_unknowns_that_only_occur_together_are_named():
    """A mass on a spring swings by k/m alone."""
    mechanism = ts.parse(SWING)
    t = np.linspace(0, 2, 60)
    recording = Recording(t, {"x": 0.1 * np.cos(5 * t)})
    found = fit_motion(mechanism, [recording], {"k": 45.0, "m": 2.1})
    assert found["k"] / found["m"] == pytest.approx(25, rel=1e-6)
    assert np.isinf(found.deviation).all()
    assert any("do not tell k, m apart" in text for text in found.warnings)


def test_a_length_inside_a_loop():
    """The crank of a four-bar from the angles of its fall."""
    mechanism = load("four_bar")
    motion = ts.simulate(mechanism, 0.8, samples=41, rtol=1e-10)
    recording = Recording(motion.time, {"alpha": motion["alpha"], "gamma": motion["gamma"]})
    found = fit_motion(mechanism, [recording], {"a": 0.41})
    assert found["a"] == pytest.approx(0.4, abs=1e-6)


def test_the_adjoint_refuses_loads_that_switch():
    mechanism = ts.parse(
        """param T = 0.4 s ; let block = body mass = 2 kg, centre = [0, 0, 0], inertia = 0 end ;
        join earth and block.frame as rail with prismatic(x) force = where(t < T, 3 N, 0) end ;"""
    )
    with pytest.raises(UnsupportedError, match='"gauss_newton" follows it'):
        sampled_motion(mechanism, ["T"], np.linspace(0, 1, 5), {}, {}, 1e-9)
