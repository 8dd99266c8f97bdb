"""Derivatives from inertia tensors, without derivation, against the exact derivatives of the graph."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.algebra.graph import as_expr, dense_jacobian, evaluate, symbols_of, time_derivative
from torseur.analysis.sensitivity.model.tensor_derivatives import TensorDerivatives
from torseur.description import library


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


def test_sensitivities_from_both():
    mechanism = library.load("double_pendulum")
    pair = [
        ts.sensitivity(ts.derive(mechanism, formalism), "kinetic_energy", "m1,r2", until=2, rtol=1e-12, method="direct")
        for formalism in ("recursive", "inertia_tensors")
    ]
    first, second = (found["kinetic_energy"].gradient for found in pair)
    assert first == pytest.approx(second, rel=1e-11)
