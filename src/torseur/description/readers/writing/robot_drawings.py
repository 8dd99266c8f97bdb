"""A robot's shapes as drawings of its mechanism, so that a text says how it looks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torseur.description.mechanism import EARTH_NAME, Drawing, Frame, Mechanism, draw
from torseur.description.readers.robot_file import RobotFile, Shape

_SIZES = {
    "box": ("x", "y", "z"), "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length"),
    "ellipsoid": ("x", "y", "z"), "mesh": ("scale_x", "scale_y", "scale_z"),
}  # fmt: skip


def drawn_mechanism(robot: RobotFile) -> Mechanism:
    """The mechanism with a drawing for each shape by which the file shows a body, else for each of contact.

    Meshes are named by their whole paths; those that are not there, or that stand in the file itself, are left out.
    """
    names = [EARTH_NAME, *(body.name for body in robot.mechanism.bodies)]
    shapes = [shape for name in names for shape in robot.shapes_of(name) or robot.shapes_of(name, "collision")]
    drawings = (_drawing(shape) for shape in shapes)
    drawn = tuple(drawing for drawing in drawings if drawing is not None)
    return replace(robot.mechanism, drawings=(*robot.mechanism.drawings, *drawn))


def _drawing(shape: Shape) -> Drawing | None:
    path = shape.mesh.path if shape.mesh is not None else None
    if shape.kind not in _SIZES or (shape.kind == "mesh" and path is None):
        return None
    # Ellipsoids are drawn by their axes, files give half of them.
    sizes: list[float] = [2 * x for x in shape.size] if shape.kind == "ellipsoid" else list(shape.size)
    named: dict[str, Any] = dict(zip(_SIZES[shape.kind], sizes, strict=True))
    if shape.kind == "mesh" and set(sizes) == {1.0}:
        named = {}
    colour, clear = "", None
    if shape.colour is not None:
        red, green, blue, *opacity = (min(1.0, max(0.0, float(c))) for c in shape.colour)
        colour = "#" + "".join(f"{round(255 * c):02x}" for c in (red, green, blue))
        clear = round(1 - opacity[0], 3) if opacity and opacity[0] < 1 else None
    text = path.resolve().as_posix() if path is not None else ""
    return draw(
        shape.kind, Frame(shape.body, shape.at), text=text, colour=colour, transparency=clear, **named
    )  # fmt: skip
