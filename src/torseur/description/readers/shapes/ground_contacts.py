"""Contact of a robot's shapes with the ground, where it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.algebra.graph import as_expr
from torseur.description.mechanism import EARTH, EARTH_NAME, HERE, Contact, Frame, Placement, Switching, contact, plane
from torseur.description.mechanism.transformations.instancing import Mounting
from torseur.description.readers.reading_ledger import Ledger
from torseur.description.readers.robot_file import Shape
from torseur.description.readers.xml_document import RobotFileError
from torseur.errors import unknown_name

SIZES = {"sphere": ("radius",), "capsule": ("radius", "length"), "box": ("x", "y", "z"), "ellipsoid": ("x", "y", "z")}
UPWARD = (0, 0, 1)


@dataclass(frozen=True)
class Ground:
    """The friction of the ground, and the bodies that may touch it: all of them where none is named."""

    friction: float
    touching: Sequence[str] = ()


def ground_contacts(shapes: Sequence[Shape], of: Ground, frames: dict[str, Frame], ledger: Ledger) -> list[Switching]:
    """A contact with every plane of the ground for each shape that collides, of the bodies that may touch it.

    Without a plane in the file the ground is z = 0. Cylinders touch with the rims of their ends; what is in no place
    of its own gets a named frame.
    """
    bodies = {shape.body for shape in shapes} - {EARTH_NAME}
    for name in of.touching:
        if name not in bodies:
            raise RobotFileError(unknown_name("body", name, sorted(bodies), "touching: "))
    planes = [Frame(EARTH_NAME, shape.at) for shape in shapes if shape.kind == "plane" and shape.body == EARTH_NAME]
    counts: dict[str, int] = {}
    made: list[Switching] = []
    for shape in shapes:
        if not shape.touches or shape.body == EARTH_NAME or (of.touching and shape.body not in of.touching):
            continue
        if shape.kind not in (*SIZES, "cylinder"):
            ledger.note_unmodelled(f"contact of a shape of kind {shape.kind}: MuJoCo models that of meshes.")
            continue
        counts[shape.body] = counts.get(shape.body, 0) + 1
        name = f"{shape.body}.contact" + (f"_{counts[shape.body]}" if counts[shape.body] > 1 else "")
        for k, ground in enumerate(planes or [EARTH], 1):
            own = name if len(planes) < 2 else f"{name}.{k}"
            made += _contacts(shape, own, ground, of.friction, frames)
    return made


def _contacts(shape: Shape, name: str, ground: Frame, friction: float, frames: dict[str, Frame]) -> list[Contact]:
    if shape.kind == "cylinder":
        radius, length = shape.size
        ends = [(f"{name}.{k}", end * length / 2) for k, end in ((1, -1), (2, 1))]
        parts = [(end, "disc", {"radius": radius}, _shift(shape.at, z)) for end, z in ends]
    else:
        parts = [(name, shape.kind, dict(zip(SIZES[shape.kind], shape.size, strict=True)), shape.at)]
    on = plane(_with_name(ground, "ground", frames), UPWARD)
    return [
        contact(part, kind, _with_name(Frame(shape.body, at), f"{part}.place", frames), sizes, on, friction)
        for part, kind, sizes, at in parts
    ]


def _with_name(frame: Frame, name: str, frames: dict[str, Frame]) -> Frame:
    """The frame, under a name where it is not that of its body."""
    if frame.placement != HERE and frame not in frames.values():
        while name in frames:
            name += "_"
        frames[name] = frame
    return frame


def _shift(at: Placement, z: float) -> Placement:
    """A place further along its own z axis."""
    mounting = Mounting("", {"": Frame("", at)})
    return mounting.frame(Frame("", Placement((as_expr(0), as_expr(0), as_expr(z))))).placement
