"""Identified parameters back in the description of the mechanism."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Expr, as_expr, evaluate, symbols_of
from torseur.algebra.graph.scalar import sign, tanh
from torseur.algebra.spatial import Inertia
from torseur.analysis.identification.model.columns import parameters_of
from torseur.analysis.identification.model.grouping import inertia_of
from torseur.analysis.identification.model.linear_model import LinearModel, given_values
from torseur.analysis.identification.model.pseudo_inertia import (
    is_consistent,
    parameters_of_pseudo_inertia,
    pseudo_inertia,
)
from torseur.analysis.identification.results.estimate import Estimate
from torseur.analysis.identification.results.identification_warnings import inconsistent_bodies
from torseur.derivation.tree import resolve
from torseur.derivation.tree.body_constants import body_inertia
from torseur.derivation.tree.definitions import resolve_structure
from torseur.derivation.tree.flatten import flatten
from torseur.derivation.tree.tree import instantiate
from torseur.description.mechanism import (
    EARTH,
    Body,
    Constraint,
    Coordinate,
    Frame,
    InertiaMatrix,
    Joint,
    Load,
    Mechanism,
    body,
    coordinate_spring,
    equation,
    fixed,
    inertia,
    motor,
    placement,
    prismatic,
    revolute,
)
from torseur.errors import IdentificationError, UnsupportedError, unknown_name


@dataclass
class Additions:
    """What joins a description, and the names of parameters that cannot."""

    loads: list[Load] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def joint_force_laws(estimate: Estimate) -> Additions:
    """Loads of friction and stiffness, wheels for rotors; an offset is a spring's rest, or has no place."""
    assert estimate.parameters is not None
    model, added = estimate.model, Additions()
    mechanism = model.equations.mechanism
    laws_by_joint: dict[str, dict[str, float]] = {}
    for column, value in zip(model.columns, estimate.parameters, strict=True):
        if column.kind not in ("inertia", "payload"):
            laws_by_joint.setdefault(column.owner, {})[column.kind] = float(value)
    taken = _names(mechanism)
    for name, laws in laws_by_joint.items():
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
        # τ = k q + offset = k (q - rest).
        rest = -laws.get("offset", 0.0) / stiffness if stiffness else 0.0
        own = _fresh(f"identified_{name}", taken)
        yield coordinate_spring(own, joint, name, stiffness=stiffness, rest=rest, damping=damping)
    if laws.get("coulomb"):
        way = tanh(coordinate.rate / threshold) if threshold > 0 else sign(coordinate.rate)
        yield motor(_fresh(f"friction_{name}", taken), joint, name, -laws["coulomb"] * way)


def _add_rotor(
    added: Additions, coordinate: Coordinate, value: float, sideways: tuple[float, ...], taken: Collection[str]
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


def write_back(estimate: Estimate, payloads: Sequence[str] = ()) -> tuple[Mechanism, tuple[str, ...]]:
    """The mechanism with what was identified, and what has no place in it.

    Bodies get their masses, centres and inertias, those fixed to each other shares of what their link has; friction and
    stiffness become loads, a rotor a wheel on the earth that turns with its joint, and the named `payloads` bodies
    fixed where they were carried. Refused when a body's parameters are those of no body.
    """
    model = estimate.model
    if estimate.parameters is None:
        raise IdentificationError(
            "the data determine combinations of parameters only: a description needs all of them. Use "
            "the method consistent, or give the description values to start from."
        )
    faults = inconsistent_bodies(model, estimate.parameters)
    if faults:
        raise IdentificationError(f"the result cannot be written back: {faults[0]}")
    mechanism = _with_values(model)
    shares = {name: J for owner in model.bodies for name, J in _group_shares(estimate, owner).items()}
    bodies = tuple(_body(estimate, body, shares[body.name]) if body.name in shares else body
                   for body in mechanism.bodies)  # fmt: skip
    added = joint_force_laws(estimate)
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


def _group_shares(estimate: Estimate, owner: str) -> dict[str, Array]:
    """Pseudo-inertias, in the link's frame, of the bodies of a link that change: with the others they make the whole.

    Forces feel the sum alone. The body that the joint carries takes all of the difference where it stays a body; else
    every body is deformed alike.
    """
    tree = estimate.model.equations.tree
    if owner not in tree.places:
        return {}  # a payload, which is written apart
    link = tree.places[owner][0]
    bodies = {body.name for body in tree.mechanism.bodies}
    names = [name for name, (carrier, _, _) in tree.places.items() if carrier == link and name in bodies]
    whole, parts = pseudo_inertia(estimate.body(owner)), {name: _description_of(estimate, name) for name in names}
    others = [J for name, J in parts.items() if name != owner]
    if all(J is not None for J in others):
        own = whole - sum(J for J in others if J is not None)
        if is_consistent(parameters_of_pseudo_inertia(own)) and own[3, 3] > 0:
            return {owner: own}
    return _deform(whole, {name: whole / len(names) if J is None else J for name, J in parts.items()})


def _description_of(estimate: Estimate, name: str) -> Array | None:
    """Pseudo-inertia of a body as the description has it, in its link's frame; None without values of a body."""
    model = estimate.model
    tree = model.equations.tree
    known = {s: model.values[str(s.name)] for s in tree.layout.parameters if str(s.name) in model.values}
    symbolic = resolve_structure(tree.mechanism, tree.definitions, body_inertia(tree.mechanism.body(name)))
    placed = tree.places[name][1].inertia_to_parent(symbolic)
    if any(s not in known for s in symbols_of([leaf for leaf in flatten(placed) if isinstance(leaf, Expr)])):
        return None
    parameters = np.array([float(x) for x in parameters_of(instantiate(placed, known))])
    return pseudo_inertia(parameters) if is_consistent(parameters) else None


_SHARE = 1e-6  # of the whole that every body of a group gets before: else rods could not become anything but rods


def _deform(whole: Array, parts: Mapping[str, Array]) -> dict[str, Array]:
    """Parts mapped by one G so that they make the whole: Σ G J Gᵀ = G P Gᵀ = whole, and G J Gᵀ ⪰ 0 as J is.

    Of all such G the symmetric one moves the mass least (the map of optimal transport between Gaussian distributions):
    G = P^-½ (P^½ whole P^½)^½ P^-½, the identity where nothing changed.
    """
    heavy = [name for name, J in parts.items() if J[3, 3] > 0]
    given = {name: parts[name] + _SHARE / len(heavy) * whole for name in heavy}
    P = np.sum(list(given.values()), axis=0)
    root, inverse = _power(P, 0.5), _power(P, -0.5)
    G = inverse @ _power(root @ whole @ root, 0.5) @ inverse
    return {name: G @ J @ G.T for name, J in given.items()}


def _power(S: Array, exponent: float) -> Array:
    """A power of a positive semidefinite matrix on its range."""
    values, vectors = np.linalg.eigh((S + S.T) / 2)
    kept = values > 1e-14 * values[-1]
    return np.asarray((vectors[:, kept] * values[kept] ** exponent) @ vectors[:, kept].T)


def _body(estimate: Estimate, body: Body, J: Array) -> Body:
    """A body with the mass, centre and inertia of its share of the link."""
    _refuse_moving_frames(estimate.model.equations.mechanism, body)
    tree, values = estimate.model.equations.tree, estimate.model.values
    known = {s: values[str(s.name)] for s in tree.layout.parameters if str(s.name) in values}
    own = inertia_of([float(x) for x in parameters_of_pseudo_inertia(J)])
    here = instantiate(tree.places[body.name][1], known).inverse.inertia_to_parent(own)
    mass, centre, matrix = central(here)
    components = tuple(as_expr(float(x)) for x in matrix)
    return replace(
        body,
        mass=as_expr(mass),
        iframe=placement([float(x) for x in centre]),
        inertia=InertiaMatrix(components, "iframe"),
        solids=(),
    )


def central(inertia: Inertia) -> tuple[float, Array, Array]:
    """Mass, mass centre, and components xx, yy, zz, xy, xz, yz of the inertia at the centre."""
    m = float(inertia.mass)
    if m <= 0:
        raise IdentificationError(f"a body would have the mass {m:.3g} kg.")
    c = _without_dust(np.array([float(x) for x in inertia.moment]) / m)
    rows = np.array([[float(x) for x in row] for row in inertia.matrix.rows])
    # Steiner: from the origin to the mass centre.
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
