"""The vehicle of fourteen degrees of freedom: formalisms, statics, braking, step steer."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.derivation.formalisms import certify
from torseur.description import library

M, M_UNSPRUNG, A, B, D, R, W = 1300.0, 4 * 45.0, 1.1, 1.5, 0.25, 0.3, 0.74
G, K_T, J_W, C_F, C_R = 9.81, 220e3, 1.1, 18.0, 22.0
BASE = A + B
CORNERS = ("fl", "fr", "rl", "rr")
HEIGHTS = [f"{corner}_wheel.position.z" for corner in CORNERS]
PLACES = ["chassis.position.x", "chassis.position.z", "fl_wheel.position.x", "rl_wheel.position.x"]
OUTPUTS = [*HEIGHTS, *PLACES, "energy", "power", "vx'"]


@pytest.fixture(scope="module")
def vehicle() -> ts.Mechanism:
    return library.load("vehicle")


def moved(vehicle, until, initial=None, **parameters):
    """A motion of the vehicle; one set of outputs, so that one kernel serves all tests."""
    return ts.simulate(vehicle, until, samples=601, rtol=1e-8, outputs=OUTPUTS, initial=initial, parameters=parameters)


def loads(motion) -> np.ndarray:
    """Tyre loads at rest (closed form) plus stiffness times deflection; for states without vertical motion."""
    front, rear = (M * G * arm / (2 * BASE) + M_UNSPRUNG * G / 4 for arm in (B, A))
    return np.array(
        [rest + K_T * (R - motion[name]) for rest, name in zip([front] * 2 + [rear] * 2, HEIGHTS, strict=True)]
    )


@pytest.mark.slow
def test_it_has_fourteen_freedoms_and_body_speeds(vehicle):
    layout = ts.derive(vehicle).layout
    assert len(layout.speeds) == 14
    assert layout.speed_names[:6] == ["vx", "vy", "vz", "p", "q", "r"]


@pytest.mark.slow
def test_fast_formalisms_agree(vehicle):
    certificate = certify(vehicle, ["recursive", "kane", "boltzmann_hamel", "newton_euler", "lie_group"], points=1)
    assert certificate.worst < 1e-40


@pytest.mark.slow
def test_every_formalism_agrees(vehicle):
    certificate = certify(vehicle)
    assert certificate.agrees and certificate.worst < 1e-40
    assert all(entry.applies for entry in certificate.entries)


@pytest.mark.slow
def test_equations_of_the_chassis_are_short(vehicle):
    """Speeds in body axes: no angle of the chassis stands in M, and the total mass stands on its diagonal."""
    equations = ts.derive(vehicle)
    names = {str(x.name) for row in equations.mass_matrix for e in row for x in ts.to_sympy([e])[0].free_symbols}
    assert not {"psi", "theta", "phi", "x", "y", "z"} & names


@pytest.mark.slow
def test_it_settles_on_its_four_wheels(vehicle):
    """Oracle: moments of the weights about the axles. Let go 2 cm too high, at rest."""
    still = {"vx": 0.0, "z": R + D + 0.02} | {f"{corner}_spin'": 0.0 for corner in CORNERS}
    final = loads(moved(vehicle, 6, still, B=0))[:, -1]
    front = M * G * B / (2 * BASE) + M_UNSPRUNG * G / 4
    rear = M * G * A / (2 * BASE) + M_UNSPRUNG * G / 4
    assert final == pytest.approx([front, front, rear, rear], rel=1e-3)
    assert final.sum() == pytest.approx((M + M_UNSPRUNG) * G, rel=1e-4)


@pytest.fixture(scope="module")
def braking(vehicle):
    return moved(vehicle, 3, B=2500)


@pytest.mark.slow
def test_brakes_slow_it_by_their_torque(braking):
    """Oracle: with rolling wheels, (m + Σ J/R²) a = torque / R; R varies with the load by some percent."""
    inertia = M + M_UNSPRUNG + 4 * J_W / R**2
    assert braking["vx'"][-1] == pytest.approx(-2500 / R / inertia, rel=0.02)


@pytest.mark.slow
def test_braking_distance(braking):
    """Oracle: v²/2a between two instants of steady braking, from the torque alone."""
    late = braking.time > 1.5
    x, vx = braking["x"][late], braking["vx"][late]
    slowing = 2500 / R / (M + M_UNSPRUNG + 4 * J_W / R**2)
    assert x[-1] - x[0] == pytest.approx((vx[0] ** 2 - vx[-1] ** 2) / (2 * slowing), rel=0.02)


@pytest.mark.slow
def test_braking_loads_the_front_axle(braking):
    """Oracle: moments of weights and inertia forces about the contact line of the rear tyres, at the places they took."""
    front_x, rear_x = (braking[f"{corner}_wheel.position.x"][-1] for corner in ("fl", "rl"))
    slowing = -braking["vx'"][-1]
    height = M * braking["chassis.position.z"][-1] + M_UNSPRUNG * R
    weight = M * (braking["chassis.position.x"][-1] - rear_x) + M_UNSPRUNG / 2 * (front_x - rear_x)
    spin = 4 * J_W / R  # the wheels lose their own momentum too
    moment = G * weight + slowing * (height + spin)
    assert loads(braking)[:2, -1].sum() == pytest.approx(moment / (front_x - rear_x), rel=1e-3)


@pytest.mark.slow
def test_braking_takes_the_energy(braking):
    """Oracle: the work of tyres and brakes, integrated over the samples."""
    scipy = pytest.importorskip("scipy.integrate")
    work = scipy.simpson(braking["power"], x=braking.time)
    assert braking["energy"][-1] - braking["energy"][0] == pytest.approx(work, rel=1e-5)
    assert work < -1e5


@pytest.fixture(scope="module")
def steered(vehicle):
    return moved(vehicle, 5, B=0, delta=0.005)


@pytest.mark.slow
def test_step_steer_ends_in_the_turn_of_the_bicycle_model(steered):
    """Oracle: r = v δ / (L + K v²/g), understeer K = W_f/C_αf - W_r/C_αr = 1/C_f - 1/C_r rad."""
    v = steered["vx"][-1]
    expected = v * 0.005 / (BASE + (1 / C_F - 1 / C_R) * v**2 / G)
    assert steered["r"][-1] == pytest.approx(expected, rel=5e-3)


@pytest.mark.slow
def test_step_steer_rolls_outward_and_slips(steered):
    """Oracle: to the left, with sideslip b/R - a m v²/(C_r L R) of the bicycle model; the body rolls to the right."""
    v, r = steered["vx"][-1], steered["r"][-1]
    mass_on_rear = (M * A / BASE + M_UNSPRUNG / 2) * v * r
    sideslip = r * B / v - mass_on_rear / (C_R * (M * A / BASE + M_UNSPRUNG / 2) * G)
    assert steered["vy"][-1] / v == pytest.approx(sideslip, rel=0.03)
    assert steered["phi"][-1] > 0.005
    outer, inner = loads(steered)[1::2, -1].sum(), loads(steered)[0::2, -1].sum()
    moment = (M * steered["chassis.position.z"][-1] + M_UNSPRUNG * R) * v * r
    assert (outer - inner) / 2 * 2 * W == pytest.approx(moment, rel=0.1)


@pytest.mark.slow
def test_the_tyre_law_is_the_users():
    """Oracle: with a law of equal grip on both axles the vehicle steers neutrally, r = v δ / L."""
    text = library.source_of("vehicle")
    text = text.replace("law grip_f(s) = C_f/sqrt(1 + (C_f/mu)^2 * s)", "law grip_f(s) = 20")
    text = text.replace("law grip_r(s) = C_r/sqrt(1 + (C_r/mu)^2 * s)", "law grip_r(s) = 20")
    motion = ts.simulate(ts.parse(text), 4, samples=3, rtol=1e-7, parameters={"B": 0.0, "delta": 0.005})
    assert motion["r"][-1] == pytest.approx(motion["vx"][-1] * 0.005 / BASE, rel=5e-3)
