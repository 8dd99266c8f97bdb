"""A scene as plain data for the viewer's scripts; names in it are text and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torseur.presentation.scene.overlays import Overlay, overlay_data
from torseur.presentation.scene.palette import CONTACT, ELEMENT, GROUND, Colour, body_colour
from torseur.presentation.scene.scene import Body, Element, View
from torseur.presentation.scene.shapes import describe, paint_data

ELEMENT_COLOUR = "--element"


def scene_data(
    bodies: Sequence[Body], elements: Sequence[Element], overlays: Sequence[Overlay], view: View
) -> dict[str, Any]:
    """Bodies, what stretches between them, overlays and the first view."""
    numbers = {body.name: number for number, body in enumerate(bodies)}
    return {
        "bodies": [
            {"name": b.name, "colour": f"--body-{n}", "fixed": b.fixed, "shapes": [describe(s) for s in b.shapes]}
            for n, b in enumerate(bodies)
        ],
        "elements": [_element(element, numbers) for element in elements],
        "overlays": [overlay_data(overlay, number) for number, overlay in enumerate(overlays)],
        "view": {
            "up": view.up,
            "azimuth": view.azimuth,
            "elevation": view.elevation,
            "start": view.start,
            "floor": view.floor,
            "level": view.level,
            "flat": view.flat,
            "near": view.near,
            "traces": [
                {"body": numbers[t.body], "point": t.point, "label": t.label or t.body, "shown": t.shown}
                | ({} if t.paint is None else {"paint": paint_data(t.paint)})
                for t in view.traces
            ],
        },
    }


def _element(element: Element, numbers: Mapping[str, int]) -> dict[str, Any]:
    anchors = [{"body": numbers[a.body], "point": a.point, "radius": a.radius} for a in element.anchors]
    data = {
        "kind": element.kind, "anchors": anchors, "radius": element.radius, "wire": element.wire,
        "turns": element.turns, "label": element.label,
    }  # fmt: skip
    return data if element.paint is None else data | {"paint": paint_data(element.paint)}


def scene_colours(bodies: Sequence[Body], overlays: Sequence[Overlay] = ()) -> dict[str, Colour]:
    """The colours of a scene by the name of their style variable."""
    moving = [number for number, body in enumerate(bodies) if not body.fixed]
    own = {
        f"--body-{number}": body.colour or (GROUND if body.fixed else body_colour(moving.index(number)))
        for number, body in enumerate(bodies)
    }
    own |= {f"--overlay-{number}": overlay.colour for number, overlay in enumerate(overlays)}
    return own | {ELEMENT_COLOUR: ELEMENT, "--contact": CONTACT}
