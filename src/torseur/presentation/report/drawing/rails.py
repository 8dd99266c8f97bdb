"""The mechanism as rails: a row per body, chains on one rail, branches on new ones, loops dashed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.presentation.report.drawing.layers import joint_pairs
from torseur.presentation.report.page.report_content import Joint
from torseur.presentation.scene.scene import Body
from torseur.presentation.typesetting.markup import Markup, element

ROW, RAIL, LEFT, TOP = 30.0, 22.0, 14.0, 16.0
WIDE, NARROW = (660.0, 330.0), (390.0, 206.0)  # width, and where the column of joints begins
DOT, GLYPH = 7.0, 10.0
LOOP_STEP = 12.0
LETTER_WIDTH, LIGHT_WIDTH, SMALL_WIDTH = 8.0, 7.0, 6.2


@dataclass(frozen=True)
class Row:
    """A body on a rail, its parent's row and the joint that carries it; roots have neither."""

    body: int
    rail: int
    parent: int | None
    joint: int | None


def rows(bodies: Sequence[Body], joints: Sequence[Joint]) -> list[Row]:
    """Bodies in depth-first order, large branches last; a single child stays on its parent's rail."""
    tree = _children(bodies, joints)
    reached = {child for branches in tree.values() for child, _ in branches}
    listed: list[Row] = []
    for root in (number for number in range(len(bodies)) if number not in reached):
        _descend(root, 0, None, None, tree, listed)
    return listed


def rails(bodies: Sequence[Body], joints: Sequence[Joint], columns: tuple[float, float] = WIDE) -> Markup:
    """The rails as SVG, with its joint beside each body; loops have rows of their own below."""
    listed = rows(bodies, joints)
    loops = [number for number, joint in enumerate(joints) if joint.closes_loop]
    text = LEFT + (max((row.rail for row in listed), default=0) + 1) * RAIL + LOOP_STEP * len(loops)
    tracks = [_track(number, row, listed) for number, row in enumerate(listed) if row.parent is not None]
    line = {row.body: number for number, row in enumerate(listed)}
    ends = [(line[a], line[b]) for a, b in joint_pairs(bodies, joints)]
    arcs = [_arc(n, text - 10 - LOOP_STEP * place, ends[n], listed) for place, n in enumerate(loops)]
    drawn = [_body(number, row, bodies[row.body], text, columns[1]) for number, row in enumerate(listed)]
    at = [(row.joint, number) for number, row in enumerate(listed) if row.joint is not None]
    at += [(joint, len(listed) + place) for place, joint in enumerate(loops)]
    carried = [_joint(joint, joints[joint], _height(number), columns) for joint, number in at]
    height = _height(len(listed) + len(loops) - 1) + TOP
    return element(
        "svg",
        *tracks,
        *arcs,
        *drawn,
        *carried,
        class_="rails " + ("wide" if columns == WIDE else "narrow"),
        width=columns[0],
        viewBox=f"0 0 {columns[0]:.0f} {height:.0f}",
        role="group",
        aria_label="Bodies and joints",
    )


def _children(bodies: Sequence[Body], joints: Sequence[Joint]) -> dict[int, list[tuple[int, int]]]:
    """(child, joint) of every body along the joints of the spanning tree, small branches first."""
    edges = joint_pairs(bodies, joints)
    tree: dict[int, list[tuple[int, int]]] = {number: [] for number in range(len(bodies))}
    beside: dict[int, list[tuple[int, int]]] = {number: [] for number in range(len(bodies))}
    for number, (one, other) in enumerate(edges):
        if not joints[number].closes_loop:
            beside[one].append((other, number))
            beside[other].append((one, number))
    # A joint of the tree may carry the body that it names first: the tree grows from the ground.
    named = {child for _, child in edges}
    order = sorted(range(len(bodies)), key=lambda body: (not bodies[body].fixed, body in named))
    reached: set[int] = set()
    for root in order:
        waiting = [] if root in reached else [root]
        reached.add(root)
        while waiting:
            here = waiting.pop(0)
            for child, number in beside[here]:
                if child not in reached:
                    reached.add(child)
                    tree[here].append((child, number))
                    waiting.append(child)
    for branches in tree.values():
        # The largest branch last, so that the short ones end before it begins and no track crosses another.
        branches.sort(key=lambda branch: _size(branch[0], tree))
    return tree


def _size(body: int, tree: dict[int, list[tuple[int, int]]]) -> int:
    return 1 + sum(_size(child, tree) for child, _ in tree[body])


def _descend(
    body: int,
    rail: int,
    parent: int | None,
    joint: int | None,
    tree: dict[int, list[tuple[int, int]]],
    listed: list[Row],
) -> None:
    here = len(listed)
    listed.append(Row(body, rail, parent, joint))
    branches = tree[body]
    for child, through in branches:
        # Only where a body branches do its children leave the rail: a chain stays one straight line.
        _descend(child, rail + (len(branches) > 1), here, through, tree, listed)


def _height(number: int) -> float:
    return TOP + number * ROW


def _across(row: Row) -> float:
    return LEFT + row.rail * RAIL


def _track(number: int, row: Row, listed: list[Row]) -> Markup:
    """The line from a parent down to a body's row, and aside to its rail with a rounded corner."""
    assert row.parent is not None
    x, top = _across(listed[row.parent]), _height(row.parent)
    aside, bottom = _across(row), _height(number)
    path = f"M{x:.1f} {top:.1f}V{bottom:.1f}"
    if aside != x:
        path = f"M{x:.1f} {top:.1f}V{bottom - 8:.1f}Q{x:.1f} {bottom:.1f} {x + 8:.1f} {bottom:.1f}H{aside:.1f}"
    return element("path", class_="track", d=path)


def _arc(joint: int, x: float, ends: tuple[int, int], listed: list[Row]) -> Markup:
    """The dashed line of a loop joint between the rows of its two bodies."""
    (first, second) = sorted(ends)
    start, end = _across(listed[first]), _across(listed[second])
    path = f"M{start:.1f} {_height(first):.1f}H{x:.1f}V{_height(second):.1f}H{end:.1f}"
    return element("path", class_="track loop", d=path, data_joint=joint)


def _body(number: int, row: Row, body: Body, text: float, column: float) -> Markup:
    y = _height(number)
    room = column - text - 20
    name = shorten(body.name, room, LETTER_WIDTH)
    left = room - len(name) * LETTER_WIDTH - 8
    detail = element("tspan", shorten(body.detail, left, SMALL_WIDTH), class_="small", dx=8) if left > 30 else Markup()
    label = element("text", name, detail, x=text, y=y + 4.5)
    dot = element("circle", class_="dot", cx=_across(row), cy=y, r=DOT)
    target = element("rect", class_="target", x=0, y=y - ROW / 2, width=column - 16, height=ROW)
    return element(
        "g",
        element("title", f"{body.name} {body.detail}".strip()),
        target,
        dot,
        label,
        class_=f"body colour-{row.body}",
        data_body=row.body,
        tabindex=0,
    )


def _joint(number: int, joint: Joint, y: float, columns: tuple[float, float]) -> Markup:
    width, x = columns
    detail = f"{joint.parent} – {joint.child}, closes a loop" if joint.closes_loop else joint.detail
    room = width - x - 18
    name = shorten(joint.name, room, LIGHT_WIDTH)
    left = room - len(name) * LIGHT_WIDTH - 10
    rest = element("tspan", shorten(detail, left, SMALL_WIDTH), class_="small", dx=8) if left > 30 else Markup()
    label = element("text", name, rest, class_="light", x=x + 18, y=y + 4)
    glyph = element("circle", class_="glyph", cx=x, cy=y, r=GLYPH)
    letter = element("text", joint.letter, class_="letter", x=x, y=y + 4)
    return element(
        "g",
        element("title", describe_joint(joint)),
        glyph,
        letter,
        label,
        class_="joint",
        data_joint=number,
        tabindex=0,
    )


def shorten(text: str, room: float, letter: float) -> str:
    """Text cut with an ellipsis where it would not fit."""
    letters = int(room / letter)
    return text if len(text) <= letters else text[: max(1, letters - 1)] + "…"


def describe_joint(joint: Joint) -> str:
    """One sentence on a joint: "elbow: revolute joint between arm and blade, axis z"."""
    text = f"{joint.name}: {joint.kind} joint between {joint.parent} and {joint.child}"
    text += f", {joint.detail}" if joint.detail else ""
    return text + (", closes a loop" if joint.closes_loop else "")
