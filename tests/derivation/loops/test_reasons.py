"""Reasons of redundancy, for mechanisms whose reason is known.

Oracle: the classification of Hervé (1978) by groups of motions, and the conditions by which Bennett's, Goldberg's,
Myard's and Bricard's linkages are known.
"""

from __future__ import annotations

from fractions import Fraction as F

import pytest

import torseur.description.mechanism as tm
from derivation.loops import curious as c
from derivation.loops import mechanisms as m
from derivation.loops import unseen as u
from torseur.derivation.loops import loops

# kind of the reason, how many closures it explains, and words of it
KNOWN = {
    "four_bar": (m.four_bar, "one group", 3, "plane normal to z"),
    "five_bar": (c.five_bar, "one group", 3, "plane normal to z"),
    "planar_3rrr": (u.planar_3rrr, "one group", 6, "plane normal to z"),
    "spherical_five_bar": (c.spherical_five_bar, "one group", 3, "rotations about one point"),
    "agile_eye": (u.agile_eye, "one group", 6, "rotations about one point"),
    "wedges": (u.wedges, "one group", 4, "translations in the plane normal to z"),
    "door": (u.door, "one group", 5, "rotations about one axis (z)"),
    "equal_helices": (u.equal_helices, "one group", 3, "rising along z with the angle"),
    "sarrus": (m.sarrus, "groups of chains", 1, "in common translations along z"),
    "threefold_sarrus": (u.threefold_sarrus, "groups of chains", 4, "in common translations along z"),
    "cartesian_parallel": (u.cartesian_parallel, "groups of chains", 3, "in common translations in all directions"),
    "bennett": (m.bennett, "family", 3, "Bennett"),
    "goldberg": (c.goldberg, "family", 2, "Goldberg"),
    "myard": (u.myard, "family", 2, "Myard"),
    "trihedral_bricard": (u.trihedral_bricard, "family", 1, "trihedral"),
    "line_symmetric_bricard": (
        u.line_symmetric_bricard,
        "line symmetry",
        1,
        "exchanges R1 and R4, R2 and R5, R3 and R6",
    ),
    "parallelogram_with_bar": (m.parallelogram_with_bar, "equal lengths", 7, "A-B = C-D = E-G"),
    "stretched_four_bar": (m.stretched_four_bar, "position", 4, "in this position only"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_the_reason_is_the_known_one(name):
    make, kind, count, words = KNOWN[name]
    (reason,) = loops(make()).reasons
    assert (reason.kind, reason.redundant) == (kind, count)
    assert words in reason.text


def test_a_plane_five_bar_owes_nothing_to_its_dimensions():
    report = loops(c.five_bar())
    assert not any(r.special for r in report.redundancies)
    assert all(set(r.joints) == {"R1", "R2", "R4", "R5"} for r in report.redundancies)


def test_a_plane_symmetric_ring_of_six_hinges():
    """Bricard's plane-symmetric case, drawn with x = 0 for the plane: two axes in it, two pairs mirrored."""
    points = ((0, 0, 0), (2, 1, 0), (3, 3, 1), (0, 4, 1), (-3, 3, 1), (-2, 1, 0))
    axes = ((0, 1, 2), (1, 2, 3), (2, -1, 1), (0, 3, -1), (-2, -1, 1), (-1, 2, 3))
    report = loops(c.hinges("plane", points, axes))
    assert report.finite == 1
    (reason,) = report.reasons
    assert reason.kind == "plane symmetry"
    assert "keeps R1 and R4" in reason.text


def test_a_line_symmetric_ring_with_cylindrical_joints():
    """Oracle: a half-turn about z takes the hinge and the cylindrical joint to the other two, as they are drawn."""
    d = m.Drawing("rcrc")
    d.revolute("R1", "earth", "b1", (2, 1, 0), (1, 2, 3))
    d.revolute("R2", "b2", "b3", (-2, -1, 0), (-1, -2, 3))
    for name, ends, point, axis in (("C1", ("b1", "b2"), (1, -2, 1), (0, 1, -1)),
                                    ("C2", ("b3", "earth"), (-1, 2, 1), (0, -1, -1))):  # fmt: skip
        frames = [d.frame(body, point) for body in ends]
        d.joints.append(tm.cylindrical(name, *frames, f"turn_{name}", f"slide_{name}", axis=axis))
    (reason,) = loops(d.mechanism()).reasons
    assert (reason.kind, reason.redundant) == ("line symmetry", 1)
    assert "3 symmetric freedoms less 2 conditions" in reason.text


def test_plane_loops_of_a_spatial_block_hold_what_their_planes_do():
    """Oracle: three closures of every parallelogram of a delta robot hold in its plane, and the legs share three more."""
    (reason,) = loops(m.delta()).reasons
    assert (reason.kind, reason.redundant) == ("groups of chains", 12)
    assert reason.text.count("together allow translations in the plane normal to") == 3


def test_an_unknown_reason_is_said_to_be_unknown():
    """The turbula is a ring with an axis of its own: neither a group, nor symmetric, nor of the families."""
    (reason,) = loops(u.schatz()).reasons
    assert reason.kind in ("unknown", "equal lengths")
    assert "family" not in reason.text


def test_units_and_a_turned_mechanism_do_not_change_the_reason():
    plain, scaled = (loops(m.four_bar(unit=unit)).reasons[0] for unit in (1, F(1, 1000)))
    assert (plain.kind, plain.text) == (scaled.kind, scaled.text)


@pytest.mark.slow
@pytest.mark.parametrize("length", ["sqrt(1.06)", "sqrt(53/50)"])
def test_a_root_of_a_decimal_is_exact(length):
    """Bricard's condition 1 + 4 + r² = 4 + 1 + 1.06 needs r² = 1.06 exactly: modulo a prime nothing is nearly so."""
    import torseur as ts

    lengths = f"param one = 1 m, two = 2 m, first = {length} * 1 m, second = sqrt(53/50) * 1 m ;\n"
    ring = "".join(
        f"join [{a}, 0, 0] ++ ({turn} || [1, 0, 0]) @ {first} and {second} as R{k} with revolute(q{k}) end ;\n"
        for k, (a, turn, first, second) in enumerate(
            (("one", "pi/2", "earth", "b1.frame"), ("two", "-pi/2", "b1", "b2.frame"), ("two", "pi/2", "b2", "b3.frame"),
             ("one", "-pi/2", "b3", "b4.frame"), ("first", "pi/2", "b4", "b5.frame"),
             ("second", "-pi/2", "b5", "earth")), 1)
    )  # fmt: skip
    bodies = "".join(f"let b{k} = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;\n" for k in range(1, 6))
    report = loops(ts.parse(f"mechanism trihedral ;\n{lengths}{bodies}{ring}"), method="modular")
    modular = report.ranks[-1]
    assert modular.rank == 5, modular.support
    assert report.finite == 1
