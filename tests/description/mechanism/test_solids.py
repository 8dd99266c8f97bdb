"""Homogeneous solids against numerical quadrature of their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torseur.algebra.graph import PI
from torseur.algebra.spatial import Vec3, about
from torseur.description.mechanism import SHAPES, Placement, along, solid
from torseur.errors import MechanismError

NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


def interval(low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    return low + (high - low) * (NODES + 1) / 2, WEIGHTS * (high - low) / 2


def grid(*ranges: tuple[float, float]) -> tuple[list[np.ndarray], np.ndarray]:
    """Points and weights of a product rule."""
    axes = [interval(*r) for r in ranges]
    points = np.meshgrid(*(x for x, _ in axes), indexing="ij")
    weights = np.meshgrid(*(w for _, w in axes), indexing="ij")
    return points, np.prod(weights, axis=0)


def box(x: float, y: float, z: float):
    (px, py, pz), w = grid((-x / 2, x / 2), (-y / 2, y / 2), (-z / 2, z / 2))
    return px, py, pz, w


def cylinder(radius: float, length: float):
    (r, a, z), w = grid((0, radius), (0, 2 * math.pi), (-length / 2, length / 2))
    return r * np.cos(a), r * np.sin(a), z, w * r


def cone(radius: float, length: float):
    (s, a, z), w = grid((0, 1), (0, 2 * math.pi), (0, length))
    rim = radius * (1 - z / length)
    return s * rim * np.cos(a), s * rim * np.sin(a), z, w * s * rim**2


def sphere(radius: float):
    (r, a, u), w = grid((0, radius), (0, 2 * math.pi), (-1, 1))
    side = r * np.sqrt(1 - u**2)
    return side * np.cos(a), side * np.sin(a), r * u, w * r**2


def shell(radius: float):
    (a, u), w = grid((0, 2 * math.pi), (-1, 1))
    side = radius * np.sqrt(1 - u**2)
    return side * np.cos(a), side * np.sin(a), radius * u, w * radius**2


def rod(length: float):
    (z,), w = grid((0, length))
    return 0 * z, 0 * z, z, w


DEFINITIONS: dict[str, Callable] = {
    "box": box, "cylinder": cylinder, "cone": cone, "sphere": sphere, "shell": shell, "rod": rod,
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@given(st.data())
@settings(max_examples=15, deadline=None)
def test_moments_are_those_of_the_definition(shape, data):
    sizes = {name: data.draw(st.floats(0.1, 3.0)) for name in SHAPES[shape][0]}
    x, y, z, weight = DEFINITIONS[shape](**sizes)
    volume = weight.sum()
    centre = [(c * weight).sum() / volume for c in (x, y, z)]
    z = z - centre[2]
    squares = [((y**2 + z**2) * weight).sum(), ((x**2 + z**2) * weight).sum(), ((x**2 + y**2) * weight).sum()]
    moments = solid(shape, density=2, **sizes).moments
    assert np.isclose(float(moments.volume), volume, rtol=1e-9)
    assert np.allclose(centre[:2], 0, atol=1e-9) and np.isclose(float(moments.centre_z), centre[2], atol=1e-9)
    assert np.allclose([float(g) for g in moments.gyration], np.array(squares) / volume, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_total_mass(shape):
    sizes = dict.fromkeys(SHAPES[shape][0], 1)
    by_density = solid(shape, density=3, **sizes)
    assert float(by_density.total_mass) == pytest.approx(3 * float(by_density.moments.volume))
    assert solid(shape, mass=7, **sizes).total_mass.value == 7


component = st.floats(-2, 2).filter(lambda x: x == 0 or abs(x) > 1e-100)  # squares that do not vanish


@given(st.tuples(component, component, component).filter(lambda v: math.hypot(*v) > 0.1))
def test_along_lays_the_axis_along_the_vector(axis):
    turned = _image_of_z(along(axis))
    assert np.allclose(turned, np.array(axis) / math.hypot(*axis), atol=1e-12)


@pytest.mark.parametrize("axis", [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)])
def test_along_a_coordinate_axis_is_exact(axis):
    placed = along(axis)
    assert np.allclose(_image_of_z(placed), axis, atol=1e-15)
    assert all(turn.angle in (PI, PI / 2) for turn in placed.rotation)


def _image_of_z(placement: Placement) -> np.ndarray:
    vector = Vec3(0.0, 0.0, 1.0)
    for turn in reversed(placement.rotation):
        vector = about(Vec3(*(float(c) for c in turn.axis)), float(turn.angle)).to_parent(vector)
    return np.array(list(vector), dtype=float)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": "blob"}, "unknown solid 'blob'"),
        ({"shape": "sphere", "mass": 1}, "needs radius"),
        ({"shape": "sphere", "radius": 1}, "either a density or a mass"),
        ({"shape": "sphere", "radius": 1, "mass": 1, "density": 1}, "either a density or a mass"),
        ({"shape": "sphere", "radius": 1, "length": 2, "mass": 1}, "needs radius; got radius, length"),
    ],
)
def test_impossible_solids_are_refused(arguments, message):
    with pytest.raises(MechanismError, match=message):
        solid(**arguments)
