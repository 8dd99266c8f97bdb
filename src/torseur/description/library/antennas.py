"""Deployable antennas: nets of triangular meshes, each of three posts joined by folding struts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.graph import scalar as s
from torseur.description.mechanism import (
    EARTH,
    Body,
    Coordinate,
    Joint,
    Mechanism,
    Parameter,
    along,
    body,
    inertia,
    parameter,
    revolute,
    solid,
)

Node = tuple[Fraction, int]
"""Place of a post: along x in sides, along y in heights of a triangle (√3/2 of a side)."""


def antenna_chain(n: int) -> Mechanism:
    """A strip of n meshes; neighbours share a strut."""
    nodes = [(Fraction(k, 2), k % 2) for k in range(n + 2)]
    sides = [(0, 1)] + [side for k in range(n) for side in ((k, k + 2), (k + 1, k + 2))]
    return _net("antenna_chain", f"strip of {n} antenna mesh{'es' if n > 1 else ''}", nodes, sides)


def antenna_grid(width: int, height: int) -> Mechanism:
    """2 x width x height meshes in rows; neighbours share a strut."""
    number = {(i, j): i * (height + 1) + j for i in range(width + 1) for j in range(height + 1)}
    nodes = [(i + Fraction(j, 2), j) for i, j in number]
    neighbours = [(k, (i + di, j + dj)) for (i, j), k in number.items() for di, dj in ((1, 0), (0, 1), (1, -1))]
    sides = [(k, number[there]) for k, there in neighbours if there in number]
    return _net("antenna_grid", f"grid of {2 * width * height} antenna meshes", nodes, sides)


def _net(name: str, meaning: str, nodes: Sequence[Node], sides: Sequence[tuple[int, int]]) -> Mechanism:
    """Posts at the nodes joined by struts along the sides; the first post is the earth."""
    a = parameter("a", 1, "m", "length of a side; the knees are half as high")
    m, mb = parameter("m", 1, "kg", "mass of a post"), parameter("mb", Fraction(1, 5), "kg", "mass of a bar")
    net = _Net(a, mb, nodes)
    posts = [_post(k, a, m) for k in range(1, len(nodes))]
    struts = [net.strut(i, j, posts) for i, j in sides]
    return Mechanism(
        name,
        bodies=[*posts, *(bar for bars, _ in struts for bar in bars)],
        joints=[hinge for _, hinges in struts for hinge in hinges],
        parameters=[a, m, mb],
        meaning=meaning,
    )


def _post(k: int, a: Parameter, m: Parameter) -> Body:
    small = m * a * a / 100
    return body(f"post{k}", mass=m, centre=(0, 0, 0), inertia=inertia(small, small, small))


@dataclass(frozen=True)
class _Net:
    """Makes struts: two bars and three hinges across them, the middle one raised."""

    side: Parameter
    mass: Parameter
    nodes: Sequence[Node]

    def strut(self, i: int, j: int, posts: Sequence[Body]) -> tuple[list[Body], list[Joint]]:
        name = f"{i}_{j}"
        x, y = self._half(i, j)
        rise = as_expr(Fraction(1, 2))
        up, down = (x, y, rise), (x, y, -rise)
        first, second = self._bar(f"bar{name}", up), self._bar(f"bar{j}_{i}", down)
        across = (-y, x, 0)
        frames = [(EARTH if k == 0 else posts[k - 1].frame) for k in (i, j)]
        ends = [(frames[0], first.frame), (first.at(self._scale(up)), second.frame),
                (second.at(self._scale(down)), frames[1])]  # fmt: skip
        hinges = [revolute(f"{letter}{name}", *pair, Coordinate(f"q{letter}{name}", "rad", what), across)
                  for letter, what, pair in zip("amb", ("rise", "fold", "rise"), ends, strict=True)]  # fmt: skip
        return [first, second], hinges

    def _half(self, i: int, j: int) -> tuple[Expr, Expr]:
        """From a node halfway to another, in sides."""
        (xi, yi), (xj, yj) = self.nodes[i], self.nodes[j]
        return as_expr((xj - xi) / 2), s.sqrt(as_expr(3)) * Fraction(yj - yi, 4)

    def _scale(self, offset: Sequence[Expr]) -> tuple[Expr, ...]:
        return tuple(self.side * component for component in offset)

    def _bar(self, name: str, offset: Sequence[Expr]) -> Body:
        """A bar of half the diagonal of a square on the side."""
        length = self.side / s.sqrt(as_expr(2))
        return body(name, solids=[solid("rod", length=length, mass=self.mass, placement=along(offset))])
