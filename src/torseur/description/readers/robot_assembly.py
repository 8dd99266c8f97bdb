"""The workbench on which a robot is put together, whatever its file's format."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from torseur.algebra.graph import Expr, scalar
from torseur.algebra.spatial import Symmetric3
from torseur.description.mechanism import (
    EARTH,
    EARTH_NAME,
    Body,
    Constraint,
    Coordinate,
    Equation,
    Frame,
    Joint,
    Load,
    Mechanism,
    Parameter,
    Turn,
    body,
    coordinate_spring,
    fixed,
    free,
    inertia,
    motor,
    revolute,
)
from torseur.description.readers.reading_ledger import Ledger
from torseur.description.readers.rigid_placement import impossibility
from torseur.description.readers.robot_file import IMPOSSIBLE_INERTIA, MISSING_MESH, Control, Limit, RobotFile, Shape
from torseur.description.readers.xml_document import Element, RobotFileError

# What the user asks of a reader.
AS_WRITTEN, FIXED, FLOATING = "file", "fixed", "floating"


@dataclass(frozen=True)
class Options:
    """How a robot file is read; see `read_robot` for the meaning of each."""

    strict: bool = False
    base: str = AS_WRITTEN
    merge_fixed: bool = False
    density: float | None = None
    friction_speed: float = 0.01
    packages: Mapping[str, str | Path] = field(default_factory=dict)
    keyframe: str | None = None
    rotors: bool = False

    def __post_init__(self) -> None:
        if self.base not in (AS_WRITTEN, FIXED, FLOATING):
            raise RobotFileError(f"base is '{self.base}': expected '{AS_WRITTEN}', '{FIXED}' or '{FLOATING}'.")
        if not 0.0 <= self.friction_speed < float("inf"):
            raise RobotFileError(f"friction_speed is {self.friction_speed}: expected a speed of zero or more.")
        if self.density is not None and not 0.0 < self.density < float("inf"):
            raise RobotFileError(f"density is {self.density}: expected a positive number of kg/m^3.")


# Names of a file made fit for a mechanism: any name is kept that can be, and every change is recorded.
LONGEST = 80
# What nothing in a description can be called: these mean something of their own.
RESERVED = (EARTH_NAME, "t", "pi")
_SPEEDS = ("vx", "vy", "vz", "wx", "wy", "wz")


class Names:
    """Hands out unique names of one kind (bodies, joints, coordinates, loads, ...) and remembers what they were."""

    def __init__(self, kind: str, taken: tuple[str, ...] = RESERVED) -> None:
        self.kind = kind
        self.taken = {*taken}
        self.changed: list[tuple[str, str, str]] = []
        self._next: dict[str, int] = {}

    def keep(self, name: str, kind: str = "") -> str:
        """The name itself where possible, otherwise the nearest one, which is recorded."""
        given = self.fresh(name)
        if given != name:
            self.changed.append((kind or self.kind, name, given))
        return given

    def fresh(self, wanted: str) -> str:
        """A new name like the wanted one."""
        clean = speakable(wanted, self.kind)
        name = clean
        while name in self.taken:
            self._next[clean] = self._next.get(clean, 1) + 1
            name = f"{clean}_{self._next[clean]}"
        self.taken.add(name)
        return name


def speakable(name: str, kind: str) -> str:
    """The name with what no description can hold replaced: back quotes, control characters, excessive length."""
    clean = "".join(c if c.isprintable() and c != "`" else "_" for c in name)
    if not clean.strip():
        return kind
    clean = clean[:LONGEST]
    return clean[:-1] + "_" if clean.endswith("'") else clean


def coordinate_names() -> Names:
    """Names of coordinates; the length of a spring also stands in formulas."""
    return Names("coordinate", (*RESERVED, "length"))


def reserve_speeds(coordinates: Names, joint: str) -> None:
    """Takes the names that the speeds of a freely turning joint get by themselves."""
    coordinates.taken.update(f"{joint}.{speed}" for speed in _SPEEDS)


MOST_BODIES = 5000
POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")


class Assembly:
    """Parts of a mechanism while its file is read, with the names they get."""

    def __init__(self, options: Options, ledger: Ledger) -> None:
        self.options, self.ledger = options, ledger
        self.body_names, self.coordinate_names = Names("body"), coordinate_names()
        self.joint_names, self.load_names = Names("joint"), Names("load")
        self.constraint_names = Names("constraint")
        self.bodies: list[Body] = []
        self.joints: list[Joint] = []
        self.loads: list[Load] = []
        self.constraints: list[Constraint] = []
        self.parameters: list[Parameter] = []
        self.frames: dict[str, Frame] = {}
        self.initial: dict[str, float] = {}
        self.limits: list[Limit] = []
        self.shapes: list[Shape] = []
        self.armatures: list[tuple[str, float]] = []
        self.controls: list[Control] = []

    def add_massless(self, name: str, element: Element) -> None:
        self.add_body(body(name, mass=0, centre=(0, 0, 0), inertia=0), element)

    def add_inertial(
        self,
        name: str,
        mass: float,
        centre: Sequence[float],
        axes: Sequence[Turn],
        matrix: Symmetric3,
        element: Element,
    ) -> None:
        """A body with its mass (kg), mass centre (m) and inertia (kg m²) about the centre, along the turned axes."""
        reason = impossibility(mass, matrix)
        if reason is not None:
            if self.options.strict:
                raise element.fault(f"body '{name}' cannot exist: {reason} Read it without strict to use it as it is.")
            self.ledger.note(IMPOSSIBLE_INERTIA, f"body '{name}': {reason}", element)
        # Read all the same, with its finding: the file is used as it is.
        made = body(name, mass=mass, centre=centre, axes=axes, inertia=inertia(*matrix), negative=mass < 0)
        self.add_body(made, element)

    def add_body(self, made: Body, element: Element) -> None:
        if len(self.bodies) >= MOST_BODIES:
            raise element.fault(f"the file has more than {MOST_BODIES} bodies.")
        self.bodies.append(made)

    def coordinate(self, name: str, unit: str) -> Coordinate:
        """A coordinate called like its joint."""
        return Coordinate(self.coordinate_names.keep(name), unit)

    def free_joint(self, name: str, parent: Frame, child: Frame) -> Joint:
        """Six freedoms: position and quaternion, called after the joint, with speeds along the child's axes."""
        reserve_speeds(self.coordinate_names, name)
        coordinates = [self.coordinate_names.fresh(f"{name}.{part}") for part in POSE]
        return free(name, parent, child, *coordinates, angles="quaternion", speeds="body")

    def ground(self, child: Frame, name: str = "root") -> None:
        """Joins a body to the earth where nothing else holds it: fixed, or free when a floating base is asked for."""
        joint_name = self.joint_names.fresh(name)
        floating = self.options.base == FLOATING
        self.joints.append(self.free_joint(joint_name, EARTH, child) if floating else fixed(joint_name, EARTH, child))

    def add_spring(self, joint: Joint, q: Coordinate, stiffness: float, rest: float, damping: float) -> None:
        """A spring and damper on a coordinate, when there is anything of them."""
        if stiffness == 0.0 and damping == 0.0:
            return
        # A rest without a stiffness does nothing, and the language refuses it.
        kind = "spring" if stiffness else "damping"
        name = self.load_names.fresh(f"{joint.name}.{kind}")
        load = coordinate_spring(name, joint.name, q.name, stiffness=stiffness, rest=rest if stiffness else 0,
                                 damping=damping)  # fmt: skip
        self.loads.append(load)

    def add_friction(self, joint: Joint, q: Coordinate, friction: float, element: Element) -> None:
        """Dry friction on a coordinate: -f tanh(q'/s), or -f sign(q') when s is zero. Sticking is not modelled."""
        if friction == 0.0:
            return
        speed = self.options.friction_speed
        slip: Expr = scalar.tanh(q.rate * (1 / speed)) if speed else scalar.sign(q.rate)
        self.loads.append(motor(self.load_names.fresh(f"{joint.name}.friction"), joint.name, q.name, -friction * slip))
        law = f"-f tanh(q'/{speed:g})" if speed else "-f sign(q')"
        self.ledger.note_assumption(f"dry friction f of a joint is {law}; sticking is not modelled.", element)

    def add_armature(self, joint: Joint, value: float, element: Element) -> None:
        """The inertia of a rotor: kept, and on request made a wheel on the earth that turns with the joint."""
        if value == 0.0:
            return
        self.armatures.append((joint.name, value))
        if not self.options.rotors or len(joint.coordinates) != 1:
            what = f"armature of <{element.tag}>: the inertia of rotors is kept in `armatures`"
            self.ledger.note_unmodelled(f"{what} and slows nothing; rotors=True adds it to hinges and slides.", element)
            return
        # A wheel on the earth that turns with the coordinate: it adds exactly `armature` to the coordinate's inertia.
        name = self.body_names.fresh(f"{joint.name}.rotor")
        angle = Coordinate(self.coordinate_names.fresh(name), "rad")
        disc = body(name, mass=value, centre=(0, 0, 0), inertia=inertia(value / 2, value / 2, value))
        self.add_body(disc, element)
        self.joints.append(revolute(self.joint_names.fresh(name), EARTH, disc, angle))
        together = Equation(self.constraint_names.fresh(name), angle.symbol - joint.coordinates[0].symbol)
        self.constraints.append(together)

    def add_limit(self, limit: Limit) -> None:
        if any(value is not None for value in (limit.lower, limit.upper, limit.speed, limit.force)):
            self.limits.append(limit)

    def robot(self, name: str, gravity: Sequence[float], file_format: str, source: str) -> RobotFile:
        """The robot, its mechanism checked."""
        self._note_missing_meshes()
        changed = [
            change for names in (self.body_names, self.joint_names, self.coordinate_names) for change in names.changed
        ]
        self.ledger.note_renaming(changed)
        mechanism = Mechanism(
            Names("robot").fresh(name), bodies=self.bodies, joints=self.joints, loads=self.loads,
            constraints=self.constraints, parameters=self.parameters, gravity=gravity, frames=self.frames,
            # Zero is where everything starts anyway.
            initial={key: value for key, value in self.initial.items() if value != 0.0 or not math.isfinite(value)},
        )  # fmt: skip
        return RobotFile(
            mechanism, file_format, source, self.ledger.findings, tuple(self.limits), tuple(self.shapes),
            tuple(self.armatures), tuple(self.controls), tuple(changed),
        )  # fmt: skip

    def _note_missing_meshes(self) -> None:
        named = {shape.mesh.name: shape.mesh.is_there for shape in self.shapes if shape.mesh is not None}
        missing = [name for name, there in named.items() if not there]
        if missing:
            counted = f"{len(missing)} of {len(named)} mesh files were not found, such as '{missing[0]}'"
            self.ledger.note(MISSING_MESH, f"{counted}; pictures go without them.")
