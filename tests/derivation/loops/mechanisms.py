"""Mechanisms with closed loops: the examples of the source documents, classics, and generators.

Most are given by where their joints lie in one closed pose: every body's frame coincides with the earth's there, so
all coordinates are zero in that pose. `unit` multiplies every length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import torseur.description.mechanism as tm
from torseur.algebra.graph import PI, Expr, as_expr, symbol
from torseur.algebra.graph import scalar as s

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
Point = Sequence[Any]


class Drawing:
    """Collects bodies and joints placed in one pose."""

    def __init__(self, name: str, unit: Any = 1) -> None:
        self.name, self.unit = name, as_expr(unit)
        self.bodies: dict[str, tm.Body] = {}
        self.joints: list[tm.Joint] = []
        self.constraints: list[Any] = []

    def frame(self, body: str, point: Point) -> tm.Frame:
        if body != "earth" and body not in self.bodies:
            self.bodies[body] = tm.body(body, mass=1, centre=(0, 0, 0), inertia=0)
        return tm.Frame(body, tm.placement(tuple(as_expr(c) * self.unit for c in point)))

    def revolute(self, name: str, parent: str, child: str, point: Point, axis: Point = Z) -> None:
        self.joints.append(tm.revolute(name, self.frame(parent, point), self.frame(child, point), f"q_{name}", axis))

    def prismatic(self, name: str, parent: str, child: str, axis: Point) -> None:
        origin = (0, 0, 0)
        self.joints.append(tm.prismatic(name, self.frame(parent, origin), self.frame(child, origin), f"q_{name}", axis))

    def spherical(self, name: str, parent: str, child: str, point: Point) -> None:
        names = [f"q_{name}_{k}" for k in range(3)]
        self.joints.append(tm.spherical(name, self.frame(parent, point), self.frame(child, point), *names))

    def universal(self, name: str, parent: str, child: str, point: Point, first: Point, second: Point) -> None:
        names = [f"q_{name}_1", f"q_{name}_2"]
        ends = self.frame(parent, point), self.frame(child, point)
        self.joints.append(tm.universal(name, *ends, *names, first, second))

    def mechanism(self, **extra: Any) -> tm.Mechanism:
        return tm.Mechanism(
            self.name, bodies=list(self.bodies.values()), joints=self.joints, constraints=self.constraints, **extra
        )


def four_bar(points: Sequence[Sequence[Any]] = ((0, 0), (1, 2), (4, 3), (5, 0)), name: str = "four_bar", unit: Any = 1):
    """Hinges A, B, C, D in the plane z = 0, ground between D and A."""
    d = Drawing(name, unit)
    a, b, c, e = ((*p, 0) for p in points)
    d.revolute("A", "earth", "crank", a)
    d.revolute("B", "crank", "coupler", b)
    d.revolute("C", "coupler", "rocker", c)
    d.revolute("D", "rocker", "earth", e)
    return d.mechanism()


def parallelogram(unit: Any = 1) -> tm.Mechanism:
    return four_bar(((0, 0), (1, 2), (5, 2), (4, 0)), "parallelogram", unit)


def flat_parallelogram(unit: Any = 1) -> tm.Mechanism:
    return four_bar(((0, 0), (1, 0), (5, 0), (4, 0)), "flat_parallelogram", unit)


def stretched_four_bar(unit: Any = 1) -> tm.Mechanism:
    """Links 1 + 2 + 3 = 6: it can only lie flat."""
    return four_bar(((0, 0), (1, 0), (3, 0), (6, 0)), "stretched_four_bar", unit)


def parallelogram_with_bar(unit: Any = 1) -> tm.Mechanism:
    d = Drawing("parallelogram_with_bar", unit)
    d.revolute("A", "earth", "crank", (0, 0, 0))
    d.revolute("B", "crank", "coupler", (1, 2, 0))
    d.revolute("C", "coupler", "rocker", (5, 2, 0))
    d.revolute("D", "rocker", "earth", (4, 0, 0))
    d.revolute("E", "earth", "bar", (2, 0, 0))
    d.revolute("G", "bar", "coupler", (3, 2, 0))
    return d.mechanism()


def slider_crank(unit: Any = 1) -> tm.Mechanism:
    d = Drawing("slider_crank", unit)
    d.revolute("O", "earth", "crank", (0, 0, 0))
    d.revolute("A", "crank", "rod", (1, 2, 0))
    d.revolute("B", "rod", "piston", (5, 0, 0))
    d.prismatic("slide", "piston", "earth", X)
    return d.mechanism()


def bennett(unit: Any = 1) -> tm.Mechanism:
    """Opposite links equal, a / sin(twist) the same for all: 4 / (4/5) = 3 / (3/5)."""
    return dh_loop("bennett", (4, 3, 4, 3), (Fraction(1, 2), Fraction(1, 3)) * 2, unit)


def bricard(unit: Any = 1) -> tm.Mechanism:
    """Threefold-symmetric: equal links, twists of plus and minus a quarter turn."""
    return dh_loop("bricard", (1,) * 6, (1, -1) * 3, unit)


def dh_loop(name: str, lengths: Sequence[Any], half_tangents: Sequence[Any], unit: Any = 1) -> tm.Mechanism:
    """Revolutes about z, each followed by a link of some length along x and a twist about x (tangents of half angles)."""
    count = len(lengths)
    names = ["earth", *(f"b{k}" for k in range(1, count))]
    bodies = [tm.body(n, mass=1, centre=(0, 0, 0), inertia=0) for n in names[1:]]
    joints = []
    for k, (a, t) in enumerate(zip(lengths, half_tangents, strict=True)):
        twist = PI / 2 * t if abs(t) == 1 else 2 * s.atan(as_expr(t))
        # The link's offset and twist are part of the child: its frame is reached from the joint by them.
        child = tm.Frame(names[(k + 1) % count])
        motions = [
            tm.rotation(Z, symbol(f"q{k + 1}", "rad")),
            tm.translation(X, as_expr(a) * as_expr(unit)),
            tm.rotation(X, twist),
        ]
        joints.append(tm.sequence(f"R{k + 1}", tm.Frame(names[k]), child, [tm.Coordinate(f"q{k + 1}")], motions))
    return tm.Mechanism(name, bodies=bodies, joints=joints)


def sarrus(unit: Any = 1) -> tm.Mechanism:
    d = Drawing("sarrus", unit)
    d.revolute("a1", "earth", "p", (2, 0, 0), Y)
    d.revolute("a2", "p", "r", (4, 0, 3), Y)
    d.revolute("a3", "r", "top", (2, 0, 6), Y)
    d.revolute("b3", "top", "s", (0, 2, 6), X)
    d.revolute("b2", "s", "t", (0, 4, 3), X)
    d.revolute("b1", "t", "earth", (0, 2, 0), X)
    return d.mechanism()


def stewart(unit: Any = 1) -> tm.Mechanism:
    d = Drawing("stewart", unit)
    base = ((10, 1), (10, -1), (-4, -9), (-6, -8), (-6, 8), (-4, 9))
    top = ((3, 5), (3, -5), (2, -5), (-6, -1), (-6, 1), (2, 5))
    for k, ((bx, by), (px, py)) in enumerate(zip(base, top, strict=True), 1):
        low, high = (bx, by, 0), (px, py, 8)
        d.universal(f"U{k}", "earth", f"cylinder{k}", low, X, Y)
        d.prismatic(f"P{k}", f"cylinder{k}", f"rod{k}", tuple(b - a for a, b in zip(low, high, strict=True)))
        d.spherical(f"S{k}", f"rod{k}", "platform", high)
    return d.mechanism()


def third_turns() -> list[Callable[[Point], tuple[Expr, ...]]]:
    """Rotations by 0, 120 and 240 degrees about z, exactly."""
    half, root = as_expr(Fraction(1, 2)), s.sqrt(as_expr(3)) / 2

    def turner(c: Any, sn: Any) -> Callable[[Point], tuple[Expr, ...]]:
        return lambda v: (c * v[0] - sn * v[1], sn * v[0] + c * v[1], as_expr(v[2]))

    return [turner(as_expr(1), as_expr(0)), turner(-half, root), turner(-half, -root)]


def delta(unit: Any = 1) -> tm.Mechanism:
    """Three arms with parallelograms made of revolutes."""
    d = Drawing("delta", unit)
    for k, w in enumerate(third_turns(), 1):
        axis, normal = w(Y), w((8, 0, -5))
        d.revolute(f"A{k}", "earth", f"arm{k}", w((4, 0, 0)), axis)
        d.revolute(f"E{k}", f"arm{k}", f"upper{k}", w((7, 0, -1)), axis)
        d.revolute(f"pa{k}", f"upper{k}", f"left{k}", w((7, 1, -1)), normal)
        d.revolute(f"pb{k}", f"upper{k}", f"right{k}", w((7, -1, -1)), normal)
        d.revolute(f"pc{k}", f"left{k}", f"lower{k}", w((2, 1, -9)), normal)
        d.revolute(f"pd{k}", f"right{k}", f"lower{k}", w((2, -1, -9)), normal)
        d.revolute(f"W{k}", f"lower{k}", "platform", w((2, 0, -9)), axis)
    return d.mechanism()


def jansen(unit: Any = 1) -> tm.Mechanism:
    """Theo Jansen's leg, in whole numbers near his."""
    d = Drawing("jansen", unit)
    crank, top, back, low, foot = (47, 20, 0), (2, 41, 0), (-40, 3, 0), (-4, -39, 0), (-37, -34, 0)
    d.revolute("O", "earth", "crank", (38, 8, 0))
    d.revolute("Cj", "crank", "j", crank)
    d.revolute("Ck", "crank", "k", crank)
    d.revolute("T1", "j", "upper", top)
    d.revolute("Bt", "earth", "upper", (0, 0, 0))
    d.revolute("Bc", "earth", "c", (0, 0, 0))
    d.revolute("T2", "upper", "f", back)
    d.revolute("Lkc", "k", "c", low)
    d.revolute("Lcg", "c", "leg", low)
    d.revolute("Ff", "f", "leg", foot)
    return d.mechanism()


def truss(name: str, nodes: Sequence[tuple[Any, Any]], sides: Sequence[tuple[int, int]], unit: Any = 1) -> tm.Mechanism:
    """Posts at nodes joined by folding sides: two bars, three parallel hinges across the side, the middle one raised."""
    d = Drawing(name, unit)
    post = ["earth", *(f"post{k}" for k in range(1, len(nodes)))]
    for i, j in sides:
        (xi, yi), (xj, yj) = nodes[i], nodes[j]
        axis = (yi - yj, xj - xi, 0)
        side = f"s{i}_{j}"
        d.revolute(f"{side}a", post[i], f"{side}p", (xi, yi, 0), axis)
        d.revolute(f"{side}m", f"{side}p", f"{side}q", ((xi + xj) / 2, (yi + yj) / 2, 1), axis)
        d.revolute(f"{side}b", f"{side}q", post[j], (xj, yj, 0), axis)
    return d.mechanism()


def antenna_strip(meshes: int, unit: Any = 1) -> tm.Mechanism:
    """A strip of triangular antenna meshes of nine hinges each; neighbours share a side."""
    root = s.sqrt(as_expr(3))
    nodes = [(as_expr(k), root if k % 2 else as_expr(0)) for k in range(meshes + 2)]
    sides = [(0, 1)] + [side for t in range(meshes) for side in ((t, t + 2), (t + 1, t + 2))]
    return truss(f"antenna_strip_{meshes}", nodes, sides, unit)


def antenna_grid(width: int, height: int, unit: Any = 1) -> tm.Mechanism:
    """2 * width * height triangular meshes in a grid."""
    root = s.sqrt(as_expr(3))

    def number(i: int, j: int) -> int:
        return i * (height + 1) + j

    nodes, sides = [], []
    for i in range(width + 1):
        for j in range(height + 1):
            nodes.append((as_expr(2 * i + j), root * j))
            sides += [(number(i, j), number(i + 1, j))] if i < width else []
            sides += [(number(i, j), number(i, j + 1))] if j < height else []
            sides += [(number(i + 1, j), number(i, j + 1))] if i < width and j < height else []
    return truss(f"antenna_grid_{width}x{height}", nodes, sides, unit)


def simplest(unit: Any = 1) -> tm.Mechanism:
    """Seed 004: a chain of three bars closed on itself, free in the plane: x, y, a1, a2, a3."""
    d = Drawing("simplest", unit)
    first = d.frame("bar1", (0, 0, 0))
    d.joints.append(tm.planar("float", tm.EARTH, first, "x", "y", "a1"))
    d.revolute("P", "bar1", "bar2", (3, 0, 0))
    d.revolute("Q", "bar2", "bar3", (1, 2, 0))
    d.revolute("R", "bar3", "bar1", (0, 0, 0))
    return d.mechanism()


def saliere(unit: Any = 1) -> tm.Mechanism:
    """Seed 004: the fold of a paper salt-cellar. Closure cos a2 = cos a3, sin a1 sin a2 = 0, cos a1 sin a2 = sin a3."""
    length = as_expr(unit)
    bodies = [tm.body(n, mass=1, centre=(0, 0, 0), inertia=0) for n in ("fold", "left", "right")]
    fold, left, right = bodies
    joints = [
        tm.revolute("crease", tm.EARTH, fold, "a1", X),
        tm.revolute("left_hinge", fold, left, "a2", (0, -1, 0)),
        tm.revolute("right_hinge", tm.EARTH, right, "a3", (0, -1, 0)),
        tm.spherical("tip", left.at((length, 0, 0)), right.at((length, 0, 0)), "t1", "t2", "t3"),
    ]
    return tm.Mechanism("saliere", bodies=bodies, joints=joints)


def constant_velocity(unit: Any = 1) -> tm.Mechanism:
    """Seed 004: coaxial shafts joined by a rod on two crosses; alpha1, beta2, gamma2, alpha4, z."""
    length = as_expr(unit)
    bodies = [tm.body(n, mass=1, centre=(0, 0, 0), inertia=0) for n in ("input", "rod", "output")]
    shaft, rod, output = bodies
    joints = [
        tm.revolute("in", tm.EARTH, shaft, "alpha1"),
        tm.universal("cross1", shaft, rod, "beta2", "gamma2", Y, (-1, 0, 0)),
        tm.cylindrical("out", tm.EARTH, output, "alpha4", "z"),
        tm.universal("cross2", rod.at((0, 0, length)), output, "c1", "c2", X, Y),
    ]
    return tm.Mechanism("constant_velocity", bodies=bodies, joints=joints, initial={"z": length})
