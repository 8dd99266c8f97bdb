"""Designed motions: within their limits, and better than what they started from."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.identification.arms import TWO_R, arm
from analysis.identification.test_constrained import sleigh, spatial_four_bar
from analysis.identification.test_loops import closed, torque
from torseur.analysis.identification import (
    CoordinateLimits,
    Options,
    base_parameters,
    design_excitation,
    identify,
    linear_model,
    make_trial,
)
from torseur.analysis.identification.excitation import condition_of
from torseur.description.library import load
from torseur.errors import IdentificationError, UnsupportedError

LIMITS = {"q1": CoordinateLimits((-1.0, 2.0), 3.0, 12.0, 500.0), "q2": CoordinateLimits((-2.0, 0.5), 4.0, 20.0)}


@pytest.fixture(scope="module")
def model():
    return linear_model(arm(TWO_R, (0, -9.81, 0)))


@pytest.mark.parametrize("criterion", ["condition", "information"])
def test_designed_motion(model, criterion):
    base = base_parameters(model)
    found = design_excitation(model, LIMITS, criterion=criterion, rounds=12, base=base)
    t = np.linspace(0, 10, 4001)
    q, v, a = found.motion.at(t)
    for k, limit in enumerate(LIMITS.values()):
        assert limit.position[0] - 1e-3 <= q[:, k].min() and q[:, k].max() <= limit.position[1] + 1e-3
        assert np.abs(v[:, k]).max() <= 1.01 * limit.speed
        assert np.abs(a[:, k]).max() <= 1.02 * limit.acceleration
    assert found.history[-1] < found.history[0]
    W = model.matrix(*found.motion.at(np.linspace(0, 10, 200, endpoint=False)))[:, :, list(base.columns)]
    if criterion == "condition":
        assert condition_of(W.reshape(-1, len(base))) < 5


def test_series_are_differentiated_exactly(model):
    found = design_excitation(model, LIMITS, rounds=1)
    t, h = np.array([0.3, 4.1]), 1e-5
    (q0, v0, _), (q, v, a), (q1, v1, _) = (found.motion.at(t + s) for s in (-h, 0, h))
    assert np.allclose((q1 - q0) / (2 * h), v, atol=1e-6) and np.allclose((v1 - v0) / (2 * h), a, atol=1e-6)
    assert np.allclose(found.motion.at(t + found.motion.period)[0], q)


@pytest.mark.slow
def test_faults_are_named(model):
    with pytest.raises(IdentificationError, match="limits of q2 are missing"):
        design_excitation(model, {"q1": LIMITS["q1"]})
    with pytest.raises(IdentificationError, match="unknown coordinate 'q5'"):
        design_excitation(model, {**LIMITS, "q5": LIMITS["q1"]})
    with pytest.raises(IdentificationError, match="least position first"):
        CoordinateLimits((1.0, 0.0))
    with pytest.raises(IdentificationError, match="expected forces"):
        tight = {"q1": CoordinateLimits((-1, 1), 2, 5, 1e-3), "q2": LIMITS["q2"]}
        design_excitation(model, tight, rounds=2)
    with pytest.raises(IdentificationError, match="limits of .* missing"):
        design_excitation(linear_model(load("four_bar")), {})
    with pytest.raises(IdentificationError, match="closes the loops. Narrow"):
        design_excitation(linear_model(load("four_bar")), {"gamma": CoordinateLimits((-3, 3), 4, 20)}, samples=8)
    with pytest.raises(UnsupportedError, match="'b0' has no speed of its own"):
        design_excitation(linear_model(spatial_four_bar()), {"b0": LIMITS["q1"]})


@pytest.fixture(scope="module")
def four_bar():
    return linear_model(load("four_bar"))


@pytest.mark.slow
def test_designed_motion_of_a_loop(four_bar):
    """Oracle: the loop closed by intersecting circles; limits on a coordinate that only follows."""
    limits = {"alpha": CoordinateLimits((0.5, 5.5), 4.0, 20.0), "gamma": CoordinateLimits((1.2, 2.3), 3.0, 5.0)}
    found = design_excitation(four_bar, limits, rounds=2, samples=32)
    assert found.motion.names == ("alpha",) and found.history[-1] < found.history[0]
    q, v, a = found.at(np.linspace(0, 10, 300))
    names = four_bar.equations.layout.coordinate_names
    for k in range(0, 300, 37):
        _, gamma = closed(q[k, names.index("alpha")])
        assert np.exp(1j * q[k, names.index("gamma")]) == pytest.approx(np.exp(1j * gamma), abs=1e-9)
    for name, limit in limits.items():
        column = names.index(name)
        assert limit.position[0] - 0.01 <= q[:, column].min() and q[:, column].max() <= limit.position[1] + 0.01
        assert np.abs(v[:, column]).max() <= 1.02 * limit.speed
        assert np.abs(a[:, column]).max() <= 1.02 * limit.acceleration


@pytest.mark.slow
def test_designed_motion_of_a_loop_tells_more_than_another(four_bar):
    """Deviations from driver torques of the closed form, with the same noise, against those of some sines."""
    base = base_parameters(four_bar)
    found = design_excitation(
        four_bar, {"alpha": CoordinateLimits((-3, 6), 4.0, 20.0)}, rounds=2, samples=48, base=base
    )
    t = np.linspace(0, 6, 400)
    designed = found.motion.at(t * 10 / 6)
    some = 1 + 0.8 * np.sin(2 * t), 1.6 * np.cos(2 * t), -3.2 * np.sin(2 * t)
    deviations, conditions = [], []
    for motion in ([x[:, 0] for x in designed], some):
        tau = np.array([torque(*x) for x in zip(*motion, strict=True)]) + 0.05 * np.random.default_rng(0).normal(
            size=400
        )
        channels = dict(zip(("alpha", "alpha'", "alpha''"), motion, strict=True))
        estimate = identify(
            four_bar, [make_trial(four_bar, t, channels, {"alpha": tau})], "ordinary", Options(base=base)
        )
        deviations.append(estimate.deviation)
        conditions.append(estimate.condition)
    assert conditions[0] == pytest.approx(found.condition, rel=0.1)
    assert np.all(deviations[0] < deviations[1])


@pytest.mark.slow
def test_designed_motion_that_rolls():
    """The sleigh's heading and one coordinate get series; the other follows from the blade."""
    model = linear_model(sleigh())
    limits = {"psi": CoordinateLimits((-0.8, 0.8), 2, 6), "x": CoordinateLimits((-1, 1), 2, 6)}
    found = design_excitation(model, limits, rounds=1, samples=16, harmonics=2)
    q, v, _ = found.at(np.linspace(0, 10, 200))
    names = model.equations.layout.coordinate_names
    psi = q[:, names.index("psi")]
    assert np.allclose(v[:, names.index("x")] * np.sin(psi), v[:, names.index("y")] * np.cos(psi), atol=1e-9)
    assert found.condition < 20
