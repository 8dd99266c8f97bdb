"""Handling of a car on one track against its closed forms, and steady turns up to the limit of saturating tyres."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from analysis.vehicles import bicycle
from torseur import vehicles

SATURATING = bicycle.TEXT.replace("-Cf*((vy + a*r)/vx - delta)", "8 kN*tanh(-Cf/8 kN*((vy + a*r)/vx - delta))").replace(
    "-Cr*(vy - b*r)/vx", "5 kN*tanh(-Cr/5 kN*(vy - b*r)/vx)"
)


@pytest.fixture(scope="module")
def car():
    return vehicles.vehicle(ts.parse(bicycle.TEXT), "delta")


@pytest.fixture(scope="module")
def run(car):
    return vehicles.handling(car, 25.0)


def test_closed_forms_of_the_single_track_model(run):
    """Oracle: the textbook's formulas, to 1e-8 and better."""
    assert run.steered_length == pytest.approx(bicycle.LENGTH, rel=1e-10)
    assert run.understeer_gradient == pytest.approx(bicycle.UNDERSTEER, rel=1e-10)
    assert run.characteristic_speed == pytest.approx(np.sqrt(bicycle.LENGTH / bicycle.UNDERSTEER), rel=1e-10)
    assert run.critical_speed is None
    assert all(check.agrees for check in run.checks)
    assert run.gains.yaw_gain == pytest.approx(bicycle.yaw_gain(25.0), rel=1e-10)
    sideslip = bicycle.B / 25.0**2 - bicycle.M * bicycle.A / (bicycle.LENGTH * bicycle.CR)
    assert run.gains.sideslip_per_acceleration == pytest.approx(sideslip, rel=1e-10)


def test_eigenvalues_over_the_speed(car):
    """Oracle: eigenvalues of the linear single-track model."""
    for speed, found in zip((8.0, 40.0), vehicles.eigenvalues_over_speed(car, (8.0, 40.0)), strict=True):
        expected = np.sort_complex(np.linalg.eigvals(bicycle.state_matrix(speed)))
        np.testing.assert_allclose(np.sort_complex(found), expected, rtol=1e-8)


def test_critical_speed_of_a_car_that_oversteers():
    """Oracle: √(-l/K), where a real root of the textbook's state matrix passes zero."""
    given = {"Cf": 110e3, "Cr": 60e3}
    run = vehicles.handling(vehicles.vehicle(ts.parse(bicycle.TEXT), "delta"), 15.0, given)
    gradient = bicycle.M * (1.6 * 60e3 - 1.1 * 110e3) / (2.7 * 110e3 * 60e3)
    assert run.critical_speed == pytest.approx(np.sqrt(-2.7 / gradient), rel=1e-9)
    assert run.characteristic_speed is None


def test_frequency_response_to_the_steering(run):
    """Oracle: (iω - A)⁻¹ B of the linear single-track model."""
    omega = 2 * np.pi * np.array([0.2, 1.0, 3.0])
    found = run.response("body.rotation.z", omega).values
    force = np.array([bicycle.CF / bicycle.M, bicycle.A * bicycle.CF / bicycle.J])
    expected = [np.linalg.solve(1j * w * np.eye(2) - bicycle.state_matrix(25.0), force)[1] for w in omega]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_step_of_steering(run):
    """Oracle: the exact solution of the linear model for a step, whose steady turn and peak the motion shows."""
    stepped = vehicles.step_steer(run, 1.0, rise=0.01)
    found = stepped.characteristics("yaw rate")
    t = np.linspace(0, 3, 3001)
    values, vectors = np.linalg.eig(bicycle.state_matrix(25.0))
    force = stepped.angle * np.array([bicycle.CF / bicycle.M, bicycle.A * bicycle.CF / bicycle.J])
    weights = np.linalg.solve(vectors, force) / values
    rate = ((np.exp(np.outer(t, values)) - 1) * weights @ vectors[1]).real
    assert found["steady"] == pytest.approx(rate[-1], rel=2e-3)
    assert found["overshoot"] == pytest.approx(rate.max() / rate[-1] - 1, abs=3e-3)
    assert found["peak time"] == pytest.approx(t[np.argmax(rate)], abs=0.02)
    assert stepped.characteristics("roll") == {"steady": 0.0}


@pytest.mark.slow
def test_turns_of_a_car_whose_rear_axle_saturates():
    """Oracle: a turn loses its stability where the steering angle is largest, dδ/da = 0, whatever the tyres are.

    In proportion as long as slips are small; past the limit of the rear axle, a = 5 kN l/(m a₁), it needs countersteering.
    """
    car = vehicles.vehicle(ts.parse(SATURATING), "delta")
    turns = vehicles.steady_cornering(car, 20.0, up_to=20.0)
    assert all(check.agrees for check in turns.checks)
    one = turns.turns[1]
    wrong = replace(one, motions=replace(one.motions, state_matrix=1.001 * one.motions.state_matrix))
    assert [check.agrees for check in replace(turns, turns=(*turns.turns[:1], wrong)).checks] == [True, False]
    a, first = turns.lateral_acceleration, turns.first_unstable
    assert first is not None
    number = turns.turns.index(first)
    assert abs(number - int(np.argmax(turns.steering))) <= 1
    assert "other side" in turns.ended
    assert a[-1] == pytest.approx(5e3 * bicycle.LENGTH / (bicycle.M * bicycle.A), rel=0.03)
    assert turns.steering[1] / a[1] == pytest.approx(bicycle.LENGTH / 400 + bicycle.UNDERSTEER, rel=1e-3)


def test_turns_of_a_car_whose_front_axle_saturates():
    """Oracle: the front axle carries m a b/l and gives 3 kN at most, whatever the steering; all turns are stable."""
    text = SATURATING.replace("8 kN", "3 kN")
    turns = vehicles.steady_cornering(vehicles.vehicle(ts.parse(text), "delta"), 20.0, up_to=3.35)
    assert turns.first_unstable is None
    assert turns.lateral_acceleration.max() == pytest.approx(3e3 * bicycle.LENGTH / (bicycle.M * bicycle.B), rel=0.02)


def test_double_lane_change(run):
    """Oracle: bounds; the driver comes back to the lane, and reaches the other one."""
    lanes = vehicles.lane_change(run)
    assert 3.0 < lanes.aside.max() < 4.5
    assert abs(lanes.aside[-1]) < 0.3
    assert lanes.largest_error < 1.5


@pytest.mark.parametrize(
    ("change", "steering", "words"),
    [
        (("", ""), "dleta", "Did you mean 'delta'"),
        (("speeds vx", "(* speeds vx"), "delta", "constant speeds in the axes of 'body'"),
        (("init vx = u", "init vx = 0 m/s, vy = 1e-300 m/s"), "delta", "has no value"),
        (("planar(x, y, psi)", "link(psi) dof = psi || [0, 0, 1]"), "delta", "a joint `free` or `planar`"),
    ],
)
def test_faults(change, steering, words):
    text = bicycle.TEXT.replace(*change)
    if "(* speeds" in text:
        text = text.replace("r = psi' end", "r = psi' *) end").replace("vx)", "20 m/s)").replace("vy", "y'").replace(
            "/vx", "/(20 m/s)").replace("*r", "*psi'").replace("init vx", "init x'")  # fmt: skip
    if "link(psi)" in text:
        text = "param delta = 0 rad ; let body = body mass = 1 kg, centre = 0, inertia = 0 end ; " + (
            "join earth and body with prismatic(x) end ;"
        )
    with pytest.raises(ts.TorseurError, match=words.replace("(", "\\(")):
        vehicles.handling(vehicles.vehicle(ts.parse(text), steering), 20.0)
