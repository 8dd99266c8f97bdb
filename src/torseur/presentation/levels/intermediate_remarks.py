"""What the intermediates of the equations are: meaning, unit, and the body and joints they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph import Expr, as_expr, live_nodes
from torseur.derivation.dynamics.loads.frames_in_motion import MovingFrames
from torseur.derivation.dynamics.loads.sensor_values import sensor_value
from torseur.derivation.equations import Equations
from torseur.derivation.tree.flatten import flatten
from torseur.description.mechanism.units import parse_unit
from torseur.presentation.levels.statement import Remark
from torseur.presentation.typesetting.recursion import Line

# The letters of the recursion's own labels.
LABELS = {
    "w": ("angular velocity of {}, {} axis", "rad/s"),
    "dw": ("angular acceleration of {}, {} axis", "rad/s^2"),
    "a": ("acceleration of the origin of {} less gravity, {} axis", "m/s^2"),
}


@dataclass(frozen=True)
class Remarks:
    """Remarks on the lines of one mechanism's equations."""

    equations: Equations

    def of(self, line: Line) -> Remark:
        """A label of the recursion by its letters; any other intermediate by the joints whose state it depends on."""
        known = self._labels.get(line.name)
        if known is not None:
            return known
        if line.node is None:
            return Remark()
        joints = self._joints(line.node)
        meaning = f"intermediate of {', '.join(joints)}" if joints else "constant"
        return Remark(meaning, self._unit(line.node), (), joints)

    @cached_property
    def _labels(self) -> dict[str, Remark]:
        labels = {}
        for link in self.equations.tree.links:
            for letter, (meaning, unit) in LABELS.items():
                for axis in "xyz":
                    said = Remark(meaning.format(link.name, axis), unit, self._bodies(link.name), (link.joint.name,))
                    labels[f"{letter}_{link.name}_{axis}"] = said
        measured = {name: remark for name, (_, remark) in sensor_labels(self.equations).items()}
        return labels | self._parts | measured

    @property
    def _parts(self) -> dict[str, Remark]:
        """What the parts of a long row are, by their names."""
        along = [name.rstrip("'") for name in self.equations.layout.speed_names]
        parts = {}
        for i, row in enumerate(along, 1):
            parts[f"b_{i}"] = Remark(f"centrifugal, Coriolis and gravity terms along {row}")
            parts[f"Q_{i}"] = Remark(f"loads along {row}")
            for j, column in enumerate(along, 1):
                parts[f"M_{i}_{j}"] = Remark(f"entry {i}, {j} of the mass matrix: {row}, {column}")
        return parts

    def _bodies(self, name: str) -> tuple[str, ...]:
        return (name,) if any(body.name == name for body in self.equations.mechanism.bodies) else ()

    @cached_property
    def _owners(self) -> dict[Expr, str]:
        return {
            state: link.joint.name
            for link in self.equations.tree.links
            for state in (*link.symbols.coordinates, *link.symbols.rates, *link.symbols.speeds)
        }

    @cached_property
    def _dependence(self) -> dict[Expr, frozenset[str]]:
        """The joints that nodes depend on, of those that were asked for: lines share most of what they are made of."""
        return {}

    def _joints(self, node: Expr) -> tuple[str, ...]:
        """The joints whose coordinates or speeds an expression depends on, outward."""
        for one in live_nodes([node], self._dependence):
            if one not in self._dependence:
                own = [self._owners[one]] if one in self._owners else []
                self._dependence[one] = frozenset(own).union(*(self._dependence[a] for a in one.args))
        joints = self._dependence[node]
        return tuple(link.joint.name for link in self.equations.tree.links if link.joint.name in joints)

    @cached_property
    def _symbolic(self) -> bool:
        """Whether no number of the description hides a unit."""
        tree = self.equations.tree
        # A length written as the number 0.3 carries no unit into the graph, so that a product with it would get a
        # wrong one;
        # 0 and 1 occur in any symbolic mechanism and do no harm.
        leaves = flatten([(link.inertia, link.motion.transform.position) for link in tree.links])
        numbers = [leaf for leaf in leaves if not isinstance(leaf, Expr) or leaf.is_constant]
        return all(abs(float(n.value if isinstance(n, Expr) else n)) in (0, 1) for n in numbers)

    @cached_property
    def _exponents(self) -> dict[Expr, dict[str, float] | None]:
        """Exponents of the base units of nodes that were asked for."""
        return {}

    def _unit(self, node: Expr) -> str:
        """The unit by the symbols' own units; empty where numbers stand for quantities, or it does not come out."""
        if not self._symbolic:
            return ""
        for one in live_nodes([node], self._exponents):
            if one not in self._exponents:
                self._exponents[one] = _powers(one, self._exponents)
        exponents = self._exponents[node]
        return _unit_text(exponents) if exponents else ""


def _powers(node: Expr, known: Mapping[Expr, dict[str, float] | None]) -> dict[str, float] | None:
    """Exponents of the base units; None where unknown."""
    arguments = [known[a] for a in node.args]
    match node.op:
        case "symbol":
            return _of_unit(str(node.data.unit))
        case "constant" | "pi":
            return {}
        # Also the check: where two units differ, a number stood for a quantity somewhere, and no unit is told.
        case "add" | "sub":
            return arguments[0] if arguments[0] == arguments[1] else None
        case "neg":
            return arguments[0]
        case "mul" | "div":
            return _combine(arguments[0], arguments[1], 1 if node.op == "mul" else -1)
        case "pow" if node.args[1].is_constant and arguments[0] is not None:
            return {k: float(node.args[1].value) * e for k, e in arguments[0].items()}
        case "sin" | "cos":
            return {}
    return None


def _of_unit(unit: str) -> dict[str, float]:
    """Exponents of kg, m and s; angles have none."""
    dimension = parse_unit(unit)[1]
    names = ("m", "kg", "s")
    return {name: float(power) for name, power in zip(names, dimension, strict=False) if power}


def _combine(a: dict[str, float] | None, b: dict[str, float] | None, sign: int) -> dict[str, float] | None:
    if a is None or b is None:
        return None
    total = {name: a.get(name, 0) + sign * b.get(name, 0) for name in a | b}
    return {name: power for name, power in total.items() if power}


def _unit_text(powers: Mapping[str, float]) -> str:
    """kg*m^2/s^2."""
    ordered = [(name, powers[name]) for name in ("kg", "m", "s") if name in powers]
    above = [_power_text(name, power) for name, power in ordered if power > 0]
    below = [_power_text(name, -power) for name, power in ordered if power < 0]
    return "/".join(["*".join(above) or "1", *below])


def _power_text(name: str, power: float) -> str:
    return name if power == 1 else f"{name}^{power:g}"


def sensor_labels(equations: Equations) -> dict[str, tuple[Expr, Remark]]:
    """What sensors measure, by name with _ for the dots; accelerations, on which no load depends, are left out."""
    layout, sensors = equations.layout, equations.mechanism.sensors
    if not sensors:
        return {}
    frames = MovingFrames(equations.tree.at(layout.coordinates, layout.speeds))
    labels = {}
    for sensor in sensors:
        if sensor.kind in ("position", "velocity", "rotation"):
            info = sensor.symbol.data
            value = as_expr(sensor_value(sensor, frames))
            labels[sensor.name.replace(".", "_")] = (value, Remark(info.meaning, info.unit, (sensor.of.body,)))
    return labels
