"""Angles of a spherical joint are singular where two of their axes coincide; the mechanism is not.

Oracle: a wrist on three legs p_i from b_i gains a freedom where det(R p_i x (R p_i - b_i)) = 0 (Gosselin and Angeles
1990), whatever describes R.
"""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.algebra.spatial.rotation_arrays import turn_about

LOW = np.array([[1, 0, -1], [-1, 0.8, -1], [-0.8, -1, -1]])
HIGH = np.array([[0.6, 0.1, 0.4], [-0.4, 0.5, 0.4], [-0.5, -0.5, 0.4]])
X, Y, Z = np.eye(3)


def wrist(angles):
    bodies = "".join(f"let {n} = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;\n"
                     for n in ["top", *(f"{p}{k}" for p in "lm" for k in range(3))])  # fmt: skip
    legs = "".join(
        f"join {low.tolist()} m @ earth and {low.tolist()} m @ l{k} as A{k} with universal(u{k}, v{k}) end ;\n"
        f"join {low.tolist()} m @ l{k} and {low.tolist()} m @ m{k} as P{k} with prismatic(d{k}) along {(high - low).tolist()} end ;\n"
        f"join {high.tolist()} m @ m{k} and {high.tolist()} m @ top as B{k} with spherical(s{k}, t{k}, r{k}) end ;\n"
        for k, (low, high) in enumerate(zip(LOW, HIGH, strict=True))
    )
    pose = f"join earth and top.frame as C with spherical(a, b, c) angles {angles} end ;\n"
    return ts.parse(f"mechanism wrist ;\n{bodies}{legs}{pose}actuate d0, d1, d2 ;")


def determinant(axes, values):
    rotation = np.eye(3)
    for axis, value in zip(axes, values, strict=True):
        rotation = rotation @ turn_about(axis, np.array(value))
    tips = HIGH @ rotation.T
    return float(np.linalg.det(np.cross(tips, tips - LOW)))


@pytest.mark.parametrize(("angles", "axes", "end"), [("zxz", (Z, X, Z), 0.8), ("xyz", (X, Y, Z), 2.0)])
def test_a_drive_through_aligned_axes_meets_what_the_mechanism_has_alone(angles, axes, end):
    met = ts.singularities_along(wrist(angles), "b", 0.0, end, inputs=["d0", "d1", "d2"])
    assert all(abs(determinant(axes, [one.coordinates[q] for q in "abc"])) < 1e-6 for one in met)
    assert len(met) == {"zxz": 1, "xyz": 2}[angles]


def test_lines_of_a_map_go_on_where_axes_are_aligned():
    """Wherever the determinant changes its sign between places of a fine grid there is a line, and nowhere else."""
    axes = (X, Y, Z)
    drawn = ts.singular_map(wrist("xyz"), ("a", -1.0, 1.0), ("b", -2.0, 2.0), ["d0", "d1", "d2"],
                            locked=["c"], nodes=21)  # fmt: skip
    points = np.vstack(drawn.lines["type 2"])
    assert max(abs(determinant(axes, (a, b, 0.0))) for a, b in points) < 1e-9
    places = [np.linspace(-1, 1, 41), np.linspace(-2, 2, 121)]
    values = np.array([[determinant(axes, (a, b, 0.0)) for b in places[1]] for a in places[0]])
    for i, j in np.argwhere(values[:, :-1] * values[:, 1:] < 0):
        assert np.min(np.hypot(*(points - [places[0][i], places[1][j]]).T)) < 0.25


def test_a_drive_that_goes_on_in_another_assembly_says_so():
    """With two legs locked b stops where it turns back, while another assembly closes beyond: that is no gap."""
    way = ts.drive(wrist("xyz"), "b", 0.0, 0.3, locked=["d0", "d1"], inputs=["d0", "d1", "d2"])
    (_, turned), (begun, end) = way.closed
    assert (begun, end) == (pytest.approx(turned, abs=1e-9), pytest.approx(0.3))
    assert way.notes == [f"beyond b = {turned:.6g} the loops close in another assembly"]
