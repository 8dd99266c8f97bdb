"""Vectors, rotations, placements and frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache

from torseur.algebra.graph import Expr, as_expr
from torseur.description.language.formulas.dimensions import LENGTH, NUMBER, Dim
from torseur.description.language.formulas.name_references import References
from torseur.description.language.formulas.name_scope import Context, Placed, Scope
from torseur.description.language.formulas.scalar_formulas import Formulas, Term
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.mechanism import EARTH_NAME, HERE, Frame, Placement, Turn, Vector, placement_formulas

MOST_TURNS = 100
Components = tuple[Term, Term, Term]
_AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Rotations:
    """Turns one after the other, ready to build."""

    build: Callable[[], tuple[Turn, ...]]


@dataclass(frozen=True)
class Located:
    """A placement, ready to build."""

    build: Callable[[], Placement]


def _three(components: Iterable[Term]) -> Components:
    x_, y_, z_ = components
    return x_, y_, z_


def vector_of(components: Components) -> Vector:
    """The vector of three terms."""
    x_, y_, z_ = (component.build() for component in components)
    return x_, y_, z_


AXES = {"x": "[1, 0, 0]", "y": "[0, 1, 0]", "z": "[0, 0, 1]"}


class Places:
    """Reads what has a direction or a place, in the scope of a text."""

    def __init__(self, scope: Scope, formulas: Formulas, references: References) -> None:
        self.scope, self.formulas, self.references = scope, formulas, references

    # Vectors

    def vector(self, node: x.Expression, expected: Dim, context: Context) -> Components:
        """Three components, each of the expected dimension."""
        return _three(self.formulas.in_slot(c, context) for c in self._vector(node, expected, context.within("")))

    def _vector(self, node: x.Expression, expected: Dim, context: Context) -> Components:
        if isinstance(node, x.Bracket):
            return self._bracket(node, expected, context)
        if isinstance(node, x.Number) and node.text == "0":
            return self.origin(node)
        if isinstance(node, x.Fresh) and node.arguments is None:
            return self._fresh(node, expected, context)
        if isinstance(node, x.Reference) and (definition := self.references.definition(node)) is not None:
            return self._check_dimensions(self.references.vector_definition(node, definition), expected, node)
        if isinstance(node, (x.Sum, x.Negative, x.Product)):
            return self._combine(node, expected, context)
        if isinstance(node, x.Reference) and not self.references.is_known(node, context):
            if node.name in AXES and node.name not in self.scope.definitions:
                self.scope.fault(node, f"'{node.name}' is not a vector here.", f"That axis is {AXES[node.name]}.")
            else:
                self.scope.unknown(node, "vector", node.name, self.scope.definitions)
        else:
            self.scope.fault(node, f"expected a vector such as [1, 0, 0], got {self.scope.excerpt(node)}.")
        return self.origin(node)

    def origin(self, node: x.Node) -> Components:
        zero = Term(node, NUMBER, True, lambda: as_expr(0))
        return zero, zero, zero

    def _bracket(self, node: x.Bracket, expected: Dim, context: Context) -> Components:
        if len(node.components) != 3:
            self.scope.fault(node, f"a vector has three components, got {len(node.components)}.")
            return self.origin(node)
        parts = [self.with_unit(part, node.unit) for part in node.components]
        return _three(self.formulas.read(part, expected, context) for part in parts)

    def with_unit(self, part: x.Expression, unit: str | None) -> x.Expression:
        """A component with the unit that follows the bracket."""
        if unit is None:
            return part
        if isinstance(part, x.Negative):
            return replace(part, operand=self.with_unit(part.operand, unit))
        if isinstance(part, x.Number) and part.unit is None:
            return replace(part, unit=None if part.text == "0" else unit)
        self.scope.fault(part, f"the unit after a bracket is for plain numbers; {self.scope.excerpt(part)} is none.")
        return part

    def _fresh(self, node: x.Fresh, expected: Dim, context: Context) -> Components:
        constants = [self.references.fresh_constant(node, context, axis) for axis in _AXES]
        for known in constants:
            self.scope.dimensions.equal(known.dimension, expected)
        return _three(self.formulas.term(node, known) for known in constants)

    def _check_dimensions(self, components: Components, expected: Dim, node: x.Node) -> Components:
        return _three(self.formulas.require_dimension(replace(c, node=node), expected) for c in components)

    def _combine(self, node: x.Sum | x.Negative | x.Product, expected: Dim, context: Context) -> Components:
        """A sum of vectors, or a vector with factors, component by component."""
        if isinstance(node, x.Negative):
            parts = [("-", self.vector(node.operand, expected, context))]
        elif isinstance(node, x.Sum):
            parts = [(sign, self.vector(part, expected, context)) for sign, part in node.terms]
        else:
            return self._scale(node, expected, context)
        return _three(self._sum(node, [(sign, v[i]) for sign, v in parts], expected) for i in range(3))

    def _sum(self, node: x.Node, parts: list[tuple[str, Term]], expected: Dim) -> Term:
        def total() -> Expr:
            result = as_expr(0)
            for sign, term in parts:
                result = result + term.build() if sign == "+" else result - term.build()
            return result

        return Term(node, expected, all(t.literal for _, t in parts), self.formulas.guard(node, total))

    def _scale(self, node: x.Product, expected: Dim, context: Context) -> Components:
        vectors = [part for sign, part in node.factors if sign == "*" and self.looks_like_vector(part)]
        if len(vectors) != 1:
            self.scope.fault(node, f"expected a vector, got {self.scope.excerpt(node)}.")
            return self.origin(node)
        scales = [
            (sign, self.formulas.read(part, None, context)) for sign, part in node.factors if part is not vectors[0]
        ]
        inside = expected
        for sign, term in scales:
            if not term.literal:
                inside = inside.times(term.dimension, -1 if sign == "*" else 1)
        # What is left for the components, so that each of their formulas is checked against it.
        components = self.vector(vectors[0], inside, context)
        return _three(self._multiply(node, c, scales, expected) for c in components)

    def _multiply(self, node: x.Node, component: Term, scales: list[tuple[str, Term]], expected: Dim) -> Term:
        def total() -> Expr:
            result = component.build()
            for sign, term in scales:
                result = result * term.build() if sign == "*" else result / term.build()
            return result

        literal = component.literal and all(term.literal for _, term in scales)
        return Term(node, expected, literal, self.formulas.guard(node, total))

    def looks_like_vector(self, node: x.Expression) -> bool:
        if isinstance(node, x.Negative):
            return self.looks_like_vector(node.operand)
        if isinstance(node, x.Sum):
            return self.looks_like_vector(node.terms[0][1])
        definition = self.references.definition(node)
        return isinstance(node, x.Bracket) or (definition is not None and isinstance(definition, x.Bracket))

    def direction(self, node: x.Expression, context: Context) -> Callable[[], Vector]:
        """An axis: components of one dimension, not all zero."""
        components = self.vector(node, self.scope.dimensions.unknown(), context)

        def build() -> Vector:
            axis = vector_of(components)
            if all(component.is_zero for component in axis):
                self.scope.fault(node, "an axis cannot be [0, 0, 0].")
            return axis

        return build

    # Rotations and placements

    def rotation(self, node: x.Expression, context: Context) -> Rotations:
        """`1` (none), `angle || axis`, or a product of rotations."""
        if isinstance(node, x.TurnAbout):
            angle = self.formulas.read(node.angle, NUMBER, context)
            axis = self.direction(node.axis, context.within("axis" if context.slot == "motion" else context.slot))
            return Rotations(lambda: (Turn(angle.build(), axis()),))
        if isinstance(node, x.Number) and node.text == "1" and node.unit is None:
            return Rotations(lambda: ())
        if isinstance(node, x.Product) and all(sign == "*" for sign, _ in node.factors):
            parts = [self.rotation(part, context) for _, part in node.factors]
            return Rotations(lambda: self._limit_turns(node, [turn for part in parts for turn in part.build()]))
        if isinstance(node, x.Reference) and (definition := self.references.definition(node)) is not None:
            none = Rotations(lambda: ())
            return self.references.read_definition(
                "rotation", node, lambda: self._rotation(node.name, definition), none
            )
        self.scope.fault(node, f"expected a rotation such as pi/2 || [1, 0, 0], or 1, got {self.scope.excerpt(node)}.")
        return Rotations(lambda: ())

    def _rotation(self, name: str, definition: x.Expression) -> Rotations:
        return Rotations(cache(self.rotation(definition, Context(name)).build))

    def _limit_turns(self, node: x.Node, turns: list[Turn]) -> tuple[Turn, ...]:
        """Turns, unless there are more than anybody writes."""
        if len(turns) > MOST_TURNS:
            self.scope.fault(node, f"a rotation of more than {MOST_TURNS} turns.")
        return tuple(turns[:MOST_TURNS])

    def placement(self, node: x.Expression, context: Context) -> Located:
        """`position ++ rotation`, a position alone, or a rotation alone."""
        located = self._placement(node, context.within(""))
        # A joint carries the origin of its first frame along, not its axes.
        turning = context.within("joint frame" if context.slot == "joint origin" else context.slot)

        def build() -> Placement:
            place = located.build()
            self.scope.note_use(node, context, place.position)
            self.scope.note_use(node, turning, placement_formulas(replace(place, position=HERE.position)))
            return place

        return Located(build)

    def _placement(self, node: x.Expression, context: Context) -> Located:
        if isinstance(node, x.Offset):
            position, rotation = self.vector(node.position, LENGTH, context), self.rotation(node.rotation, context)
            return Located(lambda: Placement(vector_of(position), rotation.build()))
        if isinstance(node, x.TurnAbout) or self._is_product_of_turns(node):
            rotation = self.rotation(node, context)
            return Located(lambda: Placement(rotation=rotation.build()))
        definition = self.references.definition(node)
        if isinstance(node, x.Reference) and isinstance(definition, (x.Offset, x.TurnAbout, x.Reference)):
            here = Located(lambda: HERE)
            return self.references.read_definition(
                "place", node, lambda: self._placement(definition, Context(node.name)), here
            )
        position = self.vector(node, LENGTH, context)
        return Located(lambda: Placement(vector_of(position)))

    def _is_product_of_turns(self, node: x.Expression) -> bool:
        return isinstance(node, x.Product) and any(isinstance(part, x.TurnAbout) for _, part in node.factors)

    # Frames

    def frame(self, node: x.Expression, context: Context) -> Placed:
        """`body.frame`, `body.iframe`, `place @ body`, a named frame, or the earth."""
        if isinstance(node, x.FixedIn):
            base = self._base(node.body)
            located = self.placement(node.place, context)
            return Placed(base.body, lambda: Frame(base.body, located.build(), base.build().base))
        if isinstance(node, x.Reference) and not node.primes:
            frame = self.named_frame(node.path)
            if frame is not None:
                return frame
            definition = self.references.definition(node)
            if definition is not None:
                nowhere = Placed(EARTH_NAME, lambda: Frame(EARTH_NAME))
                return self.references.read_definition("frame", node, lambda: self.frame(definition, context), nowhere)
            self._unknown_place(node)
            return Placed(node.path[0], lambda: Frame(node.path[0]))
        self.scope.fault(node, f"expected a frame such as [0, 0, 1] @ body, got {self.scope.excerpt(node)}.")
        return Placed(EARTH_NAME, lambda: Frame(EARTH_NAME))

    def named_frame(self, path: tuple[str, ...]) -> Placed | None:
        """The frame that a dotted name stands for, if any."""
        whole = ".".join(path)
        if whole in self.scope.frames:
            return self.scope.frames[whole]
        *owner, last = path or ("",)
        body, base = (".".join(owner), last) if last in ("frame", "iframe") and owner else (whole, "frame")
        if body not in self.scope.bodies and body != EARTH_NAME:
            return None
        return Placed(body, lambda: Frame(body, base=base))

    def owner(self, node: x.Expression) -> str:
        """The body of a frame by its text alone, to name things after it."""
        reference = node.body if isinstance(node, x.FixedIn) else node
        if not isinstance(reference, x.Reference):
            return "body"
        if reference.name in self.scope.frames:
            return self.scope.frames[reference.name].body
        # A body may be called `frame` itself.
        is_of_body = len(reference.path) > 1 and reference.path[-1] in ("frame", "iframe")
        return ".".join(reference.path[:-1] if is_of_body else reference.path)

    def _base(self, node: x.Reference) -> Placed:
        """The body that a frame is fixed in."""
        frame = None if node.name in self.scope.frames else self.named_frame(node.path)
        if frame is None:
            if node.name in self.scope.frames:
                self.scope.fault(node, f"'{node.name}' is a frame; place others from a body.")
            else:
                self._unknown_place(node)
            return Placed(node.path[0], lambda: Frame(node.path[0]))
        return frame

    def _unknown_place(self, node: x.Reference) -> None:
        name = node.path[0] if len(node.path) > 1 and node.path[-1] in ("frame", "iframe") else node.name
        if node.path[0] in self.scope.bodies and len(node.path) > 1:
            self.scope.unknown(node, "frame", node.name, {f"{node.path[0]}.frame": 0, f"{node.path[0]}.iframe": 0})
        else:
            self.scope.unknown(node, "body", name, {**self.scope.bodies, **self.scope.frames})
