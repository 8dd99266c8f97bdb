"""Independent coordinates and passage matrices, against finite motions."""

from __future__ import annotations

import numpy as np
import pytest

import torseur.description.mechanism as tm
from derivation.loops import mechanisms as m
from torseur.algebra.graph import as_expr
from torseur.derivation.loops import loops
from torseur.derivation.loops.assembly.assembly import closed_state, free_mask
from torseur.derivation.loops.assembly.projection import project
from torseur.derivation.loops.mobility.partition import independent_rows, quality
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.named_coordinates import coordinates_at
from torseur.derivation.loops.model.poses import body_poses


@pytest.mark.parametrize("make", [m.four_bar, m.slider_crank, m.sarrus, m.delta, m.jansen])
def test_passage_matrices_are_the_derivatives_of_a_finite_motion(make):
    """Drive each independent coordinate a little both ways with the others held; compare coordinates and body places."""
    found = loops(make()).partition
    system = loop_system(make())
    state = closed_state(system, None)
    free = free_mask(system, found.independent)
    h = 1e-5
    for k in range(len(found.independent)):
        ends = []
        for sign in (1, -1):
            guess = found.passage[:, k] * sign * h / system.amounts.units
            ends.append(project(system, system.move(state, guess[None]), free=free, steps=50).state)
        values = [coordinates_at(system, end) for end in ends]
        rates = [(values[0][n] - values[1][n]) / (2 * h) for n in found.freedoms]
        assert np.allclose(rates, found.passage[:, k], atol=1e-5)
        poses = [body_poses(system, end) for end in ends]
        for b, body in enumerate(found.body_names):
            speed = (poses[0].position[body] - poses[1].position[body]) * system.length / (2 * h)
            spin = (
                (poses[0].rotation[body] - poses[1].rotation[body])
                / (2 * h)
                @ body_poses(system, state).rotation[body].T
            )
            expected = found.bodies[6 * b : 6 * b + 6, k]
            assert np.allclose(speed, expected[3:], atol=2e-5 * system.length)
            assert np.allclose([spin[2, 1], spin[0, 2], spin[1, 0]], expected[:3], atol=1e-4)


def test_preferred_and_actuated_coordinates_are_kept_while_they_serve():
    assert set(loops(m.stewart(), preferred=[f"q_P{k}" for k in range(1, 7)]).partition.independent) == {
        f"q_P{k}" for k in range(1, 7)
    }
    mechanism = m.four_bar()
    driven = tm.Mechanism(
        "driven", bodies=mechanism.bodies, joints=mechanism.joints, loads=[tm.motor("m", "D", "q_D", 1)]
    )
    assert loops(driven).partition.independent == ("q_D",)


def test_a_slider_at_its_dead_centre_is_not_taken():
    """Crank and rod in line: the slide stands still to first order."""
    d = m.Drawing("dead_centre")
    d.revolute("O", "earth", "crank", (0, 0, 0))
    d.revolute("A", "crank", "rod", (1, 0, 0))
    d.revolute("B", "rod", "piston", (4, 0, 0))
    d.prismatic("slide", "piston", "earth", m.X)
    assert loops(d.mechanism(), preferred=["q_slide"]).partition.independent != ("q_slide",)


def test_coordinates_come_before_the_axes_of_balls():
    names = loops(m.stewart()).partition.independent
    assert all(name.startswith("q_") for name in names)


def test_a_poor_coordinate_is_not_taken_though_preferred():
    motions = np.array([[1.0], [0.05], [0.0]]) / np.sqrt(1 + 0.05**2)
    assert quality(motions, [0]) == pytest.approx(1, abs=2e-3)
    assert quality(motions, [1]) == pytest.approx(0.05, abs=2e-3)
    assert independent_rows(motions, [1]) == [0]


def test_a_rolling_disc_keeps_three_of_five_motions_at_each_instant():
    wheel = tm.body("wheel", mass=1, centre=(0, 0, 0), inertia=0)
    joint = tm.free("float", tm.EARTH, wheel, "x", "y", "z", "psi", "theta", "phi")
    rolling = tm.Rolling("contact", tm.Frame("wheel"), as_expr(0.35), tm.as_vector((0, 0, 1), "n"))
    disc = tm.Mechanism("disc", bodies=[wheel], joints=[joint], constraints=[rolling], initial={"theta": 1, "z": 0.3})
    found = loops(disc)
    assert (found.infinitesimal, found.finite, found.velocity) == (5, 5, 3)
    assert len(found.partition.independent) == 3
    assert "leave 3 of the 5 motions" in str(found)
