"""Muscles as lines through their points, each pulled by a tension that is a parameter; other forces are listed."""

from __future__ import annotations

from torseur.algebra.graph import evaluate
from torseur.description.elements import line
from torseur.description.mechanism import Frame, parameter
from torseur.description.readers.attribute_numbers import (
    content_number,
    content_numbers,
    content_switch,
    content_text,
)
from torseur.description.readers.osim.osim_frames import objects
from torseur.description.readers.osim.osim_functions import read_function
from torseur.description.readers.osim.osim_scene import Scene
from torseur.description.readers.robot_file import Control
from torseur.description.readers.xml_document import Element

_POINTS = ("PathPoint", "ConditionalPathPoint", "MusclePoint", "MuscleViaPoint")
_MOVING = ("MovingPathPoint", "MovingMusclePoint")


def read_lines(model: Element, scene: Scene) -> None:
    """A line for every muscle, with its tension as a control; what else acts is listed."""
    for number, element in enumerate(objects(model, "ForceSet")):
        path = element.first("GeometryPath")
        if path is None or element.tag in ("Ligament", "PathSpring"):
            scene.assembly.ledger.note_unmodelled(f"<{element.tag}> acts on nothing here.", element)
        elif content_switch(element, "isDisabled", False) or not content_switch(element, "appliesForce", True):
            scene.assembly.ledger.note_unmodelled(f"<{element.tag}> that is switched off.", element)
        else:
            _muscle(element, path, number, scene)
        element.take()


def _muscle(element: Element, path: Element, number: int, scene: Scene) -> None:
    name = element.text("name") or element.tag
    through = [frame for frame in (_place(point, scene) for point in _points(path)) if frame is not None]
    through = _between_bodies(through)
    if len(through) < 2:
        scene.assembly.ledger.note_unmodelled("muscles that pass no joint pull nothing.", element)
        return
    if objects(path, "PathWrapSet") or objects(path, "MuscleWrapSet"):
        scene.assembly.ledger.note_unmodelled(
            "surfaces that muscles pass over: muscles go straight from point to point.", element
        )
    made = line(scene.assembly.load_names.keep(name), through)
    tension = parameter(scene.tensions.fresh(f"{name}.tension"), 0, "N", f"tension of {name}")
    scene.assembly.parameters.append(tension)
    scene.assembly.sensors += made.sensors
    scene.assembly.loads += made.loads(tension.symbol, fresh=scene.assembly.load_names.fresh)
    most = content_number(element, "max_isometric_force", -1.0)
    scene.assembly.controls.append(Control(name, tension.name, number, 0.0, most if most > 0 else None))


def _points(path: Element) -> list[Element]:
    path_points = objects(path, "PathPointSet") + objects(path, "MusclePointSet")
    return [point for point in path_points if point.tag in (*_POINTS, *_MOVING)]


def _place(point: Element, scene: Scene) -> Frame | None:
    """The place of a point; None where it is not in the model's default posture."""
    base = scene.frames.of_socket(point, ("socket_parent_frame", "socket_body", "body"))
    if point.tag in ("ConditionalPathPoint", "MuscleViaPoint"):
        named = content_text(point, "socket_coordinate") or content_text(point, "coordinate")
        there = True
        if named:
            low, high = content_numbers(point, "range", 2)
            there = low <= scene.start(named, point) <= high
        scene.assembly.ledger.note_assumption(
            "points that a muscle has in some postures alone stay, or stay away, as in the model's default posture.",
            point,
        )
        return scene.frames.at(base, content_numbers(point, "location", 3)) if there else None
    if point.tag in _MOVING:
        scene.assembly.ledger.note_assumption(
            "points of muscles that glide on their body stay where they are in the model's default posture.", point
        )
        return scene.frames.at(base, [_path_coordinate(point, axis, scene) for axis in "xyz"])
    return scene.frames.at(base, content_numbers(point, "location", 3))


def _path_coordinate(point: Element, axis: str, scene: Scene) -> float:
    """A component of a gliding point's place in the default posture."""
    place = point.first(f"{axis}_location")
    named = content_text(point, f"socket_{axis}_coordinate") or content_text(point, f"{axis}_coordinate")
    if place is None:
        raise point.fault(f"<{point.tag}> needs <{axis}_location>.")
    q = scene.symbols([named] if named else [], point)
    value = read_function(place, q, f"{point.text('name') or 'point'}_{axis}", scene)
    at = {} if not named else {q[0]: scene.start(named, point)}
    return float(evaluate([value], at)[0])


def _between_bodies(through: list[Frame]) -> list[Frame]:
    """Without stretches inside one body at the ends, which pull nothing."""
    while len(through) > 1 and through[0].body == through[1].body:
        through = through[1:]
    while len(through) > 1 and through[-1].body == through[-2].body:
        through = through[:-1]
    return through
