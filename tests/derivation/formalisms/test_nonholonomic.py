"""Velocity constraints and what depends on time, by every formalism with multipliers: M v' + b + Cᵀ λ = Q."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
import torseur.description.mechanism as tm
from torseur.algebra.graph import evaluate
from torseur.algebra.graph import scalar as s
from torseur.derivation.formalisms import FORMALISMS, certify, derive
from torseur.description import library
from torseur.description.mechanism import TIME, Coordinate

EVERY = pytest.mark.parametrize("formalism", FORMALISMS)


def solved(equations: ts.Equations, t: float = 0.0, **state: float) -> dict[str, float]:
    """Accelerations and multipliers at a state, from the state form."""
    layout, form = equations.layout, equations.state_form
    given = {p.name: float(p.value) for p in equations.mechanism.parameters if p.value is not None} | state
    symbols = (*layout.coordinates, *layout.speeds, *layout.parameters)
    values = {x: given.get(str(x.name), 0.0) for x in symbols} | {TIME: t}
    n = len(form.right)
    flat = np.array(evaluate([*(e for row in form.matrix for e in row), *form.right], values), dtype=float)
    found = np.linalg.solve(flat[: n * n].reshape(n, n), flat[n * n :])
    names = [*layout.coordinate_names, *(str(a.name) for a in layout.accelerations)]
    names += [str(x.name) for x in equations.multipliers]
    return dict(zip(names, found, strict=True))


@EVERY
def test_sleigh(formalism):
    """Oracle: u' = a ω², (J + m a²) ω' = -m a u ω, and the force of the blade m (a ω' + u ω) across it."""
    equations = derive(library.load("chaplygin_sleigh"), formalism)
    m, j, a, u, w, psi = 10.0, 2.0, 0.3, 0.7, 1.9, 0.4
    state = {"psi": psi, "x'": u * math.cos(psi), "y'": u * math.sin(psi), "psi'": w}
    found = solved(equations, **state)
    turning = -m * a * u * w / (j + m * a * a)
    along = found["x''"] * math.cos(psi) + found["y''"] * math.sin(psi)
    assert found["psi''"] == pytest.approx(turning, rel=1e-12)
    assert along == pytest.approx(a * w**2, rel=1e-12)
    # C = (sin, -cos, 0): the force -λ C points along (-sin, cos) for a positive λ.
    assert found["lambda.constraint 'blade'"] == pytest.approx(m * (a * turning + u * w), rel=1e-12)


@pytest.mark.parametrize("formalism", ["recursive", "kane", "hamilton", "boltzmann_hamel"])
def test_motion_of_the_sleigh(formalism):
    """Oracle: u = V tanh(k t), ω = V/c sech(k t) with c² = a² + J/m and k = a V/c²."""
    m, j, a, w0 = 10.0, 2.0, 0.3, 2.0
    c = math.sqrt(a * a + j / m)
    speed = c * w0
    times = np.linspace(0, 3, 7)
    motion = ts.simulate(
        derive(library.load("chaplygin_sleigh"), formalism), until=3, samples=times, rtol=1e-11,
        initial={"x'": 0.0, "y'": 0.0, "psi'": w0},
    )  # fmt: skip
    k = a * speed / c**2
    assert motion["psi'"] == pytest.approx(w0 / np.cosh(k * times), abs=1e-9)
    ahead = motion["x'"] * np.cos(motion["psi"]) + motion["y'"] * np.sin(motion["psi"])
    assert ahead == pytest.approx(speed * np.tanh(k * times), abs=1e-9)


@pytest.mark.parametrize("formalism", ["recursive", "gibbs_appell"])
def test_disc_follows_the_reference(formalism):
    """Oracle: the disc's equations by Kane's method, integrated independently; m = 1, r = 1."""
    case = json.loads((Path(__file__).parents[2] / "oracles" / "classics.json").read_text())["rolling_disc"]
    _, lean, _, u1, u2, u3 = case["y0"]
    turn = u3 / math.cos(lean)
    # The reference's lean is that of the disc's plane, the library's that of its axle.
    start = {"lean": lean - math.pi / 2, "yaw'": turn, "lean'": u1, "spin'": u2 - turn * math.sin(lean)}
    motion = ts.simulate(
        derive(library.load("rolling_disc"), formalism), until=5, samples=case["t"], rtol=1e-13, initial=start,
        parameters={"m": 1.0, "r": 1.0},
    )  # fmt: skip
    found = np.column_stack([motion["yaw"], motion["lean"] + math.pi / 2, motion["spin"]])
    assert np.abs(found - np.array(case["y"], dtype=float)[:, :3]).max() < 1e-10


def test_ball_runs_on_a_circle_at_two_sevenths_of_the_tables_rate():
    """Oracle: c'' = 2/7 Ω z x c' for a homogeneous ball, so that its centre runs on a circle at 2/7 Ω."""
    rate = 2 / 7 * 2.0
    times = np.linspace(0, 2 * math.pi / rate, 9)
    motion = ts.simulate(library.load("ball_on_turntable"), until=times[-1], samples=times, rtol=1e-11)
    x0, v0 = 0.3, 0.2
    # Velocity turns at the rate: c' = v0 (−sin, cos), so c = c0 + v0/rate (cos − 1, sin).
    assert motion["x"] == pytest.approx(x0 + v0 / rate * (np.cos(rate * times) - 1), abs=1e-8)
    assert motion["y"] == pytest.approx(v0 / rate * np.sin(rate * times), abs=1e-8)


def ball() -> tm.Mechanism:
    """The ball in angles, so that every formalism takes it; its rotation in earth axes by angles zyx."""
    stone = tm.body("ball", mass=0.5, centre=(0, 0, 0), inertia=tm.inertia(*[0.4 * 0.5 * 0.05**2] * 3))
    joint = tm.free("flight", tm.EARTH, stone, "x", "y", "z", "a", "b", "c", angles="zyx")
    x, y, z, a, b, c = joint.coordinates
    wx = -s.sin(a.symbol) * b.rate + s.cos(a.symbol) * s.cos(b.symbol) * c.rate
    wy = s.cos(a.symbol) * b.rate + s.sin(a.symbol) * s.cos(b.symbol) * c.rate
    constraints = [
        tm.Equation("height", z.symbol - 0.05),
        tm.Equation("along x", x.rate - 0.05 * wy + 2 * y.symbol),
        tm.Equation("along y", y.rate + 0.05 * wx - 2 * x.symbol),
    ]
    return tm.Mechanism("ball", bodies=[stone], joints=[joint], constraints=constraints, gravity=(0, 0, -9.81))


@EVERY
def test_ball_accelerates_across_its_velocity(formalism):
    """Oracle: c'' = 2/7 Ω (-y', x'), and the table carries the weight."""
    x, y, dx, dy, b, spin = 0.3, -0.1, 0.15, 0.25, 0.4, 0.7
    wx, wy = (2 * x - dy) / 0.05, (dx + 2 * y) / 0.05
    # a = 0: wx = cos b c', wy = b', wz = a' - sin b c'.
    state = {"x": x, "y": y, "z": 0.05, "b": b, "x'": dx, "y'": dy, "b'": wy, "c'": wx / math.cos(b), "a'": spin}
    found = solved(derive(ball(), formalism), **state)
    assert [found["x''"], found["y''"]] == pytest.approx([-2 / 7 * 2 * dy, 2 / 7 * 2 * dx], rel=1e-10)
    assert found["lambda.constraint 'height'"] == pytest.approx(-0.5 * 9.81, rel=1e-12)


def test_constrained_power_balances():
    """The table drives the ball: rate of energy = λ · drift, at a state on the constraints."""
    equations = derive(ball())
    x, dx, dy = 0.3, 0.15, 0.25
    state = {"x": x, "z": 0.05, "x'": dx, "y'": dy, "b'": dx / 0.05, "c'": (2 * x - dy) / 0.05}
    found = solved(equations, **state)
    layout = equations.layout
    symbols = (*layout.coordinates, *layout.speeds, *layout.accelerations, *equations.multipliers)
    values = {x: (state | found if x not in layout.coordinates else state).get(str(x.name), 0.0) for x in symbols}
    values |= {v: state.get(str(v.name), 0.0) for v in layout.speeds}
    balance, driven = evaluate([equations.power_balance, equations.driving_power], values | {TIME: 0.0})
    assert abs(driven) > 1e-3
    assert balance == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", ["chaplygin_sleigh", "ball_on_turntable", "rolling_disc"])
def test_they_are_certified(name):
    certificate = certify(library.load(name))
    assert certificate.agrees and sum(entry.applies for entry in certificate.entries) >= 10


def swing() -> tm.Mechanism:
    """A pendulum whose pivot moves up and down as A cos(w t): a joint that depends on time."""
    bob = tm.body("bob", mass=2, centre=(0, -0.8, 0), inertia=0)
    theta = Coordinate("theta")
    motions = (tm.translation((0, 1, 0), 0.1 * s.cos(3 * TIME)), tm.rotation((0, 0, 1), theta))
    pivot = tm.sequence("pivot", tm.EARTH, bob, (theta,), motions)
    return tm.Mechanism("swing", bodies=[bob], joints=[pivot], gravity=(0, -9.81, 0))


@EVERY
def test_a_driven_pivot_changes_gravity(formalism):
    """Oracle: l θ'' = -(g + y'') sin θ (Mathieu), y'' = -A w² cos(w t)."""
    t, theta = 0.7, 0.4
    found = solved(derive(swing(), formalism), t, theta=theta, **{"theta'": 1.1})
    lift = -0.1 * 9 * math.cos(3 * t)
    assert found["theta''"] == pytest.approx(-(9.81 + lift) / 0.8 * math.sin(theta), rel=1e-12)


def test_power_of_a_driven_pivot():
    """Oracle: the drive pushes the pivot up with the force m (y'' + g + vertical acceleration of the bob about it)."""
    equations = derive(swing(), "lagrange")
    t, theta, rate = 0.7, 0.4, 1.1
    swing_rate = solved(equations, t, theta=theta, **{"theta'": rate})["theta''"]
    layout = equations.layout
    values = {layout.coordinates[0]: theta, layout.speeds[0]: rate, layout.accelerations[0]: swing_rate, TIME: t}
    (power, balance) = evaluate([equations.driving_power, equations.power_balance], values)
    up = 0.8 * (math.sin(theta) * swing_rate + math.cos(theta) * rate**2) - 0.1 * 9 * math.cos(3 * t)
    assert power == pytest.approx(2 * (9.81 + up) * -0.1 * 3 * math.sin(3 * t), rel=1e-12)
    assert balance == pytest.approx(0, abs=1e-12)


X = Coordinate("x", "m")


@pytest.mark.parametrize("level", [X.symbol - 0.2 * s.sin(5 * TIME), X.rate - s.cos(5 * TIME)], ids=["place", "speed"])
@EVERY
def test_a_prescribed_motion_takes_the_force_of_inertia(formalism, level):
    """Oracle: with Φ = x - A sin(w t), or H q' + h(t) = 0 its rate, the multiplier is λ = -m x'' (M v' + Cᵀ λ = Q)."""
    cart = tm.body("cart", mass=3, centre=(0, 0, 0), inertia=0)
    rail = tm.prismatic("rail", tm.EARTH, cart, X)
    mechanism = tm.Mechanism("driven", bodies=[cart], joints=[rail], constraints=[tm.Equation("drive", level)])
    t = 0.3
    found = solved(derive(mechanism, formalism), t, x=0.2 * math.sin(5 * t), **{"x'": math.cos(5 * t)})
    assert found["x''"] == pytest.approx(-5 * math.sin(5 * t), rel=1e-12)
    assert found["lambda.constraint 'drive'"] == pytest.approx(3 * 5 * math.sin(5 * t), rel=1e-12)


def test_constraints_that_contradict_the_start_are_refused():
    with pytest.raises(ts.TorseurError, match=r"initial speeds violate .*'blade'"):
        ts.simulate(library.load("chaplygin_sleigh"), 1, initial={"x'": 0.0, "y'": 1.0, "psi": 0.0, "psi'": 0.0})
    with pytest.raises(ts.TorseurError, match=r"initial state violates .*'height'"):
        ts.simulate(library.load("ball_on_turntable"), 1, initial={"z": 0.2})


def test_constraints_must_be_linear_in_the_speeds():
    sleigh = library.load("chaplygin_sleigh")
    x, y = (joint.rate for joint in sleigh.joints[0].coordinates[:2])
    wrong = tm.Equation("speed", x * x + y * y - 1)
    mechanism = tm.Mechanism("wrong", bodies=sleigh.bodies, joints=sleigh.joints, parameters=sleigh.parameters,
                             constraints=[wrong])  # fmt: skip
    with pytest.raises(ts.UnsupportedError, match="constraint 'speed' is not linear"):
        _ = derive(mechanism).residual
