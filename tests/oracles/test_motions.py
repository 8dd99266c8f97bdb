"""Motions against reference numbers and closed forms, from the description to the trajectory."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import torseur as ts

FOLDER = Path(__file__).parent
BACKENDS = ("python", "c", "llvm")


def reference(name: str) -> dict:
    return json.loads((FOLDER / f"{name}.json").read_text())


def need(backend: str) -> None:
    from torseur.computation.codegen.targets.c.c_compiler import find_compiler

    if backend == "c" and find_compiler() is None:
        pytest.skip("no C compiler on this machine")


def double_pendulum() -> ts.Mechanism:
    g, m1, m2 = ts.parameter("g", 9.81, "m/s^2"), ts.parameter("m1", 4, "kg"), ts.parameter("m2", 2, "kg")
    r2, l2 = ts.parameter("r2", 5, "m"), ts.parameter("l2", 2, "m")
    arm = ts.body("arm", mass=m1, centre=(0, -r2, 0), inertia=ts.inertia(m1 * r2**2, 0, m1 * r2**2, about="frame"))
    blade = ts.body("blade", mass=m2, centre=(-l2, 0, 0), inertia=ts.inertia(0, m2 * l2**2, m2 * l2**2, about="frame"))
    elbow = arm.at((0, -r2, 0), ts.turn(ts.PI / 2, (1, 0, 0)))
    joints = [ts.revolute("shoulder", ts.EARTH, arm, "q1"), ts.revolute("elbow", elbow, blade, "q2")]
    return ts.Mechanism(
        "double_pendulum", bodies=[arm, blade], joints=joints, parameters=[g, m1, m2, r2, l2], gravity=(0, -g, 0),
        initial={"q1": ts.PI / 4, "q2": ts.PI / 4},
    )  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
def test_orthogonal_double_pendulum(backend):
    need(backend)
    case = reference("double_pendulum")["cases"]["pi/4"]
    outputs = ["kinetic_energy", "energy"]
    motion = ts.simulate(double_pendulum(), until=5, samples=6, rtol=1e-11, outputs=outputs, backend=backend)
    for ours, theirs in (("q1", "q1"), ("q2", "q2"), ("q1'", "q1d"), ("q2'", "q2d"), ("kinetic_energy", "T")):
        assert np.max(np.abs(motion[ours] - case[theirs])) < 1e-9
    assert np.ptp(motion["energy"]) < 1e-9


def oscillator() -> ts.Mechanism:
    mass = ts.body("mass", mass=1, centre=(0, 0, 0), inertia=0)
    slide = ts.prismatic("slide", ts.EARTH, mass, "x")
    k, c = ts.parameter("k", 1, "N/m"), ts.parameter("c", 1, "N*s/m")
    spring = ts.coordinate_spring("spring", "slide", "x", stiffness=k, damping=c)
    return ts.Mechanism("msd", bodies=[mass], joints=[slide], parameters=[k, c], loads=[spring], initial={"x'": 5})


def test_mass_spring_damper_in_every_regime():
    rows = reference("mass_spring_damper")["rows"]
    equations = ts.derive(oscillator())
    for row in rows:
        if float(row["t"]) > 0:
            values = {"k": float(row["k"]), "c": float(row["c"])}
            motion = ts.simulate(equations, until=float(row["t"]), samples=2, rtol=1e-11, parameters=values)
            assert abs(motion["x"][-1] - float(row["q"])) < 1e-9
            assert abs(motion["x'"][-1] - float(row["qd"])) < 1e-9
    assert {row["regime"] for row in rows} >= {"under", "over"}


@pytest.mark.parametrize("angles", ["quaternion", "zxz", "xyz"])
def test_euler_top(angles):
    """Free rotation of a body with principal moments 1, 2, 3 against Jacobi's elliptic functions."""
    case = reference("classics")["euler_top"]
    top = ts.body("top", mass=1, centre=(0, 0, 0), inertia=ts.inertia(*case["I"]))
    names = ("w", "x", "y", "z") if angles == "quaternion" else ("a", "b", "c")
    joint = ts.spherical("ball", ts.EARTH, top, *names, angles=angles)
    start = [float(w) for w in case["w0"]]
    initial = dict(zip(("ball.wx", "ball.wy", "ball.wz"), start, strict=True)) if angles == "quaternion" else {
        "b": 1.1, **dict(zip(("a'", "b'", "c'"), _angle_rates(angles, 1.1, start), strict=True)),
    }  # fmt: skip
    mechanism = ts.Mechanism("top", bodies=[top], joints=[joint], initial=initial)
    times = [row[0] for row in case["data"]]
    body_axes = [ts.Sensor(f"w{c}", "rotation", top.frame, c, axes=top.frame) for c in "xyz"]
    mechanism = ts.Mechanism("top", bodies=[top], joints=[joint], initial=initial, sensors=body_axes)
    motion = ts.simulate(mechanism, until=times[-1], samples=times, rtol=1e-12, outputs=["wx", "wy", "wz"])
    expected = np.array([[float(x) for x in row[1:]] for row in case["data"]])
    assert np.max(np.abs(np.column_stack([motion[f"w{c}"] for c in "xyz"]) - expected)) < 1e-9
    if angles == "quaternion":
        lengths = sum(motion[name] ** 2 for name in names)
        assert np.max(np.abs(lengths - 1)) < 1e-14


def _angle_rates(order: str, b: float, w: list[float]) -> np.ndarray:
    """Angle rates at angles (0, b, 0) for an angular velocity in body axes."""

    def turn(axis, angle):
        c, s = math.cos(angle), math.sin(angle)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        matrix = np.eye(3)
        matrix[i, i] = matrix[j, j] = c
        matrix[i, j], matrix[j, i] = -s, s
        return matrix

    first, second, third = ("xyz".index(a) for a in order)
    columns = [turn(second, b).T @ np.eye(3)[first], np.eye(3)[second], np.eye(3)[third]]
    return np.linalg.solve(np.column_stack(columns), w)


def heavy_top(theta: float, precession: float, spin: float) -> ts.Mechanism:
    case = reference("classics")["heavy_top_nutation"]
    i1, i3, m, length = (float(case[k]) for k in ("I1", "I3", "m", "l"))
    top = ts.body("top", mass=m, centre=(0, 0, length), inertia=ts.inertia(i1, i1, i3, about="frame"))
    pivot = ts.spherical("pivot", ts.EARTH, top, "phi", "theta", "psi", angles="zxz")
    initial = {"theta": theta, "phi'": precession, "psi'": spin - precession * math.cos(theta)}
    return ts.Mechanism("heavy_top", bodies=[top], joints=[pivot], gravity=(0, 0, -9.81), initial=initial)


@pytest.mark.parametrize("mode", ["slow", "fast"])
def test_heavy_top_precesses_steadily(mode):
    """Regular precession: I1 cos(theta) W² - I3 w3 W + m g l = 0 keeps theta and the rate."""
    case = reference("classics")["heavy_top_steady"]
    rate = float(case[mode])
    motion = ts.simulate(heavy_top(math.pi / 6, rate, 60.0), until=1.0, samples=11, rtol=1e-12)
    assert np.max(np.abs(motion["theta"] - math.pi / 6)) < 1e-9
    assert np.max(np.abs(motion["phi"] - rate * motion.time)) < 1e-9


def test_heavy_top_nutates_with_the_period_of_its_elliptic_integral():
    case = reference("classics")["heavy_top_nutation"]
    period = float(case["period"])
    equations = ts.derive(heavy_top(math.pi / 6, 0.0, 60.0))
    motion = ts.simulate(equations, until=period, samples=[0, period / 2, period], rtol=1e-12)
    assert abs(motion["theta"][1] - float(case["theta_max"])) < 1e-9
    assert abs(motion["theta"][2] - math.pi / 6) < 1e-9
    assert abs(motion["phi"][2] - float(case["phi_advance_per_period"])) < 1e-9


def chain(n: int) -> ts.Mechanism:
    """n equal uniform rods hanging one from another, 0.2 m and 0.5 kg each."""
    bodies, joints = [], []
    rod = ts.solid("rod", length=0.2, mass=0.5, placement=ts.along((0, -1, 0)))
    hook = ts.EARTH
    for k in range(1, n + 1):
        link = ts.body(f"link{k}", solids=[rod])
        bodies.append(link)
        joints.append(ts.revolute(f"pin{k}", hook, link, f"q{k}"))
        hook = link.at((0, -0.2, 0))
    return ts.Mechanism("chain", bodies=bodies, joints=joints, gravity=(0, -9.81, 0), initial={"q1": 1.0, "q5": 0.5})


@pytest.mark.slow
def test_ten_link_pendulum_keeps_its_energy():
    motion = ts.simulate(chain(10), until=10, samples=101, rtol=1e-12, outputs=["energy", "kinetic_energy"])
    scale = np.max(motion["kinetic_energy"])
    assert np.max(np.abs(motion["energy"] - motion["energy"][0])) < 1e-9 * scale


@pytest.mark.slow
def test_three_hundred_links_are_derived_without_recursion():
    equations = ts.derive(chain(300))
    assert len(equations.acceleration) == 300


def test_small_swings_of_a_pendulum_have_the_known_period():
    """IFToMM A01: a full quarter swing from the horizontal, against the elliptic integral."""
    case = reference("classics")["A01_pendulum"]
    bob = ts.body("bob", mass=1, centre=(0, -1, 0), inertia=0)
    pin = ts.revolute("pin", ts.EARTH, bob, "theta")
    mechanism = ts.Mechanism("a01", bodies=[bob], joints=[pin], gravity=(0, -9.81, 0), initial={"theta": -ts.PI / 2})
    times = [row[0] for row in case["data"]]
    motion = ts.simulate(mechanism, until=times[-1], samples=times, rtol=1e-12)
    expected = np.array([float(row[3]) for row in case["data"]])
    assert np.max(np.abs(motion["theta"] - expected)) < 1e-9
