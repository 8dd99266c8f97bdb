"""Routines printed as device functions, compiled as plain C++ and compared with the same routines run as Python."""

from __future__ import annotations

import ctypes
from typing import Annotated

import numpy as np
import pytest

from computation.codegen.targets.runners import run, tool
from torseur.computation.codegen import CallbackSpec, compile_routine
from torseur.computation.codegen.routine import Array, External, Record, Static, routine, zeros
from torseur.computation.codegen.targets.cuda.cuda_routine import Constants, DeviceFunction, DeviceRoutines
from torseur.computation.codegen.targets.cuda.cuda_scalar import HEAD

N: int = Static("N")
force = External("force", "t: float, y: Array, p: Array, dy: Array")


class Limits(Record):
    h: float
    most: int
    scales: Annotated[Array, N]


@routine
def damped(y: Array, p: Array, limits: Limits) -> float:
    """Steps until a norm is small: loops that are unrolled and loops that are not, records, choices."""
    dy = zeros(N)
    size = 0.0
    for step in range(limits.most):
        force(step * limits.h, y, p, dy)
        size = 0.0
        for i in range(N):
            y[i] += limits.h * (dy[i] if abs(dy[i]) > 1e-3 else 0.0) / limits.scales[i]
            size = max(size, abs(y[i]))
        if size < 0.5 or not size < 1e6:
            break
    return size


def _force(t, y, p, dy):
    dy[:] = -p[0] * y + 0.1 * t


@pytest.mark.parametrize("scalar", ["float", "double"])
def test_a_printed_routine_does_what_it_does_in_python(tmp_path, scalar):
    """Oracle: the routine as Python."""
    n = 3
    limits = Limits.bound({"N": n})(h=0.1, most=40, scales=np.array([1.0, 2.0, 3.0]))
    start, p = np.array([1.0, -2.0, 0.75]), np.array([1.5])
    expected = start.copy()
    spec = CallbackSpec(_force, {"y": n, "p": 1, "dy": n})
    size = compile_routine(damped, {"N": n}, {"force": spec}, "python")(expected, p, limits)

    called = DeviceFunction(lambda a: f"force<T>({a[0]}, {a[1]}, strength, {a[3]})", frozenset((3,)))
    routines = DeviceRoutines.of([damped], {"N": n}, {"force": called}, Constants("const T *strength", "strength", ()))
    given = {"y": "y", "limits.floats": "floats", "limits.ints": "ints"}
    text = f"""{HEAD}
template <class T> TORSEUR_DEVICE void force(T t, const T *y, const T *s, T *dy) {{
  for (int i = 0; i < {n}; ++i) dy[i] = -s[0] * y[i] + T(0.1) * t;
}}
{routines.text}
template <class T, class F> T entry(T *y, const T *strength, T *floats, long long *ints) {{
  return {routines.call("damped", given)};
}}
extern "C" {scalar} run({scalar} *y, const {scalar} *s, {scalar} *floats, long long *ints) {{
  return entry<{scalar}, {scalar}>(y, s, floats, ints);
}}
"""
    (tmp_path / "r.cpp").write_text(text)
    run(tool("g++", "clang++"), "-std=c++14", "-O1", "-fPIC", "-shared", "r.cpp", "-o", "r.so", cwd=tmp_path)
    kind = np.float32 if scalar == "float" else np.float64
    function = ctypes.CDLL(str(tmp_path / "r.so")).run
    function.restype = ctypes.c_float if scalar == "float" else ctypes.c_double
    y, strength, floats = (np.array(x, dtype=kind) for x in (start, p, limits.floats))
    result = function(*(a.ctypes.data_as(ctypes.c_void_p) for a in (y, strength, floats, limits.ints)))
    digits = 1e-5 if scalar == "float" else 1e-13
    assert result == pytest.approx(size, rel=digits)
    assert np.allclose(y, expected, rtol=digits)
    assert "TORSEUR_UNROLL" in routines.text and "TORSEUR_ROLLED" in routines.text
