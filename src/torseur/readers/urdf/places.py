"""Places in URDF: an offset, then fixed-axis roll, pitch and yaw."""

from __future__ import annotations

from torseur.mechanism import HERE, Placement, placement, turn
from torseur.readers.document import Element
from torseur.readers.numbers import numbers

ORIGIN = (0.0, 0.0, 0.0)


def place(element: Element) -> Placement:
    """The <origin> of an element; here when it has none.

    Roll, pitch, yaw about fixed x, y, z are turns about z, then the turned y, then the turned x.
    """
    origin = element.first("origin")
    if origin is None:
        return HERE
    roll, pitch, yaw = numbers(origin, "rpy", 3, ORIGIN)
    steps = ((yaw, (0, 0, 1)), (pitch, (0, 1, 0)), (roll, (1, 0, 0)))
    return placement(numbers(origin, "xyz", 3, ORIGIN), *(turn(angle, axis) for angle, axis in steps if angle))
