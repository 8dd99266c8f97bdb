"""Joints of a URDF file: the tree they make, axes, limits, damping, friction, mimicry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torseur.description.mechanism import (
    Frame,
    Joint,
    Placement,
    along,
    fixed,
    placement,
    planar,
    prismatic,
    revolute,
    spherical,
)
from torseur.description.readers.attribute_numbers import limit_value, number, numbers
from torseur.description.readers.robot_assembly import Assembly, reserve_speeds
from torseur.description.readers.robot_file import Limit
from torseur.description.readers.urdf.urdf_links import place
from torseur.description.readers.xml_document import Element, RobotFileError
from torseur.errors import unknown_name


@dataclass(frozen=True)
class _Reading:
    """A joint while it is read: its element, name and frames."""

    element: Element
    name: str
    parent: Frame
    child: Frame
    assembly: Assembly

    @property
    def axis(self) -> tuple[float, ...]:
        given = self.element.first("axis")
        axis = (1.0, 0.0, 0.0) if given is None else numbers(given, "xyz", 3)
        if not any(axis):
            raise self.element.fault(f"the axis of joint '{self.name}' is zero.")
        return axis


def read_joints(root: Element, links: Mapping[str, str], assembly: Assembly) -> str:
    """Adds every joint with its limits and loads; returns the body at the root of the tree."""
    joints: dict[str, Joint] = {}
    elements = root.all("joint")
    for element in elements:
        name = element.text("name")
        if not name:
            raise element.fault('<joint> needs name="...".')
        if name in joints:
            raise element.fault(f"two joints are called '{name}'.")
        joints[name] = _read_joint(element, assembly.joint_names.keep(name), links, assembly)
    assembly.joints += joints.values()
    for element in elements:
        _mimic(element, joints, assembly)
    return _root(root, list(links.values()), list(joints.values()))


def _read_joint(element: Element, name: str, links: Mapping[str, str], assembly: Assembly) -> Joint:
    kind = element.text("type") or ""
    if kind not in _KINDS:
        raise element.fault(unknown_name("joint type", kind, _KINDS, f"joint '{name}': "))
    parent, child = _link(element, "parent", name, links), _link(element, "child", name, links)
    if parent == child:
        raise element.fault(f"joint '{name}' joins link '{parent}' to itself.")
    reading = _Reading(element, name, Frame(parent, place(element)), Frame(child), assembly)
    joint = _KINDS[kind](reading)
    if len(joint.coordinates) == 1:
        _limit(element, name, assembly)
        _dynamics(element, joint, assembly)
    return joint


def _link(element: Element, side: str, joint: str, links: Mapping[str, str]) -> str:
    given = element.first(side)
    name = None if given is None else given.text("link")
    if given is None or name is None:
        raise element.fault(f"joint '{joint}' needs <{side} link=\"...\"/>.")
    if name not in links:
        raise given.fault(unknown_name("link", name, links, f"{side} of joint '{joint}': "))
    return links[name]


def _fixed(r: _Reading) -> Joint:
    for axis in r.element.all("axis"):
        axis.take()
    return fixed(r.name, r.parent, r.child)


def _revolute(r: _Reading) -> Joint:
    return revolute(r.name, r.parent, r.child, r.assembly.coordinate(r.name, "rad"), r.axis)


def _prismatic(r: _Reading) -> Joint:
    return prismatic(r.name, r.parent, r.child, r.assembly.coordinate(r.name, "m"), r.axis)


def _floating(r: _Reading) -> Joint:
    for axis in r.element.all("axis"):
        axis.take()
    return r.assembly.free_joint(r.name, r.parent, r.child)


def _planar(r: _Reading) -> Joint:
    """Motion in the plane normal to the axis, along the x and y axes of the joint frame turned the shortest way."""
    names = [r.assembly.coordinate_names.fresh(f"{r.name}.{part}") for part in ("x", "y", "angle")]
    turned = along(r.axis).rotation
    where = Placement(r.parent.placement.position, (*r.parent.placement.rotation, *turned))
    return planar(r.name, Frame(r.parent.body, where), Frame(r.child.body, placement((0, 0, 0), *turned)), *names)


def _spherical(r: _Reading) -> Joint:
    """A ball joint, which URDF itself does not have but some simulators add to it."""
    reserve_speeds(r.assembly.coordinate_names, r.name)
    names = [r.assembly.coordinate_names.fresh(f"{r.name}.{part}") for part in ("qw", "qx", "qy", "qz")]
    for axis in r.element.all("axis"):
        axis.take()
    return spherical(r.name, r.parent, r.child, *names, angles="quaternion")


_KINDS: dict[str, Callable[[_Reading], Joint]] = {
    "revolute": _revolute,
    "continuous": _revolute,
    "prismatic": _prismatic,
    "fixed": _fixed,
    "floating": _floating,
    "planar": _planar,
    "spherical": _spherical,
}


def _limit(element: Element, joint: str, assembly: Assembly) -> None:
    given = element.first("limit")
    if given is not None:
        try:
            values = [limit_value(given, name) for name in ("lower", "upper", "velocity", "effort")]
        except RobotFileError as problem:
            assembly.ledger.note_unmodelled(f"limits of joint '{joint}': {problem}", given)
            return
        if element.text("type") == "continuous":  # its lower and upper mean nothing
            values[:2] = None, None
        assembly.add_limit(Limit(joint, *values))
        assembly.note_limit("<limit>", given)


def _dynamics(element: Element, joint: Joint, assembly: Assembly) -> None:
    given = element.first("dynamics")
    if given is not None:
        (q,) = joint.coordinates
        assembly.add_spring(joint, q, 0.0, 0.0, number(given, "damping", 0.0))
        assembly.add_friction(joint, q, number(given, "friction", 0.0), given)


def _mimic(element: Element, joints: Mapping[str, Joint], assembly: Assembly) -> None:
    """A joint that follows another: q = multiplier q_other + offset."""
    joint = joints[element.text("name") or ""]
    if len(joint.coordinates) != 1:
        return
    given = element.first("mimic")
    if given is None:
        return
    name = given.text("joint") or ""
    other = joints.get(name)
    if other is None or other is joint or len(other.coordinates) != 1:
        reason = "is not a joint of the robot" if other is None else "has no other single coordinate"
        assembly.ledger.note_unmodelled(f"<mimic>: joint '{joint.name}' moves by itself, for '{name}' {reason}.", given)
        given.take()
        return
    multiplier, offset = number(given, "multiplier", 1.0), number(given, "offset", 0.0)
    if not assembly.options.mimic:
        assembly.ledger.note_unmodelled("<mimic>: the joint moves by itself, as mimic=False asks.", given)
        return
    formula = multiplier * other.coordinates[0].symbol + offset
    assembly.follow(f"{joint.name}.mimic", joint.coordinates[0], formula)


def _root(root: Element, bodies: list[str], joints: list[Joint]) -> str:
    """The one body that no joint carries, from which joints lead to all others."""
    carried: dict[str, str] = {}
    for joint in joints:
        if joint.child.body in carried:
            raise root.fault(
                f"link '{joint.child.body}' is the child of joints '{carried[joint.child.body]}' and '{joint.name}'. "
                "URDF describes trees; a loop can be described in MJCF or LSD."
            )
        carried[joint.child.body] = joint.name
    roots = [body for body in bodies if body not in carried]
    if not roots:
        raise root.fault("a robot has one link that no joint carries; here every link is carried, round in a circle.")
    if len(roots) != 1:
        listing = ", ".join(f"'{body}'" for body in roots[:5])
        raise root.fault(f"a robot has one link that no joint carries; here there are {len(roots)}: {listing}.")
    _require_one_tree(root, roots[0], bodies, joints)
    return roots[0]


def _require_one_tree(root: Element, base: str, bodies: list[str], joints: list[Joint]) -> None:
    children: dict[str, list[str]] = {}
    for joint in joints:
        children.setdefault(joint.parent.body, []).append(joint.child.body)
    reached, waiting = {base}, [base]
    while waiting:
        for child in children.get(waiting.pop(), []):
            reached.add(child)
            waiting.append(child)
    lost = [body for body in bodies if body not in reached]
    if lost:
        raise root.fault(f"no chain of joints leads from link '{base}' to link '{lost[0]}': the joints go in a circle.")
