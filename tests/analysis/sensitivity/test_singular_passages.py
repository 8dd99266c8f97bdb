"""Derivatives of motions through singular configurations: right, or said not to be trusted.

A row of n four-bars that starts upright is one rod: a'' = -(3 (n + 1) + 6 n) / (2 (n + 1) + 6 n) g cos(a) / l. Whenever
its rods lie flat, all constraints lose rank.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torseur as ts
from torseur.description import library
from torseur.errors import SimulationError

ROW = library.load("four_bar_chain?n=2")


def angle(until, g=9.81, l=1.0, v=1.0):
    def rhs(t, y):
        return [y[1], -21.0 / 18.0 * g / l * np.cos(y[0])]

    return solve_ivp(rhs, (0.0, until), [np.pi / 2, -v / l], method="DOP853", rtol=3e-14, atol=1e-14).y[0, -1]


def exact(until):
    values, rows = {"g": 9.81, "l": 1.0, "v": 1.0}, []
    for name, value in values.items():
        h = 1e-3 * value
        at = [angle(until, **{**values, name: value + k * h}) for k in (-3, -2, -1, 1, 2, 3)]
        rows.append((45 * (at[3] - at[2]) - 9 * (at[4] - at[1]) + (at[5] - at[0])) / (60 * h))
    return np.array(rows)


@pytest.mark.slow
@pytest.mark.parametrize("until", [2.5, 5.0, 10.0])
@pytest.mark.parametrize(("method", "rtol"), [("adjoint", 1e-9), ("adjoint", 1e-11), ("direct", 1e-9)])
def test_right_or_not_trusted(method, rtol, until):
    found, expected = ts.sensitivity(ROW, "a0", "g,l,v", until=until, method=method, rtol=rtol), exact(until)
    error = np.abs(found["a0"].gradient - expected).max() / np.abs(expected).max()
    assert error < (2e-6 if found.trusted else 1e-4)
    assert found.trusted or "passes a singular configuration" in found.notes[-1]
    assert found.trusted or method == "adjoint"


@pytest.mark.slow
def test_integrals_through_singular_configurations():
    """The integral of a' is a itself."""
    integral = ts.Criterion("a0'", "integral", name="turned")
    expected = exact(2.5)
    for method in ("direct", "adjoint"):
        found = ts.sensitivity(ROW, integral, "g,l,v", until=2.5, method=method)
        assert found["turned"].gradient == pytest.approx(expected, rel=1e-5)


def test_too_close_is_refused():
    with pytest.raises(SimulationError, match="method='adjoint' takes those of a simulation"):
        ts.sensitivity(ROW, "a0", "g,l,v", until=5.0, method="direct", rtol=1e-11)
