"""Elements of a file that is written: numbers in full precision, names that XML can hold."""

from __future__ import annotations

import math
from collections.abc import Iterable
from xml.etree import ElementTree

from torseur.algebra.spatial import Transform
from torseur.description.readers.rigid_placement import quaternion_of
from torseur.errors import UnsupportedError

Value = str | float | Iterable[float]


def element(parent: ElementTree.Element | None, tag: str, **attributes: Value) -> ElementTree.Element:
    """A new element with its attributes."""
    written = {name: _text(value) for name, value in attributes.items()}
    if parent is None:
        return ElementTree.Element(tag, written)
    return ElementTree.SubElement(parent, tag, written)


def document(root: ElementTree.Element) -> str:
    """The text of a file."""
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _text(value: Value) -> str:
    if isinstance(value, str):
        return "".join(c if c.isprintable() else "_" for c in value)
    if isinstance(value, (int, float)):
        return number(value)
    return " ".join(number(component) for component in value)


def number(value: float) -> str:
    """The shortest text that reads as the same number."""
    given = float(value)
    if not math.isfinite(given):
        raise UnsupportedError(f"a robot file cannot hold the number {given}.")
    return str(int(given)) if given == int(given) and abs(given) < 1e15 else repr(given)


def quaternion(place: Transform) -> tuple[float, ...]:
    """The rotation of a place, scalar first."""
    return quaternion_of([list(row) for row in place.rotation.matrix.rows])


def roll_pitch_yaw(place: Transform) -> tuple[float, float, float]:
    """The rotation of a place as turns about fixed x, y, z.

    Roll is taken after undoing yaw, so that together they are accurate also where pitch is a quarter turn.
    """
    m = [[float(entry) for entry in row] for row in place.rotation.matrix.rows]
    yaw = math.atan2(m[1][0], m[0][0])
    c, s = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-m[2][0], c * m[0][0] + s * m[1][0])
    roll = math.atan2(s * m[0][2] - c * m[1][2], c * m[1][1] - s * m[0][1])
    return roll, pitch, yaw
