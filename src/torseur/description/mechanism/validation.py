"""Checks of a mechanism: names that are unique and known, references that lead somewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from torseur.algebra.graph import OPERATIONS, Expr, as_expr, constant_value, live_nodes, substitute, symbols_of
from torseur.description.mechanism.bodies import Body, implied_symbols, open_symbols
from torseur.description.mechanism.contacts import Update, check_contacts
from torseur.description.mechanism.dependencies import check_dependencies, check_followers, formulas_of
from torseur.description.mechanism.frames import EARTH_NAME, Frame
from torseur.description.mechanism.joints import Joint
from torseur.description.mechanism.loads import CoordinateForce, CoordinateSpring, JointWrench
from torseur.description.mechanism.quantities import apply_laws
from torseur.errors import MechanismError, UnsupportedError, unknown_name

if TYPE_CHECKING:
    from torseur.description.mechanism.mechanism import Mechanism
    from torseur.description.mechanism.transformations.parts import Instance


def check(mechanism: Mechanism) -> None:
    """Raises MechanismError at the first contradiction."""
    _require_things(mechanism)
    for kind, things in (
        ("body", mechanism.bodies),
        ("joint", mechanism.joints),
        ("parameter", mechanism.parameters),
        ("load", mechanism.loads),
        ("constraint", mechanism.constraints),
        ("law", mechanism.laws),
        ("sensor", mechanism.sensors),
        ("measure", mechanism.measures),
        ("state", mechanism.states),
        ("contact", mechanism.contacts),
    ):
        _unique(kind, [thing.name for thing in things])
    _unique("frame", [name for name, _ in mechanism.frames])
    _unique("coordinate", [c.name for joint in mechanism.joints for c in joint.coordinates])
    if any(body.name == EARTH_NAME for body in mechanism.bodies):
        raise MechanismError("a body cannot be called 'earth': that is the ground.")
    # Names before references, references before formulas: the first fault that is told is the one that explains the
    # others.
    _check_shared_names(mechanism)
    _check_frames(mechanism)
    _check_joints(mechanism)
    _check_loads(mechanism)
    _check_initial(mechanism)
    _check_actuated(mechanism)
    _check_states(mechanism)
    _check_definitions(mechanism)
    check_contacts(mechanism.contacts, [c.name for c in mechanism.constraints], mechanism.states)
    check_dependencies(mechanism)
    check_followers(mechanism)
    check_masses(mechanism, {})


def check_instances(mechanism: Mechanism, used: Sequence[Instance]) -> None:
    """Names of instances are their own, and gravity and tables are said once."""
    _unique("instance", [instance.name for instance in mechanism.instances])
    names = [instance.name for instance in used]
    _distinct({EARTH_NAME: "ground"}, [*_places(mechanism), ("instance", names)])
    for instance in used:
        part = instance.part.mechanism
        if any(not c.is_zero for c in part.gravity) and all(c.is_zero for c in mechanism.gravity):
            raise MechanismError(
                f"instance '{instance.name}': part '{part.name}' has gravity and mechanism '{mechanism.name}' has "
                "none. Gravity belongs to the whole: give it to the mechanism, or take it from the part."
            )
    _check_tables(mechanism if used else None)


def _check_tables(mechanism: Mechanism | None) -> None:
    """Tables of one name, from parts of one name, hold the same points."""
    if mechanism is None:
        return
    tables: dict[str, object] = {}
    formulas = [formula for use in formulas_of(mechanism) for formula in use.formulas]
    for node in live_nodes([*formulas, *(law.formula for law in mechanism.laws)]):
        if node.op == "table" and tables.setdefault(node.data.table.name, node.data.table) != node.data.table:
            raise MechanismError(f"two different tables are called '{node.data.table.name}': rename one of the parts.")


def _unique(kind: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not name:
            raise MechanismError(f"a {kind} has an empty name.")
        if name in seen:
            raise MechanismError(f"two {_plural(kind)} are called '{name}'.")
        seen.add(name)


def _check_shared_names(mechanism: Mechanism) -> None:
    """Names that meet in one formula, or in one place where a frame is asked for, differ."""
    coordinates = [c.name for joint in mechanism.joints for c in joint.coordinates]
    formula = [
        ("parameter", [p.name for p in mechanism.parameters]),
        ("coordinate", coordinates),
        ("speed", [s.name for joint in mechanism.joints for s in joint.speeds]),
        ("state", [s.name for s in mechanism.states]),
        ("sensor", [s.name for s in mechanism.sensors]),
        ("measure", [m.name for m in mechanism.measures]),
    ]
    _distinct({"t": "time", "pi": "number pi"}, formula)
    _refuse_primes([*formula, ("law", [law.name for law in mechanism.laws])])
    for body in mechanism.bodies:
        _check_implied_names(body, mechanism)
    _distinct({EARTH_NAME: "ground"}, _places(mechanism))


def _places(mechanism: Mechanism) -> list[tuple[str, list[str]]]:
    return [("body", [b.name for b in mechanism.bodies]), ("frame", [name for name, _ in mechanism.frames])]


def _refuse_primes(formula: list[tuple[str, list[str]]]) -> None:
    """A prime at the end of a name in a formula is a derivative: no name can be told from that."""
    for kind, names in formula:
        for name in names:
            if name.endswith("'"):
                raise MechanismError(
                    f"the name of {kind} '{name}' ends in a prime, which in a formula is a derivative by time. Call it "
                    "something else."
                )


def _check_implied_names(body: Body, mechanism: Mechanism) -> None:
    """A parameter called `arm.mass` gives that mass where the body leaves it open, and nothing else."""
    reserved, left_open = implied_symbols(body.name), open_symbols(body)
    for parameter in mechanism.parameters:
        if parameter.name in reserved and left_open.get(parameter.name) is not parameter.symbol:
            what = parameter.name.removeprefix(f"{body.name}.")
            raise MechanismError(
                f"parameter '{parameter.name}' has the name of a property of body '{body.name}'. "
                f"Give that to the body itself ({what}), or call the parameter something else."
            )


def _distinct(taken: dict[str, str], groups: list[tuple[str, list[str]]]) -> None:
    owners = dict(taken)
    for kind, names in groups:
        for name in names:
            if owners.get(name, kind) != kind:
                raise MechanismError(f"{kind} '{name}' has the name of a {owners[name]}.")
            owners[name] = kind


def _plural(kind: str) -> str:
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"


def _check_frames(mechanism: Mechanism) -> None:
    known = [EARTH_NAME, *(body.name for body in mechanism.bodies)]
    for owner, frame in _frames(mechanism):
        if frame.body not in known:
            raise MechanismError(unknown_name("body", frame.body, known, f"{owner}: "))


def _frames(mechanism: Mechanism) -> Iterator[tuple[str, Frame]]:
    """Every frame with the words for what mentions it: a field that is a frame, whatever thing has it."""
    for kind in ("joint", "load", "constraint", "sensor", "contact"):
        for thing in getattr(mechanism, f"{kind}s"):
            for value in vars(thing).values():
                if isinstance(value, Frame):
                    yield f"{kind} '{thing.name}'", value
    yield from ((f"frame '{name}'", frame) for name, frame in mechanism.frames)
    yield from ((drawing.owner, frame) for drawing in mechanism.drawings for frame in drawing.frames)


def _check_joints(mechanism: Mechanism) -> None:
    joined = {frame.body for joint in mechanism.joints for frame in (joint.parent, joint.child)}
    for joint in mechanism.joints:
        if joint.parent.body == joint.child.body:
            raise MechanismError(f"joint '{joint.name}' joins body '{joint.parent.body}' to itself.")
        _check_motions(joint.name, joint)
    for body in mechanism.bodies:
        if body.name not in joined:
            raise MechanismError(
                f"body '{body.name}' is not joined to anything. Join it to 'earth' with a free joint if it floats."
            )


def _check_motions(name: str, joint: Joint) -> None:
    for motion in joint.motions:
        if motion.kind not in ("rotation", "translation", "quaternion"):
            raise MechanismError(
                unknown_name("motion", motion.kind, ("rotation", "translation", "quaternion"), f"joint '{name}': ")
            )
        if all(component.is_zero for component in motion.axis):
            raise MechanismError(f"joint '{name}': an axis cannot be [0, 0, 0].")
    moving = set(symbols_of([motion.amount for motion in joint.motions]))
    idle = [q.name for q in joint.coordinates if q.symbol not in moving]
    if len(idle) != 4 * sum(motion.kind == "quaternion" for motion in joint.motions):
        raise MechanismError(f"joint '{name}': coordinate '{(idle or ['?'])[0]}' moves nothing.")


def _check_loads(mechanism: Mechanism) -> None:
    joints = {joint.name: joint for joint in mechanism.joints}
    for load in mechanism.loads:
        if isinstance(load, (CoordinateForce, CoordinateSpring, JointWrench)) and load.joint not in joints:
            raise MechanismError(unknown_name("joint", load.joint, joints, f"load '{load.name}': "))
        if isinstance(load, (CoordinateForce, CoordinateSpring)):
            names = [c.name for c in joints[load.joint].coordinates]
            if load.coordinate not in names:
                where = f"load '{load.name}' on joint '{load.joint}': "
                raise MechanismError(unknown_name("coordinate", load.coordinate, names, where))


def _check_initial(mechanism: Mechanism) -> None:
    names = [c.name for joint in mechanism.joints for c in joint.coordinates]
    speeds = [s.name for joint in mechanism.joints for s in joint.speeds]
    known = [*names, *(f"{name}'" for name in names), *speeds, *(state.name for state in mechanism.states)]
    for joint in mechanism.joints:
        known += implied_speeds(joint)
    _unique("initial value", [name for name, _ in mechanism.initial])
    for name, _ in mechanism.initial:
        if name not in known:
            raise MechanismError(unknown_name("coordinate", name, known, "initial state: "))


def _check_actuated(mechanism: Mechanism) -> None:
    known = [c.name for joint in mechanism.joints for c in joint.coordinates]
    _unique("actuated coordinate", list(mechanism.actuated))
    for name in mechanism.actuated:
        if name not in known:
            raise MechanismError(unknown_name("coordinate", name, known, "actuated: "))


def _check_states(mechanism: Mechanism) -> None:
    """Every state has one equation: its own formula, or one of those that several states share."""
    shared = [state.name for state in mechanism.states if state.formula is None]
    if len(shared) != len(mechanism.state_equations):
        given = f"{len(mechanism.state_equations)} equation{'s' if len(mechanism.state_equations) != 1 else ''}"
        if not shared:
            first = f"state '{mechanism.states[0].name}': " if mechanism.states else ""
            raise MechanismError(f"{first}{given} between rates, but no state is left without a formula of its own.")
        raise MechanismError(
            f"state '{shared[0]}': {len(shared)} state{'s' if len(shared) > 1 else ''} without a formula "
            f"({', '.join(shared)}) and {given}. Write {shared[0]}' = ..., or an equation for each."
        )


def implied_speeds(joint: Joint) -> list[str]:
    """Names of the speeds that replace rates without having been named: in body axes, or of a quaternion."""
    if joint.speeds:
        return []
    turning = [f"{joint.name}.w{axis}" for axis in "xyz"]
    if joint.frame_speeds == "body":
        return [*(f"{joint.name}.v{axis}" for axis in "xyz"), *turning]
    return turning if any(motion.kind == "quaternion" for motion in joint.motions) else []


def _check_definitions(mechanism: Mechanism) -> None:
    """No parameter or law is defined in terms of itself, and no law hides a function."""
    parameters = {
        p.name: [str(s.name) for s in symbols_of([p.value])] for p in mechanism.parameters if p.value is not None
    }
    laws = {}
    for law in mechanism.laws:
        if law.name in OPERATIONS:
            raise MechanismError(f"law '{law.name}' has the name of a function.")
        laws[law.name] = [n.data.function.name for n in live_nodes([law.formula]) if n.op == "apply"]
    for kind, uses in (("parameter", parameters), ("law", laws)):
        circular = _first_circular(uses)
        if circular is not None:
            raise MechanismError(f"{kind} '{circular}' is defined in terms of itself.")


def check_masses(mechanism: Mechanism, changes: Mapping[str, float]) -> None:
    """No body weighs less than nothing, as far as the values of parameters tell, unless that is said to be meant.

    `changes` are values of parameters that replace those of the mechanism.
    """
    for body in mechanism.bodies:
        parts = [solid.total_mass for solid in body.solids] + ([] if body.mass is None else [body.mass])
        if body.negative or not parts or all(part.is_constant and part.value >= 0 for part in parts):
            continue
        mass = constant_in(mechanism, sum(parts, as_expr(0)), changes)
        if mass is not None and mass < 0:
            raise MechanismError(
                f"body '{body.name}' has a negative mass ({mass:.6g} kg). If that is meant, as of a hole "
                "in what it is fixed to, say so: the word `negative` in the body (negative=True in Python)."
            )


def constant_in(
    mechanism: Mechanism, formula: Expr, changes: Mapping[str, float] = MappingProxyType({})
) -> float | None:
    """The number that a formula of parameters stands for; None where a value or a law is missing."""
    values = {p.symbol: p.value for p in mechanism.parameters if p.value is not None}
    values |= {p.symbol: as_expr(changes[p.name]) for p in mechanism.parameters if p.name in changes}
    (formula,) = apply_laws([formula], mechanism.laws) if mechanism.laws else (formula,)
    for _ in range(len(values) + 1):
        present = symbols_of([formula])
        if not present:
            break
        if any(symbol not in values for symbol in present):
            return None
        (formula,) = substitute([formula], {symbol: values[symbol] for symbol in present})
    return None if any(node.op in ("apply", "table") for node in live_nodes([formula])) else constant_value(formula)


def _first_circular(uses: Mapping[str, Sequence[str]]) -> str | None:
    """A name whose uses lead back to it: what is left when names that use nothing left are taken away."""
    left = {name: {used for used in names if used in uses} for name, names in uses.items()}
    users: dict[str, list[str]] = {}
    for name, names in left.items():
        for used in names:
            users.setdefault(used, []).append(name)
    free = [name for name, names in left.items() if not names]
    while free:
        done = free.pop()
        del left[done]
        for user in users.get(done, []):
            left[user].discard(done)
            if not left[user]:
                free.append(user)
    return next(iter(left), None)


def _require_things(mechanism: Mechanism) -> None:
    """Refuses names where bodies and joints themselves are expected."""
    for field, kind in (("bodies", Body), ("joints", Joint)):
        for thing in getattr(mechanism, field):
            if not isinstance(thing, kind):
                raise MechanismError(f"{field} of '{mechanism.name}': expected a {kind.__name__}, got {thing!r}.")


def require_smooth(mechanism: Mechanism, what: str) -> None:
    """Refuses mechanisms with elements that switch, for what takes one set of equations for the whole motion."""
    if mechanism.contacts:
        first = [f"'{c.name}'" for c in mechanism.contacts[:3]] + (["..."] if mechanism.contacts[3:] else [])
        if all(isinstance(element, Update) for element in mechanism.contacts):
            raise UnsupportedError(
                f"{mechanism.name}: {what} does not cover updates of states ({', '.join(first)}), which jump along a "
                "motion. `simulate` does; ts.without_contacts(mechanism) leaves them out."
            )
        raise UnsupportedError(
            f"{mechanism.name}: {what} does not cover stops, dry friction and contact ({', '.join(first)}), whose "
            "equations switch along a motion. `simulate` does; ts.without_contacts(mechanism) leaves them out."
        )


def require_continuous(mechanism: Mechanism, what: str) -> None:
    """Refuses updates of states, for what follows contacts and friction but not these."""
    updates = [f"'{element.name}'" for element in mechanism.contacts if isinstance(element, Update)]
    if updates:
        raise UnsupportedError(
            f"{mechanism.name}: {what} does not cover updates of states ({', '.join(updates[:3])}), which jump along a "
            "motion. `simulate` does; ts.without_contacts(mechanism) leaves them out."
        )


def without_contacts(mechanism: Mechanism) -> Mechanism:
    """The mechanism without bounds, dry friction and contact: its motion where nothing touches and nothing rubs."""
    from torseur.description.mechanism.mechanism import require_mechanism

    require_mechanism(mechanism)
    return replace(mechanism, contacts=()) if mechanism.contacts else mechanism
