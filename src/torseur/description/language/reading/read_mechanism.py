"""From statements to a mechanism: names first, then formulas and dimensions, then the mechanism itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from torseur.algebra.graph import Expr
from torseur.description.language.description_errors import Report
from torseur.description.language.formulas.name_scope import Context, Placed, Scope
from torseur.description.language.formulas.tabulated_functions import declare_table
from torseur.description.language.reading.part_sources import PartSources, Reading
from torseur.description.language.reading.read_bodies import declare_body, read_body
from torseur.description.language.reading.read_constraints import constraint_names, read_constraint
from torseur.description.language.reading.read_contacts import read_switching, switching_names
from torseur.description.language.reading.read_definitions import (
    declare_law,
    declare_measure,
    declare_parameter,
    read_actuated,
    read_gravity,
    read_initial,
    read_law,
    read_measure,
    read_parameter,
    read_sensor,
)
from torseur.description.language.reading.read_drawings import read_drawing
from torseur.description.language.reading.read_joints import (
    JointReading,
    declare_joints,
    implied_speed_units,
    read_joint,
)
from torseur.description.language.reading.read_loads import load_names, read_load
from torseur.description.language.reading.read_states import (
    StateReading,
    declare_states,
    read_initial_value,
    read_state,
    read_state_equation,
    updated_states,
)
from torseur.description.language.reading.read_uses import (
    InstanceReading,
    declare_uses,
    implied_units,
    mounted_on,
    read_use,
)
from torseur.description.language.reading.reading_context import Workshop
from torseur.description.language.syntax import part_nodes as parts_of
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.language.syntax.parser import Parsed
from torseur.description.mechanism import (
    EARTH_NAME,
    SLOTS,
    Body,
    Constraint,
    Drawing,
    Frame,
    Instance,
    Joint,
    Law,
    Load,
    Measure,
    Mechanism,
    MovingSymbols,
    Parameter,
    State,
    Switching,
    Vector,
)
from torseur.description.mechanism.quantities import ORIGIN
from torseur.errors import TorseurError

T = TypeVar("T", bound=x.Statement)
V = TypeVar("V")
JointParts = tuple[Joint, list[Load], list[Switching]]
DEFAULT_NAME = "mechanism"
# Undetermined constants are numbered in this order, whatever the order of the text.
_KINDS: dict[str, type[x.Statement] | tuple[type[x.Statement], ...]] = {
    "parameter": x.ParameterIs, "law": x.LawIs, "joint": x.JointIs, "body": x.BodyIs, "frame": x.DefinitionIs,
    "sensor": x.SensorIs, "measure": x.MeasureIs,
    "load": (x.WrenchIs, x.SpringIs), "constraint": (x.EquationIs, x.DistanceIs, x.RollingIs),
    "bound": (x.BoundIs, x.EquationIs), "friction": x.FrictionIs,
    "contact": (x.BoundIs, x.EquationIs, x.FrictionIs, x.ContactIs, x.UpdateIs),
    "state": x.StateIs, "update": x.UpdateIs,
}  # fmt: skip
_READING_ORDER = (x.MechanismIs, x.ParameterIs, x.GravityIs, x.BodyIs, x.DefinitionIs, x.LawIs, x.TableIs)


@dataclass
class Understood:
    """Everything a text says: each statement with what builds its part of the mechanism."""

    bodies: list[tuple[x.Statement, Callable[[], Body]]] = field(default_factory=list)
    joints: list[tuple[x.Statement, Callable[[], JointParts]]] = field(default_factory=list)
    parameters: list[tuple[x.Statement, Callable[[], Parameter]]] = field(default_factory=list)
    gravity: list[tuple[x.Statement, Callable[[], Vector]]] = field(default_factory=list)
    loads: list[tuple[x.Statement, Callable[[], Load]]] = field(default_factory=list)
    constraints: list[tuple[x.Statement, Callable[[], Constraint]]] = field(default_factory=list)
    contacts: list[tuple[x.Statement, Callable[[], tuple[Switching, ...]]]] = field(default_factory=list)
    laws: list[tuple[x.Statement, Callable[[], Law]]] = field(default_factory=list)
    tables: list[tuple[x.Statement, Callable[[], object]]] = field(default_factory=list)
    frames: list[tuple[x.Statement, Callable[[], tuple[str, Frame]]]] = field(default_factory=list)
    initial: list[tuple[x.Statement, Callable[[], tuple[str, Expr]]]] = field(default_factory=list)
    actuated: list[str] = field(default_factory=list)
    guesses: list[str] = field(default_factory=list)
    states: list[tuple[x.Statement, Callable[[], State]]] = field(default_factory=list)
    state_equations: list[tuple[x.Statement, Callable[[], Expr]]] = field(default_factory=list)
    drawings: list[tuple[x.Statement, Callable[[], Drawing]]] = field(default_factory=list)
    measures: list[tuple[x.Statement, Callable[[], Measure]]] = field(default_factory=list)
    instances: list[tuple[x.Statement, Callable[[], Instance]]] = field(default_factory=list)


class Reader:
    """One text on its way from statements to a mechanism."""

    def __init__(
        self, parsed: Parsed, report: Report, name: str, directory: Path | None, sources: PartSources | None = None
    ) -> None:
        self.statements = parsed.statements
        self.sources = sources or PartSources(report, directory, directory, Reading(_read_part))
        if sources is None:
            self.sources.define(self.statements)
            self.sources.read_all()
        self.report = report
        self.name = name
        self.scope = Scope(report, parsed.doubtful)
        self.shop = Workshop(self.scope, directory)
        self.placed: dict[str, Placed] = {}
        self.joints: list[JointReading] = []
        self.states: list[StateReading] = []
        self.instances: list[InstanceReading] = []

    def all(self, kind: type[T]) -> list[T]:
        return [statement for statement in self.statements if isinstance(statement, kind)]

    def mechanism(self) -> Mechanism | None:
        """The mechanism; None when the report holds a fault."""
        try:
            self._declare()
            return self._build(self._understand())
        except RecursionError:
            # Formulas are bounded, but whoever called may have used up the stack before.
            self.report.add(0, 1, "the text is nested too deeply.")
            return None

    # Names

    def _declare(self) -> None:
        """Gives every name its place, so that the order of statements does not matter."""
        for body in self.all(x.BodyIs):
            declare_body(body, self.shop)
        self.instances = declare_uses(self.all(parts_of.UseIs), self.sources, self.shop)
        definitions = self.all(x.DefinitionIs)
        for definition in definitions:
            if self._is_frame(definition.value):
                self._declare_frame(definition)
        for parameter in self.all(x.ParameterIs):
            declare_parameter(parameter, self.shop)
        for law in self.all(x.LawIs):
            declare_law(law, self.shop)
        for table in self.all(x.TableIs):
            declare_table(table, self.shop)
        self.joints = declare_joints(self.all(x.JointIs), self.shop)
        self.states = declare_states(self.all(x.StateIs), self.shop)
        for measure in self.all(x.MeasureIs):
            declare_measure(measure, self.shop)
        for definition in definitions:
            if not self._is_frame(definition.value):
                self._declare_definition(definition)

    def _is_frame(self, value: x.Expression) -> bool:
        if isinstance(value, x.FixedIn):
            return True
        return isinstance(value, x.Reference) and self.shop.places.owner(value) in (EARTH_NAME, *self.scope.bodies)

    def _declare_frame(self, statement: x.DefinitionIs) -> None:
        name = statement.name
        if self.shop.define(name, "frame", self.scope.bodies, self.scope.frames):
            owner = self.shop.places.owner(statement.value)
            self.scope.frames[name.text] = Placed(owner, lambda: self.placed[name.text].build())

    def _declare_definition(self, statement: x.DefinitionIs) -> None:
        taken = (self.scope.bodies, self.scope.frames, self.scope.definitions, self.scope.quantities)
        if self.shop.define(statement.name, "definition", *taken):
            self.scope.definitions[statement.name.text] = statement.value

    # Formulas

    def _understand(self) -> Understood:
        """Reads every formula; dimensions settle while this goes on. Sensors come first: others mention them."""
        shop, parts = self.shop, Understood()
        for sensor in self.all(x.SensorIs):
            read_sensor(sensor, shop)
        # In this order: sensors and instances bring names into formulas, statements settle dimensions, loads and
        # constraints use both; initial values come last, when it is known which speeds a joint has.
        has_gravity = bool(self.all(x.GravityIs))
        for instance in self.instances:
            read_use(instance, has_gravity, shop)
            parts.instances.append((instance.statement, self._instance(instance)))
        for kind in _READING_ORDER:
            for statement in self.all(kind):
                self._understand_one(statement, parts)
        parts.joints = [(joint.statement, read_joint(joint, shop)) for joint in self.joints]
        loads = [s for s in self.statements if isinstance(s, (x.WrenchIs, x.SpringIs))]
        parts.loads = [(s, read_load(s, n, shop)) for s, n in zip(loads, load_names(loads, shop), strict=True)]
        self._understand_constraints(parts)
        held = updated_states(self.all(x.UpdateIs))
        parts.states = [(s.rate or s.first, read_state(s, s.name in held, shop)) for s in self.states]
        parts.state_equations = [(s, read_state_equation(s, shop)) for s in self.all(x.StateEquationIs)]
        self._understand_initial(parts)
        self._understand_actuated(parts)
        parts.drawings = [(drawing, read_drawing(drawing, shop)) for drawing in self.all(x.DrawingIs)]
        measures = [m for m in self.all(x.MeasureIs) if m.name.text in self.scope.quantities]
        parts.measures = [(measure, read_measure(measure, shop)) for measure in measures]
        self._only_one(x.MechanismIs, "the mechanism is named")
        self._only_one(x.GravityIs, "gravity is given")
        return parts

    @staticmethod
    def _instance(reading: InstanceReading) -> Callable[[], Instance]:
        def build() -> Instance:
            instance = reading.build()
            _ = instance.content  # faults of the content are faults of the use
            return instance

        return build

    def _understand_one(self, statement: x.Statement, parts: Understood) -> None:
        shop = self.shop
        if isinstance(statement, x.BodyIs):
            parts.bodies.append((statement, read_body(statement, shop)))
        elif isinstance(statement, x.ParameterIs) and statement.declared.name.text in self.scope.quantities:
            parts.parameters.append((statement, read_parameter(statement, shop)))
        elif isinstance(statement, x.LawIs):
            law = read_law(statement, shop)
            parts.laws += [] if law is None else [(statement, law)]
        elif isinstance(statement, x.TableIs) and statement.name.text in self.scope.functions:
            parts.tables.append((statement, self.scope.functions[statement.name.text].build))
        elif isinstance(statement, x.GravityIs):
            parts.gravity.append((statement, read_gravity(statement, shop)))
        elif isinstance(statement, x.MechanismIs):
            self.name = statement.name.text
        elif isinstance(statement, x.DefinitionIs) and statement.name.text in self.scope.frames:
            name = statement.name.text
            placed = self.placed[name] = shop.places.frame(statement.value, Context(name, slot="frame"))
            parts.frames.append((statement, lambda: (name, placed.build())))
        elif isinstance(statement, x.DefinitionIs):
            self.shop.check_definition(statement)

    def _check_bodies_have_joints(self) -> None:
        """Notes bodies that no joint mentions."""
        sides = [side for joint in self.joints for side in (joint.parent, joint.child)]
        joined = {self.shop.places.owner(side) for side in sides}
        joined |= {body for instance in self.instances for body in mounted_on(instance, self.shop)}
        if not joined <= {"earth", *self.scope.bodies}:  # a misspelt name is reported where it stands
            return
        for body in self.all(x.BodyIs):
            name = body.name.text
            if name not in joined and name not in self.scope.doubtful:
                hint = "Join it to 'earth' with a free joint if it floats."
                self.scope.fault(body.name, f"body '{name}' is not joined to anything.", hint)

    def _understand_constraints(self, parts: Understood) -> None:
        """Constraints, and what switches, in the order of the text: a relation with play is two bounds."""
        held = [s for s in self.statements if isinstance(s, (x.EquationIs, x.DistanceIs, x.RollingIs))]
        switching = [s for s in self.statements if isinstance(s, (x.BoundIs, x.FrictionIs, x.ContactIs, x.UpdateIs))]
        names = dict(zip(map(id, held), constraint_names(held, self.shop), strict=True))
        names |= dict(zip(map(id, switching), switching_names(switching, self.shop), strict=True))
        for s in self.statements:
            if isinstance(s, (x.BoundIs, x.FrictionIs, x.ContactIs, x.UpdateIs)) or (
                isinstance(s, x.EquationIs) and s.loose is not None
            ):
                parts.contacts.append((s, read_switching(s, names[id(s)], self.shop)))
            elif isinstance(s, (x.EquationIs, x.DistanceIs, x.RollingIs)):
                parts.constraints.append((s, read_constraint(s, names[id(s)], self.shop)))

    def _understand_initial(self, parts: Understood) -> None:
        implied = {name: unit for joint in self.joints for name, unit in implied_speed_units(joint).items()}
        implied |= {name: unit for instance in self.instances for name, unit in implied_units(instance).items()}
        given: set[str] = set()
        for state in self.states:
            start = read_initial_value(state, self.shop)
            if start is not None:
                given.add(state.name)
                parts.initial.append((state.first, self._pair(state.name, start)))
        for statement in self.all(x.InitialIs):
            value = read_initial(statement, implied, self.shop)
            if value is None:
                continue
            if value[0] in given:
                self.scope.fault(statement.of, f"the initial value of '{value[0]}' is given twice.")
            given.add(value[0])
            parts.initial.append((statement, self._pair(*value)))
            parts.guesses += [value[0]] if statement.is_guess else []

    def _understand_actuated(self, parts: Understood) -> None:
        for statement in self.all(x.ActuatedIs):
            name = read_actuated(statement, self.shop)
            if name in parts.actuated:
                self.scope.fault(statement.of, f"'{name}' is actuated twice.")
            elif name is not None:
                parts.actuated.append(name)

    @staticmethod
    def _pair(name: str, build: Callable[[], Expr]) -> Callable[[], tuple[str, Expr]]:
        return lambda: (name, build())

    def _only_one(self, kind: type[x.Statement], what: str) -> None:
        for statement in self.all(kind)[1:]:
            self.scope.fault(statement, f"{what} twice.")

    # The mechanism

    def _build_parts(self, parts: list[tuple[x.Statement, Callable[[], V]]]) -> tuple[V, ...]:
        """What the statements build; those with a fault build nothing."""
        built: list[V] = []
        for statement, build in parts:
            # One fault is told once: what it would break further on is not built at all.
            if not self.report.has(statement.start, statement.end):
                built += self.shop.attempt(statement, lambda build=build: [build()], [])  # type: ignore[misc]
        return tuple(built)

    def _build(self, parts: Understood) -> Mechanism | None:
        # Tables first: a table with a fault is a fault of its own, not of every formula that calls it.
        self._build_parts(parts.tables)
        joints = self._build_parts(parts.joints)
        options = [load for _, loads, _ in joints for load in loads]
        switching = [element for _, _, elements in joints for element in elements]
        switching += [element for elements in self._build_parts(parts.contacts) for element in elements]
        components = {
            "parameters": self._build_parts(parts.parameters), "bodies": self._build_parts(parts.bodies),
            "contacts": switching, "joints": [joint for joint, _, _ in joints],
            "gravity": (*self._build_parts(parts.gravity), ORIGIN)[0],
            "loads": [*options, *self._build_parts(parts.loads)], "constraints": self._build_parts(parts.constraints),
            "laws": self._build_parts(parts.laws), "frames": self._build_parts(parts.frames),
            "initial": self._build_parts(parts.initial), "guesses": parts.guesses,
            "actuated": parts.actuated,
            "states": self._build_parts(parts.states), "state_equations": self._build_parts(parts.state_equations),
            "drawings": self._build_parts(parts.drawings), "measures": self._build_parts(parts.measures),
        }  # fmt: skip
        instances = self._build_parts(parts.instances)
        self._check_bodies_have_joints()
        moving = self._moving_symbols(components, instances)
        for node, use in self.scope.uses:
            if reason := moving.refusal(use):
                self.scope.fault(node, reason, SLOTS[use.slot].instead)
        if self.report.noted:
            return None
        meaning = "".join(statement.meaning for statement in self.all(x.MechanismIs))
        try:
            components["sensors"] = [build() for build in self.scope.sensors.values()]
            components["parameters"] = [*components["parameters"], *self.shop.references.fresh_parameters()]
            return Mechanism(self.name, meaning=meaning, parts=instances, **components)  # type: ignore[arg-type]
        except TorseurError as problem:
            self._locate(str(problem))
            return None

    def _moving_symbols(self, components: Mapping[str, Any], instances: Sequence[Instance]) -> MovingSymbols:
        """The symbols that move: those of the text, and those that instances bring."""
        contents = [instance.content for instance in instances]
        joints, laws, states = (
            [*components[kind], *(thing for content in contents for thing in getattr(content, kind))]
            for kind in ("joints", "laws", "states")
        )
        sensors = [*self.scope.sensors, *(sensor.name for content in contents for sensor in content.sensors)]
        return MovingSymbols(joints, sensors, laws, states)

    def _locate(self, message: str) -> None:
        """Notes a contradiction found by the mechanism itself at the statement of what it mentions."""
        joints = {joint.name: joint.statement for joint in self.joints}
        for kind, name in re.findall(r"(\w+) '([^']+)'", message):
            for statement in self.statements:
                own = getattr(statement, "name", None) or getattr(getattr(statement, "declared", None), "name", None)
                named = own is not None and own.text == name and isinstance(statement, _KINDS.get(kind, x.Statement))
                if named or (kind == "joint" and joints.get(name) is statement):
                    self.scope.fault(own or statement, message)
                    return
            for instance in self.instances:
                if name == instance.name or name.startswith(f"{instance.name}."):
                    where = f"part '{instance.statement.part.text}' is described at {instance.found.place}."
                    self.scope.fault(instance.statement, message, f"{where[0].upper()}{where[1:]}")
                    return
        self.report.add(0, 1, message)


def _read_part(parsed: Parsed, report: Report, name: str, sources: PartSources) -> Mechanism | None:
    """The mechanism that the statements of a part describe."""
    return Reader(parsed, report, name, sources.directory, sources).mechanism()
