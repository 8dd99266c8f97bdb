"""Identified parameters back in the description of the mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from torseur.errors import IdentificationError, UnsupportedError, unknown_name
from torseur.graph import as_expr
from torseur.identification.arrays import Array
from torseur.identification.completion import inconsistent_bodies
from torseur.identification.estimate import Estimate
from torseur.identification.grouping import inertia_of
from torseur.identification.joint_laws import joint_laws
from torseur.identification.linear_model import LinearModel
from torseur.identification.values import given_values
from torseur.mechanism import Body, Frame, InertiaMatrix, Joint, Mechanism, body, fixed, inertia, placement
from torseur.spatial import NO_INERTIA, Inertia
from torseur.tree.constants import body_inertia
from torseur.tree.definitions import resolved
from torseur.tree.tree import instantiate


def described(estimate: Estimate, payloads: Sequence[str] = ()) -> tuple[Mechanism, tuple[str, ...]]:
    """The mechanism with what was identified, and what has no place in it.

    Bodies get their masses, centres and inertias; friction and stiffness become loads, a rotor a wheel on the earth
    that turns with its joint, and the named `payloads` bodies fixed where they were carried. Refused when a body's
    parameters are those of no body.
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
    mechanism = _with_values(model)
    links = [link.name for link in model.equations.tree.links]
    bodies = tuple(_body(estimate, body) if body.name in links else body for body in mechanism.bodies)
    added = joint_laws(estimate)
    carried = [_payload(estimate, name) for name in payloads]
    changed = replace(
        mechanism,
        bodies=(*bodies, *added.bodies, *(body for body, _ in carried)),
        joints=(*mechanism.joints, *added.joints, *(joint for _, joint in carried)),
        loads=(*mechanism.loads, *added.loads),
        constraints=(*mechanism.constraints, *added.constraints),
    )
    left = [f"payload '{name}'" for name in model.payloads if name not in payloads]
    return changed, (*left, *added.left)


def _with_values(model: LinearModel) -> Mechanism:
    """The description with the parameters that the study changed."""
    mechanism = model.equations.mechanism
    own = given_values(model.equations.tree)
    independent = {p.name for p in mechanism.parameters}
    changed = {n: x for n, x in model.values.items() if n in independent and own.get(n) != x}
    return mechanism.with_values(**changed) if changed else mechanism


def _payload(estimate: Estimate, name: str) -> tuple[Body, Joint]:
    """A payload as a body, and the joint that fixes it."""
    model = estimate.model
    if name not in model.payloads:
        raise IdentificationError(unknown_name("payload", name, model.payloads))
    mass, centre, matrix = central(inertia_of([float(x) for x in estimate.body(name)]))
    xx, yy, zz, xy, xz, yz = (float(x) for x in matrix)
    carried = body(name, mass=mass, centre=[float(x) for x in centre], inertia=inertia(xx, yy, zz, xy, xz, yz))
    return carried, fixed(f"{name}_grip", model.payloads[name], carried)


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
    c = _without_dust(np.array([float(x) for x in inertia.moment]) / m)
    rows = np.array([[float(x) for x in row] for row in inertia.matrix.rows])
    I = rows - m * (c @ c * np.eye(3) - np.outer(c, c))
    return m, c, _without_dust(np.array([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]))


def _without_dust(values: Array) -> Array:
    """Values with zero where only rounding is left."""
    return np.where(np.abs(values) > 1e-13 * float(np.max(np.abs(values), initial=0.0)), values, 0.0)


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
