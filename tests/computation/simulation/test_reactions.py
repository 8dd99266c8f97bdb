"""Reactions in joints against the laws of Newton and Euler, body by body."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur as ts
from computation.simulation.linkages import four_bar


def test_pendulum():
    """Oracle: along the rod m l w² + m g cos, across it m l w' + m g sin; no moment about the pin."""
    bob = ts.body("bob", mass=2.0, centre=(0, -0.5, 0), inertia=0)
    pendulum = ts.Mechanism("pendulum", bodies=[bob], joints=[ts.revolute("pin", ts.EARTH, bob, "a")],
                            gravity=(0, -9.81, 0), initial={"a": 0.7, "a'": 1.0})  # fmt: skip
    outputs = ["pin.force.x", "pin.force.y", "pin.moment.x", "pin.moment.z", "a''"]
    motion = ts.simulate(pendulum, until=1.0, samples=11, rtol=1e-11, outputs=outputs)
    a, w, dw = motion["a"], motion["a'"], motion["a''"]
    assert np.abs(motion["pin.force.x"] - (dw + 2 * 9.81 * np.sin(a))).max() < 1e-12
    assert np.abs(motion["pin.force.y"] - (w**2 + 2 * 9.81 * np.cos(a))).max() < 1e-12
    assert np.abs(motion["pin.moment.x"]).max() < 1e-12 and np.abs(motion["pin.moment.z"]).max() < 1e-12


def test_motor_torque_is_part_of_the_reaction():
    bob = ts.body("bob", mass=2.0, centre=(0, -0.5, 0), inertia=0)
    drive = ts.motor("drive", "pin", "a", 3.0 * ts.cos(ts.TIME))
    pendulum = ts.Mechanism("pendulum", bodies=[bob], joints=[ts.revolute("pin", ts.EARTH, bob, "a")], loads=[drive])
    motion = ts.simulate(pendulum, until=1.0, samples=5, outputs=["pin.moment.z"])
    assert np.abs(motion["pin.moment.z"] - 3.0 * np.cos(motion.time)).max() < 1e-12


def test_loop_in_the_plane():
    """Oracle: force balance of each bar in fixed axes; across the plane nothing is determined."""
    outputs = [f"{joint}.{kind}.{axis}" for joint in "ABCD" for kind in ("force", "moment") for axis in "xyz"]
    outputs += [f"{body}.centre.acceleration.{axis}" for body in ("crank", "coupler", "rocker") for axis in "xy"]
    motion = ts.simulate(four_bar(), until=1.0, samples=5, rtol=1e-11, outputs=outputs)
    turned = {"A": motion["q1"], "B": motion["q1"] + motion["q2"], "C": motion["q3"], "D": motion["q3"]}

    def force(joint):
        x, y, angle = motion[f"{joint}.force.x"], motion[f"{joint}.force.y"], turned[joint]
        return np.array([x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)])

    def needed(body, mass):
        found = [mass * motion[f"{body}.centre.acceleration.{axis}"] for axis in "xy"]
        return np.array([found[0], found[1] + mass * 9.81])

    assert np.abs(force("A") - force("B") - needed("crank", 1.0)).max() < 1e-11
    assert np.abs(force("B") - force("C") - needed("coupler", 2.0)).max() < 1e-11
    assert np.abs(force("C") + force("D") - needed("rocker", 1.5)).max() < 1e-11
    for joint in "ABCD":
        assert np.abs(motion[f"{joint}.moment.z"]).max() < 1e-11
        assert all(np.isnan(motion[f"{joint}.{part}"]).all() for part in ("force.z", "moment.x", "moment.y"))


def test_weight_on_a_welded_joint():
    """A fixed joint carries force and moment: m g and m g times the arm."""
    arm = ts.body("arm", mass=1.0, centre=(0.5, 0, 0), inertia=0)
    load = ts.body("load", mass=4.0, centre=(0.2, 0, 0), inertia=0)
    joints = [ts.revolute("hinge", ts.EARTH, arm, "a"), ts.fixed("weld", arm.at((1.0, 0, 0)), load)]
    mechanism = ts.Mechanism("arm", bodies=[arm, load], joints=joints, gravity=(0, -10, 0))
    motion = ts.simulate(mechanism, until=1e-6, outputs=["weld.force.y", "weld.moment.z", "a''"])
    lift = 4.0 * (10 + 1.2 * motion["a''"][0])
    assert math.isclose(motion["weld.force.y"][0], lift, rel_tol=1e-12)
    assert math.isclose(motion["weld.moment.z"][0], 0.2 * lift, rel_tol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("switch", ["", " stops -1, 2 restitution 0.5", " friction = 0.2 N*m sticking"])
def test_hinges_on_one_axis_share_what_nobody_knows(switch):
    """Oracle: the weight along the axis hangs on both hinges together, whatever else switches along the motion."""
    door = ts.parse(f"""gravity = [0, 0, -9.81] ; let d = body mass = 4 kg, centre = [0.5, 0, 0] m, inertia = diag(1, 1, 2) end ;
        join earth to d.frame as low with revolute(a) about [0, 0, 1]{switch} end ;
        join [0, 0, 2] m @ earth to [0, 0, 2] m @ d as high with revolute(b) about [0, 0, 1], role = loop end ; init a' = 1 rad/s ;""")
    motion = ts.simulate(door, until=0.2, samples=3, outputs=["low.moment.z", "low.force.z", "high.force.z"])
    assert all(np.isnan(motion[name]).all() for name in ("low.force.z", "high.force.z"))
    assert np.isfinite(motion["low.moment.z"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("turned", [False, True])
def test_a_contact_bears_what_joints_do_not(turned):
    """Oracle: a free joint passes nothing on; a guide beside the foot bears the moment of weight and contact alone."""
    ends = "[0.1, 0.2, 0] m @ b to earth" if turned else "earth to [0.1, 0.2, 0] m @ b"
    block = ts.parse(f"""gravity = [0, 0, -10] ; let b = body mass = 2 kg, centre = 0, inertia = diag(1, 1, 1) end ;
        join {ends} as j with {{}} end ; contact ([0.3, 0, -0.4] m @ b).point with earth normal [0, 0, 1] friction 0, restitution 0 as floor ;
        init z = {"-" if turned else ""}0.4 m ;""".replace("([0.3, 0, -0.4] m @ b)", "foot").replace("join ", "let foot = [0.3, 0, -0.4] m @ b ; join ", 1).format("prismatic(z) along [0, 0, 1]"))  # fmt: skip
    wanted = [f"j.{kind}.{axis}" for kind in ("force", "moment") for axis in "xyz"]
    motion = ts.simulate(block, until=0.1, samples=2, outputs=wanted)
    # About the joint's frame: the weight acts 0.1 m behind it, the floor 0.2 m before it.
    moment = 20 * 0.3
    sign = -1 if turned else 1
    np.testing.assert_allclose([motion[name][-1] for name in wanted], [0, 0, 0, 0, sign * moment, 0], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.5, -0.5])
def test_friction_under_a_block_is_passed_on_by_its_guides(speed):
    """Oracle: Coulomb's law; the pushed block moves evenly."""
    sledge = ts.parse(f"""gravity = [0, 0, -10] ; let car = body mass = 1 kg, centre = 0, inertia = 0 end ; let b = body mass = 2 kg, centre = 0, inertia = 0 end ;
        join earth and car as rail with prismatic(x) along [1, 0, 0] end ; join car and b as lift with prismatic(z) along [0, 0, 1] end ;
        contact b.point with earth normal [0, 0, 1] friction 0.3, restitution 0 as floor ; constrain x = {speed} m/s * t as push ;""")
    motion = ts.simulate(
        sledge, until=0.2, samples=2, outputs=["lift.force.x", "lift.force.z", "rail.force.z", "rail.force.x"]
    )
    push = 0.3 * 20 * math.copysign(1, speed)
    found = [motion[name][-1] for name in ("lift.force.x", "lift.force.z", "rail.force.z", "rail.force.x")]
    np.testing.assert_allclose(found, [push, 0, 10, push], atol=1e-8)


@pytest.mark.slow
def test_friction_at_rest_shares_with_what_holds_the_joint_already():
    """Oracle: a rod held by a string and by friction in its pivot; only the sum of their moments is known."""
    text = """gravity = [0, 0, -10] ; let b = body mass = 2 kg, centre = [0.5, 0, 0] m, inertia = diag(1, 1, 1) end ;
        join earth and b as hinge with revolute(q) about [0, 1, 0] friction = 30 N*m sticking end ;
        constrain distance [1, 0, 0] m @ b to [1, 0, 1] m @ earth = 1 m as string ;"""
    held = ts.simulate(ts.parse(text), until=0.1, samples=3, outputs=["hinge.force.z"])
    assert np.isnan(held["hinge.force.z"]).all()
    assert "friction 'hinge.friction' share it" in held.notes[-1]
    free = ts.simulate(
        ts.parse(text.replace(" friction = 30 N*m sticking", "")), until=0.1, samples=3, outputs=["hinge.force.z"]
    )
    np.testing.assert_allclose(free["hinge.force.z"], 10, atol=1e-9)
    # A drive that starts at rest slides afterwards.
    driven = text.replace(
        "constrain distance [1, 0, 0] m @ b to [1, 0, 1] m @ earth = 1 m as string",
        "constrain q = 1 rad/s^2 * t^2 as motor",
    )
    assert np.isfinite(
        ts.simulate(ts.parse(driven), until=0.1, samples=3, outputs=["hinge.force.z"])["hinge.force.z"]
    ).all()


@pytest.mark.slow
def test_two_contacts_share_what_one_could_bear():
    """Oracle: a stop in the guide and a floor 0.3 m beside it: each of them alone tells the moment, both do not."""
    text = """gravity = [0, 0, -10] ; let b = body mass = 2 kg, centre = 0, inertia = diag(1, 1, 1) end ; let foot = [0.3, 0, 0] m @ b ;
        join earth and b as j with prismatic(z) along [0, 0, 1]{stop} end ;{floor}"""
    stop, floor = (
        " stops 0, 1 restitution 0",
        " contact foot.point with earth normal [0, 0, 1] friction 0, restitution 0 as floor ;",
    )
    for parts, expected in (((stop, ""), 0.0), (("", floor), 6.0), ((stop, floor), np.nan)):
        block = ts.parse(text.format(stop=parts[0], floor=parts[1]))
        found = ts.simulate(block, until=0.1, samples=2, outputs=["j.moment.y"])["j.moment.y"]
        np.testing.assert_allclose(found, expected, atol=1e-9)
