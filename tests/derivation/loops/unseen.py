"""Mechanisms nobody tuned the doctor on, with their mobility from the literature or by construction."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction as F
from typing import Any

import numpy as np

import torseur.description.mechanism as tm
from derivation.loops import curious as c
from derivation.loops.mechanisms import Drawing, X, Y, Z, third_turns
from torseur.algebra.graph import PI, as_expr, symbol
from torseur.algebra.graph import scalar as s
from torseur.description.mechanism.constraints import gear

HALF = PI / 2


def twisted(name: str, lengths: Sequence[Any], twists: Sequence[Any], offsets: Sequence[Any]) -> tm.Mechanism:
    """A loop of hinges about z, each followed by an offset along z, a link along x and a twist about x."""
    count = len(lengths)
    names = ["earth", *(f"b{k}" for k in range(1, count))]
    bodies = [tm.body(n, mass=1, centre=(0, 0, 0), inertia=0) for n in names[1:]]
    joints = []
    for k in range(count):
        motions = [tm.rotation(Z, symbol(f"q{k + 1}", "rad")), tm.translation(Z, as_expr(offsets[k])),
                   tm.translation(X, as_expr(lengths[k])), tm.rotation(X, as_expr(twists[k]))]  # fmt: skip
        ends = tm.Frame(names[k]), tm.Frame(names[(k + 1) % count])
        joints.append(tm.sequence(f"R{k + 1}", *ends, [tm.Coordinate(f"q{k + 1}")], motions))
    return tm.Mechanism(name, bodies=bodies, joints=joints)


def slide(d: Drawing, name: str, parent: str, child: str, point: Sequence[Any], axis: Sequence[Any]) -> None:
    d.joints.append(tm.prismatic(name, d.frame(parent, point), d.frame(child, point), f"q_{name}", axis))


def schatz() -> tm.Mechanism:
    """The turbula mixer (Schatz 1971)."""
    half = F(1, 2)
    return twisted("schatz", (0, 1, 1, 1, 0, s.sqrt(as_expr(3))), (HALF,) * 5 + (0,), (half, 0, 0, 0, 0, -half))


def line_symmetric_bricard() -> tm.Mechanism:
    return twisted("line", (1, 2, F(3, 2)) * 2, (F(1, 2), F(4, 5), F(6, 5)) * 2, (F(1, 4), F(1, 3), F(1, 10)) * 2)


def trihedral_bricard() -> tm.Mechanism:
    """a² + c² + e² = b² + d² + f² with right angles between neighbours."""
    return twisted("trihedral", (1, 2, 3, 2, 2, s.sqrt(as_expr(6))), (HALF, -HALF) * 3, (0,) * 6)


def myard() -> tm.Mechanism:
    """Myard's plane-symmetric five hinges: two mirrored Bennett loops."""
    twist = PI / 5
    long = as_expr(2)
    short = long * s.sin(twist)
    return twisted("myard", (short, long, 0, long, short), (twist, HALF, PI - 2 * twist, HALF, PI - twist), (0,) * 5)


def planar_3rrr() -> tm.Mechanism:
    d = Drawing("planar_3rrr")
    legs = (((0, 0), (1, 2), (3, 2)), ((8, 0), (9, 3), (6, 2)), ((4, 8), (2, 7), (4, 5)))
    for k, (low, knee, high) in enumerate(legs, 1):
        d.revolute(f"A{k}", "earth", f"u{k}", (*low, 0))
        d.revolute(f"B{k}", f"u{k}", f"l{k}", (*knee, 0))
        d.revolute(f"C{k}", f"l{k}", "plate", (*high, 0))
    return d.mechanism()


def helices(*pitches: Any, points: Sequence[Sequence[Any]] = ((0, 0), (1, 2), (4, 3), (5, 0))) -> tm.Mechanism:
    """A four-bar of screws with parallel axes."""
    d = Drawing("helices")
    bodies = ["earth", "b1", "b2", "b3", "earth"]
    for k, (pitch, point) in enumerate(zip(pitches, points, strict=True)):
        ends = d.frame(bodies[k], (*point, 0)), d.frame(bodies[k + 1], (*point, 0))
        d.joints.append(tm.helical("ABCD"[k], *ends, f"q{k}", pitch, Z))
    return d.mechanism()


def equal_helices() -> tm.Mechanism:
    """Equal pitches: the heights add up to the sum of the angles, which is nothing."""
    return helices(*(F(1, 10),) * 4)


def unequal_helices() -> tm.Mechanism:
    return helices(F(1, 10), F(1, 5), F(1, 10), F(-1, 10))


def one_helix() -> tm.Mechanism:
    """A four-bar with one hinge replaced by a screw: its height stops it."""
    return helices(0, 0, 0, F(1, 10))


def delassus() -> tm.Mechanism:
    """A parallelogram of screws with pitches in neighbouring pairs: angles of opposite sign cancel (Delassus)."""
    return helices(F(1, 10), F(1, 10), F(1, 5), F(1, 5), points=((0, 0), (1, 2), (5, 2), (4, 0)))


def delassus_wrong() -> tm.Mechanism:
    """The same pitches in opposite pairs do not cancel."""
    return helices(F(1, 10), F(1, 5), F(1, 10), F(1, 5), points=((0, 0), (1, 2), (5, 2), (4, 0)))


def peaucellier() -> tm.Mechanism:
    d = Drawing("peaucellier")
    far, near, upper, lower = (6, 0, 0), (4, 0, 0), (5, 2, 0), (5, -2, 0)
    for name, ends, point in (("Oa", ("earth", "oa"), (0, 0, 0)), ("Ob", ("earth", "ob"), (0, 0, 0)),
                              ("Q", ("earth", "crank"), (2, 0, 0)), ("P1", ("crank", "pa"), near),
                              ("P2", ("crank", "pb"), near), ("A1", ("oa", "pa"), upper), ("A2", ("oa", "ra"), upper),
                              ("B1", ("ob", "pb"), lower), ("B2", ("ob", "rb"), lower), ("R", ("ra", "rb"), far)):  # fmt: skip
        d.revolute(name, *ends, point)
    return d.mechanism()


def guided_peaucellier(direction: Sequence[int] = Y) -> tm.Mechanism:
    """Its point on a guide along the line that it draws anyway."""
    drawn = peaucellier()
    d = Drawing("guided")
    d.bodies, d.joints = {b.name: b for b in drawn.bodies}, list(drawn.joints)
    d.revolute("S", "ra", "shoe", (6, 0, 0))
    slide(d, "guide", "shoe", "earth", (6, 0, 0), direction)
    return d.mechanism()


def misguided_peaucellier() -> tm.Mechanism:
    return guided_peaucellier((1, 3, 0))


def cardan_shafts() -> tm.Mechanism:
    """Parallel shafts and a shaft between them on two crosses, forks in one plane: turns evenly."""
    d = Drawing("cardan_shafts")
    d.revolute("in", "earth", "s1", (0, 0, 0), X)
    d.universal("U1", "s1", "mid", (1, 0, 0), Y, Z)
    d.universal("U2", "mid", "s2", (4, 1, 0), Z, Y)
    d.revolute("out", "s2", "earth", (4, 1, 0), X)
    return d.mechanism()


def skew_cardan_shafts() -> tm.Mechanism:
    """Skew shafts without a sliding part: stuck."""
    d = Drawing("skew_cardan_shafts")
    d.revolute("in", "earth", "s1", (0, 0, 0), X)
    d.universal("U1", "s1", "mid", (1, 0, 0), Y, Z)
    d.universal("U2", "mid", "s2", (4, 1, 0), (0, 1, 1), (1, 1, -1))
    d.revolute("out", "s2", "earth", (4, 1, 2), (1, 2, 2))
    return d.mechanism()


def agile_eye() -> tm.Mechanism:
    """Gosselin's spherical 3-RRR."""
    d = Drawing("agile_eye")
    for k, axes in enumerate(((X, Y, Z), (Y, Z, X), (Z, X, Y)), 1):
        for letter, ends, axis in zip(
            "ABC", (("earth", f"u{k}"), (f"u{k}", f"l{k}"), (f"l{k}", "eye")), axes, strict=True
        ):
            d.revolute(f"{letter}{k}", *ends, (0, 0, 0), axis)
    return d.mechanism()


def wedges() -> tm.Mechanism:
    d = Drawing("wedges")
    for name, ends, axis in (("a", ("earth", "w1"), X), ("b", ("w1", "w2"), (2, 1, 0)), ("c", ("w2", "earth"), Y)):
        d.prismatic(name, *ends, axis)
    return d.mechanism()


def skew_slides() -> tm.Mechanism:
    d = Drawing("skew_slides")
    for name, ends, axis in (
        ("a", ("earth", "w1"), X),
        ("b", ("w1", "w2"), (2, 1, 0)),
        ("c", ("w2", "earth"), (0, 1, 1)),
    ):
        d.prismatic(name, *ends, axis)
    return d.mechanism()


def trammel(middle: Sequence[Any] = (F(3, 2), 2, 0)) -> tm.Mechanism:
    """An ellipse trammel whose middle is also on a crank, which it follows anyway (Cardan's circles)."""
    d = Drawing("trammel")
    slide(d, "sx", "earth", "a", (3, 0, 0), X)
    d.revolute("A", "a", "bar", (3, 0, 0))
    d.revolute("B", "bar", "b", (0, 4, 0))
    slide(d, "sy", "b", "earth", (0, 4, 0), Y)
    d.revolute("O", "earth", "crank", (0, 0, 0))
    d.revolute("M", "crank", "bar", middle)
    return d.mechanism()


def stuck_trammel() -> tm.Mechanism:
    return trammel((1, F(8, 3), 0))


def door(low: Sequence[Any] = (0, 0, 0), high: Sequence[Any] = (0, 0, 2)) -> tm.Mechanism:
    d = Drawing("door")
    d.revolute("low", "earth", "leaf", low)
    d.revolute("high", "earth", "leaf", high)
    return d.mechanism()


def jammed_door() -> tm.Mechanism:
    return door(high=(1, 0, 2))


def threefold_sarrus() -> tm.Mechanism:
    d = Drawing("threefold_sarrus")
    for k, turn in enumerate(third_turns(), 1):
        axis = turn(Y)
        d.revolute(f"a{k}", "earth", f"p{k}", turn((2, 0, 0)), axis)
        d.revolute(f"b{k}", f"p{k}", f"r{k}", turn((4, 0, 3)), axis)
        d.revolute(f"c{k}", f"r{k}", "top", turn((2, 0, 6)), axis)
    return d.mechanism()


def miura_vertex() -> tm.Mechanism:
    """Four creases of a sheet of paper that meet in a point, flat: two ways to fold it."""
    root = s.sqrt(as_expr(3)) / 2
    return c.hinges("miura_vertex", ((0, 0, 0),) * 4, (X, (F(1, 2), root, 0), (-1, 0, 0), (F(1, 2), -root, 0)))


def waterbomb() -> tm.Mechanism:
    """Six creases that meet in a point, flat."""
    return c.hinges("waterbomb", ((0, 0, 0),) * 6, (X, (1, 1, 0), (-1, 1, 0), (-1, 0, 0), (-1, -1, 0), (1, -1, 0)))


def sheet(rows: int, columns: int, fold: float) -> tm.Mechanism:
    """A Miura sheet: facets joined by hinges, folded by an angle; flat at zero."""
    tangent, sine = np.tan(1.0), np.sin(1.0)
    width = np.cos(fold) * tangent / np.sqrt(1 + (np.cos(fold) * tangent) ** 2)
    shift, depth = 1 / np.sqrt(1 + (np.cos(fold) * tangent) ** 2), np.sqrt(1 - (np.sin(fold) * sine) ** 2)
    d = Drawing(f"sheet_{rows}x{columns}")

    def corner(i: int, j: int) -> Any:
        return np.array([i * width, j * depth + (i % 2) * shift, (j % 2) * np.sin(fold) * sine])

    def facet(i: int, j: int) -> str:
        return "earth" if i == j == 0 else f"f{i}_{j}"

    for i in range(rows):
        for j in range(columns):
            for (k, m), ends in (
                ((i + 1, j), ((i + 1, j), (i + 1, j + 1))),
                ((i, j + 1), ((i, j + 1), (i + 1, j + 1))),
            ):
                if k < rows and m < columns:
                    first, second = (corner(*end) for end in ends)
                    axis = (second - first) / np.linalg.norm(second - first)
                    d.revolute(
                        f"h{i}_{j}_{k}_{m}", facet(i, j), facet(k, m), tuple(map(float, first)), tuple(map(float, axis))
                    )
    return d.mechanism()


def folded_sheet() -> tm.Mechanism:
    return sheet(3, 3, 0.5)


def flat_sheet() -> tm.Mechanism:
    """Flat, its two straight creases fold one after the other or together: a branch of dimension two."""
    return sheet(3, 3, 0.0)


def octahedron(points: dict[str, Sequence[int]]) -> tm.Mechanism:
    d = Drawing("octahedron")
    for k, (name, place) in enumerate(points.items()):
        coordinates = [tm.Coordinate(f"{axis}{k}", "m") for axis in "xyz"]
        motions = [tm.translation(axis, q.symbol) for axis, q in zip((X, Y, Z), coordinates, strict=True)]
        ends = d.frame("earth", place), d.frame(name, (0, 0, 0))
        d.joints.append(tm.sequence(f"at_{name}", *ends, coordinates, motions))
    names = list(points)
    pairs = [(first, second) for k, first in enumerate(names) for m, second in enumerate(names[:k]) if k // 2 != m // 2]
    for first, second in pairs:
        square = sum((as_expr(a) - as_expr(b)) ** 2 for a, b in zip(points[first], points[second], strict=True))
        ends = tm.Frame(first), tm.Frame(second)
        d.constraints.append(tm.Distance(first + second, *ends, s.sqrt(as_expr(square))))
    return d.mechanism()


def flexible_octahedron() -> tm.Mechanism:
    """Bricard's line-symmetric octahedron: one motion besides the six of a body."""
    return octahedron(
        {"A": (1, 2, 0), "a": (-1, -2, 0), "B": (3, -1, 1), "b": (-3, 1, 1), "C": (1, 1, 3), "c": (-1, -1, 3)}
    )


def rigid_octahedron() -> tm.Mechanism:
    return octahedron(
        {"A": (1, 2, 0), "a": (-1, -2, 0), "B": (3, -1, 1), "b": (-3, 1, 1), "C": (1, 1, 3), "c": (-1, -2, 3)}
    )


def cartesian_parallel() -> tm.Mechanism:
    """Kim and Tsai's 3-PRRR: three translations, overconstrained."""
    d = Drawing("cartesian_parallel")
    knees = (((0, 3, 0), (0, 4, 2), (0, 1, 3)), ((3, 0, 0), (4, 0, 2), (1, 0, 3)), ((3, 0, 0), (4, 2, 0), (1, 3, 0)))
    for k, (axis, points) in enumerate(zip((X, Y, Z), knees, strict=True), 1):
        d.prismatic(f"P{k}", "earth", f"s{k}", axis)
        chain = (f"s{k}", f"u{k}", f"l{k}", "platform")
        for letter, parent, child, point in zip("ABC", chain, chain[1:], points, strict=False):
            d.revolute(f"{letter}{k}", parent, child, point, axis)
    return d.mechanism()


def double_watt(length: int = 3) -> tm.Mechanism:
    """Two Watt linkages whose middles are joined by a bar: the motion starts with a cusp (Connelly and Servatius 1994)."""
    d = Drawing("double_watt")
    half = F(1, 2)
    for name, x, arm in (("p", 0, 2), ("r", 6, length)):
        d.revolute(f"{name}A", "earth", f"{name}a", (x - arm, half, 0))
        d.revolute(f"{name}B", f"{name}a", f"{name}c", (x, half, 0))
        d.revolute(f"{name}C", f"{name}c", f"{name}b", (x, -half, 0))
        d.revolute(f"{name}D", f"{name}b", "earth", (x + arm, -half, 0))
    d.revolute("E", "pc", "bar", (0, 0, 0))
    d.revolute("G", "bar", "rc", (6, 0, 0))
    return d.mechanism()


def scissor_ring(stretch: float = 0.0) -> tm.Mechanism:
    """Hoberman's ring of six angulated pairs; without equal arms it is stuck."""
    d = Drawing("scissor_ring")
    angle, middle = np.pi / 3, 2.0
    inner, outer = (middle * np.cos(angle / 2) + step for step in (-0.5, 0.5 + stretch))

    def at(radius: float, turn: float) -> tuple[float, float, int]:
        return float(radius * np.cos(turn)), float(radius * np.sin(turn)), 0

    def bar(letter: str, i: int) -> str:
        return "earth" if (letter, i) == ("A", 0) else f"{letter}{i}"

    for i in range(6):
        j = (i + 1) % 6
        d.revolute(f"m{i}", bar("A", i), bar("B", i), at(middle, i * angle))
        d.revolute(f"in{i}", bar("A", i), bar("B", j), at(inner, (i + 0.5) * angle))
        d.revolute(f"out{i}", bar("B", i), bar("A", j), at(outer, (i + 0.5) * angle))
    return d.mechanism()


def stuck_scissor_ring() -> tm.Mechanism:
    return scissor_ring(0.3)


def desargues() -> tm.Mechanism:
    """Two triangles joined by three bars whose lines meet: shaky."""
    points = {"a": (1, 0), "b": (0, 1), "c": (-1, -1), "p": (2, 0), "q": (0, 3), "r": (-3, -3)}
    bars = [("a", "b"), ("b", "c"), ("a", "c"), ("p", "q"), ("q", "r"), ("p", "r"), ("a", "p"), ("b", "q"), ("c", "r")]
    return c.points_and_bars("desargues", points, bars)


def geared_five_bar() -> tm.Mechanism:
    """A five-bar whose two cranks are geared together."""
    plain = c.five_bar()
    q = [joint.coordinates[0] for joint in plain.joints]
    return tm.Mechanism("geared", bodies=plain.bodies, joints=plain.joints, constraints=[gear("mesh", q[0], q[4], -1)])


def swinging_slide() -> tm.Mechanism:
    """Two hinges in one place and two slides along one line: it slides, or it turns, not both."""
    d = Drawing("swinging_slide")
    d.revolute("A", "earth", "a", (0, 0, 0))
    slide(d, "s1", "a", "b", (0, 0, 0), X)
    d.revolute("B", "b", "e", (0, 0, 0))
    slide(d, "s2", "e", "earth", (0, 0, 0), X)
    return d.mechanism()


def four_cylinders() -> tm.Mechanism:
    d = Drawing("four_cylinders")
    points, axes = ((0, 0, 0), (1, 2, 0), (4, 3, 1), (5, 0, 2)), (Z, (1, 0, 1), (0, 1, 2), (1, 1, 1))
    bodies = ["earth", "b1", "b2", "b3", "earth"]
    for k, (point, axis) in enumerate(zip(points, axes, strict=True)):
        ends = d.frame(bodies[k], point), d.frame(bodies[k + 1], point)
        d.joints.append(tm.cylindrical(f"C{k}", *ends, f"t{k}", f"z{k}", axis))
    return d.mechanism()


def random_loop(seed: int) -> tuple[tm.Mechanism, int]:
    """A loop of joints of many kinds in general position, and the number of their freedoms."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 9))
    d, freedoms, kinds = Drawing(f"random_{seed}"), 0, [""]
    bodies = ["earth", *(f"b{k}" for k in range(1, count)), "earth"]
    for k in range(count):
        point, axis, other = (tuple(map(float, rng.normal(size=3))) for _ in range(3))
        kind = str(rng.choice(list("RRRPSUCH")))
        # More than two slides, or a rod between two balls, would have motions of their own.
        kind = "R" if (kind == "P" and kinds.count("P") >= 2) or kind == kinds[-1] == "S" else kind
        ends = d.frame(bodies[k], point), d.frame(bodies[k + 1], point)
        names = [f"{letter}{k}" for letter in "uvw"]
        d.joints.append({
            "R": lambda k=k, e=ends, n=names, a=axis: tm.revolute(f"J{k}", *e, n[0], a),
            "P": lambda k=k, e=ends, n=names, a=axis: tm.prismatic(f"J{k}", *e, n[0], a),
            "H": lambda k=k, e=ends, n=names, a=axis: tm.helical(f"J{k}", *e, n[0], F(1, 5), a),
            "C": lambda k=k, e=ends, n=names, a=axis: tm.cylindrical(f"J{k}", *e, n[0], n[1], a),
            "U": lambda k=k, e=ends, n=names, a=axis, b=other: tm.universal(f"J{k}", *e, n[0], n[1], a, b),
            "S": lambda k=k, e=ends, n=names: tm.spherical(f"J{k}", *e, *n),
        }[kind]())  # fmt: skip
        kinds.append(kind)
        freedoms += {"C": 2, "U": 2, "S": 3}.get(kind, 1)
    return d.mechanism(), freedoms
