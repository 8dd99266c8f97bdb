"""Bodies that spin on a plane by contact alone: Euler's disc, a rattleback, a tippe top."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torseur as ts

G = 9.81


@pytest.mark.slow
@pytest.mark.parametrize(("method", "max_step", "close"), [("auto", None, 0.02), ("time_stepping", 1e-4, 0.03)])
def test_eulers_disc_spins_up_as_it_falls(method, max_step, close):
    """Oracle: Ω² sin α = 4 g/a of a disc whose centre rests, so that Ω goes with the power -1/2 of the angle, and
    d(ln sin α)/dt = -8 c/(3 m a²) from the energy 3/2 m g a sin α where air takes the power c (Ω sin α)²."""
    a, m, c, tilt = 0.04, 0.4, 2e-4, 0.15
    disc = ts.parse(f"""mechanism disc ; gravity = [0, 0, -9.81 m/s^2] ; param c = {c} N*m*s ;
    let coin = body mass = {m} kg, centre = 0, inertia = diag({m * a * a / 4}, {m * a * a / 4}, {m * a * a / 2}) kg*m^2 end ;
    join earth and coin.frame as flight with free(x, y, z, phi, th, psi) angles zxz end ;
    contact coin.disc radius {a} m with earth normal [0, 0, 1] friction 5 as floor ;
    apply torque [-c * coin.rotation.x, -c * coin.rotation.y, -c * coin.rotation.z] on coin as air ;
    """)
    spin = math.sqrt(4 * G / (a * math.sin(tilt)))
    start = {"z": a * math.sin(tilt), "th": tilt, "phi'": spin, "psi'": -spin * math.cos(tilt)}
    motion = ts.simulate(disc, until=2, samples=201, method=method, max_step=max_step, initial=start)
    sine = np.sin(motion["th"])
    assert sine[-1] < 0.25 * sine[0]
    exponent = np.polyfit(np.log(sine), np.log(motion["phi'"]), 1)[0]
    assert exponent == pytest.approx(-0.5, abs=0.5 * close)
    rate = -np.polyfit(motion.time, np.log(sine), 1)[0]
    assert rate == pytest.approx(8 * c / (3 * m * a * a), rel=close)


def rolling_ellipsoid(semiaxes, inertia, mass, spin, until, times):
    """Newton and Euler's equations of a rolling ellipsoid in its own axes: spin about them, and the upward normal."""
    squares = np.diag(np.square(semiaxes))

    def rates(t, state):
        omega, n = state[:3], state[3:]
        turning = np.cross(n, omega)
        size = math.sqrt(n @ squares @ n)
        r = -squares @ n / size
        r_rate = -squares @ turning / size + squares @ n * (n @ squares @ turning) / size**3
        v = -np.cross(omega, r)
        known = -np.cross(omega, r_rate) + np.cross(omega, v) + G * n
        cross = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
        left = inertia - mass * cross @ cross
        right = mass * np.cross(r, known) - np.cross(omega, inertia @ omega)
        return np.concatenate([np.linalg.solve(left, right), turning])

    return solve_ivp(rates, (0, until), [*spin, 0, 0, 1], t_eval=times, rtol=1e-11, atol=1e-13, method="DOP853").y.T


@pytest.mark.slow
def test_a_rattleback_turns_round():
    """Oracle: the equations of rolling in body axes, by SciPy; and its spin does change its sign."""
    semiaxes, mass = (0.2, 0.03, 0.02), 1.0
    inertia = np.array([[2e-4, -1e-4, 0], [-1e-4, 1.6e-3, 0], [0, 0, 1.7e-3]])
    body = ts.body("stone", mass=mass, centre=(0, 0, 0), inertia=ts.inertia(2e-4, 1.6e-3, 1.7e-3, -1e-4, 0, 0))
    flight = ts.free("flight", ts.EARTH, body, "x", "y", "z", "e0", "e1", "e2", "e3", angles="quaternion")
    sizes = dict(zip("xyz", semiaxes, strict=True))
    floor = ts.contact("floor", "ellipsoid", body, sizes, ts.plane(), friction=20)
    stone = ts.Mechanism(
        "stone", bodies=[body], joints=[flight], gravity=(0, 0, -G), contacts=[floor], initial={"z": 0.02}
    )
    speeds = [column.name for column in ts.simulate(stone, until=1e-6, samples=2).states][-3:]
    spin = (0.0, 0.4, -2.0)
    start = dict(zip(speeds, spin, strict=True)) | {"x'": 0.4 * 0.02}
    motion = ts.simulate(stone, until=3, samples=31, initial=start)
    exact = rolling_ellipsoid(semiaxes, inertia, mass, spin, 3, motion.time)
    for name, column in zip(speeds, exact.T[:3], strict=True):
        assert motion[name] == pytest.approx(column, abs=1e-5)
    assert motion[speeds[2]].min() < -1.9 and motion[speeds[2]].max() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("method", "max_step", "close"), [("auto", None, 1e-6), ("time_stepping", 1e-4, 2e-3)])
def test_a_tippe_top_turns_over(method, max_step, close):
    """Oracle: Jellett's integral, the angular momentum along the way from centre of mass to contact, which friction at
    the contact cannot change; the top slides until it stands on its head, its centre of mass above that of its ball."""
    radius, e, mass = 0.02, 0.004, 0.02
    moment = 0.4 * mass * radius**2
    top = ts.parse(f"""mechanism top ; gravity = [0, 0, -9.81 m/s^2] ;
    let top = body mass = {mass} kg, centre = 0, inertia = diag({moment}, {moment}, {moment}) kg*m^2 end ;
    let ball = [0, 0, {e} m] ++ 1 @ top ;
    join earth and top.frame as flight with free(x, y, z, e0, e1, e2, e3) angles quaternion end ;
    contact ball.sphere radius {radius} m with earth normal [0, 0, 1] friction 0.3 as floor ;
    """)
    spins, half, spin = [f"flight.w{axis}" for axis in "xyz"], 0.25, 150.0
    start = {"z": radius - e * math.cos(2 * half), "e0": math.cos(half), "e1": math.sin(half)}
    start |= {spins[1]: spin * math.sin(2 * half), spins[2]: spin * math.cos(2 * half)}
    motion = ts.simulate(top, until=1, samples=41, initial=start, method=method, max_step=max_step, outputs=["energy"])
    e0, e1, e2, e3 = (motion[f"e{k}"] for k in range(4))
    up = np.array([2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), 1 - 2 * (e1 * e1 + e2 * e2)])  # in body axes
    contact = -radius * up + np.array([[0], [0], [e]])
    jellett = moment * np.sum(np.array([motion[name] for name in spins]) * contact, axis=0)
    assert jellett == pytest.approx(jellett[0], rel=close)
    assert up[2][0] > 0.87 and up[2][-1] < -0.9
    assert np.diff(motion["energy"]).max() < 1e-4 * motion["energy"][0]


@pytest.mark.slow
def test_a_ball_rolls_off_another():
    """Oracle: from rest at the angle t0 it rolls until cos t = 10/17 cos t0, where nothing presses it any more; with
    the coefficient 60 it slips just before."""
    radius, big, tilt = 0.05, 0.2, 0.3
    body = ts.body("ball", mass=1, centre=(0, 0, 0), inertia=ts.inertia(*[0.4 * radius**2] * 3))
    flight = ts.free("flight", ts.EARTH, body, "x", "y", "z", "e0", "e1", "e2", "e3", angles="quaternion")
    on = ts.contact("on", "sphere", body, {"radius": radius}, ts.ball(ts.EARTH, big), friction=60)
    # The plane in which it falls is oblique to the axes: the sliding speeds have directions of their own.
    a, b = 0.6, 0.8
    reach = radius + big
    start = {"x": reach * math.sin(tilt) * a, "y": reach * math.sin(tilt) * b, "z": reach * math.cos(tilt)}
    ball = ts.Mechanism("ball", bodies=[body], joints=[flight], gravity=(0, 0, -G), contacts=[on], initial=start)
    motion = ts.simulate(ball, until=0.5, samples=51, outputs=["on.multiplier"])
    lost = motion.events[-1]
    assert motion["on.multiplier"][0] < -9 and motion["on.multiplier"][-1] == 0.0
    assert lost.state["z"] / reach == pytest.approx(10 / 17 * math.cos(tilt), abs=2e-3)
    rolling = motion.time < lost.time - 0.05
    fallen = G * (reach * math.cos(tilt) - motion["z"][rolling])
    speed = sum(motion[f"{axis}'"][rolling] ** 2 for axis in "xyz")
    assert speed == pytest.approx(10 / 7 * fallen, rel=1e-6, abs=1e-9)
    assert motion["x"] * b == pytest.approx(motion["y"] * a, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "time_stepping"])
def test_balls_that_rub_exchange_spin_and_keep_angular_momentum(method):
    """Oracle: momentum and angular momentum of both, and 2/7 of the sliding speed that friction takes at most of each."""
    radius, mass = 0.05, 0.2
    moment = 0.4 * mass * radius**2
    bodies, joints = [], []
    for k in "ab":
        bodies.append(ts.body(f"ball_{k}", mass=mass, centre=(0, 0, 0), inertia=ts.inertia(moment, moment, moment)))
        names = [f"{q}{k}" for q in ("x", "y", "z", "e0", "e1", "e2", "e3")]
        joints.append(ts.free(f"flight_{k}", ts.EARTH, bodies[-1], *names, angles="quaternion"))
    rub = ts.contact("rub", "sphere", bodies[0], {"radius": radius}, ts.ball(bodies[1], radius), friction=5)
    start = {"xb": 0.3, "yb": 0.04, "zb": 0.03, "xa'": 2.0, "flight_a.wz": 30.0}
    pair = ts.Mechanism("pair", bodies=bodies, joints=joints, contacts=[rub], initial=start)
    motion = ts.simulate(pair, until=0.3, samples=7, method=method, max_step=None if method == "auto" else 2e-5)
    assert any(event.name == "rub" for event in motion.events)
    places = {k: np.array([motion[f"{axis}{k}"] for axis in "xyz"]) for k in "ab"}
    speeds = {k: np.array([motion[f"{axis}{k}'"] for axis in "xyz"]) for k in "ab"}
    spins = {k: np.array([rotated(motion, k, axis) for axis in range(3)]) for k in "ab"}
    momentum = mass * (speeds["a"] + speeds["b"])
    assert momentum - momentum[:, :1] == pytest.approx(0, abs=1e-12)
    turning = sum(mass * np.cross(places[k], speeds[k], axis=0) + moment * spins[k] for k in "ab")
    # In time steps the impulse acts where the contact is in the middle of the step, not yet closed.
    assert turning - turning[:, :1] == pytest.approx(0, abs=1e-9 if method == "auto" else 1e-3 * np.abs(turning).max())
    assert np.abs(spins["b"][:, -1]).max() > 1  # what was at rest spins now


def rotated(motion: ts.Trajectory, name: str, axis: int) -> np.ndarray:
    """A component of the angular velocity in the axes of the earth: that in body axes, turned by the quaternion."""
    e0, e = motion[f"e0{name}"], np.array([motion[f"e{k}{name}"] for k in (1, 2, 3)])
    w = np.array([motion[f"flight_{name}.w{x}"] for x in "xyz"])
    turned = w + 2 * np.cross(e, np.cross(e, w, axis=0) + e0 * w, axis=0)
    return turned[axis]
