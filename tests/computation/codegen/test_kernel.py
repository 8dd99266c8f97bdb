"""Kernels: how they are called, what they refuse, when they prepare, what their source says."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from torseur.algebra.graph import Input, Output, Program, matrix, symbol, vector
from torseur.algebra.graph.scalar import cos, sin, sqrt
from torseur.computation.codegen import compile_program
from torseur.errors import TorseurError


def pendulum():
    """Acceleration, and the matrix [[cos, sin], [length, 1]], of a pendulum with live parameters."""
    q, g, length = symbol("q"), symbol("g"), symbol("l")
    frequency = sqrt(g / length)
    return Program(
        "pendulum",
        (Input("q", (q,)), Input("p", (g, length))),
        (vector("vdot", [-frequency * frequency * sin(q)]), matrix("m", [[cos(q), sin(q)], [length, 1]])),
    )


@pytest.fixture
def kernel(backend):
    return compile_program(pendulum(), backend, parameters=("p",))


def test_by_position_by_name_and_in_place(kernel):
    """Oracle: -g / l sin q."""
    expected = -9.81 / 2.0 * np.sin(0.3)
    for result in (kernel(0.3, [9.81, 2.0]), kernel([0.3], p=(9.81, 2.0)), kernel(p=np.array([9.81, 2.0]), q=0.3)):
        assert result["vdot"] == pytest.approx(expected, rel=1e-14)
        assert np.allclose(result["m"], [[np.cos(0.3), np.sin(0.3)], [2.0, 1.0]], rtol=1e-15)
    vdot, m = np.zeros(1), np.zeros((2, 2))
    kernel.into((vdot, m), 0.3, [9.81, 2.0])
    assert vdot[0] == pytest.approx(expected, rel=1e-14) and m[1, 0] == 2.0
    kernel.into({"m": m, "vdot": vdot}, q=0.5, p=[9.81, 1.0])
    assert m[1, 0] == 1.0


def test_parameters_stay_live(kernel):
    """The prepared values follow the parameters, also when their array is changed in place."""
    p = np.array([9.81, 1.0])
    assert kernel(0.5, p)["vdot"][0] == pytest.approx(-9.81 * np.sin(0.5))
    p[1] = 2.0
    assert kernel(0.5, p)["vdot"][0] == pytest.approx(-4.905 * np.sin(0.5))


def test_preparation_runs_once_per_parameters(backend, monkeypatch):
    kernel = compile_program(pendulum(), backend, parameters=("p",))
    calls = []
    prepare = kernel.prepare
    monkeypatch.setattr(kernel, "prepare", lambda *p: calls.append(p) or prepare(*p))
    for q in (0.1, 0.2, 0.3):
        kernel(q, [9.81, 1.0])
    kernel(0.1, [9.81, 2.0])
    assert len(calls) == 2


def test_baked_parameters(backend):
    kernel = compile_program(pendulum(), backend, baked={"p": (9.81, 2.0)})
    assert [group.name for group in kernel.program.inputs] == ["q"]
    assert kernel(0.3)["vdot"][0] == pytest.approx(-9.81 / 2.0 * np.sin(0.3), rel=1e-14)


def test_empty_inputs_and_scalar_outputs(backend):
    x = symbol("x")
    program = Program("f", (Input("q", (x,)), Input("p", ())), (Output("energy", (), (x * x,)), vector("none", [])))
    result = compile_program(program, backend, parameters=("p",))(3.0, [])
    assert result["energy"].shape == () and float(result["energy"]) == 9.0 and result["none"].shape == (0,)


def test_header_of_the_source(kernel):
    header = kernel.source.split("generated in")[0]
    assert "pendulum" in header and "q[1], p[2]" in header and "vdot[1], m[2, 2]" in header
    assert f"{len(kernel.program.operations)} operations" in header and "square root" in header
    assert " ms" in kernel.source.split("generated in")[1].splitlines()[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda k: k(0.1), "input 'p' is missing"),
        (lambda k: k(0.1, [1.0, 1.0], 2.0), "has 2 inputs, got 3"),
        (lambda k: k(0.1, [1.0]), "input 'p' has 1 entries, expected 2"),
        (lambda k: k(0.1, r=1.0), "unknown input 'r'"),
        (lambda k: k(0.1, [1.0, 1.0], q=2.0), "given twice"),
        (lambda k: k.into([], 0.1, [1.0, 1.0]), "has 2 outputs, got 0"),
        (lambda k: k.into((np.zeros(2), np.zeros(4)), 0.1, [1.0, 1.0]), "got 2"),
        (lambda k: k.into((np.zeros(1, dtype=int), np.zeros(4)), 0.1, [1.0, 1.0]), "float64"),
        (lambda k: k.into((np.zeros(1), np.zeros((4, 2))[:, 0]), 0.1, [1.0, 1.0]), "contiguous"),
        (lambda k: overlapping(k), "overlaps an input"),
        (lambda k: k.prepare([1.0]), "'p' has 1 entries, expected 2"),
        (lambda k: k.prepare(), "got 0 arrays"),
    ],
)
def test_what_a_call_refuses(kernel, call, message):
    with pytest.raises(TorseurError, match=message):
        call(kernel)


def overlapping(kernel):
    q = np.zeros(1)
    kernel.into((q, np.zeros((2, 2))), q, [1.0, 1.0])


def test_kernels_travel_between_processes(kernel):
    copy = pickle.loads(pickle.dumps(kernel))
    assert copy.backend == kernel.backend
    assert copy(0.3, [9.81, 2.0])["vdot"][0] == kernel(0.3, [9.81, 2.0])["vdot"][0]


def test_unknown_parameters_are_refused():
    with pytest.raises(TorseurError, match="unknown input 'parameters'"):
        compile_program(pendulum(), parameters=("parameters",))
    with pytest.raises(TorseurError, match="unknown input 'z'"):
        compile_program(pendulum(), baked={"z": (1.0,)})


def test_numbers_outside_the_domain_are_nan_or_infinite(backend):
    """Compiled code and Python alike: no exception, no warning."""
    x = symbol("x")
    program = Program("f", (Input("x", (x,)),), (vector("y", [1 / x, sqrt(x - 1), 0 * x + 2]),))
    y = compile_program(program, backend)(0.0)["y"]
    assert np.isinf(y[0]) and np.isnan(y[1]) and y[2] == 2.0
