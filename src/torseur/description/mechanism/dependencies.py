"""What a formula may depend on, by the slot it stands in: one table for texts and for Python.

The derivation differentiates motions of joints and constraints along the motion of the mechanism. Masses, frames and
axes it takes for constants, so that a coordinate hidden there would give equations without its rates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from torseur.algebra.graph import Expr, as_expr, live_nodes, substitute
from torseur.description.mechanism.bodies import Body
from torseur.description.mechanism.constraints import Constraint, Distance, Rolling
from torseur.description.mechanism.contacts import GROUND_X, GROUND_Y, Bound, Contact, Switching, Update
from torseur.description.mechanism.drawings import drawing_formulas
from torseur.description.mechanism.frames import Frame, Placement
from torseur.description.mechanism.joints import Joint
from torseur.description.mechanism.loads import LENGTH, LENGTH_RATE, AppliedWrench, Bushing, Load, PointSpring
from torseur.description.mechanism.quantities import TIME, Coordinate, Law, State
from torseur.description.mechanism.speeds import quaternion_coordinates
from torseur.errors import MechanismError

if TYPE_CHECKING:
    from torseur.description.mechanism.mechanism import Mechanism

OWN = "the joint's own "
STATE = ("time", "coordinates", "rates", "sensors", "states", "rates of states")


@dataclass(frozen=True)
class Slot:
    """A place for formulas: what stands there, what it may depend on beside parameters, and how to say the rest."""

    what: str
    may: tuple[str, ...] = ()
    instead: str = ""

    @property
    def allowed(self) -> str:
        """parameters, time and coordinates."""
        words = ["parameters", *self.may]
        return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


_RIGID = "A body is rigid: make what moves in it a body of its own, on a joint."
_LINK = (
    "Say it as motions of the joint: link(...) dof1 = [...], dof2 = angle || axis, of its own coordinates and of time. "
    "To follow another joint's coordinate q, write it in a dof: link() dof = 2*q || axis."
)
_FIXED = "A frame is fixed in its body: put a body with mass = 0, inertia = 0 on a joint, and take a frame of that."
# The same table stands in docs/language.md; a test compares them.
# Why these and no others: docs/decisions/0066-what-formulas-may-depend-on.md.
SLOTS = {
    "parameter": Slot("value of a parameter", (), "Name a formula that moves by `let`, or write a `law`."),
    "input": Slot("value for a part", STATE),
    "initial": Slot("initial value", (), "Relations between coordinates are constraints: `constrain ... = ...`."),
    "gravity": Slot(
        "gravity", ("time",),
        "Gravity is the same everywhere: write a field as a force on each body, `apply force [...] on b.iframe`.",
    ),
    "mass": Slot(
        "mass of a body", (),
        "What leaves or enters a body carries momentum, and the mass alone does not say which. Keep the mass constant "
        "and write the thrust as a force, or let both parts be bodies on a joint.",
    ),
    "centre": Slot("centre or iframe of a body", (), _RIGID),
    "inertia": Slot("inertia of a body", (), _RIGID),
    "solid": Slot("size, density, mass and place of a solid", (), _RIGID),
    "frame": Slot("place of a frame", (), _FIXED),
    "force point": Slot(
        "point and axes of a force", (),
        "Apply the force F at the body's own frame, together with the torque r x F of its moving point r.",
    ),
    "joint origin": Slot("position of a joint's first frame", ("time", OWN + "coordinates"), _LINK),
    "joint frame": Slot("frame of a joint", (), _LINK),
    "axis": Slot("axis of a joint or of a rotation", (), _LINK),
    "motion": Slot("amount of a motion of a joint", ("time", "coordinates"), _LINK),
    "speed": Slot(
        "quasi-velocity of a joint", ("time", OWN + "coordinates", OWN + "rates"),
        "The speeds of a joint are combinations of its own rates; a relation to other joints is a constraint.",
    ),
    "load": Slot("force, torque, stiffness, rest, damping", STATE),
    "tension": Slot("law of a spring", (*STATE, "length and length'")),
    "equation": Slot(
        "equation of a constraint", ("time", "coordinates", "rates", "sensors"),
        "What an actuator brings about is a force: apply force -k*(q - z) - c*q' on q, with the state z.",
    ),
    "measure": Slot("formula of a measure", STATE),
    "state": Slot(
        "rate of a state", ("time", "coordinates", "rates", "sensors", "states"),
        "Rates of other states are written as their formulas, or as `equation ... = ... ;` between several.",
    ),
    "state equation": Slot("equation between rates of states", STATE),
    "distance": Slot(
        "value of a distance", ("time",),
        "Write it as an equation of positions: constrain (a.position.x - b.position.x)^2 + ... = (...)^2.",
    ),
    "rolling": Slot(
        "radius, tyre and normal of rolling", (), "Write the contact as constraints on positions and velocities."
    ),
    "bound": Slot(
        "gap of a bound", ("time", "coordinates", "sensors"),
        "A bound is hit in a position: what depends on speeds is an event of the simulation.",
    ),
    "contact": Slot("sizes, normal and radius of a contact", (), "A shape is rigid."),
    "restitution": Slot("restitution of a bound", (), "A rebound keeps a fixed part of the speed."),
    "slip": Slot(
        "sliding speed of dry friction", ("time", "coordinates", "rates", "sensors"),
        "What rubs slides with a speed: write it with rates of coordinates and velocities.",
    ),
    "update": Slot("new value of a state and condition of an update", STATE),
    "period": Slot("period of sampling", (), "A clock that changes its pace is a state: when c >= 1 set c = 0."),
    "friction": Slot("force, coefficient and speed of dry friction", ("time", "coordinates")),
    "drawing": Slot(
        "place, size and transparency of a drawing", (),
        "A shape is rigid: draw what changes its length between two points, `draw spring between A and B`.",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Use:
    """Formulas of one slot: whose they are, and the coordinates that count as its own."""

    slot: str
    owner: str
    formulas: Sequence[Expr]
    own: tuple[str, ...] = ()


@dataclass(frozen=True)
class MovingSymbols:
    """The symbols of a mechanism that change along its motion, each with its kind."""

    joints: Sequence[Joint]
    sensors: Sequence[str] = ()
    laws: Sequence[Law] = ()
    states: Sequence[State] = ()
    _in_laws: dict[str, dict[str, str]] = field(default_factory=dict)

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The kind of every symbol that moves, by its name."""
        kinds = {str(TIME.name): "time"}
        for joint in self.joints:
            for q in joint.coordinates:
                kinds |= {q.name: "coordinates", f"{q.name}'": "rates", f"{q.name}''": "accelerations"}
            # A speed is a combination of rates, whatever it is called.
            kinds |= {speed.name: "rates" for speed in joint.speeds}
        for state in self.states:
            kinds |= {state.name: "states", f"{state.name}'": "rates of states"}
        return kinds | dict.fromkeys(self.sensors, "sensors")

    def used_in(self, formulas: Iterable[Expr]) -> dict[str, str]:
        """The kinds of the moving symbols in formulas by name; laws count with what their own formulas hold."""
        laws = {law.name: law for law in self.laws}
        used: dict[str, str] = {}
        for node in live_nodes(list(formulas)):
            if node is LENGTH or node is LENGTH_RATE:  # by the symbol: a parameter may be called `length` too
                used[str(node.name)] = "length and length'"
            elif node.op == "symbol" and node.name in self.kinds:
                used[str(node.name)] = self.kinds[str(node.name)]
            elif node.op == "apply" and node.data.function.name in laws:
                used |= self._used_in_law(laws[node.data.function.name])
        return used

    def _used_in_law(self, law: Law) -> dict[str, str]:
        if law.name not in self._in_laws:
            self._in_laws[law.name] = {}  # a law that leads back to itself is refused elsewhere
            arguments = {str(argument.name) for argument in law.arguments}
            used = self.used_in([law.formula])
            self._in_laws[law.name] = {name: kind for name, kind in used.items() if name not in arguments}
        return self._in_laws[law.name]

    def refusal(self, use: Use) -> str:
        """Why formulas may not stand in their slot; empty where they may."""
        slot = SLOTS[use.slot]
        for name, kind in self.used_in(use.formulas).items():
            own = name in use.own or name.removesuffix("'") in use.own
            # "coordinates" allows those of every joint, the joint's own ones stand apart: a quasi-velocity knows no
            # other joint.
            if kind not in slot.may and not (own and OWN + kind in slot.may):
                called = f"{_SINGULAR[kind]} '{name}'" if kind != "time" else "time"
                return f"the {slot.what} may depend on {slot.allowed} only, not on {called}."
        return ""


_SINGULAR = {
    "coordinates": "the coordinate", "rates": "the rate", "sensors": "the measure", "accelerations": "the acceleration",
    "states": "the state", "rates of states": "the rate of a state",
    "length and length'": "a spring's own",
}  # fmt: skip


def check_dependencies(mechanism: Mechanism) -> None:
    """Refuses formulas that depend on more than their slot may."""
    moving = MovingSymbols(
        mechanism.joints, [sensor.name for sensor in mechanism.sensors], mechanism.laws, mechanism.states
    )
    uses = list(formulas_of(mechanism))
    # Mechanisms are built often and are nearly always right: constants are looked through at once, and one by one
    # only where something in them moves.
    constants = [formula for use in uses if not SLOTS[use.slot].may for formula in use.formulas]
    suspect = bool(moving.used_in(constants))
    for use in uses:
        reason = moving.refusal(use) if suspect or SLOTS[use.slot].may else ""
        if reason:
            raise MechanismError(f"{use.owner}: {reason} {SLOTS[use.slot].instead}".rstrip())


def followed_coordinates(mechanism: Mechanism) -> dict[str, tuple[Coordinate, ...]]:
    """For each joint whose motions are formulas of other joints' coordinates, those coordinates as declared."""
    moving = MovingSymbols(mechanism.joints, (), mechanism.laws)
    followed: dict[str, tuple[Coordinate, ...]] = {}
    for joint in mechanism.joints:
        own = {q.name for q in joint.coordinates}
        used = moving.used_in([motion.amount for motion in joint.motions])
        if any(kind == "coordinates" and name not in own for name, kind in used.items()):
            others = [q for other in mechanism.joints if other is not joint for q in other.coordinates]
            followed[joint.name] = tuple(q for q in others if q.name in used)
    return followed


def check_followers(mechanism: Mechanism) -> None:
    """Refuses joints that follow what is no ordinary coordinate, or whose own speeds are declared."""
    owners = {q.name: joint for joint in mechanism.joints for q in joint.coordinates}
    for name, followed in followed_coordinates(mechanism).items():
        joint = next(j for j in mechanism.joints if j.name == name)
        for q in followed:
            reason = _not_to_follow(q, owners[q.name]) or _cannot_follow(joint)
            if reason:
                raise MechanismError(
                    f"joint '{name}' follows the coordinate '{q.name}' of joint '{owners[q.name].name}': {reason} "
                    f"Give '{name}' a coordinate of its own and tie the two: constrain s = ..."
                )


def _not_to_follow(q: Coordinate, owner: Joint) -> str:
    if owner.speeds or owner.frame_speeds:
        return "that joint has declared speeds, and its rates are none."
    if any(m.kind == "quaternion" for m in owner.motions) and q in quaternion_coordinates(
        owner.coordinates, owner.motions
    ):
        return "that is part of a quaternion."
    return ""


def _cannot_follow(joint: Joint) -> str:
    return "a joint with declared speeds follows no other." if joint.speeds or joint.frame_speeds else ""


def formulas_of(mechanism: Mechanism) -> Iterator[Use]:
    """Every formula of a mechanism with its slot."""
    yield Use("gravity", "gravity", mechanism.gravity)
    for parameter in mechanism.parameters:
        yield Use("parameter", f"parameter '{parameter.name}'", [] if parameter.value is None else [parameter.value])
    for name, value in mechanism.initial:
        yield Use("initial", f"initial value of '{name}'", [value])
    for body in mechanism.bodies:
        yield from _of_body(body)
    for joint in mechanism.joints:
        yield from _of_joint(joint)
    for load in mechanism.loads:
        yield from _of_load(load)
    for constraint in mechanism.constraints:
        yield from _of_constraint(constraint)
    for element in mechanism.contacts:
        yield from _of_contact(element)
    for state in mechanism.states:
        yield Use("state", f"state '{state.name}'", [] if state.formula is None else [state.formula])
    yield Use("state equation", "equations of states", mechanism.state_equations)
    for sensor in mechanism.sensors:
        yield Use("frame", f"sensor '{sensor.name}'", [*_of_frame(sensor.of), *_of_frame(sensor.axes)])
    for measure in mechanism.measures:
        yield Use("measure", f"measure '{measure.name}'", [measure.formula])
    for name, frame in mechanism.frames:
        yield Use("frame", f"frame '{name}'", _of_frame(frame))
    for drawing in mechanism.drawings:
        frames = [formula for frame in drawing.frames for formula in _of_frame(frame)]
        yield Use("drawing", drawing.owner, [*frames, *drawing_formulas(drawing)])


def placement_formulas(placement: Placement) -> list[Expr]:
    """The formulas of a placement: position, then angles and axes of its rotations."""
    return [*placement.position, *(f for turn in placement.rotation for f in (turn.angle, *turn.axis))]


def _of_frame(frame: Frame) -> list[Expr]:
    return placement_formulas(frame.placement)


def _of_body(body: Body) -> Iterator[Use]:
    owner = f"body '{body.name}'"
    yield Use("mass", owner, [] if body.mass is None else [body.mass])
    yield Use("centre", owner, [] if body.iframe is None else placement_formulas(body.iframe))
    if body.inertia is not None:
        about = body.inertia.about
        place = placement_formulas(about) if isinstance(about, Placement) else []
        yield Use("inertia", owner, [*body.inertia.components, *place])
    for solid in body.solids:
        amounts = [amount for amount in (solid.density, solid.mass) if amount is not None]
        sizes = [size for _, size in solid.dimensions]
        yield Use("solid", owner, [*sizes, *amounts, *placement_formulas(solid.placement)])


def _of_joint(joint: Joint) -> Iterator[Use]:
    owner, own = f"joint '{joint.name}'", tuple(q.name for q in joint.coordinates)
    yield Use("joint frame", owner, [*_of_frame(joint.parent), *_of_frame(joint.child)])
    yield Use("axis", owner, [component for motion in joint.motions for component in motion.axis])
    yield Use("motion", owner, [motion.amount for motion in joint.motions], own)
    yield Use("speed", owner, [speed.value for speed in joint.speeds], own)


def _of_load(load: Load) -> Iterator[Use]:
    owner = f"load '{load.name}'"
    if isinstance(load, AppliedWrench):
        yield Use("force point", owner, [*_of_frame(load.on), *_of_frame(load.axes)])
    elif isinstance(load, (PointSpring, Bushing)):
        yield Use("frame", owner, [*_of_frame(load.first), *_of_frame(load.second)])
    law = load.law if isinstance(load, PointSpring) else None
    yield Use("tension", owner, [] if law is None else [law])
    values = [value for value in vars(load).values() if value is not law]
    flat = [x for value in values for x in (value if isinstance(value, tuple) else (value,))]
    yield Use("load", owner, [x for x in flat if isinstance(x, Expr)])


def _of_contact(element: Switching) -> Iterator[Use]:
    if isinstance(element, Bound):
        yield Use("bound", f"bound '{element.name}'", [element.gap])
        yield Use("restitution", f"bound '{element.name}'", [element.restitution])
        return
    if isinstance(element, Contact):
        owner = f"contact '{element.name}'"
        yield Use("frame", owner, [*_of_frame(element.frame), *_of_frame(element.ground)])
        shape = [size for _, size in element.sizes] + list(element.normal or ())
        shape += [element.ground_radius] if element.ground_radius is not None else []
        if element.height is not None:
            shape += substitute([element.height], {GROUND_X: as_expr(0), GROUND_Y: as_expr(0)})
        yield Use("contact", owner, shape)
        yield Use("restitution", owner, [element.restitution])
        yield Use("friction", owner, [e for e in (element.coefficient, element.static) if e is not None])
        return
    if isinstance(element, Update):
        condition = [] if element.condition is None else [element.condition]
        yield Use("update", f"update '{element.name}'", [*element.values, *condition])
        yield Use("period", f"update '{element.name}'", [] if element.period is None else [element.period])
        return
    owner = f"friction '{element.name}'"
    amounts = [element.force, element.coefficient, element.breakaway, element.static, element.stribeck]
    yield Use("slip", owner, element.slip)
    yield Use("friction", owner, [amount for amount in amounts if amount is not None])


def _of_constraint(constraint: Constraint) -> Iterator[Use]:
    owner = f"constraint '{constraint.name}'"
    if isinstance(constraint, Distance):
        yield Use("frame", owner, [*_of_frame(constraint.first), *_of_frame(constraint.second)])
        yield Use("distance", owner, [constraint.value])
    elif isinstance(constraint, Rolling):
        yield Use("frame", owner, [*_of_frame(constraint.wheel), *_of_frame(constraint.on)])
        tyre = [] if constraint.tyre_radius is None else [constraint.tyre_radius]
        yield Use("rolling", owner, [constraint.radius, *tyre, *constraint.normal])
    else:
        yield Use("equation", owner, [constraint.residual])
