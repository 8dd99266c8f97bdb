"""Joints of a body: several of them become a chain through massless bodies, so that each keeps its name."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torseur.algebra.graph import Expr, scalar
from torseur.algebra.spatial import NULL, Transform, Vec3
from torseur.description.mechanism import (
    Frame,
    Joint,
    Placement,
    body,
    bushing,
    fixed,
    motor,
    placement,
    prismatic,
    revolute,
    spherical,
    turn,
)
from torseur.description.readers.attribute_numbers import choice, number, number_list, numbers
from torseur.description.readers.mjcf.mjcf_places import ORIGIN, SHORTEST
from torseur.description.readers.mjcf.mjcf_scene import Axis, Scene
from torseur.description.readers.rigid_placement import place_of
from torseur.description.readers.robot_assembly import reserve_speeds
from torseur.description.readers.robot_file import Limit
from torseur.description.readers.xml_document import Element
from torseur.errors import unknown_name

QUATERNION = ("qw", "qx", "qy", "qz")


@dataclass(frozen=True)
class _Step:
    """One joint on the way from the parent to the body: where it starts, and which body it carries."""

    element: Element
    frame: Transform
    name: str
    parent: Frame
    child: str
    scene: Scene

    @property
    def position(self) -> Vec3:
        """The joint's point in the body's frame."""
        return self.frame.point_to_parent(Vec3(*numbers(self.element, "pos", 3, ORIGIN)))

    @property
    def axis(self) -> Vec3:
        axis = self.frame.rotation.to_parent(Vec3(*numbers(self.element, "axis", 3, (0.0, 0.0, 1.0))))
        length = math.hypot(*axis)
        if length < SHORTEST:
            raise self.element.fault(f"the axis of joint '{self.name}' has no length.")
        return axis if length == 1.0 else axis / length

    def sides(self, back: Vec3 = NULL, turned: float = 0.0) -> tuple[Frame, Frame]:
        """The joint's frames in its parent and its child, the first shifted back and turned about the axis."""
        at, point = self.parent.placement, self.position
        start = place_of(at).point_to_parent(point - back)
        turns = (*at.rotation, turn(-turned, list(self.axis))) if turned else at.rotation
        return Frame(self.parent.body, Placement(placement(list(start)).position, turns)), Frame(
            self.child, placement(list(point))
        )


def join(
    parent: Frame, child: str, joints: Sequence[tuple[Element, Transform]], element: Element, scene: Scene
) -> None:
    """Joins a body to its parent by the joints written in it; by none, it is fixed."""
    assembly = scene.assembly
    if not joints:
        assembly.joints.append(fixed(assembly.joint_names.fresh(f"{child}.fixed"), parent, Frame(child)))
        return
    # MJCF stacks joints in one body; here each joint carries a body, so that all but the last carry a massless one.
    last = len(joints) - 1
    for k, (joint, frame) in enumerate(joints):
        name = _name(joint, child, scene)
        carried = child if k == last else assembly.body_names.fresh(f"{name}.carrier")
        if k != last:
            assembly.add_body(body(carried, mass=0, centre=(0, 0, 0), inertia=0), element)
        _add(_Step(joint, frame, name, parent, carried, scene), len(joints))
        parent = Frame(carried)


def _name(element: Element, child: str, scene: Scene) -> str:
    given = element.text("name")
    if not given:
        return scene.assembly.joint_names.fresh(f"{child}.joint")
    if given in scene.joints:
        raise element.fault(f"two joints are called '{given}'.")
    return scene.assembly.joint_names.keep(given)


def _add(step: _Step, count: int) -> None:
    kind = "free" if step.element.tag == "freejoint" else (step.element.text("type") or "hinge").strip()
    if kind not in _KINDS:
        raise step.element.fault(unknown_name("joint type", kind, _KINDS, f"joint '{step.name}': "))
    if kind == "free" and (count > 1 or step.parent.body != "earth"):
        raise step.element.fault(f"joint '{step.name}' is free: it stands alone in a body that hangs on the world.")
    axis = _KINDS[kind](step)
    step.scene.assembly.joints.append(axis.joint)
    step.scene.order.append(axis)
    given = step.element.text("name")
    if given:
        step.scene.joints[given] = axis
    if step.element.tag != "freejoint":
        step.scene.assembly.add_armature(axis.joint, number(step.element, "armature", 0.0), step.element)


def _hinge(step: _Step) -> Axis:
    unit = step.scene.settings.radians
    reference = number(step.element, "ref", 0.0) * unit
    q = step.scene.assembly.coordinate(step.name, "rad")
    joint = revolute(step.name, *step.sides(turned=reference), q, list(step.axis))
    return _with_loads(step, joint, "hinge", reference, unit)


def _slide(step: _Step) -> Axis:
    reference = number(step.element, "ref", 0.0)
    q = step.scene.assembly.coordinate(step.name, "m")
    joint = prismatic(step.name, *step.sides(back=step.axis * reference), q, list(step.axis))
    return _with_loads(step, joint, "slide", reference, 1.0)


def _ball(step: _Step) -> Axis:
    names = step.scene.assembly.coordinate_names
    reserve_speeds(names, step.name)
    coordinates = [names.fresh(f"{step.name}.{part}") for part in QUATERNION]
    joint = spherical(step.name, *step.sides(), *coordinates, angles="quaternion")
    _all_around(step, joint)
    return Axis(joint, "ball", None, 0.0, 0.0, step.child)


def _free(step: _Step) -> Axis:
    assembly = step.scene.assembly
    joint = assembly.free_joint(step.name, Frame("earth"), Frame(step.child))
    assembly.start_at(joint, place_of(step.parent.placement))
    align = choice(step.element, "align", ("false", "true", "auto"), "auto")
    if align == "true" or (align == "auto" and step.scene.settings.align_free):
        step.scene.aligned[step.child] = False
    for attribute in ("group", "pos", "axis"):
        step.element.text(attribute)
    _all_around(step, joint)
    return Axis(joint, "free", None, 0.0, 0.0, step.child)


_KINDS: dict[str, Callable[[_Step], Axis]] = {"hinge": _hinge, "slide": _slide, "ball": _ball, "free": _free}


def _with_loads(step: _Step, joint: Joint, kind: str, reference: float, unit: float) -> Axis:
    """A joint with one coordinate: its limits, springs, dampers and friction."""
    element, assembly, off = step.element, step.scene.assembly, step.scene.settings.disabled
    (q,) = joint.coordinates
    rest = number(element, "springref", 0.0) * unit
    _force_range(step)
    _limit(step, unit)
    stiffness, damping = polynomial(element, "stiffness"), polynomial(element, "damping")
    stiffness = (0.0,) * 3 if "spring" in off else stiffness
    damping = (0.0,) * 3 if "damper" in off else damping
    tuned = number_list(element, "springdamper") or ()
    if len(tuned) == 2 and min(tuned) > 0.0:
        step.scene.tuned.append((joint, rest, *tuned))
        stiffness, damping = (0.0, *stiffness[1:]), (0.0, *damping[1:])
    assembly.add_spring(joint, q, stiffness[0], rest, damping[0])
    x, v = q.symbol - rest, q.rate
    higher: Expr = stiffness[1] * x**2 + stiffness[2] * x**3 + damping[1] * v * scalar.absolute(v) + damping[2] * v**3
    if not higher.is_zero:
        assembly.loads.append(motor(assembly.load_names.fresh(f"{joint.name}.nonlinear"), joint.name, q.name, -higher))
    if "frictionloss" not in off:
        assembly.add_friction(joint, q, number(element, "frictionloss", 0.0), element)
    if reference:
        assembly.initial[q.name] = reference
    return Axis(joint, kind, q, reference, rest, step.child)


def polynomial(element: Element, name: str) -> tuple[float, ...]:
    """One to three coefficients."""
    given = number_list(element, name) or ()
    if len(given) > 3:
        raise element.fault(f"{name} of <{element.tag}> has {len(given)} numbers; expected one to three.")
    return (*given, 0.0, 0.0, 0.0)[:3]


def _limit(step: _Step, unit: float) -> None:
    element = step.element
    limited = choice(element, "limited", ("false", "true", "auto"), "auto")
    bounds = numbers(element, "range", 2, (0.0, 0.0))
    wanted = limited == "true" or (
        limited == "auto" and step.scene.settings.automatic_limits and "range" in element.attributes
    )
    if wanted:
        step.scene.assembly.add_limit(Limit(step.name, bounds[0] * unit, bounds[1] * unit, force=_most(step)))
        step.scene.assembly.note_limit("range of <joint>", element)
    elif step.name in step.scene.force_ranges:
        step.scene.assembly.add_limit(Limit(step.name, force=_most(step)))


def _most(step: _Step) -> float | None:
    """The force that actuators may exert on the joint in both directions."""
    bounds = step.scene.force_ranges.get(step.name)
    return None if bounds is None else min(-bounds[0], bounds[1])


def _force_range(step: _Step) -> None:
    """Bounds of what all actuators together do to the joint."""
    low, high = numbers(step.element, "actuatorfrcrange", 2, (0.0, 0.0))
    said = choice(step.element, "actuatorfrclimited", ("false", "true", "auto"), "auto")
    written = "actuatorfrcrange" in step.element.attributes
    if said == "true" or (said == "auto" and step.scene.settings.automatic_limits and written):
        step.scene.force_ranges[step.name] = (low, high)


def _all_around(step: _Step, joint: Joint) -> None:
    """The damping of a ball or free joint, equal in all directions; its other loads and limits are listed."""
    if step.element.tag == "freejoint":
        return
    _list_what_has_one_axis(step)
    if "damper" in step.scene.settings.disabled:
        return
    damping = polynomial(step.element, "damping")
    if any(damping[1:]):
        step.scene.assembly.ledger.note_unmodelled("damping that is not linear in a ball or free joint.", step.element)
    if damping[0]:
        # MuJoCo damps every speed of the joint alike: three turns of a ball, and the translations of a free body too.
        shift = damping[0] if joint.kind.startswith("free") else 0
        name = step.scene.assembly.load_names.fresh(f"{joint.name}.damping")
        around = bushing(name, joint.parent, joint.child, (0,) * 6, (shift,) * 3 + (damping[0],) * 3)
        step.scene.assembly.loads.append(around)


# Attributes that only hinges and slides have here: the flag that switches them off, and what they are.
_OF_ONE_AXIS = {
    "stiffness": ("spring", "springs"),
    "frictionloss": ("frictionloss", "dry friction"),
    "range": ("limit", "limits"),
}


def _list_what_has_one_axis(step: _Step) -> None:
    """Says what of a ball or free joint is not modelled; defaults that hinges read would hide it."""
    element, off = step.element, step.scene.settings.disabled
    for name, (flag, words) in _OF_ONE_AXIS.items():
        if flag not in off and any(number_list(element, name) or ()):
            step.scene.assembly.ledger.note_unmodelled(f"{name} of <joint>: {words} of ball and free joints.", element)
    if "range" in element.attributes:
        element.text("limited")
