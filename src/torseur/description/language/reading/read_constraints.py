"""Constraints: equations, distances and rolling."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torseur.description.language.default_names import between
from torseur.description.language.formulas.dimensions import LENGTH
from torseur.description.language.formulas.name_scope import Context
from torseur.description.language.formulas.read_places import vector_of
from torseur.description.language.reading.reading_context import Workshop
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.mechanism import Constraint, Distance, Equation, Rolling, within

ConstraintIs = x.EquationIs | x.DistanceIs | x.RollingIs


def constraint_names(statements: Sequence[ConstraintIs], shop: Workshop) -> list[str]:
    """A name for each constraint: its own, or one made of the bodies it holds."""
    return shop.statement_names("constraint", statements, lambda s: _default_name(s, shop))


def _default_name(statement: ConstraintIs, shop: Workshop) -> str:
    if isinstance(statement, x.EquationIs):
        return "equation"
    if isinstance(statement, x.RollingIs):
        return f"rolling_{shop.places.owner(statement.wheel)}"
    return between("distance", shop.places.owner(statement.first), shop.places.owner(statement.second))


def read_constraint(statement: ConstraintIs, name: str, shop: Workshop) -> Callable[[], Constraint]:
    """The constraint, ready to build."""
    context = Context(name)
    build = _constraint(statement, name, context, shop)
    if statement.within is None:
        return build
    dimension = None if isinstance(statement, x.EquationIs) else LENGTH
    tolerance = shop.formulas.read(statement.within, dimension, context)
    return lambda: within(build(), tolerance.build())


def _constraint(statement: ConstraintIs, name: str, context: Context, shop: Workshop) -> Callable[[], Constraint]:
    if isinstance(statement, x.RollingIs):
        return _rolling(statement, name, context, shop)
    if isinstance(statement, x.DistanceIs):
        first, second = (shop.places.frame(end, context.within("frame")) for end in (statement.first, statement.second))
        value = shop.formulas.read(statement.value, LENGTH, context.within("distance"))
        return lambda: Distance(name, first.build(), second.build(), value.build())
    return _equation(statement, name, context.within("equation"), shop)


def _equation(statement: x.EquationIs, name: str, context: Context, shop: Workshop) -> Callable[[], Constraint]:
    left, right = (shop.formulas.read(side, None, context) for side in (statement.left, statement.right))
    if not left.literal and not right.literal and not shop.scope.dimensions.equal(left.dimension, right.dimension):
        kinds = [shop.scope.dimensions.in_words(side.dimension) for side in (left, right)]
        shop.scope.fault(statement, f"the two sides differ: {kinds[0]} on the left, {kinds[1]} on the right.")
    sided = right if left.literal else left
    return lambda: Equation(name, right.build() - left.build(), unit=shop.scope.dimensions.unit(sided.dimension, ""))


def _rolling(statement: x.RollingIs, name: str, context: Context, shop: Workshop) -> Callable[[], Constraint]:
    wheel, on = (shop.places.frame(node, context.within("frame")) for node in (statement.wheel, statement.on))
    context = context.within("rolling")
    radius = shop.formulas.read(statement.radius, LENGTH, context)
    tyre = None if statement.tyre is None else shop.formulas.read(statement.tyre, LENGTH, context)
    normal = shop.places.vector(statement.normal, shop.scope.dimensions.unknown(), context)
    return lambda: Rolling(
        name, wheel.build(), radius.build(), vector_of(normal), on.build(), None if tyre is None else tyre.build()
    )
