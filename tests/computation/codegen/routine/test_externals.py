"""Externals of routines: programs, other routines and Python callbacks, whose exceptions are never lost."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from torseur.algebra.graph import Input, Program, symbol, vector
from torseur.algebra.graph.scalar import exp, sin, sqrt
from torseur.computation.codegen import CallbackSpec, bind, compile_routine
from torseur.computation.codegen.kernels.linking import link
from torseur.computation.codegen.routine import Array, External, RoutineError, Static, routine, static_range, zeros

N: int = Static("N")
rhs = External("rhs", "t: float, y: Array, p: Array, dy: Array")
law = External("law", "x: float, n: int, flag: bool -> float")

A = ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0))
B = (1 / 6, 1 / 3, 1 / 3, 1 / 6)
C = (0.0, 0.5, 0.5, 1.0)


@routine
def step(t: float, h: float, y: Array, p: Array, y_end: Array) -> None:
    slopes = zeros(4 * N)
    stage = zeros(N)
    for s in static_range(4):
        for i in range(N):
            total = 0.0
            for j in static_range(s):
                if A[s][j] != 0.0:
                    total += A[s][j] * slopes[j * N + i]
            stage[i] = y[i] + h * total
        rhs(t + C[s] * h, stage, p, slopes[s * N :])
    for i in range(N):
        total = 0.0
        for s in static_range(4):
            total += B[s] * slopes[s * N + i]
        y_end[i] = y[i] + h * total


@routine
def integrate(t: float, h: float, n: int, y: Array, p: Array) -> float:
    for k in range(n):
        step(t + k * h, h, y, p, y)
    return t + n * h


@routine
def drift(t: float, h: float, n: int, y: Array, p: Array) -> float:
    for k in range(n):
        p[0] += h
        step(t + k * h, h, y, p, y)
    return p[0]


@routine
def oscillator(t: float, y: Array, p: Array, dy: Array) -> None:
    dy[0] = y[1]
    dy[1] = -math.sqrt(p[0] * p[0]) * y[0]


@routine
def sum_of_laws(n: int) -> float:
    total = 0.0
    for i in range(n):
        total += law(0.5 * i, i, i % 2 == 1)
    while law(total, n, True) < 100.0:
        total += 1.0
    if law(total, 0, False) > 0.0 and total > 1e9:
        return -1.0
    return total


def oscillator_program():
    t, x, v, k = symbol("t"), symbol("x"), symbol("v"), symbol("k")
    inputs = (Input("t", (t,)), Input("y", (x, v)), Input("p", (k,)))
    return Program("oscillator", inputs, (vector("dy", [v, -sqrt(k * k) * x]),))


def oscillator_callback(t, y, p, dy):
    dy[:] = y[1], -abs(p[0]) * y[0]


SIZES = {"y": 2, "p": 1, "dy": 2}


@pytest.fixture(params=["program", "routine", "callback"])
def binding(request):
    return {
        "program": oscillator_program(),
        "routine": oscillator,
        "callback": CallbackSpec(oscillator_callback, SIZES),
    }[request.param]


def test_integrator_over_every_kind_of_external(backend, binding):
    """Oracle: cos(2 t); the error of 200 steps of order four is below 1e-7."""
    y, p = np.array([1.0, 0.0]), np.array([4.0])
    end = compile_routine(integrate, {"N": 2}, {"rhs": binding}, backend)(0.0, 0.01, 200, y, p)
    assert end == pytest.approx(2.0)
    assert np.allclose(y, [math.cos(4.0), -2.0 * math.sin(4.0)], atol=1e-7)


def test_parameter_only_work_is_hoisted():
    linked = link(integrate, {"N": 2}, {"rhs": oscillator_program()})
    program = linked.programs["rhs"]
    assert program.prepared_from == ("p",)
    assert program.prepare.counts["square root"] == 1 and "square root" not in program.program.counts


def test_parameters_that_are_too_few(compiled_backend):
    compiled = compile_routine(integrate, {"N": 2}, {"rhs": oscillator_program()}, compiled_backend)
    with pytest.raises(RoutineError, match="'p' of routine 'integrate' has 0 entries: at least 1"):
        compiled(0.0, 0.1, 1, np.zeros(2), np.zeros(0))


def test_nothing_is_hoisted_from_parameters_that_change(backend):
    """The stiffness grows during the run, so a value prepared once would be wrong."""
    program = oscillator_program()
    assert link(drift, {"N": 2}, {"rhs": program}).programs["rhs"].prepare is None
    results = []
    for bound in (program, oscillator):
        y, p = np.array([1.0, 0.0]), np.array([1.0])
        assert compile_routine(drift, {"N": 2}, {"rhs": bound}, backend)(0.0, 0.01, 100, y, p) == pytest.approx(2.0)
        results.append(y)
    assert np.allclose(results[0], results[1], rtol=1e-13)


def test_program_with_fewer_inputs_and_other_names(backend):
    """Inputs match by name, a single output by position."""
    x, v = symbol("x"), symbol("v")
    program = Program("free", (Input("y", (x, v)),), (vector("slopes", [v, exp(-v) * sin(x)]),))
    y = np.array([0.3, -0.2])
    reference = bind(integrate, {"N": 2}, {"rhs": program})
    expected = y.copy()
    reference(0.0, 0.05, 20, expected, np.zeros(0))
    compile_routine(integrate, {"N": 2}, {"rhs": program}, backend)(0.0, 0.05, 20, y, np.zeros(0))
    assert np.allclose(y, expected, rtol=1e-14)


def test_callback_that_returns_a_number(backend):
    seen = []

    def called(x, n, flag):
        seen.append((x, n, flag))
        return x + n + flag

    result = compile_routine(sum_of_laws, externals={"law": CallbackSpec(called)}, backend=backend)(4)
    assert seen[:4] == [(0.0, 0, False), (0.5, 1, True), (1.0, 2, False), (1.5, 3, True)]
    assert result == 95.0 and type(seen[0][2]) is bool and type(seen[0][1]) is int


class Trouble(Exception):
    pass


@pytest.mark.parametrize("error", [Trouble("at the third call"), KeyboardInterrupt(), SystemExit(3)])
def test_exception_stops_the_routine_and_comes_back(backend, error):
    count = 0

    def fails(x, n, flag):
        nonlocal count
        count += 1
        if count == 3:
            raise error
        return x + 1.0

    compiled = compile_routine(sum_of_laws, externals={"law": CallbackSpec(fails)}, backend=backend)
    with pytest.raises(type(error)) as caught:
        compiled(10)
    assert caught.value is error and count == 3
    count = 10
    assert compiled(2) == 99.5


def test_exception_in_the_test_of_a_loop(backend):
    def fails(x, n, flag):
        if x > 3.0:
            raise Trouble("in the test")
        return x + 1.0

    with pytest.raises(Trouble, match="in the test"):
        compile_routine(sum_of_laws, externals={"law": CallbackSpec(fails)}, backend=backend)(1)


def test_wrong_result_of_a_callback_is_an_error(compiled_backend):
    compiled = compile_routine(
        sum_of_laws, externals={"law": CallbackSpec(lambda x, n, flag: "text")}, backend=compiled_backend
    )
    with pytest.raises(TypeError):
        compiled(3)


def test_inputs_of_a_callback_are_read_only(backend):
    def careless(t, y, p, dy):
        y[0] = 1.0

    compiled = compile_routine(integrate, {"N": 2}, {"rhs": CallbackSpec(careless, SIZES)}, backend)
    with pytest.raises(ValueError, match="read-only"):
        compiled(0.0, 0.1, 1, np.zeros(2), np.zeros(1))


def test_a_routine_inside_the_callback_of_another(backend):
    """The inner failure belongs to the inner call, the outer one goes on."""
    inner = compile_routine(sum_of_laws, externals={"law": CallbackSpec(_raises)}, backend=backend)

    def called(x, n, flag):
        with pytest.raises(Trouble):
            inner(1)
        return 200.0

    assert compile_routine(sum_of_laws, externals={"law": CallbackSpec(called)}, backend=backend)(3) == 600.0


def _raises(x, n, flag):
    raise Trouble("inner")


def test_threads_do_not_share_failures(compiled_backend):
    def sometimes(x, n, flag):
        if n == 7:
            raise Trouble("in one thread")
        return 200.0

    compiled = compile_routine(sum_of_laws, externals={"law": CallbackSpec(sometimes)}, backend=compiled_backend)
    outcomes = {}

    def work(n):
        try:
            outcomes[n] = compiled(n)
        except Trouble:
            outcomes[n] = "trouble"

    threads = [threading.Thread(target=work, args=(n,)) for n in (3, 5, 8, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == {3: 600.0, 5: 1000.0, 8: "trouble", 9: "trouble"}
