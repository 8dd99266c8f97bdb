"""Motions that start touching a stop, and moving into it, resting on it, or beside it.

Oracles: closed forms of free motions, and the equations of an impact solved with a mass matrix written by hand.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur as ts
from torseur.computation.simulation import Impact
from torseur.description import library
from torseur.errors import TorseurError

SLED = """mechanism sled ; let b = body mass = {mass} kg end ;
join earth and b.frame as rail with prismatic(x) along [1, 0, 0] end ; init x = {x} m, x' = {v} m/s ;"""
PAIR = """mechanism pair ; let b = body mass = 1 kg end ; let c = body mass = 3 kg end ;
join earth and b.frame as rail with prismatic(x) along [1, 0, 0] end ;
join earth and c.frame as other with prismatic(y) along [-1, 0, 0] end ; constrain y = 2 * x ; init x = 0 m, x' = 2 m/s ;"""
# A point of 1 kg on a slide that carries a point of 2 kg on a rod of 0.5 m, which stands at 0.3 rad.
CART = """mechanism cart ; let c = body mass = 1 kg end ; let rod = body mass = 2 kg, centre = [0, -0.5 m, 0], inertia = 0 end ;
join earth and c.frame as rail with prismatic(x) along [1, 0, 0] end ;
join c.frame and rod.frame as pin with revolute(a) about [0, 0, 1] end ;
init x = -0.7 m, x' = -1.5 m/s, a = 0.3 rad, a' = 0.4 rad/s ;"""


def sled(x=0.0, v=-2.0, mass=1.0):
    return ts.parse(SLED.format(x=x, v=v, mass=mass))


@pytest.mark.parametrize("formulation", ["augmented", "partitioned", "projector"])
@pytest.mark.parametrize("method", ["explicit", "radau5"])
@pytest.mark.parametrize("restitution", [0.0, 0.4, 1.0])
def test_an_impact_at_the_start_happens_there(method, formulation, restitution):
    stop = Impact("stop", "x", restitution)
    motion = ts.simulate(sled(), 1.0, samples=11, events=[stop], method=method, formulation=formulation)
    (hit,) = motion.events
    assert hit.time == 0.0 and hit.state["x'"] == -2.0
    assert np.allclose(motion["x"], 2.0 * restitution * motion.time, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("gap", [0.0, 1e-17, -1e-13, 1e-13, 1e-11, 1e-9, 1e-7, 1e-4])
@pytest.mark.parametrize("place", [0.0, -3.0, 250.0])
def test_no_gap_is_too_small(gap, place):
    """A stop anywhere, the motion beginning so near to it that the first step would be through."""
    x = ts.Coordinate("x", "m").symbol
    motion = ts.simulate(sled(place + gap), 1.0, samples=11, events=[Impact("stop", x - place, 0.5)])
    (hit,) = motion.events
    assert hit.time == pytest.approx(max(gap, 0.0) / 2.0, abs=1e-9 * max(1.0, abs(place)))
    assert np.allclose(motion["x"], place + motion.time, rtol=0.0, atol=1e-8 + 1.5 * abs(gap))


@pytest.mark.slow
def test_the_pendulum_at_its_stop():
    """It swings to and fro at its stop: every time it comes back with the speed it left with, times the restitution."""
    angle = ts.derive(library.load("pendulum")).layout.coordinates[0]
    stop = Impact("stop", angle - math.pi / 3, 0.5)
    motion = ts.simulate(library.load("pendulum"), 2.0, initial={"theta'": -1.0}, samples=201, events=[stop])
    assert motion["theta'"][0] == pytest.approx(0.5) and motion["theta"].min() > math.pi / 3 - 1e-9
    speeds = [hit.state["theta'"] for hit in motion.events]
    assert np.all(np.array(speeds) < 0.0) and np.ptp(motion["theta"][motion.time > 0.5]) < 1e-11
    assert speeds[:3] == pytest.approx([-1.0, -0.5, -0.25], rel=1e-6)


@pytest.mark.slow
def test_one_of_several_coordinates():
    """Impulse along the gap: [M Jᵀ; J 0] [δv; μ] = [0; -(1 + e) v_x]. Oracle: the mass matrix written by hand."""
    x = ts.Coordinate("x", "m").symbol
    motion = ts.simulate(ts.parse(CART), 0.1, samples=2, events=[Impact("buffer", x + 0.7, 0.6)])
    coupling = 2 * 0.5 * math.cos(0.3)
    mass = np.array([[3.0, coupling], [coupling, 2 * 0.25]])
    system = np.vstack([np.column_stack([mass, [1.0, 0.0]]), [1.0, 0.0, 0.0]])
    change = np.linalg.solve(system, [0.0, 0.0, 1.6 * 1.5])[:2]
    assert [motion["x'"][0], motion["a'"][0]] == pytest.approx([-1.5 + change[0], 0.4 + change[1]], rel=1e-12)
    assert motion["x'"][0] == pytest.approx(0.9)


@pytest.mark.slow
def test_bodies_tied_to_each_other():
    """y = 2 x falls to zero with 4 m/s: both turn round together, without loss."""
    y = ts.Coordinate("y", "m").symbol
    mechanism = ts.parse(PAIR)
    motion = ts.simulate(mechanism, 1.0, samples=5, events=[Impact("stop", -y, 1.0)], outputs=["kinetic_energy"])
    assert motion["x'"] == pytest.approx([-2.0] * 5) and motion["y'"] == pytest.approx([-4.0] * 5)
    assert np.ptp(motion["kinetic_energy"]) < 1e-12 and motion.events[0].time == 0.0


@pytest.mark.slow
def test_speeds_that_are_not_rates():
    """A planar body whose speeds are along its own axes runs into a wall at x = 0.

    At a heading of 0.5 rad: the impulse acts along x alone, through the mass centre.
    """
    mechanism = ts.parse("""mechanism hull ;
    let b = body mass = 2 kg, centre = [0, 0, 0], inertia = diag(1 kg*m^2, 1 kg*m^2, 1 kg*m^2) end ;
    join earth and b.frame as ground with planar(x, y, psi) speeds u, v = velocity in b, r = psi' end ;""")
    x = ts.Coordinate("x", "m").symbol
    start = {"psi": 0.5, "u": -2.0, "v": 0.3, "r": 0.1}
    motion = ts.simulate(mechanism, 0.5, samples=2, initial=start, events=[Impact("wall", x, 0.5)])
    heading = np.array([[math.cos(0.5), -math.sin(0.5)], [math.sin(0.5), math.cos(0.5)]])
    before = heading @ [-2.0, 0.3]
    after = heading.T @ [-0.5 * before[0], before[1]]
    assert [motion["u"][0], motion["v"][0], motion["r"][0]] == pytest.approx([*after, 0.1], rel=1e-12)


@pytest.mark.slow
def test_resting_at_the_start_holds():
    text = SLED.format(x=0, v=0, mass=2).replace("end ;\njoin", "end ; gravity = [-9.81, 0, 0] ;\njoin")
    motion = ts.simulate(
        ts.parse(text), 2.0, samples=5, events=[Impact("floor", "x", 0.9)], outputs=["floor.multiplier"]
    )
    assert np.abs(motion["x"]).max() < 1e-12 and not motion.events
    assert np.allclose(motion["floor.multiplier"], -2 * 9.81)


def test_leaving_at_the_start_is_free():
    motion = ts.simulate(sled(v=1.5), 1.0, samples=3, events=[Impact("stop", "x")])
    assert np.allclose(motion["x"], 1.5 * motion.time) and not motion.events


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e4])
def test_angles_are_judged_as_angles(length):
    """A tenth of a milliradian inside a stop is refused whatever the size of the mechanism, and rounding is not."""
    angle = ts.derive(library.load("pendulum")).layout.coordinates[0]
    stop = Impact("stop", angle - math.pi / 3)
    options = {"parameters": {"l": length}, "samples": 2, "events": [stop]}
    with pytest.raises(TorseurError, match=r"starts 0.0001 inside it, with a gap of -0.0001"):
        ts.simulate(library.load("pendulum"), 1.0, initial={"theta": math.pi / 3 - 1e-4}, **options)
    start = {"theta": math.pi / 3 - 1e-15, "theta'": -1.0}
    motion = ts.simulate(library.load("pendulum"), 0.1, initial=start, **options)
    assert motion.events[0].time == 0.0 and motion["theta"].min() > math.pi / 3 - 1e-12


@pytest.mark.parametrize("method", ["direct", "adjoint"])
@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_derivatives_of_a_struck_start(method, restitution):
    """x(T) = -e (v T + x₀): by the speed, by the place (towards the free side) and by the restitution."""
    names = ["x(0)", "x'(0)", "restitution"]
    found = ts.sensitivity(sled(), "x", names, until=1.5, method=method, jumps=[Impact("stop", "x", restitution)])
    exact = [-restitution, -restitution * 1.5, 2.0 * 1.5 if restitution else 0.0]
    assert [found.derivative("x", name)[-1] for name in names] == pytest.approx(exact, abs=1e-9)


TWO_LINKS = """mechanism two ; gravity = [0, -9.81, 0] m/s^2 ;
let a = body rod length = 1 m along [1, 0, 0], mass = 1 kg end ;
let b = body rod length = 1 m along [1, 0, 0], mass = 1 kg end ;
join earth and a.frame as A with revolute(q1) end ;
join [1, 0, 0] m @ a and b.frame as B with revolute(q2) end ;
"""


@pytest.mark.parametrize(("sign", "start"), [("", (0.0, -1.0)), ("-", (1.0, -2.0))])
def test_impacts_that_pass_to_and_fro_between_two_stops_come_to_rest(sign, start):
    """Oracle: Newton's law at one stop after the other, M of two rods in line, until nothing approaches: 250 times."""
    signs = np.array([[1, 1], [0, -1]]) * (-1 if sign else 1)
    mass, v, count = np.array([[8, 2.5], [2.5, 1]]) / 3, np.array(start), 0
    while (rates := signs @ v).min() < -1e-6:
        hit = signs[int(np.argmin(rates))]
        along = np.linalg.solve(mass, hit)
        v, count = v - 1.3 * rates.min() / (hit @ along) * along, count + 1
    assert count > 200 and np.abs(v).max() < 1e-5
    text = f"constrain {sign}(q1 + q2) >= 0 rad restitution 0.3 ; constrain {sign}q2 <= 0 rad restitution 0.3 ;"
    motion = ts.simulate(
        ts.parse(TWO_LINKS + text), 1e-3, samples=3, initial={"q1'": start[0], "q2'": start[1]}, outputs=["energy"]
    )
    assert max(np.abs(motion[name][1:]).max() for name in ("q1", "q2")) < (1e-7 if not sign else 1e-4)
    assert motion["energy"][-1] < 1e-4


@pytest.mark.parametrize("restitution", [0.0, 0.7])
def test_a_stop_that_is_said_twice_stops_once(restitution):
    """q1 >= 0 and sin(q1) >= 0 close together, and let nothing change for ever."""
    once, twice = (
        ts.simulate(
            ts.parse(TWO_LINKS + "".join(f"constrain {gap} >= 0 restitution {restitution} ;" for gap in gaps)),
            0.7, samples=8, initial={"q1'": 1.0, "q2'": -2.0},
        )
        for gaps in (["q1"], ["q1", "sin(q1)"])
    )  # fmt: skip
    assert np.allclose(once["q1"], twice["q1"], atol=1e-8) and np.allclose(once["q2"], twice["q2"], atol=1e-8)


@pytest.mark.parametrize("method", ["explicit", "radau5", "time_stepping"])
def test_what_is_driven_into_a_stop_from_the_start_is_named(method):
    driven = ts.parse(SLED.format(mass=1.0, x=0.0, v=-2.0) + "constrain x = sin(-2 rad/s * t) * 1 m as motor ;")
    with pytest.raises(TorseurError, match="'stop' contradicts other contacts or constraints at t = 0 s"):
        ts.simulate(driven, 1.0, events=[Impact("stop", "x", 0.0)], method=method)
