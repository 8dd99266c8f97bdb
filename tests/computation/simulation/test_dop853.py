"""The method itself: its coefficients, its order, the order of its dense output."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.integrate._ivp import dop853_coefficients as published

from torseur.computation.codegen.kernels.compiled_routine import compile_routine
from torseur.computation.codegen.routine import Array, routine, zeros
from torseur.computation.simulation.explicit.dop853 import (
    AllStages,
    Piece,
    dense_output,
    evaluate_dense_stages,
    evaluate_stages,
    interpolate_at,
    solution,
)
from torseur.computation.simulation.explicit.dop853_tableau import ALL_STAGES, B3, E3, E5, STAGES, A, B, C, D
from torseur.computation.simulation.explicit.runge_kutta import LANES, N, rhs

PERIODS = 2.0


def padded(rows, width):
    return np.array([list(row) + [0.0] * (width - len(row)) for row in rows])


def test_tableau_is_the_published_one():
    """Oracle: SciPy's transcription of the same published numbers."""
    assert np.array_equal(padded(A, ALL_STAGES), published.A)
    assert np.array_equal(C, published.C)
    assert np.array_equal(E5, published.E5[:STAGES])
    assert np.allclose(E3, published.E3[:STAGES], rtol=0.0, atol=1e-16)
    assert np.array_equal(padded(D, ALL_STAGES), published.D)


def test_stages_are_consistent():
    """Each row of A sums to its c."""
    assert np.allclose([math.fsum(row) for row in A[: STAGES + 1]], C[: STAGES + 1], rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("power", range(8))
def test_weights_integrate_polynomials(power):
    """sum b c^(k-1) = 1/k up to the order 8; the comparison solution only up to order 3."""
    quadrature = math.fsum(b * c**power for b, c in zip(B, C[:STAGES], strict=True))
    assert quadrature == pytest.approx(1 / (power + 1), abs=1e-15)
    comparison = math.fsum(b * c**power for b, c in zip(B3, C[:STAGES], strict=True))
    assert (abs(comparison - 1 / (power + 1)) < 1e-15) == (power < 3)


def test_nested_order_conditions():
    """b_i c_i^m a_ij c_j^n = 1/((n+1)(m+n+2)) for trees with one branch point, up to order 8."""
    a, b, c = padded(A, ALL_STAGES)[:STAGES, :STAGES], np.array(B), np.array(C[:STAGES])
    for m, n in product(range(8), repeat=2):
        if m + n + 2 <= 8:
            assert (b * c**m) @ (a @ c**n) == pytest.approx(1 / ((n + 1) * (m + n + 2)), abs=1e-14)


@routine
def fixed_steps(steps: int, h: float, y: Array, p: Array, k: AllStages, middle: Array) -> None:
    """Steps of equal length; `middle` is the dense output half way through the last of them."""
    y_end = zeros(N)
    y_stage = zeros(N)
    piece = Piece()
    start = zeros(LANES)
    length = zeros(LANES)
    for step in range(steps):
        t = step * h
        start[0] = t
        length[0] = h
        rhs(t, y, p, k[0])
        evaluate_stages(start, length, y, p, k, y_stage)
        solution(length, y, k, y_end)
        rhs(t + h, y_end, p, k[12])
        evaluate_dense_stages(t, h, y, p, k, y_stage)
        dense_output(t, h, y, y_end, k, piece)
        interpolate_at(0.37, piece, middle)
        for i in range(N):
            y[i] = y_end[i]


def errors(steps, backend):
    """Errors at the end and within the last step of a nonlinear motion: y' = y cos t, y = exp(sin t)."""
    from torseur.algebra.graph import Input, Program, symbol, vector
    from torseur.algebra.graph.scalar import cos

    t, y = symbol("t"), symbol("y")
    slope = Program("rhs", (Input("t", (t,)), Input("y", (y,))), (vector("dy", [y * cos(t)]),))
    run = compile_routine(fixed_steps, {"N": 1}, {"rhs": slope}, backend)
    h = 10.0 / steps
    state, k, middle = np.ones(1), np.zeros(16), np.zeros(1)
    run(steps, h, state, np.zeros(1), k, middle)
    within = 10.0 - h + 0.37 * h
    return abs(state[0] - math.exp(math.sin(10.0))), abs(middle[0] - math.exp(math.sin(within)))


def test_measured_order(backend):
    """The error at the end falls with the 8th power of the step."""
    coarse, fine = errors(20, backend)[0], errors(40, backend)[0]
    assert 7.5 < math.log2(coarse / fine) < 9.5


def test_measured_order_of_dense_output(backend):
    """Local error of order 8 within a step: an interpolant of order 7."""
    steps = (20, 40, 80)
    slopes = np.polyfit(np.log2(steps), [-math.log2(errors(n, backend)[1]) for n in steps], 1)
    assert 6.7 < slopes[0] < 9.0
