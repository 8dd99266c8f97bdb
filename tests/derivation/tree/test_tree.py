"""Trees: numbering, constants of links that are made of several bodies, joints that close loops.

Oracle: sums over point masses and rotation matrices by NumPy; counts from the graph of bodies and joints.
"""

import random

import numpy as np
import pytest

import torseur as ts
from torseur.algebra.graph import evaluate
from torseur.derivation.tree import build_tree
from torseur.derivation.tree.tree import GROUND
from torseur.errors import MechanismError

MASSES = np.array([0.7, 1.9, 0.4, 1.1])
POINTS = np.array([[0.3, -0.2, 0.5], [-0.6, 0.1, 0.2], [0.15, 0.8, -0.4], [0.0, -0.35, -0.9]])
ANGLE, AXIS, ORIGIN = 0.8, np.array([1.0, -2.0, 0.5]), np.array([0.4, -1.3, 0.25])
FOUR_BAR = [
    "let crank = body mass = 1 kg end",
    "let coupler = body mass = 2 kg end",
    "let rocker = body mass = 3 kg end",
    "join crank.frame and earth as main with revolute(a) about [0, 0, 1] end",
    "join [0.2, 0, 0] m @ crank and coupler.frame as pin with revolute(b) about [0, 0, 1] end",
    "join [0.9, 0, 0] m @ earth and rocker.frame as pivot with revolute(c) about [0, 0, 1] end",
    "join [0.8, 0, 0] m @ coupler and [0.6, 0, 0] m @ rocker as closing with revolute(d) about [0, 0, 1] end",
]


def rotation(angle, axis):
    """Rodrigues."""
    u = axis / np.linalg.norm(axis)
    cross = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def tensor(points):
    """Inertia matrix of the masses about the origin."""
    return sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(MASSES, points, strict=True))


def vector(values):
    return "[" + ", ".join(repr(float(x)) for x in values) + "]"


def matrix(values):
    return "[" + ", ".join(vector(row) for row in values) + "] kg*m^2"


def numbers(inertia):
    """Mass, first moment and matrix as floats."""
    A, h = inertia.matrix, inertia.moment
    mass, *values = evaluate([inertia.mass, *h, A.xx, A.xy, A.xz, A.xy, A.yy, A.yz, A.xz, A.yz, A.zz], {})
    return mass, values[:3], np.reshape(values[3:], (3, 3))


def given_about(where):
    """The same four masses, with their inertia matrix about and along different frames."""
    mass, centre = MASSES.sum(), MASSES @ POINTS / MASSES.sum()
    if where == "centre":
        return f"mass = {mass} kg, centre = {vector(centre)} m, inertia = {matrix(tensor(POINTS - centre))}"
    if where == "frame":
        return f"mass = {mass} kg, centre = {vector(centre)} m, inertia = {matrix(tensor(POINTS))} about frame"
    if where == "point":
        about = f"about {vector(ORIGIN)} m"
        return f"mass = {mass} kg, centre = {vector(centre)} m, inertia = {matrix(tensor(POINTS - ORIGIN))} {about}"
    local = (POINTS - centre) @ rotation(ANGLE, AXIS)
    frame = f"iframe = {vector(centre)} m ++ ({ANGLE} || {vector(AXIS)})"
    return f"mass = {mass} kg, {frame}, inertia = {matrix(tensor(local))}"


@pytest.mark.parametrize("where", ["centre", "frame", "point", "oblique axes"])
def test_inertia_at_the_frame_of_a_link(where):
    text = f"let b = body {given_about(where)} end ; join earth and b with revolute(q) about [0, 0, 1] end ;"
    (link,) = build_tree(ts.parse(f"mechanism m ; {text}")).links
    mass, moment, inertia = numbers(link.inertia)
    assert mass == pytest.approx(MASSES.sum())
    assert np.allclose(moment, MASSES @ POINTS, atol=1e-14) and np.allclose(inertia, tensor(POINTS), atol=1e-13)


@pytest.mark.parametrize("reverse", [False, True])
def test_bodies_that_are_fixed_to_each_other_are_one_link(reverse):
    """A tool in oblique axes off the origin; the fixed joint may be described from either side."""
    R = rotation(ANGLE, AXIS)
    there = f"{vector(ORIGIN)} m ++ ({ANGLE} || {vector(AXIS)}) @ arm"
    sides = ("tool", there) if reverse else (there, "tool")
    tree = build_tree(ts.parse(
        f"mechanism m ; let arm = body mass = 2 kg, centre = [0, 0.3, 0], inertia = diag(1, 2, 2.5) kg*m^2 about frame end ;"
        f"let tool = body {given_about('centre')} end ; join {sides[0]} and {sides[1]} with fixed end ;"
        "join earth and arm with revolute(q) about [0, 0, 1] end ;"
    ))  # fmt: skip
    (link,) = tree.links
    moved = ORIGIN + POINTS @ R.T
    mass, moment, inertia = numbers(link.inertia)
    assert mass == pytest.approx(2 + MASSES.sum())
    assert np.allclose(moment, [0, 0.6, 0] + MASSES @ moved, atol=1e-13)
    assert np.allclose(inertia, np.diag([1, 2, 2.5]) + tensor(moved), atol=1e-13)
    index, place, _ = tree.places["tool"]
    assert index == 0 and np.allclose(evaluate(list(place.position), {}), ORIGIN)


def test_loops_are_cut_in_any_order_of_statements():
    """Joints less bodies close loops; every body is carried once, after the one that carries it."""
    for seed in range(6):
        statements = list(FOUR_BAR)
        random.Random(seed).shuffle(statements)
        tree = build_tree(ts.parse("mechanism m ; " + " ; ".join(statements) + " ;"))
        assert len(tree) == 3 and len(tree.loops) == 4 - 3
        assert all(tree.parent(link) < link for link in tree.outward())
        assert list(tree.inward()) == list(reversed(tree.outward()))
        assert sorted(link for link, _, _ in tree.places.values() if link != GROUND) == [0, 1, 2]


def test_slots_by_name():
    tree = build_tree(ts.parse(
        "mechanism m ; param k = 3 N/m ; let b = body mass = 1 kg, centre = 0, inertia = 0 end ;"
        "join earth and b with planar(x, y, theta) end ; apply spring stiffness = k on x ; state e = 0 m*s, e' = x ;"
    ))  # fmt: skip
    layout = tree.layout
    assert layout.joint_coordinate_names == ["x", "y", "theta"] and layout.coordinate_names[-1] == "e"
    assert layout.speed_names == ["x'", "y'", "theta'"] and len(layout.accelerations) == 3
    assert layout.vector("coordinate", {"theta": 2.0}, [0.0] * 4) == [0.0, 0.0, 2.0, 0.0]
    with pytest.raises(MechanismError, match="unknown coordinate 'teta'.*Did you mean 'theta'"):
        layout.slot("coordinate", "teta")
