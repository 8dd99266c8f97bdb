"""Joints with their coordinates: default values, ranges, and those that are locked or prescribed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from torseur.algebra.graph import Expr, as_expr, scalar, symbols_of
from torseur.description.mechanism import (
    Coordinate,
    ElementaryMotion,
    Frame,
    Joint,
    rotation,
    sequence,
    translation,
)
from torseur.description.readers.attribute_numbers import (
    content_number,
    content_numbers,
    content_switch,
    content_text,
    content_words,
)
from torseur.description.readers.osim.osim_frames import objects
from torseur.description.readers.osim.osim_functions import read_function
from torseur.description.readers.osim.osim_scene import Scene
from torseur.description.readers.robot_file import Limit
from torseur.description.readers.xml_document import Element
from torseur.errors import unknown_name

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
ANGLE, LENGTH = "rad", "m"
_AXES = ("rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3")


@dataclass(frozen=True)
class _Reading:
    """A joint while it is read: its element, its name here and the elements of its coordinates."""

    element: Element
    name: str
    given: list[Element]
    scene: Scene

    def coordinates(self, units: list[str]) -> list[Coordinate]:
        """The joint's coordinates, as many as it has; OpenSim names those that the file does not."""
        made = []
        for k, unit in enumerate(units):
            known = self.given[k].text("name") if k < len(self.given) else None
            original = known or f"{self.element.text('name') or self.name}_coord_{k}"
            q = self.scene.assembly.coordinate(original, unit)
            if original in self.scene.coordinates:
                raise self.element.fault(f"two coordinates are called '{original}'.")
            self.scene.coordinates[original] = q
            made.append(q)
        if len(self.given) > len(units):
            extra = self.given[len(units)]
            raise extra.fault(f"<{self.element.tag}> has {len(units)} coordinates, the file gives {len(self.given)}.")
        return made


Motion = tuple[list[Coordinate], list[ElementaryMotion]]


def read_joint(element: Element, scene: Scene) -> None:
    """Adds a joint with the values, ranges and locks of its coordinates."""
    if element.tag not in JOINTS:
        if not scene.assembly.options.partial:
            raise element.fault(
                unknown_name("joint", element.tag, list(JOINTS)) + " To read the rest, with its bodies held where they "
                "are: partial=True, or --partial."
            )
        scene.assembly.ledger.note_unmodelled(f"<{element.tag}>: its bodies are held together.", element)
    name = scene.assembly.joint_names.keep(element.text("name") or element.tag)
    parent, child = _sides(element, scene)
    if parent.body == child.body:
        raise element.fault(f"joint '{name}' joins body '{parent.body}' to itself.")
    if content_switch(element, "reverse", False):
        parent, child = child, parent
    reading = _Reading(element, name, _coordinate_elements(element), scene)
    coordinates, motions = JOINTS.get(element.tag, _weld)(reading)
    joint = sequence(name, parent, child, coordinates, motions, kind="link" if motions else "fixed")
    scene.assembly.joints.append(joint)
    for given, q in zip(reading.given, coordinates, strict=False):
        _values(given, q, joint, scene)
    element.take()


def _coordinate_elements(element: Element) -> list[Element]:
    """In <coordinates>, or in a <CoordinateSet> of files of OpenSim 3."""
    here = [child for group in element.all("coordinates") for child in group.all("Coordinate")]
    return here or [child for child in objects(element, "CoordinateSet") if child.tag == "Coordinate"]


def _sides(element: Element, scene: Scene) -> tuple[Frame, Frame]:
    """The frames of parent and child: sockets, or in files of OpenSim 3 the body around the joint and its parent."""
    frames = scene.frames
    if content_text(element, "parent_body") is not None:
        nothing = (0.0, 0.0, 0.0)
        sides = []
        for tag, suffix in (("parent_body", "_in_parent"), ("child_body", "")):
            base = frames.of_socket(element, (tag,)) if tag == "parent_body" else _around(element, scene)
            sides.append(frames.at(
                base, content_numbers(element, f"location{suffix}", 3, nothing),
                content_numbers(element, f"orientation{suffix}", 3, nothing),
            ))  # fmt: skip
        return sides[0], sides[1]
    parent = frames.of_socket(element, ("socket_parent_frame", "socket_parent_frame_connectee_name"))
    child = frames.of_socket(element, ("socket_child_frame", "socket_child_frame_connectee_name"))
    return parent, child


def _around(element: Element, scene: Scene) -> Frame:
    """The body that a joint stands in."""
    name = scene.bodies_of_joints.get(id(element))
    if name is None:
        raise element.fault(f"<{element.tag}> has a parent body but stands in no <Body>.")
    return scene.frames.find(name, element)


def _values(given: Element, q: Coordinate, joint: Joint, scene: Scene) -> None:
    """Where a coordinate starts, what holds it, and its range."""
    assembly = scene.assembly
    start = content_number(given, "default_value", 0.0)
    assembly.initial[q.name] = start
    if content_switch(given, "locked", False):
        assembly.follow(f"{q.name}_locked", q, as_expr(start))
        assembly.ledger.note_assumption(f"coordinate '{q.name}' is locked at {start:g}, as the file says.", given)
    elif content_switch(given, "prescribed", False):
        assembly.ledger.note_unmodelled(f"coordinate '{q.name}' is prescribed by a function: it moves freely.", given)
    words = content_words(given, "range")
    if words is None or len(words[1]) != 2 or len(joint.coordinates) != 1:
        return
    low, high = content_numbers(given, "range", 2)
    if content_switch(given, "clamped", False) and low < high:
        assembly.add_limit(Limit(joint.name, low, high))
        assembly.note_limit("range of <Coordinate>", given)


def _weld(r: _Reading) -> Motion:
    return [], []


def _pin(r: _Reading) -> Motion:
    q = r.coordinates([ANGLE])
    return q, [rotation(Z, q[0].symbol)]


def _slider(r: _Reading) -> Motion:
    q = r.coordinates([LENGTH])
    return q, [translation(X, q[0].symbol)]


def _universal(r: _Reading) -> Motion:
    q = r.coordinates([ANGLE] * 2)
    return q, [rotation(X, q[0].symbol), rotation(Y, q[1].symbol)]


def _turns(q: list[Coordinate]) -> list[ElementaryMotion]:
    """About x, y and z of the turned frame, one after the other."""
    return [rotation(axis, one.symbol) for axis, one in zip((X, Y, Z), q, strict=True)]


def _ball(r: _Reading) -> Motion:
    q = r.coordinates([ANGLE] * 3)
    return q, _turns(q)


def _free(r: _Reading) -> Motion:
    q = r.coordinates([ANGLE] * 3 + [LENGTH] * 3)
    moves = [translation(axis, one.symbol) for axis, one in zip((X, Y, Z), q[3:], strict=True)]
    return q, [*moves, *_turns(q[:3])]


def _planar(r: _Reading) -> Motion:
    q = r.coordinates([ANGLE, LENGTH, LENGTH])
    return q, [translation(X, q[1].symbol), translation(Y, q[2].symbol), rotation(Z, q[0].symbol)]


def _ellipsoid(r: _Reading) -> Motion:
    """The child's origin moves on an ellipsoid, its z axis across the surface."""
    q = r.coordinates([ANGLE] * 3)
    radii = content_numbers(r.element, "radii_x_y_z", 3)
    a, b = q[0].symbol, q[1].symbol
    # The third column of Rx(a) Ry(b) Rz(c).
    z = (scalar.sin(b), -scalar.sin(a) * scalar.cos(b), scalar.cos(a) * scalar.cos(b))
    moves = [translation(axis, radius * n) for axis, radius, n in zip((X, Y, Z), radii, z, strict=True)]
    return q, [*moves, *_turns(q)]


def _custom(r: _Reading) -> Motion:
    """Turns about three axes after moves along three, each a function of coordinates."""
    transform = r.element.first("SpatialTransform")
    axes = {} if transform is None else {
        axis.text("name") or "": axis for axis in transform.all("TransformAxis")
    }  # fmt: skip
    unknown = [name for name in axes if name not in _AXES]
    if unknown:
        raise axes[unknown[0]].fault(unknown_name("axis of a <SpatialTransform>", unknown[0], _AXES))
    q = r.coordinates([_unit(given, axes) for given in r.given])
    used = {name for axis in axes.values() for name in _names(axis)}
    idle = [one for one in q if one.name not in used and (one.name in r.scene.coordinates)]
    motions = {name: _motion(name, axis, r) for name, axis in axes.items()}
    order = (*_AXES[3:], *_AXES[:3])
    moves = [motions[name] for name in order if name in motions and motions[name] is not None]
    acting = {x for motion in moves if motion for x in symbols_of([motion.amount])}
    for one in (one for one in q if one.symbol not in acting):
        raise r.element.fault(f"coordinate '{one.name}' of joint '{r.name}' moves nothing{_hint(idle)}.")
    return q, [motion for motion in moves if motion]


def _hint(idle: list[Coordinate]) -> str:
    return ": no <TransformAxis> names it" if idle else ""


def _names(axis: Element) -> list[str]:
    words = content_words(axis, "coordinates")
    return [] if words is None else words[1]


def _unit(given: Element, axes: dict[str, Element]) -> str:
    """A coordinate that turns about an axis is an angle, even where others move with it."""
    name = given.text("name") or ""
    turning = [axes[key] for key in _AXES[:3] if key in axes and name in _names(axes[key])]
    moving = [axes[key] for key in _AXES[3:] if key in axes and name in _names(axes[key])]
    return LENGTH if moving and not turning else ANGLE


def _motion(name: str, axis: Element, r: _Reading) -> ElementaryMotion | None:
    """A turn or a move by a function; none where that is zero."""
    q = r.scene.symbols(_names(axis), axis)
    amount: Expr = read_function(axis, q, f"{r.name}_{name}", r.scene)
    direction = content_numbers(axis, "axis", 3)
    if not any(direction) or not math.isfinite(sum(direction)):
        raise axis.fault(f"the axis of {name} of joint '{r.name}' is zero.")
    if amount.is_zero:
        return None
    return (rotation if name.startswith("rotation") else translation)(direction, amount)


JOINTS: dict[str, Callable[[_Reading], Motion]] = {
    "WeldJoint": _weld,
    "PinJoint": _pin,
    "SliderJoint": _slider,
    "UniversalJoint": _universal,
    "BallJoint": _ball,
    "GimbalJoint": _ball,
    "FreeJoint": _free,
    "PlanarJoint": _planar,
    "EllipsoidJoint": _ellipsoid,
    "CustomJoint": _custom,
}
