"""The content of a part under the name of an instance, its earth and its attachments being frames of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, as_expr, live_nodes, symbol
from torseur.algebra.graph.evaluation import with_arguments
from torseur.algebra.graph.expr import intern
from torseur.algebra.spatial import Rotation, Vec3, about
from torseur.description.mechanism.bodies import Body, implied_symbols
from torseur.description.mechanism.constraints import Constraint
from torseur.description.mechanism.contacts import GROUND_X, GROUND_Y, Switching
from torseur.description.mechanism.drawings import Drawing
from torseur.description.mechanism.frames import EARTH_NAME, Frame, Measure, Placement, Sensor
from torseur.description.mechanism.joints import Joint
from torseur.description.mechanism.loads import LENGTH, LENGTH_RATE, Load
from torseur.description.mechanism.mechanism import Mechanism
from torseur.description.mechanism.quantities import TIME, Coordinate, Law, Parameter, State
from torseur.description.mechanism.transformations.formula_mapping import map_together
from torseur.errors import MechanismError

_KEPT = (TIME, LENGTH, LENGTH_RATE, GROUND_X, GROUND_Y)


@dataclass(frozen=True)
class Content:
    """What an instance brings into a mechanism, field by field as in `Mechanism`."""

    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    parameters: tuple[Parameter, ...]
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
    drawings: tuple[Drawing, ...]
    contacts: tuple[Switching, ...]
    measures: tuple[Measure, ...]


CONTENTS = tuple(field.name for field in fields(Content))


@dataclass(frozen=True)
class Naming:
    """Every name of a mechanism behind a prefix; `outside` gives the bodies that are not its own by their names in it.

    Tables go by the name of the part: its instances share them, and code holds the points of a spline once.
    """

    mechanism: Mechanism
    prefix: str
    outside: Mapping[str, str]

    def name(self, name: str) -> str:
        return f"{self.prefix}.{name}"

    def body(self, name: str) -> str:
        return name if name in self.outside else self.name(name)

    @cached_property
    def symbols(self) -> dict[Expr, Expr]:
        """The symbols of what is declared, by those of the mechanism: the meanings of some hold names too."""
        pairs: dict[Expr, Expr] = {}
        for body in self.mechanism.bodies:
            old, new = implied_symbols(body.name), implied_symbols(self.name(body.name))
            pairs |= {old[f"{body.name}{end}"]: new[f"{self.prefix}.{body.name}{end}"] for end in
                      (name.removeprefix(body.name) for name in old)}  # fmt: skip
        moved: list[Coordinate | State] = [q for joint in self.mechanism.joints for q in joint.coordinates]
        for q in (*moved, *self.mechanism.states):
            renamed = replace(q, name=self.name(q.name))
            pairs |= {q.symbol: renamed.symbol, q.rate: renamed.rate}
        return pairs | {sensor.symbol: self._sensor_symbol(sensor) for sensor in self.mechanism.sensors}

    def _sensor_symbol(self, sensor: Sensor) -> Expr:
        """The symbol of a sensor once it is mounted, whose meaning says the body that it measures."""
        of = Frame(self.outside.get(sensor.of.body, self.body(sensor.of.body)))
        return replace(sensor, name=self.name(sensor.name), of=of).symbol

    def symbol(self, old: Expr) -> Expr:
        if old in _KEPT:
            return old
        known = self.symbols.get(old)
        return symbol(self.name(str(old.name)), old.data.unit, old.data.meaning) if known is None else known

    def formulas(self, outputs: Sequence[Expr], arguments: Sequence[Expr] = ()) -> list[Expr]:
        """The formulas with every symbol, function and table renamed, but for the arguments of a law."""
        results: dict[Expr, Expr] = {}
        for node in live_nodes(outputs):
            inside = tuple(results[a] for a in node.args)
            if node.op == "symbol":
                results[node] = node if node in arguments else self.symbol(node)
            elif node.op == "apply":
                function = replace(node.data.function, name=self.name(node.data.function.name))
                results[node] = intern("apply", inside, replace(node.data, function=function))
            elif node.op == "table":
                table = replace(node.data.table, name=f"{self.mechanism.name}.{node.data.table.name}")
                results[node] = intern("table", inside, replace(node.data, table=table))
            else:
                results[node] = node if inside == node.args else with_arguments(node, inside)
        return [results[output] for output in outputs]

    def in_formulas(self, thing: Any) -> Any:
        """A structure with its formulas renamed."""
        return map_together(thing, self.formulas)

    # Things, whose formulas are renamed already

    def frame(self, frame: Frame) -> Frame:
        return replace(frame, body=self.body(frame.body))

    def framed(self, thing: Any) -> Any:
        """A value with the frames among its fields renamed, and its own name."""
        frames = {name: self.frame(value) for name, value in vars(thing).items() if isinstance(value, Frame)}
        others = {"name": self.name(thing.name)}
        for field in ("joint", "coordinate", "on"):
            if isinstance(getattr(thing, field, None), str) and getattr(thing, field):
                others[field] = self.name(getattr(thing, field))
        return replace(thing, **frames, **others)

    def sensor(self, sensor: Sensor) -> Sensor:
        return replace(sensor, name=self.name(sensor.name), of=self.frame(sensor.of), axes=self.frame(sensor.axes))

    def joint(self, joint: Joint) -> Joint:
        return replace(
            joint,
            name=self.name(joint.name),
            parent=self.frame(joint.parent),
            child=self.frame(joint.child),
            coordinates=tuple(replace(q, name=self.name(q.name)) for q in joint.coordinates),
            speeds=tuple(replace(speed, name=self.name(speed.name)) for speed in joint.speeds),
        )

    def law(self, law: Law) -> Law:
        (formula,) = self.formulas([law.formula], law.arguments)
        return Law(replace(law.function, name=self.name(law.name)), law.arguments, formula)

    def parameter(self, parameter: Parameter, value: Expr | None) -> Parameter:
        return Parameter(self.symbol(parameter.symbol), value, parameter.unit)


@dataclass(frozen=True)
class Mounting:
    """Frames of the earth and of the attachments of a part, as frames of the mechanism that it is used in."""

    instance: str
    mounts: Mapping[str, Frame]

    def frame(self, frame: Frame) -> Frame:
        """frame = mount ∘ frame: at p_M + R_M p, turned by R_M R."""
        mount = self.mounts.get(frame.body)
        if mount is None:
            return frame
        turns = mount.placement.rotation
        rotation = Rotation()
        for turn in turns:
            rotation = rotation.then(about(Vec3(*turn.axis), turn.angle))
        # Composed as formulas, so that a mount may hold parameters of the mechanism.
        offset = rotation.to_parent(Vec3(*frame.placement.position))
        x, y, z = (as_expr(a + b) for a, b in zip(mount.placement.position, offset, strict=True))
        return replace(mount, placement=Placement((x, y, z), (*turns, *frame.placement.rotation)))

    def framed(self, thing: Any) -> Any:
        """A value with the frames among its fields placed."""
        frames = {name: self.frame(value) for name, value in vars(thing).items() if isinstance(value, Frame)}
        return replace(thing, **frames) if frames else thing

    def sensor(self, sensor: Sensor) -> Sensor:
        """A sensor that still measures with respect to the earth, which an earth that lies elsewhere is not."""
        mount = self.mounts[EARTH_NAME]
        moves = mount.body != EARTH_NAME
        away = sensor.kind == "position" and any(not c.is_zero for c in mount.placement.position)
        if moves or away:
            where = f"moves with body '{mount.body}'" if moves else "lies elsewhere"
            raise MechanismError(
                f"'{self.instance}' measures {sensor.kind}s from its own earth ('{sensor.name}'), which {where} here, "
                "and measures are taken from the ground. Use the part at earth, and attach what it is fixed to."
            )
        return replace(sensor, of=self.frame(sensor.of), axes=self.frame(sensor.axes))


def instance_content(
    part: Mechanism, prefix: str, mounts: Mapping[str, Frame], held: Sequence[str], values: Mapping[str, Expr]
) -> Content:
    """What a part brings into the mechanism that uses it.

    `mounts` gives the frame for the earth of the part and for each body it is attached to; the joints `held` keep
    those bodies in place while the part stands alone, and stay behind. `values` are those given for its parameters.
    """
    outside = {name: frame.body for name, frame in mounts.items()}
    names, mounting = Naming(part, prefix, outside), Mounting(prefix, mounts)
    own = [body for body in names.in_formulas(part.bodies) if body.name not in mounts]
    joints = [joint for joint in names.in_formulas(part.joints) if joint.name not in held]
    loads, constraints = names.in_formulas(part.loads), names.in_formulas(part.constraints)
    frames, drawings = names.in_formulas(part.frames), names.in_formulas(part.drawings)
    initial, sensors = names.in_formulas(part.initial), names.in_formulas(part.sensors)
    defaults = names.in_formulas(tuple(p.value for p in part.parameters))
    left = {q.name for joint in part.joints if joint.name in held for q in joint.coordinates}
    return Content(
        bodies=tuple(replace(body, name=names.name(body.name)) for body in own),
        joints=tuple(mounting.framed(names.joint(joint)) for joint in joints),
        parameters=tuple(
            names.parameter(p, values.get(p.name, default))
            for p, default in zip(part.parameters, defaults, strict=True)
        ),
        loads=tuple(mounting.framed(names.framed(load)) for load in loads),
        constraints=tuple(mounting.framed(names.framed(constraint)) for constraint in constraints),
        laws=tuple(names.law(law) for law in part.laws),
        sensors=tuple(mounting.sensor(names.sensor(sensor)) for sensor in sensors),
        frames=tuple((names.name(name), mounting.frame(names.frame(frame))) for name, frame in frames),
        initial=tuple((names.name(name), value) for name, value in initial if name.rstrip("'") not in left),
        guesses=tuple(names.name(name) for name in part.guesses),
        actuated=tuple(names.name(name) for name in part.actuated),
        states=tuple(replace(state, name=names.name(state.name)) for state in names.in_formulas(part.states)),
        state_equations=names.in_formulas(part.state_equations),
        contacts=tuple(mounting.framed(names.framed(contact)) for contact in names.in_formulas(part.contacts)),
        measures=tuple(replace(m, name=names.name(m.name)) for m in names.in_formulas(part.measures)),
        drawings=tuple(
            replace(d, frames=tuple(mounting.frame(names.frame(frame)) for frame in d.frames)) for d in drawings
        ),
    )
