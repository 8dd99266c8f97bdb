"""What switches along a motion: stops and dry friction of joints, bounds, relations with play."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from torseur.algebra.graph import Expr, as_expr
from torseur.description.language.formulas.dimensions import LENGTH, NUMBER, RATE, TIME, Dim, dimension_of
from torseur.description.language.formulas.name_scope import Context, Known
from torseur.description.language.formulas.read_places import Components, vector_of
from torseur.description.language.formulas.scalar_formulas import Term
from torseur.description.language.reading.clauses import Items
from torseur.description.language.reading.joint_loads import ENERGY, spring_dimensions
from torseur.description.language.reading.read_definitions import law_of_heights
from torseur.description.language.reading.read_states import read_update
from torseur.description.language.reading.reading_context import Workshop
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.mechanism import (
    Bound,
    Contact,
    DryFriction,
    Joint,
    Load,
    Switching,
    ball,
    bound,
    compliant_stops,
    contact,
    height_field,
    joint_friction,
    plane,
    play,
    smooth_friction,
    stops,
)
from torseur.description.mechanism.contacts import SHAPE_SIZES

FRICTION = ("friction", "breakaway", "stribeck", "smooth")
STICKING = "sticking"
VECTORS = {"size": "box", "semiaxes": "ellipsoid"}
CONDITIONS = ("friction", "static", "restitution")
AMOUNTS = ("force", "coefficient", "breakaway", "static", "stribeck")
POWER = dimension_of("W")
SwitchingIs = x.BoundIs | x.FrictionIs | x.ContactIs | x.UpdateIs | x.EquationIs
Parts = tuple[list[Load], list[Switching]]
Builder = Callable[[Joint], Load | Sequence[Switching]]


class _JointContacts:
    """Stops and friction of one joint while they are read."""

    def __init__(self, joint: str, context: Context, shop: Workshop) -> None:
        self.joint, self.context, self.shop = joint, context, shop
        self.builders: list[Builder] = []
        self.stopped: set[str] = set()
        self.friction: dict[str, dict[str, Term]] = {}
        self.items: dict[tuple[str, str], x.Property] = {}

    def coordinate(self, node: x.Node, of: x.Reference | None) -> tuple[str, Known] | None:
        """The coordinate an item belongs to: the one it names, or the only one."""
        known = self.context.local
        if of is not None and of.name in known:
            return of.name, known[of.name]
        if of is None and len(known) == 1:
            return next(iter(known.items()))
        if of is not None:
            self.shop.scope.unknown(of, "coordinate", of.name, known)
        else:
            many = (
                f"has {len(known)} coordinates. Say which: stops of {next(iter(known))} ..." if known else "has none."
            )
            self.shop.scope.fault(node, f"joint '{self.joint}' {many}")
        return None

    def add_stops(self, item: x.StopsAt) -> None:
        coordinate = self.coordinate(item, item.of)
        if coordinate is None:
            return
        name, known = coordinate
        if name in self.stopped:
            self.shop.scope.fault(item, f"the stops of coordinate '{name}' are given twice.")
        self.stopped.add(name)
        wants = {"restitution": NUMBER, "compliant": spring_dimensions(known.dimension)["stiffness"]}
        wants["damped"] = wants["compliant"].times(TIME)
        parts: dict[str, Term] = {}
        for clause in item.parts:
            if clause.word in parts:
                self.shop.scope.fault(clause, f"'{clause.word}' of these stops is given twice.")
            slot = "restitution" if clause.word == "restitution" else "load"
            parts[clause.word] = self.shop.formulas.read(clause.value, wants[clause.word], self.context.within(slot))
        if "compliant" in parts and "restitution" in parts:
            self.shop.scope.fault(item, "stops are rigid with a restitution, or compliant: not both.")
        if "damped" in parts and "compliant" not in parts:
            hint = "stops -1 rad, 1 rad compliant 100 N*m/rad damped 2 N*m*s/rad"
            self.shop.scope.fault(item, "stops that are damped are compliant: say how stiff they are.", hint)
        lower, upper = (
            None if side is None else self.shop.formulas.read(side, known.dimension, self.context.within("bound"))
            for side in (item.lower, item.upper)
        )
        self.builders.append(_stops(lower, upper, parts, self.full_name(known)))

    @staticmethod
    def full_name(known: Known) -> Callable[[], str]:
        return lambda: str(known.build().name)

    def add_friction(self, item: x.Property) -> None:
        coordinate = self.coordinate(item.name, item.of)
        if coordinate is None:
            return
        name, known = coordinate
        if isinstance(item.value, x.Text):
            self.shop.scope.fault(item.value, f"'{item.name.text}' is given by a formula, not a string.")
            return
        given = self.friction.setdefault(name, {})
        if item.name.text in given:
            self.shop.scope.fault(item.name, f"'{item.name.text}' of joint '{self.joint}' is given twice.")
        given[item.name.text] = self.shop.formulas.read(
            item.value, _friction_dimension(item.name.text, known.dimension), self.context.within("friction")
        )
        self.items[name, item.name.text] = item

    def finish(self, sticking: x.Shape | None) -> None:
        """Friction of each coordinate as a whole; what contradicts itself is noted."""
        for name, given in self.friction.items():
            first = self.items[name, next(iter(given))]
            if "friction" not in given:
                self.shop.scope.fault(first.name, f"joint '{self.joint}' has '{first.name.text}' but no friction.")
                continue
            smooth = given.get("smooth")
            if smooth is not None and (sticking is not None or len(given) > 2):
                message = "friction is smooth, or it sticks (breakaway, stribeck): not both."
                self.shop.scope.fault(self.items[name, "smooth"].name, message)
            if "stribeck" in given and "breakaway" not in given:
                message = "a Stribeck speed is that over which the breakaway force falls: give both."
                self.shop.scope.fault(self.items[name, "stribeck"].name, message)
            self.builders.append(_friction(given, self.full_name(self.context.local[name])))
        if sticking is not None and not self.friction:
            self.shop.scope.fault(sticking, f"joint '{self.joint}' has no friction that could stick.")


def _friction_dimension(what: str, coordinate: Dim) -> Dim:
    if what in ("stribeck", "smooth"):
        return coordinate.times(RATE)
    return ENERGY.times(coordinate, -1)


def _stops(lower: Term | None, upper: Term | None, parts: dict[str, Term], name: Callable[[], str]) -> Builder:
    def build(joint: Joint) -> Load | Sequence[Switching]:
        low, high = (None if side is None else side.build() for side in (lower, upper))
        if "compliant" in parts:
            damping = parts["damped"].build() if "damped" in parts else as_expr(0)
            return compliant_stops(joint, low, high, parts["compliant"].build(), damping, coordinate=name())
        restitution = parts["restitution"].build() if "restitution" in parts else as_expr(0)
        return stops(joint, low, high, restitution, coordinate=name())

    return build


def _friction(given: dict[str, Term], name: Callable[[], str]) -> Builder:
    def build(joint: Joint) -> Load | Sequence[Switching]:
        values = {what: term.build() for what, term in given.items()}
        if "smooth" in values:
            return smooth_friction(joint, values["friction"], values["smooth"], coordinate=name())
        return [joint_friction(joint, values["friction"], values.get("breakaway"), values.get("stribeck"), name())]

    return build


def joint_contacts(items: Items, joint: str, context: Context, shop: Workshop) -> Callable[[Joint], Parts]:
    """Stops and friction given as options of a joint, ready to build; compliant and smooth ones are loads."""
    reading = _JointContacts(joint, context, shop)
    sticking: x.Shape | None = None
    for index, item in enumerate(items.items):
        if isinstance(item, x.StopsAt):
            items.take(index)
            reading.add_stops(item)
        elif isinstance(item, x.Shape) and item.name.text == STICKING:
            items.take(index)
            sticking = item
    for friction in items.properties(*FRICTION):
        reading.add_friction(friction)
    reading.finish(sticking)

    def build(made: Joint) -> Parts:
        loads: list[Load] = []
        contacts: list[Switching] = []
        for builder in reading.builders:
            part = builder(made)
            if isinstance(part, Sequence):
                contacts += part
            else:
                loads.append(part)
        return loads, contacts

    return build


def switching_names(
    statements: Sequence[x.BoundIs | x.FrictionIs | x.ContactIs | x.UpdateIs], shop: Workshop
) -> list[str]:
    """A name for each bound, friction, contact and update: its own, or that of its kind."""
    kinds: dict[type, str] = {
        x.BoundIs: "bound",
        x.FrictionIs: "friction",
        x.ContactIs: "contact",
        x.UpdateIs: "update",
    }
    return shop.statement_names("contact", statements, lambda statement: kinds[type(statement)])


def read_switching(statement: SwitchingIs, name: str, shop: Workshop) -> Callable[[], tuple[Switching, ...]]:
    """What a statement says of elements that switch, ready to build."""
    if isinstance(statement, x.EquationIs):
        return _read_play(statement, name, shop)
    if isinstance(statement, x.UpdateIs):
        return read_update(statement, name, shop)
    build: Callable[[], Switching]
    if isinstance(statement, x.BoundIs):
        build = _read_bound(statement, name, shop)
    elif isinstance(statement, x.FrictionIs):
        build = _read_friction(statement, name, shop)
    else:
        build = read_contact(statement, name, shop)
    return lambda: (build(),)


def _read_friction(statement: x.FrictionIs, name: str, shop: Workshop) -> Callable[[], Switching]:
    """Friction against sliding speeds, ready to build."""
    context = Context(name)
    slips = [shop.formulas.read(slip, None, context.within("slip")) for slip in statement.slips]
    # Two sliding speeds are components of one velocity: m/s both, or rad/s both.
    for other in slips[1:]:
        shop.scope.dimensions.equal(slips[0].dimension, other.dimension)
    # What has the power F s: a force along a velocity, a moment about a turning.
    force = POWER.times(slips[0].dimension, -1)
    wants = dict(zip(AMOUNTS, (force, NUMBER, force, NUMBER, slips[0].dimension), strict=True))
    given: dict[str, Term] = {}
    for item in statement.items:
        what = item.name.text
        if what not in wants:
            shop.scope.unknown(item.name, "property of friction", what, wants)
        elif what in given:
            shop.scope.fault(item.name, f"'{what}' is given twice.")
        elif not isinstance(item.value, x.Text):
            given[what] = shop.formulas.read(item.value, wants[what], context.within("friction"))
    on = "" if statement.on is None else statement.on.text

    def build() -> Switching:
        values = {what: term.build() for what, term in given.items()}
        force, coefficient = (values.get(what, as_expr(0)) for what in ("force", "coefficient"))
        more = {what: values.get(what) for what in ("breakaway", "static", "stribeck")}
        return DryFriction(name, tuple(slip.build() for slip in slips), force, coefficient, on, **more)

    return build


def _read_bound(statement: x.BoundIs, name: str, shop: Workshop) -> Callable[[], Bound]:
    """The bound of an inequality, ready to build."""
    context = Context(name)
    comparison = statement.comparison
    restitution = _restitution(statement.restitution, context, shop)
    if not isinstance(comparison, x.Comparison) or comparison.sign not in (">=", "<="):
        example = "constrain q >= 0 rad restitution 0.5 as stop ;"
        shop.scope.fault(statement, "expected an equation, or a bound with >= or <=.", example)
        return lambda: bound(name, as_expr(1))
    left, right = (
        shop.formulas.read(side, None, context.within("bound")) for side in (comparison.left, comparison.right)
    )
    # A bare number takes the unit of the other side.
    if not left.literal and not right.literal and not shop.scope.dimensions.equal(left.dimension, right.dimension):
        kinds = [shop.scope.dimensions.in_words(side.dimension) for side in (left, right)]
        shop.scope.fault(statement, f"the two sides differ: {kinds[0]} on the left, {kinds[1]} on the right.")
    larger, smaller = (left, right) if comparison.sign == ">=" else (right, left)
    return lambda: bound(name, larger.build() - smaller.build(), restitution())


def _read_play(statement: x.EquationIs, name: str, shop: Workshop) -> Callable[[], tuple[Bound, Bound]]:
    """Both bounds of a relation with play, ready to build."""
    assert statement.loose is not None
    context = Context(name)
    left, right = (shop.formulas.read(s, None, context.within("bound")) for s in (statement.left, statement.right))
    shop.scope.dimensions.equal(left.dimension, right.dimension)
    amount = shop.formulas.read(statement.loose.amount, left.dimension, context.within("bound"))
    restitution = _restitution(statement.loose.restitution, context, shop)
    if statement.within is not None:
        shop.scope.fault(statement.within, "a relation with play is left open by its play: 'within' says nothing more.")
    return lambda: play(name, right.build() - left.build(), amount.build(), restitution())


def _restitution(node: x.Expression | None, context: Context, shop: Workshop) -> Callable[[], Expr]:
    if node is None:
        return lambda: as_expr(0)
    return shop.formulas.read(node, NUMBER, context.within("restitution")).build


# Contact of shapes: contact foot.sphere radius 2 cm with earth normal [0,0,1] friction 0.8, restitution 0


def read_contact(statement: x.ContactIs, name: str, shop: Workshop) -> Callable[[], Contact]:
    """The contact, ready to build."""
    context = Context(name)
    shape, place = _shape_and_place(statement.shape, shop)
    frame = shop.places.frame(place, context.within("frame"))
    sizes = _sizes(statement, shape, context, shop)
    ground_shape, ground_place = _shape_and_place(statement.ground, shop, "plane")
    ground = shop.places.frame(ground_place, context.within("frame"))
    normal, radius, given = _ground(statement, ground_shape, context, shop)
    heights = next((c for c in statement.conditions if c.word == "height"), None)
    law = None if heights is None else law_of_heights(heights, shop)

    def build() -> Contact:
        values: dict[str, Expr] = {what: given[what].build() for what in CONDITIONS if what in given}
        if law is not None:
            other = height_field(ground.build(), law())
        elif normal is not None:
            other = plane(ground.build(), vector_of(normal))
        else:
            other = ball(ground.build(), radius_of())
        given_sizes = {size: make() for size, make in sizes.items()}
        friction, restitution = (values.get(what, as_expr(0)) for what in ("friction", "restitution"))
        return contact(name, shape, frame.build(), given_sizes, other, friction, values.get("static"), restitution)

    def radius_of() -> Expr:
        return as_expr(1) if radius is None else radius.build()

    return build


def _shape_and_place(node: x.Reference, shop: Workshop, default: str = "") -> tuple[str, x.Reference]:
    """`foot.sphere` is a sphere at the frame of foot, or at a frame of that name."""
    shape = node.path[-1]
    if len(node.path) > 1 and shape in SHAPE_SIZES:
        return shape, replace(node, path=node.path[:-1])
    if not default:
        shapes = ", ".join(SHAPE_SIZES)
        shop.scope.fault(node, f"say which shape of '{node.name}' touches: {node.name}.sphere.", f"Shapes: {shapes}.")
        return "point", node
    return default, node


def _sizes(statement: x.ContactIs, shape: str, context: Context, shop: Workshop) -> dict[str, Callable[[], Expr]]:
    sizes: dict[str, Callable[[], Expr]] = {}
    for clause in statement.sizes:
        if clause.word in VECTORS and VECTORS[clause.word] == shape:
            vector = shop.places.vector(clause.value, LENGTH, context.within("contact"))
            sizes |= {axis: _component(vector, k) for k, axis in enumerate("xyz")}
        elif clause.word in SHAPE_SIZES[shape] and clause.word not in sizes:
            sizes[clause.word] = shop.formulas.read(clause.value, LENGTH, context.within("contact")).build
        else:
            wanted = ", ".join(SHAPE_SIZES[shape]) if shape not in VECTORS.values() else "a vector of three"
            shop.scope.fault(clause, f"a {shape} has no '{clause.word}' here, or has it twice.", f"It has: {wanted}.")
    missing = [size for size in SHAPE_SIZES[shape] if size not in sizes]
    if missing:
        word = next((word for word, of in VECTORS.items() if of == shape), missing[0])
        shop.scope.fault(statement.shape, f"the {word} of the {shape} is missing: contact ...{shape} {word} ... with")
        sizes |= {size: lambda: as_expr(1) for size in missing}
    return sizes


def _component(vector: Components, k: int) -> Callable[[], Expr]:
    return lambda: vector_of(vector)[k]


def _ground(
    statement: x.ContactIs, shape: str, context: Context, shop: Workshop
) -> tuple[Components | None, Term | None, dict[str, Term]]:
    """Normal of a plane or radius of a sphere, and the conditions of contact."""
    normal, given = None, {}
    has_heights = any(clause.word == "height" for clause in statement.conditions)
    for clause in statement.conditions:
        if clause.word in given or (clause.word == "normal" and normal is not None):
            shop.scope.fault(clause, f"'{clause.word}' of contact '{context.owner}' is given twice.")
        elif clause.word == "normal" and shape == "plane":
            normal = shop.places.vector(clause.value, shop.scope.dimensions.unknown(), context.within("contact"))
        elif clause.word == "height" and shape == "plane":
            continue
        elif clause.word == "radius" and shape == "sphere":
            given["radius"] = shop.formulas.read(clause.value, LENGTH, context.within("contact"))
        elif clause.word in CONDITIONS:
            slot = "restitution" if clause.word == "restitution" else "friction"
            given[clause.word] = shop.formulas.read(clause.value, NUMBER, context.within(slot))
        else:
            shop.scope.fault(
                clause, f"the ground has a normal or a height, or is a sphere with a radius: no '{clause.word}'."
            )
    if has_heights and normal is not None:
        shop.scope.fault(statement.ground, "a plane has a normal, or a height: not both.")
    if shape not in ("plane", "sphere"):
        shop.scope.fault(statement.ground, f"a {shape} cannot be a ground; use a plane or a sphere.")
    elif (shape == "plane" and normal is None and not has_heights) or (shape == "sphere" and "radius" not in given):
        what = "normal [0,0,1]" if shape == "plane" else "radius 1 m"
        shop.scope.fault(statement.ground, f"the ground needs its {what.split()[0]}: with ... {what}.")
    return normal, given.get("radius"), given
