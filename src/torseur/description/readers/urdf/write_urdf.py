"""Writing URDF: trees of links."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.etree import ElementTree

from torseur.algebra.spatial import SAME, Transform
from torseur.description.mechanism import EARTH_NAME, CoordinateSpring, Equation, Frame, Mechanism
from torseur.description.readers.rigid_placement import place_of
from torseur.description.readers.robot_assembly import Names
from torseur.description.readers.robot_file import RobotFile, Shape
from torseur.description.readers.shapes.shape_inertia import central
from torseur.description.readers.urdf import GRAVITY
from torseur.description.readers.writing.coordinate_relations import relation_of
from torseur.description.readers.writing.dry_friction import write_friction
from torseur.description.readers.writing.file_outline import LeftOut, Limb, Outline, outline
from torseur.description.readers.writing.numeric_values import Values
from torseur.description.readers.writing.simple_joints import Follow, Motion, Offset, Step, is_nothing, steps_of
from torseur.description.readers.writing.xml_markup import document, element, roll_pitch_yaw

WORLD = "world"
UNLIMITED = 1e9  # URDF requires limits also where there are none
_KINDS = {"hinge": "continuous", "slide": "prismatic"}
_SIZES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length")}


@dataclass
class _Writer:
    """A file while it is written: the link of each body, and where the body's frame is in the link's."""

    robot: RobotFile
    values: Values
    left: LeftOut
    root: ElementTree.Element
    names: Names
    links: dict[str, str] = field(default_factory=dict)
    frames: dict[str, Transform] = field(default_factory=dict)
    follows: dict[str, Follow] = field(default_factory=dict)
    damping: dict[str, float] = field(default_factory=dict)
    friction: dict[str, float] = field(default_factory=dict)


def urdf_text(robot: RobotFile, left: LeftOut) -> str:
    """The URDF of a robot without loops."""
    mechanism = robot.mechanism
    tree = outline(mechanism, lambda joint: False)
    names = Names("link", tuple(body.name for body in mechanism.bodies))
    writer = _Writer(robot, Values(mechanism), left, element(None, "robot", name=mechanism.name), names)
    writer.friction, written = write_friction(mechanism, writer.values, left)
    _sort_constraints(mechanism, written, writer)
    _sort_loads(mechanism, written, writer)
    _ground(tree, writer)
    for limb in tree.limbs:
        if limb.body not in writer.links:
            _limb(limb, writer)
    _note_the_rest(mechanism, tree, writer)
    return document(writer.root)


def _sort_constraints(mechanism: Mechanism, written: set[str], writer: _Writer) -> None:
    """Coordinates that follow others; URDF has no other constraints."""
    for contact in mechanism.contacts:
        if contact.name not in written:
            writer.left.add(f"contact '{contact.name}'")
    for constraint in mechanism.constraints:
        relation = relation_of(constraint, writer.values) if isinstance(constraint, Equation) else None
        if (
            relation is None
            or relation.second is None
            or len(relation.coefficients) > 2
            or relation.first in writer.follows
        ):
            writer.left.add(f"constraint '{constraint.name}'")
        else:
            writer.follows[relation.first] = Follow(relation.second, relation.coefficients)


def _sort_loads(mechanism: Mechanism, written: set[str], writer: _Writer) -> None:
    """Damping by coordinate, beside dry friction; URDF has no other loads."""
    for load in mechanism.loads:
        if isinstance(load, CoordinateSpring) and load.stiffness.is_zero:
            value = writer.values.number(load.damping, f"load '{load.name}'")
            writer.damping[load.coordinate] = writer.damping.get(load.coordinate, 0.0) + value
        elif load.name not in written:
            writer.left.add(f"load '{load.name}'")


def _ground(tree: Outline, writer: _Writer) -> None:
    """The root link: a body fixed to the earth at its origin if there is one, otherwise the world."""
    for limb in tree.on(EARTH_NAME):
        if not steps_of(limb, writer.values):
            _link(limb.body, limb.body, SAME, writer)
            writer.links[EARTH_NAME], writer.frames[EARTH_NAME] = limb.body, SAME
            return
    name = writer.names.fresh(WORLD)
    element(writer.root, "link", name=name)
    writer.links[EARTH_NAME], writer.frames[EARTH_NAME] = name, SAME


def _limb(limb: Limb, writer: _Writer) -> None:
    """The joints and links on the way to a body; what lies behind its last joint places the body in its link."""
    steps = _with_floating(limb, steps_of(limb, writer.values), writer)
    at, parent = writer.frames[limb.parent], writer.links[limb.parent]
    moving = [step for step in steps if isinstance(step, Motion)]
    for step in steps:
        if isinstance(step, Offset):
            at = at.then(step.place)
            continue
        child = limb.body if step is moving[-1] else writer.names.fresh(f"{step.name}.carrier")
        _joint(step, parent, child, at, writer)
        if child != limb.body:
            element(writer.root, "link", name=child)
        parent, at = child, SAME
    if not moving:
        _fixed(limb.joint.name, parent, limb.body, at, writer)
        at = SAME
    _link(limb.body, limb.body, at, writer)


def _with_floating(limb: Limb, steps: list[Step], writer: _Writer) -> list[Step]:
    """The steps, three slides along x, y, z and a ball made one floating motion."""
    for k in range(len(steps) - 3):
        group = steps[k : k + 4]
        kinds = [step.kind if isinstance(step, Motion) else "" for step in group]
        axes = [tuple(step.axis) for step in group[:3] if isinstance(step, Motion)]
        if kinds == ["slide"] * 3 + ["ball"] and axes == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]:
            return [*steps[:k], Motion("floating", limb.joint.name), *steps[k + 4 :]]
    return steps


def _joint(step: Motion, parent: str, child: str, at: Transform, writer: _Writer) -> None:
    if step.kind == "ball":
        writer.left.add(f"joint '{step.name}', which turns by a quaternion (use three angles),")
    kind = _KINDS.get(step.kind, "floating")
    limit = writer.robot.limit(step.name)
    bounded = limit.lower is not None and limit.upper is not None
    kind = "revolute" if kind == "continuous" and bounded else kind
    joint = element(writer.root, "joint", name=step.name, type=kind)
    _sides(joint, parent, child, at)
    if kind == "floating":
        return
    element(joint, "axis", xyz=step.axis)
    if kind != "continuous" or limit.speed is not None or limit.force is not None:
        bounds = {"lower": limit.lower, "upper": limit.upper, "effort": limit.force, "velocity": limit.speed}
        given = {name: value for name, value in bounds.items() if value is not None}
        required = {"effort": UNLIMITED, "velocity": UNLIMITED}
        if kind == "prismatic":
            required |= {"lower": -UNLIMITED, "upper": UNLIMITED}
        element(joint, "limit", **(required | given))
    losses = {"damping": writer.damping.pop(step.name, None), "friction": writer.friction.pop(step.name, None)}
    if given := {name: value for name, value in losses.items() if value is not None}:
        element(joint, "dynamics", **given)
    follow = step.follows or writer.follows.get(step.name)
    if follow is not None:
        if len(follow.coefficients) > 2:
            writer.left.add(f"how '{step.name}' follows '{follow.coordinate}', which is not linear,")
        constant, factor = (*follow.coefficients, 0.0)[:2]
        element(joint, "mimic", joint=follow.coordinate, multiplier=factor, offset=constant)


def _fixed(name: str, parent: str, child: str, at: Transform, writer: _Writer) -> None:
    _sides(element(writer.root, "joint", name=name, type="fixed"), parent, child, at)


def _sides(joint: ElementTree.Element, parent: str, child: str, at: Transform) -> None:
    _origin(joint, at)
    element(joint, "parent", link=parent)
    element(joint, "child", link=child)


def _origin(parent: ElementTree.Element, at: Transform) -> None:
    if not is_nothing(at):
        element(parent, "origin", xyz=at.position, rpy=roll_pitch_yaw(at))


def _link(body: str, name: str, frame: Transform, writer: _Writer) -> None:
    """The link of a body whose frame is placed in it."""
    writer.links[body], writer.frames[body] = name, frame
    link = element(writer.root, "link", name=name)
    inertia = frame.inertia_to_parent(writer.values.inertia(writer.values.mechanism.body(body)))
    mass, centre, _, matrix = central(inertia)
    if mass or any(matrix):
        inertial = element(link, "inertial")
        element(inertial, "origin", xyz=centre)
        element(inertial, "mass", value=mass)
        entries = zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), matrix, strict=True)
        element(inertial, "inertia", **dict(entries))
    for shape in writer.robot.shapes:
        if shape.body == body:
            _shape(link, shape, frame, writer)


def _shape(link: ElementTree.Element, shape: Shape, frame: Transform, writer: _Writer) -> None:
    if shape.kind != "mesh" and shape.kind not in _SIZES:
        writer.left.note(f"a shape of body '{shape.body}' ({shape.kind})")
        return
    group = element(link, shape.role)
    _origin(group, frame.then(place_of(shape.at)))
    geometry = element(group, "geometry")
    if shape.mesh is not None:
        element(geometry, "mesh", filename=shape.mesh.name, scale=shape.size)
    elif shape.kind == "box":
        element(geometry, "box", size=shape.size)
    else:
        element(geometry, shape.kind, **dict(zip(_SIZES[shape.kind], shape.size, strict=True)))
    if shape.colour is not None:
        element(element(group, "material", name=""), "color", rgba=shape.colour)


def _note_the_rest(mechanism: Mechanism, tree: Outline, writer: _Writer) -> None:
    """Everything else that URDF has no words for."""
    # What was written has left both: the others are of floating joints and of joints that close loops.
    for coordinate in (*writer.damping, *writer.friction):
        writer.left.add(f"the damping or friction along '{coordinate}'")
    for joint in tree.loops:
        writer.left.add(f"joint '{joint.name}', which closes a loop,")
    gravity = tuple(writer.values.number(g, "gravity") for g in mechanism.gravity)
    if gravity != GRAVITY:
        writer.left.add(f"gravity {gravity} m/s^2 (a reader of URDF assumes {GRAVITY})")
    for sensor in mechanism.sensors:
        writer.left.note(f"sensor '{sensor.name}'")
    for name, frame in mechanism.frames:
        _frame(name, frame, writer)
    if mechanism.initial:
        writer.left.note("the initial state")


def _frame(name: str, frame: Frame, writer: _Writer) -> None:
    """A named frame is a link without mass."""
    link = writer.names.fresh(name)
    element(writer.root, "link", name=link)
    at = writer.frames[frame.body].then(writer.values.frame(frame))
    _fixed(f"{link}.fixed", writer.links[frame.body], link, at, writer)
