"""Mechanisms in which nothing can move: every question has an answer there too, or a reason why not."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.errors import TorseurError

HELD = """param L = 0.5 m ; gravity = [0, 0, -9.81] ; let b = body sphere radius = 0.3 m, mass = 2 kg end ;
join earth to [L, 0, 0] @ b as j with fixed() end ;"""
CONSTRAINTS = {
    "none": "",
    "a distance": "constrain distance earth to b = L ;",
    "a second weld": "join earth to [L, 0, 0] @ b as k with fixed(), role = loop end ;",
    "a hinge": "join earth to [L, 0, 0] @ b as k with revolute(q), role = loop end ;",
}


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("method", ["explicit", "radau5", "radau9"])
def test_it_stays(method, constraint):
    """The weight is carried: by the only joint, or by two of which nothing tells the shares."""
    for backend in ("auto", "python"):
        motion = ts.simulate(
            ts.parse(HELD + CONSTRAINTS[constraint]), until=1.0, samples=3, outputs=["j.force.z"], method=method,
            backend=backend,
        )  # fmt: skip
        assert motion.time.tolist() == [0.0, 0.5, 1.0] and motion.q.shape == (3, 0)
        shared = constraint in ("a second weld", "a hinge")
        assert np.isnan(motion["j.force.z"]).all() if shared else motion["j.force.z"] == pytest.approx(2 * 9.81)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_derivatives_of_its_place(constraint):
    """Its frame is at [-L, 0, 0]."""
    text = HELD + CONSTRAINTS[constraint]
    for method in ("direct", "adjoint"):
        result = ts.sensitivity(ts.parse(text), "b.position.x", ["L"], until=1.0, method=method)
        assert result.trusted and np.ravel(result.derivative("b.position.x", "L"))[-1] == pytest.approx(-1)
    second = ts.sensitivity(ts.parse(text), "b.position.x", ["L"], until=1.0, second_order=True)
    assert np.asarray(second["b.position.x"].hessian).tolist() == [[0.0]]


def test_a_wheel_that_always_lies_flat_is_named():
    text = HELD + "constrain rolling b.frame radius 0.3 m on earth normal [0, 0, 1] ;"
    with pytest.raises(TorseurError, match="constraint 'rolling_b': the wheel lies flat in every position"):
        ts.simulate(ts.parse(text), until=1.0)


def test_a_door_on_coaxial_hinges_has_its_formula():
    """Its second hinge leaves no equation: (J + m r²) q'' = -m g r sin q, as with one hinge alone."""
    text = """gravity = [0, -9.81, 0] ; let d = body mass = 4 kg, centre = [0, -0.5, 0] m, inertia = diag(1, 1, 2) kg*m^2 end ;
    join earth and d.frame as low with revolute(q) end ; join [0, 0, 2] m @ earth and [0, 0, 2] m @ d as high with revolute(p), role = loop end ;
    init q = 0.7 ;"""
    motion = ts.simulate(ts.parse(text), until=0.01, samples=2, outputs=["d.rotation_rate.z"])
    assert motion["d.rotation_rate.z"][0] == pytest.approx(-4 * 9.81 * 0.5 * np.sin(0.7) / (2 + 4 * 0.25))
