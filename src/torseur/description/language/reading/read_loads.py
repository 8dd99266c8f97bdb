"""Loads of their own: `apply force F on body`, `apply spring ... between A and B`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torseur.algebra.graph import Expr, as_expr
from torseur.description.language.default_names import between, wrench_name
from torseur.description.language.formulas.dimensions import LENGTH, NUMBER, TIME, Dim, dimension_of
from torseur.description.language.formulas.name_scope import Context, Known, Placed
from torseur.description.language.formulas.read_places import Components, vector_of
from torseur.description.language.reading.clauses import Items
from torseur.description.language.reading.joint_loads import ENERGY, FORCE, REST_HINT, spring_dimensions
from torseur.description.language.reading.reading_context import Workshop
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.mechanism import (
    EARTH,
    EARTH_NAME,
    LENGTH_RATE,
    AppliedWrench,
    Bushing,
    CoordinateForce,
    CoordinateSpring,
    JointWrench,
    Load,
    PointSpring,
    Vector,
)
from torseur.description.mechanism import LENGTH as LENGTH_SYMBOL
from torseur.description.mechanism.quantities import ORIGIN

DIMENSIONS = {"force": FORCE, "torque": ENERGY}
STIFFNESS = dimension_of("N/m")
_SPRING = ("stiffness", "rest", "damping")
_BUSHING = {
    "stiffness": STIFFNESS,
    "torsion": ENERGY,
    "damping": STIFFNESS.times(TIME),
    "torsion_damping": ENERGY.times(TIME),
}
_SPRING_NAMES = {
    "length": Known(LENGTH, lambda: LENGTH_SYMBOL, Known(dimension_of("m/s"), lambda: LENGTH_RATE)),
}


def load_names(statements: Sequence[x.WrenchIs | x.SpringIs], shop: Workshop) -> list[str]:
    """A name for each load: its own, or one made of what it acts on."""
    return shop.statement_names("load", statements, lambda s: _default_name(s, shop))


def _default_name(statement: x.WrenchIs | x.SpringIs, shop: Workshop) -> str:
    if isinstance(statement, x.WrenchIs):
        kinds = [part.kind for part in statement.parts]
        on_coordinate = None if statement.in_joint else _target_coordinate(statement, shop)
        return wrench_name(kinds, on_coordinate[1] if on_coordinate else shop.places.owner(statement.target))
    if statement.ends is None:
        assert statement.coordinate is not None
        coordinate = shop.references.coordinate(statement.coordinate)
        return wrench_name([statement.kind], coordinate[1] if coordinate else statement.coordinate.name)
    return between(statement.kind, *(shop.places.owner(end) for end in statement.ends))


def read_load(statement: x.WrenchIs | x.SpringIs, name: str, shop: Workshop) -> Callable[[], Load]:
    """The load, ready to build."""
    if isinstance(statement, x.SpringIs):
        return _read_spring(statement, name, shop)
    if statement.in_joint:
        return _joint_wrench(statement, name, shop)
    coordinate = _target_coordinate(statement, shop)
    if coordinate is not None:
        return _coordinate_force(statement, name, *coordinate, shop)
    return _applied_wrench(statement, name, shop)


@dataclass(frozen=True)
class _Wrench:
    """Force and torque components as given, and the body whose axes they are along, if one was said."""

    parts: dict[str, Components]
    axes: Placed | None

    def vector(self, kind: str) -> Vector:
        return vector_of(self.parts[kind]) if kind in self.parts else ORIGIN


def _wrench(statement: x.WrenchIs, name: str, shop: Workshop) -> _Wrench:
    context = Context(name)
    axes = None if statement.axes is None else shop.places.frame(statement.axes, context.within("force point"))
    parts: dict[str, Components] = {}
    for part in statement.parts:
        if part.kind in parts:
            shop.scope.fault(part, f"the {part.kind} is given twice.")
        if part.value is not None:
            parts[part.kind] = shop.places.vector(part.value, DIMENSIONS[part.kind], context)
            continue
        items = Items(part.items, shop.scope, f"a {part.kind}")
        body = items.value("body")
        items.finish(("body",))
        axes = axes if body is None else shop.places.frame(body, context.within("force point"))
        parts[part.kind] = _undetermined_components(part, name, shop)
    return _Wrench(parts, axes)


def _undetermined_components(part: x.WrenchPart, name: str, shop: Workshop) -> Components:
    """Components that are not given: symbols named after the load."""
    known = [shop.references.new_constant(f"{name}.{axis}", part) for axis in "xyz"]
    for one in known:
        shop.scope.dimensions.equal(one.dimension, DIMENSIONS[part.kind])
    first, second, third = (shop.formulas.term(part, one) for one in known)
    return first, second, third


def _applied_wrench(statement: x.WrenchIs, name: str, shop: Workshop) -> Callable[[], Load]:
    on = shop.places.frame(statement.target, Context(name, slot="force point"))
    wrench = _wrench(statement, name, shop)
    if on.body == EARTH_NAME:
        shop.scope.fault(statement.target, "a load on the earth moves nothing; apply it to a body.")
    axes = wrench.axes
    return lambda: AppliedWrench(
        name, on.build(), wrench.vector("force"), wrench.vector("torque"), EARTH if axes is None else axes.build()
    )


def _joint_wrench(statement: x.WrenchIs, name: str, shop: Workshop) -> Callable[[], Load]:
    wrench = _wrench(statement, name, shop)
    if wrench.axes is not None and statement.axes is not None:
        shop.scope.fault(statement.axes, "a load in a joint has its components in the joint's parent frame.")
    joint = statement.target.name if isinstance(statement.target, x.Reference) else ""
    if joint not in shop.scope.joints:
        shop.scope.unknown(statement.target, "joint", joint, shop.scope.joints)
    return lambda: JointWrench(name, joint, wrench.vector("force"), wrench.vector("torque"))


def _target_coordinate(statement: x.WrenchIs, shop: Workshop) -> tuple[str, str] | None:
    """(joint, coordinate) when the target is a coordinate and the load a number."""
    value = statement.parts[0].value
    if not isinstance(statement.target, x.Reference) or value is None or shop.places.looks_like_vector(value):
        return None
    return shop.references.coordinate(statement.target)


def _coordinate_force(
    statement: x.WrenchIs, name: str, joint: str, coordinate: str, shop: Workshop
) -> Callable[[], Load]:
    part = statement.parts[0]
    if len(statement.parts) > 1 or statement.axes is not None:
        shop.scope.fault(statement, f"a load on coordinate '{coordinate}' is one number without axes.")
    wanted = NUMBER if part.kind == "torque" else LENGTH
    if not shop.scope.dimensions.equal(shop.scope.quantities[coordinate].dimension, wanted):
        shop.scope.fault(part, f"a {part.kind} does not act on coordinate '{coordinate}'.")
    assert part.value is not None
    term = shop.formulas.read(part.value, DIMENSIONS[part.kind], Context(name))
    return lambda: CoordinateForce(name, joint, coordinate, term.build())


def _read_spring(statement: x.SpringIs, name: str, shop: Workshop) -> Callable[[], Load]:
    items = Items(statement.items, shop.scope, f"{statement.kind} '{name}'")
    if statement.ends is None:
        assert statement.coordinate is not None
        return _coordinate_spring(items, statement.coordinate, name, shop)
    first, second = (shop.places.frame(end, Context(name, slot="frame")) for end in statement.ends)
    if statement.kind == "bushing":
        return _bushing(items, name, first, second, shop)
    return _point_spring(items, name, first, second, shop)


def _coordinate_spring(items: Items, target: x.Reference, name: str, shop: Workshop) -> Callable[[], Load]:
    place = shop.references.coordinate(target)
    if place is None:
        names = {full: 0 for joint in shop.scope.joints.values() for full in joint.full.values()}
        shop.scope.unknown(target, "coordinate", target.name, names)
        place = ("", "")
    joint, coordinate = place
    known = shop.scope.quantities.get(coordinate)
    dimension = known.dimension if known else shop.scope.dimensions.unknown()
    values = _numbers(items, spring_dimensions(dimension), Context(name), shop)
    _check_rest(items, name, shop)
    items.finish(_SPRING)

    def build() -> Load:
        stiffness, rest, damping = (value() for value in values)
        return CoordinateSpring(name, joint, coordinate, stiffness, rest, damping)

    return build


def _check_rest(items: Items, name: str, shop: Workshop) -> None:
    """Notes a rest without a stiffness, which would do nothing."""
    rest = items.value("rest")
    if rest is not None and items.value("stiffness") is None and items.value("law") is None:
        shop.scope.fault(rest, f"spring '{name}' has a rest but no stiffness.", REST_HINT)


def _numbers(items: Items, dimensions: dict[str, Dim], context: Context, shop: Workshop) -> list[Callable[[], Expr]]:
    """Builders of the properties, zero where one is not given."""
    builders: list[Callable[[], Expr]] = []
    for name, dimension in dimensions.items():
        value = items.value(name)
        builders.append((lambda: as_expr(0)) if value is None else shop.formulas.read(value, dimension, context).build)
    return builders


def _point_spring(items: Items, name: str, first: Placed, second: Placed, shop: Workshop) -> Callable[[], Load]:
    dimensions = {"stiffness": STIFFNESS, "rest": LENGTH, "damping": STIFFNESS.times(TIME)}
    values = _numbers(items, dimensions, Context(name), shop)
    _check_rest(items, name, shop)
    law = items.value("law")
    if law is not None and any(isinstance(i, x.Property) and i.name.text in dimensions for i in items.items):
        shop.scope.fault(law, f"spring '{name}': give either a law or stiffness, rest and damping.")
    tension = None if law is None else shop.formulas.read(law, FORCE, Context(name, _SPRING_NAMES))
    items.finish((*_SPRING, "law"))

    def build() -> Load:
        stiffness, rest, damping = (value() for value in values)
        law_of_length = None if tension is None else tension.build()
        return PointSpring(name, first.build(), second.build(), stiffness, rest, damping, law_of_length)

    return build


def _bushing(items: Items, name: str, first: Placed, second: Placed, shop: Workshop) -> Callable[[], Load]:
    vectors: dict[str, Components] = {}
    for option, dimension in _BUSHING.items():
        value = items.value(option)
        if value is not None:
            vectors[option] = shop.places.vector(value, dimension, Context(name))
    items.finish(tuple(_BUSHING))

    def six(forces: str, moments: str) -> tuple[Expr, ...]:
        return tuple(
            c for option in (forces, moments) for c in (vector_of(vectors[option]) if option in vectors else ORIGIN)
        )

    return lambda: Bushing(
        name, first.build(), second.build(), six("stiffness", "torsion"), six("damping", "torsion_damping")
    )
