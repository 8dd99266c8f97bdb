"""Closed loops in a report: the doctor's findings, and a picture with every joint in its place."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

from torseur.description import library
from torseur.presentation.report.compose.make_report import Occasion, content_of
from torseur.presentation.report.page.report_page import render


def page(name: str) -> tuple:
    content = content_of(library.load(name), Occasion(until=0.1, certificate=False))
    return content, render(content)


def part(text: str) -> str:
    return re.search(r'<section id="loops">.*?</section>', text, re.DOTALL)[0]


@pytest.mark.slow
def test_four_bar_tells_its_mobility_and_what_is_redundant():
    content, text = page("four_bar")
    facts = {fact.label: fact.value for fact in content.loops.facts}
    assert facts["mobility by count"] == "-2"
    assert (facts["rank"], facts["infinitesimal mobility"], facts["finite mobility"]) == ("3", "1", "1")
    shown = part(text)
    assert "rotation about x is already imposed by A, B, D" in shown
    assert "Passage matrix N" in shown


@pytest.mark.slow
def test_picture_keeps_the_proportions_of_the_mechanism():
    """Oracle: the bars of the four-bar are 0.4, 1.0 and 0.8 m, its pivots 1.2 m apart."""
    content, text = page("four_bar")
    circles = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="4.5">', part(text))
    spots = {joint.name: tuple(map(float, spot)) for joint, spot in zip(content.joints, circles, strict=True)}
    lengths = [math.dist(spots[p], spots[q]) for p, q in ("AB", "BC", "CD", "DA")]
    assert [length / lengths[3] * 1.2 for length in lengths] == pytest.approx([0.4, 1.0, 0.8, 1.2], rel=1e-3)


@pytest.mark.parametrize("name", ["bennett", "flat_parallelogram", "antenna_mesh"])
def test_spatial_flat_and_shaky_loops_are_drawn_too(name):
    content, text = page(name)
    assert part(text).count('class="ring"') == len(content.loops.rings) == 1


def test_the_name_of_a_thin_loop_is_not_written_over_those_of_joints():
    """The salt-cellar's two leaves lie on each other, so that the middle of its loop is on their line."""
    shown = part(page("saliere")[1])
    joints = re.findall(r'<text class="small halo" x="([\d.]+)" y="([\d.]+)">([^<]+)<', shown)
    ((middle, line),) = re.findall(r'<text class="ring-name halo" x="([\d.]+)" y="([\d.]+)">loop 1<', shown)
    over = [(float(x), float(y)) for x, y, name in joints if float(x) < float(middle) < float(x) + 6 * len(name)]
    assert over, "no name of a joint is near"
    assert all(abs(y - float(line)) >= 12 for _, y in over)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"), [("four_bar", r">\w+ determines "), ("antenna_mesh", r"\w+, \w+ determine ")]
)
def test_one_coordinate_determines_and_several_determine(name, words):
    assert re.search(words, part(page(name)[1]))


def test_a_tree_has_no_such_part():
    content, text = page("double_pendulum")
    assert content.loops is None
    assert 'id="loops"' not in text


@pytest.mark.slow
def test_the_page_plays_a_motion_into_each_branch():
    """Oracle: the flat parallelogram (bars of 0.5 and 1.5 m) stays one on one branch, where opposite bars turn alike, and
    becomes an antiparallelogram on the other, where they do not."""
    content, text = page("flat_parallelogram")
    shown = part(text)
    assert re.findall(r'data-branch="(\d)"', shown) == ["0", "1"]
    assert "There are 2, and no more" in shown
    bodies = [body.name for body in content.bodies]
    turned = []
    for branch in content.loops.branches:
        first, second = (branch.motion.quaternions[24, bodies.index(name)] for name in ("crank", "rocker"))
        np.testing.assert_allclose(branch.motion.positions[0], branch.motion.positions[-1], atol=1e-9)
        turned.append(abs(first @ second) > 1 - 1e-9)
    assert sorted(turned) == [False, True]
    assert len(json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])["branches"]) == 2


@pytest.mark.slow
def test_branches_between_constraints_without_joints_are_on_the_page_too():
    """Wunderlich's twelve bars are distances between points: no joint closes a loop."""
    content, _ = page("linkages/wunderlich")
    assert content.loops.branches
    assert all(branch.motion is not None for branch in content.loops.branches)
