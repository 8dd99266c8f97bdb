"""What a name in a formula refers to: a quantity, a definition, a sensor, or something fresh."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torseur.graph import UndeterminedFunction, symbol
from torseur.language import syntax as x
from torseur.language.dimensions import dimension_of
from torseur.language.scope import Context, Function, Known, Placed, Scope
from torseur.mechanism import Parameter, Sensor
from torseur.mechanism.sensors import COMPONENTS, UNITS
from torseur.mechanism.units import si_unit_of

if TYPE_CHECKING:
    from torseur.language.formulas import Formulas, Term
    from torseur.language.places import Components, Places

MOST_FRESH = 10_000


class References:
    """Finds what names stand for; `formulas` and `places` read the definitions that names lead to."""

    formulas: Formulas
    places: Places

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.parameters: list[tuple[str, Known]] = []
        self._fresh: dict[tuple[int, str], Known] = {}
        self._functions: dict[int, Function] = {}
        self._scalars: dict[str, Term] = {}
        self._vectors: dict[str, Components] = {}
        self._open: set[str] = set()

    # Definitions: let A = ...

    def definition(self, node: x.Expression) -> x.Expression | None:
        """What a `let` gave for the name, if it did."""
        return self.scope.definitions.get(node.name) if isinstance(node, x.Reference) and not node.primes else None

    def scalar_definition(self, node: x.Reference, definition: x.Expression) -> Term:
        """The formula behind a name, read once."""
        if node.name not in self._scalars:
            if not self.opened(node):
                return self.formulas.read(x.Number(node.start, node.end, 1, "0", None), None, Context(""))
            term = self.formulas.read(definition, None, Context(node.name))
            self._scalars[node.name] = term
            self._open.discard(node.name)
        known = self._scalars[node.name]
        return type(known)(node, known.dimension, known.literal, known.build)

    def vector_definition(self, node: x.Reference, definition: x.Expression) -> Components:
        """The vector behind a name, read once."""
        if node.name not in self._vectors:
            if not self.opened(node):
                return self.places.origin(node)
            dimension = self.scope.dimensions.unknown()
            self._vectors[node.name] = self.places.vector(definition, dimension, Context(node.name))
            self._open.discard(node.name)
        return self._vectors[node.name]

    def opened(self, node: x.Reference) -> bool:
        """Marks a definition as being read; False, noted, when it refers to itself."""
        if node.name in self._open:
            self.scope.fault(node, f"'{node.name}' is defined by itself.")
            return False
        self._open.add(node.name)
        return True

    def closed(self, node: x.Reference) -> None:
        self._open.discard(node.name)

    # Quantities

    def quantity(self, node: x.Reference, context: Context) -> Known | None:
        """The quantity a name stands for; None after noting that there is none."""
        known = self._named(node, context)
        if known is None or not node.primes:
            return known
        if known.rate is None or node.primes > 1:
            what = "only first rates of coordinates" if known.rate is not None else "only coordinates have rates"
            self.scope.fault(node, f"there is no {node.name}{node.primes * chr(39)}: {what}.")
            return None
        return known.rate

    def _named(self, node: x.Reference, context: Context) -> Known | None:
        name = node.name
        known = context.local.get(name) or self.scope.quantities.get(name)
        known = known or self._of_joint(node) or self._of_body(node) or self._sensor(node)
        if known is None:
            self._unknown(node, context)
        return known

    def is_known(self, node: x.Reference, context: Context) -> bool:
        """Whether a name means anything at all."""
        return node.name in {**context.local, **self.scope.quantities, **self.scope.bodies, **self.scope.frames}

    def _of_joint(self, node: x.Reference) -> Known | None:
        """joint.coordinate, the coordinate as written in the joint."""
        *owner, written = node.path
        joint = self.scope.joints.get(".".join(owner)) or self.scope.qualifiers.get(".".join(owner))
        full = None if joint is None else joint.full.get(written)
        return None if full is None else self.scope.quantities.get(full)

    def _of_body(self, node: x.Reference) -> Known | None:
        """What is known or undetermined of a body: arm.mass, arm.centre.x, arm.Ixx."""
        body = self.scope.bodies.get(node.path[0])
        return None if body is None else body.get(node.name)

    def _sensor(self, node: x.Reference) -> Known | None:
        """frame.velocity.x and its like: a sensor, made where it is first mentioned."""
        *place, kind, component = ("", "", *node.path)[-max(3, len(node.path)) :]
        if kind not in UNITS or component not in COMPONENTS:
            return None
        of = self.places.named(tuple(part for part in place if part))
        if of is None:
            return None
        return self.sensor(node.name, kind, component, of)

    def sensor(self, name: str, kind: str, component: str, of: Placed, axes: Placed | None = None) -> Known:
        """The quantity a sensor measures; the sensor is added to the mechanism."""

        def build() -> Sensor:
            given = () if axes is None else (axes.build(),)
            return Sensor(name, kind, of.build(), component, *given)

        self.scope.sensors[name] = build
        known = Known(dimension_of(UNITS[kind]), lambda: build().symbol)
        self.scope.quantities[name] = known
        return known

    def _unknown(self, node: x.Reference, context: Context) -> None:
        joints = [j for j in self.scope.joints.values() if node.name in j.full]
        if len(joints) > 1:
            names = ", ".join(joint.full[node.name] for joint in joints)
            self.scope.fault(node, f"'{node.name}' is a coordinate of several joints. Say which: {names}.")
            return
        *place, kind, component = ("", *node.path)[-max(2, len(node.path)) :]
        if kind in UNITS and component in COMPONENTS:
            self.scope.unknown(node, "body", ".".join(place), {**self.scope.bodies, **self.scope.frames})
            return
        known = {*context.local, *self.scope.quantities, *self.scope.definitions} - {"pi", "t"}
        self.scope.unknown(node, "name", node.name, dict.fromkeys(known))

    # Fresh constants and functions

    def fresh_constant(self, node: x.Fresh, context: Context, component: str = "") -> Known:
        """An undetermined constant of its own for this place in the text."""
        key = (node.start, component)
        if key not in self._fresh:
            label = f"{node.label}.{component}" if component else node.label
            self._fresh[key] = self.undetermined(f"{context.owner}.{label}", node)
        return self._fresh[key]

    def undetermined(self, wanted: str, node: x.Node) -> Known:
        """A parameter without a value, under the wanted name or the same with a number."""
        if len(self.parameters) == MOST_FRESH:
            self.scope.fault(node, f"there are more than {MOST_FRESH} undetermined constants.")
        name = self.scope.names.unique(wanted)
        dimension = self.scope.dimensions.unknown()
        known = Known(dimension, lambda: symbol(name, si_unit_of(self.scope.dimensions.unit(dimension))))
        self.scope.quantities[name] = known
        self.parameters.append((name, known))
        return known

    def fresh_parameters(self) -> list[Parameter]:
        """The undetermined constants as parameters without a value, in the order of the text."""
        return [
            Parameter(known.build(), None, self.scope.dimensions.unit(known.dimension)) for _, known in self.parameters
        ]

    def fresh_function(self, node: x.Fresh, context: Context) -> Function:
        """An undetermined function of its own for this place in the text."""
        if node.start not in self._functions:
            name = self.scope.names.unique(f"{context.owner}.{node.label}")
            arity = len(node.arguments or ())
            result = self.scope.dimensions.unknown()
            unit = self.scope.dimensions.unit
            self._functions[node.start] = Function(
                (None,) * arity, result, lambda: UndeterminedFunction(name, arity, unit(result))
            )
        return self._functions[node.start]
