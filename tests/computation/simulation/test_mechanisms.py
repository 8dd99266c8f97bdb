"""From a mechanism to its motion: initial states, named quantities, laws, and singular mass matrices."""

import math

import numpy as np
import pytest

import torseur as ts
from torseur.computation.simulation.model.first_order_form import as_system
from torseur.errors import SimulationError, TorseurError


def pendulum(**more):
    """A point mass of 2 kg on a massless rod of 0.5 m."""
    m = ts.parameter("m", 2, "kg")
    bob = ts.body("bob", mass=m, centre=(0, -0.5, 0), inertia=0)
    pin = ts.revolute("pin", ts.EARTH, bob, "theta")
    options = {"gravity": (0, -9.81, 0), "initial": {"theta": 0.4, "theta'": 1.0}, **more}
    return ts.Mechanism("pendulum", bodies=[bob], joints=[pin], parameters=[m], **options)


def turning_slider(r=1.0):
    """A point mass that slides on a turning massless arm: its mass matrix is diag(m r^2, m)."""
    arm = ts.body("arm", mass=0, inertia=0)
    bead = ts.body("bead", mass=1, centre=(0, 0, 0), inertia=0)
    joints = [ts.revolute("pin", ts.EARTH, arm, "theta"), ts.prismatic("guide", arm, bead, "r", axis=(1, 0, 0))]
    return ts.Mechanism("turning slider", bodies=[arm, bead], joints=joints, initial={"r": r, "theta'": 0.3})


def test_states_have_names_and_units():
    motion = ts.simulate(pendulum(), until=1.0)
    assert [column.heading for column in motion.columns] == ["theta [rad]", "theta' [rad/s]"]
    assert motion["theta"][0] == 0.4 and motion["theta'"][0] == 1.0


def test_bead_on_a_turning_arm_moves_straight():
    """No load acts, so the bead keeps its velocity in space."""
    names = ["bead.position.x", "bead.position.y", "bead.velocity.x", "bead.velocity.y"]
    motion = ts.simulate(turning_slider(), until=3.0, samples=7, rtol=1e-12, outputs=names)
    assert np.allclose(motion["bead.position.x"], 1.0, rtol=0.0, atol=1e-10)
    assert np.allclose(motion["bead.position.y"], 0.3 * motion.time, rtol=0.0, atol=1e-10)
    assert np.allclose(motion["bead.velocity.y"], 0.3, rtol=0.0, atol=1e-10)


def test_named_quantities_of_a_pendulum():
    outputs = ["energy", "kinetic_energy", "theta''", "bob.centre.acceleration.x", "bob.rotation.z"]
    motion = ts.simulate(pendulum(), until=2.0, outputs=outputs, rtol=1e-11)
    theta, rate = motion["theta"], motion["theta'"]
    assert np.allclose(motion["theta''"], -9.81 / 0.5 * np.sin(theta))
    assert np.allclose(motion["kinetic_energy"], 0.25 * rate**2)
    assert np.allclose(motion["bob.rotation.z"], rate)
    along_x = 0.5 * (np.cos(theta) * motion["theta''"] - np.sin(theta) * rate**2)
    assert np.allclose(motion["bob.centre.acceleration.x"], along_x)
    assert np.ptp(motion["energy"]) < 1e-9
    assert motion.columns[4].quantity.unit == "rad/s^2"


def test_formulas_in_the_mechanisms_own_symbols():
    """Outputs and events may be formulas of coordinates and rates."""
    mechanism = pendulum()
    (theta,) = mechanism.joint("pin").coordinates
    turn = ts.Event("turn", theta.rate, direction=-1)
    height = ts.Output("height", -0.5 * ts.cos(theta.symbol), "m")
    motion = ts.simulate(mechanism, until=3.0, outputs=[height], events=[turn], rtol=1e-11)
    assert np.allclose(motion["height"], -0.5 * np.cos(motion["theta"]))
    highest = math.acos(math.cos(0.4) - 0.5 / (2 * 9.81))
    assert [event.state["theta"] for event in motion.events] == pytest.approx([highest] * len(motion.events), abs=1e-8)
    assert len(motion.events) >= 1


def test_unknown_names_list_the_known_ones():
    with pytest.raises(TorseurError, match="Did you mean 'energy'"):
        ts.simulate(pendulum(), until=1.0, outputs=["enery"])
    with pytest.raises(TorseurError, match="Did you mean 'theta'"):
        ts.simulate(pendulum(), until=1.0, initial={"tetha": 1.0})
    with pytest.raises(TorseurError, match="unknown parameter 'M'"):
        ts.simulate(pendulum(), until=1.0, parameters={"M": 1.0})


def test_initial_rates_give_quasi_velocities():
    """A free body with speeds in its own axes, turned by 90 degrees: x' forward is -vy."""
    block = ts.body("block", mass=1, centre=(0, 0, 0), inertia=ts.inertia(1, 1, 1))
    free = ts.free("float", ts.EARTH, block, "x", "y", "z", "a", "b", "c", angles="zyx", speeds="body")
    mechanism = ts.Mechanism("block", bodies=[block], joints=[free], initial={"a": math.pi / 2, "x'": 2.0, "a'": 0.5})
    system = as_system(mechanism)
    state = dict(zip([q.name for q in system.states], system.initial, strict=True))
    assert state["float.vy"] == pytest.approx(-2.0) and state["float.vx"] == pytest.approx(0.0, abs=1e-15)
    assert state["float.wz"] == pytest.approx(0.5)
    motion = ts.simulate(mechanism, until=1.0, outputs=["x'"], rtol=1e-11)
    assert np.allclose(motion["x"], 2.0 * motion.time) and np.allclose(motion["x'"], 2.0)


def quaternion_top(**initial):
    top = ts.body("top", mass=1, centre=(0, 0, 0), inertia=ts.inertia(1, 2, 3))
    ball = ts.spherical("ball", ts.EARTH, top, "w", "x", "y", "z", angles="quaternion")
    return ts.Mechanism("top", bodies=[top], joints=[ball], initial={"ball.wx": 1.0, "ball.wy": 0.2, **initial})


def test_quaternions_stay_unit_everywhere():
    """At the steps, at samples and between them."""
    motion = ts.simulate(quaternion_top(), until=20.0, samples=50, dense=True, rtol=1e-6)
    names = ("w", "x", "y", "z")
    assert np.allclose(sum(motion[name] ** 2 for name in names), 1.0, rtol=0.0, atol=1e-14)
    between = motion.state_at(np.linspace(0.0, 20.0, 333))
    assert np.allclose(np.sum(between[:, :4] ** 2, axis=1), 1.0, rtol=0.0, atol=1e-14)


def test_quaternions_start_at_length_one():
    """Exact components stay; what is not stated completes them, and what cannot be is refused."""
    system = as_system(quaternion_top(w=ts.about(2.0), x=ts.about(0.0), y=ts.about(2.0)))
    assert system.initial[:4] == pytest.approx([math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0])
    assert as_system(quaternion_top(x=0.6)).initial[:4] == (0.8, 0.6, 0.0, 0.0)
    assert as_system(quaternion_top(w=0.6, x=0.0, y=0.0)).initial[:4] == (0.6, 0.0, 0.0, 0.8)
    assert as_system(quaternion_top(w=0.7071, x=0.7071)).initial[:2] == pytest.approx([math.sqrt(0.5)] * 2)
    assert as_system(quaternion_top(w=0.6, z=ts.about(-3.0))).initial[:4] == pytest.approx((0.6, 0.0, 0.0, -0.8))
    with pytest.raises(TorseurError, match="has length 2.82843, expected 1: w = 0.707107, x = 0, y = 0.707107"):
        as_system(quaternion_top(w=2.0, x=0.0, y=2.0))
    with pytest.raises(TorseurError, match="is not complete: x, y, z may be anything of length 0.8 together"):
        as_system(quaternion_top(w=0.6))
    with pytest.raises(TorseurError, match="is zero, which is not a rotation"):
        as_system(quaternion_top(w=0.0))


def test_rates_that_no_speeds_give():
    with pytest.raises(TorseurError, match="no speeds give the rates"):
        ts.simulate(quaternion_top(), until=1.0, initial={"w'": 1.0})


def test_undetermined_load_needs_its_law():
    push = ts.UndeterminedFunction("push", 1, "N*m")
    mechanism = pendulum(loads=[ts.motor("drive", "pin", "theta", push(ts.TIME))], gravity=(0, 0, 0))
    with pytest.raises(TorseurError, match="law 'push' is undetermined"):
        ts.simulate(mechanism, until=1.0)
    motion = ts.simulate(mechanism, until=1.0, laws={"push": lambda t: 0.5 * t}, initial={"theta": 0.0, "theta'": 0.0})
    assert np.allclose(motion["theta"], motion.time**3 / 6, rtol=0.0, atol=1e-9)


def test_mass_matrix_without_rank_is_named():
    """With the bead on the axis nothing resists turning."""
    with pytest.raises(SimulationError, match=r"cannot start.*mass matrix loses rank.*'theta''") as failure:
        ts.simulate(turning_slider(r=0.0), until=1.0)
    assert failure.value.trajectory.time.tolist() == [0.0]


def test_gimbal_lock_is_named():
    """Euler angles zxz at theta = 0: the first and the last axis align."""
    top = ts.body("top", mass=1, centre=(0, 0, 0.1), inertia=ts.inertia(1, 1, 2))
    pivot = ts.spherical("pivot", ts.EARTH, top, "phi", "theta", "psi", angles="zxz")
    mechanism = ts.Mechanism("top", bodies=[top], joints=[pivot], initial={"psi'": 1.0})
    with pytest.raises(SimulationError, match=r"'phi'' and 'psi'' together.*quaternion"):
        ts.simulate(mechanism, until=1.0)


def test_a_model_is_prepared_once():
    mechanism = pendulum()
    first, second = as_system(mechanism), as_system(mechanism, {"m": 3.0})
    assert first.rhs is second.rhs and second.values == (3.0,)


def test_what_no_motion_depends_on_may_be_unknown():
    """Where the mass centre of a sliding body is matters to its potential energy only."""
    block = ts.body("block", mass=2, inertia=0)
    rail = ts.prismatic("rail", ts.EARTH, block, "x", axis=(0, 1, 0))
    falling = ts.Mechanism("falling", bodies=[block], joints=[rail], gravity=(0, -9.81, 0))
    motion = ts.simulate(falling, until=1.0, samples=3, outputs=["kinetic_energy", "potential_energy"])
    assert motion["x"][-1] == pytest.approx(-9.81 / 2) and motion["kinetic_energy"][-1] == pytest.approx(9.81**2)
    assert np.isnan(motion["potential_energy"]).all()
    assert any("block.centre.y" in note for note in motion.notes)


def test_what_a_motion_depends_on_must_be_known():
    bob = ts.body("bob", mass=2, inertia=0)
    swing = ts.Mechanism("swing", bodies=[bob], joints=[ts.revolute("pin", ts.EARTH, bob, "theta")])
    with pytest.raises(TorseurError, match=r"no value is given for 'bob.centre.x', 'bob.centre.y'"):
        ts.simulate(swing, until=1.0)
