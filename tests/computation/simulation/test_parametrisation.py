"""Coordinates of parametrisations: which there are, how many, and what closes the loops."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.description import library
from torseur.errors import UnsupportedError

# joints with their coordinates as written: slider-crank 4, four-bar 4, Peaucellier 10, Delta 21
COMPLETE = {"slider_crank": 4, "four_bar": 4, "peaucellier": 10, "delta_robot": 21, "bennett": 4}


@pytest.mark.parametrize("name", COMPLETE)
def test_complete_coordinates_are_those_of_all_joints(name):
    mechanism = library.load(name)
    plain, complete = (ts.build_tree(ts.parametrised(mechanism, kind)) for kind in ("joint", "complete"))
    declared = [c.name for joint in mechanism.joints for c in joint.coordinates]
    assert sorted(complete.layout.coordinate_names) == sorted(declared)
    assert len(declared) == COMPLETE[name]
    # The cut stays where it was: the same joints close, with one more equation for each coordinate that they keep.
    assert [j.name for j in complete.loops] == [j.name for j in plain.loops]
    kept = sum(len(j.coordinates) for j in plain.loops if j.name not in {link.name for link in plain.links})
    assert len(complete.layout.coordinate_names) == len(plain.layout.coordinate_names) + kept
    assert {e.name.split("'")[1] for e in ts.constraint_equations(complete)} == {j.name for j in plain.loops}


@pytest.mark.slow
def test_planar_coordinates_are_three_per_body_off_the_plane_too():
    """Oracle: the motion in joint coordinates; the plane is oblique, bodies lie at different heights."""
    text = """mechanism oblique ; gravity = [0, -9.81, 0] ;
    let tilt = 0.4 || [1, 2, 0] ;
    let crank = body mass = 1 kg, centre = [0.1, 0, 0.05], inertia = diag(1, 1, 1) end ;
    let rod = body mass = 2 kg, centre = [0.2, 0.1, 0], inertia = diag(1, 2, 2) end ;
    join [0.3, 0, 0.1] m ++ tilt @ earth and crank.frame as A with revolute(a) end ;
    join [0.4, 0, 0.2] m @ crank and [0, 0, -0.1] m @ rod as B with revolute(b) end ;
    init a = 0.3 rad, a' = 1 rad/s, b' = -2 rad/s ;"""
    mechanism = ts.parse(text)
    planar = ts.parametrised(mechanism, "planar")
    names = ["crank.x", "crank.y", "crank.angle", "rod.x", "rod.y", "rod.angle"]
    assert list(ts.build_tree(planar).layout.coordinate_names) == names
    outputs = ["rod.centre.position.x", "rod.centre.position.z", "energy"]
    expected, motion = (ts.simulate(m, until=0.5, samples=6, rtol=1e-10, outputs=outputs) for m in (mechanism, planar))
    assert np.abs(motion.outputs - expected.outputs).max() < 1e-7


def test_what_leaves_the_plane_has_no_planar_coordinates():
    with pytest.raises(UnsupportedError, match="any motion, not motions in one plane"):
        ts.parametrised(library.load("bennett"), "planar")


@pytest.mark.slow
def test_the_coordinate_of_a_closing_joint_is_the_same_wherever_it_stands():
    """Oracle: the angles of a plane four-bar go once around, alpha + beta + delta = gamma up to turns."""
    mechanism = library.load("four_bar")
    assert "delta" not in ts.build_tree(mechanism).layout.coordinate_names
    read = ts.simulate(mechanism, until=0.2, samples=5, rtol=1e-10, outputs=["delta", "delta'"])
    kept = ts.simulate(ts.parametrised(mechanism, "complete"), until=0.2, samples=5, rtol=1e-10)
    turns = (kept["alpha"] + kept["beta"] + kept["delta"] - kept["gamma"]) / (2 * np.pi)
    assert np.abs(turns - np.round(turns)).max() < 1e-9
    assert np.abs(np.sin((kept["delta"] - read["delta"]) / 2)).max() < 1e-8
    assert np.abs(kept["delta'"] - read["delta'"]).max() < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("joint", "names"),
    [
        ("universal(u, w) about [1, 0, 0], then [0, 1, 1]", ["u", "w"]),
        ("cylindrical(u, z)", ["u", "z"]),
        ("spherical(u, v, w) angles xyz", ["u", "v", "w"]),
        ("spherical(u, v, w) angles zxz", ["u", "v", "w"]),
        ("planar(x, y, w)", ["x", "y", "w"]),
        ("prismatic(x) along [1, 2, 0]", ["x"]),
    ],
)
def test_every_coordinate_of_a_joint_that_closes_a_loop_is_read(joint, names):
    """Oracle: the same coordinates in the state, with the joint as equations of all of them."""
    cut = ts.parse(f"""
    mechanism cut ;
    gravity = [0, 0, -9.81] ;
    let a = body mass = 1 kg, centre = [0.5, 0, 0] m, inertia = diag(0.01, 0.1, 0.1) kg*m^2 end ;
    let b = body mass = 1 kg, centre = [0.5, 0, 0] m, inertia = diag(0.01, 0.1, 0.1) kg*m^2 end ;
    join earth and a.frame as A with free(a1, a2, a3, a4, a5, a6) angles xyz end ;
    join [0.1, 0.2, 0.3] m @ a and b.frame as B with free(b1, b2, b3, b4, b5, b6) angles xyz end ;
    join [0.3, 0, 0.1] m ++ (0.4 || [0, 1, 0]) @ earth and [0.1, 0, 0.7] m @ b as C with {joint}, role = loop end ;
    init a4 about 0.3 rad, a5 about -0.2 rad, a1' = 0.2 m/s, a5' = 1 rad/s, b4' = 0.5 rad/s, b6' = 0.7 rad/s ;
    """)
    asked = [f"{name}{prime}" for name in names for prime in ("", "'", "''")]
    motions = [ts.simulate(m, until=0.05, samples=2, outputs=asked) for m in (cut, ts.parametrised(cut, "complete"))]
    for name in asked:
        assert motions[0][name] == pytest.approx(motions[1][name], abs=1e-9)
    started = ts.simulate(cut, until=1e-6, initial={f"{names[0]}'": 0.3})
    assert started[f"{names[0]}'"][0] == pytest.approx(0.3)


_CUT = """mechanism cut ; gravity = [0, -9.81, 0] ;
let crank = body rod length = 0.4 m along [1, 0, 0], mass = 1 kg end ;
let coupler = body rod length = 1 m along [1, 0, 0], mass = 2 kg end ;
let rocker = body rod length = 0.8 m along [1, 0, 0], mass = 1.5 kg end ;
join earth and crank.frame as A with revolute(alpha) end ;
join [0.4, 0, 0] m @ crank and coupler.frame as B with revolute(beta) end ;
join [1, 0, 0] m @ coupler and [0.8, 0, 0] m @ rocker as C with revolute(gamma) ROLE end ;
join [1.2, 0, 0] m @ earth and rocker.frame as D with revolute(delta) end ;
init alpha = 60 deg, alpha' = 2 rad/s, beta about -0.5 rad, delta about 1.2 rad ;
"""


def test_formulas_may_hold_coordinates_of_joints_that_close_loops():
    """Oracle: the same text with another joint cut, so that the coordinate is in the state."""
    used = """measure mixed = gamma * delta' - beta' ; state e = 0 rad*s, e' = gamma ; state u = 0 rad ;
    every 10 ms: u = gamma ; constrain gamma <= 1.3 rad restitution 0.5 as stop ;"""
    measured = "measure mixed = gamma * delta' - beta' ;"
    for statements, names in ((measured, ["mixed"]), (used, ["mixed", "e", "u", "gamma"])):
        texts = [_CUT.replace("ROLE", role) + statements for role in ("role = loop", "role = tree")]
        cut, kept = (ts.simulate(ts.parse(t), until=0.2, samples=4, rtol=1e-9, outputs=names) for t in texts)
        assert max(np.abs(cut[name] - kept[name]).max() for name in names) < 1e-6
