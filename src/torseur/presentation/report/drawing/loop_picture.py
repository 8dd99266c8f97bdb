"""The loops drawn where the mechanism is: joints in their places, bodies between them, loops filled and named."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from torseur.presentation.report.drawing.rails import describe_joint
from torseur.presentation.report.page.report_content import Joint, Loops, ReportContent
from torseur.presentation.scene.scene import Body
from torseur.presentation.typesetting.markup import Markup, element

Floats = np.ndarray[Any, np.dtype[np.float64]]
Spot = tuple[float, float]
Label = tuple[str, float, float]  # a text, where it begins, its base line

WIDTH, LEAST_HEIGHT, MOST_HEIGHT, MARGIN = 560.0, 140.0, 380.0, 34.0
MOST_NAMES = 28
FLAT = 1e-6
NEAR = 6.0
LETTER, LINE = 6.5, 15.0  # width of a letter, distance of lines


def loop_picture(content: ReportContent) -> Markup:
    """The loops of a report's content as SVG."""
    loops = content.loops
    assert loops is not None
    spots, height = _on_paper(loops.places, content.view.up)
    bodies = [_body(body, n, _spots_of(body, content.joints, spots)) for n, body in enumerate(content.bodies)]
    joints = [_joint(joint, number, spots[joint.name]) for number, joint in enumerate(content.joints)]
    names = _joint_names(spots) if len(spots) <= MOST_NAMES else []
    texts = [element("text", name, class_="small halo", x=x, y=y) for name, x, y in names]
    drawn = [*_rings(loops, spots), *bodies, *joints, *texts, *_ring_names(loops, spots, names)]
    label = f"{len(loops.rings)} closed loops, drawn at the start of the motion"
    picture = element(
        "svg", *drawn, viewBox=f"0 0 {WIDTH:.0f} {height:.0f}", width=WIDTH, role="group", aria_label=label
    )
    return element("div", picture, class_="diagram loops-picture")


def _on_paper(places: Mapping[str, Sequence[float]], up: Sequence[float]) -> tuple[dict[str, Spot], float]:
    """Where the joints are on the paper, and the height of the paper."""
    points = np.array(list(places.values()), float)
    right, upward = _view(points - points.mean(axis=0), np.array(up, float))
    x, y = points @ right, points @ upward
    wide, high = float(np.ptp(x)) or 1e-9, float(np.ptp(y))
    scale = min((WIDTH - 2 * MARGIN) / wide, (MOST_HEIGHT - 2 * MARGIN) / max(high, 1e-9))
    height = max(LEAST_HEIGHT, scale * high + 2 * MARGIN)
    left, top = (WIDTH - scale * wide) / 2, (height - scale * high) / 2
    spots = {name: (float(left + scale * (a - x.min())), float(top + scale * (y.max() - b)))
             for name, a, b in zip(places, x, y, strict=True)}  # fmt: skip
    return spots, height


def _view(points: Floats, up: Floats) -> tuple[Floats, Floats]:
    """Directions to the right and upward on the paper: in the plane of the points, or seen from a corner."""
    # The singular vectors are the axes of the cloud of joints. A third value of zero: all lie in a plane, which is
    # looked at from above. A second one of zero: they lie on a line, and any plane through it would do.
    _, sizes, axes = np.linalg.svd(points, full_matrices=True)
    flat = len(sizes) < 3 or sizes[2] < FLAT * max(sizes[0], 1e-300)
    if flat:
        candidates = [up, *np.eye(3)[[1, 2, 0]]]
        line = sizes[min(1, len(sizes) - 1)] < FLAT * max(sizes[0], 1e-300)
        normal = np.array([0.0, 0.0, 1.0]) if line and abs(axes[0][2]) < 0.9 else axes[2]
    else:
        side = np.cross(up, np.eye(3)[int(np.argmin(np.abs(up)))])
        normal = math.cos(0.4) * _rotate(side / np.linalg.norm(side), up, 0.6) + math.sin(0.4) * up
        candidates = [up]
    # The first direction that does not point at the viewer, so that what is up in the world is up on the paper.
    upward = next(v for c in candidates if np.linalg.norm(v := c - normal * (c @ normal)) > 0.3)
    upward = upward / np.linalg.norm(upward)
    right = np.cross(upward, normal)
    return (right if right[int(np.argmax(np.abs(right)))] > 0 else -right), upward


def _rotate(vector: Floats, axis: Floats, angle: float) -> Floats:
    """A vector across an axis, turned about it."""
    turned: Floats = math.cos(angle) * vector + math.sin(angle) * np.cross(axis, vector)
    return turned


def _spots_of(body: Body, joints: Sequence[Joint], spots: Mapping[str, Spot]) -> list[Spot]:
    """The spots of a body's joints, in the order around their middle."""
    own = [spots[j.name] for j in joints if body.name in (j.parent, j.child) and j.name in spots]
    different = [s for k, s in enumerate(own) if all(math.dist(s, other) > 0.5 for other in own[:k])]
    x, y = (sum(c) / max(len(different), 1) for c in zip(*different, strict=True)) if different else (0.0, 0.0)
    return sorted(different, key=lambda s: math.atan2(s[1] - y, s[0] - x))


def _body(body: Body, number: int, around: Sequence[Spot]) -> Markup:
    """A body as a bar or plate between its joints; the ground as hatching below them."""
    title = element("title", body.name)
    if body.fixed:
        ticks = "".join(f"M{x - 12:.1f} {y + 9:.1f}h24m-20 0l-5 6m11 -6l-5 6m11 -6l-5 6" for x, y in around)
        return element("g", title, element("path", d=ticks), class_=f"ground colour-{number}", data_body=number)
    line = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in around) + ("Z" if len(around) > 2 else "")
    shape = element("path", d=line, class_="plate" if len(around) > 2 else "bar")
    return element(
        "g", title, shape if around else Markup(), class_=f"link colour-{number}", data_body=number, tabindex=0
    )


def _joint(joint: Joint, number: int, spot: Spot) -> Markup:
    circle = element("circle", cx=spot[0], cy=spot[1], r=4.5)
    kind = "joint closing" if joint.closes_loop else "joint"
    return element("g", element("title", describe_joint(joint)), circle, class_=kind, data_joint=number, tabindex=0)


def _joint_names(spots: Mapping[str, Spot]) -> list[Label]:
    """The names beside the joints; joints in one place have theirs together."""
    groups: list[tuple[Spot, list[str]]] = []
    for name, spot in spots.items():
        near = next((names for other, names in groups if math.dist(spot, other) < NEAR), None)
        if near is None:
            groups.append((spot, [name]))
        else:
            near.append(name)
    placed: list[Label] = []
    for (x, y), names in groups:
        placed.append(_free_place(", ".join(names), x, y, placed))
    return placed


def _free_place(text: str, x: float, y: float, taken: Sequence[Label]) -> Label:
    """A place for a name about its joint, right or left, above or below, where no other name stands."""
    right, left = x + 8, max(0.0, x - 8 - LETTER * len(text))
    # Ends: every round goes one line farther out, and there are finitely many names.
    for line in itertools.count():
        for begin, base in itertools.product((right, left), (y - 8 - LINE * line, y + 16 + LINE * line)):
            label = (text, min(begin, WIDTH - LETTER * len(text)), base)
            if not any(_overlap(label, other) for other in taken):
                return label
    raise AssertionError("there is always a free line")


def _rings(loops: Loops, spots: Mapping[str, Spot]) -> list[Markup]:
    lines = ["L".join(f"{x:.1f} {y:.1f}" for x, y in _ring(ring.joints, spots)) for ring in loops.rings]
    return [element("path", d=f"M{line}Z", class_="ring") for line in lines]


def _ring_names(loops: Loops, spots: Mapping[str, Spot], names: Sequence[Label]) -> list[Markup]:
    """The names of the loops in their middle, or below it where other names stand."""
    texts: list[Markup] = []
    taken = list(names)
    for ring in loops.rings:
        x, y = (sum(c) / len(ring.joints) for c in zip(*_ring(ring.joints, spots), strict=True))
        label = (ring.name, x - LETTER * len(ring.name) / 2, y)
        # Ends: every step goes one line down, and there are finitely many names.
        while any(_overlap(label, other) for other in taken):
            label = (*label[:2], label[2] + LINE)
        taken.append(label)
        texts.append(element("text", ring.name, class_="ring-name halo", x=x, y=label[2]))
    return texts


def _overlap(one: Label, other: Label) -> bool:
    """Whether two texts would be written over each other."""
    left, right = sorted((one, other), key=lambda label: label[1])
    return abs(one[2] - other[2]) < LINE and left[1] + LETTER * (len(left[0]) + 1) > right[1]


def _ring(joints: Sequence[str], spots: Mapping[str, Spot]) -> list[Spot]:
    return [spots[name] for name in joints]
