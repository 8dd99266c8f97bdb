"""Mechanisms the doctor was not made with: the right number, whatever the random numbers.

Oracle: the literature named in loops/unseen.py, or the construction itself.
"""

from __future__ import annotations

import pytest

from derivation.loops import unseen
from torseur.derivation.loops import loops

# infinitesimal and finite mobility
KNOWN = {
    "schatz": (1, 1), "line_symmetric_bricard": (1, 1), "trihedral_bricard": (1, 1), "myard": (1, 1),
    "planar_3rrr": (3, 3), "equal_helices": (1, 1), "unequal_helices": (0, 0), "one_helix": (0, 0), "delassus": (1, 1),
    "delassus_wrong": (0, 0), "peaucellier": (1, 1), "guided_peaucellier": (1, 1), "misguided_peaucellier": (0, 0),
    "cardan_shafts": (1, 1), "skew_cardan_shafts": (0, 0), "agile_eye": (3, 3), "wedges": (1, 1), "skew_slides": (0, 0),
    "trammel": (1, 1), "stuck_trammel": (0, 0), "door": (1, 1), "jammed_door": (0, 0), "threefold_sarrus": (1, 1),
    "miura_vertex": (2, 1), "waterbomb": (4, 3), "folded_sheet": (1, 1), "flat_sheet": (4, 2),
    "flexible_octahedron": (7, 7), "rigid_octahedron": (6, 6), "cartesian_parallel": (3, 3), "double_watt": (2, 1),
    "scissor_ring": (1, 1), "stuck_scissor_ring": (0, 0), "desargues": (4, 3), "geared_five_bar": (1, 1),
    "swinging_slide": (2, 1), "four_cylinders": (2, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_mobility_is_the_known_one(name, seed):
    found = loops(getattr(unseen, name)(), seed=seed)
    assert (found.infinitesimal, found.finite) == KNOWN[name]


@pytest.mark.slow
def test_branches_are_told_by_what_they_move():
    slides, turns = sorted(loops(unseen.swinging_slide()).ways, key=lambda way: sorted(way.rates), reverse=True)
    assert set(slides.rates) == {"q_s1", "q_s2"}
    assert slides.rates["q_s1"] == pytest.approx(-slides.rates["q_s2"])
    assert set(turns.rates) == {"q_A", "q_B"}
    assert turns.rates["q_A"] == pytest.approx(-turns.rates["q_B"])


@pytest.mark.slow
def test_a_flat_sheet_has_a_branch_of_two_dimensions_and_several_curves():
    assert loops(unseen.flat_sheet()).branches[0] == 2
    assert set(loops(unseen.flat_sheet()).branches[1:]) == {1}


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(k, marks=pytest.mark.slow) for k in range(8, 60))])
def test_a_loop_in_general_position_moves_as_counted(seed):
    mechanism, freedoms = unseen.random_loop(seed)
    assert loops(mechanism).finite == max(0, freedoms - 6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_cusp_is_one_branch_from_every_start(seed):
    """Connelly and Servatius (1994): one curve goes through the position, and stops there."""
    found = loops(unseen.double_watt(), seed=seed)
    assert (found.singular, found.branches) == (True, (1,))
