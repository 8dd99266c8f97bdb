"""What leaves the routine language is refused at translation, with the file, the line and the way out."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from torseur.algebra.graph import Input, Program, symbol, vector
from torseur.computation.codegen import CallbackSpec, compile_routine
from torseur.computation.codegen.routine import (
    Array,
    External,
    IntArray,
    RoutineError,
    Static,
    izeros,
    routine,
    static_range,
    zeros,
)

M: int = Static("M")
LIST = [1.0, 2.0]
TABLE = ((1.0, 2.0), (3.0,))
rhs = External("rhs", "t: float, y: Array, dy: Array")
law = External("law", "x: float -> float")


@routine
def no_annotation(x) -> float:
    return 1.0


@routine
def default_value(x: float = 1.0) -> float:
    return x


@routine
def unknown_local(x: float) -> float:
    return x + later  # noqa: F821


@routine
def int_becomes_float(x: float) -> float:
    total = 0
    total += x
    return total


@routine
def returns_wrong_type(x: float) -> int:
    return x


@routine
def forgets_to_return(x: float) -> float:
    if x > 0.0:
        return 1.0


@routine
def uses_list(i: int) -> float:
    return LIST[i]


@routine
def uses_tuple(x: float) -> float:
    a, b = x, 2.0
    return a + b


@routine
def uses_with(x: float) -> float:
    with open("f"):
        return x


@routine
def uses_comprehension(x: float) -> float:
    return sum([x for _ in range(3)])


@routine
def unknown_function(x: float) -> float:
    return np.sin(x)


@routine
def keyword_argument(x: float) -> float:
    return math.pow(x=x, y=2.0)


@routine
def negative_index(a: Array) -> float:
    return a[-1]


@routine
def outside_local() -> float:
    a = zeros(3)
    return a[3]


@routine
def full_slice(a: Array) -> float:
    b = a[1:3]
    return b[0]


@routine
def size_at_run_time(n: int) -> float:
    a = zeros(n)
    return a[0]


@routine
def too_large() -> float:
    a = zeros(10**7)
    return a[0]


@routine
def float_index(a: Array, x: float) -> float:
    return a[x]


@routine
def float_modulo(x: float) -> float:
    return x % 2.0


@routine
def float_in_int_array(x: float) -> float:
    a = izeros(2)
    a[0] = x
    return 1.0


@routine
def wrong_array_kind(a: IntArray) -> float:
    return takes_array(a)


@routine
def takes_array(a: Array) -> float:
    return a[0]


@routine
def wrong_count(a: Array) -> float:
    return takes_array(a, a)


@routine
def number_for_array(x: float) -> float:
    return takes_array(x)


@routine
def static_bound_at_run_time(n: int) -> float:
    for _ in static_range(n):
        pass
    return 1.0


@routine
def assigns_static_index() -> float:
    for s in static_range(3):
        s = 2  # noqa: F841
    return 1.0


@routine
def step_at_run_time(n: int) -> float:
    for _ in range(0, 10, n):
        pass
    return 1.0


@routine
def loop_else(n: int) -> float:
    for _ in range(n):
        pass
    else:
        return 1.0
    return 2.0


@routine
def recursion(n: int) -> int:
    return recursion(n - 1)


@routine
def changes(a: Array) -> float:
    a[0] += 1.0
    return a[0]


@routine
def order_matters(a: Array) -> float:
    return a[0] + changes(a)


@routine
def order_of_store(a: Array) -> None:
    a[int(changes(a))] = 1.0 + a[0]


@routine
def number_in_and(n: int, m: int) -> bool:
    return n and m


@routine
def ragged(i: int) -> float:
    return TABLE[i][0]


@routine
def table_outside(x: float) -> float:
    return x + TABLE[1][1]


@routine
def static_division(x: float) -> float:
    return x + 1.0 / (2 - 2)


@routine
def missing_static(x: float) -> float:
    return x * M


@routine
def missing_external(y: Array, dy: Array) -> None:
    rhs(0.0, y, dy)


@routine
def two_names_in_loop(n: int) -> float:
    keep = zeros(2)
    for _ in range(n):
        fresh = zeros(2)
        keep = fresh
    return keep[0]


@routine
def result_of_nothing(y: Array, dy: Array) -> float:
    x = rhs(0.0, y, dy)
    return x


@routine
def no_effect(x: float) -> None:
    x + 1.0


@routine
def whole_power(n: int, m: int) -> int:
    return n**m


@routine
def middle_call(x: float) -> bool:
    return 0.0 < law(x) < 1.0


@routine
def over_its_input(y: Array) -> None:
    rhs(0.0, y, y)


CASES = [
    (no_annotation, "'x' needs an annotation"),
    (default_value, "without defaults"),
    (unknown_local, "unknown name 'later'"),
    (int_becomes_float, "Start it as a float"),
    (returns_wrong_type, "returns float"),
    (forgets_to_return, "may end without returning"),
    (uses_list, "LIST"),
    (uses_tuple, "cannot assign"),
    (uses_with, "with open"),
    (uses_comprehension, "not part of|not a routine"),
    (unknown_function, "not a routine"),
    (keyword_argument, "positional"),
    (negative_index, "count from the start"),
    (outside_local, "index 3 of an array of 3"),
    (full_slice, r"a\[start:\]"),
    (size_at_run_time, "known at translation"),
    (too_large, "workspace"),
    (float_index, "is float: expected int"),
    (float_modulo, "math.floor"),
    (float_in_int_array, r"use int\("),
    (wrong_array_kind, "is IntArray"),
    (wrong_count, "takes 1 arguments, got 2"),
    (number_for_array, "is float"),
    (static_bound_at_run_time, "known at translation"),
    (assigns_static_index, "index of a static_range"),
    (step_at_run_time, "known at translation"),
    (loop_else, "'else' of a loop"),
    (recursion, "calls itself"),
    (order_matters, "assign its result to a name first"),
    (order_of_store, "assign its result to a name first"),
    (number_in_and, "compare it"),
    (ragged, "rectangular"),
    (table_outside, "index 1 of a table with 1"),
    (static_division, "cannot be computed at translation"),
    (missing_static, "unknown static 'M'"),
    (missing_external, r"externals=\{'rhs'"),
    (two_names_in_loop, "second name"),
    (no_effect, "has no effect"),
    (whole_power, r"float\("),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].name)
def test_refused_with_file_and_line(case):
    entry, message = case
    with pytest.raises(RoutineError, match=message) as caught:
        compile_routine(entry, backend="llvm")
    place, _, _ = str(caught.value).partition(": routine")
    file, _, line = place.rpartition(":")
    assert Path(file) == Path(__file__)
    assert entry.definition.lineno - 1 <= int(line) <= entry.definition.end_lineno


def test_result_of_nothing():
    spec = CallbackSpec(lambda t, y, dy: None, {"y": 1, "dy": 1})
    with pytest.raises(RoutineError, match="returns nothing"):
        compile_routine(result_of_nothing, externals={"rhs": spec}, backend="llvm")


def test_a_program_cannot_write_over_its_input():
    x = symbol("x")
    program = Program("f", (Input("y", (x,)),), (vector("dy", [-x]),))
    with pytest.raises(RoutineError, match="writes its result over an input"):
        compile_routine(over_its_input, externals={"rhs": program}, backend="llvm")


def test_a_plain_function_is_not_a_routine():
    with pytest.raises(RoutineError, match="mark it with @routine"):
        compile_routine(math.sin)


def test_call_in_the_middle_of_a_chain():
    with pytest.raises(RoutineError, match="chained comparison"):
        compile_routine(middle_call, externals={"law": CallbackSpec(lambda x: x)}, backend="llvm")


@pytest.mark.parametrize("signature", ["x", "x: list", "x: float -> Array", "x: float,, y"])
def test_signature_of_an_external(signature):
    with pytest.raises(RoutineError, match="external 'f'"):
        External("f", signature)


def test_statics_are_integers():
    with pytest.raises(RoutineError, match=r"static 'M' is 2\.5"):
        compile_routine(missing_static, {"M": 2.5}, backend="llvm")


@pytest.mark.parametrize(
    ("binding", "message"),
    [
        (lambda t, y, dy: None, "CallbackSpec"),
        (takes_array, "signature"),
        (CallbackSpec(lambda t, y, dy: None, {"y": 1}), "length of array 'dy'"),
        (CallbackSpec(lambda t, y, dy: None, {"y": 1, "dy": 1, "z": 2}), "unknown array 'z'"),
    ],
)
def test_bindings_that_do_not_fit(binding, message):
    with pytest.raises(RoutineError, match=message):
        compile_routine(missing_external, externals={"rhs": binding}, backend="llvm")


def test_programs_that_do_not_fit():
    x, y = symbol("x"), symbol("y")
    inputs = (Input("z", (x, y)),)
    with pytest.raises(RoutineError, match="unknown argument 'z'"):
        compile_routine(missing_external, externals={"rhs": Program("f", inputs, (vector("dy", [x]),))}, backend="llvm")
    inputs = (Input("t", (x, y)),)
    with pytest.raises(RoutineError, match="input 't' has 2 entries"):
        compile_routine(missing_external, externals={"rhs": Program("f", inputs, (vector("dy", [x]),))}, backend="llvm")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(3), np.zeros(3)), "takes 1 arguments"),
        (([1.0],), "is list"),
        ((np.zeros(3, dtype=np.float32),), "float32"),
        ((np.zeros((4, 4))[:, 0],), "not contiguous"),
    ],
)
def test_arguments_are_checked(arguments, message, compiled_backend):
    with pytest.raises(RoutineError, match=message):
        compile_routine(changes, backend=compiled_backend)(*arguments)


def test_read_only_arrays(compiled_backend):
    array = np.ones(3)
    array.flags.writeable = False
    assert compile_routine(takes_array, backend=compiled_backend)(array) == 1.0
    with pytest.raises(RoutineError, match="read-only"):
        compile_routine(changes, backend=compiled_backend)(array)
