"""Contact of shapes: `contact foot.sphere radius 2 cm with earth normal [0,0,1] friction 0.8, restitution 0`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from torseur.algebra.graph import Expr, as_expr
from torseur.description.language.formulas.dimensions import LENGTH, NUMBER
from torseur.description.language.formulas.name_scope import Context
from torseur.description.language.formulas.read_places import Components, vector_of
from torseur.description.language.formulas.scalar_formulas import Term
from torseur.description.language.reading.reading_context import Workshop
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.mechanism import Contact, ball, contact, plane
from torseur.description.mechanism.contacts import SHAPE_SIZES

VECTORS = {"size": "box", "semiaxes": "ellipsoid"}
CONDITIONS = ("friction", "static", "restitution")


def read_contact(statement: x.ContactIs, name: str, shop: Workshop) -> Callable[[], Contact]:
    """The contact, ready to build."""
    context = Context(name)
    shape, place = _shape_and_place(statement.shape, shop)
    frame = shop.places.frame(place, context.within("frame"))
    sizes = _sizes(statement, shape, context, shop)
    ground_shape, ground_place = _shape_and_place(statement.ground, shop, "plane")
    ground = shop.places.frame(ground_place, context.within("frame"))
    normal, radius, given = _ground(statement, ground_shape, context, shop)

    def build() -> Contact:
        values: dict[str, Expr] = {what: given[what].build() for what in CONDITIONS if what in given}
        other = plane(ground.build(), vector_of(normal)) if normal is not None else ball(ground.build(), radius_of())
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
    for clause in statement.conditions:
        if clause.word in given or (clause.word == "normal" and normal is not None):
            shop.scope.fault(clause, f"'{clause.word}' of contact '{context.owner}' is given twice.")
        elif clause.word == "normal" and shape == "plane":
            normal = shop.places.vector(clause.value, shop.scope.dimensions.unknown(), context.within("contact"))
        elif clause.word == "radius" and shape == "sphere":
            given["radius"] = shop.formulas.read(clause.value, LENGTH, context.within("contact"))
        elif clause.word in CONDITIONS:
            slot = "restitution" if clause.word == "restitution" else "friction"
            given[clause.word] = shop.formulas.read(clause.value, NUMBER, context.within(slot))
        else:
            shop.scope.fault(
                clause, f"the ground is a plane with a normal, or a sphere with a radius: no '{clause.word}'."
            )
    if shape not in ("plane", "sphere"):
        shop.scope.fault(statement.ground, f"a {shape} is no ground: there are planes and spheres.")
    elif (shape == "plane" and normal is None) or (shape == "sphere" and "radius" not in given):
        what = "normal [0,0,1]" if shape == "plane" else "radius 1 m"
        shop.scope.fault(statement.ground, f"the ground needs its {what.split()[0]}: with ... {what}.")
    return normal, given.get("radius"), given
