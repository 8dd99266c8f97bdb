"""Overconstrained linkages with rounded dimensions: closed within the digits of their description, else refused."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.derivation.loops.closure.closure_tolerance import last_digit
from torseur.errors import MechanismError, TorseurError

LENGTHS = {"crank": 0.4, "coupler": 1.0, "rocker": 0.8, "ground": 1.2}


def four_bar(digits=17, axis=(0.0, 0.6, 0.8), beside=0.0, tolerance=None, joint="A"):
    """A planar four-bar in a plane of space, its links' ends rounded to some decimals; `beside` lifts one of them."""
    across = np.array([1.0, 0.0, 0.0])
    along = np.cos(0.3) * across + np.sin(0.3) * np.cross(np.array(axis) / np.linalg.norm(axis), across)
    ends = {name: np.round(along * length, digits) for name, length in LENGTHS.items()}
    ends["coupler"] = ends["coupler"] + beside * np.array(axis)
    bodies = {
        name: ts.body(name, mass=2 * LENGTHS[name], centre=tuple(ends[name] / 2), inertia=ts.inertia(0.01, 0.1, 0.1))
        for name in ("crank", "coupler", "rocker")
    }
    joints = [
        ts.revolute("A", ts.EARTH, bodies["crank"], "alpha", axis=axis),
        ts.revolute("B", bodies["crank"].at(tuple(ends["crank"])), bodies["coupler"], "beta", axis=axis),
        ts.revolute("D", ts.EARTH.at(tuple(ends["ground"])), bodies["rocker"], "gamma", axis=axis),
        ts.revolute("C", bodies["coupler"].at(tuple(ends["coupler"])), bodies["rocker"].at(tuple(ends["rocker"])),
                    "delta", axis=axis),
    ]  # fmt: skip
    if tolerance is not None:
        joints[3] = ts.within(joints[3], tolerance)
    return ts.Mechanism("rounded", bodies=bodies.values(), joints=joints, gravity=(0, -9.81, 0), initial={"alpha": 1.0})


@pytest.fixture(scope="module")
def exact():
    """The linkage in the plane z = 0 turned by hand: the same motion, with gravity's component in the plane."""
    return ts.simulate(four_bar(), until=1.0, samples=5, rtol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("digits", [12, 9, 8, 7, 6])
def test_rounded_linkages_move_as_exact_ones_do(exact, digits):
    motion = ts.simulate(four_bar(digits), until=1.0, samples=5, rtol=1e-10)
    assert np.abs(motion.q - exact.q).max() < 300 * 10.0**-digits + 1e-9
    said = [note for note in motion.notes if "it was taken as closed" in note]
    assert bool(said) == (digits < 10)
    report = ts.loops(four_bar(digits))
    assert (report.finite, report.infinitesimal, report.rank) == (1, 1, 3)
    if digits != 9:  # 1.6e-10 m, at the limit of what is said
        assert any("taken as closed" in remark for remark in report.remarks) == (digits < 9)


@pytest.mark.slow
def test_offsets_of_rounding_are_none(exact):
    motion = ts.simulate(four_bar(beside=2.8e-17), until=1.0, samples=5, rtol=1e-10)
    assert np.abs(motion.q - exact.q).max() < 1e-9


@pytest.mark.parametrize("digits", [17, 9])
@pytest.mark.parametrize("gap", [1e-3, 1e-5])
def test_what_contradicts_is_refused_with_its_amount(digits, gap):
    amount = f"{0.8 * gap:.1g}"
    with pytest.raises(TorseurError, match=rf"joint 'C': z is off by {amount}"):
        ts.simulate(four_bar(digits, beside=gap), until=1.0)
    with pytest.raises(MechanismError, match="cannot close"):
        ts.loops(four_bar(digits, beside=gap))


@pytest.mark.slow
def test_a_user_chooses_the_tolerance():
    motion = ts.simulate(four_bar(beside=1e-5, tolerance=1e-4), until=0.5, samples=3)
    assert any("within its tolerance of 0.0001 m" in note for note in motion.notes)
    assert ts.loops(four_bar(beside=1e-5, tolerance=1e-4)).finite == 1
    with pytest.raises(TorseurError, match="is off by"):
        ts.simulate(four_bar(9, tolerance=1e-12), until=0.5)
    text = ts.to_text(four_bar(beside=1e-5, tolerance=1e-4))
    assert "within 0.0001 m" in text and float(ts.parse(text).joint("C").within.value) == 1e-4


@pytest.mark.slow
def test_sensitivity_of_a_rounded_linkage(exact):
    """Oracle: motions of other masses, differenced."""

    def linkage(mass):
        base = four_bar(9)
        heavy = ts.parameter("m", mass, "kg")
        crank = ts.body("crank", mass=heavy, centre=(0.19, 0.05, -0.04), inertia=ts.inertia(0.01, 0.1, 0.1))
        return ts.Mechanism("rounded", bodies=[crank, *base.bodies[1:]], joints=base.joints, parameters=[heavy],
                            gravity=base.gravity, initial=dict(base.initial))  # fmt: skip

    result = ts.sensitivity(linkage(1.0), "alpha", ["m"], until=0.5, rtol=1e-10)
    ends = [ts.simulate(linkage(1 + h), until=0.5, samples=2, rtol=1e-12)["alpha"][-1] for h in (-1e-3, 1e-3)]
    assert result["alpha"].gradient[0] == pytest.approx((ends[1] - ends[0]) / 2e-3, rel=1e-4)


@pytest.mark.slow
def test_sweeps_of_a_rounded_linkage_start():
    """One road for all: the partitioned formulation, the reduced model, linearisation about a state at rest."""
    outcome = ts.simulate(four_bar(9), until=0.5, samples=3, formulation="partitioned")
    other = ts.simulate(four_bar(9), until=0.5, samples=3)
    assert outcome.q == pytest.approx(other.q, abs=1e-6)
    assert len(ts.reduced_model(four_bar(9)).independent) == 1


@pytest.mark.parametrize(
    ("number", "unit"),
    [(0.25, 0.0), (0.123456789, 1e-9), (123.456789e-3, 1e-9), (1 / 3, 0.0), (np.pi / 9, 0.0), (-2.8e-17, 0.0),
     (41.4096221 * np.pi / 180, 1e-7 * np.pi / 180), (0.0, 0.0), (np.nan, 0.0), (1234567.0, 1.0)],
)  # fmt: skip
def test_the_last_digit_of_rounded_numbers(number, unit):
    assert last_digit(number) == pytest.approx(unit, rel=1e-9)
