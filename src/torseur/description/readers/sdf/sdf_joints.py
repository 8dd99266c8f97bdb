"""Joints of an SDF file: axes, limits, springs, damping, friction, mimicry; and what no joint holds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from torseur.algebra.graph import Expr
from torseur.algebra.spatial import Vec3
from torseur.description.mechanism import (
    EARTH,
    EARTH_NAME,
    Coordinate,
    Frame,
    Joint,
    fixed,
    helical,
    prismatic,
    revolute,
    spherical,
    universal,
)
from torseur.description.readers.attribute_numbers import (
    content_number,
    content_numbers,
    content_switch,
    content_text,
)
from torseur.description.readers.rigid_placement import placement_of
from torseur.description.readers.robot_assembly import Assembly, reserve_speeds
from torseur.description.readers.robot_file import Limit
from torseur.description.readers.sdf.sdf_frames import MODEL, WORLD, FrameGraph, within
from torseur.description.readers.sdf.sdf_models import Model
from torseur.description.readers.xml_document import Element
from torseur.errors import unknown_name

UNBOUNDED = 1e15  # SDF writes ±1e16 where there is no limit
AXES_IN_JOINT = (1, 5)  # older files have the axes of joints in the model's frame


@dataclass(frozen=True)
class _Reading:
    """A joint while it is read: its model and element, the names it has in the file and here, and its frames."""

    model: Model
    element: Element
    full: str
    name: str
    parent: Frame
    child: Frame
    graph: FrameGraph
    assembly: Assembly

    def axis(self, tag: str = "axis") -> tuple[float, ...]:
        """The direction of an axis in the joint's frame."""
        given = self.element.first(tag)
        if given is None:
            raise self.element.fault(f"joint '{self.name}' needs <{tag}>.")
        written = Vec3(*content_numbers(given, "xyz", 3, (0.0, 0.0, 1.0)))
        length = math.hypot(*written)
        if length == 0.0:
            raise given.fault(f"the axis of joint '{self.name}' is zero.")
        base = self._axis_frame(given)
        if base:
            turned = self.graph.pose(base, self.full).rotation.to_parent(written)
            written = Vec3(*(0.0 if abs(c) < 1e-15 * length else c for c in turned))
        return tuple(float(c) for c in written)

    def _axis_frame(self, given: Element) -> str:
        """The frame that an axis is written in; "" for the joint's own."""
        xyz = given.first("xyz")
        name = xyz.text("expressed_in") if xyz is not None else None
        if name:
            return self.graph.find(name, self.model.name, given)
        in_model = content_switch(given, "use_parent_model_frame", self.model.version < AXES_IN_JOINT)
        return within(self.model.name, MODEL) if in_model else ""


def read_joints(models: list[Model], graph: FrameGraph, assembly: Assembly) -> None:
    """Adds every joint with its limits and loads, and holds or frees what none of them holds."""
    several = len({model.name.partition("::")[0] for model in models}) > 1
    joints: dict[str, Joint] = {}
    for model in models:
        for element in model.parts("joint"):
            full = within(model.name, element.text("name") or "")
            if model.static:
                element.take()
                continue
            joint = _read_joint(_reading(model, element, full, several, graph, assembly))
            if joint is not None:
                joints[full] = joint
    assembly.joints += joints.values()
    for model in models:
        for element in model.parts("joint"):
            full = within(model.name, element.text("name") or "")
            if full in joints:
                _mimic(model, element, joints[full], joints, assembly)
    _hold(models, graph, assembly)


def _reading(model: Model, element: Element, full: str, several: bool, graph: FrameGraph,
             assembly: Assembly) -> _Reading:  # fmt: skip
    name = assembly.joint_names.keep(full if several else full.partition("::")[2])
    sides = []
    for tag in ("parent", "child"):
        given = content_text(element, tag)
        if not given:
            raise element.fault(f"joint '{name}' needs <{tag}>.")
        link = graph.link_of(graph.find(given, model.name, element))
        body = EARTH_NAME if link == WORLD else graph.links[link]
        sides.append(Frame(body, placement_of(graph.pose(full, link))))
    if sides[0].body == sides[1].body:
        raise element.fault(f"joint '{name}' joins link '{sides[0].body}' to itself.")
    return _Reading(model, element, full, name, sides[0], sides[1], graph, assembly)


def _read_joint(r: _Reading) -> Joint | None:
    kind = r.element.text("type") or ""
    if kind not in _KINDS:
        if kind == "gearbox" and r.assembly.options.partial:
            r.element.take()
            r.assembly.ledger.note_unmodelled(f"joint '{r.name}': gear boxes are left out; their wheels turn freely.")
            return None
        advice = " To read the rest without it: partial=True, or --partial." if kind == "gearbox" else ""
        raise r.element.fault(unknown_name("joint type", kind, _KINDS, f"joint '{r.name}': ") + advice)
    joint = _KINDS[kind](r)
    for tag, q in zip(("axis", "axis2"), joint.coordinates, strict=False):
        if kind != "ball":
            _axis_loads(r, tag, joint, q)
    return joint


def _fixed(r: _Reading) -> Joint:
    for axis in r.element.all("axis"):
        axis.take()
    return fixed(r.name, r.parent, r.child)


def _revolute(r: _Reading) -> Joint:
    return revolute(r.name, r.parent, r.child, r.assembly.coordinate(r.name, "rad"), r.axis())


def _prismatic(r: _Reading) -> Joint:
    return prismatic(r.name, r.parent, r.child, r.assembly.coordinate(r.name, "m"), r.axis())


def _universal(r: _Reading) -> Joint:
    """Two turns, the second about an axis that the first carries."""
    first, second = (r.assembly.coordinate_names.fresh(f"{r.name}.{tag}") for tag in ("axis", "axis2"))
    return universal(r.name, r.parent, r.child, first, second, r.axis(), r.axis("axis2"))


def _ball(r: _Reading) -> Joint:
    reserve_speeds(r.assembly.coordinate_names, r.name)
    names = [r.assembly.coordinate_names.fresh(f"{r.name}.{part}") for part in ("qw", "qx", "qy", "qz")]
    for axis in r.element.all("axis"):
        axis.take()
    return spherical(r.name, r.parent, r.child, *names, angles="quaternion")


def _screw(r: _Reading) -> Joint:
    """A turn with an advance: metres per revolution, or the older minus radians per metre."""
    per_turn = content_text(r.element, "screw_thread_pitch")
    if per_turn is not None:
        pitch = content_number(r.element, "screw_thread_pitch") / (2 * math.pi)
        content_text(r.element, "thread_pitch")
    else:
        threads = content_number(r.element, "thread_pitch", 1.0)
        if threads == 0.0:
            raise r.element.fault(f"the thread pitch of joint '{r.name}' is zero: it would not advance.")
        pitch = -1.0 / threads
    q = r.assembly.coordinate(r.name, "rad")
    return helical(r.name, r.parent, r.child, q, pitch, r.axis())


_KINDS: dict[str, Callable[[_Reading], Joint]] = {
    "revolute": _revolute,
    "continuous": _revolute,
    "hinge": _revolute,
    "prismatic": _prismatic,
    "fixed": _fixed,
    "ball": _ball,
    "universal": _universal,
    "revolute2": _universal,
    "screw": _screw,
}


def _axis_loads(r: _Reading, tag: str, joint: Joint, q: Coordinate) -> None:
    """What an axis says besides its direction: limits, spring, damping, friction, where it starts."""
    given = r.element.first(tag)
    assert given is not None
    dynamics = given.first("dynamics")
    if dynamics is not None:
        stiffness = content_number(dynamics, "spring_stiffness", 0.0)
        rest = content_number(dynamics, "spring_reference", 0.0)
        r.assembly.add_spring(joint, q, stiffness, rest, content_number(dynamics, "damping", 0.0))
        r.assembly.add_friction(joint, q, content_number(dynamics, "friction", 0.0), dynamics)
    start = content_number(given, "initial_position", 0.0)
    if start:
        r.assembly.initial[q.name] = start
    limit = given.first("limit")
    if limit is not None and len(joint.coordinates) == 1:
        bounds = [_limit(limit, tag) for tag in ("lower", "upper")]
        # Speeds and forces below zero say that there is no limit.
        most = [None if value is None or value < 0.0 else value for value in
                (_limit(limit, tag) for tag in ("velocity", "effort"))]  # fmt: skip
        if r.element.text("type") == "continuous":  # its lower and upper mean nothing
            bounds = [None, None]
        r.assembly.add_limit(Limit(r.name, *bounds, *most))
        r.assembly.note_limit("<limit>", limit)


def _limit(limit: Element, tag: str) -> float | None:
    text = content_text(limit, tag)
    if not text or text.lower().lstrip("+-") in ("inf", "infinity", "1e+inf"):
        return None
    value = content_number(limit, tag)
    return None if abs(value) >= UNBOUNDED else value


def _mimic(model: Model, element: Element, joint: Joint, joints: dict[str, Joint], assembly: Assembly) -> None:
    """Axes that follow others: q = multiplier (q_other - reference) + offset."""
    for tag, q in zip(("axis", "axis2"), joint.coordinates, strict=False):
        axis = element.first(tag)
        given = None if axis is None else axis.first("mimic")
        if given is None:
            continue
        other = joints.get(within(model.name, given.text("joint") or ""))
        if other is None:
            raise given.fault(unknown_name("joint", given.text("joint") or "", joints, f"mimic of '{joint.name}': "))
        place = ("axis", "axis2").index(given.text("axis") or "axis")
        if len(other.coordinates) <= place or other is joint:
            raise given.fault(f"joint '{joint.name}' cannot follow '{other.name}': it has no other such axis.")
        factor, offset = content_number(given, "multiplier", 1.0), content_number(given, "offset", 0.0)
        reference = content_number(given, "reference", 0.0)
        if not assembly.options.mimic:
            assembly.ledger.note_unmodelled("<mimic>: the joint moves by itself, as mimic=False asks.", given)
            continue
        formula: Expr = factor * (other.coordinates[place].symbol - reference) + offset
        assembly.follow(f"{joint.name}.mimic", q, formula)


def _hold(models: list[Model], graph: FrameGraph, assembly: Assembly) -> None:
    """Fixes what is static to the earth, and lets what no joint holds move freely from where it is written."""
    static = [within(m.name, link.text("name") or "") for m in models if m.static for link in m.parts("link")]
    for full in static:
        name = assembly.joint_names.fresh(f"{graph.links[full]}.static")
        at = Frame(EARTH_NAME, placement_of(graph.pose(full, WORLD)))
        assembly.joints.append(fixed(name, at, Frame(graph.links[full])))
    names = {body: full for full, body in graph.links.items()}
    for root in _unheld_roots(list(names), assembly.joints):
        name = assembly.joint_names.fresh("root")
        joint = assembly.free_joint(name, EARTH, Frame(root))
        assembly.joints.append(joint)
        assembly.start_at(joint, graph.pose(names[root], WORLD))


def _unheld_roots(bodies: list[str], joints: list[Joint]) -> list[str]:
    """Of every group of bodies that joints tie together but not to the earth, the one that no joint carries."""
    neighbours: dict[str, list[str]] = {body: [] for body in (*bodies, EARTH_NAME)}
    for joint in joints:
        neighbours[joint.parent.body].append(joint.child.body)
        neighbours[joint.child.body].append(joint.parent.body)
    carried = {joint.child.body for joint in joints}
    seen: set[str] = set()
    _spread(EARTH_NAME, neighbours, seen)
    roots = []
    # Those that no joint carries come first; a group that goes round in a circle has its first body instead.
    for body in (*(b for b in bodies if b not in carried), *bodies):
        if body not in seen:
            roots.append(body)
            _spread(body, neighbours, seen)
    return roots


def _spread(start: str, neighbours: dict[str, list[str]], seen: set[str]) -> None:
    waiting = [start]
    while waiting:
        body = waiting.pop()
        if body not in seen:
            seen.add(body)
            waiting += neighbours[body]
