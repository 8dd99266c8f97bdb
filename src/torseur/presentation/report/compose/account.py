"""What a mechanism is, in numbers and words: bodies, joints, freedoms, parameters, initial state, warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import symbols_of
from torseur.algebra.graph.printing import excerpt
from torseur.derivation.dynamics.kinematics import link_velocities
from torseur.derivation.tree import GROUND, Link, Tree, build_tree
from torseur.derivation.tree.definitions import undetermined_functions
from torseur.description.mechanism import Joint, Mechanism
from torseur.errors import list_names
from torseur.presentation.levels.conditions import what_switches
from torseur.presentation.scene.bodies.body_masses import BodyMass, body_mass
from torseur.presentation.scene.bodies.known_numbers import Numbers


def warnings_of(
    tree: Tree, numbers: Numbers, bodies: Sequence[BodyMass], initial: Mapping[str, float | None]
) -> Iterator[str]:
    """One sentence per doubt, the gravest first."""
    if not bodies and not tree.mechanism.states:
        yield "There are no bodies: nothing in the description can move."
    yield from _impossible(tree, numbers, bodies)
    yield from _idle_joints(tree, bodies)
    yield from _massless(tree, bodies)
    yield from _missing_values(numbers)
    yield from _quaternions(tree, initial)


def _impossible(tree: Tree, numbers: Numbers, bodies: Sequence[BodyMass]) -> Iterator[str]:
    # What bodies feel takes a while to find, and nearly all are possible whatever they feel.
    doubtful = [body for body in bodies if body.fault(np.eye(3))]
    felt = rotations_felt(tree, numbers, [body.name for body in doubtful]) if doubtful else {}
    for body in doubtful:
        reason = body.fault(felt[body.name])
        if reason:
            yield f"Body '{body.name}' cannot exist: {reason}."


def rotations_felt(tree: Tree, numbers: Numbers, bodies: Sequence[str]) -> dict[str, Array]:
    """Orthonormal directions in each body, row by row, that span its angular velocities in any motion of the tree."""
    random = np.random.default_rng(0)
    known = {str(symbol.name): value for symbol, value in numbers.by_symbol.items()}
    values = {name: known.get(name, random.uniform(0.5, 1.5)) for name in tree.layout.parameter_names}
    bound, n = tree.with_parameters(values), len(tree.layout.speeds)
    moving = {body: tree.places[body] for body in bodies if tree.places[body][0] != GROUND}
    rows: dict[str, list[list[float]]] = {body: [] for body in moving}
    for q in random.uniform(-1, 1, (3 if moving else 0, len(tree.layout.coordinates))):
        for v in (np.zeros(n), *np.eye(n)):  # at rest too: what time moves
            now = bound.at(q.tolist(), v.tolist(), 0.3)
            velocities = link_velocities(now)
            for body, (link, place, _) in moving.items():
                turning = now.evaluate(place).rotation.to_child(velocities[link].angular)
                rows[body].append([float(component) for component in turning])
    return {body: _span(np.array(rows[body])) if body in rows else np.zeros((0, 3)) for body in bodies}


def _span(rows: Array) -> Array:
    """Orthonormal directions that span the rows."""
    _, sizes, directions = np.linalg.svd(rows)
    spanned: Array = directions[: int(np.sum(sizes > 1e-9 * max(sizes[0], 1e-300)))]
    return spanned


def _massless(tree: Tree, bodies: Sequence[BodyMass]) -> Iterator[str]:
    """Bodies without mass that move by themselves; those fixed to a heavy one, or to the earth, are mere frames."""
    heavy = {GROUND, *(tree.places[body.name][0] for body in bodies if not body.is_massless)}
    names = [body.name for body in bodies if body.is_massless and tree.places[body.name][0] not in heavy]
    if names:
        yield f"Without mass and inertia: {list_names(names)}."


def _idle_joints(tree: Tree, bodies: Sequence[BodyMass]) -> Iterator[str]:
    """Joints that move nothing but massless bodies: their accelerations are undetermined."""
    massless = {body.name for body in bodies if body.is_massless}
    for number, link in enumerate(tree.links):
        carried = [name for name, (owner, _, _) in tree.places.items() if owner in tree.subtrees[number]]
        if carried and massless.issuperset(carried) and link.joint.coordinates:
            names = ", ".join(c.name for c in link.joint.coordinates)
            yield (
                f"Joint '{link.joint.name}' moves nothing that has mass, so the acceleration of {names} is "
                f"undetermined: give {list_names(carried)} a mass or an inertia."
            )


def _missing_values(numbers: Numbers) -> Iterator[str]:
    if numbers.missing:
        yield f"No value is given for {list_names(numbers.missing)}: motions that depend on it cannot be computed."


def _quaternions(tree: Tree, initial: Mapping[str, float | None]) -> Iterator[str]:
    stated = {name for name, _ in tree.mechanism.initial}
    for link in tree.links:
        names = [str(x.name) for x in link.symbols.quaternion or ()]
        known = [value for value in (initial[name] for name in names) if value is not None]
        # What is not stated completes the rest.
        if (
            names
            and stated.issuperset(names)
            and len(known) == len(names)
            and abs(sum(x * x for x in known) - 1) > 1e-9
        ):
            yield f"The initial quaternion of joint '{link.joint.name}' is not of unit length."


@dataclass(frozen=True)
class JointAccount:
    """A joint: what it joins, its coordinates, the freedoms it leaves, and whether it closes a loop."""

    name: str
    kind: str
    parent: str
    child: str
    coordinates: tuple[str, ...]
    freedoms: int
    closes_loop: bool


@dataclass(frozen=True)
class Quantity:
    """A named number with its unit; the value is None where it is not known, `formula` says what it follows from."""

    name: str
    value: float | None
    unit: str
    meaning: str
    formula: str = ""


@dataclass(frozen=True)
class Account:
    """The whole account."""

    name: str
    meaning: str
    gravity: tuple[float | None, ...]
    bodies: tuple[BodyMass, ...]
    joints: tuple[JointAccount, ...]
    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    loops: tuple[str, ...]
    constraints: tuple[str, ...]
    loads: tuple[str, ...]
    undetermined: tuple[str, ...]
    parameters: tuple[Quantity, ...]
    initial: tuple[Quantity, ...]
    states: tuple[Quantity, ...]
    switching: tuple[tuple[str, str], ...]  # stops, dry friction and contacts: names, and what they are
    warnings: tuple[str, ...]

    @property
    def degree_of_freedom(self) -> int | None:
        """Speeds of the tree; None where loops and constraints take some of them away."""
        return None if self.loops or self.constraints else len(self.speeds)


def account(mechanism: Mechanism | Tree, changes: Mapping[str, float] | None = None) -> Account:
    """The account of a mechanism, some of its parameters changed."""
    tree = mechanism if isinstance(mechanism, Tree) else build_tree(mechanism)
    mechanism = tree.mechanism
    numbers = Numbers(tree, changes or {})
    bodies = tuple(body_mass(body, numbers) for body in mechanism.bodies)
    initial = _initial(tree, numbers)
    return Account(
        name=mechanism.name,
        meaning=mechanism.meaning,
        gravity=tuple(numbers.value(component) for component in mechanism.gravity),
        bodies=bodies,
        joints=tuple(_joint(joint, tree) for joint in mechanism.joints),
        coordinates=tuple(tree.layout.joint_coordinate_names),
        speeds=tuple(tree.layout.speed_names),
        loops=tuple(joint.name for joint in tree.loops),
        constraints=tuple(constraint.name for constraint in mechanism.constraints),
        loads=tuple(load.name for load in mechanism.loads),
        undetermined=undetermined_functions(tree.mechanism),
        parameters=_parameters(tree, numbers),
        initial=initial,
        states=_states(tree, numbers),
        switching=tuple((element.name, what_switches(element)) for element in mechanism.contacts),
        warnings=tuple(warnings_of(tree, numbers, bodies, {q.name: q.value for q in initial})),
    )


def _joint(joint: Joint, tree: Tree) -> JointAccount:
    closing = {one.name for one in tree.loops}
    names = tuple(c.name for c in joint.coordinates)
    freedoms = len(names) - sum(motion.kind == "quaternion" for motion in joint.motions)
    return JointAccount(
        joint.name, kind_of(joint), joint.parent.body, joint.child.body, names, freedoms,
        joint.name in closing,
    )  # fmt: skip


def kind_of(joint: Joint) -> str:
    """The kind of a joint; a general link by what it does: revolute, prismatic, or "link TTTRRR" by its motions."""
    if joint.kind != "link":
        return joint.kind.replace("_", " ")
    own = {c.symbol for c in joint.coordinates}
    moving = [m.kind for m in joint.motions if m.kind == "quaternion" or own & set(symbols_of([m.amount]))]
    if len(moving) == 1 and moving[0] != "quaternion":
        return {"rotation": "revolute", "translation": "prismatic"}[moving[0]]
    return "link " + "".join({"rotation": "R", "translation": "T", "quaternion": "S"}[kind] for kind in moving)


def _parameters(tree: Tree, numbers: Numbers) -> tuple[Quantity, ...]:
    """Declared parameters, then the symbols that stand for what was not given."""
    declared = {p.name: p for p in tree.mechanism.parameters}
    rows = []
    for parameter in tree.mechanism.parameters:
        dependent = parameter.value is not None and bool(symbols_of([parameter.value]))
        formula = excerpt(parameter.value) if dependent and parameter.value is not None else ""
        value = numbers.value(parameter.symbol)
        rows.append(Quantity(parameter.name, value, parameter.si_unit, parameter.meaning, formula))
    for symbol in tree.layout.parameters:
        if symbol.name not in declared:
            info = symbol.data
            rows.append(Quantity(info.name, numbers.by_symbol.get(symbol), info.unit, info.meaning))
    return tuple(rows)


def _initial(tree: Tree, numbers: Numbers) -> tuple[Quantity, ...]:
    """Every coordinate and speed with its value at the start; those left out start at zero, quaternions at rest."""
    given = dict(tree.mechanism.initial)
    rows = []
    for link in tree.links:
        for symbol in (*link.symbols.coordinates, *link.symbols.speeds):
            name = str(symbol.name)
            value = numbers.value(given[name]) if name in given else _default(link, name)
            rows.append(Quantity(name, value, symbol.data.unit, symbol.data.meaning))
    for state in tree.mechanism.states:
        if state.symbol in tree.definitions:  # an algebraic unknown follows from its equation, at the start too
            continue
        value = numbers.value(given[state.name]) if state.name in given else 0.0
        rows.append(Quantity(state.name, value, state.unit, state.meaning))
    return tuple(rows)


def _states(tree: Tree, numbers: Numbers) -> tuple[Quantity, ...]:
    """States beyond mechanics, each with the formula of its rate as it was written or solved for."""
    rows = []
    for state in tree.mechanism.states:
        unknown = state.symbol in tree.definitions
        formula = state.formula if state.formula is not None or unknown else tree.state_rates[state.rate]
        shown = "" if formula is None else excerpt(formula)
        rows.append(Quantity(state.name, None, state.unit, state.meaning, shown))
    return tuple(rows)


def _default(link: Link, name: str) -> float:
    quaternion = link.symbols.quaternion
    return 1.0 if quaternion and name == quaternion[0].name else 0.0
