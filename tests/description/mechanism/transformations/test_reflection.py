"""Mirror images of mechanisms: equal coordinates are motions that are images of each other."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.description.mechanism.transformations.parts import mirror_plane
from torseur.description.mechanism.transformations.reflection import component_signs

# Loops, rolling, quaternions, a robot, screws and springs; between them joints of every kind.
MECHANISMS = ("slider_crank", "rolling_disc", "dual_spin_satellite", "puma560", "bennett")


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("name", MECHANISMS)
def test_an_image_moves_as_an_image(name, axis):
    """Oracle: the reflection of space, x' = S x for positions, ω' = -S ω for angular velocities."""
    mechanism = ts.library.load(name)
    body = mechanism.bodies[-1].name
    outputs = [f"{body}.{quantity}.{c}" for quantity in ("position", "rotation") for c in "xyz"]
    motions = [
        ts.simulate(ts.derive(m, "recursive"), until=0.2, samples=3, outputs=outputs).dataset
        for m in (mechanism, ts.reflect(mechanism, axis))
    ]
    for quantity, turns in (("position", 1), ("rotation", -1)):
        for k, c in enumerate("xyz"):
            sign = turns * (-1 if k == axis else 1)
            there, here = (motion[f"{body}.{quantity}.{c}"].values for motion in motions)
            np.testing.assert_allclose(here, sign * there, atol=1e-8)
    signs = component_signs(mechanism, axis)
    for joint in mechanism.joints:
        for q in joint.coordinates:
            if q.name in motions[0]:
                there, here = (motion[q.name].values for motion in motions)
                np.testing.assert_allclose(here, signs.get(q.name, 1) * there, atol=1e-8)


def test_what_a_body_leaves_open_is_reflected_with_it():
    """Oracle: the mass centre and the products of inertia of the image, by hand."""
    text = """let b = body mass = 2 kg end ; join earth and b with revolute(q) about [1, 2, 3] end ;
    param b.centre.x = 1 m, b.centre.y = 2 m, b.centre.z = 3 m, b.Ixx = 4 kg*m^2, b.Iyy = 5 kg*m^2, b.Izz = 6 kg*m^2,
          b.Ixy = 0.1 kg*m^2, b.Ixz = 0.2 kg*m^2, b.Iyz = 0.3 kg*m^2, moment = b.Ixy * b.centre.y ;"""
    image = ts.reflect(ts.parse(text), 1)
    values = {p.name: p.value for p in image.parameters}
    assert [float(values[f"b.centre.{c}"]) for c in "xyz"] == [1, -2, 3]
    assert [float(values[f"b.I{c}"]) for c in ("xx", "yy", "zz", "xy", "xz", "yz")] == [4, 5, 6, -0.1, 0.2, -0.3]
    assert "b.Ixy" in str(values["moment"])
    assert image.joints[0].motions[0].axis == tuple(ts.parse(text).joints[0].motions[0].axis[k] * s for k, s in
                                                    enumerate((-1, 1, -1)))  # fmt: skip


@pytest.mark.parametrize("normal", [(0, 1, 0), (0.3, -1, 0.4), (-0.5, 0.5, -0.5), (0, 0, -2)])
def test_a_mirror_is_a_reflection_along_an_axis_and_a_turn(normal):
    """Oracle: 1 - 2 n nᵀ / n², and Rodrigues' formula."""
    axis, turns = mirror_plane(ts.force("f", ts.EARTH, normal).force)
    result = np.diag([-1.0 if k == axis else 1.0 for k in range(3)])
    for turn in turns:
        u = np.array([float(c) for c in turn.axis])
        x, y, z = u / np.linalg.norm(u)
        across = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        angle = float(turn.angle)
        result = (np.eye(3) + np.sin(angle) * across + (1 - np.cos(angle)) * across @ across) @ result
    n = np.array(normal, dtype=float)
    np.testing.assert_allclose(result, np.eye(3) - 2 * np.outer(n, n) / (n @ n), atol=1e-14)
