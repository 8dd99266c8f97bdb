"""Linkages of the literature from the texts of the library, with the answers that are known of them.

Oracle: the sources named in the texts. `branches` are dimensions of the branches through the position drawn, where it is
singular (None where that depends on how a cusp is seen); drawings that are not held move as a whole besides.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter

import numpy as np
import pytest

from torseur.derivation.loops import loops
from torseur.description import library
from torseur.description.language import parse
from torseur.description.library.catalogue import linkages

# infinitesimal mobility, finite mobility, dimensions of branches, kind of the reason of redundancy
KNOWN = {
    "agile_eye": (3, 3, (), "one group"),
    "cartesian_3prrr": (3, 3, (), "groups of chains"),
    "concurrent_bars": (1, 0, (), None),
    "delassus": (1, 1, (), "equal lengths"),
    "desargues": (4, 3, (), None),
    "dixon": (4, 4, (), None),
    "double_cardan": (1, 1, (), "groups of chains"),
    "double_watt": (2, 1, None, None),
    "equal_helices": (1, 1, (), "one group"),
    "exechon": (3, 3, (), "groups of chains"),
    "flexible_octahedron": (7, 7, (), None),
    "goldberg": (1, 1, (), "family"),
    "guided_peaucellier": (1, 1, (), "equal lengths"),
    "hoberman_ring": (1, 1, (), "equal lengths"),
    "jessen": (7, 6, (), None),
    "k33_on_circle": (4, 3, (), None),
    "line_bricard": (1, 1, (), "line symmetry"),
    "miura_vertex": (2, 1, (1, 1), "one group"),
    "myard": (1, 1, (), "family"),
    "oldham": (1, 1, (), "one group"),
    "planar_3rpr": (3, 3, (), "one group"),
    "planar_3rrr": (3, 3, (), "one group"),
    "plane_bricard": (1, 1, (), "plane symmetry"),
    "rhombus": (2, 1, (1, 1), "one group"),
    "scissors": (1, 1, (), "one group"),
    "singular_hexapod": (1, 1, (), None),
    "snu_3upu": (5, 3, (3, 3), None),
    "spherical_four_bar": (1, 1, (), "one group"),
    "swinging_slide": (2, 1, (1, 1), None),
    "threefold_sarrus": (1, 1, (), "groups of chains"),
    "trammel": (1, 1, (), "equal lengths"),
    "trihedral_bricard": (1, 1, (), "family"),
    "turbula": (1, 1, (), "equal lengths"),
    "waterbomb": (4, 3, (3,), "one group"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_linkage_of_the_literature(name):
    infinitesimal, finite, branches, reason = KNOWN[name]
    report = loops(library.load(f"library:linkages/{name}"))
    assert (report.infinitesimal, report.finite) == (infinitesimal, finite)
    assert branches is None or report.branches == branches
    assert reason is None or report.reasons[0].kind == reason


def test_every_linkage_of_the_library_is_tried():
    assert {entry.name.removeprefix("linkages/") for entry in linkages()} == {*KNOWN, "wunderlich"}


@pytest.mark.slow
def test_the_modes_of_the_twelve_bars():
    """Wunderlich (1954): every face is a parallelogram (P) or an antiparallelogram (A); modes have one or two dimensions.

    A mode with opposite faces alike moves in two dimensions: all P, all A, or one pair of faces A.
    """
    report = loops(library.load("library:linkages/wunderlich"))
    assert report.finite == 2
    modes = Counter((way.dimension, _faces(way.motion[-1])) for way in report.ways)
    assert max(modes.values()) == 1
    assert {faces for dimension, faces in modes if dimension == 2} == {"PPPPPP", "AAPPPP", "PPAAPP", "PPPPAA", "AAAAAA"}
    assert all(faces.count("P") == 3 for dimension, faces in modes if dimension == 1)
    assert "at least" in report.ways_note


def _faces(pose):
    """P or A for the six faces of the cube's graph, opposite ones side by side."""
    names = [f"{i}{j}{k}" for i in "01" for j in "01" for k in "01"]
    places = {n: np.array([5 * int(n[0]) + 3 * int(n[1]) + int(n[2]) + pose.get(f"x{n}", 0.0), pose.get(f"y{n}", 0.0)])
              for n in names}  # fmt: skip
    text = ""
    for axis in range(3):
        for side in "01":
            a, b, c, d = (places["".join(np.insert(list(corner), axis, side))] for corner in ("00", "01", "10", "11"))
            text += "P" if np.linalg.norm((c - a) - (d - b)) < 1e-6 else "A"
    return text


CART = """let cart = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;
join [100, 7, 0] m @ earth and cart.frame as rail with prismatic(x) along [1, 2, 0] end ;
"""


@pytest.mark.slow
def test_an_unrelated_cart_changes_no_answer():
    text = library.source_of("flat_parallelogram")
    alone = loops(parse(text))
    for beside in (text.replace("init ", CART + "init "), text.replace("let crank", CART + "let crank", 1)):
        both = loops(parse(beside))
        assert (alone.branches, both.branches) == ((1, 1), (2, 2))
        assert both.finite == 2
        assert [way.rank for way in both.ways] == [way.rank for way in alone.ways]
        assert [r.text for r in both.reasons] == [r.text for r in alone.reasons]
        assert both.ways_proof == alone.ways_proof != ""


@pytest.mark.parametrize("name", ["spherical_four_bar", "swinging_slide", "trammel", "turbula", "miura_vertex"])
def test_names_and_the_order_of_statements_change_no_answer(name):
    """Other names sort otherwise, and with the order of statements they choose the tree and the cuts."""
    text = library.source_of(f"linkages/{name}")
    usual, other = (loops(parse(t), verify=False) for t in (text, _shuffled_and_renamed(text)))
    for attribute in ("rank", "infinitesimal", "finite", "redundant", "count", "branches", "ways_proof"):
        assert getattr(usual, attribute) == getattr(other, attribute), attribute
    assert [r.kind for r in usual.reasons] == [r.kind for r in other.reasons]
    assert [way.rank for way in usual.ways] == [way.rank for way in other.ways]


def _shuffled_and_renamed(text):
    head, *rest = [s.strip() for s in re.sub(r"\(\*.*?\*\)", "", text, flags=re.S).split(";") if s.strip()]
    random.Random(4).shuffle(rest)
    text = " ;\n".join([head, *rest, ""])
    names = set(re.findall(r"let (\w+) =", text)) | set(re.findall(r" as (\w+)", text))
    names |= {q for group in re.findall(r"with \w+\((.*?)\)", text) for q in re.split(r",\s*", group)}
    renamed = {name: f"n{hashlib.md5(name.encode()).hexdigest()[:6]}" for name in names}
    return re.sub(r"\b(" + "|".join(sorted(names, key=len, reverse=True)) + r")\b", lambda m: renamed[m[1]], text)


def test_two_singular_parts_have_the_branches_of_both():
    text = library.source_of("flat_parallelogram")
    head, body = text.split("let crank", 1)
    body = "let crank" + body.split("init")[0]
    other = body
    for name in ("crank", "coupler", "rocker", " A ", " B ", " C ", " D ", "alpha", "beta", "gamma", "delta"):
        other = other.replace(name, f" {name.strip()}2 " if name.startswith(" ") else f"{name}2")
    report = loops(parse(head + body + other))
    assert report.branches == (2,) * 4


@pytest.mark.slow
def test_a_branch_tells_its_directions_rank_and_a_motion_into_it():
    """One mode of the SNU platform is translation: all legs by the same angles, lengths alike to first order."""
    report = loops(library.load("library:linkages/snu_3upu"))
    for way in report.ways:
        assert (way.rank, way.redundant, len(way.basis)) == (12, 0, 3)
        assert all(directions[name] == pytest.approx(1, abs=1e-6) for name, directions in way.basis.items())
        start, end = way.motion[0], way.motion[-1]
        assert max(abs(v) for v in start.values()) < 1e-9 < 0.1 < max(abs(v) for v in end.values())
        closed = loops(library.load("library:linkages/snu_3upu"), end)
        assert (closed.rank, closed.remarks) == (12, ())
    lifts = [[d for d in way.basis.values() if set(d) == {"q_P1", "q_P2", "q_P3"}] for way in report.ways]
    assert sorted(map(len, lifts)) == [0, 1]
