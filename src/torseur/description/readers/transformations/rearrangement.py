"""Changes to a robot that the user asks for: holding its base or letting it float, merging what is fixed together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from torseur.algebra.graph import as_expr
from torseur.algebra.spatial import SAME, Transform
from torseur.description.mechanism import (
    EARTH,
    EARTH_NAME,
    HERE,
    Body,
    Frame,
    Joint,
    Mechanism,
    fixed,
    inertia,
    placement,
)
from torseur.description.readers.rigid_placement import body_inertia, place_of, placement_of, turn_of_quaternion
from torseur.description.readers.robot_assembly import Assembly
from torseur.description.readers.robot_file import RobotFile, Shape
from torseur.description.readers.shapes.shape_inertia import central
from torseur.description.readers.xml_document import RobotFileError


def hold_base(assembly: Assembly) -> None:
    """Fixes every body that moves freely against the earth where it starts."""
    for k, joint in enumerate(assembly.joints):
        if joint.parent.body == EARTH_NAME and joint.kind == "free_quaternion":
            start = [assembly.initial.pop(q.name, 0.0) for q in joint.coordinates]
            turns = turn_of_quaternion(start[3:]) if any(start[3:]) else ()
            assembly.joints[k] = fixed(joint.name, EARTH.at(start[:3], *turns), joint.child)


def float_base(assembly: Assembly) -> None:
    """Frees the body that is fixed to the earth and carries joints; one that floats already is left alone."""
    on_earth = [
        k for k, joint in enumerate(assembly.joints) if joint.parent.body == EARTH_NAME and joint.role != "loop"
    ]
    if any(assembly.joints[k].kind == "free_quaternion" for k in on_earth):
        return
    carriers = {joint.parent.body for joint in assembly.joints}
    held = [k for k in on_earth if not assembly.joints[k].motions]
    candidates = [k for k in held if assembly.joints[k].child.body in carriers] or held
    if len(candidates) != 1:
        raise RobotFileError(
            f"base='floating' needs one body that is fixed to the earth; here there are {len(candidates)}."
        )
    joint = assembly.joints[candidates[0]]
    assembly.joints[candidates[0]] = assembly.free_joint(joint.name, joint.parent, joint.child)


def merge_fixed(robot: RobotFile) -> RobotFile:
    """The robot with bodies on fixed joints made part of what carries them; they leave frames of their names."""
    mechanism = robot.mechanism
    homes = _homes(mechanism)
    if not homes:
        return robot
    merging = _Merging(mechanism, homes)
    joints = [joint for joint in mechanism.joints if not merging.swallows(joint)]
    left = ((name, Frame(home, placement_of(place))) for name, (home, place) in homes.items())
    merged = replace(
        mechanism,
        bodies=tuple(merging.with_guests(b) for b in mechanism.bodies if b.name not in homes),
        joints=tuple(merging.moved(joint) for joint in joints),
        loads=tuple(merging.moved(load) for load in mechanism.loads),
        constraints=tuple(merging.moved(constraint) for constraint in mechanism.constraints),
        contacts=tuple(merging.moved(element) for element in mechanism.contacts),
        frames=(*((name, merging.frame(frame)) for name, frame in mechanism.frames), *left),
    )
    return replace(robot, mechanism=merged, shapes=tuple(merging.shape(shape) for shape in robot.shapes))


Homes = Mapping[str, tuple[str, Transform]]


def _homes(mechanism: Mechanism) -> Homes:
    """Where each body that merges goes: the body (or the earth) it becomes part of, and its place there."""
    weighed = {b.name for b in mechanism.bodies if b.mass is not None}
    carried = {
        joint.child.body: (
            joint.parent.body,
            place_of(joint.parent.placement).then(place_of(joint.child.placement).inverse),
        )
        for joint in mechanism.joints
        if not joint.motions and joint.role != "loop" and joint.child.body in weighed
    }
    homes: dict[str, tuple[str, Transform]] = {}
    for name, (home, place) in carried.items():
        while home in carried:
            home, step = carried[home]
            place = step.then(place)
        homes[name] = (home, place)
    return homes


@dataclass(frozen=True)
class _Merging:
    """Moves what refers to bodies that merge."""

    mechanism: Mechanism
    homes: Homes

    def swallows(self, joint: Joint) -> bool:
        return not joint.motions and joint.role != "loop" and joint.child.body in self.homes

    def frame(self, frame: Frame) -> Frame:
        """The same frame, placed from a body that stays."""
        home, place = self.homes.get(frame.body, (frame.body, SAME))
        if frame.base == "frame" and home == frame.body:
            return frame
        if frame.base == "iframe":
            place = place.then(place_of(self.mechanism.body(frame.body).iframe or HERE))
        return Frame(home, placement_of(place.then(place_of(frame.placement))))

    def moved(self, thing: Any) -> Any:
        """A joint, load or constraint with its frames moved."""
        changes = {name: self.frame(value) for name, value in vars(thing).items() if isinstance(value, Frame)}
        return replace(thing, **changes)

    def shape(self, shape: Shape) -> Shape:
        moved = self.frame(Frame(shape.body, shape.at))
        return replace(shape, body=moved.body, at=moved.placement)

    def with_guests(self, host: Body) -> Body:
        """A body with the mass of all that merges into it."""
        guests = [(name, place) for name, (home, place) in self.homes.items() if home == host.name]
        if not guests or host.mass is None:
            return host
        total = body_inertia(host)
        for name, place in guests:
            total = total + place.inertia_to_parent(body_inertia(self.mechanism.body(name)))
        mass, centre, _, matrix = central(total)
        return replace(host, mass=as_expr(mass), iframe=placement(centre), inertia=inertia(*matrix))
