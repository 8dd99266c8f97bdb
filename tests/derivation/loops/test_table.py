"""Ranks and mobilities of known mechanisms.

Oracle: values found by an independent program (other kinematics, other rank decisions) before this one was written, and
the literature for the classical ones (Bennett, Bricard, Goldberg, Sarrus, Dixon).
"""

from __future__ import annotations

import json

import pytest

from derivation.loops import curious as c
from derivation.loops import mechanisms as m
from torseur.derivation.loops import loops

# freedoms, mobility by count, generic rank, rank where closed, infinitesimal and finite mobility
TABLE = {
    "four_bar": (m.four_bar, 4, -2, 3, 3, 1, 1),
    "flat_parallelogram": (m.flat_parallelogram, 4, -2, 3, 2, 2, 1),
    "stretched_four_bar": (m.stretched_four_bar, 4, -2, 3, 2, 2, 0),
    "parallelogram_with_bar": (m.parallelogram_with_bar, 6, -6, 6, 5, 1, 1),
    "bennett": (m.bennett, 4, -2, 4, 3, 1, 1),
    "sarrus": (m.sarrus, 6, 0, 5, 5, 1, 1),
    "stewart": (m.stewart, 36, 6, 30, 30, 6, 6),
    "delta": (m.delta, 21, -9, 21, 18, 3, 3),
    "antenna 1": (lambda: m.antenna_strip(1), 9, 3, 6, 5, 4, 3),
    "antenna 2": (lambda: m.antenna_strip(2), 15, 3, 11, 10, 5, 4),
    "antenna 4": (lambda: m.antenna_strip(4), 27, 3, 21, 20, 7, 6),
}


@pytest.mark.parametrize("name", TABLE)
def test_ranks_and_mobilities_of_the_table(name):
    make, freedoms, count, generic, rank, infinitesimal, finite = TABLE[name]
    found = loops(make())
    assert (found.freedoms, found.count, found.generic_rank) == (freedoms, count, generic)
    assert (found.rank, found.infinitesimal, found.finite) == (rank, infinitesimal, finite)
    json.dumps(found.to_dict())
    assert f"finite mobility {finite}" in str(found)


# infinitesimal and finite mobility
CURIOUS = {
    "rssr": (2, 2), "six_hinges": (0, 0), "seven_hinges": (1, 1), "spherical_four_bar": (1, 1),
    "spherical_five_bar": (2, 2), "five_bar": (2, 2), "three_bars": (0, 0), "concurrent_bars": (1, 0),
    "parallel_bars": (1, 1), "dixon": (4, 4), "k33": (3, 3), "k33_on_circle": (4, 3), "hexapod": (0, 0),
    "parallel_hexapod": (3, 2), "concurrent_hexapod": (3, 0), "conic_hexapod": (1, 1), "goldberg": (1, 1),
    "scissors": (1, 1), "oldham": (1, 1), "rhombus": (2, 1), "flat_parallelogram_with_bar": (2, 1),
    "skew_four_bar": (0, 0), "screws": (1, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", CURIOUS)
def test_mechanisms_that_counting_misjudges(name):
    found = loops(getattr(c, name)(), seed=3)
    assert (found.infinitesimal, found.finite) == CURIOUS[name]


def test_branches_through_the_flat_parallelogram_and_the_paper_fold():
    assert loops(m.flat_parallelogram()).branches == (1, 1)
    found = loops(m.saliere())
    assert found.branches == (1, 1)
    assert found.singular
    assert found.nearby_rank == found.rank + 1


def test_classics_move_as_they_should():
    for make, expected in (
        (m.jansen, 1),
        (m.bricard, 1),
        (m.slider_crank, 1),
        (m.simplest, 3),
        (m.constant_velocity, 1),
    ):
        assert loops(make()).finite == expected


def test_count_by_the_order_of_loops_is_right_in_the_plane_and_on_the_sphere():
    assert loops(m.four_bar()).count_by_order == 1
    assert loops(c.spherical_four_bar()).count_by_order == 1
    assert loops(m.sarrus()).count_by_order == 0


def test_an_open_chain_has_the_mobility_of_its_joints():
    d = m.Drawing("chain")
    d.revolute("A", "earth", "arm", (0, 0, 0))
    d.spherical("B", "arm", "hand", (1, 0, 0))
    found = loops(d.mechanism())
    assert (found.finite, found.infinitesimal, found.redundant) == (4, 4, 0)
    assert "no loops" in str(found)
