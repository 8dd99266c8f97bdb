"""Tabulated functions in every target, against SciPy's own evaluation of the same spline."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

from torseur.algebra.graph import Input, Program, Table, gradient, symbol, vector
from torseur.computation.codegen import compile_program
from torseur.computation.codegen.sources.table_lookup import lookup_routine

X = symbol("x")
UNEVEN = np.array([-1.0, -0.7, 0.1, 0.15, 0.9, 1.0, 2.2, 3.0])
EVEN = np.linspace(-2.0, 3.0, 31)


@pytest.fixture(
    params=[("uneven", UNEVEN, 3), ("even", EVEN, 3), ("uneven", UNEVEN, 5), ("even", EVEN, 5)],
    ids=lambda p: f"{p[0]}{p[2]}",
)
def case(request):
    name, points, degree = request.param
    values = np.sin(1.3 * points) + 0.2 * points**2
    return Table(f"a table; {name}", tuple(points), tuple(values), degree), points, values, degree


def test_values_and_derivatives(case, backend):
    table, points, values, degree = case
    spline = make_interp_spline(points, values, k=degree)
    rows = [table(X)]
    for _ in range(2):
        rows.append(gradient(rows[-1], [X])[0])
    kernel = compile_program(Program("f", (Input("x", (X,)),), (vector("y", rows),)), backend)
    places = np.concatenate([points, np.linspace(points[0] - 0.3, points[-1] + 0.3, 41)])
    for x in places:
        expected = [spline.derivative(k)(x) if k else spline(x) for k in range(3)]
        assert np.allclose(kernel(x)["y"], expected, rtol=1e-10, atol=1e-10), x


def test_not_a_number_stays_one(case, compiled_backend):
    table = case[0]
    kernel = compile_program(Program("f", (Input("x", (X,)),), (vector("y", [table(X)]),)), compiled_backend)
    assert np.isnan(kernel(np.nan)["y"][0])
    assert np.isfinite(kernel(1e6)["y"][0]) and np.isfinite(kernel(-1e6)["y"][0])


def test_derivative_beyond_the_degree_is_zero(case):
    table, _, _, degree = case
    assert lookup_routine(table, degree + 1)(0.5) == 0.0
