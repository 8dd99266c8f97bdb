"""Mobility of machines of the literature that stand in no library, from their texts.

Oracles: the number of degrees of freedom that their authors give, or the construction.
"""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts

X, Y, Z = np.eye(3)


def bodies(*names):
    return "".join(f"let {n} = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;\n" for n in names)


def vector(point):
    return "[" + ", ".join(f"{float(c):.17g}" for c in point) + "]"


def join(name, first, second, point, kind):
    return f"join {vector(point)} m @ {first} and {vector(point)} m @ {second} as {name} with {kind} end ;\n"


def turn(name, first, second, point, axis):
    return join(name, first, second, point, f"revolute(q_{name}) about {vector(axis)}")


def slide(name, first, second, point, axis):
    return join(name, first, second, point, f"prismatic(q_{name}) along {vector(axis)}")


def cross(name, first, second, point, axes):
    return join(
        name, first, second, point, f"universal(q_{name}, p_{name}) about {vector(axes[0])}, then {vector(axes[1])}"
    )


def ball(name, first, second, point):
    return join(name, first, second, point, f"spherical(q_{name}, p_{name}, r_{name})")


def about_z(angle):
    return np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])


def legs(count, parts, leg):
    """A plate on legs that stand around the z axis."""
    text = bodies("top", *(f"{part}{k}" for k in range(count) for part in parts))
    return text + "".join(leg(k, about_z(2 * np.pi * k / count)) for k in range(count))


def tripod():
    """The spider of a tripod joint: balls on three arms in three grooves; it plunges and tilts."""
    return legs(3, "sb", lambda k, turned: slide(f"Z{k}", "earth", f"s{k}", turned @ X, Z)
                + ball(f"S{k}", f"s{k}", f"b{k}", turned @ X)
                + slide(f"R{k}", f"b{k}", "top", turned @ X, turned @ X))  # fmt: skip


def rps():
    """Hunt (1983)."""

    def leg(k, turned):
        low, high = turned @ X, turned @ [0.6, 0, 1.5]
        return (turn(f"A{k}", "earth", f"l{k}", low, turned @ Y) + slide(f"P{k}", f"l{k}", f"m{k}", low, high - low)
                + ball(f"B{k}", f"m{k}", "top", high))  # fmt: skip

    return legs(3, "lm", leg)


def tricept():
    """Neumann (1988): three driven legs around one that only guides."""

    def leg(k, turned):
        low, high = turned @ X, turned @ [0.5, 0.1, 1.5]
        return (cross(f"A{k}", "earth", f"l{k}", low, (X, Y)) + slide(f"P{k}", f"l{k}", f"m{k}", low, high - low)
                + ball(f"B{k}", f"m{k}", "top", high))  # fmt: skip

    return legs(3, "lm", leg) + bodies("guide") + cross("C", "earth", "guide", (0, 0, 0), (X, Y)) + slide(
        "D", "guide", "top", (0, 0, 0), Z)  # fmt: skip


def exechon():
    """Neumann (2006): two UPR legs in a plane that turns, and an SPR leg."""
    text = bodies("top", *(f"{part}{k}" for k in range(3) for part in "lm"))
    for k, side in enumerate((1.0, -1.0)):
        low, high = np.array([side, 0, 0]), np.array([0.6 * side, 0, 2])
        text += cross(f"A{k}", "earth", f"l{k}", low, (X, Y)) + slide(f"P{k}", f"l{k}", f"m{k}", low, high - low)
        text += turn(f"B{k}", f"m{k}", "top", high, Y)
    low, high = np.array([0, 1.2, 0]), np.array([0, 0.7, 2])
    text += ball("A2", "earth", "l2", low) + slide("P2", "l2", "m2", low, high - low)
    return text + turn("B2", "m2", "top", high, X)


def quadrupteron():
    """Gosselin and others (2007), 4-PRRU: three translations and a turn about z."""

    def leg(k, turned):
        low, knee, high = (turned @ p for p in ([2, 0, 0], [1.7, 0.3, 0.8], [0.5, 0.2, 1.2]))
        along = turned @ Y
        return (slide(f"P{k}", "earth", f"a{k}", low, along) + turn(f"A{k}", f"a{k}", f"b{k}", low, along)
                + turn(f"B{k}", f"b{k}", f"c{k}", knee, along)
                + cross(f"C{k}", f"c{k}", "top", high, (along, Z)))  # fmt: skip

    return legs(4, "abc", leg)


def oblique_sarrus():
    """Sarrus' linkage whose planes meet at 60°."""

    def leg(k, turned):
        turned = about_z(np.pi / 3 * k)
        points = [turned @ p for p in ([1, 0, 0], [2, 0, 1], [1, 0, 2])]
        chain = zip("ABC", ("earth", f"a{k}", f"b{k}"), (f"a{k}", f"b{k}", "top"), points, strict=True)
        return "".join(turn(f"{n}{k}", first, second, p, turned @ Y) for n, first, second, p in chain)

    return legs(2, "ab", leg)


def orthoglide():
    """Wenger and Chablat (2000): three legs with a slide and a parallelogram of hinges."""
    text = bodies("top", *(f"{part}{k}" for part in "auvcd" for k in range(3)))
    for k in range(3):
        turned = np.roll(np.eye(3), k, axis=0).T
        axis, low, high = turned @ Y, turned @ [-1.5, 0.1, 0.15], turned @ [-0.3, 0.2, -0.05]
        across, aside = np.cross(axis, high - low), 0.1 * axis
        text += slide(f"A{k}", "earth", f"a{k}", low, turned @ X) + turn(f"E{k}", f"a{k}", f"c{k}", low, axis)
        for rod, side in (("u", aside), ("v", -aside)):
            text += turn(f"F{rod}{k}", f"c{k}", f"{rod}{k}", low + side, across)
            text += turn(f"H{rod}{k}", f"{rod}{k}", f"d{k}", high + side, across)
        text += turn(f"J{k}", f"d{k}", "top", high, axis)
    return text


def upr_rpu():
    """2-UPR-2-RPU, two rotations and a translation (Wang and others 2021)."""
    text = bodies("top", *(f"{part}{k}" for part in "lm" for k in range(4)))
    for k, side in enumerate((X, -X, Y, -Y)):
        low, high = side, np.array([0, 0, 1.5]) + side / 2
        crossed, turning = f"universal(q_{k}, p_{k}) about [1, 0, 0], then [0, 1, 0]", (Y if k < 2 else X)
        text += join(f"A{k}", "earth", f"l{k}", low, crossed) if k < 2 else turn(f"A{k}", "earth", f"l{k}", low, X)
        text += slide(f"P{k}", f"l{k}", f"m{k}", low, high - low)
        text += turn(f"B{k}", f"m{k}", "top", high, turning) if k < 2 else join(f"B{k}", f"m{k}", "top", high, crossed)
    return text


def omni_wrist(legs=4, turned=0.5):
    """Rosheim and Sauter (2002), Sone and others (2003): legs of four hinges that mirror each other at a plane between."""
    low, high = np.zeros(3), np.array([0, 0, 2 * np.cos(turned)])
    text = bodies("top", *(f"{part}{k}" for part in "abc" for k in range(legs)))
    for k in range(legs):
        about = about_z(2 * np.pi / legs * k)
        middle, start = about @ [1.3, -np.sin(turned), np.cos(turned)], about @ X
        axes = ((low, start), (middle, middle - low), (middle, middle - high), (high, start))
        ends = ["earth", f"a{k}", f"b{k}", f"c{k}", "top"]
        for name, first, second, (point, axis) in zip("ABCD", ends, ends[1:], axes, strict=False):
            text += turn(f"{name}{k}", first, second, point, axis)
    return text


def stretched_omni_wrist():
    """The same at its full height: every tilt shortens one leg's way and lengthens the opposite one, so that it is stuck."""
    return omni_wrist(3, 0.0)


def griffis_duffy():
    """Griffis and Duffy's platform of two equal triangles, vertices joined to midpoints of sides: it moves with its legs
    locked (Husty and Karger 2000)."""
    corners = [about_z(np.pi / 2 + 2 * np.pi / 3 * k) @ X for k in range(3)]
    points = [p for k in range(3) for p in (corners[k], (corners[k] + corners[(k + 1) % 3]) / 2)]
    return bodies("top", *(f"l{k}" for k in range(6))) + "".join(
        cross(f"U{k}", "earth", f"l{k}", points[k], (X, Y))
        + ball(f"S{k}", f"l{k}", "top", points[(k + 1) % 6] + 1.2 * Z)
        for k in range(6)
    )


def planetary():
    """A planetary gear: sun, planet on a carrier, ring."""
    text = bodies("carrier", "sun", "planet", "ring") + turn("C", "earth", "carrier", (0, 0, 0), Z)
    text += turn("S", "earth", "sun", (0, 0, 0), Z) + turn("R", "earth", "ring", (0, 0, 0), Z)
    text += turn("P", "carrier", "planet", (0.35, 0, 0), Z)
    return text + "constrain 20*(q_S - q_C) = -15*q_P as m1 ;\nconstrain 50*(q_R - q_C) = 15*q_P as m2 ;\n"


def locked_planetary():
    """The same with its carrier held."""
    return planetary() + "constrain q_C = 0.3 rad as lock ;\n"


def racks():
    """A pinion on a cart between two racks, one of them held."""
    text = bodies("upper", "lower", "cart", "pinion") + slide("U", "earth", "upper", (0, 0.1, 0), X)
    text += slide("L", "earth", "lower", (0, -0.1, 0), X) + slide("K", "earth", "cart", (0, 0, 0), X)
    text += turn("N", "cart", "pinion", (0, 0, 0), Z) + "constrain q_L = 0 as held ;\n"
    return text + "constrain q_U - q_K = -10 cm * q_N as t1 ;\nconstrain q_L - q_K = 10 cm * q_N as t2 ;\n"


# mobility, redundant constraints
KNOWN = {tripod: (3, 0), rps: (3, 0), tricept: (3, 0), exechon: (3, 2), quadrupteron: (4, 2), oblique_sarrus: (1, 1),
         orthoglide: (3, 12), upr_rpu: (3, 5), omni_wrist: (2, 4), griffis_duffy: (1, 1), planetary: (2, 0), locked_planetary: (1, 0), racks: (1, 0)}  # fmt: skip


@pytest.mark.parametrize("machine", KNOWN, ids=lambda machine: machine.__name__)
def test_mobility(machine):
    report = ts.loops(ts.parse(f"mechanism {machine.__name__} ;\n{machine()}"))
    assert (report.finite, report.infinitesimal) == (KNOWN[machine][0],) * 2
    assert report.redundant == KNOWN[machine][1]
    assert report.trusted


def upu4():
    """Four UPU legs whose outer axes are vertical: a Schönflies motion generator of the class of Kong and Gosselin (2004)."""

    def leg(k, turned):
        low, high = turned @ [2, 0, 0], turned @ [1, 0.3, 2 + 0.1 * k]
        inner = np.cross(high - low, Z)
        return (cross(f"A{k}", "earth", f"l{k}", low, (Z, inner)) + slide(f"P{k}", f"l{k}", f"m{k}", low, high - low)
                + cross(f"B{k}", f"m{k}", "top", high, (inner, Z)))  # fmt: skip

    return legs(4, "lm", leg)


@pytest.mark.parametrize("machine", [quadrupteron, upu4])
def test_legs_that_allow_a_group_without_lying_in_one_are_the_reason(machine):
    """Kong and Gosselin (2004): every leg contains the Schönflies motions about z, whatever its lengths are."""
    report = ts.loops(ts.parse(f"mechanism {machine.__name__} ;\n{machine()}"))
    assert (report.finite, report.redundant, report.reasons[0].kind) == (4, 2, "groups of chains")
    assert "allows translations and rotations about z" in report.reasons[0].text
    assert "lengths" not in report.reasons[0].text


def test_the_plane_of_two_legs_explains_the_exechon():
    """Neumann (2006), Bi and Jin (2011): the UPR legs move in one plane, which turns about their common first axis."""
    (reason,) = ts.loops(ts.parse(f"mechanism exechon ;\n{exechon()}")).reasons
    assert (reason.kind, reason.redundant) == ("groups of chains", 2)
    assert "A0-P0-B0 and A1-P1-B1 make a loop" in reason.text
    assert "motions in the plane normal to y" in reason.text
    assert "rotations about one axis (x)" in reason.text


def test_groups_of_chains_explain_all_that_is_redundant():
    """Two cylindrical joints side by side: what they have in common is a slide, and 6 - (4 - 1) closures are left over."""
    text = bodies("c") + "".join(
        join(name, *ends, point, f"cylindrical(q_{name}, p_{name}) about [0, 0, 1]")
        for name, ends, point in (("A", ("earth", "c"), (0, 0, 0)), ("B", ("c", "earth"), (1, 0, 0)))
    )
    (reason,) = ts.loops(ts.parse(f"mechanism cylinders ;\n{text}")).reasons
    assert (reason.kind, reason.redundant) == ("groups of chains", 3)
    assert "besides" not in reason.text


def test_an_oblique_sarrus_linkage_is_explained_by_its_two_planes():
    report = ts.loops(ts.parse(f"mechanism oblique ;\n{oblique_sarrus()}"))
    assert "have in common translations along z" in str(report)


def test_parallelograms_count_as_links_of_legs():
    """Hervé and Sparacino (1991): what legs with parallelograms have in common are all translations."""
    (reason,) = ts.loops(ts.parse(f"mechanism orthoglide ;\n{orthoglide()}")).reasons
    assert (reason.kind, reason.redundant) == ("groups of chains", 12)
    assert "Fu0-Hu0 and Fv0-Hv0 together allow translations in the plane normal to" in reason.text
    assert "have in common translations in all directions" in reason.text


def test_directions_that_all_joints_turn_about_explain_what_pairs_of_legs_leave():
    """Two pairs of legs in planes that turn, and platform and base that differ by turns about x and then y."""
    (reason,) = ts.loops(ts.parse(f"mechanism upr_rpu ;\n{upr_rpu()}")).reasons
    assert (reason.kind, reason.redundant) == ("groups of chains", 5)
    assert "A0-P0-B0 and A1-P1-B1 make a loop" in reason.text and "A2-P2-B2 and A3-P3-B3 make a loop" in reason.text
    assert "all its joints turn about two directions alone, x and y here" in reason.text


def test_a_platform_at_its_full_height_is_stuck():
    report = ts.loops(ts.parse(f"mechanism stretched ;\n{stretched_omni_wrist()}"))
    assert (report.infinitesimal, report.finite) == (4, 0)
