"""Checks of steady states and linearisations: right ones agree, wrong ones do not; forces of speeds alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from torseur.algebra.graph import evaluate
from torseur.description import library
from torseur.errors import TorseurError

CAR = """mechanism car ;
param m = 1200 kg, J = 1800 kg*m^2, a = 1.1 m, b = 1.4 m, Cf = 60000 N, Cr = 70000 N, steer = 0.02, V = 20 m/s ;
let chassis = body mass = m, centre = [0, 0, 0], inertia = diag(0.5*J, 0.5*J, J) end ;
join earth and chassis.frame as ground with planar(x, y, psi) speeds Vx, Vy = velocity in chassis, r = psi' end ;
apply force [0, Cf*(steer - (Vy + a*r)/Vx), 0] in chassis on [a, 0, 0] @ chassis as front ;
apply force [0, -Cr*(Vy - b*r)/Vx, 0] in chassis on [-b, 0, 0] @ chassis as rear ;
apply force [-m*Vy*r, 0, 0] in chassis on [0, 0, 0] @ chassis as drive ;
init Vx = V ;
"""


def test_a_steady_turn_is_found_though_no_force_depends_on_a_position():
    """Oracle: yaw rate of the single-track model, V δ / (L + K V²), K = m (b Cr - a Cf) / (L Cf Cr)."""
    turn = ts.steady_motion(ts.parse(CAR), moving=["x", "y", "psi"], fixed=["Vx"])
    understeer = 1200 * (1.4 * 70000 - 1.1 * 60000) / (2.5 * 60000 * 70000)
    assert turn.state["r"] == pytest.approx(20 * 0.02 / (2.5 + understeer * 400), rel=1e-9)
    assert turn.trusted


def test_energies_of_mechanisms_whose_forces_divide_by_a_speed():
    """At rest these forces have no value, and no potential needs it. Oracle: ½ m V² + ½ J r² of the states."""
    motion = ts.simulate(ts.parse(CAR), until=1.0, samples=5, outputs=["energy"])
    kinetic = 600 * (motion["Vx"] ** 2 + motion["Vy"] ** 2) + 900 * motion["r"] ** 2
    assert np.allclose(motion["energy"], kinetic, rtol=1e-12)
    assert ts.derive(ts.parse(CAR)).potential_energy.is_zero


def test_potential_of_a_spring_beside_a_force_that_divides_by_a_speed():
    text = CAR.replace("init", "apply spring stiffness = 3 N/m between earth and chassis ;\ninit")
    equations = ts.derive(ts.parse(text))
    values = dict(zip(equations.layout.coordinates, [3.0, 4.0, 0.3], strict=True))
    assert evaluate([equations.potential_energy], values)[0] == pytest.approx(37.5)  # ½ 3 (3² + 4²)


@pytest.mark.parametrize("name", ["whipple_bicycle", "rolling_disc", "double_wishbone", "spinning_top", "bennett"])
def test_linearisations_agree_with_differences(name):
    """About motions, with constraints that hold speeds only, tables, quaternions and redundant constraints."""
    motions = ts.linearise(library.load(name))
    assert motions.trusted and motions.check.error < 1e-6


def test_a_wrong_entry_is_noticed():
    motions = ts.linearise(library.load("whipple_bicycle"))
    for k in (0, 7, 40):
        wrong = motions.state_matrix.copy()
        wrong.flat[k] += 1e-3 * np.abs(wrong).max()
        assert not replace(motions, state_matrix=wrong).trusted


def test_a_state_that_is_no_equilibrium_is_noticed():
    rest = ts.equilibrium(library.load("slider_crank"))
    assert rest.trusted
    off = replace(rest.point, y=rest.point.y + 1e-3)
    assert not replace(rest, point=off).trusted


def test_small_motions_about_a_singular_configuration_are_not_trusted():
    """A four-bar stretched out: what it does is not linear in anything."""
    assert not ts.linearise(library.load("stretched_four_bar")).trusted


CAM = """mechanism cam ;
let disc = body mass = 2 kg, centre = 0, inertia = diag(0.1, 0.2, 0.3) end ;
let rod = body mass = 2 kg, centre = 0, inertia = 0 end ;
join earth and disc.frame as a with revolute(q) end ;
join earth and rod.frame as b with prismatic(x) end ;
constrain 0 = x - LIFT as cam ;
init q = 0, q' = SPEED ;
"""


def test_a_pendulum_that_swings_through_its_lowest_point_is_in_no_steady_motion():
    """Nothing accelerates at that instant; a little later -g/l sin(θ) does."""
    with pytest.raises(TorseurError, match="the rate of 'theta'' would be -.* depend on what moves"):
        ts.steady_motion(library.load("pendulum"), {"theta": 0, "theta'": 1}, moving=["theta"])


@pytest.mark.parametrize("speed", ["1", "1e-5"])
@pytest.mark.parametrize(
    ("lift", "steady"),
    [("0.1 m * sin(q)", False), ("0.1 m * q^3", False), ("0.1 m * q", True), ("0.1 m * q + 0.2 m/s * t", True)],
)
def test_cams_hold_at_constant_speeds_where_they_are_straight(lift, steady, speed):
    """x'' = f''(q) q'^2: both curved cams have none at q = 0, where the search starts; a slow one is no steadier."""
    cam = ts.parse(CAM.replace("LIFT", lift).replace("SPEED", speed))
    if steady:
        found = ts.steady_motion(cam, moving=["q", "x"], fixed=["q'"])
        assert found.trusted and found.state["q'"] == float(speed)
        return
    with pytest.raises(TorseurError, match="'cam' does not hold at constant speeds"):
        ts.steady_motion(cam, moving=["q", "x"], fixed=["q'"])


def test_a_driver_that_is_not_straight_in_time_is_in_no_steady_motion():
    """q = sin t has no acceleration at t = 0."""
    driven = ts.parse(CAM.replace("x - LIFT", "q - sin(1 1/s * t)").replace("SPEED", "1"))
    with pytest.raises(TorseurError, match="'cam' does not hold at constant speeds"):
        ts.steady_motion(driven, moving=["q"])


def test_states_that_are_zero_up_to_rounding_have_no_size():
    """A lateral slip that lags behind: straight ahead it is zero, and a start from 1e-19 makes no unit of it."""
    text = CAR.replace("steer = 0.02", "steer = 0 rad").replace("(steer - (Vy + a*r)/Vx)", "(-lag)")
    text += "state lag = START, lag' = ((Vy + a*r)/Vx - lag) / 0.1 s ;"

    def straight(start):
        return ts.steady_motion(ts.parse(text.replace("START", start)), moving=["x", "y", "psi"], fixed=["Vx"])

    ahead = straight("1e-19")
    off = ahead.point.y.copy()
    slot = ahead.point.numbers.coordinates - 1
    off[slot] = 3e-19
    assert replace(ahead, point=replace(ahead.point, y=off)).trusted
    off[slot] = 1e-7
    assert not replace(ahead, point=replace(ahead.point, y=off)).trusted


def test_a_constraint_that_time_moves_is_the_reason_why_nothing_rests():
    """x = 0.2 m/s t: forces balance, which was said to be wrong by their rounding."""
    driven = ts.parse(CAM.replace("x - LIFT", "x - 0.2 m/s * t").replace("SPEED", "0"))
    with pytest.raises(TorseurError, match=r"constraint 'cam' would still change at a rate of -0\.2"):
        ts.equilibrium(driven)
