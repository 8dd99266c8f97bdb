"""The kinds of joints a text can name, and how each reads its clauses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torseur.algebra.graph import as_expr
from torseur.description.language.formulas.dimensions import LENGTH, NUMBER
from torseur.description.language.formulas.name_scope import Context, Placed
from torseur.description.language.formulas.read_places import vector_of
from torseur.description.language.formulas.tabulated_functions import screw_tables
from torseur.description.language.reading.clauses import Items
from torseur.description.language.reading.reading_context import Workshop
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.mechanism import (
    Coordinate,
    ElementaryMotion,
    Frame,
    Joint,
    Vector,
    cylindrical,
    fixed,
    free,
    helical,
    planar,
    prismatic,
    revolute,
    rotation,
    sequence,
    spherical,
    translation,
    turn,
    universal,
)
from torseur.description.mechanism.joints import X, Y, Z

# The units of the coordinates of each kind (a second row with a quaternion); None where their use tells.
COORDINATE_UNITS: dict[str, tuple[tuple[str, ...], ...] | None] = {
    "fixed": ((),), "revolute": (("rad",),), "prismatic": (("m",),), "helical": (("rad",),),
    "cylindrical": (("rad", "m"),), "universal": (("rad", "rad"),), "planar": (("m", "m", "rad"),),
    "spherical": (("rad",) * 3, ("1",) * 4), "free": (("m",) * 3 + ("rad",) * 3, ("m",) * 3 + ("1",) * 4),
    "screw": None, "denavit_hartenberg": None, "link": None,
}  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """A joint whose motion is being read."""

    name: str
    parent: Placed
    child: Placed
    coordinates: tuple[Callable[[], Coordinate], ...]
    context: Context
    items: Items
    kind: x.Name
    shop: Workshop

    def axis(self, word: str, default: Vector) -> Callable[[], Vector]:
        """The direction after a word, or the default."""
        node = self.items.clause(word)
        return (lambda: default) if node is None else self.shop.places.direction(node, self.context.within("axis"))

    def frames(self) -> tuple[str, Frame, Frame]:
        return self.name, self.parent.build(), self.child.build()

    def attempt(self, make: Callable[[], Joint]) -> Joint:
        """The joint, its own refusals noted at its kind."""
        return self.shop.attempt(self.kind, make, fixed(*self.frames()))


@dataclass(frozen=True)
class JointKind:
    """A kind of joint: its reader, and the properties and clauses it has beside loads."""

    read: Callable[[Reading], Callable[[], Joint]]
    properties: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()


def _preset(make: Callable[..., Joint], *axes: tuple[str, Vector]) -> JointKind:
    """A kind that is made of its coordinates and the directions after some words, each with its default."""

    def read(r: Reading) -> Callable[[], Joint]:
        directions = [r.axis(word, default) for word, default in axes]
        return lambda: r.attempt(lambda: make(*r.frames(), *_coordinates(r), *(axis() for axis in directions)))

    return JointKind(read, clauses=tuple(word for word, _ in axes))


def _fixed(r: Reading) -> Callable[[], Joint]:
    return lambda: fixed(*r.frames())


def _helical(r: Reading) -> Callable[[], Joint]:
    axis = r.axis("about", Z)
    value = r.items.value("pitch")
    if value is None:
        r.shop.scope.fault(r.kind, "a helical joint needs its pitch (advance per radian): pitch = 5 mm.")
        return _fixed(r)
    pitch = r.shop.formulas.read(value, LENGTH, r.context.within("motion"))
    return lambda: r.attempt(lambda: helical(*r.frames(), _coordinates(r)[0], pitch.build(), axis()))


def _angles(r: Reading) -> str:
    node = r.items.clause("angles")
    if node is None:
        return "zxz"
    if isinstance(node, x.Reference):
        return node.name
    r.shop.scope.fault(node, "angles are named by their axes, such as zxz or xyz, or euler, bryant, quaternion.")
    return "zxz"


def _turning(make: Callable[..., Joint]) -> JointKind:
    """A kind with a free rotation, in angles or by a quaternion."""

    def read(r: Reading) -> Callable[[], Joint]:
        angles = _angles(r)
        return lambda: r.attempt(lambda: make(*r.frames(), *_coordinates(r), angles=angles))

    return JointKind(read, clauses=("angles",))


def _coordinates(r: Reading) -> list[Coordinate]:
    return [build() for build in r.coordinates]


def _denavit_hartenberg(r: Reading) -> Callable[[], Joint]:
    """a, alpha, r, theta; the coordinate stands in r or in theta."""
    terms = {}
    slots = {"a": "joint origin", "alpha": "joint frame", "r": "motion", "theta": "motion"}
    for name, dimension in (("a", LENGTH), ("alpha", NUMBER), ("r", LENGTH), ("theta", NUMBER)):
        value = r.items.value(name)
        if value is not None:
            terms[name] = r.shop.formulas.read(value, dimension, r.context.within(slots[name]))

    def build() -> Joint:
        a, alpha, along_z, theta = (terms[n].build() if n in terms else 0 for n in ("a", "alpha", "r", "theta"))
        name, parent, child = r.frames()
        placed = parent.at((a, 0, 0), turn(alpha, X))
        steps = [m for m in (translation(Z, along_z), rotation(Z, theta)) if not m.amount.is_zero]
        return sequence(name, placed, child, _coordinates(r), steps)

    return lambda: r.attempt(build)


def _screw(r: Reading) -> Callable[[], Joint]:
    """A joint given by a table: coordinate, position, rotation vector."""
    file = r.items.file()
    if file is None or len(r.coordinates) != 1:
        r.shop.scope.fault(r.kind, 'a screw joint has one coordinate and a table: screw(z) table "file.csv".')
        return _fixed(r)
    # The first column of the file is the coordinate, a length: suspensions are measured by their stroke.
    r.shop.scope.dimensions.equal(r.context.local[next(iter(r.context.local))].dimension, LENGTH)
    tables = screw_tables(file, r.name, r.shop)
    if tables is None:
        return _fixed(r)

    def build() -> Joint:
        (q,) = _coordinates(r)
        moves = [translation(axis, table(q)) for axis, table in zip((X, Y, Z), tables[:3], strict=True)]
        turns = [rotation(axis, table(q)) for axis, table in zip((X, Y, Z), tables[3:], strict=True)]
        return sequence(*r.frames(), (q,), (*moves, *turns), kind="screw")

    return lambda: r.attempt(build)


def _link(r: Reading) -> Callable[[], Joint]:
    """Any sequence of motions: dof1 = [x, y, z], dof2 = a || [0, 0, 1], dof3 = s along [1, 1, 0], dof4 = quaternion."""
    kind = r.items.word("kind")
    motions = [_dof(r, index) for index in range(len(r.items.items)) if _is_dof(r.items.items[index])]
    label = kind.text if isinstance(kind, x.Text) else "link"
    if kind is not None and not isinstance(kind, x.Text):
        r.shop.scope.fault(kind, 'the kind of a link is a string: kind = "cam".')

    def build() -> Joint:
        steps = tuple(motion for read in motions for motion in read())
        return sequence(*r.frames(), _coordinates(r), steps, kind=label)

    return lambda: r.attempt(build)


def _is_dof(item: x.Item) -> bool:
    return isinstance(item, x.Property) and item.name.text.rstrip("0123456789") == "dof"


def _dof(r: Reading, index: int) -> Callable[[], tuple[ElementaryMotion, ...]]:
    item = r.items.take(index)
    assert isinstance(item, x.Property)
    value = item.value
    following = r.items.items[index + 1] if index + 1 < len(r.items.items) else None
    if isinstance(value, x.Text):
        r.shop.scope.fault(value, "a dof is a motion, not a string.")
        return tuple
    if isinstance(following, x.Clause) and following.word == "along":
        r.items.take(index + 1)
        return _translation_along(r, value, following.value)
    if isinstance(value, x.TurnAbout):
        turns = r.shop.places.rotation(value, r.context.within("motion"))
        return lambda: tuple(rotation(t.axis, t.angle) for t in turns.build())
    if isinstance(value, x.Reference) and value.name == "quaternion":
        return lambda: (ElementaryMotion("quaternion", Z, as_expr(1)),)
    return _translations(r, value)


def _translation_along(
    r: Reading, value: x.Expression, axis: x.Expression
) -> Callable[[], tuple[ElementaryMotion, ...]]:
    amount = r.shop.formulas.read(value, LENGTH, r.context.within("motion"))
    direction = r.shop.places.direction(axis, r.context.within("axis"))
    return lambda: (translation(direction(), amount.build()),)


def _translations(r: Reading, value: x.Expression) -> Callable[[], tuple[ElementaryMotion, ...]]:
    """A displacement vector: one translation per component that is not zero."""
    components = r.shop.places.vector(value, LENGTH, r.context.within("motion"))

    def build() -> tuple[ElementaryMotion, ...]:
        moves = zip((X, Y, Z), vector_of(components), strict=True)
        return tuple(translation(axis, amount) for axis, amount in moves if not amount.is_zero)

    return build


JOINT_KINDS: dict[str, JointKind] = {
    "fixed": _preset(fixed),
    "revolute": _preset(revolute, ("about", Z)),
    "prismatic": _preset(prismatic, ("along", X)),
    "helical": JointKind(_helical, ("pitch",), ("about",)),
    "cylindrical": _preset(cylindrical, ("about", Z)),
    "universal": _preset(universal, ("about", X), ("then", Y)),
    "spherical": _turning(spherical),
    "planar": _preset(planar),
    "free": _turning(free),
    "screw": JointKind(_screw),
    "denavit_hartenberg": JointKind(_denavit_hartenberg, ("a", "alpha", "r", "theta")),
    "link": JointKind(_link, ("dof", "kind")),
}
