"""Bodies: `let arm = body mass = m1, centre = [0, -l, 0], inertia = diag(a, b, c) about frame end`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torseur.algebra.graph import Expr, as_expr
from torseur.description.language.formulas.dimensions import LENGTH, MASS, dimension_of
from torseur.description.language.formulas.name_scope import Context, Deferred, Known
from torseur.description.language.formulas.read_places import Located, vector_of
from torseur.description.language.formulas.scalar_formulas import Term
from torseur.description.language.reading.clauses import Items
from torseur.description.language.reading.reading_context import Workshop
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.mechanism import (
    HERE,
    SHAPES,
    Body,
    InertiaMatrix,
    Placement,
    Solid,
    along,
    implied_symbols,
    inertia,
)

INERTIA = dimension_of("kg*m^2")
DENSITIES = {"rod": dimension_of("kg/m"), "shell": dimension_of("kg/m^2")}
DENSITY = dimension_of("kg/m^3")


def declare_body(statement: x.BodyIs, shop: Workshop) -> None:
    """Makes the body's name known, with what can be said about it in formulas."""
    name = statement.name.text
    shop.define(statement.name, "body", shop.scope.bodies)
    given = {item.name.text for item in statement.items if isinstance(item, x.Property)}
    solids = any(isinstance(item, x.Shape) and not _says_negative(item) for item in statement.items)
    implied = {key: known for key, known in _implied_symbols(name).items() if not solids and not _is_given(key, given)}
    if "mass" in given and not solids:
        mass = Deferred(lambda: shop.mass(name), lambda: _circular(statement, shop))
        implied[f"{name}.mass"] = Known(MASS, mass)
    shop.scope.bodies[name] = implied


def _implied_symbols(name: str) -> dict[str, Known]:
    return {
        key: Known(dimension_of(symbol.data.unit), lambda symbol=symbol: symbol)  # type: ignore[misc]
        for key, symbol in implied_symbols(name).items()
    }


def _is_given(key: str, given: set[str]) -> bool:
    """Whether a property of the statement replaces an implied symbol."""
    what = key.partition(".")[2]
    if what == "mass":
        return "mass" in given
    return bool(given & {"centre", "iframe"}) if what.startswith("centre") else "inertia" in given


def _circular(statement: x.BodyIs, shop: Workshop) -> None:
    shop.scope.fault(statement.name, f"the mass of '{statement.name.text}' is defined in terms of itself.")


def read_body(statement: x.BodyIs, shop: Workshop) -> Callable[[], Body]:
    """The body, ready to build."""
    name, context = statement.name.text, Context(statement.name.text)
    written = [item for item in statement.items if not _says_negative(item)]
    first = next((i for i, item in enumerate(written) if isinstance(item, x.Shape)), len(written))
    items = Items(written[:first], shop.scope, f"body '{name}'")
    mass = _mass(items, name, shop, context)
    iframe = _iframe(items, shop, context)
    matrix = _inertia(items, shop, context.within("inertia"))
    items.finish(("mass", "centre", "iframe", "inertia"), ("about",))
    solids = [_solid(group, shop, context.within("solid")) for group in _groups(tuple(written[first:]))]
    return lambda: Body(
        name,
        None if mass is None else mass.build(),
        None if iframe is None else iframe.build(),
        None if matrix is None else matrix(),
        tuple(build() for build in solids),
        statement.meaning,
        len(written) < len(statement.items),
    )


def _says_negative(item: x.Item) -> bool:
    return isinstance(item, x.Shape) and item.name.text == "negative"


def _mass(items: Items, name: str, shop: Workshop, context: Context) -> Term | None:
    value = items.value("mass")
    if value is None:
        return None
    shop.masses[name] = shop.formulas.read(value, MASS, context.within("mass"))
    return shop.masses[name]


def _iframe(items: Items, shop: Workshop, context: Context) -> Located | None:
    centre, iframe = items.value("centre"), items.value("iframe")
    if centre is not None and iframe is not None:
        shop.scope.fault(iframe, "give either a centre or an iframe, not both.")
    if iframe is not None:
        return shop.places.placement(iframe, context.within("centre"))
    if centre is None:
        return None
    position = shop.places.vector(centre, LENGTH, context.within("centre"))
    return Located(lambda: Placement(vector_of(position)))


def _inertia(items: Items, shop: Workshop, context: Context) -> Callable[[], InertiaMatrix] | None:
    value, about = items.value("inertia"), items.clause("about")
    if value is None:
        if about is not None:
            shop.scope.fault(about, "'about' says where an inertia is taken, but no inertia is given.")
        return None
    components = _moments(value, shop, context)
    if isinstance(about, x.Reference) and about.name in ("frame", "iframe"):
        return lambda: InertiaMatrix(components(), about.name)
    if about is None:
        return lambda: InertiaMatrix(components())
    place = shop.places.placement(about, context)
    return lambda: InertiaMatrix(components(), place.build())


def _moments(value: x.Expression, shop: Workshop, context: Context) -> Callable[[], tuple[Expr, ...]]:
    """The six components of `0`, `diag(xx, yy, zz)` or a symmetric matrix of rows."""
    # Nothing has no dimension: 0 is read without one.
    if isinstance(value, x.Number) and value.text == "0":
        return lambda: inertia(0, 0, 0).components
    rows = _rows(value, shop)
    if rows is None:
        shop.scope.fault(
            value, "expected an inertia: 0, diag(xx, yy, zz) or [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]."
        )
        return lambda: (as_expr(0),) * 6
    terms = [[shop.formulas.read(entry, INERTIA, context) for entry in row] for row in rows]

    def build() -> tuple[Expr, ...]:
        matrix = [[term.build() for term in row] for row in terms]
        for i, j in ((0, 1), (0, 2), (1, 2)):
            # Equal expressions are one object.
            if matrix[i][j] is not matrix[j][i]:
                shop.scope.fault(
                    rows[j][i], "an inertia matrix is symmetric; this differs from the entry across the diagonal."
                )
        return (*(matrix[i][i] for i in range(3)), matrix[0][1], matrix[0][2], matrix[1][2])

    return build


def _rows(value: x.Expression, shop: Workshop) -> list[list[x.Expression]] | None:
    """Three rows of three entries."""
    if isinstance(value, x.Call) and value.function.name == "diag" and len(value.arguments) == 3:
        a, b, c = (shop.places.with_unit(entry, value.unit) for entry in value.arguments)
        zero = x.Number(value.start, value.end, 1, "0", None)
        return [[a, zero, zero], [zero, b, zero], [zero, zero, c]]
    if isinstance(value, x.Bracket) and len(value.components) == 3:
        brackets = [row for row in value.components if isinstance(row, x.Bracket) and row.unit is None]
        rows = [[shop.places.with_unit(entry, value.unit) for entry in row.components] for row in brackets]
        return rows if [len(row) for row in rows] == [3, 3, 3] else None
    return None


@dataclass(frozen=True)
class _Group:
    """A solid: its shape and the items that follow."""

    shape: x.Shape
    items: tuple[x.Item, ...]


def _groups(items: tuple[x.Item, ...]) -> list[_Group]:
    groups: list[_Group] = []
    for item in items:
        if isinstance(item, x.Shape):
            groups.append(_Group(item, ()))
        else:
            groups[-1] = _Group(groups[-1].shape, (*groups[-1].items, item))
    return groups


def _solid(group: _Group, shop: Workshop, context: Context) -> Callable[[], Solid]:
    shape = group.shape.name.text
    if shape not in SHAPES:
        shop.scope.unknown(group.shape, "solid", shape, SHAPES)
        return lambda: Solid("sphere", (("radius", as_expr(1)),), mass=as_expr(1))
    items = Items(group.items, shop.scope, f"a {shape}")
    sizes = SHAPES[shape][0]
    terms = _solid_terms(items, shape, shop, context)
    place = _solid_place(items, shop, context)
    items.finish((*sizes, "density", "mass"), ("at", "along"))
    missing = [size for size in sizes if size not in terms]
    if missing:
        shop.scope.fault(group.shape, f"a {shape} needs {', '.join(sizes)}; {', '.join(missing)} is missing.")
    if ("density" in terms) == ("mass" in terms):
        shop.scope.fault(group.shape, f"a {shape} needs either a density or a mass.")
    return lambda: Solid(
        shape,
        tuple((size, terms[size].build()) for size in sizes),
        terms["density"].build() if "density" in terms else None,
        terms["mass"].build() if "mass" in terms else None,
        place(),
    )


def _solid_terms(items: Items, shape: str, shop: Workshop, context: Context) -> Mapping[str, Term]:
    dimensions = dict.fromkeys(SHAPES[shape][0], LENGTH) | {"mass": MASS, "density": DENSITIES.get(shape, DENSITY)}
    terms = {}
    for name, dimension in dimensions.items():
        value = items.value(name)
        if value is not None:
            terms[name] = shop.formulas.read(value, dimension, context)
    return terms


def _solid_place(items: Items, shop: Workshop, context: Context) -> Callable[[], Placement]:
    """Where the solid lies: `at` a placement, its z axis then laid `along` a direction."""
    at, direction = items.clause("at"), items.clause("along")
    place = Located(lambda: HERE) if at is None else shop.places.placement(at, context)
    if direction is None:
        return place.build
    axis = shop.places.direction(direction, context)

    def build() -> Placement:
        start = place.build()
        return Placement(start.position, start.rotation + along(axis()).rotation)

    return build
