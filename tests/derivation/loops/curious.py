"""Mechanisms whose mobility is not what counting says, with the mobility known from the literature or by construction."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import torseur.description.mechanism as tm
from derivation.loops.mechanisms import Drawing, X, Y, Z, dh_loop
from torseur.algebra.graph import as_expr
from torseur.algebra.graph import scalar as s


def rssr() -> tm.Mechanism:
    """Two cranks and a rod on two balls: one motion, and the rod may spin."""
    d = Drawing("rssr")
    d.revolute("A", "earth", "crank", (0, 0, 0), Z)
    d.spherical("B", "crank", "rod", (1, 0, 0))
    d.spherical("C", "rod", "rocker", (3, 2, 2))
    d.revolute("D", "rocker", "earth", (3, 0, 2), X)
    return d.mechanism()


def hinges(name: str, points: Sequence[Sequence[Any]], axes: Sequence[Sequence[Any]]) -> tm.Mechanism:
    """A single loop of revolutes."""
    d = Drawing(name)
    bodies = ["earth", *(f"b{k}" for k in range(1, len(points))), "earth"]
    for k, (point, axis) in enumerate(zip(points, axes, strict=True)):
        d.revolute(f"R{k + 1}", bodies[k], bodies[k + 1], point, axis)
    return d.mechanism()


POINTS = ((0, 0, 0), (1, 0, Fraction(1, 3)), (2, 1, 0), (2, 3, 1), (1, 4, 2), (-1, 3, 1), (-2, 1, Fraction(1, 2)))
AXES = ((0, 0, 1), (1, 2, 0), (0, 1, 3), (2, -1, 1), (1, 1, 1), (-1, 0, 2), (1, -3, 1))


def six_hinges() -> tm.Mechanism:
    """Six hinges anywhere: rigid."""
    return hinges("six_hinges", POINTS[:6], AXES[:6])


def seven_hinges() -> tm.Mechanism:
    return hinges("seven_hinges", POINTS, AXES)


def spherical_four_bar() -> tm.Mechanism:
    """Four hinges through one point."""
    return hinges("spherical_four_bar", ((0, 0, 0),) * 4, ((1, 0, 0), (0, 0, 1), (-4, 3, 0), (3, 4, 0)))


def spherical_five_bar() -> tm.Mechanism:
    return hinges("spherical_five_bar", ((0, 0, 0),) * 5, AXES[:5])


def five_bar() -> tm.Mechanism:
    return hinges("five_bar", ((0, 0, 0), (0, 2, 0), (2, 3, 0), (4, 2, 0), (4, 0, 0)), (Z,) * 5)


def goldberg() -> tm.Mechanism:
    """Goldberg's five hinges: two Bennett loops with length / sin(twist) = 5 share a link, which is then taken out."""
    half = Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)
    a, b, c = 4, 3, Fraction(40, 17)
    joined = (half[0] + half[2]) / (1 - half[0] * half[2])
    return dh_loop("goldberg", (a, b, a + c, b, c), (half[0], half[1], joined, half[1], half[2]))


def dead_bars(name: str, low: Sequence[Sequence[Any]], high: Sequence[Sequence[Any]]) -> tm.Mechanism:
    """A plate in the plane held to the earth by rigid bars between points."""
    d = Drawing(name)
    d.frame("plate", (0, 0, 0))
    d.joints.append(tm.planar("slide", tm.EARTH, tm.Frame("plate"), "x", "y", "a"))
    for k, (p, q) in enumerate(zip(low, high, strict=True), 1):
        a, b = (*p, 0), (*q, 0)
        length = s.sqrt(as_expr(sum((as_expr(v) - as_expr(u)) ** 2 for u, v in zip(a, b, strict=True))))
        d.constraints.append(tm.Distance(f"bar{k}", d.frame("earth", a), d.frame("plate", b), length))
    return d.mechanism()


def three_bars() -> tm.Mechanism:
    """Bars in general position: rigid."""
    return dead_bars("three_bars", ((0, 0), (4, 0), (2, -3)), ((0, 2), (5, 2), (2, 1)))


def concurrent_bars() -> tm.Mechanism:
    """Bars whose lines meet in (0, 5): an infinitesimal rotation about it, and no motion."""
    return dead_bars("concurrent_bars", ((0, 0), (4, 1), (-3, 2)), ((0, 2), (2, 3), (Fraction(-6, 5), Fraction(19, 5))))


def parallel_bars() -> tm.Mechanism:
    """Three equal parallel bars: a translation along a circle."""
    return dead_bars("parallel_bars", ((0, 0), (4, 0), (2, -3)), ((1, 2), (5, 2), (3, -1)))


def points_and_bars(name: str, points: dict[str, Sequence[Any]], bars: Sequence[tuple[str, str]]) -> tm.Mechanism:
    """Points free in the plane joined by bars of the lengths drawn."""
    d = Drawing(name)
    for k, (point, place) in enumerate(points.items()):
        coordinates = [tm.Coordinate(f"{c}{k}", "m") for c in "xy"]
        motions = [tm.translation(axis, c.symbol) for axis, c in zip((X, Y), coordinates, strict=True)]
        d.joints.append(
            tm.sequence(f"at_{point}", d.frame("earth", (*place, 0)), d.frame(point, (0, 0, 0)), coordinates, motions)
        )
    for p, q in bars:
        square = sum((as_expr(a) - as_expr(b)) ** 2 for a, b in zip(points[p], points[q], strict=True))
        d.constraints.append(tm.Distance(f"{p}{q}", tm.Frame(p), tm.Frame(q), s.sqrt(as_expr(square))))
    return d.mechanism()


def dixon() -> tm.Mechanism:
    """Dixon's first mechanism: K(3,3) with its points on two orthogonal lines moves (three motions are rigid)."""
    points = {"a": (1, 0), "b": (2, 0), "c": (-3, 0), "p": (0, 1), "q": (0, 3), "r": (0, -2)}
    return points_and_bars("dixon", points, [(u, v) for u in "abc" for v in "pqr"])


def k33() -> tm.Mechanism:
    """K(3,3) anywhere: rigid but for the three motions of the whole."""
    points = {"a": (1, 0), "b": (2, 1), "c": (-3, 0), "p": (0, 1), "q": (1, 3), "r": (0, -2)}
    return points_and_bars("k33", points, [(u, v) for u in "abc" for v in "pqr"])


def k33_on_circle() -> tm.Mechanism:
    """K(3,3) with its points on a circle: an infinitesimal motion that leads nowhere."""

    def on(t: Any) -> tuple[Any, Any]:
        t = Fraction(t)
        return (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)

    spots = (0, Fraction(1, 2), 2, Fraction(-1, 3), -3, Fraction(-3, 2))
    points = dict(zip("apbqcr", (on(t) for t in spots), strict=True))
    return points_and_bars("k33_on_circle", points, [(u, v) for u in "abc" for v in "pqr"])


def legs(name: str, base: Sequence[Sequence[Any]], top: Sequence[Sequence[Any]]) -> tm.Mechanism:
    """A free body held by six rigid legs between points."""
    d = Drawing(name)
    d.frame("platform", (0, 0, 0))
    names = ("x", "y", "z", "psi", "theta", "phi")
    d.joints.append(tm.free("float", tm.EARTH, tm.Frame("platform"), *names, angles="xyz"))
    for k, (a, b) in enumerate(zip(base, top, strict=True), 1):
        length = s.sqrt(as_expr(sum((as_expr(v) - as_expr(u)) ** 2 for u, v in zip(a, b, strict=True))))
        d.constraints.append(tm.Distance(f"leg{k}", d.frame("earth", a), d.frame("platform", b), length))
    return d.mechanism()


BASE = ((10, 1, 0), (10, -1, 0), (-4, -9, 0), (-6, -8, 0), (-6, 8, 0), (-4, 9, 1))
TOP = ((3, 5, 8), (3, -5, 8), (2, -5, 8), (-6, -1, 8), (-6, 1, 8), (2, 5, 7))


def hexapod() -> tm.Mechanism:
    """Six legs in general position: rigid."""
    return legs("hexapod", BASE, TOP)


def parallel_hexapod() -> tm.Mechanism:
    """Six equal parallel legs: the platform translates on a sphere."""
    return legs("parallel_hexapod", BASE, [(x + 1, y + 2, z + 5) for x, y, z in BASE])


def concurrent_hexapod() -> tm.Mechanism:
    """Platform and base similar and parallel, corners joined: all legs meet in a point, about which it may turn a little."""
    flat = ((10, 1, 0), (7, -6, 0), (-4, -9, 0), (-9, -3, 0), (-6, 8, 0), (3, 9, 0))
    half = [(Fraction(x, 2) + Fraction(1, 3), Fraction(y, 2), 6) for x, y, _ in flat]
    return legs("concurrent_hexapod", flat, half)


def conic_hexapod() -> tm.Mechanism:
    """Base corners on a circle, platform similar to it, tilted: singular by its dimensions (Karger), so it moves."""
    corners = [(8 * (1 - t * t) / (1 + t * t), 16 * t / (1 + t * t), Fraction(0)) for t in
               (Fraction(0), Fraction(1, 2), Fraction(2), Fraction(-1, 3), Fraction(-3), Fraction(-3, 2))]  # fmt: skip
    w, x, y, z = (Fraction(v) for v in (10, 2, 3, 1))
    n = w * w + x * x + y * y + z * z
    rows = ((w * w + x * x - y * y - z * z, 2 * (x * y - w * z)), (2 * (x * y + w * z), w * w - x * x + y * y - z * z),
            (2 * (x * z - w * y), 2 * (y * z + w * x)))  # fmt: skip
    top = [
        tuple((r[0] * p[0] + r[1] * p[1]) / n / 2 + o for r, o in zip(rows, (1, 2, 7), strict=True)) for p in corners
    ]
    return legs("conic_hexapod", corners, top)


def scissors(count: int = 3) -> tm.Mechanism:
    """A lift of crossed bars: one motion, many redundant constraints."""
    d = Drawing("scissors")
    for k in range(count):
        low, high = 2 * k, 2 * k + 2
        d.revolute(f"m{k}", f"l{k}", f"r{k}", (1, low + 1, 0))
        if k == 0:
            d.revolute("foot", "earth", "l0", (0, 0, 0))
            d.revolute("heel", "r0", "shoe", (2, 0, 0))
            d.prismatic("slide", "earth", "shoe", X)
        if k < count - 1:
            d.revolute(f"a{k}", f"l{k}", f"r{k + 1}", (2, high, 0))
            d.revolute(f"b{k}", f"r{k}", f"l{k + 1}", (0, high, 0))
    return d.mechanism()


def oldham() -> tm.Mechanism:
    """Two shafts with parallel axes and a disc sliding in crossed slots."""
    d = Drawing("oldham")
    d.revolute("in", "earth", "input", (0, 0, 0))
    d.prismatic("slot1", "input", "disc", X)
    d.prismatic("slot2", "disc", "output", Y)
    d.revolute("out", "output", "earth", (1, 1, 0))
    return d.mechanism()


def rhombus() -> tm.Mechanism:
    """All sides equal, stretched flat: it opens, or one side turns about the hinge it lies on."""
    from derivation.loops.mechanisms import four_bar

    return four_bar(((0, 0), (1, 0), (2, 0), (1, 0)), "rhombus")


def flat_parallelogram_with_bar() -> tm.Mechanism:
    d = Drawing("flat_parallelogram_with_bar")
    d.revolute("A", "earth", "crank", (0, 0, 0))
    d.revolute("B", "crank", "coupler", (1, 0, 0))
    d.revolute("C", "coupler", "rocker", (5, 0, 0))
    d.revolute("D", "rocker", "earth", (4, 0, 0))
    d.revolute("E", "earth", "bar", (2, 0, 0))
    d.revolute("G", "bar", "coupler", (3, 0, 0))
    return d.mechanism()


def wrong_bennett() -> tm.Mechanism:
    """Bennett's shape with one length off by a thousandth: it cannot close, or not move."""
    return dh_loop("wrong_bennett", (4, 3, Fraction(4001, 1000), 3), (Fraction(1, 2), Fraction(1, 3)) * 2)


def skew_four_bar() -> tm.Mechanism:
    """A four-bar with one axis tilted: rigid."""
    return hinges("skew_four_bar", ((0, 0, 0), (1, 2, 0), (4, 3, 0), (5, 0, 0)), (Z, Z, (0, Fraction(1, 10), 1), Z))


def screws() -> tm.Mechanism:
    """A differential screw: two coaxial screws of different pitch and a slide."""
    d = Drawing("screws")
    frames = d.frame("earth", (0, 0, 0)), d.frame("spindle", (0, 0, 0))
    d.joints.append(tm.helical("coarse", *frames, "u", Fraction(1, 10), X))
    d.joints.append(
        tm.helical("fine", d.frame("spindle", (0, 0, 0)), d.frame("jaw", (0, 0, 0)), "w", Fraction(3, 40), X)
    )
    d.prismatic("slide", "jaw", "earth", X)
    return d.mechanism()
