"""Functions of axes and points: angles between lines, about an axis, and distances.

`angle(wheel.z, earth.z about chassis.x)` turns the first direction into the second about the axis, both seen along it;
`angle(a, b)` is between 0 and pi. A direction is an axis of a frame, `line(P, Q)`, or `[x, y, z]` in earth axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.graph import scalar as s
from torseur.algebra.spatial import Vec3
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.mechanism.frames import COMPONENTS, EARTH_NAME

FRAME_FUNCTIONS = ("angle", "distance")
_USES = {
    "angle": "angle(wheel.z, earth.z about chassis.x), angle(line(P, Q), earth.x)",
    "distance": "distance(P, Q)",
}
Component = tuple[tuple[int, x.Expression], ...]  # signs and what they stand before


class FrameFunctionError(Exception):
    """What is wrong with a call, and where."""

    def __init__(self, node: x.Node, message: str) -> None:
        super().__init__(message)
        self.node = node


@dataclass(frozen=True)
class FrameCall:
    """A call taken apart: the three components of each of its vectors, as sums of quantities by name and numbers."""

    name: str
    vectors: tuple[tuple[Component, Component, Component], ...]
    about_unit: bool = False  # whether the axis of a frame, of length 1, is turned about

    def value(self, vectors: Sequence[Vec3]) -> Expr:
        """Its value, from those of its vectors."""
        if self.name == "distance":
            return as_expr(s.sqrt(vectors[0].dot(vectors[0])))
        return _angle(*vectors, is_unit=self.about_unit)


def _angle(one: Vec3, other: Vec3, axis: Vec3 | None = None, *, is_unit: bool) -> Expr:
    """atan2(|a × b|, a · b), or atan2(c · (a × b), a · b - (a · c)(b · c)) about the unit axis c."""
    across = one.cross(other)
    if axis is None:
        return as_expr(s.atan2(s.sqrt(across.dot(across)), one.dot(other)))
    if not is_unit:
        axis = axis * (1 / s.sqrt(axis.dot(axis)))
    return as_expr(s.atan2(axis.dot(across), one.dot(other) - one.dot(axis) * other.dot(axis)))


def frame_call(node: x.Call) -> FrameCall:
    """The call with its directions and points read; raises FrameFunctionError."""
    name = node.function.name
    if len(node.arguments) != 2 or (node.about is not None and name == "distance"):
        raise FrameFunctionError(node, f"{name} is written {_USES[name]}.")
    if name == "distance":
        return FrameCall(name, (_between(*node.arguments),))
    about = () if node.about is None else (_direction(node.about),)
    return FrameCall(name, (*map(_direction, node.arguments), *about), isinstance(node.about, x.Reference))


def _direction(node: x.Expression) -> tuple[Component, Component, Component]:
    if isinstance(node, x.Call) and node.function.name == "line" and len(node.arguments) == 2:
        return _between(*node.arguments)
    if isinstance(node, x.Bracket) and len(node.components) == 3 and node.unit is None:
        one, two, three = (((1, part),) for part in node.components)
        return one, two, three
    if isinstance(node, x.Reference) and len(node.path) > 1 and node.path[-1] in COMPONENTS and not node.primes:
        *frame, axis = node.path
        if frame == [EARTH_NAME]:
            one, two, three = (((1, _number(node, "1" if c == axis else "0")),) for c in COMPONENTS)
        else:
            one, two, three = (((1, _named(node, (*frame, "direction", c + axis))),) for c in COMPONENTS)
        return one, two, three
    raise FrameFunctionError(
        node, "an angle is between directions: an axis of a frame such as wheel.z, line(P, Q), or [x, y, z]."
    )


def _between(first: x.Expression, second: x.Expression) -> tuple[Component, Component, Component]:
    """The way from a point to another, in earth axes."""
    ends = [_point(first), _point(second)]
    one, two, three = (((1, ends[1][k]), (-1, ends[0][k])) for k in range(3))
    return one, two, three


def _point(node: x.Expression) -> list[x.Expression]:
    if not isinstance(node, x.Reference) or node.primes:
        raise FrameFunctionError(node, "a point is a body, or a frame by its name: let P = [0.1, 0, 0] m @ arm.")
    if node.path == (EARTH_NAME,):
        return [_number(node, "0", "m") for _ in COMPONENTS]
    return [_named(node, (*node.path, "position", c)) for c in COMPONENTS]


def _number(node: x.Node, text: str, unit: str | None = None) -> x.Number:
    return x.Number(node.start, node.end, 1, text, unit)


def _named(node: x.Node, path: tuple[str, ...]) -> x.Reference:
    return x.Reference(node.start, node.end, 1, path, 0)
