"""A mechanism seen as a vehicle: its body, what moves in a steady turn, and its steering and drive as inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from torseur.algebra.graph import Expr, as_expr, symbol
from torseur.algebra.graph.scalar import sqrt
from torseur.computation.linearisation.operating_point import Kinematics, kinematics_of
from torseur.description.mechanism import (
    EARTH_NAME,
    Frame,
    Joint,
    Mechanism,
    Parameter,
    Sensor,
    State,
    driven_input,
    force,
    with_sensors,
)
from torseur.errors import TorseurError, list_names, unknown_name

DRIVE = "drive"  # name of the force ahead that keeps the speed where the vehicle has no drive of its own
TARGETS = ("speed", "of_turning", "of_steering", "aim")


@dataclass(frozen=True)
class Vehicle:
    """A mechanism whose `body` moves over the ground, steered by `steering`; `drive` keeps its speed.

    `moving` are the coordinates that change in a steady turn: along the ground, the yaw angle, turns of the wheels.
    """

    mechanism: Mechanism
    body: str
    steering: str
    drive: str
    moving: tuple[str, ...]

    @cached_property
    def kinematics(self) -> Kinematics:
        """The programs of the vehicle with steering and drive as parameters."""
        return kinematics_of(self.mechanism)

    @property
    def speed(self) -> Expr:
        """Speed of the mass centre over the ground."""
        return sqrt(sum((_measure(self.body, kind, c).symbol ** 2 for kind, c in _OVER_GROUND), as_expr(0)))

    @property
    def lateral_acceleration(self) -> Expr:
        """Speed times yaw rate: towards the centre of a steady turn."""
        return self.speed * _measure(self.body, "rotation", "z").symbol

    @cached_property
    def steered(self) -> Steered:
        """The vehicle whose steering and drive take care of lateral acceleration and speed themselves.

        In a steady state their forces do not change, so that their rates may be anything that should be zero: what the
        speed lacks, and a combination of lateral acceleration and steering angle, along which turns are followed.
        """
        p = {name: symbol(f"{self.body}.{name}", "1", "") for name in TARGETS}
        measures = [_measure(self.body, kind, c) for kind, c in (*_OVER_GROUND, ("rotation", "z"))]
        prepared = with_sensors(self.mechanism, measures, [Parameter(x, as_expr(0), "1") for x in p.values()])
        angle = symbol(f"{self.steering}.input", self._unit(self.steering), f"input {self.steering}")
        aim = p["of_turning"] * self.lateral_acceleration + p["of_steering"] * angle - p["aim"]
        driven = driven_input(prepared, self.steering, aim)
        push = State(f"{self.drive}.push", self._unit(self.drive), "drive", p["speed"] - self.speed)
        whole = _with_state(driven.mechanism, self.drive, push)
        return Steered(kinematics_of(whole), driven.coordinate.name, push.name, {n: str(x.name) for n, x in p.items()})

    def _unit(self, name: str) -> str:
        return str(self.mechanism.parameter(name).symbol.data.unit)


@dataclass(frozen=True)
class Steered:
    """The programs of a vehicle whose steering and drive are unknowns, and what these and their aims are called."""

    kinematics: Kinematics
    steering: str
    drive: str
    targets: Mapping[str, str]


_OVER_GROUND = (("velocity", "x"), ("velocity", "y"))


def _measure(body: str, kind: str, component: str) -> Sensor:
    return Sensor(f"{body}.iframe.{kind}.{component}", kind, Frame(body, base="iframe"), component)


def _with_state(mechanism: Mechanism, name: str, state: State) -> Mechanism:
    """The mechanism in which a parameter of forces is a state."""
    from dataclasses import fields

    from torseur.description.mechanism.transformations.moving_inputs import with_moving_inputs

    now = {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}
    now["states"] = (*now["states"], state)
    moving = [replace(p, value=state.symbol) if p.name == name else p for p in now["parameters"]]
    put_in = with_moving_inputs({**now, "parameters": tuple(moving), "initial": ()}, {p.name for p in moving})
    try:
        return Mechanism(**{**put_in, "parameters": now["parameters"], "initial": now["initial"], "instances": ()})
    except TorseurError as problem:
        raise TorseurError(f"drive '{name}': a drive is a force or torque. {problem}") from problem


def vehicle(
    mechanism: Mechanism, steering: str, drive: str | None = None, body: str | None = None, moving: Sequence[str] = ()
) -> Vehicle:
    """The mechanism as a vehicle: `steering` and `drive` name parameters, the latter a force or torque that drives.

    Without a drive a force at the mass centre ahead keeps the speed. The body is the one on a free or planar joint from
    the ground. Coordinates whose initial rates are given, such as the turns of wheels, move in a steady turn; `moving`
    names others.
    """
    joint = _ground_joint(mechanism, body)
    known = [p.name for p in mechanism.parameters]
    own = [name for name in known if "." not in name]
    for name in (steering, *([drive] if drive is not None else [])):
        if name not in known:
            raise TorseurError(unknown_name("parameter", name, own or known, "steering and drive: "))
    if drive is None:
        mechanism, drive = _with_force_ahead(mechanism, joint.child.body)
    owned = {q.name for other in mechanism.joints if other is not joint for q in other.coordinates}
    given = [name.removesuffix("'") for name, value in mechanism.initial if name.endswith("'") and not value.is_zero]
    spinning = [name for name in given if name in owned]
    every = dict.fromkeys([*_over_ground(joint), *spinning, *moving])
    return Vehicle(mechanism, joint.child.body, steering, drive, tuple(every))


def _ground_joint(mechanism: Mechanism, body: str | None) -> Joint:
    """The joint by which the body moves over the ground."""
    free = [j for j in mechanism.joints if j.parent.body == EARTH_NAME and j.kind in ("free", "planar") and not j.role]
    if body is not None:
        mechanism.body(body)
    candidates = [j for j in free if body is None or j.child.body == body]
    if len(candidates) != 1:
        have = list_names([j.child.body for j in free])
        there = f"here are {have}: name one (--body, body=)." if free else "here is none."
        raise TorseurError(
            f"{mechanism.name}: a vehicle has one body on a joint `free` or `planar` from the ground; {there}"
        )
    joint = candidates[0]
    if not (joint.speeds or joint.frame_speeds):
        body = joint.child.body
        raise TorseurError(
            f"{mechanism.name}: a steady turn has constant speeds in the axes of '{body}'. Give joint '{joint.name}' "
            f"such speeds: speeds vx, vy, vz = velocity in {body}, p, q, r = rotation in {body}."
        )
    return joint


def _over_ground(joint: Joint) -> list[str]:
    """The coordinates along the ground and the yaw angle, on which nothing depends."""
    names: list[str] = []
    turned = False
    for motion in joint.motions:
        axis = [c.is_zero for c in motion.axis]
        coordinate = next((q.name for q in joint.coordinates if q.symbol is motion.amount), None)
        if motion.kind == "translation" and axis[2] and coordinate is not None:
            names.append(coordinate)
        if motion.kind == "rotation" and not turned and axis[:2] == [True, True] and coordinate is not None:
            names.append(coordinate)
        turned = turned or motion.kind != "translation"
    if len(names) != 3:
        raise TorseurError(
            f"joint '{joint.name}': a vehicle turns about the vertical first. Write free(x, y, z, yaw, pitch, roll) "
            "angles zyx, z pointing up."
        )
    return names


def _with_force_ahead(mechanism: Mechanism, body: str) -> tuple[Mechanism, str]:
    """The mechanism with a force at the mass centre of its body, along its x axis."""
    name = f"{body}.{DRIVE}"
    push = symbol(name, "N", "force ahead")
    load = force(name, Frame(body, base="iframe"), (push, 0, 0), Frame(body))
    whole = replace(
        mechanism,
        loads=(*mechanism.loads, load),
        parameters=(*mechanism.parameters, Parameter(push, as_expr(0), "N")),
        instances=(),
    )
    return whole, name
