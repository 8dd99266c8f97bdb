"""Places in MJCF: an offset and an orientation given in one of five ways."""

from __future__ import annotations

import math
from collections.abc import Callable

from torseur.algebra.spatial import Vec3
from torseur.description.mechanism import Placement, Turn, along, placement, turn
from torseur.description.readers.attribute_numbers import numbers
from torseur.description.readers.mjcf.mjcf_settings import Settings
from torseur.description.readers.rigid_placement import quaternion_of, turn_of_quaternion
from torseur.description.readers.xml_document import Element

ORIGIN = (0.0, 0.0, 0.0)
_AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
SHORTEST = 1e-14


def place(element: Element, settings: Settings) -> Placement:
    """Where an element's frame is in the frame it is given in."""
    return placement(numbers(element, "pos", 3, ORIGIN), *orientation(element, settings))


def orientation(element: Element, settings: Settings) -> tuple[Turn, ...]:
    """The turns of an element's frame; none when it says nothing about them."""
    for name, read in _WAYS.items():
        if name in element.attributes:
            return read(element, settings)
    return ()


def _quaternion(element: Element, settings: Settings) -> tuple[Turn, ...]:
    components = numbers(element, "quat", 4)
    if not any(components):
        raise element.fault(f"the quaternion of <{element.tag}> is zero.")
    return turn_of_quaternion(components)


def _axis_angle(element: Element, settings: Settings) -> tuple[Turn, ...]:
    *axis, angle = numbers(element, "axisangle", 4)
    _require_length(element, axis)
    return (turn(angle * settings.radians, axis),) if angle else ()


def _euler(element: Element, settings: Settings) -> tuple[Turn, ...]:
    """Turns about moving axes (small letters) come after the earlier ones, about fixed axes (capitals) before."""
    steps: list[Turn] = []
    for letter, angle in zip(settings.euler_order, numbers(element, "euler", 3), strict=True):
        step = turn(angle * settings.radians, _AXES[letter.lower()])
        steps = [*steps, step] if letter.islower() else [step, *steps]
    return tuple(step for step in steps if not step.angle.is_zero)


def _two_axes(element: Element, settings: Settings) -> tuple[Turn, ...]:
    given = numbers(element, "xyaxes", 6)
    x, y = Vec3(*given[:3]), Vec3(*given[3:])
    _require_length(element, list(x))
    x = x / math.hypot(*x)
    y = y - x * x.dot(y)
    _require_length(element, list(y))
    y = y / math.hypot(*y)
    z = x.cross(y)
    rows = [[list(axis)[i] for axis in (x, y, z)] for i in range(3)]
    return turn_of_quaternion(quaternion_of(rows))


def _z_axis(element: Element, settings: Settings) -> tuple[Turn, ...]:
    axis = numbers(element, "zaxis", 3)
    _require_length(element, axis)
    return along(axis).rotation


def _require_length(element: Element, axis: list[float] | tuple[float, ...]) -> None:
    if math.hypot(*axis) < SHORTEST:
        raise element.fault(f"an axis of <{element.tag}> has no length.")


_WAYS: dict[str, Callable[[Element, Settings], tuple[Turn, ...]]] = {
    "axisangle": _axis_angle,
    "xyaxes": _two_axes,
    "zaxis": _z_axis,
    "euler": _euler,
    "quat": _quaternion,
}
