"""Stops of joints, bounds and play: closed forms of rebounds."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur as ts
from torseur.errors import TorseurError, UnsupportedError

SLIDE = """
mechanism slide ;
param e = 0.5, a = 0.4 m ;
let cart = body mass = 2 kg, centre = 0, inertia = 0 end ;
join earth and cart.frame as rail with prismatic(x) along [1,0,0] {options} end ;
init x' = 1.5 m/s ;
"""


@pytest.mark.slow
def test_a_cart_between_two_stops_rebounds_at_each():
    """Oracle: the times add up, 0.4/1.5 s to the first stop, then 1 m at 0.5^k of the speed."""
    cart = ts.parse(SLIDE.format(options="stops a - 1 m, a restitution e"))
    motion = ts.simulate(cart, until=6, samples=13, outputs=["rail.upper.multiplier"], dense=True)
    times = [0.4 / 1.5, 0.4 / 1.5 + 1 / 0.75, 0.4 / 1.5 + 1 / 0.75 + 1 / 0.375]
    assert [event.name for event in motion.events] == ["rail.upper", "rail.lower", "rail.upper"]
    assert [event.time for event in motion.events] == pytest.approx(times, abs=1e-9)
    assert motion["x'"][-1] == pytest.approx(-0.1875, abs=1e-9)
    # Nothing presses on a cart that flies, also after the last contact; the interpolant keeps clear of the stops.
    assert np.all(motion["rail.upper.multiplier"] == 0.0)
    assert motion.state_at([3.0])[0, 0] == pytest.approx(-0.6 + (3.0 - times[1]) * 0.375, abs=1e-9)


def test_a_compliant_stop_gives_half_a_period():
    """Oracle: a mass on a spring stays in contact for half a period and leaves with the speed it came with."""
    cart = ts.parse(SLIDE.format(options="stops to a compliant 800 N/m"))
    motion = ts.simulate(cart, until=1.0, samples=[0.0, 0.4 / 1.5 + math.pi / 20 / 2, 1.0], rtol=1e-11)
    assert motion["x"][1] == pytest.approx(0.4 + 1.5 / 20, abs=1e-8)
    assert motion["x'"][-1] == pytest.approx(-1.5, abs=1e-8)
    damped = ts.parse(SLIDE.format(options="stops to a compliant 800 N/m damped 400 N*s/m"))
    slow = ts.simulate(damped, until=3.0, samples=2)
    assert -0.2 < slow["x'"][-1] < 0  # it lets go once, and never pulls back


@pytest.mark.slow
def test_a_pendulum_rests_on_its_stop_and_its_multiplier_is_the_moment():
    """Oracle: m g l cos(q) holds a rod at rest."""
    text = """mechanism arm ; gravity = [0, -9.81 m/s^2, 0] ;
    let rod = body mass = 2 kg, centre = [0.5 m, 0, 0], inertia = 0 end ;
    join earth to rod.frame as hinge with revolute(q) about [0,0,1], stops from -20 deg end ;"""
    motion = ts.simulate(ts.parse(text), until=2, samples=21, outputs=["hinge.lower.multiplier"])
    held = 2 * 9.81 * 0.5 * math.cos(math.radians(20))
    assert motion["hinge.lower.multiplier"][0] == 0.0
    assert motion["hinge.lower.multiplier"][-1] == pytest.approx(-held, rel=1e-9)
    assert motion["q"][-1] == pytest.approx(-math.radians(20), abs=1e-11)


@pytest.mark.slow
def test_backlash_of_a_gear_is_crossed_before_the_second_wheel_turns():
    """Oracle: the first wheel flies through half its play; a plastic impact shares the momentum."""
    text = """mechanism gears ;
    let a = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 0.03) end ;
    let b = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 0.08) end ;
    join earth and a.frame as first with revolute(p) about [0,0,1] end ;
    join earth and b.frame as second with revolute(q) about [0,0,1] end ;
    constrain q = -2*p play 0.2 rad as mesh ;
    init p' = 3 rad/s ;"""
    motion = ts.simulate(ts.parse(text), until=1, samples=11)
    assert [event.name for event in motion.events] == ["mesh.lower"]
    assert motion.events[0].time == pytest.approx(0.1 / 2 / 3, abs=1e-10)
    # Impulse J at the mesh: 0.03 dp' = -2 J', 0.08 dq' = -J' with q' = -2 p' after it.
    after = 3 * 0.03 / (0.03 + 4 * 0.08)
    assert motion["p'"][-1] == pytest.approx(after, abs=1e-10)
    assert motion["q'"][-1] == pytest.approx(-2 * after, abs=1e-10)


@pytest.mark.slow
def test_sensitivities_go_through_a_stop():
    """Oracle: after one rebound x = a - e v (t - a/v), by hand."""
    cart = ts.parse(SLIDE.format(options="stops to a restitution 0.5"))
    result = ts.sensitivity(cart, "x", until=1.0, parameters=["a", "rail.upper.restitution", "x'(0)"])
    v, a, e = 1.5, 0.4, 0.5
    assert result["x"].derivatives[-1] == pytest.approx([1 + e, -(v - a), -e], abs=1e-7)


@pytest.mark.slow
def test_limits_of_a_robot_file_act_where_asked(tmp_path):
    """Oracle: the stop itself, at the file's limit."""
    file = tmp_path / "arm.urdf"
    file.write_text(
        '<robot name="arm"><link name="base"/><link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>'
        '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>'
        '<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>'
        '<limit lower="-0.5" upper="0.3" effort="1" velocity="1"/><dynamics friction="0.2"/></joint></robot>'
    )
    robot = ts.read_robot(file, stops=0.0, friction=False)
    motion = ts.simulate(robot.mechanism, until=2, samples=21)
    assert motion["hinge"][-1] == pytest.approx(0.3, abs=1e-10)
    assert not any("no stop acts" in str(finding) for finding in robot.findings)
    free = ts.simulate(ts.read_robot(file, friction=False).mechanism, until=2, samples=21)
    assert free["hinge"].max() > 1
    locked = ts.read_robot(file, stops=0.0, friction=False, locked={"hinge": 0.1})
    assert locked.mechanism.contacts == ()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("stops 0 m, 1 m restitution 0.5 compliant 3 N/m", "not both"),
        ("stops 0 m, 1 m damped 3 N*s/m", "compliant"),
        ("stops 0 m, 1 m restitution 1.5", "between 0 and 1"),
        ("stops 0 deg, 1 m", "length"),
        ("stops 0 m, 1 m, stops from 0 m", "twice"),
        ("stops of y 0 m, 1 m", "'y'"),
    ],
)
def test_stops_that_contradict_themselves_are_named(options, words):
    with pytest.raises(TorseurError, match=words):
        ts.parse(SLIDE.format(options=options))


def test_what_takes_one_set_of_equations_refuses_stops():
    cart = ts.parse(SLIDE.format(options="stops 0 m, 1 m"))
    with pytest.raises(UnsupportedError, match=r"linearisation .*'rail.lower'"):
        ts.linearise(cart)
    with pytest.raises(UnsupportedError, match="forward_dynamics"):
        ts.compile(ts.derive(cart), ["forward_dynamics"])
    with pytest.raises(UnsupportedError, match="FMU"):
        ts.write_fmu(cart, "never.fmu")
    assert "rail.lower" in ts.write_equations(ts.derive(cart))
    assert ts.linearise(ts.without_contacts(cart)).state_names == ["x", "x'"]
    assert ts.parse(ts.to_text(cart)) == cart
