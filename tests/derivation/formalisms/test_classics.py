"""Classical mechanisms by every formalism against closed forms and reference numbers."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
import torseur.description.mechanism as tm
from derivation.formalisms.examples import cardan, cart_pendulum, free_body, heavy_top
from torseur.algebra.graph import evaluate
from torseur.derivation.formalisms import FORMALISMS, derive
from torseur.description.mechanism import TIME

FOLDER = Path(__file__).parents[2] / "oracles"
CARDAN, CLASSICS = (json.loads((FOLDER / f"{name}.json").read_text()) for name in ("cardan", "classics"))
EVERY = pytest.mark.parametrize("formalism", FORMALISMS)
MOVED = pytest.mark.parametrize("formalism", ["recursive", "inertia_tensors"])


def values(equations: ts.Equations, what: list, **state: float) -> list[float]:
    """Expressions at a state given by names; parameters have their own values."""
    given = {str(p.name): float(p.value) for p in equations.mechanism.parameters} | state
    layout = equations.layout
    symbols = (*layout.coordinates, *layout.speeds, *layout.accelerations, *layout.parameters)
    return [float(x) for x in evaluate(what, {x: given.get(str(x.name), 0.0) for x in symbols} | {TIME: 0.0})]


@EVERY
def test_cart_and_pendulum(formalism):
    """(M + m) x'' + m l/2 (cos q q'' - sin q q'²) = 0 and (J + m l²/4) q'' + m l/2 cos q x'' + m g l/2 sin q = 0."""
    equations = derive(cart_pendulum(1), formalism)
    state = {"x'": 0.4, "q1": 0.7, "q1'": -1.3, "x''": 0.9, "q1''": 2.1}
    m, length, moment, cart, g = 1.1, 0.55, 0.1, 2.0, 9.81
    q, dq, ddx, ddq = state["q1"], state["q1'"], state["x''"], state["q1''"]
    half = m * length / 2
    expected = [
        (cart + m) * ddx + half * (math.cos(q) * ddq - math.sin(q) * dq**2),
        (moment + m * length**2 / 4) * ddq + half * math.cos(q) * ddx + half * g * math.sin(q),
    ]
    assert values(equations, list(equations.residual), **state) == pytest.approx(expected, rel=1e-13)


@EVERY
@pytest.mark.parametrize("point", CARDAN["points"], ids=lambda p: f"alpha {float(p['alpha']):.2f}, psi {p['psi3']}")
def test_cardan_joint(formalism, point):
    """The mass a(psi), its Christoffel symbol a'/2, and the weight's force -m g l sin(alpha) cos(psi)."""
    equations = CARDAN_EQUATIONS[formalism]
    alpha, psi = float(point["alpha"]), float(point["psi3"])
    inertia, bias = values(
        equations, [equations.mass_matrix[0][0], equations.bias[0]], alpha=alpha, psi=psi, **{"psi'": 1.7}
    )
    gamma = (bias - 2 * 9.81 * 0.5 * math.sin(alpha) * math.cos(psi)) / 1.7**2
    assert inertia == pytest.approx(float(point["a(A=0.3,B=0.4,C=0.2)"]), rel=1e-12)
    assert gamma == pytest.approx(float(point["Gamma=a'/2"]), abs=1e-12)


CARDAN_EQUATIONS = {name: derive(cardan(), name) for name in FORMALISMS}


@MOVED
def test_motion_of_the_cardan_joint(formalism):
    case = CARDAN["trajectory"]
    motion = ts.simulate(
        CARDAN_EQUATIONS[formalism],
        until=5,
        samples=case["t"],
        rtol=1e-13,
        parameters={"alpha": math.pi / 6},
        backend="llvm",
    )
    assert np.max(np.abs(motion["psi"] - np.array(case["psi"], dtype=float))) < 1e-10
    assert np.max(np.abs(motion["psi'"] - np.array(case["psid"], dtype=float))) < 1e-9


@EVERY
def test_heavy_top_precesses_steadily_at_two_rates(formalism):
    equations = derive(heavy_top(), formalism)
    case = CLASSICS["heavy_top_steady"]
    for precession in (case["slow"], case["fast"]):
        rate = float(precession)
        spin = 60 - rate * math.cos(math.pi / 6)
        state = {"theta": math.pi / 6, "phi'": rate, "psi'": spin}
        assert np.max(np.abs(values(equations, list(equations.acceleration), **state))) < 1e-10


def test_heavy_top_nutates():
    """From rest of the axis: largest lean and period of nutation."""
    case = CLASSICS["heavy_top_nutation"]
    start = {"theta": math.pi / 6, "psi'": 60.0}
    period = float(case["period"])
    motion = ts.simulate(
        derive(heavy_top(), "lagrange"),
        until=period,
        samples=[0, period / 2, period],
        initial=start,
        rtol=1e-13,
        backend="llvm",
    )
    assert motion["theta"][1] == pytest.approx(float(case["theta_max"]), abs=1e-10)
    assert motion["theta"][2] == pytest.approx(math.pi / 6, abs=1e-10)
    assert motion["phi"][2] == pytest.approx(float(case["phi_advance_per_period"]), abs=1e-10)


@pytest.mark.parametrize("formalism", ["recursive", "kane"])
def test_euler_top(formalism):
    case = CLASSICS["euler_top"]
    names = ("pivot.wx", "pivot.wy", "pivot.wz")
    start = dict(zip(names, map(float, case["w0"]), strict=True))
    times = [row[0] for row in case["data"]]
    motion = ts.simulate(
        derive(free_body("quaternion"), formalism), until=times[-1], samples=times, initial=start, rtol=1e-13,
        parameters={"A": 1, "B": 2, "C": 3, "D": 0, "E": 0, "F": 0}, backend="llvm",
    )  # fmt: skip
    ours = np.column_stack([motion[name] for name in names])
    assert np.max(np.abs(ours - np.array(case["data"], dtype=float)[:, 1:])) < 1e-10


def pendulum() -> tm.Mechanism:
    m, length, g = (tm.parameter(*given) for given in (("m", 1), ("L", 1), ("g", 9.81)))
    bob = tm.body("bob", mass=m, centre=(0, -length, 0), inertia=0)
    pin = tm.revolute("pin", tm.EARTH, bob, "theta")
    return tm.Mechanism("pendulum", bodies=[bob], joints=[pin], parameters=[m, length, g], gravity=(0, -g, 0))


@MOVED
def test_pendulum_from_the_horizontal(formalism):
    rows = np.array(CLASSICS["A01_pendulum"]["data"], dtype=float)
    motion = ts.simulate(
        derive(pendulum(), formalism), until=rows[-1, 0], samples=rows[:, 0], initial={"theta": -math.pi / 2},
        rtol=1e-13, backend="llvm",
    )  # fmt: skip
    assert np.max(np.abs(motion["theta"] - rows[:, 3])) < 1e-10


@pytest.mark.parametrize("formalism", [name for name in FORMALISMS if name != "hamilton"])
def test_dual_spin_satellite(formalism):
    """An axisymmetric platform with a rotor: transverse rates turn at ((Ia - It) ws + h) / It in its axes."""
    rotor_inertia, transverse, axial = 2.0, 10.0, 7.0
    platform = tm.body(
        "platform", mass=1, centre=(0, 0, 0), inertia=tm.inertia(transverse, transverse, axial - rotor_inertia)
    )
    rotor = tm.body("rotor", mass=0, centre=(0, 0, 0), inertia=tm.inertia(0, 0, rotor_inertia))
    joints = [
        tm.spherical("attitude", tm.EARTH, platform, "e0", "e1", "e2", "e3", angles="quaternion"),
        tm.revolute("shaft", platform, rotor, "spin"),
    ]
    equations = derive(tm.Mechanism("dual spin", bodies=[platform, rotor], joints=joints), formalism)
    state = {"e0": 1.0, "attitude.wx": 0.01, "attitude.wy": 0.02, "attitude.wz": 0.5, "spin'": 4 / rotor_inertia}
    rates = values(equations, list(equations.acceleration), **state)
    rate = float(CLASSICS["dual_spin"]["value"])
    assert rates == pytest.approx([-rate * 0.02, rate * 0.01, 0, 0], abs=1e-14)


@EVERY
def test_spherical_pendulum_momentum_is_cyclic(formalism):
    """The momentum of an angle that appears nowhere is conserved: its bias is the rate of sin² theta."""
    m, length = 1.3, 0.7
    bob = tm.body("bob", mass=m, centre=(0, 0, -length), inertia=0)
    cord = tm.universal("cord", tm.EARTH, bob, "phi", "theta", first_axis=(0, 0, 1), second_axis=(1, 0, 0))
    mechanism = tm.Mechanism("spherical pendulum", bodies=[bob], joints=[cord], gravity=(0, 0, -9.81))
    equations = derive(mechanism, formalism)
    theta, dphi, dtheta = 0.6, 1.1, -0.4
    bias = values(equations, list(equations.bias), theta=theta, **{"phi'": dphi, "theta'": dtheta})
    expected = [
        2 * m * length**2 * math.sin(theta) * math.cos(theta) * dphi * dtheta,
        -m * length**2 * math.sin(theta) * math.cos(theta) * dphi**2 + m * 9.81 * length * math.sin(theta),
    ]
    assert bias == pytest.approx(expected, rel=1e-12)


def test_a_spring_pulls_with_minus_the_slope_of_its_energy():
    """Lagrange takes springs from their energy, Kane from their forces: the same generalised force."""
    spring = tm.coordinate_spring("spring", "rail", "x", stiffness=40, rest=0.2, damping=3)
    cord = tm.spring("cord", tm.EARTH.at((1, 2, 0)), tm.Frame("link1"), stiffness=7, rest=0.5, damping=0.4)
    mechanism = replace(cart_pendulum(1), loads=(spring, cord))
    state = {"x": 0.3, "q1": 0.4, "x'": 0.2, "q1'": -0.8}
    by_energy, by_force = (derive(mechanism, name) for name in ("lagrange", "kane"))
    assert values(by_energy, list(by_energy.loads), **state) == pytest.approx(
        values(by_force, list(by_force.loads), **state), rel=1e-13
    )
