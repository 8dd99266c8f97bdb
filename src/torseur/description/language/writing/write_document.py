"""A whole mechanism as text, in sections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction

from torseur.algebra.graph import Expr, Table, UndeterminedFunction
from torseur.description.language.description_errors import Report, Source
from torseur.description.language.formulas.dimensions import LENGTH, NUMBER, Dim, dimension_of
from torseur.description.language.reading.read_definitions import ACCELERATION
from torseur.description.language.reading.read_mechanism import DEFAULT_NAME, Reader
from torseur.description.language.syntax.grammar import grammar
from torseur.description.language.syntax.lexer import is_unit
from torseur.description.language.syntax.parser import parse_statements
from torseur.description.language.writing.own_content import own_content
from torseur.description.language.writing.words import fold_line, meaning_text, measured_text, name_text, number_in
from torseur.description.language.writing.write_bodies import body_text
from torseur.description.language.writing.write_contacts import contact_text
from torseur.description.language.writing.write_joints import joint_place, joint_text, needs_name, qualifier
from torseur.description.language.writing.write_loads import (
    constraint_text,
    is_option,
    joint_options,
    load_text,
)
from torseur.description.language.writing.write_parts import part_names, part_text, use_texts
from torseur.description.language.writing.writing_context import WIDTH, Place, Script
from torseur.description.mechanism import (
    EARTH,
    HERE,
    TIME,
    Coordinate,
    Drawing,
    Frame,
    Joint,
    Law,
    Load,
    Measure,
    Mechanism,
    Parameter,
    Part,
    Sensor,
    State,
)
from torseur.description.mechanism.drawings import BETWEEN, FACTORS, ON, place_of_frames
from torseur.description.mechanism.frames import QUANTITIES
from torseur.description.mechanism.quantities import ORIGIN, per_second
from torseur.description.mechanism.units import si_name, unit_of
from torseur.errors import UnsupportedError


def expressions_of(thing: object) -> Iterator[Expr]:
    """Every expression in a mechanism, in the order of its parts."""
    if isinstance(thing, Expr):
        yield thing
    elif isinstance(thing, (tuple, list)):
        for part in thing:
            yield from expressions_of(part)
    elif is_dataclass(thing) and not isinstance(thing, (Sensor, UndeterminedFunction)):
        for part in fields(thing):
            if not (isinstance(thing, Parameter) and part.name == "symbol") and part.name != "arguments":
                yield from expressions_of(getattr(thing, part.name))


def to_text(mechanism: Mechanism) -> str:
    """The description of a mechanism; reading it gives the same mechanism back, always.

    The short form, which leaves out what the reader would say itself, is checked by reading it; where it says something
    else, the plain form is used.
    """
    # A mechanism that was changed after its parts were put together is no longer made of them: it is written out.
    for keep_parts in (True, False) if mechanism.instances else (False,):
        for short in (True, False):
            text = _text(mechanism, short, keep_parts)
            read, report = _reading(text)
            if read == mechanism:
                return text
    reason = report.diagnostics[0].message if report.diagnostics else "its parts do not follow the language's own rules"
    raise UnsupportedError(f"mechanism '{mechanism.name}' cannot be written as text: {reason}.".replace("..", "."))


def _text(mechanism: Mechanism, short: bool, keep_parts: bool) -> str:
    names = part_names(mechanism) if keep_parts else {}
    parts = [part_text(part, name, _Document(part, short, names).sections()) for part, name in names.items()]
    whole = _Document(Part(mechanism), short, names)
    return "\n".join([*whole.head(), *parts, whole.sections()])


def _reading(text: str) -> tuple[Mechanism | None, Report]:
    report = Report(Source(text))
    return Reader(parse_statements(report.source, report), report, DEFAULT_NAME, None).mechanism(), report


class _Document:
    """Sections of one mechanism or part; parameters are written last, when it is known which the others left to `?`."""

    def __init__(self, part: Part, short: bool, parts: Mapping[Part, str]) -> None:
        self.mechanism, self.parts = part.mechanism, parts
        own = own_content(part.mechanism, bool(parts), part.attachments, part.holding_joints)
        self.own, self.instances = own.content, own.instances
        self.script = Script(self.mechanism, own, list(expressions_of(own.expressions(self.mechanism))), short)
        self.is_part = bool(parts) and part in parts
        self.written = self._written_coordinates()
        self.options = self._options() if short else {}

    def sections(self) -> str:
        m, script = self.own, self.script
        width = max((len(name_text(body.name)) for body in m.bodies), default=0)
        gravity = [] if self.is_part else self._gravity()
        parts = {
            "bodies": [body_text(body, width, script) for body in m.bodies],
            "frames": [self._frame(name, frame) for name, frame in m.frames],
            "laws": [self._law(law) for law in m.laws],
            "tables": [_table(table) for table in script.tables.values()],
            "instances of parts": use_texts(self.instances, self.mechanism, self.parts, script),
            "joints": [self._joint(joint) for joint in m.joints],
            "loads": [load_text(load, self._coordinates(), script) for load in self._other_loads()],
            "constraints": [constraint_text(constraint, script) for constraint in m.constraints],
            "contact": [contact_text(element, script) for element in m.contacts],
            "states": [*map(self._state, m.states), *map(self._state_equation, m.state_equations)],
            "initial state": self._initial(),
            "actuators": self._actuated_coordinates(),
            "drawings": [drawing_text(drawing, script) for drawing in m.drawings],
        }
        parts["laws"] += self._undetermined_functions()
        measures = [self._measure(measure) for measure in m.measures]
        parts["measurements"] = [*(self._sensor(sensor) for sensor in self._declared_sensors()), *measures]
        parts = {"parameters": self._parameters() + gravity} | parts
        return "\n".join(_section(title, lines) for title, lines in parts.items() if lines)

    def _gravity(self) -> list[str]:
        m = self.mechanism
        # A part that has gravity is refused where the whole says none: it must be said, be it zero.
        silent = m.gravity == ORIGIN and all(instance.part.mechanism.gravity == ORIGIN for instance in self.instances)
        return [] if silent else [f"gravity = {self.script.vector(m.gravity, ACCELERATION, Place('gravity'))} ;"]

    def head(self) -> list[str]:
        m = self.mechanism
        if m.name == DEFAULT_NAME and not m.meaning:
            return []
        return [f"mechanism {name_text(m.name)}{meaning_text(m.meaning)} ;\n"]

    # Joints and the names of their coordinates

    def _coordinates(self) -> dict[str, Coordinate]:
        return {q.name: q for joint in self.mechanism.joints for q in joint.coordinates}

    def _written_coordinates(self) -> dict[str, str]:
        """Coordinates by the names written in their joints: without the qualifier that the reader puts back."""
        candidates = {}
        for joint in self.own.joints:
            prefix = f"{qualifier(joint, needs_name(joint, self.script))}."
            for q in joint.coordinates:
                candidates[q.name] = q.name.removeprefix(prefix) if self.script.short else q.name
        uses = Counter(candidates.values())
        kept = {short for full, short in candidates.items() if full == short}
        return {full: short if uses[short] > 1 and short not in kept else full for full, short in candidates.items()}

    def _options(self) -> dict[str, list[Load]]:
        """Loads that the joints can carry as options: as many of the first loads as come in the order of the joints."""
        joints = {joint.name: (i, joint) for i, joint in enumerate(self.own.joints)}
        carried: dict[str, list[Load]] = {}
        last = -1
        for load in self.own.loads:
            carrier = joints.get(getattr(load, "joint", ""))
            # The reader lists options joint by joint before all other loads: what breaks that order is written apart.
            if carrier is None or carrier[0] < last or not is_option(load, carrier[1], self.written):
                break
            last = carrier[0]
            carried.setdefault(carrier[1].name, []).append(load)
        return carried

    def _other_loads(self) -> Sequence[Load]:
        carried = sum(len(loads) for loads in self.options.values())
        return self.own.loads[carried:]

    def _joint(self, joint: Joint) -> str:
        place = joint_place(joint, self.written, self.script)
        options = joint_options(self.options.get(joint.name, []), joint, self.written, place, self.script)
        return joint_text(joint, self.written, options, self.script)

    # Parameters

    def _parameters(self) -> list[str]:
        shown = [p for p in self.own.parameters if p.name not in self.script.written_fresh]
        if not shown:
            return []
        width = max(len(name_text(p.name)) for p in shown)
        values = [self._parameter(p) for p in shown]
        plain = [f"{name_text(p.name)}{value}" for p, value in zip(shown, values, strict=True)]
        padded = [f"{name_text(p.name):<{width}}{value}" for p, value in zip(shown, values, strict=True)]
        return [_declarations("param ", plain, padded)]

    def _parameter(self, p: Parameter) -> str:
        """What follows a parameter's name."""
        value = f" in {p.unit}" if p.value is None else f" = {self._parameter_value(p, p.value)}"
        return f"{value}{meaning_text(p.meaning)}"

    def _parameter_value(self, p: Parameter, value: Expr) -> str:
        """One number in the parameter's unit where possible, else a formula and the unit."""
        unit = p.unit
        if unit == "1" or is_unit(unit, grammar().keywords):
            number = number_in(value, unit)
            if number is not None:
                return f"{number} {unit}" if unit != "1" else number if not value.is_zero else f"{number} in 1"
        want, place = dimension_of(unit), Place(p.name)
        natural = self.script.formulas.sizes.natural(value)
        # A number of degrees would make degrees the parameter's unit: a plain number keeps its pi.
        formula = self.script.formula(value, None if natural is None and unit == "1" else want, place)
        if natural is None and (unit_of(unit).ratio != 1 or unit_of(unit).turns):
            formula = self._number_with_unit(value, want, place)
        implied = "1" if natural is None else si_name(want.exponents)
        return formula if unit == implied else f"{formula} in {unit}"

    def _number_with_unit(self, value: Expr, want: Dim, place: Place) -> str:
        """A bare number that says its SI unit, for a parameter whose own unit is another."""
        si = "rad" if want == NUMBER else si_name(want.exponents)
        if value.is_constant:
            return f"{self.script.formula(value, NUMBER, place)} * 1 {si}"
        return f"({self.script.formula(value, None, place)}) * 1 {si}"

    # Laws, tables, sensors, frames, initial state

    def _law(self, law: Law) -> str:
        place = Place(law.name, {a: name_text(str(a.name)) for a in law.arguments})
        arguments = ", ".join(_argument(a) for a in law.arguments)
        natural = self.script.formulas.sizes.natural(law.formula)
        unit = law.function.unit
        note = "" if natural is not None and si_name(dimension_of(unit).exponents) == unit else f" in {unit}"
        formula = self.script.formula(law.formula, dimension_of(unit), place)
        return f"law {name_text(law.name)}({arguments}){note} = {formula}{meaning_text(law.function.meaning)} ;"

    def _undetermined_functions(self) -> list[str]:
        laws = {law.name for law in self.mechanism.laws}
        lines = []
        for name, function in self.script.functions.items():
            if name in laws or name in self.script.written_fresh:
                continue
            arguments = ", ".join(f"x{i}" for i in range(1, function.arity + 1))
            lines.append(f"law {name_text(name)}({arguments}) in {function.unit}{meaning_text(function.meaning)} ;")
        return lines

    def _frame(self, name: str, frame: Frame) -> str:
        text = self.script.frame(frame, Place(name), by_name=False)
        return f"let {name_text(name)} = {text} ;"

    def _declared_sensors(self) -> Sequence[Sensor]:
        """Sensors up to the last that must be declared; those after it follow from being mentioned."""
        sensors = self.own.sensors
        # Sensors keep their order: one that is only mentioned comes after all that are declared.
        last = max((i for i, sensor in enumerate(sensors) if self._is_explicit(sensor)), default=-1)
        return sensors[: last + 1]

    def _is_explicit(self, sensor: Sensor) -> bool:
        """Whether a sensor must be declared: no formula mentions it under the name it would have."""
        if not self.script.short or sensor.name not in self.script.mentioned or sensor.axes != EARTH:
            return True
        frames = {**dict(self.mechanism.frames), **{b.name: Frame(b.name) for b in self.mechanism.bodies}}
        frames |= {f"{b.name}.iframe": Frame(b.name, HERE, "iframe") for b in self.mechanism.bodies}
        place = sensor.name.removesuffix(f".{sensor.kind}.{sensor.component}")
        return place == sensor.name or frames.get(place) != sensor.of

    def _sensor(self, sensor: Sensor) -> str:
        place = Place(sensor.name)
        axes = "" if sensor.axes == EARTH else f" in {self.script.frame(sensor.axes, place)}"
        of = self.script.frame(sensor.of, place)
        return f"measure {name_text(sensor.name)} = {sensor.kind}.{sensor.component} of {of}{axes} ;"

    def _measure(self, measure: Measure) -> str:
        formula = self.script.formula(measure.formula, None, Place(measure.name))
        return f"measure {name_text(measure.name)} = {formula}{meaning_text(measure.meaning)} ;"

    def _state(self, state: State) -> str:
        start = dict(self.mechanism.initial).get(state.name)
        name, place = name_text(state.name), Place(state.name)
        parts = []
        if start is not None:
            # The unit stands behind the number where one is meant: 0 A says what 0 alone does not.
            number = number_in(start, state.unit) if state.unit != "1" else None
            text = self.script.formula(start, dimension_of(state.unit), Place(f"init.{state.name}"))
            value = f"{text} in {state.unit}" if number is None else f"{number} {state.unit}"
            parts.append(f"{name} = {value}{meaning_text(state.meaning)}")
        if state.formula is not None:
            rate = self.script.formula(state.formula, dimension_of(per_second(state.unit)), place)
            parts.append(f"{name}' = {rate}{'' if parts else meaning_text(state.meaning)}")
        return f"state {', '.join(parts)} ;"

    def _state_equation(self, residual: Expr) -> str:
        return f"equation {self.script.formula(residual, None, Place('equation'))} = 0 ;"

    def _initial(self) -> list[str]:
        states = {state.name for state in self.own.states}
        given = [(name, value) for name, value in self.own.initial if name not in states]
        if not given:
            return []
        lines = []
        for name, value in given:
            unit = self._state_unit(name)
            text = self.script.formula(value, dimension_of(unit), Place(f"init.{name}"))
            if unit == "rad/s" and value.is_constant and not isinstance(value.value, Fraction):
                text = measured_text(value.value, unit)
            bare = name.rstrip("'")
            word = "about" if name in self.mechanism.guesses else "="
            lines.append(f"{name_text(bare)}{name[len(bare) :]} {word} {text}")
        return [_declarations("init ", lines, lines)]

    def _actuated_coordinates(self) -> list[str]:
        names = [name_text(name) for name in self.own.actuated]
        return [f"actuate {', '.join(names)} ;"] if names else []

    def _state_unit(self, name: str) -> str:
        for joint in self.mechanism.joints:
            for q in joint.coordinates:
                if name in (q.name, f"{q.name}'"):
                    return q.unit if name == q.name else per_second(q.unit)
            for speed in joint.speeds:
                if name == speed.name:
                    return speed.unit
        return QUANTITIES["velocity"] if ".v" in name[-3:] else QUANTITIES["rotation"]


def _argument(argument: Expr) -> str:
    if argument is TIME:
        return "t"
    info = argument.data
    return f"{name_text(info.name)} in {info.unit}{meaning_text(info.meaning)}"


def _table(table: Table) -> str:
    points = ", ".join(
        f"[{x!r}, {y!r}]" for x, y in zip(map(float, table.points), map(float, table.values), strict=True)
    )
    order = "" if table.degree == 3 else f" order {table.degree}"
    unit = "" if table.unit == "1" else f" in {table.unit}"
    return f"table {name_text(table.name)}{unit}{order} = {points} ;"


def _declarations(head: str, plain: list[str], padded: list[str]) -> str:
    """Declarations after one word: on one line when they are few, one below the other otherwise."""
    line = f"{head}{', '.join(plain)} ;"
    if len(line) <= WIDTH and len(plain) < 4 and '"' not in line:
        return line
    return f"{head}{(',' + chr(10) + ' ' * len(head)).join(padded)} ;"


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([f"(* {title} *)", *(fold_line(line, WIDTH) for text in lines for line in text.split("\n")), ""])


def drawing_text(drawing: Drawing, script: Script) -> str:
    """draw box x = 1 m, ... on body ;"""
    place = Place("drawing")
    points = [script.point(frame, place) for frame in drawing.frames]
    items = [
        f"{name} = {script.formula(value, NUMBER if name in FACTORS else LENGTH, place)}"
        for name, value in drawing.sizes
    ]
    items += [_wound(drawing, number, points, script) for number, _ in drawing.wound]
    if drawing.colour:
        items.append(f"colour ={meaning_text(drawing.colour)}")
    if drawing.transparency is not None:
        items.append(f"transparency = {script.formula(drawing.transparency, NUMBER, place)}")
    word = place_of_frames(drawing.kind, len(points))
    where = " and ".join(points) if word == BETWEEN else points[0] if word == ON else ", ".join(points)
    head = f"draw {drawing.kind}{meaning_text(drawing.text)}"
    return " ".join([head, *([", ".join(items)] if items else []), f"{word} {where} ;"])


def _wound(drawing: Drawing, number: int, points: list[str], script: Script) -> str:
    if "@" in points[number]:
        raise UnsupportedError("the pulley of a drawn rope has no name: make its frame one of the mechanism's frames.")
    radius = script.formula(dict(drawing.wound)[number], LENGTH, Place("drawing"))
    return f"radius({points[number]}) = {radius}"
