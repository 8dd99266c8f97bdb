"""Arrows of velocities, forces and reactions, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.presentation.scene.bodies.vectors import arrow_kinds

PENDULUM = """gravity = [0, -9.81, 0] m/s^2 ; param l = 0.5 m, m = 2 kg ;
let bob = body mass = m, centre = [0, -l, 0], inertia = 0 end ;
join earth and bob.frame as pivot with revolute(q) end ; init q = 30 deg, q' = 2 ;
apply force [3, 0, 0] N in bob on [0, -l, 0] @ bob as push ;
apply spring stiffness = 40 N/m, rest = 0.3 m between [1, 0, 0] @ earth and [0, -l, 0] @ bob as strut ;"""


def arrows(text, *kinds):
    scene = ts.view(ts.parse(text), take=ts.Take(until=0.5, arrows=kinds)).scene
    return scene, {overlay.label.partition(",")[0]: overlay for overlay in scene.overlays}


@pytest.mark.slow
def test_velocities_are_square_to_the_rod_and_forces_along_what_exerts_them():
    scene, found = arrows(PENDULUM, "velocity=0.1", "force=0.02")
    motion = ts.simulate(ts.parse(PENDULUM), 0.5, samples=len(scene.motion.times), rtol=1e-7)
    q, rate, force = motion["q"], motion["q'"], found["force"]
    across = np.stack([np.cos(q), np.sin(q), 0 * q], axis=1)
    bob = 0.5 * np.stack([np.sin(q), -np.cos(q), 0 * q], axis=1)
    np.testing.assert_allclose(found["velocity"].vectors[:, 0], 0.1 * 0.5 * rate[:, None] * across, atol=1e-6)
    np.testing.assert_allclose(found["velocity"].starts[:, 0], bob, atol=1e-6)
    assert force.names == ("push", "strut")
    np.testing.assert_allclose(force.vectors[:, 0], 0.02 * 3 * across, atol=1e-6)
    way = np.array([1.0, 0, 0]) - bob
    length = np.linalg.norm(way, axis=1, keepdims=True)
    np.testing.assert_allclose(force.vectors[:, 1], 0.02 * 40 * (length - 0.3) * way / length, atol=1e-5)


@pytest.mark.slow
def test_reactions_carry_weight_and_what_redundancy_leaves_open_is_left_out():
    """Oracle: statics of a beam on a pin; and a planar loop, whose forces across its plane nobody knows."""
    still = """gravity = [0, 0, -10] m/s^2 ; let b = body mass = 3 kg, centre = 0, inertia = diag(1, 1, 1) end ;
        join (40 deg || [0,1,0]) @ earth and b.frame as pin with revolute(q) about [0,0,1] end ; init q = 1 ;"""
    _, found = arrows(still, "reaction=0.01")
    np.testing.assert_allclose(found["reaction"].vectors[:, 0], np.tile([0, 0, 0.3], (100, 1)), atol=1e-9)
    scene = ts.view(ts.library.load("four_bar"), take=ts.Take(until=0.2, arrows=("reaction",))).scene
    (reactions,) = scene.overlays
    assert len(reactions.names) == 4 and np.all(np.isfinite(reactions.vectors))


@pytest.mark.slow
def test_arrows_are_to_a_round_scale_and_films_and_drawings_show_them(tmp_path):
    _, found = arrows(PENDULUM, "velocity")
    per_metre = float(found["velocity"].label.removeprefix("velocity, 1 m for ").removesuffix(" m/s"))
    assert per_metre in (1, 2, 5, 10, 20)
    assert 0.1 < np.linalg.norm(found["velocity"].vectors, axis=2).max() < 0.8  # of a mechanism of 1.1 m
    ts.animate(ts.parse(PENDULUM), tmp_path / "with.svg", take=ts.Take(until=0.5, arrows=("velocity",)))
    ts.animate(ts.parse(PENDULUM), tmp_path / "without.svg", take=ts.Take(until=0.5))
    colour = found["velocity"].colour.light
    assert colour in (tmp_path / "with.svg").read_text() and colour not in (tmp_path / "without.svg").read_text()
    ts.animate(ts.parse(PENDULUM), tmp_path / "with.png", take=ts.Take(until=0.5, arrows=("velocity",)))
    ts.animate(ts.parse(PENDULUM), tmp_path / "without.png", take=ts.Take(until=0.5))
    assert (tmp_path / "with.png").read_bytes() != (tmp_path / "without.png").read_bytes()


@pytest.mark.parametrize(
    "text, reason",
    [("speed", "known are"), ("force=", None), ("force=-1", "positive"), ("force=many", "positive")],
)
def test_kinds_and_scales_are_checked(text, reason):
    if reason is None:
        assert arrow_kinds([text])[0].scale is None
        return
    with pytest.raises(ts.TorseurError, match=reason):
        arrow_kinds([text])


def test_a_motion_without_the_quantities_is_refused_with_what_to_do():
    mechanism = ts.parse(PENDULUM)
    with pytest.raises(ts.TorseurError, match="arrow_quantities"):
        ts.view(mechanism, ts.simulate(mechanism, 0.1, samples=3), arrows=["velocity"])
    motion = ts.simulate(mechanism, 0.1, samples=3, outputs=ts.arrow_quantities(mechanism, ["velocity"]))
    assert ts.view(mechanism, motion, arrows=["velocity"]).scene.overlays
