"""Records and typed arrays: compiled code and Python see the same fields in the same memory."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
import pytest

from torseur.algebra.graph import Input, Program, symbol, vector
from torseur.computation.codegen import CallbackSpec, compile_routine
from torseur.computation.codegen.routine import (
    Array,
    External,
    IntArray,
    Record,
    RoutineError,
    Static,
    flat,
    routine,
    static_range,
    zeros,
)

N: int = Static("N")
ROWS = 3
State = Annotated[Array, N]
BACKENDS = ("python", "c", "llvm")


class Piece(Record):
    start: float
    length: float = 2.0
    weights: Annotated[Array, ROWS, N]


class Motion(Record):
    time: float
    steps: int = 5
    state: State
    done: bool
    seen: Annotated[IntArray, 2]
    piece: Piece
    error: float = 0.25


class Output(Record):
    written: int
    rows: Annotated[Array, ..., N]
    times: Array


class Terms(Record):
    mass: Annotated[Array, N, N]
    force: State


advance = External("advance", "motion: Motion, h: float", Motion)
terms_of = External("terms_of", "y: Array, terms: Terms", Terms)


@routine
def fill(piece: Piece, scale: float) -> None:
    for r in static_range(ROWS):
        row = piece.weights[r]
        for i in range(N):
            piece.weights[r, i] = scale * (10 * r + i)
            row[i] += 0.5
    piece.length *= scale


@routine
def sum_of(matrix: Annotated[Array, ..., N], rows: int) -> float:
    total = 0.0
    for r in range(rows):
        for i in range(N):
            total += (1 + r) * matrix[r, i]
    return total


@routine
def step(motion: Motion, h: float) -> None:
    motion.time += h
    motion.steps += 1
    motion.done = motion.time > 1.0
    motion.seen[motion.steps % 2] += 1
    for i in range(N):
        motion.state[i] += h * i


@routine
def run(motion: Motion, output: Output, h: float) -> float:
    piece = motion.piece
    fill(piece, h)
    while not motion.done:
        advance(motion, h)
        output.times[output.written] = motion.time
        for i in range(N):
            output.rows[output.written, i] = motion.state[i]
        output.written += 1
    return sum_of(piece.weights, ROWS) + sum_of(output.rows[1:], output.written - 1) + flat(piece.weights)[N]


@routine
def made_inside(x: float) -> float:
    motion = Motion(time=x, steps=2)
    buffer = zeros(4 * N)
    times = zeros(4)
    rows = zeros(4, N)
    output = Output(rows, times, written=1)
    fill(motion.piece, 1.0)
    step(motion, 0.25)
    output.times[output.written] = motion.time
    output.rows[2, 1] = motion.error
    placed = Piece.view(buffer[1:])
    placed.length = 7.0
    return times[1] + 10.0 * rows[2, 1] + 100.0 * motion.steps + buffer[2] + sum_of(motion.piece.weights, ROWS)


@routine
def from_program(y: Array) -> float:
    terms = Terms()
    terms_of(y, terms)
    return terms.mass[0, 1] + 10.0 * terms.mass[N - 1, N - 1] + 100.0 * terms.force[1]


def _records(n: int) -> tuple[Motion, Output]:
    sizes = {"N": n}
    return Motion.bound(sizes)(state=np.arange(n) / 8), Output.bound(sizes)(np.zeros((9, n)), np.zeros(9))


@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize("backend", BACKENDS)
def test_fields_are_read_and_written_in_place(backend: str, n: int) -> None:
    """Oracle: the same arithmetic on NumPy arrays, by hand."""
    motion, output = _records(n)
    total = compile_routine(run, {"N": n}, {"advance": step}, backend)(motion, output, 0.3)
    weights = 0.3 * (10 * np.arange(3)[:, None] + np.arange(n)) + 0.5
    states = np.arange(n) / 8 + 0.3 * np.arange(n) * np.arange(1, 5)[:, None]
    assert motion.time == pytest.approx(1.2)
    assert (motion.steps, motion.done, list(motion.seen)) == (9, True, [2, 2])
    np.testing.assert_allclose(motion.state, states[-1])
    np.testing.assert_allclose(motion.piece.weights, weights)
    assert motion.piece.length == pytest.approx(0.6)
    assert motion.error == 0.25
    assert output.written == 4
    np.testing.assert_allclose(output.rows[:4], states)
    np.testing.assert_allclose(output.times[:5], [0.3, 0.6, 0.9, 1.2, 0.0])
    expected = (weights.sum(axis=1) @ [1, 2, 3]) + (states[1:].sum(axis=1) @ [1, 2, 3]) + weights[1, 0]
    assert total == pytest.approx(expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_records_are_made_in_routines(backend: str) -> None:
    weights = 10 * np.arange(3)[:, None] + np.arange(2) + 0.5
    expected = 1.75 + 2.5 + 300 + 7.0 + weights.sum(axis=1) @ [1, 2, 3]
    assert compile_routine(made_inside, {"N": 2}, {}, backend)(1.5) == pytest.approx(expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_programs_fill_the_arrays_of_a_record(backend: str) -> None:
    y = [symbol(f"y{k}") for k in range(2)]
    program = Program("p", (Input("y", tuple(y)),), (vector("force", [y[0], 3 * y[1]]), vector("mass", [1, *y, 4])))
    total = compile_routine(from_program, {"N": 2}, {"terms_of": program}, backend)(np.array([0.5, 2.0]))
    assert total == pytest.approx(0.5 + 40.0 + 600.0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_callbacks_take_the_arrays_of_a_record(backend: str) -> None:
    def function(y: np.ndarray, mass: np.ndarray, force: np.ndarray) -> None:
        mass[:] = [1.0, y[0], 2.0, 3.0]
        force[1] = math.pi

    spec = CallbackSpec(function, {"y": 2, "mass": 4, "force": 2}, ("mass", "force"))
    total = compile_routine(from_program, {"N": 2}, {"terms_of": spec}, backend)(np.array([0.5, 2.0]))
    assert total == pytest.approx(0.5 + 30.0 + 100.0 * math.pi)


@routine
def late(motion: Motion) -> bool:
    return motion.time > 1.0


@routine
def asks(motion: Motion) -> bool:
    return late(motion)


def test_only_what_a_routine_uses_is_handed_to_it() -> None:
    source = compile_routine(asks, {"N": 2}, {}, "c").source
    (head,) = [line for line in source.splitlines() if line.startswith("static bool routine_late(")]
    assert "motion_floats" in head
    assert "motion_ints" not in head


def test_a_record_of_other_sizes_is_refused() -> None:
    motion, output = _records(3)
    with pytest.raises(RoutineError, match="record 'Motion' with the sizes it was compiled for"):
        compile_routine(run, {"N": 2}, {"advance": step}, "c")(motion, output, 0.3)


@routine
def unknown_field(motion: Motion) -> float:
    return motion.tine


@routine
def replaced_array(motion: Motion) -> None:
    motion.state = 1.0


@routine
def fraction_in_whole(motion: Motion) -> None:
    motion.steps = 0.5


@routine
def wrong_shape(motion: Motion) -> float:
    return sum_of(motion.state, 1)


@routine
def too_many_indices(motion: Motion) -> float:
    return motion.state[0, 1]


@routine
def outside(motion: Motion) -> float:
    return motion.piece.weights[3, 0]


@routine
def other_record(output: Output) -> None:
    step(output, 1.0)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (unknown_field, "no field 'tine'"),
        (replaced_array, "assign its entries"),
        (fraction_in_whole, "is int, not float"),
        (wrong_shape, "is Array of ... x 2, 'motion.state' is Array of 2"),
        (too_many_indices, "the array has 1 dimensions"),
        (outside, "index 3 of an array of 3 is outside"),
        (other_record, "is a record 'Motion', 'output' is Output"),
    ],
)
def test_mistakes_are_named(entry: object, message: str) -> None:
    with pytest.raises(RoutineError, match=message):
        compile_routine(entry, {"N": 2}, {"advance": step}, "c")  # type: ignore[arg-type]
