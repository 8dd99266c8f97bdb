"""The finite mobility of configuration spaces whose shape at the origin is known: never a wrong number.

Coordinates of a point are tied by equations; the dimension of the real solutions near the origin is elementary.
"""

from __future__ import annotations

import pytest

import torseur.description.mechanism as tm
from torseur.derivation.loops import loops


def point_on(names, *equations):
    """A point with the named coordinates, tied by equations."""
    body = tm.body("bead", mass=1, centre=(0, 0, 0), inertia=0)
    coordinates = [tm.Coordinate(name, "m") for name in names]
    motions = [tm.translation(axis, q) for axis, q in zip(((1, 0, 0), (0, 1, 0), (0, 0, 1)), coordinates, strict=False)]
    joint = tm.sequence("slide", tm.EARTH, body, coordinates, motions)
    ties = [tm.Equation(f"tie{k}", e(*(q.symbol for q in coordinates))) for k, e in enumerate(equations)]
    return tm.Mechanism("bead", bodies=[body], joints=[joint], constraints=ties)


DECIDED = {
    "crossing lines": ("xy", [lambda x, y: x * y], 1, (1, 1)),
    "three lines": ("xy", [lambda x, y: x * y * (x - y)], 1, (1, 1, 1)),
    "cusp": ("xy", [lambda x, y: y * y - x**3], 1, (1,)),
    "touching parabolas": ("xy", [lambda x, y: y * y - x**4], 1, (1, 1)),
    "figure eight": ("xy", [lambda x, y: y * y - x * x + x**4], 1, (1, 1)),
    "double line": ("xy", [lambda x, y: y * y], 1, None),
    "line with an embedded point": ("xy", [lambda x, y: y * y, lambda x, y: x * y], 1, None),
    "isolated point of a curve": ("xy", [lambda x, y: y * y - x * x * (x - 1)], 0, ()),
    "only the origin": ("xy", [lambda x, y: x * x + y * y], 0, ()),
    "line of real points": ("xyz", [lambda x, y, z: x * x + y * y], 1, None),
    "parabola and its tangent": ("xy", [lambda x, y: y - x * x, lambda x, y: y], 0, ()),
    "cubic and its tangent": ("xy", [lambda x, y: y - x**3, lambda x, y: y], 0, ()),
    "quintic and its tangent": ("xy", [lambda x, y: y - x**5, lambda x, y: y], 0, ()),
    "cone": ("xyz", [lambda x, y, z: x * x + y * y - z * z], 2, (2,)),
    "umbrella": ("xyz", [lambda x, y, z: x * x - y * y * z], 2, None),
    "plane and line": ("xyz", [lambda x, y, z: x * z, lambda x, y, z: y * z], 2, (2, 1)),
    "three axes": ("xyz", [lambda x, y, z: x * y, lambda x, y, z: y * z, lambda x, y, z: x * z], 1, (1, 1, 1)),
    "twisted cubic": ("xyz", [lambda x, y, z: y - x * x, lambda x, y, z: z - x**3], 1, ()),
}  # fmt: skip


@pytest.mark.parametrize("name", DECIDED)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_shape_at_the_origin(name, seed):
    names, equations, dimension, branches = DECIDED[name]
    found = loops(point_on(names, *equations), seed=seed)
    assert found.finite == dimension
    if branches is not None:
        assert found.branches == branches


HARD = {
    "high contact": ("xy", [lambda x, y: y - x**10, lambda x, y: y], 0),
    "fourth-order point": ("xy", [lambda x, y: y * y + x**4], 0),
    "triple line": ("xy", [lambda x, y: y**3], 1),
    "quadruple line": ("xy", [lambda x, y: y**4], 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_hard_shapes_are_right_or_undecided(name, seed):
    names, equations, dimension = HARD[name]
    found = loops(point_on(names, *equations), seed=seed)
    assert found.finite in (dimension, None)
    if found.finite is None:
        assert "undecided" in str(found)
