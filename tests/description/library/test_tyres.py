"""The tyres of the library on a rig: a wheel held at a slip angle, a camber angle, a height and a spin."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts

PACE = 20.0
TYRE = {"R": 0.32, "k": 200e3, "mu": (1.1, 1.0), "C": (1.6, 1.3), "E": (0.0, -0.5), "slope": 22, "K": 60e3, "load": 6e3}
# slip angle (rad), camber angle (rad), spin (rad/s), height (m): alone and together, to both sides, braked and driven
STATES = [(0.05, 0, 66, 0.3), (0, 0, 70, 0.3), (0, 0.1, 66, 0.3), (-0.1, 0.08, 75, 0.295), (0.2, -0.1, 50, 0.31)]


def rig(steer, camber, spin, height, pace=PACE, mirrored=False, start=""):
    turn = f"({steer} || [0, 0, 1]) * ({camber} || [1, 0, 0])"
    across = " mirrored across [0, 1, 0]" if mirrored else ""
    return f"""
    let carrier = body mass = 1000 kg, centre = 0, inertia = 0 end ;
    let wheel = body mass = 1 g, centre = 0, inertia = diag(1, 1, 1) kg*m^2 end ;
    join earth and carrier with link(x, y, h) dof1 = [x, y, h] end ;
    join 0 ++ {turn} @ carrier and wheel with revolute(spin) about [0, 1, 0] end ;
    use magic_tyre as tyre from "library:parts/tyres" attach carrier to 0 ++ {turn} @ carrier, wheel to wheel{across} ;
    init x' = {pace} m/s, spin' = {spin} rad/s, h = {height} m {start} ;
    """


def slips_and_force(steer, camber, spin, height):
    """Pacejka's formula in steady rolling, by vectors: deflections over relaxation lengths, and the force in earth axes."""
    c, s = np.cos(steer), np.sin(steer)
    axle = np.array([-s * np.cos(camber), c * np.cos(camber), np.sin(camber)])
    up = np.array([0, 0, 1.0])
    ahead = np.cross(axle, up) / np.linalg.norm(np.cross(axle, up))
    side = np.cross(up, ahead)
    down = -(up - (up @ axle) * axle) / np.linalg.norm(up - (up @ axle) * axle)
    radius = height / -(down @ up)
    velocity = np.array([PACE, 0, 0])
    sliding = velocity + np.cross(spin * axle, radius * down)
    kappa, tan = -(sliding @ ahead) / abs(velocity @ ahead), -(sliding @ side) / abs(velocity @ ahead)
    load = TYRE["k"] * (TYRE["R"] - radius)
    cornering = TYRE["K"] * np.sin(2 * np.arctan(load / TYRE["load"]))
    slips = [TYRE["slope"] * kappa / 1.1, cornering / load / 1.0 * (tan - 0.05 * axle[2])]
    total = np.hypot(*slips)
    parts = []
    for slip, mu, shape, curvature in zip(slips, TYRE["mu"], TYRE["C"], TYRE["E"], strict=True):
        x = total / shape
        parts.append(mu * load * np.sin(shape * np.arctan(x - curvature * (x - np.arctan(x)))) * slip / total)
    return kappa, tan, parts[0] * ahead + parts[1] * side + load * up


@pytest.mark.parametrize("state", STATES)
def test_force_of_the_magic_formula(state):
    """Oracle: the published formula with combined slip by normalised slips, written with vectors."""
    kappa, tan, force = slips_and_force(*state)
    start = f", tyre.u = {kappa * 0.1} m, tyre.w = {tan * 0.3} m"
    outputs = [f"carrier.acceleration.{c}" for c in "xyz"]
    motion = ts.simulate(ts.parse(rig(*state, start=start)), until=1e-3, samples=2, outputs=outputs).dataset
    measured = [motion[name].values[0] * 1000.001 for name in outputs]
    np.testing.assert_allclose(measured, force, rtol=1e-8, atol=1e-3)


@pytest.mark.slow
def test_a_mirrored_tyre_is_the_image():
    """Oracle: the symmetry of a wheel that is steered and leans to the other side."""
    outputs = [f"carrier.velocity.{c}" for c in "xyz"]
    here = ts.simulate(ts.parse(rig(0.05, 0.08, 66, 0.3)), until=0.1, samples=3, outputs=outputs).dataset
    there = ts.simulate(
        ts.parse(rig(-0.05, -0.08, 66, 0.3, mirrored=True)), until=0.1, samples=3, outputs=outputs
    ).dataset
    for name, sign in zip(outputs, (1, -1, 1), strict=True):
        np.testing.assert_allclose(there[name].values, sign * here[name].values, atol=1e-9)
    assert abs(here[outputs[1]].values[-1]) > 1e-3


def test_slip_builds_up_over_the_relaxation_length():
    """Oracle: w = l tan(α) (1 - exp(-s/l)) over the way s, of a wheel that is steered suddenly and held by its mass."""
    text = rig(0.01, 0, 66.0, 0.3).replace("1000 kg", "1e9 kg")
    motion = ts.simulate(ts.parse(text), until=0.03, samples=4).dataset
    way = PACE * np.cos(0.01) * motion["time"].values
    np.testing.assert_allclose(motion["tyre.w"].values, 0.3 * np.tan(0.01) * (1 - np.exp(-way / 0.3)), rtol=1e-6)


@pytest.mark.slow
def test_a_tyre_stands():
    """Oracle: at rest the tyre is a spring of stiffness K/l, on which the carrier swings sideways and nothing creeps away."""
    text = rig(0, 0, 0, 0.3, pace=0).replace("init", "constrain h = 0.3 m as held ; init y' = 0.01 m/s, ")
    motion = ts.simulate(ts.parse(text), until=0.5, samples=501).dataset
    cornering = 60e3 * np.sin(2 * np.arctan(4000 / 6000))
    frequency = np.sqrt(cornering / 0.3 / 1000.001)
    y, t = motion["y"].values, motion["time"].values
    np.testing.assert_allclose(y, 0.01 / frequency * np.sin(frequency * t), atol=2e-5)
