"""The mechanism: everything the user said, checked and frozen; no numbering, no equations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from torseur.algebra.graph import ExprLike, as_expr
from torseur.algebra.graph.expr import Expr
from torseur.description.mechanism.bodies import Body
from torseur.description.mechanism.constraints import Constraint
from torseur.description.mechanism.contacts import Switching, as_contacts
from torseur.description.mechanism.drawings import Drawing
from torseur.description.mechanism.frames import Frame, Measure, Sensor
from torseur.description.mechanism.joints import Joint
from torseur.description.mechanism.loads import Load
from torseur.description.mechanism.quantities import Guess, Law, Parameter, State, Vector, as_states, as_vector
from torseur.description.mechanism.transformations.moving_inputs import with_moving_inputs
from torseur.description.mechanism.validation import check, check_instances
from torseur.display import Displayed
from torseur.edges.arguments import explain_methods
from torseur.errors import MechanismError, counted, unknown_name

if TYPE_CHECKING:
    from torseur.description.mechanism.transformations.parts import Instance

T = TypeVar("T")
Pairs = Mapping[str, T] | Iterable[tuple[str, T]]
# What instances of parts bring beside the initial state, of which the mechanism's own values take precedence.
SHARED = ("bodies", "joints", "parameters", "loads", "constraints", "laws", "sensors", "frames", "actuated", "states",
          "state_equations", "drawings", "contacts", "measures")  # fmt: skip
SOURCES = "torseur.load(path), torseur.parse(text), torseur.library.load(name) and torseur.Mechanism(...) give one."


@explain_methods
@dataclass(frozen=True, init=False, repr=False)
class Mechanism(Displayed):
    """Named bodies, joints, loads and constraints, with gravity (m/s², earth axes) and an initial state.

    `initial` maps coordinates ("q1") and rates ("q1'") to values; what is missing starts at zero, quaternions at
    no rotation. `guesses` are the names of values that constraints may move, those in `about` among them. `actuated`
    are the coordinates that motors drive. `states` are quantities beyond mechanics with the formulas of their rates;
    those without one follow from `state_equations`, as many formulas that are zero and linear in their rates.
    `contacts` are bounds, dry friction and contact, whose equations switch along the motion (`bound`, `stops`,
    `joint_friction`). `drawings` (see `draw`) say how things look, `measures` are formulas
    by name (see `measure`). `parts` (see `use`) bring in what instances of parts
    are made of, after its own things; `instances` only remembers them. Lists, plain numbers and dictionaries
    (for `frames`, `initial` and `states`) are taken as they are.
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    parameters: tuple[Parameter, ...]
    gravity: Vector
    loads: tuple[Load, ...]
    constraints: tuple[Constraint, ...]
    laws: tuple[Law, ...]
    sensors: tuple[Sensor, ...]
    frames: tuple[tuple[str, Frame], ...]
    initial: tuple[tuple[str, Expr], ...]
    guesses: tuple[str, ...]
    actuated: tuple[str, ...]
    states: tuple[State, ...]
    state_equations: tuple[Expr, ...]
    meaning: str
    drawings: tuple[Drawing, ...]
    contacts: tuple[Switching, ...]
    measures: tuple[Measure, ...]
    instances: tuple[Instance, ...] = field(compare=False)

    def __init__(
        self,
        name: str,
        *,
        bodies: Iterable[Body] = (),
        joints: Iterable[Joint] = (),
        parameters: Iterable[Parameter] = (),
        gravity: Sequence[Any] = (0, 0, 0),
        loads: Iterable[Load] = (),
        constraints: Iterable[Constraint] = (),
        laws: Iterable[Law] = (),
        sensors: Iterable[Sensor] = (),
        frames: Pairs[Frame] = (),
        initial: Pairs[ExprLike] = (),
        guesses: Iterable[str] = (),
        actuated: Iterable[str] = (),
        states: Mapping[State, ExprLike] | Iterable[State] = (),
        state_equations: Iterable[ExprLike] = (),
        meaning: str = "",
        drawings: Iterable[Drawing] = (),
        contacts: Iterable[Switching | Iterable[Switching]] = (),
        measures: Iterable[Measure] = (),
        instances: Iterable[Instance] = (),
        parts: Iterable[Instance] = (),
    ) -> None:
        used, own, own_states = tuple(parts), dict(initial), as_states(states)
        start = own | {k: v for instance in used for k, v in instance.content.initial if k not in own}
        if used:  # states first, as a text has them: what is made of parts can be written out without them
            theirs = [state.name for instance in used for state in instance.content.states]
            first = [*(state.name for state in own_states), *theirs]
            start = {k: start[k] for k in first if k in start} | start
        guessed = {*guesses, *(key for key, value in own.items() if isinstance(value, Guess))}
        guessed |= {key for instance in used for key in instance.content.guesses if key not in own}
        fields = {
            "name": name, "bodies": tuple(bodies), "joints": tuple(joints), "parameters": tuple(parameters),
            "gravity": as_vector(gravity, "gravity"), "loads": tuple(loads), "constraints": tuple(constraints),
            "laws": tuple(laws), "sensors": tuple(sensors), "frames": tuple(dict(frames).items()),
            "initial": tuple((k, as_expr(float(v) if isinstance(v, Guess) else v)) for k, v in start.items()),
            "guesses": tuple(key for key in start if key in guessed), "actuated": tuple(actuated),
            "states": own_states, "state_equations": tuple(as_expr(e) for e in state_equations),
            "meaning": meaning, "drawings": tuple(drawings), "contacts": as_contacts(contacts),
            "measures": tuple(measures),
            "instances": (*instances, *used),
        }  # fmt: skip
        for instance in used:
            for kind in SHARED:
                fields[kind] = (*fields[kind], *getattr(instance.content, kind))
        fields = with_moving_inputs(fields, {p.name for instance in used for p in instance.content.parameters})
        # Frozen: mechanisms are shared by trees, equations and kernels that are kept under them.
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        check(self)
        check_instances(self, used)

    def __repr__(self) -> str:
        parts = [counted(len(self.bodies), "body"), counted(len(self.joints), "joint")]
        others: dict[str, Sequence[object]] = {
            "load": self.loads,
            "constraint": self.constraints,
            "contact": self.contacts,
        }
        others["parameter"] = self.parameters
        parts += [counted(len(things), kind) for kind, things in others.items() if things]
        return f"Mechanism '{self.name}': {', '.join(parts)}"

    def body(self, name: str) -> Body:
        """The body of that name."""
        return _find("body", name, self.bodies)

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        return _find("joint", name, self.joints)

    def parameter(self, name: str) -> Parameter:
        """The parameter of that name."""
        return _find("parameter", name, self.parameters)

    def frame(self, name: str) -> Frame:
        """The named frame."""
        frames = dict(self.frames)
        if name not in frames:
            raise MechanismError(unknown_name("frame", name, frames))
        return frames[name]

    def with_values(self, **values: ExprLike) -> Mechanism:
        """The same mechanism with other parameter values (SI)."""
        for name in values:
            self.parameter(name)
        changed = tuple(replace(p, value=as_expr(values[p.name])) if p.name in values else p for p in self.parameters)
        return replace(self, parameters=changed)


def _find(kind: str, name: str, things: Sequence[Any]) -> Any:
    for thing in things:
        if thing.name == name:
            return thing
    raise MechanismError(unknown_name(kind, name, [thing.name for thing in things]))


def require_mechanism(given: object) -> None:
    """Refuses anything but a mechanism."""
    if not isinstance(given, Mechanism):
        hint = "Its mechanism is .mechanism." if hasattr(given, "mechanism") else SOURCES
        raise MechanismError(f"expected a mechanism, got {type(given).__name__}. {hint}")
