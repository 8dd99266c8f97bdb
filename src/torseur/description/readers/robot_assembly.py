"""The workbench on which a robot is put together, whatever its file's format."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from torseur.algebra.graph import Expr, as_expr, evaluate, scalar, substitute, symbols_of
from torseur.algebra.spatial import Symmetric3, Transform
from torseur.description.mechanism import (
    EARTH,
    EARTH_NAME,
    Body,
    Bound,
    Constraint,
    Coordinate,
    Equation,
    Frame,
    Joint,
    Load,
    Mechanism,
    Parameter,
    Sensor,
    State,
    Switching,
    Turn,
    Z,
    body,
    coordinate_spring,
    fixed,
    free,
    inertia,
    joint_friction,
    motor,
    parameter,
    rotation,
    sequence,
    stops,
    substitute_coordinates,
)
from torseur.description.readers.reading_ledger import Ledger
from torseur.description.readers.rigid_placement import impossibility, quaternion_of
from torseur.description.readers.robot_file import IMPOSSIBLE_INERTIA, MISSING_MESH, Control, Limit, RobotFile, Shape
from torseur.description.readers.shapes.ground_contacts import Ground, ground_contacts
from torseur.description.readers.xml_document import Element, RobotFileError
from torseur.errors import unknown_name

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
    mimic: bool = True
    locked: Mapping[str, float] = field(default_factory=dict)
    armature: bool = True
    damping: bool = True
    friction: bool = True
    partial: bool = False
    stops: float | None = None
    sticking: bool = False
    ground: float | None = None
    touching: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.base not in (AS_WRITTEN, FIXED, FLOATING):
            raise RobotFileError(f"base is '{self.base}': expected '{AS_WRITTEN}', '{FIXED}' or '{FLOATING}'.")
        if not 0.0 <= self.friction_speed < float("inf"):
            raise RobotFileError(f"friction_speed is {self.friction_speed}: expected a speed of zero or more.")
        if self.stops is not None and not 0.0 <= self.stops <= 1.0:
            raise RobotFileError(f"stops is {self.stops}: expected a restitution between 0 and 1.")
        if self.ground is not None and not 0.0 <= self.ground < float("inf"):
            raise RobotFileError(f"ground is {self.ground}: expected a coefficient of friction of zero or more.")
        if self.touching and self.ground is None:
            raise RobotFileError("touching names what touches the ground: give the ground's friction, too.")
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
SAME_START = 1e-6  # rad or m: files round their keyframes
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
        self.states: list[State] = []
        self.sensors: list[Sensor] = []
        self.frames: dict[str, Frame] = {}
        self.initial: dict[str, float] = {}
        self.limits: list[Limit] = []
        self.contacts: list[Switching] = []
        self.shapes: list[Shape] = []
        self.armatures: list[tuple[str, float]] = []
        self.controls: list[Control] = []
        self.rotors: list[str] = []
        self.followed: dict[str, Expr] = {}

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

    def start_at(self, joint: Joint, place: Transform) -> None:
        """Lets a free joint start where its body is written: its coordinates are the body's place in the world."""
        pose = [*place.position, *quaternion_of([list(row) for row in place.rotation.matrix.rows])]
        if pose != [0, 0, 0, 1, 0, 0, 0]:
            names = (q.name for q in joint.coordinates)
            self.initial |= {name: float(value) for name, value in zip(names, pose, strict=True)}

    def ground(self, child: Frame, name: str = "root") -> None:
        """Joins a body to the earth where nothing else holds it: fixed, or free when a floating base is asked for."""
        joint_name = self.joint_names.fresh(name)
        floating = self.options.base == FLOATING
        self.joints.append(self.free_joint(joint_name, EARTH, child) if floating else fixed(joint_name, EARTH, child))

    def add_spring(self, joint: Joint, q: Coordinate, stiffness: float, rest: float, damping: float) -> None:
        """A spring and damper on a coordinate, when there is anything of them."""
        damping = damping if self.options.damping else 0.0
        if stiffness == 0.0 and damping == 0.0:
            return
        # A rest without a stiffness does nothing, and the language refuses it.
        kind = "spring" if stiffness else "damping"
        name = self.load_names.fresh(f"{joint.name}.{kind}")
        load = coordinate_spring(name, joint.name, q.name, stiffness=stiffness, rest=rest if stiffness else 0,
                                 damping=damping)  # fmt: skip
        self.loads.append(load)

    def add_friction(self, joint: Joint, q: Coordinate, friction: float, element: Element) -> None:
        """Dry friction on a coordinate: sticking, or -f tanh(q'/s), -f sign(q') when s is zero."""
        if friction == 0.0 or not self.options.friction:
            return
        if self.options.sticking:
            self.contacts.append(joint_friction(joint, friction, coordinate=q.name))
            return
        speed = self.options.friction_speed
        slip: Expr = scalar.tanh(q.rate * (1 / speed)) if speed else scalar.sign(q.rate)
        self.loads.append(motor(self.load_names.fresh(f"{joint.name}.friction"), joint.name, q.name, -friction * slip))
        law = f"-f tanh(q'/{speed:g})" if speed else "-f sign(q')"
        self.ledger.note_assumption(f"dry friction f of a joint is {law}; sticking is not modelled.", element)

    def add_armature(self, joint: Joint, value: float, element: Element) -> None:
        """The inertia of a rotor, a number on the diagonal of the mass matrix: two wheels that turn with the joint."""
        if value == 0.0:
            return
        self.armatures.append((joint.name, value))
        if not self.options.armature or len(joint.coordinates) != 1:
            what = f"armature of <{element.tag}>: the inertia of rotors is kept in `armatures`"
            reason = "only hinges and slides have it" if self.options.armature else "armature=False leaves it out"
            self.ledger.note_unmodelled(f"{what} and slows nothing; {reason}.", element)
            return
        self.add_rotor(joint.name, joint.coordinates[0].symbol, joint.coordinates[0].unit, value, element)

    def add_rotor(self, owner: str, q: Expr, unit: str, value: float, element: Element) -> None:
        """Inertia against the rate of q (rad or m), a formula of coordinates."""
        # On the earth a wheel that turns by the coordinate adds its inertia and nothing else to the equations. Half of
        # it turns the other way: files mean a number on the diagonal, without angular momentum.
        if unit == "m":
            name = self.coordinate_names.fresh(f"{owner}.rotor.ratio")
            ratio = parameter(name, 1, "1/m", f"angle of the rotor of {owner} per metre")
            self.parameters.append(ratio)
            q = q * ratio.symbol
        for name, amount in ((f"{owner}.rotor", q), (f"{owner}.counter-rotor", -q)):
            wheel = body(self.body_names.fresh(name), mass=0, centre=(0, 0, 0), inertia=inertia(0, 0, value / 2))
            self.add_body(wheel, element)
            self.rotors.append(wheel.name)
            turning = sequence(self.joint_names.fresh(name), EARTH, wheel, (), (rotation(Z, amount),))
            self.joints.append(turning)

    def follow(self, name: str, q: Coordinate, formula: Expr) -> None:
        """One coordinate given by another, which leaves it out of the mechanism.

        A second relation for the same coordinate, or one that leads back to it, is a constraint called `name`.
        """
        symbols = {other.symbol: other.name for joint in self.joints for other in joint.coordinates}
        # Chains of followers are put in at once, in both directions: no formula ever holds a coordinate that has left.
        known = {x: self.followed[n] for x, n in symbols.items() if n in self.followed}
        (formula,) = substitute([formula], known)
        if q.name in self.followed or q.symbol in symbols_of([formula]):
            self.constraints.append(Equation(self.constraint_names.fresh(name), q.symbol - formula))
            return
        again = substitute(list(self.followed.values()), {q.symbol: formula})
        self.followed = {**dict(zip(self.followed, again, strict=True)), q.name: formula}

    def _locked_coordinates(self) -> dict[str, Expr]:
        """The coordinates that the user locks, by the name of the coordinate or of a joint that has one."""
        joints = {joint.name: joint for joint in self.joints}
        names = {q.name for joint in self.joints for q in joint.coordinates}
        values: dict[str, Expr] = {}
        for name, value in self.options.locked.items():
            own = joints[name].coordinates if name in joints else ()
            if name not in names and len(own) != 1:
                raise RobotFileError(unknown_name("joint with one coordinate", name, sorted(names), "locked: "))
            # A joint of one coordinate may be locked by its own name, which is what robot files have.
            values[name if name in names else own[0].name] = as_expr(value)
        return values

    def _formulas_of_followers(self) -> dict[str, Expr]:
        """Formulas of the coordinates that leave the mechanism: mimic joints, gears, locked joints."""
        locked = self._locked_coordinates()
        symbols = {q.name: q.symbol for joint in self.joints for q in joint.coordinates}
        # A joint that follows a locked one is locked with it; a locked one that follows another holds that one too.
        for name in [n for n in locked if n in self.followed]:
            raise RobotFileError(
                f"locked: '{name}' follows {', '.join(str(x.name) for x in symbols_of([self.followed[name]]))}. "
                "Lock that one, or read the file with mimic=False."
            )
        followed = substitute(list(self.followed.values()), {symbols[name]: value for name, value in locked.items()})
        return {**dict(zip(self.followed, followed, strict=True)), **locked}

    def note_limit(self, what: str, element: Element) -> None:
        """Says that limits do not act, where nothing was asked of them."""
        if self.options.stops is None:
            self.ledger.note_unmodelled(f"{what}: limits of joints are kept, but no stop acts at them.", element)

    def _stops(self) -> list[Bound]:
        """Rigid stops at the limits of joints, where they are asked for."""
        if self.options.stops is None:
            return []
        joints = {joint.name: joint for joint in self.joints}
        limited = [limit for limit in self.limits if limit.joint in joints and not (limit.lower is limit.upper is None)]
        return [
            stop
            for limit in limited
            for stop in stops(joints[limit.joint], limit.lower, limit.upper, self.options.stops)
        ]

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
        given = self._formulas_of_followers()
        self._note_other_starts(given)
        if self.options.ground is not None:
            ground = Ground(self.options.ground, self.options.touching)
            self.contacts += ground_contacts(self.shapes, ground, self.frames, self.ledger)
        mechanism = Mechanism(
            Names("robot").fresh(name), bodies=self.bodies, joints=self.joints, loads=self.loads,
            constraints=self.constraints, parameters=self.parameters, gravity=gravity, frames=self.frames,
            states=self.states, sensors=self.sensors,
            contacts=[*self._stops(), *self.contacts],
            # Zero is where everything starts anyway.
            initial={key: value for key, value in self.initial.items() if value != 0.0 or not math.isfinite(value)},
        )  # fmt: skip
        mechanism = substitute_coordinates(mechanism, given)
        return RobotFile(
            mechanism, file_format, source, self.ledger.findings, tuple(self.limits), tuple(self.shapes),
            tuple(self.armatures), tuple(self.controls), tuple(changed), tuple(self.rotors),
        )  # fmt: skip

    def _note_other_starts(self, given: Mapping[str, Expr]) -> None:
        """Lists initial values that a file gives for coordinates that others determine, where the two differ."""
        start = {q.symbol: self.initial.get(q.name, 0.0) for joint in self.joints for q in joint.coordinates}
        for name, formula in given.items():
            if name in self.initial and abs(float(evaluate([formula], start)[0]) - self.initial[name]) > SAME_START:
                self.ledger.note_assumption(f"'{name}' starts at {formula}, not at {self.initial[name]:g}.")

    def _note_missing_meshes(self) -> None:
        named = {shape.mesh.name: shape.mesh.is_there for shape in self.shapes if shape.mesh is not None}
        missing = [name for name, there in named.items() if not there]
        if missing:
            counted = f"{len(missing)} of {len(named)} mesh files were not found, such as '{missing[0]}'"
            self.ledger.note(MISSING_MESH, f"{counted}; pictures go without them.")
