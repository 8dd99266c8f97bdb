"""Stiff motions by the implicit method: exact solutions of linear systems, and the explicit method on others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm, expm_frechet

import torseur as ts
from torseur.analysis.sensitivity import Criterion
from torseur.analysis.sensitivity.direct.implicit_tangents import INVERSE, WEIGHTS
from torseur.computation.simulation import Impact
from torseur.computation.simulation.implicit import radau_tableau as tableau
from torseur.description import library
from torseur.errors import TorseurError

TWO_MASSES = """mechanism stiff ; param m = 1 kg, k = 1e6 N/m, c = 1e4 N*s/m, K = 5 N/m, m2 = 2 kg ;
let a = body mass = m, centre = [0, 0, 0], inertia = 0 end ;
let b = body mass = m2, centre = [0, 0, 0], inertia = 0 end ;
join earth and a.frame as soft with prismatic(x) along [1, 0, 0] stiffness = K end ;
join a.frame and b.frame as hard with prismatic(d) along [1, 0, 0] stiffness = k, damping = c end ; init x = 1 m ;"""

POINT = {"m": 1.0, "k": 1e6, "c": 1e4, "K": 5.0, "m2": 2.0}


def first_order(m, k, c, K, m2):
    """The matrix of y' = A y for y = (x, d, x', d', ∫ x)."""
    mass = np.array([[m + m2, m2], [m2, m2]])
    a = np.zeros((5, 5))
    a[:2, 2:4], a[4, 0] = np.eye(2), 1.0
    a[2:4, :2], a[2:4, 2:4] = -np.linalg.solve(mass, np.diag([K, k])), -np.linalg.solve(mass, np.diag([0.0, c]))
    return a


def exact(t):
    """x and ∫ x at t with their derivatives by the parameters, from the derivative of the matrix exponential."""
    a, start = first_order(**POINT), np.array([1.0, 0, 0, 0, 0])
    derivatives = []
    for name, value in POINT.items():
        step = 1e-3 * value
        near = [first_order(**{**POINT, name: value + n * step}) for n in (-2, -1, 1, 2)]
        da = (8 * (near[2] - near[1]) - (near[3] - near[0])) / (12 * step)
        derivatives.append((expm_frechet(a * t, da * t, compute_expm=False) @ start)[[0, 4]])
    return (expm(a * t) @ start)[[0, 4]], np.array(derivatives).T


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["radau9", "radau5", "auto"])
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_a_hard_joint(integrator, method):
    """Oracle: Fréchet derivative of the matrix exponential. The stiff part decays in a tenth of a millisecond."""
    criteria = ["x", Criterion("x", "integral")]
    found = ts.sensitivity(
        ts.parse(TWO_MASSES), criteria, list(POINT), until=2.0, rtol=1e-10, method=method, integrator=integrator
    )
    values, derivatives = exact(2.0)
    scales = np.array(list(POINT.values()))
    assert [r.value for r in found.responses] == pytest.approx(values, rel=1e-9)
    got = np.array([r.gradient for r in found.responses])
    assert got * scales == pytest.approx(derivatives * scales, abs=2e-9)
    assert found.statistics.method.startswith("radau")
    assert found.statistics.steps < 500
    if integrator == "auto":
        assert any("Stiff from t" in note for note in found.notes)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_loops_contacts_and_quaternions(method):
    """Where nothing is stiff both integrators give the same derivatives."""
    loop = {"criteria": ["gamma'", Criterion("A.force.x", "integral")], "parameters": "a,d", "until": 0.8}
    loop["jumps"] = [Impact("stop", "2.3 - gamma", 0.6)]
    body = {"criteria": ["flight.wx", Criterion("flight.wx^2", "integral")], "parameters": "A,B", "until": 1.0}
    for name, asked in (("four_bar", loop), ("free_body", body)):
        pair = [
            ts.sensitivity(library.load(name), **asked, rtol=1e-10, method=method, integrator=integrator)
            for integrator in ("explicit", "radau9")
        ]
        for first, second in zip(pair[0].responses, pair[1].responses, strict=True):
            assert first.gradient == pytest.approx(second.gradient, rel=1e-7, abs=1e-10)


def test_coefficients_of_the_way_back():
    """A⁻¹ from the nodes is that of the method's eigenvalues; the last row of A integrates polynomials."""
    for k, stages in enumerate((3, 5)):
        t, inverse = np.array(tableau.TO_STAGES[k]), np.array(tableau.FROM_STAGES[k])
        blocks = np.zeros((stages, stages))
        blocks[0, 0] = tableau.REAL[k]
        for m, (real, imaginary) in enumerate(tableau.COMPLEX[k]):
            blocks[1 + 2 * m : 3 + 2 * m, 1 + 2 * m : 3 + 2 * m] = [[real, -imaginary], [imaginary, real]]
        assert np.array(INVERSE[k]) == pytest.approx(t @ blocks @ inverse, abs=1e-10)
        for power in range(stages):
            assert np.dot(WEIGHTS[k], np.array(tableau.NODES[k]) ** power) == pytest.approx(1 / (power + 1), abs=1e-13)


def test_integrators_are_named():
    with pytest.raises(TorseurError, match="unknown integrator 'bdf'"):
        ts.sensitivity(ts.parse(TWO_MASSES), "x", "m", until=1.0, integrator="bdf")
