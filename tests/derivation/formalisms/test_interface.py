"""What every formalism's result offers through `Equations`, checked by the laws of mechanics."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

import torseur.description.mechanism as tm
from derivation.formalisms.examples import (
    cart_pendulum,
    declared_speeds,
    driven_tree,
    free_body,
    planar_vehicle,
    reversed_tree,
)
from robots import data, our_coordinates, robot
from strategies import mechanisms
from torseur.algebra.graph import as_expr, directional_derivative, evaluate
from torseur.algebra.graph import scalar as s
from torseur.derivation.equations.random_states import multiple_precision_values, rational_state
from torseur.derivation.formalisms import FORMALISMS, certify, derive
from torseur.description.mechanism import TIME
from torseur.errors import UnsupportedError

EVERY = pytest.mark.parametrize("formalism", FORMALISMS)


def numbers(equations, expressions, seed=1):
    return [
        float(x) for x in multiple_precision_values(list(expressions), rational_state(equations.tree, Random(seed)))
    ]


def damped_cart() -> tm.Mechanism:
    spring = tm.coordinate_spring("spring", "rail", "x", stiffness=40, rest=0.2, damping=3)
    cord = tm.spring("cord", tm.EARTH.at((1, 2, 0)), tm.Frame("link1"), stiffness=7, rest=0.5, damping=0.4)
    push = tm.force("push", tm.Frame("link2"), (1, s.sin(TIME), 0))
    return replace(cart_pendulum(2), loads=(spring, cord, push))


@EVERY
def test_bias_is_coriolis_and_gravity(formalism):
    equations = derive(cart_pendulum(3), formalism)
    v, rows = equations.layout.speeds, equations.coriolis_matrix
    expected = [
        sum((c * x for c, x in zip(row, v, strict=True)), g) for row, g in zip(rows, equations.gravity, strict=True)
    ]
    left, right = np.array(numbers(equations, [*equations.bias, *expected])).reshape(2, -1)
    assert left == pytest.approx(right, rel=1e-13)


@pytest.mark.parametrize("mechanism", [cart_pendulum(2), planar_vehicle(), free_body("declared")], ids=lambda m: m.name)
@EVERY
def test_rate_of_mass_matrix_less_twice_coriolis_is_skew(formalism, mechanism):
    equations = derive(mechanism, formalism)
    moving = dict(zip(equations.layout.coordinates, equations.rates, strict=True))
    entries = [entry for row in equations.mass_matrix for entry in row]
    flat = [entry for row in equations.coriolis_matrix for entry in row]
    n = len(equations.layout.speeds)
    rate, coriolis = np.array(numbers(equations, [*directional_derivative(entries, moving), *flat])).reshape(2, n, n)
    difference = rate - 2 * coriolis
    assert np.max(np.abs(difference + difference.T)) < 1e-13 * max(1, np.max(np.abs(rate)))


@EVERY
def test_power_balance_is_the_power_of_the_residual(formalism):
    """d(T + V)/dt - power = v · (M v' + b - Q), whatever the accelerations."""
    equations = derive(damped_cart(), formalism)
    power = sum((r * v for r, v in zip(equations.residual, equations.layout.speeds, strict=True)), as_expr(0))
    left, right = numbers(equations, [equations.power_balance, power])
    assert left == pytest.approx(right, rel=1e-12)


@pytest.mark.slow
@settings(
    max_examples=15, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
@given(mechanisms(max_bodies=4))
def test_power_balance_of_random_trees(mechanism):
    equations = derive(mechanism)
    power = sum((r * v for r, v in zip(equations.residual, equations.layout.speeds, strict=True)), as_expr(0))
    left, right, size = numbers(equations, [equations.power_balance, power, equations.kinetic_energy])
    assert left == pytest.approx(right, rel=1e-9, abs=1e-9 * (1 + abs(size)))


@pytest.mark.parametrize("mechanism", [driven_tree(), declared_speeds(), planar_vehicle()], ids=lambda m: m.name)
@pytest.mark.parametrize("formalism", ["recursive", "lagrange", "kane"])
def test_power_balance_counts_the_drivers(formalism, mechanism):
    """Joints that depend on time and speeds with a drift: d(T + V)/dt = power + driving power + v · residual."""
    equations = derive(mechanism, formalism)
    power = sum((r * v for r, v in zip(equations.residual, equations.layout.speeds, strict=True)), as_expr(0))
    left, right = numbers(equations, [equations.power_balance, power])
    assert left == pytest.approx(right, rel=1e-12)


@EVERY
def test_rate_of_angular_momentum_is_the_moment_of_the_weight(formalism):
    """A stone thrown in space, about the earth's origin: L' = r x m g."""
    joint = tm.free("float", tm.EARTH, tm.Frame("outer"), "x", "y", "z", "a", "b", "c", angles="zyx", speeds="body")
    stone = reversed_tree("zyx").body("outer")
    equations = derive(tm.Mechanism("thrown", bodies=[stone], joints=[joint], gravity=(0, 1, -9.81)), formalism)
    layout = equations.layout
    moving = dict(zip(layout.coordinates, equations.rates, strict=True))
    moving |= dict(zip(layout.speeds, equations.acceleration, strict=True))
    rates = directional_derivative([*equations.angular_momentum], moving)
    place = equations.tree.at(layout.coordinates, layout.speeds).links[0]
    centre = place.motion.transform.position * place.inertia.mass + place.motion.transform.rotation.to_parent(
        place.inertia.moment
    )
    moment = centre.cross(equations.tree.gravity)
    left, right = np.array(numbers(equations, [*rates, *(as_expr(c) for c in moment)])).reshape(2, 3)
    assert left == pytest.approx(right, abs=1e-11)


def test_momentum_of_a_robot():
    """Oracle: linear momentum stored from Pinocchio."""
    stored = data("solo12")
    equations = derive(robot("solo12"))
    layout = equations.layout
    state = dict(zip(layout.coordinates, our_coordinates("solo12", stored["q"][0]), strict=True))
    state |= dict(zip(layout.speeds, stored["v"][0], strict=True))
    assert evaluate(equations.linear_momentum, state) == pytest.approx(list(stored["hg"][0][:3]), rel=1e-11)


def test_rate_of_momentum_is_the_force():
    """A stone thrown in space: P' is its weight."""
    joint = tm.free("float", tm.EARTH, tm.Frame("outer"), "x", "y", "z", "a", "b", "c", angles="zyx")
    stone = reversed_tree("zyx").body("outer")
    equations = derive(tm.Mechanism("thrown", bodies=[stone], joints=[joint], gravity=(0, 1, -9.81)), "kane")
    layout = equations.layout
    moving = dict(zip(layout.coordinates, equations.rates, strict=True))
    moving |= dict(zip(layout.speeds, equations.acceleration, strict=True))
    rates = directional_derivative([*equations.linear_momentum], moving)
    assert numbers(equations, rates) == pytest.approx([0, 1.3, -1.3 * 9.81], abs=1e-12)


@EVERY
def test_state_form_gives_the_accelerations(formalism):
    equations = derive(damped_cart(), formalism)
    form = equations.state_form
    n = len(form.right)
    flat = numbers(equations, [*(entry for row in form.matrix for entry in row), *form.right])
    solution = np.linalg.solve(np.array(flat[: n * n]).reshape(n, n), flat[n * n :])
    expected = numbers(equations, [*equations.rates, *equations.acceleration])
    assert list(solution) == pytest.approx(expected, rel=1e-10)


@pytest.mark.slow
def test_every_part_of_every_formalism_is_there():
    mechanism = declared_speeds()
    for formalism in FORMALISMS:
        if formalism == "hamilton":
            continue
        equations = derive(mechanism, formalism)
        n = len(equations.layout.speeds)
        assert len(equations.mass_matrix) == len(equations.bias) == len(equations.loads) == len(equations.gravity) == n
        assert equations.formalism == formalism
        assert equations.objects or formalism == "recursive"


def rolling_disc() -> tm.Mechanism:
    """A thin uniform disc of unit mass and radius: yaw, lean and spin (zxy), its lowest point at rest on the ground."""
    disc = tm.body("disc", mass=1, centre=(0, 0, 0), inertia=tm.inertia(1 / 4, 1 / 2, 1 / 4))
    joint = tm.free("float", tm.EARTH, disc, "x", "y", "z", "yaw", "lean", "spin", angles="zxy")
    yaw, lean, spin = (c for c in joint.coordinates[3:])
    dx, dy = joint.coordinates[0].rate, joint.coordinates[1].rate
    # The contact is one radius below the centre along the steepest line of the disc's plane.
    forward = spin.rate + s.sin(lean.symbol) * yaw.rate
    side = lean.rate
    along = (s.cos(yaw.symbol), s.sin(yaw.symbol))
    across = (-s.sin(yaw.symbol), s.cos(yaw.symbol))
    constraints = [
        tm.Equation("rolls forward", along[0] * dx + along[1] * dy - forward),
        tm.Equation("does not skid", across[0] * dx + across[1] * dy + s.cos(lean.symbol) * side),
        tm.Equation("touches", joint.coordinates[2].symbol - s.cos(lean.symbol)),
    ]
    return tm.Mechanism("disc", bodies=[disc], joints=[joint], constraints=constraints, gravity=(0, 0, -9.81))


@EVERY
def test_rolling_disc_with_multipliers(formalism):
    """Closed form of Kane's equations for r = 1, with u1 the lean rate, u2 and u3 along and across the axle."""
    equations = derive(rolling_disc(), formalism)
    lean, u1, u2, u3, g = 0.3, 0.1, 2.5, 0.4, 9.81
    yaw_rate = u3 / math.cos(lean)
    spin_rate = u2 - math.sin(lean) * yaw_rate
    # On the constraints, with yaw = 0.
    speeds = {"x'": u2, "y'": -math.cos(lean) * u1, "z'": -math.sin(lean) * u1,
              "yaw'": yaw_rate, "lean'": u1, "spin'": spin_rate}  # fmt: skip
    state = {"z": math.cos(lean), "lean": lean} | speeds
    layout = equations.layout
    values = {x: state.get(str(x.name), 0.0) for x in (*layout.coordinates, *layout.speeds)}
    form = equations.state_form
    n = len(form.right)
    flat = evaluate([*(entry for row in form.matrix for entry in row), *form.right], values | {TIME: 0.0})
    solution = np.linalg.solve(np.array(flat[: n * n], dtype=float).reshape(n, n), np.array(flat[n * n :], dtype=float))
    ddyaw, ddlean, ddspin = solution[9:12]
    du3 = ddyaw * math.cos(lean) - yaw_rate * math.sin(lean) * u1
    du2 = ddspin + ddyaw * math.sin(lean) + yaw_rate * math.cos(lean) * u1
    expected = [
        (4 * g * math.sin(lean) + 6 * u2 * u3 - u3**2 * math.tan(lean)) / 5,
        -2 * u1 * u3 / 3,
        (-2 * u2 + u3 * math.tan(lean)) * u1,
    ]
    assert [ddlean, du2, du3] == pytest.approx(expected, rel=1e-12)


def test_constrained_mechanisms_are_certified_and_have_no_explicit_acceleration():
    assert certify(rolling_disc()).agrees
    with pytest.raises(UnsupportedError, match=r"'disc' is constrained .*solved together"):
        _ = derive(rolling_disc()).acceleration
