"""The workbench on which a robot is put together, whatever its file's format."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from torseur.graph import Expr, scalar
from torseur.mechanism import (
    EARTH,
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
from torseur.readers.document import Element
from torseur.readers.ledger import Ledger
from torseur.readers.names import Names, coordinate_names, reserve_speeds
from torseur.readers.options import FLOATING, Options
from torseur.readers.rigid import impossibility
from torseur.readers.robot_file import IMPOSSIBLE_INERTIA, MISSING_MESH, Control, Limit, RobotFile, Shape
from torseur.spatial import Symmetric3

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
        self.add_body(body(name, mass=mass, centre=centre, axes=axes, inertia=inertia(*matrix)), element)

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
        self.ledger.assumed(f"dry friction f of a joint is {law}; sticking is not modelled.", element)

    def add_armature(self, joint: Joint, value: float, element: Element) -> None:
        """The inertia of a rotor: kept, and on request made a wheel on the earth that turns with the joint."""
        if value == 0.0:
            return
        self.armatures.append((joint.name, value))
        if not self.options.rotors or len(joint.coordinates) != 1:
            what = f"armature of <{element.tag}>: the inertia of rotors is kept in `armatures`"
            self.ledger.not_modelled(f"{what} and slows nothing; rotors=True adds it to hinges and slides.", element)
            return
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
        self.ledger.renamed(changed)
        mechanism = Mechanism(
            Names("robot").fresh(name), bodies=self.bodies, joints=self.joints, loads=self.loads,
            constraints=self.constraints, parameters=self.parameters, gravity=gravity, frames=self.frames,
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


def with_findings(robot: RobotFile, ledger: Ledger) -> RobotFile:
    """The robot with everything noted since it was made."""
    return replace(robot, findings=ledger.findings)
