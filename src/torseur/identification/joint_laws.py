"""Identified friction, stiffness, offsets and rotors of joints as parts of a description."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from torseur.graph import as_expr, evaluate
from torseur.graph.scalar import sign, tanh
from torseur.identification.estimate import Estimate
from torseur.mechanism import (
    EARTH,
    Body,
    Constraint,
    Coordinate,
    Joint,
    Load,
    Mechanism,
    body,
    coordinate_spring,
    equation,
    inertia,
    motor,
    prismatic,
    revolute,
)
from torseur.tree import resolve


@dataclass
class Added:
    """What joins a description, and the names of parameters that cannot."""

    loads: list[Load] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def joint_laws(estimate: Estimate) -> Added:
    """Loads of friction and stiffness, wheels for rotors; an offset is a spring's rest, or has no place."""
    assert estimate.parameters is not None
    model, added = estimate.model, Added()
    mechanism = model.equations.mechanism
    found: dict[str, dict[str, float]] = {}
    for column, value in zip(model.columns, estimate.parameters, strict=True):
        if column.kind not in ("inertia", "payload"):
            found.setdefault(column.owner, {})[column.kind] = float(value)
    taken = _names(mechanism)
    for name, laws in found.items():
        joint, coordinate = _joint_of(mechanism, name)
        added.loads += _loads(joint, coordinate, laws, model.threshold, taken)
        if laws.get("rotor", 0.0) > 0:
            _add_rotor(added, coordinate, laws["rotor"], _sideways(estimate), taken)
        if "offset" in laws and not laws.get("stiffness"):
            added.left.append(f"{name}.offset (a sensor's, no part of the mechanism)")
    return added


def _loads(
    joint: str, coordinate: Coordinate, laws: Mapping[str, float], threshold: float, taken: Collection[str]
) -> Iterator[Load]:
    stiffness, damping, name = laws.get("stiffness", 0.0), laws.get("viscous", 0.0), coordinate.name
    if stiffness or damping:
        rest = -laws.get("offset", 0.0) / stiffness if stiffness else 0.0
        own = _fresh(f"identified_{name}", taken)
        yield coordinate_spring(own, joint, name, stiffness=stiffness, rest=rest, damping=damping)
    if laws.get("coulomb"):
        way = tanh(coordinate.rate / threshold) if threshold > 0 else sign(coordinate.rate)
        yield motor(_fresh(f"friction_{name}", taken), joint, name, -laws["coulomb"] * way)


def _add_rotor(
    added: Added, coordinate: Coordinate, value: float, sideways: tuple[float, ...], taken: Collection[str]
) -> None:
    """A wheel on the earth that turns with the joint, or a block that slides along with it, across gravity.

    On the earth, since a rotor's inertia τ = J v̇ feels the joint's own speed only.
    """
    name = _fresh(f"rotor_{coordinate.name}", taken)
    own = Coordinate(name, coordinate.unit)
    wheel = body(name, mass=value, centre=(0, 0, 0), inertia=inertia(value / 2, value / 2, value))
    slides = coordinate.unit == "m"
    added.bodies.append(wheel)
    joined = prismatic(name, EARTH, wheel, own, sideways) if slides else revolute(name, EARTH, wheel, own)
    added.joints.append(joined)
    added.constraints.append(equation(name, own.symbol - coordinate.symbol))


def _sideways(estimate: Estimate) -> tuple[float, ...]:
    """A direction across gravity."""
    equations = estimate.model.equations
    known = {s: estimate.model.values.get(str(s.name), 0.0) for s in equations.layout.parameters}
    formulas = resolve(
        equations.mechanism, equations.tree.definitions, [as_expr(g) for g in equations.mechanism.gravity]
    )
    g = np.array([float(x) for x in evaluate(formulas, known)])
    axis = np.eye(3)[int(np.argmin(np.abs(g)))]
    across = np.cross(g, axis) if np.any(g) else axis
    return tuple(float(x) for x in across / np.linalg.norm(across))


def _names(mechanism: Mechanism) -> set[str]:
    """Names that are taken, of anything."""
    things = (*mechanism.bodies, *mechanism.joints, *mechanism.loads, *mechanism.constraints, *mechanism.parameters)
    return {thing.name for thing in things} | {c.name for joint in mechanism.joints for c in joint.coordinates}


def _fresh(name: str, taken: Collection[str]) -> str:
    """The name, with a number after it where it is taken."""
    numbered = (name if k == 1 else f"{name}_{k}" for k in range(1, len(taken) + 2))
    return next(n for n in numbered if n not in taken)


def _joint_of(mechanism: Mechanism, name: str) -> tuple[str, Coordinate]:
    """The joint that has a coordinate, and the coordinate."""
    return next((j.name, c) for j in mechanism.joints for c in j.coordinates if c.name == name)
