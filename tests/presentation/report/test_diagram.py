"""The drawing of the mechanism: everything is there once, nothing overlaps, loops are marked."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from torseur.presentation.report.drawing.diagram import BOX_HEIGHT, diagram
from torseur.presentation.report.drawing.layers import arrange, joint_pairs
from torseur.presentation.report.drawing.rails import rows
from torseur.presentation.report.page.report_content import Joint
from torseur.presentation.scene.scene import Body


def tree(parents: list[int]) -> tuple[tuple[Body, ...], tuple[Joint, ...]]:
    """Ground and one body per entry; entry k is the index of the parent of body k + 1."""
    bodies = (Body("ground", fixed=True), *(Body(f"body{k + 1}", "1 kg") for k in range(len(parents))))
    joints = tuple(
        Joint(f"joint{k + 1}", "revolute", "R", bodies[p].name, f"body{k + 1}") for k, p in enumerate(parents)
    )
    return bodies, joints


FOUR_BAR = (
    (Body("ground", fixed=True), Body("crank"), Body("coupler"), Body("rocker")),
    (
        Joint("A", "revolute", "R", "ground", "crank"),
        Joint("B", "revolute", "R", "crank", "coupler"),
        Joint("C", "revolute", "R", "ground", "rocker"),
        Joint("D", "revolute", "R", "coupler", "rocker", closes_loop=True),
    ),
)
parents = st.integers(1, 40).flatmap(lambda n: st.tuples(*(st.integers(0, k) for k in range(n)))).map(list)


@given(parents)
def test_layers_hold_every_body_once_and_joints_join_neighbours(chosen: list[int]) -> None:
    bodies, joints = tree(chosen)
    place = arrange(bodies, joints).place()
    assert sorted(place) == list(range(len(bodies)))
    assert all(abs(place[a][0] - place[b][0]) == 1 for a, b in joint_pairs(bodies, joints))


@given(parents)
def test_rails_list_parents_before_children(chosen: list[int]) -> None:
    listed = rows(*tree(chosen))
    line = {row.body: number for number, row in enumerate(listed)}
    assert sorted(line) == list(range(len(chosen) + 1))
    assert all(line[parent] < line[k + 1] for k, parent in enumerate(chosen))


def test_a_body_stands_on_the_rails_once_whichever_way_its_joints_are_written() -> None:
    """A platform that several joints name as their child: one carries it, through the others it carries."""
    bodies = (Body("ground", fixed=True), Body("arm"), Body("platform"), Body("leg"))
    joints = (
        Joint("a", "revolute", "R", "ground", "arm"),
        Joint("b", "revolute", "R", "arm", "platform"),
        Joint("c", "revolute", "R", "leg", "platform"),
        Joint("d", "revolute", "R", "ground", "leg", closes_loop=True),
    )
    assert [(row.body, row.joint) for row in rows(bodies, joints)] == [(0, None), (1, 0), (2, 1), (3, 2)]


def test_a_chain_stays_on_one_rail() -> None:
    assert {row.rail for row in rows(*tree(list(range(20))))} == {0}


@given(parents)
def test_every_body_and_joint_is_drawn(chosen: list[int]) -> None:
    bodies, joints = tree(chosen)
    drawing = diagram(bodies, joints)
    assert {int(n) for n in re.findall(r'data-body="(\d+)"', drawing)} == set(range(len(bodies)))
    assert {int(n) for n in re.findall(r'data-joint="(\d+)"', drawing)} == set(range(len(joints)))


def test_boxes_do_not_overlap() -> None:
    drawing = diagram(*tree([0, 0, 0, 1, 1, 2]))
    found = re.findall(r'<rect x="([\d.]+)" y="([\d.-]+)" width="([\d.]+)"', drawing)
    boxes = [tuple(map(float, box)) for box in found][:7]
    for k, (x, y, width) in enumerate(boxes):
        for other_x, other_y, _ in boxes[k + 1 :]:
            assert abs(x - other_x) >= width or abs(y - other_y) >= BOX_HEIGHT


def test_a_loop_is_dashed_and_told() -> None:
    drawing = diagram(*FOUR_BAR)
    assert 'class="loop"' in drawing
    assert "closes a loop" in drawing
    assert [len(layer) for layer in arrange(*FOUR_BAR).layers] == [1, 2, 1]


def test_two_joints_between_the_same_bodies_stay_apart() -> None:
    bodies = (Body("ground", fixed=True), Body("slider"))
    joints = tuple(Joint(name, "prismatic", "P", "ground", "slider") for name in ("left", "right"))
    centres = re.findall(r'<circle cx="([\d.]+)" cy="([\d.-]+)" r="13"', diagram(bodies, joints))
    assert len(set(centres)) == 2


def test_an_empty_mechanism_and_a_lone_body_can_be_drawn() -> None:
    assert "<svg" in diagram((Body("ground", fixed=True),), ())
    assert "rock" in diagram((Body("ground", fixed=True), Body("rock")), ())
