"""Redundant constraints in words, for mechanisms where they are obvious."""

from __future__ import annotations

import torseur.description.mechanism as tm
from derivation.loops import mechanisms as m
from torseur.algebra.graph import as_expr
from torseur.derivation.loops import loops


def test_four_bar_in_space_repeats_two_rotations_and_one_translation():
    """A plane loop needs none of what each hinge says about leaving the plane: once is enough for all."""
    found = loops(m.four_bar())
    assert found.redundant == 3
    assert {r.motion for r in found.redundancies} == {"rotation about x", "rotation about y", "translation along z"}
    assert {r.joint for r in found.redundancies} == {"C"}
    assert all(set(r.joints) == {"A", "B", "D"} for r in found.redundancies)
    text = str(found)
    assert "3 redundant constraints" in text
    assert "loop A-B-C-D at joint 'C': rotation about x is already imposed by A, B, D" in text


def test_the_extra_bar_of_a_parallelogram_repeats_one_translation_in_the_plane():
    found = loops(m.parallelogram_with_bar())
    assert found.redundant == 7
    in_plane = [r for r in found.redundancies if r.motion in ("translation along x", "translation along y")]
    assert len(in_plane) == 1
    (bar,) = in_plane
    assert bar.joint == "G"
    assert set(bar.joints) == {"A", "B", "C", "D", "E"}
    assert len(bar.loops) == 2
    out_of_plane = [r for r in found.redundancies if r is not bar]
    assert (
        sorted(r.motion for r in out_of_plane)
        == ["rotation about x"] * 2 + ["rotation about y"] * 2 + ["translation along z"] * 2
    )


def test_sarrus_repeats_the_rotation_about_its_straight_line():
    (redundancy,) = loops(m.sarrus()).redundancies
    assert redundancy.motion == "rotation about z"


def test_bennett_owes_its_mobility_to_special_dimensions():
    found = loops(m.bennett())
    assert found.redundant == 3
    assert any(r.special for r in found.redundancies)
    assert "special dimensions" in str(found)


def test_a_mechanism_without_redundancy_says_so():
    found = loops(m.stewart())
    assert found.redundancies == ()
    assert "no redundant constraint" in str(found)


def test_a_distance_that_a_body_keeps_anyway_is_redundant():
    mechanism = m.four_bar()
    rod = tm.Distance("rod", tm.Frame("crank"), tm.Frame("crank", tm.placement((0, 3, 4))), as_expr(5))
    found = loops(tm.Mechanism("m", bodies=mechanism.bodies, joints=mechanism.joints, constraints=[rod]))
    assert any("constraint 'rod'" in str(r) for r in found.redundancies)


def test_directions_follow_the_joint_when_it_is_not_along_the_axes():
    texts = [str(r) for r in loops(m.delta()).redundancies]
    assert "loop pb1-pd1-pc1-pa1 at joint 'pd1': rotation about y is already imposed by pa1, pb1, pc1" in texts
