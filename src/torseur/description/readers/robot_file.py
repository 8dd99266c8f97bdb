"""What a robot file holds: a mechanism, and beside it what a mechanism does not say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from torseur.deprecation import FormerName
from torseur.description.mechanism import HERE, Mechanism, Placement
from torseur.description.readers.meshes import Mesh, read_mesh
from torseur.description.readers.xml_document import RobotFileError

NOT_MODELLED = "not modelled"
IMPOSSIBLE_INERTIA = "impossible inertia"
ASSUMED = "assumed"
RENAMED = "renamed"
MISSING_MESH = "missing mesh"
KINDS = (IMPOSSIBLE_INERTIA, MISSING_MESH, ASSUMED, NOT_MODELLED, RENAMED)


@dataclass(frozen=True)
class Finding:
    """Something about a file that its reader should know: its kind, what it is, where, and how often."""

    kind: str
    message: str
    where: str = ""
    count: int = 1

    def __str__(self) -> str:
        times = f" ({self.count} times)" if self.count > 1 else ""
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.kind}: {self.message}{times}"


@dataclass(frozen=True)
class Limit:
    """Bounds of a joint's coordinate (rad or m), speed and force; None where the file gives none."""

    joint: str
    lower: float | None = None
    upper: float | None = None
    speed: float | None = None
    force: float | None = None


@dataclass(frozen=True)
class MeshFile:
    """A mesh that a file names: as written, where it was found (None: nowhere), or its content if written in place."""

    name: str
    path: Path | None = None
    content: Mesh | None = None

    @property
    def is_there(self) -> bool:
        return self.path is not None or self.content is not None

    def read(self) -> Mesh:
        """The mesh itself."""
        if self.content is not None:
            return self.content
        if self.path is None:
            raise RobotFileError(f"the mesh '{self.name}' is not there.")
        return read_mesh(self.path)


@dataclass(frozen=True)
class Shape:
    """A shape fixed in a body, for pictures ("visual") or contact ("collision").

    kind and size (m): box (edges x, y, z), sphere (radius), cylinder and capsule (radius, length along z between the
    centres of the ends), ellipsoid (half axes), plane (half extents x, y), mesh (scale x, y, z).
    `at` places the shape's centre in the body's frame; `colour` is red, green, blue, opacity. It `touches` others where
    the file says so.
    """

    body: str
    kind: str
    size: tuple[float, ...]
    at: Placement = HERE
    role: str = "visual"
    colour: tuple[float, ...] | None = None
    mesh: MeshFile | None = None
    touches: bool = False


@dataclass(frozen=True)
class Control:
    """The input of an actuator: the parameter that stands for it, and its range where the file gives one.

    `number` is the actuator's place among all of the file, from 0: where MuJoCo keeps its control.
    """

    actuator: str
    parameter: str
    number: int
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True)
class RobotFile:
    """A robot as its file describes it.

    `mechanism` moves; `limits` and `shapes` are kept beside it. `armatures` are inertias (kg m², kg) that a file adds
    to the diagonal of the mass matrix, by joint; `rotors` are the bodies that stand for them. `controls` are the inputs
    of actuators. `renamed` holds (kind, name in the file, name in the mechanism) where the two differ. `findings` lists
    everything the file says that the mechanism does not, and what is suspicious.
    """

    mechanism: Mechanism
    format: str
    source: str
    findings: tuple[Finding, ...] = ()
    limits: tuple[Limit, ...] = ()
    shapes: tuple[Shape, ...] = ()
    armatures: tuple[tuple[str, float], ...] = ()
    controls: tuple[Control, ...] = ()
    renamed: tuple[tuple[str, str, str], ...] = ()
    rotors: tuple[str, ...] = ()

    def findings_of(self, kind: str) -> list[Finding]:
        """The findings of one kind."""
        return [finding for finding in self.findings if finding.kind == kind]

    listed = FormerName("findings_of")

    def limit(self, joint: str) -> Limit:
        """The bounds of a joint; none of them when the file gives none."""
        return next((limit for limit in self.limits if limit.joint == joint), Limit(joint))

    def shapes_of(self, body: str, role: str = "visual") -> list[Shape]:
        """The shapes of a body in one role."""
        return [shape for shape in self.shapes if shape.body == body and shape.role == role]


def summary(findings: Iterable[Finding]) -> list[str]:
    """The findings as lines, the gravest kinds first; those with the same reason share a line."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in sorted(findings, key=lambda one: KINDS.index(one.kind)):
        what, _, reason = finding.message.partition(": ")
        groups.setdefault((finding.kind, reason or what), []).append(finding)
    return [str(group[0]) if len(group) == 1 else _together(reason, group) for (_, reason), group in groups.items()]


def _together(reason: str, group: list[Finding]) -> str:
    """One line for findings that have a reason in common."""
    things = [one.message.partition(": ")[0] + (f" ({one.count} times)" if one.count > 1 else "") for one in group]
    return str(replace(group[0], message=f"{reason.rstrip('.')}: {', '.join(things)}.", count=1))
