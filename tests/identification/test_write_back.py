"""Results in the description: read again, it moves like the mechanism that was measured."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from identification.arms import PUMA, TWO_R, arm
from identification.recordings import forces, recorded, sines
from torseur.errors import IdentificationError, UnsupportedError
from torseur.identification import Extras, Options, base_parameters, described, identify, linear_model


def test_described_mechanism_needs_the_measured_forces():
    """A description with wrong masses, data of the true arm: what is written back explains the data."""
    model, true = linear_model(arm(PUMA, seed=1)), arm(PUMA, seed=8)
    base = base_parameters(model)
    trial = recorded(model, mechanism=true)
    found = identify(model, [trial], "consistent", Options(base=base))
    mechanism, left = described(found)
    again = ts.parse(ts.to_text(mechanism))
    _, q, v, a = sines(6, 50, seed=9)
    assert np.allclose(forces(again, q, v, a), forces(true, q, v, a), atol=1e-6)
    assert left == ()


def test_friction_becomes_loads():
    true = arm(TWO_R, (0, -9.81, 0))
    model = linear_model(true, Extras(viscous=["q1"], coulomb=["q2"], stiffness=["q1"], rotor=["q2"]))
    trial = recorded(model, extra=lambda q, v, a: v * [0.5, 0] + np.sign(v) * [0, 0.3] + q * [2.0, 0] + a * [0, 0.05])
    found = identify(model, [trial], "consistent")
    mechanism, left = described(found)
    assert left == ("q2.rotor",)
    text = ts.to_text(mechanism)
    assert ts.to_text(ts.parse(text)) == text
    equations = ts.derive(ts.parse(text))
    kernel = ts.compile(equations, ["loads"])
    loads = kernel(**{group.name: {"q": [0.2, 0.1], "v": [1.0, -2.0]}[group.name] for group in kernel.program.inputs})
    assert np.allclose(loads["loads"], [-0.5 * 1.0 - 2.0 * 0.2, 0.3], atol=1e-6)


def test_bodies_fixed_together_keep_what_is_known_of_the_others():
    arm_body = ts.body("arm", mass=2, centre=(0.3, 0, 0), inertia=ts.inertia(0.01, 0.1, 0.1))
    tip = ts.body("tip", mass=0.5, centre=(0.05, 0, 0), inertia=ts.inertia(1e-3, 1e-3, 1e-3))
    joints = [
        ts.revolute("pin", ts.EARTH, arm_body, "q1", (0, 0, 1)),
        ts.fixed("weld", arm_body.at((0.6, 0, 0), ts.turn(0.3, (0, 0, 1))), tip),
    ]
    mechanism = ts.Mechanism("m", bodies=[arm_body, tip], joints=joints, gravity=(0, -9.81, 0))
    model = linear_model(mechanism)
    found = identify(model, [recorded(model)], "consistent")
    written, _ = described(found)
    assert float(written.body("arm").mass) == pytest.approx(2, abs=1e-5)
    assert written.body("tip") == tip


def test_what_no_body_can_have_is_not_written():
    true = arm(PUMA, seed=4)
    model = linear_model(true)
    found = identify(model, [recorded(model, 0.1, count=30)], "ordinary")
    with pytest.raises(IdentificationError, match="cannot be written back: 'link"):
        described(found)


def test_a_joint_at_the_mass_centre_is_refused():
    body = ts.body("b", mass=1, centre=(0.1, 0, 0), inertia=ts.inertia(0.1, 0.1, 0.1))
    joint = ts.revolute("pin", ts.EARTH, body.centre_frame, "q1", (0, 0, 1))
    model = linear_model(ts.Mechanism("m", bodies=[body], joints=[joint], gravity=(0, -9.81, 0)))
    found = identify(model, [recorded(model)], "consistent")
    with pytest.raises(UnsupportedError, match="placed from the mass centre of 'b'"):
        described(found)
