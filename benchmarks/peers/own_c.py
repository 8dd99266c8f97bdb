"""Our own functions, compiled for single states and for batches of eight, called by the harness."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass

import numpy as np

from torseur.algebra.graph import Program, vector
from torseur.computation.codegen.kernels.machine_code import Shape
from torseur.computation.codegen.targets.c.batch.c_batch import Batch
from torseur.computation.codegen.targets.c.batch.c_batch_module import native_source
from torseur.computation.codegen.targets.c.c_compiler import find_compiler
from torseur.computation.codegen.targets.c.c_unit import programs_source

STATES = 128


@dataclass(frozen=True)
class States:
    """Random states, one per row, in our order and, where a base floats, in Pinocchio's."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    theirs: np.ndarray


def joined(given: Program) -> Program:
    """The same with all results in one output."""
    return Program("f", given.inputs, (vector("out", [e for output in given.outputs for e in output.entries]),))


def single_source(given: Program) -> str:
    """C for one state, all results in one array behind one another."""
    places, start = [], 0
    for output in given.outputs:
        places.append(f"out + {start}")
        start += len(output)
    arguments = "const double *q, const double *v, const double *a, double *out"
    wrapper = f"TORSEUR_EXPORT void f({arguments}) {{ results(q, v, a, {', '.join(places)}); }}"
    return programs_source({"results": given}) + wrapper + "\n"


def batch_source(given: Program) -> str:
    """C for batches, all results in one array behind one another."""
    start, places = 0, []
    for output in given.outputs:
        places.append(f"out + {start} * stride")
        start += len(output)
    parameters = "ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride"
    parameters += ", const double *q, const double *v, const double *a, double *out"
    call = f"(begin, end, stride, q, v, a, {', '.join(places)})"
    wrappers = [
        f"TORSEUR_EXPORT void f_batch{name}({parameters}) {{ results{name}{call}; }}\n" for name in ("", "_again")
    ]
    return native_source(Batch("results", given)) + "".join(wrappers)


def pointers(*arrays: np.ndarray) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p(array.ctypes.data) for array in arrays]


def aligned(shape: tuple[int, ...]) -> np.ndarray:
    """An array of zeros that begins where a vector may be moved in one piece."""
    size = int(np.prod(shape))
    room = np.zeros(size + 8)
    start = -room.ctypes.data % 64 // 8
    return room[start : start + size].reshape(shape)


def blocks(rows: np.ndarray) -> np.ndarray:
    """States in blocks of 8, each block a row per entry."""
    found = aligned((len(rows) // 8, rows.shape[1], 8))
    found[:] = rows.reshape(-1, 8, rows.shape[1]).transpose(0, 2, 1)
    return found


class Ours:
    """A program compiled for single states and for batches."""

    def __init__(self, harness: ctypes.CDLL, given: Program, states: States) -> None:
        compiler, for_lanes = find_compiler(), find_compiler(lanes=True)
        assert compiler is not None and for_lanes is not None
        begin = os.times().children_user
        self.single = compiler.build(single_source(given), Shape.STRAIGHT)
        self.seconds = os.times().children_user - begin
        self.batch = for_lanes.build(batch_source(given), Shape.STRAIGHT)
        self.harness, self.states = harness, states
        self.size = sum(len(output) for output in given.outputs)
        self.out = np.zeros(self.size)
        self.rows = aligned((self.size, 8))
        self.soa = [blocks(x) for x in (states.q, states.v, states.a)]
        self._run("time_batch", self.batch.function("f_batch", None), self.soa, 8, self.rows)

    def evaluate(self, i: int) -> np.ndarray:
        s = self.states
        q, v, a = (np.ascontiguousarray(x[i : i + 1]) for x in (s.q, s.v, s.a))
        self._run("time_scalar", self.single.function("f", None), (q, v, a), 1, self.out)
        return self.out.copy()

    def evaluate_batch(self, i: int) -> np.ndarray:
        arrays = [x[i // 8 : i // 8 + 1] for x in self.soa]
        self._run("time_batch", self.batch.function("f_batch_again", None), arrays, 8, self.rows)
        return self.rows[:, i % 8].copy()

    def time(self) -> float:
        s = self.states
        return self._run("time_scalar", self.single.function("f", None), (s.q, s.v, s.a), STATES, self.out)

    def time_batch(self) -> float:
        return self._run("time_batch", self.batch.function("f_batch_again", None), self.soa, STATES, self.rows)

    def _run(self, loop: str, function: object, arrays: object, count: int, out: np.ndarray) -> float:
        sizes = count, self.states.q.shape[1], self.states.v.shape[1]
        return float(getattr(self.harness, loop)(function, *sizes, *pointers(*arrays, out)))
