"""Designed motions: within their limits, and better than what they started from."""

from __future__ import annotations

import numpy as np
import pytest

from identification.arms import TWO_R, arm
from torseur.errors import IdentificationError, UnsupportedError
from torseur.identification import CoordinateLimits, base_parameters, design_excitation, linear_model
from torseur.identification.excitation import condition_of
from torseur.library import load

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
    with pytest.raises(UnsupportedError, match="without loops"):
        design_excitation(linear_model(load("four_bar")), LIMITS)
