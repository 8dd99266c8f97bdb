"""The sines and cosines of generated C: accuracy in units of the last place, against mpmath."""

from __future__ import annotations

import shutil

import mpmath
import numpy as np
import pytest

from torseur.algebra.graph import Input, Program, symbol, vector
from torseur.algebra.graph import scalar as s
from torseur.computation.codegen import compile_program

LIMIT = 65536.0
X = tuple(symbol(f"x{k}") for k in range(8))


def angles():
    """Ordinary and large ones, tiny ones, and the doubles next to multiples of π/2, where most digits cancel."""
    random = np.random.default_rng(5)
    multiples = [*range(1, 400), *random.integers(400, 41721, 600)]
    near = [float(int(k) * mpmath.pi / 2) for k in multiples]
    beside = [np.nextafter(x, side) for x in near for side in (0.0, np.inf)]
    pool = [random.uniform(-4, 4, 1500), random.uniform(-LIMIT, LIMIT, 1500), np.exp(random.uniform(-40, 11, 500))]
    pool += [near, beside, [0.0, -0.0, 5e-324, 1e-300, LIMIT, -LIMIT, np.pi / 4]]
    flat = np.concatenate([np.asarray(part, dtype=float) for part in pool])
    return np.resize(flat, (-(-len(flat) // 8), 8))


def ulps(found, exact):
    """The distance in units of the last place of the exact value."""
    unit = mpmath.mpf(float(np.spacing(abs(float(exact)))))
    return abs(float((mpmath.mpf(float(found)) - exact) / unit))


@pytest.fixture(params=["clang", "gcc"])
def kernel(request, monkeypatch):
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    monkeypatch.setenv("CC", request.param)
    outputs = (vector("sines", [s.sin(x) for x in X]), vector("cosines", [s.cos(x) for x in X]))
    return compile_program(Program("turns", (Input("x", X),), outputs), "c")


def test_within_about_one_unit_in_the_last_place(kernel):
    assert "sines_of(" in kernel.source
    with mpmath.workprec(160):
        for row in angles():
            found = kernel(row)
            for x, sine, cosine in zip(row, found["sines"], found["cosines"], strict=True):
                exact = mpmath.mpf(float(x))
                assert ulps(sine, mpmath.sin(exact)) < 1.12, x
                assert ulps(cosine, mpmath.cos(exact)) < 1.12, x


def test_beyond_the_limit_the_library_answers(kernel):
    row = np.array([1e5, -1e9, 1e22, 2.0**60, 1e300, 0.5, -3.0, 6.1])
    found = kernel(row)
    with mpmath.workprec(1200):
        for x, sine in zip(row, found["sines"], strict=True):
            assert ulps(sine, mpmath.sin(mpmath.mpf(float(x)))) < 1.0


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_so_and_spares_its_neighbours(kernel, odd):
    row = np.array([0.1, odd, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    found = kernel(row)["sines"]
    assert np.isnan(found[1])
    assert np.delete(found, 1) == pytest.approx(np.sin(np.delete(row, 1)), abs=1e-16)
