"""Writing MJCF: trees of bodies, and loops as equality constraints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from xml.etree import ElementTree

from torseur.algebra.graph import as_expr
from torseur.algebra.spatial import SAME, Rotation, Transform, Vec3, from_quaternion
from torseur.description.mechanism import (
    EARTH,
    EARTH_NAME,
    AppliedWrench,
    Bushing,
    CoordinateSpring,
    Distance,
    Equation,
    Frame,
    Joint,
    Mechanism,
    PointSpring,
)
from torseur.description.readers.mjcf.writing.mjcf_body_stages import Hinge, Stage, stages_of
from torseur.description.readers.mjcf.writing.mjcf_shapes import ShapeWriter, pose
from torseur.description.readers.rigid_placement import impossibility, principal
from torseur.description.readers.robot_assembly import Names
from torseur.description.readers.robot_file import RobotFile
from torseur.description.readers.shapes.shape_inertia import central
from torseur.description.readers.writing.coordinate_relations import relation_of
from torseur.description.readers.writing.dry_friction import write_friction
from torseur.description.readers.writing.file_outline import LeftOut, Outline, outline
from torseur.description.readers.writing.numeric_values import Values
from torseur.description.readers.writing.simple_joints import Follow, Motion, Offset, joint_steps
from torseur.description.readers.writing.xml_markup import Value, document, element
from torseur.errors import UnsupportedError

# Joints that close loops as pairs of points or frames that MuJoCo holds together.
ROTATIONS = {0: "weld", 1: "connect", 3: "connect"}


@dataclass(frozen=True)
class Closure:
    """An equality constraint (connect or weld) between a frame of the joint's parent and one of its child."""

    kind: str
    first: Transform
    second: Transform


def can_close(joint: Joint) -> bool:
    """Whether MuJoCo can close a loop with the joint: it only turns, not at all, about one axis, or any way."""
    kinds = [motion.kind for motion in joint.motions]
    if kinds == ["quaternion"]:
        return True
    return (
        all(kind == "rotation" for kind in kinds) and len(kinds) in ROTATIONS and len(kinds) == len(joint.coordinates)
    )


def closures(joint: Joint, values: Values) -> list[Closure]:
    """The constraints that close a loop with the joint; a hinge is two points of its axis, one metre apart."""
    steps = joint_steps(joint, values)
    near, far = values.frame(joint.parent), values.frame(joint.child)
    turns = [step for step in steps if isinstance(step, Motion)]
    for step in steps:
        if isinstance(step, Offset):
            near = near.then(step.place)
    kind = "connect" if turns else "weld"
    points = [SAME] if len(turns) != 1 or turns[0].kind == "ball" else [SAME, Transform(Rotation(), turns[0].axis)]
    return [Closure(kind, near.then(point), far.then(point)) for point in points]


@dataclass
class _Writer:
    """A file while it is written: the element of each body, where bodies are at zero, springs by coordinate."""

    robot: RobotFile
    values: Values
    left: LeftOut
    root: ElementTree.Element
    shapes: ShapeWriter
    bodies: dict[str, ElementTree.Element] = field(default_factory=dict)
    places: dict[str, Transform] = field(default_factory=lambda: {EARTH_NAME: SAME})
    names: Names = field(default_factory=lambda: Names("body", ("world",)))
    sites: Names = field(default_factory=lambda: Names("site"))
    springs: dict[str, CoordinateSpring] = field(default_factory=dict)
    follows: dict[str, Follow] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    moved: list[tuple[str, Motion]] = field(default_factory=list)
    dampers: dict[str, float] = field(default_factory=dict)
    lifted: dict[str, float] = field(default_factory=dict)
    friction: dict[str, float] = field(default_factory=dict)

    def section(self, tag: str) -> ElementTree.Element:
        section = self.root.find(tag)
        return section if section is not None else element(self.root, tag)

    def shapes_of(self, body: str) -> None:
        for shape in self.robot.shapes:
            if shape.body == body:
                self.shapes.add(self.bodies[body], shape)

    def site(self, body: str, at: Transform, name: str) -> str:
        """A new site of a body."""
        given = self.sites.fresh(name)
        element(self.bodies[body], "site", name=given, **pose(at))
        return given


def mjcf_text(robot: RobotFile, left: LeftOut) -> str:
    """The MJCF of a robot."""
    mechanism = robot.mechanism
    values = Values(mechanism)
    tree = outline(mechanism, can_close)
    root = element(None, "mujoco", model=mechanism.name)
    writer = _Writer(robot, values, left, root, ShapeWriter(root, left))
    element(writer.root, "compiler", angle="radian", autolimits="true")
    element(writer.root, "option", gravity=values.vector(mechanism.gravity, "gravity"))
    writer.bodies[EARTH_NAME] = element(writer.root, "worldbody")
    writer.shapes_of(EARTH_NAME)
    writer.friction, written = write_friction(mechanism, values, left)
    _sort_springs(mechanism, written, writer)
    for stage in stages_of(tree, _bodies_referred_to(robot, tree), values):
        _stage(stage, writer)
    # What was written has left both: the others are of free bodies and of joints that close loops.
    for coordinate in (*writer.springs, *writer.friction):
        left.add(f"the spring, damper or friction along '{coordinate}'")
    for name, frame in mechanism.frames:
        writer.site(frame.body, values.frame(frame), name)
    _close_loops(tree, writer)
    _constraints(mechanism, written, writer)
    _tendons(mechanism, writer)
    _initial_state(mechanism, writer)
    for sensor in mechanism.sensors:
        left.note(f"sensor '{sensor.name}'")
    return document(writer.root)


def _bodies_referred_to(robot: RobotFile, tree: Outline) -> set[str]:
    """Bodies that something else than their joints refers to."""
    mechanism = robot.mechanism
    frames = [frame for _, frame in mechanism.frames]
    things = [*mechanism.loads, *mechanism.constraints, *mechanism.sensors, *tree.loops]
    frames += [value for thing in things for value in vars(thing).values() if isinstance(value, Frame)]
    return {frame.body for frame in frames} | {shape.body for shape in robot.shapes}


def _sort_springs(mechanism: Mechanism, written: set[str], writer: _Writer) -> None:
    """Springs and dampers by coordinate, dampers of balls by joint, lifted weights by body; tendons come later."""
    for load in mechanism.loads:
        if isinstance(load, CoordinateSpring) and (spring := _beside(writer.springs.get(load.coordinate), load)):
            writer.springs[load.coordinate] = spring
        elif isinstance(load, Bushing) and (ball := _ball_damped_by(load, mechanism, writer)) is not None:
            writer.dampers[ball.name] = writer.values.number(load.damping[3], f"load '{load.name}'")
        elif isinstance(load, AppliedWrench) and (part := _lifted_part(load, mechanism, writer.values)) is not None:
            writer.lifted[load.on.body] = writer.lifted.get(load.on.body, 0.0) + part
        elif load.name not in written and not (isinstance(load, PointSpring) and load.law is None):
            writer.left.add(f"load '{load.name}'")


def _beside(known: CoordinateSpring | None, load: CoordinateSpring) -> CoordinateSpring | None:
    """One spring for both on a coordinate, such as the dampers of a joint and of one that follows it; None for two
    springs, which have two rests."""
    if known is None:
        return load
    if not (known.stiffness.is_zero or load.stiffness.is_zero):
        return None
    spring = load if known.stiffness.is_zero else known
    return replace(spring, damping=known.damping + load.damping)


def _ball_damped_by(load: Bushing, mechanism: Mechanism, writer: _Writer) -> Joint | None:
    """The ball or free joint that a bushing without stiffness damps in all directions alike."""
    for joint in mechanism.joints:
        if (load.first, load.second) == (joint.parent, joint.child) and joint.name not in writer.dampers:
            turning = load.damping[3]
            shift = turning if len(joint.motions) == 4 else as_expr(0)
            alike = load.damping == (*[shift] * 3, *[turning] * 3) and all(k.is_zero for k in load.stiffness)
            kinds = [motion.kind for motion in joint.motions]
            return joint if alike and kinds in (["quaternion"], ["translation"] * 3 + ["quaternion"]) else None
    return None


def _lifted_part(load: AppliedWrench, mechanism: Mechanism, values: Values) -> float | None:
    """The part of a body's weight that a force at its mass centre carries; None when it is another force."""
    at_centre = load.on == Frame(load.on.body, base="iframe") and load.axes == EARTH
    if not at_centre or any(not c.is_zero for c in load.moment):
        return None
    try:
        force = values.vector(load.force, f"load '{load.name}'")
    except UnsupportedError:  # it changes with the motion
        return None
    weight = values.vector(mechanism.gravity, "gravity") * values.inertia(mechanism.body(load.on.body)).mass
    part = -force.dot(weight) / weight.dot(weight) if weight.dot(weight) else 0.0
    rest = force + weight * part
    return float(part) if rest.dot(rest) <= 1e-24 * force.dot(force) else None


def _stage(stage: Stage, writer: _Writer) -> None:
    place = stage.place
    writer.places[stage.body] = writer.places[stage.parent].then(place)
    lifted: dict[str, Value] = {"gravcomp": writer.lifted[stage.body]} if stage.body in writer.lifted else {}
    body = element(writer.bodies[stage.parent], "body", name=writer.names.fresh(stage.body), **pose(place), **lifted)
    writer.bodies[stage.body] = body
    if stage.is_free:
        name = stage.motions[-1].name
        damped: dict[str, Value] = {"type": "free", "damping": writer.dampers[name]} if name in writer.dampers else {}
        element(body, "joint" if damped else "freejoint", name=name, **damped)
        coordinates = tuple(name for motion in stage.motions for name in motion.coordinates)
        writer.order += coordinates
        writer.moved.append(("free", replace(stage.motions[-1], coordinates=coordinates)))
    else:
        for hinge in stage.hinges():
            _joint(body, hinge, writer)
    mass, centre, _, matrix = central(writer.values.inertia(writer.values.mechanism.body(stage.body)))
    if mass or any(matrix):
        reason = impossibility(mass, matrix)
        if reason is not None:
            writer.left.add(f"the inertia of body '{stage.body}', which MuJoCo refuses ({reason.rstrip('.')}),")
        moments, axes = principal(mass, matrix)
        element(body, "inertial", pos=centre, quat=axes, mass=mass, diaginertia=moments)
    writer.shapes_of(stage.body)


def _joint(body: ElementTree.Element, hinge: Hinge, writer: _Writer) -> None:
    motion = hinge.motion
    writer.order += motion.coordinates or (motion.name,)
    writer.moved.append((motion.kind, motion))
    attributes = {"axis": hinge.axis, **_joint_values(motion.name, writer)}
    if motion.kind == "ball":
        attributes = {"damping": writer.dampers[motion.name]} if motion.name in writer.dampers else {}
    element(body, "joint", name=motion.name, type=motion.kind, pos=hinge.point, **attributes)
    if motion.follows is not None:
        writer.follows[motion.name] = motion.follows


def _joint_values(name: str, writer: _Writer) -> dict[str, Value]:
    """Limits, rotor inertia, spring, damper and dry friction of a joint."""
    values: dict[str, Value] = {}
    limit, armature = writer.robot.limit(name), dict(writer.robot.armatures).get(name)
    if limit.lower is not None and limit.upper is not None:
        values["range"] = (limit.lower, limit.upper)
    elif limit.lower is not None or limit.upper is not None:
        writer.left.note(f"the limit of joint '{name}' on one side")
    if limit.force is not None:
        values["actuatorfrcrange"] = (-limit.force, limit.force)
    if limit.speed is not None:
        writer.left.note("a limit of speed")
    if armature is not None:
        values["armature"] = armature
    if name in writer.friction:
        values["frictionloss"] = writer.friction.pop(name)
    spring = writer.springs.pop(name, None)
    if spring is not None:
        parts = {"stiffness": spring.stiffness, "springref": spring.rest, "damping": spring.damping}
        values |= {key: writer.values.number(value, f"load '{spring.name}'") for key, value in parts.items()}
    return values


def _close_loops(tree: Outline, writer: _Writer) -> None:
    for joint in tree.loops:
        if not can_close(joint):
            writer.left.add(f"joint '{joint.name}', which closes a loop and is neither fixed, a hinge nor a ball,")
            continue
        for k, closure in enumerate(closures(joint, writer.values)):
            name = joint.name if k == 0 else f"{joint.name}.{k + 1}"
            first = writer.site(joint.parent.body, closure.first, f"{name}.parent")
            second = writer.site(joint.child.body, closure.second, f"{name}.child")
            element(writer.section("equality"), closure.kind, name=name, site1=first, site2=second)


def _constraints(mechanism: Mechanism, written: set[str], writer: _Writer) -> None:
    for name, follow in writer.follows.items():
        polynomial = (*follow.coefficients, 0, 0, 0, 0)[:5]
        element(writer.section("equality"), "joint", joint1=name, joint2=follow.coordinate, polycoef=polynomial)
    for contact in mechanism.contacts:
        if contact.name not in written:
            writer.left.add(f"contact '{contact.name}'")
    for constraint in mechanism.constraints:
        relation = relation_of(constraint, writer.values) if isinstance(constraint, Equation) else None
        if relation is not None:
            second = {} if relation.second is None else {"joint2": relation.second}
            coefficients = (*relation.coefficients, 0, 0, 0, 0)[:5]
            equality = writer.section("equality")
            element(equality, "joint", name=constraint.name, joint1=relation.first, polycoef=coefficients, **second)
        elif isinstance(constraint, Distance):
            _distance(constraint, writer)
        else:
            writer.left.add(f"constraint '{constraint.name}'")


def _distance(constraint: Distance, writer: _Writer) -> None:
    """A straight tendon whose length differs by a constant from the one it has at zero."""
    first, second = (_origin(frame, writer) for frame in (constraint.first, constraint.second))
    span = second.position - first.position
    at_zero = float(span.dot(span)) ** 0.5
    wanted = writer.values.number(constraint.value, f"constraint '{constraint.name}'")
    tendon = _tendon(constraint.name, constraint.first, constraint.second, writer)
    # An equality of tendons holds the change of length from the one at zero, not the length.
    polynomial = (wanted - at_zero, 0, 0, 0, 0)
    element(
        writer.section("equality"), "tendon", name=constraint.name, tendon1=tendon.get("name", ""), polycoef=polynomial
    )


def _origin(frame: Frame, writer: _Writer) -> Transform:
    return writer.places[frame.body].then(writer.values.frame(frame))


def _tendon(name: str, first: Frame, second: Frame, writer: _Writer, **attributes: float) -> ElementTree.Element:
    tendon = element(writer.section("tendon"), "spatial", name=name, **attributes)
    for frame, side in ((first, "first"), (second, "second")):
        element(tendon, "site", site=writer.site(frame.body, writer.values.frame(frame), f"{name}.{side}"))
    return tendon


def _tendons(mechanism: Mechanism, writer: _Writer) -> None:
    for load in mechanism.loads:
        if isinstance(load, PointSpring) and load.law is None:
            parts = {"stiffness": load.stiffness, "damping": load.damping, "springlength": load.rest}
            values = {name: writer.values.number(value, f"load '{load.name}'") for name, value in parts.items()}
            _tendon(load.name, load.first, load.second, writer, **values)


def _initial_state(mechanism: Mechanism, writer: _Writer) -> None:
    """A keyframe called initial."""
    if not mechanism.initial:
        return
    given = {name: writer.values.number(value, f"the initial value of {name}") for name, value in mechanism.initial}
    scalars = {c.name for j in mechanism.joints for c in j.coordinates if c.unit == "1"}
    start = dict(zip(writer.order, _fill_defaults(writer.order, given, scalars), strict=True))
    speeds = {name: value for name, value in given.items() if name not in writer.order}
    for _, motion in writer.moved:
        if motion.follows is not None:
            start[motion.name] = motion.follows.value(start.get(motion.follows.coordinate, 0.0))
    velocities = [v for kind, motion in writer.moved for v in _velocities(kind, motion, speeds, {**given, **start})]
    for name in speeds:
        writer.left.note(f"the initial value of {name}")
    moving: dict[str, Value] = {"qvel": velocities} if any(velocities) else {}
    element(element(writer.root, "keyframe"), "key", name="initial", qpos=list(start.values()), **moving)


def _velocities(kind: str, motion: Motion, speeds: dict[str, float], given: dict[str, float]) -> list[float]:
    """The speeds of a joint as MuJoCo counts them, taken out of those that are given.

    A ball's are its angular velocity in its own axes; a free body has the velocity along the world's axes before them.
    """
    if kind not in ("free", "ball"):
        if motion.follows is not None:
            leader = motion.follows.coordinate
            return [given.get(f"{leader}'", 0.0) * motion.follows.derivative(given.get(leader, 0.0))]
        return [speeds.pop(f"{motion.name}'", 0.0)]
    turning = [speeds.pop(f"{motion.name}.w{axis}", 0.0) for axis in "xyz"]
    if kind == "ball":
        return turning
    rates = Vec3(*(speeds.pop(f"{name}'", 0.0) for name in motion.coordinates[:3]))
    own = Vec3(*(speeds.pop(f"{motion.name}.v{axis}", 0.0) for axis in "xyz"))
    turned = from_quaternion(*(given[name] for name in motion.coordinates[3:]))
    return [float(c) for c in (*(rates + turned.to_parent(own)), *turning)]


def _fill_defaults(order: list[str], given: dict[str, float], quaternions: set[str]) -> Iterator[float]:
    """Values in the order of the file; a quaternion of which nothing is given does not turn."""
    first = True
    for name in order:
        if name in quaternions:
            yield given.get(name, 1.0 if first and not any(n in given for n in quaternions) else 0.0)
            first = False
        else:
            first = True
            yield given.get(name, 0.0)
