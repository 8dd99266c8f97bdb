"""Results in the description: read again, it moves like the mechanism that was measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from analysis.identification.arms import PUMA, TWO_R, arm
from analysis.identification.recordings import forces, recorded, sines
from torseur.analysis.identification import Extras, Options, base_parameters, identify, linear_model, write_back
from torseur.description.mechanism import Frame, placement
from torseur.errors import IdentificationError, UnsupportedError


def test_described_mechanism_needs_the_measured_forces():
    """A description with wrong masses, data of the true arm: what is written back explains the data."""
    model, true = linear_model(arm(PUMA, seed=1)), arm(PUMA, seed=8)
    base = base_parameters(model)
    trial = recorded(model, mechanism=true)
    found = identify(model, [trial], "consistent", Options(base=base))
    mechanism, left = write_back(found)
    again = ts.parse(ts.to_text(mechanism))
    _, q, v, a = sines(6, 50, seed=9)
    assert np.allclose(forces(again, q, v, a), forces(true, q, v, a), atol=1e-6)
    assert left == ()


def test_friction_becomes_loads():
    true = arm(TWO_R, (0, -9.81, 0))
    model = linear_model(true, Extras(viscous=["q1"], coulomb=["q2"], stiffness=["q1"], rotor=["q2"]))
    trial = recorded(model, extra=lambda q, v, a: v * [0.5, 0] + np.sign(v) * [0, 0.3] + q * [2.0, 0] + a * [0, 0.05])
    found = identify(model, [trial], "consistent")
    mechanism, left = write_back(found)
    assert left == ()
    text = ts.to_text(mechanism)
    assert ts.to_text(ts.parse(text)) == text
    equations = ts.derive(ts.parse(text))
    kernel = ts.compile(equations, ["loads"])
    state = {"q": [0.2, 0.1, 0.1], "v": [1.0, -2.0, -2.0]}
    loads = kernel(**{group.name: state[group.name] for group in kernel.program.inputs})
    assert np.allclose(loads["loads"], [-0.5 * 1.0 - 2.0 * 0.2, 0.3, 0], atol=1e-6)


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
    written, _ = write_back(found)
    assert float(written.body("arm").mass) == pytest.approx(2, abs=1e-5)
    assert written.body("tip") == tip


def test_what_no_body_can_have_is_not_written():
    true = arm(PUMA, seed=4)
    model = linear_model(true)
    found = identify(model, [recorded(model, 0.1, count=30)], "ordinary")
    with pytest.raises(IdentificationError, match="cannot be written back: 'link"):
        write_back(found)


def test_a_joint_at_the_mass_centre_is_refused():
    body = ts.body("b", mass=1, centre=(0.1, 0, 0), inertia=ts.inertia(0.1, 0.1, 0.1))
    joint = ts.revolute("pin", ts.EARTH, body.centre_frame, "q1", (0, 0, 1))
    model = linear_model(ts.Mechanism("m", bodies=[body], joints=[joint], gravity=(0, -9.81, 0)))
    found = identify(model, [recorded(model)], "consistent")
    with pytest.raises(UnsupportedError, match="placed from the mass centre of 'b'"):
        write_back(found)


def slide_and_hinge(gravity=(0, -9.81, 0)) -> ts.Mechanism:
    """A carriage with a pendulum."""
    carriage = ts.body("carriage", mass=3, centre=(0, 0, 0), inertia=ts.inertia(0.1, 0.1, 0.1))
    bob = ts.body("bob", mass=1, centre=(0, -0.4, 0), inertia=ts.inertia(0.02, 0.01, 0.02))
    joints = [
        ts.prismatic("rail", ts.EARTH, carriage, "q1", (1, 0.5, 0)),
        ts.revolute("pin", carriage, bob, "q2", (0, 0, 1)),
    ]
    return ts.Mechanism("crane", bodies=[carriage, bob], joints=joints, gravity=gravity)


def test_written_rotors_friction_and_offsets_move_as_measured():
    """Oracle: forward dynamics of the written text against Newton's law with the laws added by hand."""
    true = slide_and_hinge()
    extras = Extras(
        rotor=["q1", "q2"], viscous=["q1"], coulomb=["q2"], stiffness=["q2"], offset=["q1", "q2"], threshold=0.1
    )
    model = linear_model(true, extras)
    J, c, f, k, shift = np.array([0.8, 0.05]), 0.5, 0.3, 2.0, np.array([0.4, -0.6])

    def laws(q, v, a):
        return a * J + v * [c, 0] + f * np.tanh(v / 0.1) * [0, 1] + q * [0, k] + shift

    trial = recorded(model, extra=laws)
    known = {"carriage.mass": 3.0}
    mechanism, left = write_back(identify(model, [trial], "consistent", Options(known=known)))
    assert left == ("q1.offset (a sensor's, no part of the mechanism)",)
    again = ts.parse(ts.to_text(mechanism))
    start = {"q1": 0.1, "q2": 0.7, "q1'": 0.3, "q2'": -0.5}
    motion = ts.simulate(again, 0.5, initial=start, samples=6, rtol=1e-10)
    assert np.allclose(motion.values[-1, :2], by_hand(true, laws, start, shift), atol=1e-5)


def by_hand(mechanism, laws, start, shift):
    """The same motion from inverse dynamics: M v' = -(bias + laws at rest), the sensor's offset left out on q1."""
    from scipy.integrate import solve_ivp

    def slope(_, y):
        q, v = y[None, :2], y[None, 2:]

        def needed(a):
            return forces(mechanism, q, v, np.array([a])) + laws(q, v, np.array([a])) - shift * [1, 0]

        rest = needed([0.0, 0.0])[0]
        M = np.column_stack([needed(list(unit))[0] - rest for unit in np.eye(2)])
        return np.concatenate([y[2:], np.linalg.solve(M, -rest)])

    y0 = [start["q1"], start["q2"], start["q1'"], start["q2'"]]
    return solve_ivp(slope, (0, 0.5), y0, rtol=1e-10, atol=1e-12).y[:2, -1]


def test_a_payload_is_written_where_it_was_carried():
    true = arm(TWO_R, (0, -9.81, 0))
    load = Frame("link2", placement([0.4, 0.1, 0]))
    model = linear_model(true, Extras(payloads={"box": load}))
    box = ts.body("box", mass=1.5, centre=(0.05, 0, 0), inertia=ts.inertia(0.01, 0.02, 0.03))
    loaded = replace(
        true, bodies=(*true.bodies, box), joints=(*true.joints, ts.fixed("grip", true.bodies[1].at((0.4, 0.1, 0)), box))
    )
    trials = [recorded(model), recorded(model, mechanism=loaded, seed=3, payload="box")]
    found = identify(model, trials, "consistent", Options(known={"box.mass": 1.5}))
    without, left = write_back(found)
    assert left == ("payload 'box'",) and "box" not in [b.name for b in without.bodies]
    mechanism, left = write_back(found, ["box"])
    assert left == ()
    again = ts.parse(ts.to_text(mechanism))
    _, q, v, a = sines(2, 50, seed=9)
    assert np.allclose(forces(again, q, v, a), forces(loaded, q, v, a), atol=1e-5)
    with pytest.raises(IdentificationError, match="unknown payload 'bag'"):
        write_back(found, ["bag"])


def test_values_of_the_study_are_written():
    text = """mechanism m ; param l = 0.5 m ; gravity = [0, -9.81 m/s^2, 0] ;
    let a = body mass = 1 kg, centre = [0.1, 0, 0] m, inertia = diag(1, 1, 1) end ;
    let b = body mass = 1 kg, centre = [0.1, 0, 0] m, inertia = diag(1, 1, 1) end ;
    join earth and a.frame with revolute(q1) about [0, 0, 1] end ;
    join [l, 0, 0] ++ 1 @ a and b.frame with revolute(q2) about [0, 0, 1] end ;"""
    model = linear_model(ts.parse(text), parameters={"l": 0.6})
    found = identify(
        model, [recorded(model, mechanism=ts.parse(text.replace("[l, 0, 0]", "[0.6, 0, 0] m")))], "consistent"
    )
    assert float(write_back(found)[0].parameter("l").value) == 0.6
