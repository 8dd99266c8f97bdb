"""Frames of an SDF file: what poses are relative to, and the body that carries each frame.

Poses make a graph: a link's is relative to its model, a joint's to its child, a frame's to what it is attached to,
unless `relative_to` says otherwise (SDFormat, "Pose frame semantics"). Everything else asks for one frame in another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from torseur.algebra.spatial import SAME, Rotation, Transform, Vec3, about
from torseur.description.mechanism import Placement
from torseur.description.readers.attribute_numbers import content_words
from torseur.description.readers.rigid_placement import place_of, turn_of_quaternion
from torseur.description.readers.xml_document import Element
from torseur.errors import unknown_name

WORLD = "world"
MODEL = "__model__"
BETWEEN = "::"
DUST = 1e-15  # a composed pose has entries of this size where the file means zero
_AXES = (Vec3(0, 0, 1), Vec3(0, 1, 0), Vec3(1, 0, 0))


@dataclass
class Node:
    """A frame: where it is written, the frame it is given in, its pose there, and the frame that carries it.

    A model that is placed by one of its frames, `placed_by`, has the pose of that frame in place of its own.
    """

    element: Element
    base: str
    pose: Transform
    carrier: str
    placed_by: str = ""


@dataclass
class FrameGraph:
    """Every frame of a file by its full name, such as arm::gripper::palm."""

    nodes: dict[str, Node] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, node: Node) -> None:
        if name in self.nodes:
            raise node.element.fault(f"two frames, links, joints or models are called '{name}'.")
        self.nodes[name] = node

    def find(self, name: str, scope: str, element: Element) -> str:
        """The full name of what a model calls by a name."""
        if name == WORLD:
            return WORLD
        full = within(scope, name)
        # A nested model stands for its own frame.
        for candidate in (full, f"{full}{BETWEEN}{MODEL}"):
            if candidate in self.nodes:
                return candidate
        known = [key.removeprefix(within(scope, "")) for key in self.nodes if key.startswith(within(scope, ""))]
        raise element.fault(unknown_name("frame, link, joint or model", name, [*known, WORLD]))

    def link_of(self, name: str) -> str:
        """The link that carries a frame, by its full name; the world when it is fixed there."""
        path = [name]
        while path[-1] != WORLD and path[-1] not in self.links:
            node = self.nodes[path[-1]]
            if node.carrier in path:
                raise node.element.fault(f"frames are attached to each other in a circle: {' to '.join(path)}.")
            path.append(node.carrier)
        return path[-1]

    def pose(self, name: str, seen_from: str) -> Transform:
        """A frame seen from another: the places from both up to the first frame they have in common."""
        up, down = self._path(name), self._path(seen_from)
        shared = next(frame for frame in up if frame in down)
        there = self._along(up[: up.index(shared)])
        back = self._along(down[: down.index(shared)])
        return without_dust(there if back is SAME else back.inverse.then(there))

    def _path(self, name: str) -> list[str]:
        """The frames from one up to the world, each given in the next."""
        path = [name]
        while path[-1] != WORLD:
            node = self.nodes[path[-1]]
            if node.base in path:
                raise node.element.fault(f"poses are relative to each other in a circle: {' to '.join(path)}.")
            path.append(node.base)
        return path

    def _along(self, path: list[str]) -> Transform:
        place = SAME
        for name in path:
            step = self._step(name)
            place = step if place is SAME else step.then(place)
        return place

    def _step(self, name: str) -> Transform:
        node = self.nodes[name]
        if not node.placed_by:
            return node.pose
        # X_BM = X_BP (X_MP)^-1: the file places frame P of the model where it would place the model.
        path = self._path(node.placed_by)
        if name not in path:
            raise node.element.fault(f"the placement frame '{node.placed_by}' is not within its model.")
        inside = self._along(path[: path.index(name)])
        return node.pose.then(inside.inverse)


def within(scope: str, name: str) -> str:
    """The full name of what a model has under a name."""
    return f"{scope}{BETWEEN}{name}" if scope else name


def pose_of(element: Element) -> tuple[Transform, str]:
    """The <pose> of an element, and the frame it is relative to as written ("" for the usual one)."""
    found = content_words(element, "pose")
    if found is None:
        return SAME, ""
    child, words = found
    # Before version 1.7 the attribute was called `frame`.
    base = child.text("relative_to") or child.text("frame") or ""
    degrees = (child.text("degrees") or "false").lower() in ("true", "1")
    form = child.text("rotation_format") or "euler_rpy"
    if form not in ("euler_rpy", "quat_xyzw"):
        raise child.fault(f"rotation_format is '{form}': expected euler_rpy or quat_xyzw.")
    if not words:
        return SAME, base
    count = 6 if form == "euler_rpy" else 7
    values = _numbers(child, words, count)
    return Transform(_rotation(child, values[3:], degrees), Vec3(*values[:3])), base


def _numbers(element: Element, words: list[str], count: int) -> list[float]:
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) != count or not all(math.isfinite(value) for value in values):
        raise element.fault(f"<pose> is '{' '.join(words)[:60]}': expected {count} numbers.")
    return values


def _rotation(element: Element, values: list[float], degrees: bool) -> Rotation:
    if len(values) == 4:
        x, y, z, w = values
        if not any(values):
            raise element.fault("the quaternion of <pose> is zero.")
        return place_of(Placement(rotation=turn_of_quaternion((w, x, y, z)))).rotation
    # Roll, pitch, yaw about fixed x, y, z are turns about z, then the turned y, then the turned x.
    rotation = Rotation()
    for axis, angle in zip(_AXES, reversed(values), strict=True):
        if angle:
            rotation = rotation.then(about(axis, math.radians(angle) if degrees else angle))
    return rotation


def without_dust(place: Transform) -> Transform:
    """A place with zeros where composing others left rounding."""
    size = max(1.0, *(abs(float(c)) for c in place.position))
    shift = Vec3(*(0.0 if abs(c) < DUST * size else c for c in place.position))
    turned = [list(row) for row in place.rotation.matrix.rows]
    off = max(abs(float(turned[i][j]) - (i == j)) for i in range(3) for j in range(3))
    return Transform(Rotation() if off < DUST else place.rotation, shift)
