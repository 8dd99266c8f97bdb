"""Human36: its counts, its scaling, its posture, and the upper limb of the reference."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from torseur.analysis.biomechanics.person_model.anthropometry import TABLES, anthropometry
from torseur.analysis.biomechanics.person_model.human36 import (
    SEGMENT_NAMES,
    SegmentInertia,
    dimensions,
    human36,
    joint_limits,
    marker_places,
)
from torseur.analysis.biomechanics.person_model.human36_text import human36_text
from torseur.analysis.identification.model.linear_model import given_values
from torseur.derivation.dynamics import mass_centre, pose
from torseur.description import library
from torseur.errors import TorseurError

REFERENCE = json.loads((Path(__file__).parents[2] / "oracles" / "upper_limb.json").read_text())
FRENCH = {"hand": "main", "forearm": "avant-bras", "upper_arm": "bras"}


def tree_of(mechanism):
    tree = ts.build_tree(mechanism)
    return tree.with_parameters(given_values(tree, None))


def neutral(tree):
    return [0.0] * len(tree.layout.coordinates)


def inertias(tree):
    return {link.name: now.inertia for link, now in zip(tree.links, tree.at(neutral(tree)).links, strict=True)}


def test_fifteen_segments_sixteen_joints_thirty_six_freedoms():
    tree = tree_of(human36())
    massive = [name for name, inertia in inertias(tree).items() if inertia.mass > 0]
    assert sorted(massive) == sorted(SEGMENT_NAMES) and len(massive) == 15
    assert len(tree.mechanism.joints) == 16
    assert len(tree.layout.speeds) == 36


def test_library_holds_the_same_model():
    assert library.source_of("human36") == human36_text(anthropometry("human36"))
    assert library.load("human36") == human36()


@pytest.mark.parametrize("segment", FRENCH)
@pytest.mark.parametrize("side", "rl")
def test_upper_limb_of_the_reference(side, segment):
    """Oracle: table 5.2 of the source, to the digits of the reference file."""
    tree = tree_of(human36(1.74, 63.0))
    inertia = inertias(tree)[f"{side}_{segment}"]
    wanted = REFERENCE[FRENCH[segment]]
    mass = inertia.mass
    centre = inertia.moment.y / mass
    assert mass == pytest.approx(wanted["mass"], rel=1e-12)
    assert -centre == pytest.approx(wanted["com"], rel=1e-12)
    at_joint = np.array([list(row)[k] for k, row in enumerate(inertia.matrix.rows)])
    assert at_joint - mass * centre**2 * np.array([1, 0, 1]) == pytest.approx(wanted["I"], rel=1e-11)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("height", "mass"), [(1.74, 63.0), (1.55, 48.0), (1.98, 104.0)])
def test_stature_and_mass_are_those_asked_for(table, height, mass):
    """The vertex stands at the stature above the soles, and the masses add up."""
    mechanism = human36(height, mass, table)
    tree, size = tree_of(mechanism), dimensions(mechanism)
    vertex = mechanism.body("head").at((0, size["head_length"], 0))
    sole = mechanism.body("r_foot").at((0, -size["ankle_height"], 0))
    q = neutral(tree)
    top, bottom = (float(pose(tree, frame, q).position.y) for frame in (vertex, sole))
    assert top - bottom == pytest.approx(height)
    assert sum(inertia.mass for inertia in inertias(tree).values()) == pytest.approx(mass, rel=1.1e-4)
    assert 0.5 < (float(mass_centre(tree, q).y) - bottom) / height < 0.6  # published: 0.55 to 0.57


def test_left_mirrors_right():
    """The same angles on both sides give places that are mirror images in the sagittal plane."""
    tree = tree_of(human36())
    names = tree.layout.coordinate_names
    rng = np.random.default_rng(4)
    one_side = {name[2:]: value for name, value in zip(names, rng.uniform(-1, 1, 36), strict=True) if name[:2] == "r_"}
    q = [one_side[name[2:]] if name[:2] in ("r_", "l_") else 0.0 for name in names]
    for label in ("FIN", "ELB", "TOE", "MT5", "KNE"):
        right, left = (pose(tree, tree.mechanism.frame(side + label), q).position for side in "RL")
        mirrored = np.array([float(left.x), float(left.y), -float(left.z)])
        assert np.array([float(c) for c in right]) == pytest.approx(mirrored, abs=1e-14)


def test_positive_angles_are_those_of_their_names():
    """Flexed hip and elbow come forward, a flexed knee goes back, adduction moves a foot across."""
    tree = tree_of(human36())
    names = tree.layout.coordinate_names

    def moved(coordinate, frame):
        q = neutral(tree)
        at_rest = pose(tree, tree.mechanism.frame(frame), q).position
        q[names.index(coordinate)] = 0.3
        there = pose(tree, tree.mechanism.frame(frame), q).position
        return [float(a - b) for a, b in zip(there, at_rest, strict=True)]

    assert moved("r_hip_flexion", "RKNE")[0] > 0.05 and moved("l_elbow_flexion", "LWRA")[0] > 0.05
    assert moved("r_knee_flexion", "RANK")[0] < -0.05 and moved("l_ankle_flexion", "LTOE")[1] > 0.01
    assert moved("r_hip_adduction", "RKNE")[2] < -0.05 and moved("l_shoulder_adduction", "LELB")[2] > 0.05
    assert moved("lumbar_extension", "C7")[0] < -0.05 and moved("lumbar_bending", "C7")[2] > 0.05
    assert moved("r_hip_rotation", "RTOE")[2] < -0.02 and moved("l_hip_rotation", "LTOE")[2] > 0.02


def test_segments_are_overridden_one_by_one():
    longer = dimensions(human36(values={"r_thigh_length": 0.5}))
    usual = dimensions(human36())
    assert longer["r_thigh_length"] == 0.5 and longer["l_thigh_length"] == usual["l_thigh_length"]
    assert longer["r_thigh_centre"] == pytest.approx(0.5 * 0.4095)
    own = SegmentInertia(2.0, (0.01, -0.2, 0.0), np.diag([0.02, 0.003, 0.02]))
    tree = tree_of(human36(segments={"r_upper_arm": own}))
    inertia = inertias(tree)["r_upper_arm"]
    assert inertia.mass == 2.0 and inertia.moment.y == pytest.approx(-0.4)


def test_every_limit_belongs_to_a_coordinate_and_every_segment_has_three_markers():
    mechanism = human36()
    names = set(ts.build_tree(mechanism).layout.coordinate_names)
    limits = joint_limits()
    assert set(limits) == {name for name in names if not name.startswith("pelvis")}
    assert all(low < 0 < high for low, high in limits.values())
    carried = list(marker_places(mechanism).values())
    assert all(carried.count(segment) >= 3 for segment in SEGMENT_NAMES)


def test_impossible_people_are_refused():
    with pytest.raises(TorseurError, match=r"Did you mean 1\.78 m"):
        human36(178, 70)
    with pytest.raises(TorseurError, match="mass is between"):
        human36(1.78, 0.5)
    with pytest.raises(TorseurError, match="unknown parameter 'thigh_length'"):
        human36(values={"thigh_length": 0.4})
    with pytest.raises(TorseurError, match="Did you mean 'r_hand'"):
        human36(segments={"rhand": SegmentInertia(1, (0, 0, 0), np.eye(3))})
    with pytest.raises(TorseurError, match="a mass is positive"):
        human36(segments={"r_hand": SegmentInertia(-1, (0, 0, 0), np.eye(3))})
