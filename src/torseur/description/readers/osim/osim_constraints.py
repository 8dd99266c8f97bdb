"""Constraints: coordinates that follow others, points that stay together, bodies that are welded, distances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from torseur.algebra.graph import as_expr
from torseur.description.mechanism import Distance, Frame, fixed
from torseur.description.mechanism.constraints import point
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
from torseur.description.readers.xml_document import Element
from torseur.errors import unknown_name


def read_constraints(model: Element, scene: Scene) -> None:
    """Adds the constraints that are enforced."""
    for element in objects(model, "ConstraintSet"):
        off = content_switch(element, "isDisabled", False) or not content_switch(element, "isEnforced", True)
        if off:
            element.take()
            scene.assembly.ledger.note_unmodelled(f"<{element.tag}> that is not enforced.", element)
        elif element.tag in _KINDS:
            name = scene.assembly.constraint_names.keep(element.text("name") or element.tag)
            _KINDS[element.tag](element, name, scene)
            element.take()
        elif scene.assembly.options.partial:
            element.take()
            scene.assembly.ledger.note_unmodelled(f"<{element.tag}>: the constraint is left out.", element)
        else:
            raise element.fault(
                unknown_name("constraint", element.tag, list(_KINDS)) + " To read the rest without it: partial=True, "
                "or --partial."
            )


def _coupler(element: Element, name: str, scene: Scene) -> None:
    """A coordinate given by others; in files of OpenSim 2 and 3 only its own equation."""
    words = content_words(element, "independent_coordinate_names")
    dependent = content_text(element, "dependent_coordinate_name")
    if words is None or not words[1] or not dependent:
        raise element.fault("<CoordinateCouplerConstraint> needs independent coordinates and a dependent one.")
    others = [scene.coordinate(one, element) for one in words[1]]
    q = scene.coordinate(dependent, element)
    holder = element.first("coupled_coordinates_function") or element
    formula = read_function(holder, [one.symbol for one in others], name, scene)
    scene.assembly.follow(name, q, content_number(element, "scale_factor", 1.0) * formula)
    # Where it starts follows from the others.
    scene.assembly.initial.pop(q.name, None)


def _frame(element: Element, k: int, scene: Scene, place: tuple[float, ...], turned: tuple[float, ...]) -> Frame:
    base = scene.frames.of_socket(element, (f"socket_frame{k}", f"body_{k}", f"socket_body_{k}"))
    return scene.frames.at(base, place, turned)


_NOTHING = (0.0, 0.0, 0.0)


def _point(element: Element, name: str, scene: Scene) -> None:
    first, second = (
        _frame(element, k, scene, content_numbers(element, f"location_body_{k}", 3, _NOTHING), _NOTHING) for k in (1, 2)
    )
    scene.assembly.joints.append(point(scene.assembly.joint_names.fresh(name), first, second))


def _weld(element: Element, name: str, scene: Scene) -> None:
    first, second = (
        _frame(element, k, scene, content_numbers(element, f"location_body_{k}", 3, _NOTHING),
               content_numbers(element, f"orientation_body_{k}", 3, _NOTHING)) for k in (1, 2)
    )  # fmt: skip
    scene.assembly.joints.append(replace(fixed(scene.assembly.joint_names.fresh(name), first, second), role="loop"))


def _distance(element: Element, name: str, scene: Scene) -> None:
    first, second = (
        scene.frames.at(
            scene.frames.of_socket(element, (f"socket_body{k}", f"socket_body_{k}", f"body_{k}")),
            content_numbers(element, f"location_body_{k}", 3, _NOTHING),
        )
        for k in (1, 2)
    )
    length = as_expr(content_number(element, "constant_distance"))
    scene.assembly.constraints.append(Distance(name, first, second, length))


_KINDS: dict[str, Callable[[Element, str, Scene], None]] = {
    "CoordinateCouplerConstraint": _coupler,
    "PointConstraint": _point,
    "WeldConstraint": _weld,
    "ConstantDistanceConstraint": _distance,
}
