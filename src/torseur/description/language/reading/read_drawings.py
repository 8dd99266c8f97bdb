"""Drawings: `draw box ... on body`, `draw spring between A and B`, `draw path of P`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from torseur.algebra.graph import Expr
from torseur.description.language.formulas.dimensions import LENGTH, NUMBER
from torseur.description.language.formulas.name_scope import Context
from torseur.description.language.reading.clauses import Items
from torseur.description.language.reading.reading_context import Workshop
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.mechanism import DRAWINGS, Drawing, Frame, Placement, along
from torseur.description.mechanism.drawings import FACTORS, MESH_FILES, rgb
from torseur.errors import nearest

CONTEXT = Context("drawing", slot="drawing")
_EXAMPLES = {
    "on": "draw {kind} ... on body ;", "between": "draw {kind} between A and B ;",
    "through": "draw {kind} through A, B, C ;", "of": "draw {kind} of P ;",
}  # fmt: skip
_OTHER_WORDS = {"color": "colour", "diameter": "radius", "opacity": "transparency", "alpha": "transparency"}


def read_drawing(statement: x.DrawingIs, shop: Workshop) -> Callable[[], Drawing]:
    """The drawing, ready to build."""
    kind = statement.kind.text
    frames = [shop.places.frame(node, CONTEXT) for node in statement.places]
    if kind not in DRAWINGS:
        shop.scope.unknown(statement.kind, "drawing", kind, dict.fromkeys(DRAWINGS))
        return lambda: Drawing("nothing", (Frame("earth"),))
    _check_place(statement, shop)
    items = Items(_with_our_words(statement, shop), shop.scope, f"a drawn {kind}")
    # A ring lies about its axis, a cylinder along it; both words say the same direction.
    direction = items.clause("along") or items.clause("about")
    axis = None if direction is None else shop.places.direction(direction, CONTEXT)
    if direction is not None and statement.word != "on":
        shop.scope.fault(direction, f"what is drawn {statement.word} points lies along them; leave `along` out.")
    wound = _wound(items, statement, shop)
    sizes = _sizes(items, statement, shop)
    colour = _colour(items, shop)
    given = items.value("transparency")
    transparency = None if given is None else shop.formulas.read(given, NUMBER, CONTEXT)
    items.finish((*DRAWINGS[kind].sizes, "colour", "transparency"), ("along", "about"))
    text = _text(statement, shop)

    def build() -> Drawing:
        turned = tuple(_turn(frame.build(), axis) for frame in frames)
        values = tuple((name, value()) for name, value in sizes)
        radii = tuple((number, value()) for number, value in wound)
        seen_through = None if transparency is None else transparency.build()
        return Drawing(kind, turned, values, radii, text, colour, seen_through)

    return build


def _turn(frame: Frame, axis: Callable[[], tuple[Expr, Expr, Expr]] | None) -> Frame:
    if axis is None:
        return frame
    turns = along(axis()).rotation
    place = frame.placement
    return replace(frame, placement=Placement(place.position, (*place.rotation, *turns)))


def _check_place(statement: x.DrawingIs, shop: Workshop) -> None:
    places = DRAWINGS[statement.kind.text].places
    if statement.word not in places:
        ways = " or ".join(_EXAMPLES[place].format(kind=statement.kind.text) for place in places)
        shop.scope.fault(statement.kind, f"a {statement.kind.text} is not drawn '{statement.word}' something.", ways)


def _with_our_words(statement: x.DrawingIs, shop: Workshop) -> tuple[x.Item, ...]:
    """The items; words of other programs are noted with ours."""
    for item in statement.items:
        if isinstance(item, x.Property) and item.name.text in _OTHER_WORDS:
            word = _OTHER_WORDS[item.name.text]
            shop.scope.fault(item.name, f"a drawing has no '{item.name.text}'.", f"Give its {word}.")
    return tuple(i for i in statement.items if not (isinstance(i, x.Property) and i.name.text in _OTHER_WORDS))


def _sizes(items: Items, statement: x.DrawingIs, shop: Workshop) -> list[tuple[str, Callable[[], Expr]]]:
    kind = DRAWINGS[statement.kind.text]
    needed = kind.places.get(statement.word, ())
    sizes = []
    for name in kind.sizes:
        value = items.value(name)
        if value is not None:
            dimension = NUMBER if name in FACTORS else LENGTH
            sizes.append((name, shop.formulas.read(value, dimension, CONTEXT).build))
            if name not in needed and name not in kind.optional:
                what = f"a {statement.kind.text} between two points has no '{name}': the points say it."
                shop.scope.fault(value, what)
        elif name in needed:
            listing = ", ".join(needed)
            shop.scope.fault(statement.kind, f"a drawn {statement.kind.text} needs {listing}; '{name}' is missing.")
    return sizes


def _wound(items: Items, statement: x.DrawingIs, shop: Workshop) -> list[tuple[int, Callable[[], Expr]]]:
    """Radii of pulleys: `radius(C) = r` where C is one of the points between the ends of a rope."""
    if statement.kind.text != "rope":
        return []
    names = [node.name if isinstance(node, x.Reference) else "" for node in statement.places]
    radii: dict[int, Callable[[], Expr]] = {}
    for item in items.properties("radius"):
        if item.of is None or isinstance(item.value, x.Text):
            hint = "Say at which: radius(C) = 0.1 m."
            shop.scope.fault(item.name, "`radius` of a rope belongs to a pulley on its path.", hint)
            continue
        inner = [k for k, name in enumerate(names) if name == item.of.name and 0 < k < len(names) - 1]
        if not inner:
            between = [name for name in names[1:-1] if name]
            guess = nearest(item.of.name, between)
            hint = f"Did you mean '{guess}'?" if guess else "Pulleys are named points or bodies: `let C = ... @ earth`."
            shop.scope.fault(item.of, f"'{item.of.name}' is not a point between the ends of this rope.", hint)
            continue
        radius = shop.formulas.read(item.value, LENGTH, CONTEXT)
        if any(k in radii for k in inner):
            shop.scope.fault(item.name, f"the radius at '{item.of.name}' is given twice.")
        radii |= dict.fromkeys(inner, radius.build)
    return sorted(radii.items())


def _colour(items: Items, shop: Workshop) -> str:
    node = items.word("colour")
    if node is None:
        return ""
    # Both colour = "red" and colour = red are clear.
    name = node.text if isinstance(node, x.Text) else node.name if isinstance(node, x.Reference) else ""
    if not name:
        shop.scope.fault(node, 'a colour is a name or a code: colour = "steelblue", colour = "#4682b4".')
        return ""
    return name if shop.attempt(node, lambda: bool(rgb(name)), False) else ""


def _text(statement: x.DrawingIs, shop: Workshop) -> str:
    word = DRAWINGS[statement.kind.text].word
    if statement.text is None:
        if word:
            example = f'draw {statement.kind.text} "..." on body ;'
            shop.scope.fault(statement.kind, f"a drawn {statement.kind.text} needs a {word}.", example)
        return ""
    if not word:
        shop.scope.fault(
            statement.text, f"a drawn {statement.kind.text} has no text.", 'Write one: draw text "..." on P ;'
        )
    return _mesh_path(statement.text, shop) if word == "file" else statement.text.text


def _mesh_path(text: x.Text, shop: Workshop) -> str:
    """The path of a mesh; beside the description where it is not absolute."""
    path = Path(text.text)
    if path.suffix.lower() not in MESH_FILES:
        shop.scope.fault(text, f"'{text.text}' is not a readable mesh.", f"Files: {', '.join(MESH_FILES)}.")
        return text.text
    whole = path if shop.directory is None else shop.directory / path
    if shop.directory is not None and not whole.is_file():
        shop.scope.fault(text, f"there is no file '{text.text}' in '{shop.directory}'.")
    return whole.as_posix()
