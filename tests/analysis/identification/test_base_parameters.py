"""Regressors against stored values of Pinocchio, counts of base parameters against the literature, exact recovery."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torseur as ts
from analysis.identification.arms import PUMA, RX90, SEVEN_R, STANFORD, TWO_R, Row, arm, true_parameters
from analysis.identification.recordings import recorded
from robots import ROBOTS, data, our_coordinates, robot
from torseur.algebra.arrays import triangular_factor
from torseur.algebra.graph import evaluate, symbols_of
from torseur.analysis.identification import Extras, base_parameters, identify, linear_model
from torseur.analysis.identification.model.base_parameters import random_states
from torseur.description.library import load
from torseur.errors import IdentificationError

VERTICAL, HORIZONTAL = (0, -9.81, 0), (0, 0, -9.81)
# Khalil and Dombre, Modeling, Identification and Control of Robots, chapter 9; Gautier and Khalil 1990.
COUNTS = {
    "Puma 560": (PUMA, HORIZONTAL, False, 36),
    "RX-90": (RX90, HORIZONTAL, False, 36),
    "RX-90 with rotors": (RX90, HORIZONTAL, True, 40),
    "Puma 560 with rotors": (PUMA, HORIZONTAL, True, 40),
    "Stanford": (STANFORD, HORIZONTAL, False, 33),
    "7R": (SEVEN_R, HORIZONTAL, False, 43),
    "2R vertical": (TWO_R, VERTICAL, False, 6),
    "2R horizontal": (TWO_R, HORIZONTAL, False, 4),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_regressor(name):
    """Oracle: Pinocchio 4.1 at twenty random states."""
    stored = data(name)
    q = np.array([our_coordinates(name, x) for x in stored["q"]])
    Y = linear_model(robot(name)).matrix(q, stored["v"], stored["a"])
    assert np.abs(Y - stored["Y"]).max() < 1e-11 * max(1.0, np.abs(stored["Y"]).max())


def rotors(rows, wanted: bool) -> Extras:
    return Extras(rotor=[f"q{k + 1}" for k in range(len(rows))]) if wanted else Extras()


@pytest.mark.parametrize("case", COUNTS)
def test_counts(case):
    """Oracle: published numbers of base parameters."""
    rows, gravity, with_rotors, expected = COUNTS[case]
    model = linear_model(arm(rows, gravity), rotors(rows, with_rotors))
    by_rules, by_rank = base_parameters(model), base_parameters(model, grouping=False)
    assert len(by_rules) == len(by_rank) == expected
    assert None not in by_rules.meanings


@pytest.mark.parametrize("case", ["Puma 560", "Stanford", "RX-90 with rotors", "2R vertical"])
def test_rules_and_rank_agree(case):
    """The symbolic combination and the numerical one are the same function of the parameters."""
    rows, gravity, with_rotors, _ = COUNTS[case]
    model = linear_model(arm(rows, gravity), rotors(rows, with_rotors))
    base = base_parameters(model)
    rng = np.random.default_rng(1)
    values = {name: float(rng.normal()) for name in model.names}
    for meaning, row in zip(base.meanings, base.combination, strict=True):
        symbols = {s: values[str(s.name)] for s in symbols_of([meaning])}
        assert float(evaluate([meaning], symbols)[0]) == pytest.approx(row @ list(values.values()), abs=1e-8)


@pytest.mark.parametrize("case", COUNTS)
def test_exact_recovery(case):
    """Forces by the Newton-Euler recursion give the combinations of the true parameters back."""
    rows, gravity, with_rotors, _ = COUNTS[case]
    mechanism = arm(rows, gravity)
    model = linear_model(mechanism, rotors(rows, with_rotors))
    own = np.linspace(0.1, 0.6, len(rows)) if with_rotors else np.zeros(0)
    trial = recorded(model, extra=lambda q, v, a: a * own if with_rotors else 0)
    truth = np.concatenate([true_parameters(mechanism), own])
    found = identify(model, [trial], "ordinary")
    assert len(found.values) == len(found.base)
    assert np.abs(found.values - found.base.combination @ truth).max() < 1e-9


def test_combinations_are_printed_with_the_names_of_the_description():
    text = str(base_parameters(linear_model(load("puma560"), loads="measured")))
    assert text.startswith("36 base parameters of 60")
    assert "link2.h.x + a2*(link3.mass + link4.mass + link5.mass + link6.mass)" in text
    assert "link4.Izz + link5.Iyy" in text


def test_more_than_revolute_joints_are_grouped():
    """A ball keeps nine parameters of ten (a mass in its centre moves like the parent), a slide keeps mass and moment."""
    one = ts.body("one", mass=1, centre=(0.1, 0, 0), inertia=ts.inertia(0.1, 0.1, 0.1))
    two = ts.body("two", mass=1, centre=(0, 0.1, 0), inertia=ts.inertia(0.1, 0.1, 0.1))
    joints = [
        ts.free("root", ts.EARTH, one, *"xyz", *"abcd", angles="quaternion", speeds="body"),
        ts.spherical("ball", one.at((1, 0, 0)), two, *"efgh", angles="quaternion"),
    ]
    model = linear_model(ts.Mechanism("ball", bodies=[one, two], joints=joints, gravity=(0, 0, -9.81)))
    base = base_parameters(model)
    assert len(base) == 19
    assert "one.mass + two.mass" in str(base)


@settings(max_examples=12)
@given(
    st.lists(
        st.builds(
            Row, a=st.sampled_from([0.0, 0.3]), alpha=st.sampled_from([0.0, np.pi / 2, -np.pi / 2, 0.7]),
            r=st.sampled_from([0.0, 0.2]), slides=st.booleans(),
        ),
        min_size=1, max_size=3,
    ),
    st.sampled_from([VERTICAL, HORIZONTAL, (0, 0, 0)]),
)  # fmt: skip
def test_base_parameters_say_everything(rows, gravity):
    """For any arm: as many as the rank of the regressor, and with them the same forces for any parameters."""
    model = linear_model(arm(rows, gravity))
    base = base_parameters(model)
    q, v, a = random_states(model, 60, seed=3)
    Y = model.matrix(q, v, a).reshape(-1, len(model.columns))
    singular = np.linalg.svd(Y, compute_uv=False)
    assert len(base) == np.sum(singular > 1e-9 * singular[0])
    assert np.allclose(Y[:, list(base.columns)] @ base.combination, Y, atol=1e-7 * np.abs(Y).max())


def test_a_payload_has_columns_of_its_own():
    mechanism = arm(PUMA)
    hand = ts.Frame("link6", ts.placement((0.1, 0.0, 0.2)))
    model = linear_model(mechanism, Extras(payloads={"tool": hand}))
    mass, centre = 1.7, np.array([0.02, -0.03, 0.05])
    at_hand = np.array([0.1, 0.0, 0.2]) + centre
    loaded = with_point(mechanism, mass, at_hand)
    trials = [
        recorded(model, seed=1),
        recorded(model, seed=2, mechanism=loaded, payload="tool"),
    ]
    found = identify(model, trials, "weighted")
    square = mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    expected = {"tool.mass": mass, "tool.h.x": mass * centre[0], "tool.Izz": square[2, 2], "tool.Ixy": square[0, 1]}
    assert len(found.values) == 46
    for name, value in expected.items():
        assert found.values[found.names.index(name)] == pytest.approx(value, abs=1e-9)


def with_point(mechanism: ts.Mechanism, mass: float, point: np.ndarray) -> ts.Mechanism:
    """The mechanism with a point mass fixed to its last link."""
    tip = ts.body("tip", mass=mass, centre=tuple(point), inertia=0)
    weld = ts.fixed("weld", mechanism.bodies[-1], tip)
    return ts.Mechanism(
        "loaded", bodies=[*mechanism.bodies, tip], joints=[*mechanism.joints, weld], gravity=mechanism.gravity
    )


@pytest.mark.parametrize("shape", [(1, 1), (5, 9), (143, 71), (3000, 44), (700, 1)])
def test_triangular_factor(shape):
    W = np.random.default_rng(0).normal(size=shape)
    R = triangular_factor(W)
    assert R.shape == (min(shape), shape[1]) and np.allclose(R.T @ R, W.T @ W)


def test_combinations_of_a_four_bar_by_hand():
    """A point mass in the pin of coupler and rocker counts to either: (a, a²) of the crank and (b, b²) of the coupler
    against (c, c²) of the rocker, where the coupler's mass acts at the crank's end."""
    base = base_parameters(linear_model(load("four_bar")))
    meanings = dict(zip(base.names, (base.text(k) for k in range(len(base))), strict=True))
    assert meanings == {
        "crank.h.x": "crank.h.x + a*coupler.mass + a/c*rocker.h.x",
        "crank.h.y": "crank.h.y",
        "crank.Izz": "crank.Izz + a^2*coupler.mass + a^2/c*rocker.h.x",
        "coupler.h.x": "coupler.h.x + b/c*rocker.h.x",
        "coupler.h.y": "coupler.h.y",
        "coupler.Izz": "coupler.Izz + b^2/c*rocker.h.x",
        "rocker.h.y": "rocker.h.y",
        "rocker.Izz": "-c*rocker.h.x + rocker.Izz",
    }


LOOPS = {
    "four_bar": {"a": 0.35, "b": 0.9, "c": 0.7},
    "slider_crank": {"r": 0.25, "l": 0.8},
    "sarrus": {"l": 0.7},
    "peaucellier": {},
    "jansen_leg": {},
}


@pytest.mark.parametrize("name", LOOPS)
def test_combinations_of_loops_hold_for_other_lengths(name):
    """Symbolic combinations at one geometry against the numerical ones at another."""
    mechanism = load(name)
    base = base_parameters(linear_model(mechanism))
    other = linear_model(mechanism, parameters=LOOPS[name])
    numbers = base_parameters(other)
    assert base.columns == numbers.columns and None not in base.meanings
    rng = np.random.default_rng(3)
    pi = {column: float(rng.normal()) for column in other.names}
    values = {**other.values, **pi}
    for meaning, row in zip(base.meanings, numbers.combination, strict=True):
        symbols = {s: values[str(s.name)] for s in symbols_of([meaning])}
        assert float(evaluate([meaning], symbols)[0]) == pytest.approx(row @ list(pi.values()), abs=1e-6)


@pytest.mark.slow
def test_a_parallel_robot_is_counted_on_its_own_branch():
    """The platform of a Delta robot does not turn; folded parallelograms, where it does, are another mechanism."""
    base = base_parameters(linear_model(load("delta_robot")))
    assert len(base) == 40 and None not in base.meanings
    assert not any(name.startswith("platform.I") for name in base.names)


# Mechanisms whose constraints ask more of the projector: angular velocities, time, formulas without value at some
# lengths, configurations without a value beside the path; with a number that follows from their freedom of motion.
HARD = {"ball_on_turntable": 10, "car_axis": 2, "bennett": 5, "constant_velocity_joint": 1, "chaplygin_sleigh": 4}


@pytest.mark.parametrize("name", HARD)
def test_library_mechanisms_have_base_parameters(name):
    """Rules and rank give the same number."""
    model = linear_model(load(name), loads="measured")
    assert len(base_parameters(model)) == len(base_parameters(model, grouping=False)) == HARD[name]


def test_a_driven_mechanism_shows_no_force():
    mechanism = load("four_bar")
    alpha = next(c for joint in mechanism.joints for c in joint.coordinates if c.name == "alpha")
    driven = replace(mechanism, constraints=(ts.driver("turn", alpha, 2 * ts.TIME),))
    with pytest.raises(IdentificationError, match="leave no degree of freedom.*Take drivers out"):
        base_parameters(linear_model(driven))
