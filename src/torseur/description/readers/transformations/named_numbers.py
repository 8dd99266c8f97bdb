"""Numbers of a robot file as named parameters: masses, centres, inertias, lengths and gravity.

The equations then read m and l instead of 3.7 and 0.425, and what is zero in the file is zero in them. The numbers
become the parameters' values, so that everything computed is as before, and sensitivities and identification can ask
for derivatives by them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from torseur.algebra.graph import PI, Expr, as_expr
from torseur.algebra.spatial import Symmetric3
from torseur.description.mechanism import (
    Body,
    Frame,
    Joint,
    Mechanism,
    Parameter,
    Placement,
    Turn,
    Vector,
    as_vector,
    inertia,
    parameter,
    placement,
)
from torseur.description.readers.rigid_placement import body_inertia
from torseur.description.readers.robot_assembly import Names, coordinate_names
from torseur.description.readers.robot_file import ASSUMED, Finding, RobotFile
from torseur.description.readers.shapes.shape_inertia import central
from torseur.description.readers.xml_document import RobotFileError
from torseur.errors import unknown_name

INERTIA, GEOMETRY, GRAVITY = "inertia", "geometry", "gravity"
PARTS = (INERTIA, GEOMETRY, GRAVITY)
QUARTER = 1e-5  # rad: files write quarter turns with five decimals and more
DUST = 1e-12  # of the largest of its kind: what remains where a file, or its author's program, means zero
_AXES = ("x", "y", "z")
_MOMENTS = ("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
_ANGLES: dict[tuple[str, ...], str] = {("x",): "roll", ("y",): "pitch", ("z",): "yaw"}


def parts_of(symbolic: str) -> tuple[str, ...]:
    """The parts whose numbers get names: "inertia", "geometry", "gravity", separated by commas."""
    words = tuple(word.strip() for word in symbolic.split(",") if word.strip())
    for word in words:
        if word not in PARTS:
            raise RobotFileError(unknown_name("part", word, PARTS, "symbolic: "))
    return words


def name_numbers(robot: RobotFile, symbolic: str) -> RobotFile:
    """The robot with the numbers of the parts asked for as parameters; gravity goes with any of them."""
    parts = parts_of(symbolic)
    if not parts:
        return robot
    naming = _Naming(robot.mechanism)
    mechanism = robot.mechanism
    if INERTIA in parts:
        mechanism = replace(mechanism, bodies=tuple(naming.body(b, b.name in robot.rotors) for b in mechanism.bodies))
        naming.note_weights(mechanism)
    if GEOMETRY in parts:
        mechanism = replace(
            mechanism,
            joints=tuple(naming.joint(joint) for joint in mechanism.joints),
            frames=tuple((name, naming.frame(frame, "l", name, "place")) for name, frame in mechanism.frames),
            loads=tuple(naming.moved(load) for load in mechanism.loads),
            constraints=tuple(naming.moved(constraint) for constraint in mechanism.constraints),
        )
    mechanism = replace(mechanism, gravity=as_vector(naming.gravity(mechanism.gravity), "gravity"))
    mechanism = replace(mechanism, parameters=(*mechanism.parameters, *naming.parameters))
    return replace(robot, mechanism=mechanism, findings=(*robot.findings, *naming.findings()))


class _Naming:
    """Gives numbers names, and remembers what was taken as exact."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.names: Names = coordinate_names()
        self.names.taken.update(q.name for joint in mechanism.joints for q in joint.coordinates)
        self.names.taken.update(p.name for p in mechanism.parameters)
        self.parameters: list[Parameter] = []
        self.armatures: dict[str, Expr] = {}
        self.quarters = 0
        self.largest_change = 0.0
        self.remarks: list[str] = []

    def symbol(self, name: str, value: float, unit: str, meaning: str) -> Expr:
        made = parameter(self.names.fresh(name), value, unit, meaning)
        self.parameters.append(made)
        return made.symbol

    def vector(self, values: Sequence[Any], letter: str, owner: str, meaning: str) -> list[Any]:
        """Components as parameters; those that are zero, or dust beside the others, as zero."""
        if not all(as_expr(value).is_constant for value in values):
            return list(values)
        numbers = [float(as_expr(value).value) for value in values]
        size = max(1e-3, *(abs(number) for number in numbers))
        return [
            0
            if abs(number) <= DUST * size
            else self.symbol(f"{letter}{axis}_{owner}", number, "m", f"{meaning} of {owner}, along {axis}")
            for axis, number in zip(_AXES, numbers, strict=True)
        ]

    # Masses, centres, inertias.

    def body(self, solid: Body, is_rotor: bool) -> Body:
        """A body whose mass, mass centre and inertia along its own axes are parameters."""
        if is_rotor:
            return self._rotor(solid)
        if not _is_numeric(solid):
            return solid
        mass, centre, _, matrix = central(body_inertia(solid))
        if mass == 0.0 and not any(matrix):
            return solid
        name = solid.name
        named_mass = self.symbol(f"m_{name}", mass, "kg", f"mass of {name}") if mass else as_expr(0)
        position = self.vector(centre, "c", name, "mass centre")
        return replace(
            solid, mass=named_mass, iframe=placement(position), inertia=inertia(*self._moments(matrix, name))
        )

    def _moments(self, matrix: Symmetric3, name: str) -> list[Any]:
        size = max(abs(float(entry)) for entry in matrix)
        return [
            0
            if abs(float(entry)) <= DUST * size
            else self.symbol(f"{key}_{name}", float(entry), "kg*m^2", f"inertia of {name} about its mass centre")
            for key, entry in zip(_MOMENTS, matrix, strict=True)
        ]

    def _rotor(self, wheel: Body) -> Body:
        """One of the two wheels that stand for the inertia of a rotor, which share one parameter."""
        assert wheel.inertia is not None
        owner = wheel.name.rpartition(".")[0]
        if owner not in self.armatures:
            value = 2 * float(wheel.inertia.components[2])
            self.armatures[owner] = self.symbol(f"J_{owner}", value, "kg*m^2", f"inertia of the rotor of {owner}")
        return replace(wheel, inertia=inertia(0, 0, self.armatures[owner] / 2))

    def note_weights(self, mechanism: Mechanism) -> None:
        carried = [load.name for load in mechanism.loads if load.name.endswith((".gravcomp", ".weightless"))]
        if carried:
            self.remarks.append(f"forces that carry weights keep the masses of the file: {', '.join(carried[:5])}.")

    # Lengths and angles.

    def joint(self, joint: Joint) -> Joint:
        parent = self.frame(joint.parent, "l", joint.name, "place")
        child = self.frame(joint.child, "d", joint.name, "place in the child")
        motions = tuple(replace(motion, axis=_clean_axis(motion.axis)) for motion in joint.motions)
        return replace(joint, parent=parent, child=child, motions=motions)

    def frame(self, frame: Frame, letter: str, owner: str, meaning: str) -> Frame:
        where = frame.placement
        position = self.vector(where.position, letter, owner, meaning)
        turns = tuple(self.turn(turn, owner) for turn in where.rotation)
        return replace(frame, placement=Placement(placement(position).position, turns))

    def moved(self, thing: Any) -> Any:
        """A load or constraint with the lengths in its frames named."""
        frames = {key: value for key, value in vars(thing).items() if isinstance(value, Frame)}
        return replace(
            thing, **{key: self.frame(value, "l", f"{thing.name}.{key}", "place") for key, value in frames.items()}
        )

    def turn(self, turn: Turn, owner: str) -> Turn:
        """A turn about a clean axis by a whole number of quarter turns, or by a parameter."""
        axis = _clean_axis(turn.axis)
        if not turn.angle.is_constant:
            return replace(turn, axis=axis)
        angle = float(turn.angle.value)
        quarters = round(angle / (math.pi / 2))
        off = abs(angle - quarters * math.pi / 2)
        if off <= QUARTER:
            if off > 1e-15 * max(1, abs(quarters)):
                self.quarters, self.largest_change = self.quarters + 1, max(self.largest_change, off)
            return replace(turn, axis=axis, angle=PI * Fraction(quarters, 2))
        along = tuple(letter for letter, c in zip(_AXES, axis, strict=True) if not c.is_zero)
        word = _ANGLES.get(along, "angle")
        named = self.symbol(f"{word}_{owner}", angle, "rad", f"{word} of {owner}")
        return replace(turn, axis=axis, angle=named)

    def gravity(self, vector: Sequence[Any]) -> tuple[Expr, ...]:
        """One parameter g along an axis, or one per component."""
        if not all(as_expr(c).is_constant for c in vector) or not any(float(as_expr(c).value) for c in vector):
            return tuple(vector)
        numbers = [float(as_expr(c).value) for c in vector]
        if sum(number != 0 for number in numbers) == 1:
            size = self.symbol("g", max(map(abs, numbers)), "m/s^2", "acceleration of gravity")
            return tuple(as_expr(int(math.copysign(1, n)) * size if n else 0) for n in numbers)
        return tuple(
            self.symbol(f"g{axis}", n, "m/s^2", f"acceleration of gravity, along {axis}") if n else as_expr(0)
            for axis, n in zip(_AXES, numbers, strict=True)
        )

    def findings(self) -> list[Finding]:
        notes = list(self.remarks)
        if self.quarters:
            notes.append(
                f"{self.quarters} angles near quarter turns are quarter turns; the largest change is "
                f"{self.largest_change:.2g} rad."
            )
        return [Finding(ASSUMED, note) for note in notes]


def _is_numeric(solid: Body) -> bool:
    """Whether mass, mass centre and inertia of a body are all given, as numbers about its mass centre."""
    if solid.mass is None or solid.inertia is None or solid.solids or solid.inertia.about != "iframe":
        return False
    where = solid.iframe or Placement()
    given = (solid.mass, *solid.inertia.components, *where.position, *(turn.angle for turn in where.rotation))
    return all(as_expr(value).is_constant for value in given)


def _clean_axis(axis: Sequence[Expr]) -> Vector:
    """An axis whose dust is zero; along a coordinate axis its length does not matter, and is one."""
    if not all(c.is_constant for c in axis):
        return as_vector(axis, "axis")
    numbers = [float(c.value) for c in axis]
    size = max(abs(n) for n in numbers)
    kept = [0.0 if abs(n) <= DUST * size else n for n in numbers]
    if sum(n != 0.0 for n in kept) == 1:
        return as_vector([int(math.copysign(1, n)) if n else 0 for n in kept], "axis")
    return as_vector([c if n else 0 for n, c in zip(kept, axis, strict=True)], "axis")
