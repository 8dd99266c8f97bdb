"""Derivatives from inertia tensors, without derivation, against the exact derivatives of the graph."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.algebra.graph import as_expr, dense_jacobian, evaluate, symbols_of, time_derivative
from torseur.analysis.sensitivity.model.tensor_derivatives import TensorDerivatives
from torseur.derivation.formalisms.catalogue import FORMALISMS
from torseur.description import library
from torseur.errors import TorseurError


@pytest.mark.parametrize("name", ["double_pendulum", "puma560", "cart_pendulum?n=3"])
def test_derivatives_of_the_equations(name):
    """∂(M a + b)/∂(q, v), at random states, parameters and accelerations."""
    equations = ts.derive(library.load(name), "inertia_tensors")
    tensors, layout = TensorDerivatives(equations.formulation), equations.layout
    assert tensors.is_possible
    residual = [
        sum((m * a for m, a in zip(row, layout.accelerations, strict=True)), b)
        for row, b in zip(equations.mass_matrix, equations.bias, strict=True)
    ]
    exact = dense_jacobian(residual, (*layout.coordinates, *layout.speeds))
    own = tensors.residual_derivatives()
    flat = [entry for table in (exact, own) for row in table for entry in row]
    random = np.random.default_rng(7)
    values = {symbol: float(random.uniform(0.3, 1.5)) for symbol in symbols_of(flat)}
    first, second = np.array([float(x) for x in evaluate(flat, values)]).reshape(2, -1)
    assert first == pytest.approx(second, abs=1e-13 * np.abs(first).max())


def test_rate_of_the_mass_matrix():
    equations = ts.derive(library.load("double_pendulum"), "inertia_tensors")
    tensors, layout = TensorDerivatives(equations.formulation), equations.layout
    entries = [entry for row in equations.mass_matrix for entry in row]
    exact = time_derivative(entries, dict(zip(layout.coordinates, layout.speeds, strict=True)))
    own = [
        sum((tensors.mass_derivative(i, j, l) * v for l, v in enumerate(layout.speeds)), as_expr(0))
        for i in range(2)
        for j in range(2)
    ]
    values = {symbol: 0.4 + 0.1 * k for k, symbol in enumerate(symbols_of([*exact, *own]))}
    first, second = np.array([float(x) for x in evaluate([*exact, *own], values)]).reshape(2, -1)
    assert first == pytest.approx(second, abs=1e-14)


@pytest.mark.slow
def test_sensitivities_from_both():
    mechanism = library.load("double_pendulum")
    pair = [
        ts.sensitivity(ts.derive(mechanism, formalism), "kinetic_energy", "m1,r2", until=2, rtol=1e-12, method="direct")
        for formalism in ("recursive", "inertia_tensors")
    ]
    first, second = (found["kinetic_energy"].gradient for found in pair)
    assert first == pytest.approx(second, rel=1e-11)


QUASI = {
    "own axes": """param m = 1200 kg, l = 0.3 m, C = 1800 kg*m^2 ;
let chassis = body mass = m, centre = [l, 0, 0], inertia = diag(0, 0, C) about frame end ;
join earth and chassis.frame as ground with planar(x, y, psi) speeds Vx, Vy = velocity in chassis, r = psi' end ;
init Vx = 10 m/s, r = 0.5 rad/s ;""",
    "multiples": """param m = 2 kg, l = 0.4 m, C = 0.3 kg*m^2 ; gravity = [0, -9.81, 0] ;
let up = body mass = m, centre = [l/2, 0.1, 0], inertia = diag(C, 2*C, 1.5*C) end ;
let low = body mass = m, centre = [l/2, 0, 0.1], inertia = diag(C, C, C/2) end ;
join earth and up.frame as shoulder with revolute(x) about [0, 0.6, 0.8] speeds w = 3*x' end ;
join [l, 0, 0] @ up and low.frame as elbow with revolute(y) about [0, 0, 1] speeds g = (1 + y^2)*y' end ;
init x = 0.3, y = 0.5, w = 1 rad/s, g = 2 rad/s ;""",
}


@pytest.mark.parametrize("kind", QUASI)
@pytest.mark.parametrize("formalism", FORMALISMS)
def test_quasi_velocities(kind, formalism):
    """Direct and adjoint, by every formalism, against differences of motions."""
    mechanism = ts.parse(QUASI[kind])
    value = 0.3 if kind == "own axes" else 0.4

    def motion(l):
        return ts.simulate(mechanism, until=1.0, samples=2, rtol=1e-13, parameters={"l": l})["y"][-1]

    h = 1e-3
    expected = (8 * (motion(value + h) - motion(value - h)) - motion(value + 2 * h) + motion(value - 2 * h)) / (12 * h)
    equations = ts.derive(mechanism, formalism)
    for method in ("direct", "adjoint"):
        found = ts.sensitivity(equations, "y", "l", until=1.0, rtol=1e-10, method=method)
        assert found["y"].gradient[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("formula", ["[0, -9.81 - 0.5 m/s^2 * y, 0]", "[0, -9.81 - 0.5 m/s^3 * t, 0]"])
def test_tensors_ask_for_constants(formula):
    """Where something else than the motions changes, derivatives are not those of tensors alone."""
    text = QUASI["multiples"].replace("speeds w = 3*x'", "").replace("speeds g = (1 + y^2)*y'", "")
    text = text.replace(", w = 1 rad/s, g = 2 rad/s", "").replace("[0, -9.81, 0]", formula)
    try:
        equations = ts.derive(ts.parse(text), "inertia_tensors")
    except TorseurError:
        pytest.skip("refused, which is right too")
    assert not TensorDerivatives(equations.formulation).is_possible
