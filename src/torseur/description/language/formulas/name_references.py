"""What a name in a formula refers to: a quantity, a definition, a sensor, or something fresh."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from torseur.algebra.graph import UndeterminedFunction, symbol
from torseur.description.language.formulas.dimensions import dimension_of
from torseur.description.language.formulas.name_scope import Context, Function, Known, Placed, Scope
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.mechanism import Parameter, Sensor
from torseur.description.mechanism.frames import QUANTITIES, components_of
from torseur.description.mechanism.units import si_unit_of

if TYPE_CHECKING:
    from torseur.description.language.formulas.read_places import Components, Places
    from torseur.description.language.formulas.scalar_formulas import Formulas, Term

MOST_FRESH = 10_000
DEEPEST_DEFINITION = 160
T = TypeVar("T")


class References:
    """Finds what names stand for; `formulas` and `places` read the definitions that names lead to."""

    formulas: Formulas
    places: Places

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.parameters: list[tuple[str, Known]] = []
        self._fresh: dict[tuple[int, str], Known] = {}
        self._functions: dict[int, Function] = {}
        self._definitions: dict[tuple[str, str], tuple[Any, int]] = {}
        self._open: list[str] = []
        self._depths: list[int] = []

    # Definitions: let A = ...

    def definition(self, node: x.Expression) -> x.Expression | None:
        """What a `let` gave for the name, if it did."""
        return self.scope.definitions.get(node.name) if isinstance(node, x.Reference) and not node.primes else None

    def read_definition(self, kind: str, node: x.Reference, read: Callable[[], T], instead: T) -> T:
        """What a definition says as a scalar, vector, rotation or placement: read once, not by itself, not too deep."""
        # Kept by kind: a name may be read as a position here and as a vector there.
        key = (kind, node.name)
        if key not in self._definitions:
            if not self._open_definition(node):
                return instead
            self._depths.append(0)
            result = read()
            depth = self._depth_of(node.name) + self._depths.pop()
            self._open.remove(node.name)
            self._definitions[key] = (result, depth)
        result, depth = self._definitions[key]
        if self._depths:
            self._depths[-1] = max(self._depths[-1], depth)
        if depth > DEEPEST_DEFINITION:
            self._too_deep(node)
            return instead
        return result

    def _open_definition(self, node: x.Reference) -> bool:
        """Marks a definition as being read; False, noted, when it refers to itself or leads too deep."""
        if node.name in self._open:
            self.scope.fault(node, f"'{node.name}' is defined in terms of itself.")
            return False
        if sum(self._depth_of(name) for name in self._open) > DEEPEST_DEFINITION:
            self._too_deep(node)
            return False
        self._open.append(node.name)
        return True

    def _too_deep(self, node: x.Reference) -> None:
        self.scope.fault(node, f"'{node.name}' builds on too many definitions, one on the other.")

    def _depth_of(self, name: str) -> int:
        """How deep a definition nests: its formula, and a few steps to get into it."""
        return 4 + self.scope.definitions[name].depth

    def scalar_definition(self, node: x.Reference, definition: x.Expression) -> Term:
        """The formula behind a name."""
        zero = x.Number(node.start, node.end, 1, "0", None)
        instead = self.formulas.read(zero, None, Context(""))
        known = self.read_definition("scalar", node, lambda: self._scalar(node.name, definition), instead)
        return type(known)(node, known.dimension, known.literal, known.build)

    def _scalar(self, name: str, definition: x.Expression) -> Term:
        term = self.formulas.read(definition, None, Context(name))
        return type(term)(term.node, term.dimension, term.literal, cache(term.build))

    def vector_definition(self, node: x.Reference, definition: x.Expression) -> Components:
        """The vector behind a name."""
        return self.read_definition(
            "vector", node, lambda: self._vector(node.name, definition), self.places.origin(node)
        )

    def _vector(self, name: str, definition: x.Expression) -> Components:
        components = self.places.vector(definition, self.scope.dimensions.unknown(), Context(name))
        first, second, third = (type(c)(c.node, c.dimension, c.literal, cache(c.build)) for c in components)
        return first, second, third

    # Quantities

    def quantity(self, node: x.Reference, context: Context) -> Known | None:
        """The quantity a name stands for; None after noting that there is none."""
        known = self._resolve_name(node, context)
        if known is None or not node.primes:
            return known
        if known.rate is None or node.primes > 1:
            what = "only first rates of coordinates" if known.rate is not None else "only coordinates have rates"
            self.scope.fault(node, f"there is no {node.name}{node.primes * chr(39)}: {what}.")
            return None
        return known.rate

    def _resolve_name(self, node: x.Reference, context: Context) -> Known | None:
        name = node.name
        # The nearest meaning first: a law's argument hides a coordinate of its name.
        known = context.local.get(name) or self.scope.quantities.get(name)
        known = known or self._of_joint(node) or self._of_body(node) or self._sensor(node)
        if known is None:
            self._unknown(node, context)
        return known

    def is_known(self, node: x.Reference, context: Context) -> bool:
        """Whether a name means anything at all."""
        return node.name in {**context.local, **self.scope.quantities, **self.scope.bodies, **self.scope.frames}

    def coordinate(self, node: x.Reference) -> tuple[str, str] | None:
        """(joint, full name) of a coordinate, by its full name or as joint.coordinate."""
        for joint in self.scope.joints.values():
            if node.name in joint.full.values():
                return joint.name, node.name
        *owner, written = node.path
        owned = self.scope.joints.get(".".join(owner)) or self.scope.qualifiers.get(".".join(owner))
        return (owned.name, owned.full[written]) if owned is not None and written in owned.full else None

    def _of_joint(self, node: x.Reference) -> Known | None:
        """joint.coordinate, the coordinate as written in the joint."""
        *owner, written = node.path
        joint = self.scope.joints.get(".".join(owner)) or self.scope.qualifiers.get(".".join(owner))
        full = None if joint is None else joint.full.get(written)
        return None if full is None else self.scope.quantities.get(full)

    def _of_body(self, node: x.Reference) -> Known | None:
        """What is known or undetermined of a body: arm.mass, arm.centre.x, arm.Ixx."""
        for length in range(1, len(node.path)):
            known = self.scope.bodies.get(".".join(node.path[:length]), {}).get(node.name)
            if known is not None:
                return known
        return None

    def _sensor(self, node: x.Reference) -> Known | None:
        """frame.velocity.x and its like: a sensor, made where it is first mentioned."""
        *place, kind, component = ("", "", *node.path)[-max(3, len(node.path)) :]
        if kind not in QUANTITIES or component not in components_of(kind):
            return None
        of = self.places.named_frame(tuple(part for part in place if part))
        if of is None:
            return None
        return self.sensor(node.name, kind, component, of)

    def sensor(self, name: str, kind: str, component: str, of: Placed, axes: Placed | None = None) -> Known:
        """The quantity a sensor measures; the sensor is added to the mechanism."""

        def build() -> Sensor:
            given = () if axes is None else (axes.build(),)
            return Sensor(name, kind, of.build(), component, *given)

        self.scope.sensors[name] = build
        known = Known(dimension_of(QUANTITIES[kind]), lambda: build().symbol)
        self.scope.quantities[name] = known
        return known

    def _unknown(self, node: x.Reference, context: Context) -> None:
        joints = [j for j in self.scope.joints.values() if node.name in j.full]
        if len(joints) > 1:
            names = ", ".join(joint.full[node.name] for joint in joints)
            self.scope.fault(node, f"'{node.name}' is a coordinate of several joints. Say which: {names}.")
            return
        *place, kind, component = ("", *node.path)[-max(2, len(node.path)) :]
        if kind in QUANTITIES and component in components_of(kind):
            self.scope.unknown(node, "body", ".".join(place), {**self.scope.bodies, **self.scope.frames})
            return
        known = {**context.local, **self.scope.quantities, **self.scope.definitions}
        self.scope.unknown(node, "name", node.name, [name for name in known if name not in ("pi", "t")])

    # Fresh constants and functions

    def fresh_constant(self, node: x.Fresh, context: Context, component: str = "") -> Known:
        """An undetermined constant of its own for this place in the text."""
        # One constant per place in the text: a definition that is used twice still holds one `?k`.
        key = (node.start, component)
        if key not in self._fresh:
            label = f"{node.label}.{component}" if component else node.label
            self._fresh[key] = self.new_constant(f"{context.owner}.{label}", node)
        return self._fresh[key]

    def new_constant(self, wanted: str, node: x.Node) -> Known:
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
