"""Singular configurations along a motion and in a box, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from derivation.loops import mechanisms as m
from torseur.derivation.loops.singularities.singular_boxes import singularities_in
from torseur.derivation.loops.singularities.singularities import singularities_along
from torseur.errors import MechanismError

FLAT = np.pi - np.arctan2(2, 1)
"""The crank of the parallelogram, drawn at atan(2), lies along the ground after this turn."""


@pytest.mark.slow
def test_a_parallelogram_is_singular_where_it_lies_flat():
    found = singularities_along(m.parallelogram(), "q_A", 0, 2 * np.pi)
    assert [s.kind for s in found] == ["closure", "closure"]
    # Answers lie within the range that was asked for.
    assert sorted(s.coordinates["q_A"] for s in found) == pytest.approx([FLAT, FLAT + np.pi], abs=1e-4)
    assert all((s.rank, s.infinitesimal) == (2, 2) for s in found)


@pytest.mark.slow
def test_a_driven_slide_stops_at_its_dead_centres():
    """Oracle: the piston reaches r + l and l - r from the crank's axis, r² = 5, l² = 20, from its place at 5."""
    far = singularities_along(m.slider_crank(), "q_slide", 0, -3)
    near = singularities_along(m.slider_crank(), "q_slide", 0, 3)
    assert [s.kind for s in far + near] == ["limit", "limit"]
    assert far[0].coordinates["q_slide"] == pytest.approx(5 - (np.sqrt(5) + np.sqrt(20)), abs=1e-6)
    assert near[0].coordinates["q_slide"] == pytest.approx(5 - (np.sqrt(20) - np.sqrt(5)), abs=1e-6)


@pytest.mark.slow
def test_a_crank_that_turns_fully_meets_nothing():
    assert singularities_along(m.slider_crank(), "q_O", 0, 2 * np.pi) == []


@pytest.mark.slow
def test_box_holds_both_flat_poses_of_the_parallelogram():
    found = singularities_in(m.parallelogram(), {"q_A": (-4, 4)})
    assert sorted(s.coordinates["q_A"] for s in found) == pytest.approx(sorted([FLAT, FLAT - np.pi]), abs=1e-3)


@pytest.mark.slow
def test_paper_fold_branches_cross_at_its_four_flat_poses():
    found = singularities_in(m.saliere(), {"a1": (-4, 4), "a2": (-4, 4)})
    poses = {(round(abs(s.coordinates["a1"]), 3), round(abs(s.coordinates["a2"]), 3)) for s in found}
    half = round(np.pi, 3)
    assert poses == {(0.0, 0.0), (half, 0.0), (0.0, half), (half, half)}


@pytest.mark.slow
def test_an_unknown_coordinate_is_refused():
    with pytest.raises(MechanismError, match="unknown coordinate 'q_X'"):
        singularities_along(m.four_bar(), "q_X", 0, 1)
