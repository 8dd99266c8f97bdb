"""Every construct of the routine language on every backend, against the same function run by Python."""

from __future__ import annotations

import math
from math import copysign, hypot

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torseur.computation.codegen import compile_routine
from torseur.computation.codegen.routine import Array, IntArray, Static, izeros, routine, static_range, zeros

N: int = Static("N")
A = ((1.0, 0.0, 2.5), (0.0, -3.0, 0.0), (4.0, 0.5, 1.0))
RAGGED = ((), (0.25,), (0.0, 0.75))
STEPS = (3, 1, 4, 1, 5)
SCALE = 2.0
USE_SCALE = True


@routine
def arithmetic(x: float, y: float, n: int) -> float:
    a = x + y * n - 3
    a /= 2 + n * n
    b = -a + +x
    return a * b + n / 4 + (n > 2) * 1.5


@routine
def powers(x: float, y: float) -> float:
    return x**2 + y**3 - (x + y) ** 5 + x**-2 + x**0 + abs(x) ** 0.3 + 2.0**y + abs(x) ** y


@routine
def integer_powers(n: int) -> int:
    return n**3 - n**2 + 2**5 + n**1


@routine
def whole_division(a: int, b: int) -> int:
    return 1000003 * (a // b) + (a % b)


@routine
def comparisons(x: float, y: float, n: int) -> int:
    code = 0
    if x < y:
        code += 1
    if x <= y <= 2.0 * n:
        code += 2
    if x > y:
        code += 4
    if x >= y:
        code += 8
    if n == 3:
        code += 16
    if n != 3 and x != y:
        code += 32
    if not (x < y or n > 2) or n == 0:
        code += 64
    return code


@routine
def branches(n: int) -> float:
    if n < 0:
        return -1.0
    elif n == 0:
        result = 0.5
    elif n < 3:
        result = 1.5 if n == 1 else 2.5
    else:
        result = float(n)
    return result


@routine
def short_circuit(a: Array, i: int, n: int) -> bool:
    return i < n and a[i] > 0.0


@routine
def while_loop(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if steps > 1000:
            break
    return steps


@routine
def endless(limit: float) -> float:
    total = 0.0
    k = 0
    while True:
        k += 1
        if k % 3 == 0:
            continue
        total += 1.0 / k
        if total > limit:
            return total


@routine
def ranges(n: int, start: int) -> int:
    code = 0
    last = -1
    for i in range(n):
        code = 3 * code + i
    for i in range(start, n):
        code = 5 * code + i
    for i in range(n, -4, -2):
        if i == 1:
            continue
        if code > 10**9:
            break
        code = 2 * code + i
        last = i
    for i in range(n):
        i += 2
        last += i
    return code + last


@routine
def unrolled(x: float, out: Array) -> float:
    total = 0.0
    for s in static_range(3):
        row = A[s]
        for j in static_range(0, 3):
            if row[j] != 0.0:
                total += row[j] * x**s
        out[s] = total
    for s in static_range(2, -1, -1):
        for j in static_range(s):
            total += RAGGED[s][j]
    for j in range(2):
        total += j
    return total


@routine
def unrolled_jumps(x: float) -> int:
    code = 0
    for s in static_range(6):
        if s == 2:
            continue
        if x < s:
            break
        for j in static_range(3):
            if x == j:
                continue
            if j == 2 and s == 1:
                break
            code = 7 * code + 3 * s + j
    for i in range(5):
        for s in static_range(3):
            if i + s == 4:
                break
            code += s
        if i == 3:
            break
    return code


@routine
def pruned(x: float) -> float:
    if USE_SCALE and N > 1:
        x *= SCALE
    else:
        x = unknown_function(x)  # noqa: F821
    return x if N == 3 else undefined_name  # noqa: F821


@routine
def static_names(out: Array) -> int:
    size = 2 * N
    work = zeros(size + 1)
    offset = 0
    for s in static_range(N):
        place = size - s
        work[place] = 10.0 + s
        offset += place
    for i in range(size + 1):
        out[i] = work[i]
    return offset + len(A) + len(A[0])


@routine
def dynamic_tables(n: int, i: int, j: int) -> float:
    total = 0.0
    for k in range(n):
        total += STEPS[k] * A[k % 3][i] + A[1][k % 3]
    return total + A[i][j]


@routine
def local_arrays(n: int, out: Array) -> float:
    work = zeros(N)
    count = izeros(N)
    for k in range(n):
        fresh = zeros(2)
        fresh[k % 2] += k
        count[k % N] += 1
        work[k % N] = work[k % N] + fresh[0] - fresh[1]
    for i in range(N):
        out[i] = work[i] * count[i]
    return work[0]


@routine
def fill(a: Array, value: float, n: int) -> float:
    for i in range(n):
        a[i] = value + i
    return value


@routine
def total_of(a: Array, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += a[i]
    return total


@routine
def views(a: Array, flip: bool) -> float:
    fill(a, 1.0, N)
    tail = a[N:]
    fill(tail, 10.0, N)
    fill(tail[1:][1:], 100.0, 1)
    chosen = a if flip else tail
    current = a
    current = current[1:]
    current[0] -= 0.5
    return total_of(chosen, N) + total_of(a[N + 1 :], 2) * total_of(current, 1)


@routine
def whole_arrays(values: IntArray, out: IntArray) -> int:
    biggest = values[0]
    for i in range(1, N):
        biggest = max(biggest, values[i])
        out[i] = values[i] * values[i] - abs(values[i])
    return biggest


@routine
def functions(x: float, y: float) -> float:
    a = math.sin(x) + math.cos(y) * math.tan(x) + math.sqrt(x * x + 1.0) + math.exp(-y * y)
    b = math.log(1.0 + x * x) + math.log10(2.0 + y * y) + math.log1p(x * x) + math.expm1(y / 10.0)
    c = math.asin(x / 11.0) + math.acos(y / 11.0) + math.atan(x) + math.atan2(y, x)
    d = math.sinh(x / 3.0) - math.cosh(y / 3.0) + math.tanh(x) + math.fabs(y) + math.pow(abs(x) + 0.1, y)
    return a + b * c - d + hypot(x, y) + copysign(x, y) + math.pi - math.e


@routine
def rounding(x: float) -> int:
    return 1000 * math.floor(x) + int(x)


@routine
def extremes(x: float, y: float, n: int) -> float:
    return min(x, y) + 10.0 * max(x, y, n) + min(n, 2) + abs(x) + abs(n - 5)


@routine
def nan_tests(x: float) -> int:
    code = 0
    if math.isfinite(x):
        code += 1
    if math.isnan(x):
        code += 2
    if x == x:
        code += 4
    if x < math.inf:
        code += 8
    if not x > 0.0:
        code += 16
    return code


@routine
def annotated(x: int) -> float:
    y: float = x
    y += 0.5
    flag: bool = x > 1
    return y if flag else -y


@routine
def nothing(a: Array) -> None:
    """Only documents itself."""
    if a[0] > 1.0:
        return
    a[0] = 5.0
    pass


@routine
def truth(n: int, x: float) -> int:
    code = 1 if n else 0
    if x:
        code += 2
    if not n:
        code += 4
    return code + int(bool(n)) + int(x > 0.0)


@routine
def reserved_names(double: float, int64_t: float, ctx: float) -> float:
    sin = double + 1.0
    register = int64_t * sin
    é = register - ctx
    return math.sin(é)


NAN, INF = math.nan, math.inf
SCALARS = [
    (arithmetic, (1.5, -2.25, 3)),
    (powers, (1.3, -0.7)),
    (powers, (-0.8, 1.9)),
    (integer_powers, (-4,)),
    *[(comparisons, args) for args in [(1.0, 2.0, 3), (2.0, 1.0, 0), (1.0, 1.0, 1), (NAN, 1.0, 4), (5.0, 6.0, 3)]],
    *[(branches, (n,)) for n in (-2, 0, 1, 2, 7)],
    (while_loop, (27,)),
    (while_loop, (1,)),
    (endless, (4.0,)),
    *[(ranges, args) for args in [(7, 2), (0, 5), (9, -3)]],
    *[(unrolled_jumps, (x,)) for x in (0.0, 1.0, 2.5, 4.0, 9.0)],
    (pruned, (3.5,)),
    (dynamic_tables, (5, 2, 1)),
    (functions, (0.7, -1.9)),
    (functions, (-3.1, 4.2)),
    *[(rounding, (x,)) for x in (2.7, -2.7, 3.0, -0.2)],
    *[(extremes, args) for args in [(1.0, 2.0, 9), (-3.0, 2.0, -1), (NAN, 1.0, 0)]],
    *[(nan_tests, (x,)) for x in (1.0, -1.0, INF, -INF, NAN, 0.0)],
    (annotated, (1,)),
    (annotated, (4,)),
    *[(truth, args) for args in [(0, 0.0), (2, -1.0), (-1, 3.0)]],
    (reserved_names, (0.3, 1.2, -4.0)),
]


@pytest.mark.parametrize("case", SCALARS, ids=lambda case: f"{case[0].name}{case[1]}")
def test_numbers(case, backend):
    entry, arguments = case
    expected = compile_routine(entry, {"N": 3}, backend="python")(*arguments)
    result = compile_routine(entry, {"N": 3}, backend=backend)(*arguments)
    assert type(result) is type(expected) or isinstance(expected, (float, np.floating))
    assert result == pytest.approx(expected, rel=1e-14, abs=1e-14, nan_ok=True)


ARRAYS = [
    (unrolled, lambda: (1.5, np.zeros(3))),
    (static_names, lambda: (np.zeros(7),)),
    (local_arrays, lambda: (10, np.zeros(3))),
    (views, lambda: (np.zeros(8), True)),
    (views, lambda: (np.zeros(8), False)),
    (nothing, lambda: (np.array([1.0]),)),
    (nothing, lambda: (np.array([2.0]),)),
    (whole_arrays, lambda: (np.array([3, -7, 5]), np.zeros(3, dtype=np.int64))),
    (short_circuit, lambda: (np.array([1.0, -1.0]), 0, 2)),
    (short_circuit, lambda: (np.array([1.0, -1.0]), 1, 2)),
    (short_circuit, lambda: (np.array([1.0]), 10**6, 1)),
]


@pytest.mark.parametrize("case", ARRAYS, ids=lambda case: case[0].name)
def test_arrays(case, backend):
    entry, make = case
    expected_arguments, arguments = make(), make()
    expected = compile_routine(entry, {"N": 3}, backend="python")(*expected_arguments)
    result = compile_routine(entry, {"N": 3}, backend=backend)(*arguments)
    assert result == expected
    for mine, theirs in zip(arguments, expected_arguments, strict=True):
        assert np.array_equal(mine, theirs)


def test_values_by_hand(backend):
    """Oracle: numbers worked out on paper, so that the backends do not only agree with each other."""

    def run(entry, *arguments):
        return compile_routine(entry, {"N": 3}, backend=backend)(*arguments)

    assert run(while_loop, 27) == 111
    assert run(integer_powers, -4) == -64 - 16 + 32 - 4
    assert run(rounding, -2.7) == -3002
    assert run(pruned, 3.5) == 7.0
    assert run(dynamic_tables, 5, 2, 1) == 2.5 * 3 + 1.0 * 4 + 2.5 - 3.0 - 3.0 + 0.5
    assert run(nan_tests, NAN) == 2 + 16 and run(nan_tests, -INF) == 4 + 8 + 16
    out = np.zeros(3)
    run(unrolled, 2.0, out)
    assert out.tolist() == [3.5, -2.5, 19.5]


@given(st.integers(-(10**6), 10**6), st.integers(-1000, 1000).filter(bool))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whole_division_rounds_down(compiled_whole_division, a, b):
    assert compiled_whole_division(a, b) == 1000003 * (a // b) + a % b


@pytest.fixture
def compiled_whole_division(backend):
    return compile_routine(whole_division, backend=backend)


def test_whole_division_by_zero_is_harmless(compiled_backend):
    assert compile_routine(whole_division, backend=compiled_backend)(5, 0) == 0


def test_numbers_without_an_integer_are_harmless(compiled_backend):
    """Which integer they give is nobody's promise; that one comes back is."""
    for number in (math.nan, 1e300):
        assert isinstance(compile_routine(rounding, backend=compiled_backend)(number), int)
