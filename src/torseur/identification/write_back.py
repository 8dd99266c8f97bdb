"""Identified parameters back in the description of the mechanism."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from torseur.errors import IdentificationError, UnsupportedError
from torseur.graph import as_expr
from torseur.graph.scalar import sign
from torseur.identification.arrays import Array
from torseur.identification.completion import inconsistent_bodies
from torseur.identification.estimate import Estimate
from torseur.identification.grouping import inertia_of
from torseur.mechanism import (
    Body,
    Coordinate,
    Frame,
    InertiaMatrix,
    Load,
    Mechanism,
    coordinate_spring,
    motor,
    placement,
)
from torseur.spatial import NO_INERTIA, Inertia
from torseur.tree.constants import body_inertia
from torseur.tree.definitions import resolved
from torseur.tree.tree import instantiate


def described(estimate: Estimate) -> tuple[Mechanism, tuple[str, ...]]:
    """The mechanism with the identified masses, centres, inertias, friction and stiffness, and what has no place in it.

    Refused when a body's parameters are those of no body.
    """
    model = estimate.model
    if estimate.parameters is None:
        raise IdentificationError(
            "the data determine combinations of parameters only: a description needs all of them. Use "
            "method='consistent', or give the description values to start from."
        )
    faults = inconsistent_bodies(model, estimate.parameters)
    if faults:
        raise IdentificationError(f"the result cannot be written back: {faults[0]}")
    mechanism = model.equations.mechanism
    links = [link.name for link in model.equations.tree.links]
    bodies = tuple(_body(estimate, body) if body.name in links else body for body in mechanism.bodies)
    loads, left = _joint_laws(estimate)
    return replace(mechanism, bodies=bodies, loads=(*mechanism.loads, *loads)), tuple(left)


def _body(estimate: Estimate, body: Body) -> Body:
    """A body with what its link has beyond the other bodies fixed to it."""
    _refuse_moving_frames(estimate.model.equations.mechanism, body)
    tree, values = estimate.model.equations.tree, estimate.model.values
    known = {s: values[str(s.name)] for s in tree.layout.parameters if str(s.name) in values}
    parameters = estimate.body(body.name)
    link, place, _ = tree.places[body.name]
    others = NO_INERTIA
    for name, (carrier, there, _) in tree.places.items():
        if carrier == link and name != body.name and name in {b.name for b in tree.mechanism.bodies}:
            symbolic = resolved(tree.mechanism, tree.definitions, body_inertia(tree.mechanism.body(name)))
            others = others + instantiate(there.inertia_to_parent(symbolic), known)
    own = _difference(inertia_of([float(x) for x in parameters]), others)
    here = instantiate(place, known).inverse.inertia_to_parent(own)
    mass, centre, matrix = central(here)
    components = tuple(as_expr(float(x)) for x in matrix)
    return replace(
        body,
        mass=as_expr(mass),
        iframe=placement([float(x) for x in centre]),
        inertia=InertiaMatrix(components, "iframe"),
        solids=(),
    )


def _difference(a: Inertia, b: Inertia) -> Inertia:
    return Inertia(a.mass - b.mass, a.moment - b.moment, a.matrix - b.matrix)


def central(inertia: Inertia) -> tuple[float, Array, Array]:
    """Mass, mass centre, and components xx, yy, zz, xy, xz, yz of the inertia at the centre."""
    m = float(inertia.mass)
    if m <= 0:
        raise IdentificationError(f"a body would have the mass {m:.3g} kg.")
    c = np.array([float(x) for x in inertia.moment]) / m
    rows = np.array([[float(x) for x in row] for row in inertia.matrix.rows])
    I = rows - m * (c @ c * np.eye(3) - np.outer(c, c))
    return m, c, np.array([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


def _refuse_moving_frames(mechanism: Mechanism, body: Body) -> None:
    """A joint placed from a body's mass centre would move with it."""
    for joint in mechanism.joints:
        if any(_from_centre(frame, body) for frame in (joint.parent, joint.child)):
            raise UnsupportedError(
                f"joint '{joint.name}' is placed from the mass centre of '{body.name}': another centre would move it. "
                "Place it from the body's frame instead."
            )


def _from_centre(frame: Frame, body: Body) -> bool:
    return frame.body == body.name and frame.base == "iframe"


def _joint_laws(estimate: Estimate) -> tuple[list[Load], list[str]]:
    """Friction and stiffness as loads on the joints, and the parameters that no load stands for."""
    assert estimate.parameters is not None
    model = estimate.model
    found: dict[str, dict[str, float]] = {}
    for column, value in zip(model.columns, estimate.parameters, strict=True):
        if column.kind not in ("inertia", "payload"):
            found.setdefault(column.owner, {})[column.kind] = float(value)
    loads: list[Load] = []
    left = [f"payload '{c.owner}'" for c in model.columns if c.kind == "payload" and c.name.endswith(".mass")]
    for name, laws in found.items():
        joint, coordinate = _joint_of(model.equations.mechanism, name)
        loads += _laws_of(joint, coordinate, laws)
        left += [f"{name}.{kind}" for kind in ("rotor", "offset") if kind in laws]
    return loads, left


def _laws_of(joint: str, coordinate: Coordinate, laws: dict[str, float]) -> Iterable[Load]:
    stiffness, damping, name = laws.get("stiffness", 0.0), laws.get("viscous", 0.0), coordinate.name
    if stiffness or damping:
        yield coordinate_spring(f"identified_{name}", joint, name, stiffness=stiffness, damping=damping)
    if laws.get("coulomb"):
        yield motor(f"friction_{name}", joint, name, -laws["coulomb"] * sign(coordinate.rate))


def _joint_of(mechanism: Mechanism, name: str) -> tuple[str, Coordinate]:
    """The joint that has a coordinate, and the coordinate."""
    return next((j.name, c) for j in mechanism.joints for c in j.coordinates if c.name == name)
