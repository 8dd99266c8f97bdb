"""Contacts that rebound, rest and open again."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur as ts
from computation.simulation.linkages import four_bar
from computation.simulation.systems import ball as falling_ball
from torseur.computation.simulation import Event, Impact
from torseur.errors import SimulationError, TorseurError, UnsupportedError


def ball(**initial) -> ts.Mechanism:
    body = ts.body("ball", mass=2.0, centre=(0, 0, 0), inertia=0)
    fall = ts.prismatic("fall", ts.EARTH, body, "z", axis=(0, 0, 1))
    return ts.Mechanism("ball", bodies=[body], joints=[fall], gravity=(0, 0, -9.81), initial=initial)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["augmented", "partitioned", "projector"])
@pytest.mark.parametrize("method", ["explicit", "radau5", "radau9"])
def test_bouncing_ball(method, formulation):
    """Oracle: flights shorten by the restitution; after (1 + e) / (1 - e) times the first fall the ball lies still."""
    e, first = 0.7, math.sqrt(2 / 9.81)
    motion = ts.simulate(ball(z=1.0), until=4.0, samples=401, rtol=1e-11, method=method, outputs=["floor.multiplier"],
                         formulation=formulation,
                         events=[Impact("floor", "z", restitution=e)])  # fmt: skip
    times = first * (1 + 2 * np.cumsum([0, e, e**2, e**3, e**4]))
    assert np.abs([event.time for event in motion.events][:5] - times).max() < 1e-9
    assert motion.events[-1].time == pytest.approx(first * (1 + e) / (1 - e), abs=1e-5)
    assert motion["z"].min() > -1e-11
    resting = motion.time > 2.6
    assert np.abs(motion["z"][resting]).max() < 1e-12 and np.abs(motion["z'"][resting]).max() < 1e-12
    assert np.allclose(motion["floor.multiplier"][resting], -2 * 9.81)


def test_ball_on_a_shaking_floor_takes_off():
    """Oracle: a closed contact opens where the floor falls faster than gravity: A w² sin(w t) = g."""
    amplitude, w = 0.05, 20.0
    floor = amplitude * ts.sin(w * ts.TIME)
    height = ts.Coordinate("z", "m").symbol
    mechanism = ball(**{"z": 0.0, "z'": amplitude * w})
    motion = ts.simulate(mechanism, until=0.1, rtol=1e-11, events=[Impact("floor", height - floor)])
    expected = math.asin(9.81 / (amplitude * w * w)) / w
    first = motion.events[0]
    assert first.name == "floor opens" and first.time == pytest.approx(expected, abs=1e-9)
    assert first.state["z"] == pytest.approx(amplitude * math.sin(w * expected), abs=1e-9)


@pytest.mark.slow
def test_pendulum_between_stops():
    """A perfect rebound keeps the energy; the angle stays between the stops."""
    bob = ts.body("bob", mass=2.0, centre=(0, -0.5, 0), inertia=0)
    pin = ts.revolute("pin", ts.EARTH, bob, "a")
    angle = pin.coordinates[0].symbol
    mechanism = ts.Mechanism("pendulum", bodies=[bob], joints=[pin], gravity=(0, -9.81, 0), initial={"a": 0.7})
    stops = [Impact("left", angle + 0.2, restitution=1.0), Impact("right", 0.8 - angle, restitution=1.0)]
    motion = ts.simulate(mechanism, until=10.0, samples=501, rtol=1e-11, events=stops, outputs=["energy"])
    assert motion["a"].min() > -0.2 - 1e-9 and motion["a"].max() < 0.7 + 1e-8
    assert {event.name for event in motion.events} == {"left"} and len(motion.events) > 5
    assert np.ptp(motion["energy"]) < 1e-8


@pytest.mark.slow
def test_reset_by_the_user_does_the_same():
    bob = ts.body("bob", mass=2.0, centre=(0, -0.5, 0), inertia=0)
    pin = ts.revolute("pin", ts.EARTH, bob, "a")
    angle = pin.coordinates[0].symbol
    mechanism = ts.Mechanism("pendulum", bodies=[bob], joints=[pin], gravity=(0, -9.81, 0), initial={"a": 0.7})
    hit = Event("left", angle + 0.2, direction=-1, reset=lambda t, y: (y[0], -0.6 * y[1]))
    expected = ts.simulate(mechanism, until=3.0, samples=31, rtol=1e-11, events=[hit])
    motion = ts.simulate(
        mechanism, until=3.0, samples=31, rtol=1e-11, events=[Impact("left", angle + 0.2, restitution=0.6)]
    )
    assert np.abs(motion["a"] - expected["a"]).max() < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["augmented", "partitioned", "projector"])
def test_impact_inside_a_loop(formulation):
    """The impulse respects the loop: it stays closed, and a perfect rebound keeps the energy."""
    rocker = ts.Coordinate("q3").symbol
    motion = ts.simulate(four_bar(), until=3.0, samples=301, rtol=1e-11, formulation=formulation,
                         outputs=["energy", "kinetic_energy"], events=[Impact("stop", 2.0 - rocker, restitution=1.0)])  # fmt: skip
    assert motion.events and motion["q3"].max() < 2.0 + 1e-9
    assert np.ptp(motion["energy"]) < 1e-8 * motion["kinetic_energy"].max()
    tip = 0.4 * np.exp(1j * motion["q1"]) + 0.9 * np.exp(1j * (motion["q1"] + motion["q2"]))
    assert np.abs(tip - 1.0 - 0.7 * np.exp(1j * motion["q3"])).max() < 1e-12


@pytest.mark.slow
def test_resets_end_on_the_constraints():
    """A user's reset turns one speed of a loop round; the others follow."""
    rocker = ts.Coordinate("q3").symbol
    turn = Event("turn", 2.0 - rocker, direction=-1, reset=lambda t, y: [*y[:3], *(-y[3:5]), -0.999 * y[5]])
    motion = ts.simulate(four_bar(), until=1.5, rtol=1e-10, events=[turn])
    assert motion.events
    tip = 0.4 * np.exp(1j * motion["q1"]) + 0.9 * np.exp(1j * (motion["q1"] + motion["q2"]))
    assert np.abs(tip - 1.0 - 0.7 * np.exp(1j * motion["q3"])).max() < 1e-12


def test_stop_after_a_number_of_resets():
    bounce = Event("ground", direction=-1, function=falling_ball().rhs.input("y").nodes[0], stop=3,
                   reset=lambda t, y: (0.0, -0.5 * y[1]))  # fmt: skip
    motion = ts.simulate(falling_ball(), until=100.0, events=[bounce], rtol=1e-10)
    first = math.sqrt(2 / 9.81)
    assert motion.time[-1] == pytest.approx(first * (1 + 1 + 0.5), abs=1e-8) and len(motion.events) == 3


def test_bad_input():
    with pytest.raises(TorseurError, match=r"restitution is 1.2"):
        Impact("floor", "z", restitution=1.2)
    with pytest.raises(TorseurError, match=r"starts 0.1 inside it, with a gap of -0.1"):
        ts.simulate(ball(z=-0.1), until=1.0, events=[Impact("floor", "z")])
    with pytest.raises(TorseurError, match="unknown coordinate 'height'"):
        ts.simulate(ball(z=1.0), until=1.0, events=[Impact("floor", "height")])
    with pytest.raises(UnsupportedError, match="is not a mechanism"):
        ts.simulate(falling_ball(), until=1.0, events=[Impact("floor", "z")])
    broken = Event("ground", direction=-1, function=falling_ball().rhs.input("y").nodes[0], reset=lambda t, y: (1.0,))
    with pytest.raises(SimulationError, match="must return 2 finite numbers"):
        ts.simulate(falling_ball(), until=1.0, events=[broken])


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e3])
def test_the_speed_of_rest_goes_with_the_size(size):
    """A ball on a lever of any size bounces alike: (1 + e)/(1 - e) √(2 h / g) after its fall it lies still."""
    text = f"""gravity = [0, 0, -9.81] ; let arm = body mass = 1 kg, centre = 0, inertia = 0 end ;
    join earth and arm.frame as rail with prismatic(z) along [0, 0, 1] end ;
    let tip = body mass = 1e-9 kg, centre = 0, inertia = diag(1, 1, 1) kg*m^2 end ; join [{size}, 0, 0] m @ arm and tip.frame as end with revolute(q) end ;
    init z = {size} m, z' = 0 m/s, q = 0, q' = 0 ;"""
    fall, e = np.sqrt(2 * size / 9.81), 0.5
    over = fall * (1 + 2 * e / (1 - e))
    motion = ts.simulate(ts.parse(text), until=1.2 * over, samples=11, events=[ts.Impact("floor", "z", restitution=e)])
    assert abs(motion["z"][-1]) < 1e-9 * size and abs(motion["z'"][-1]) < 1e-9 * size / fall
    hits = [event.time for event in motion.events]
    assert hits[-1] == pytest.approx(over, rel=1e-5) and 18 < len(hits) < 30
