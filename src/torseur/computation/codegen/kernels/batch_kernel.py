"""Programs evaluated at many states at once: vectors of states, and threads over them."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

from torseur.algebra.graph.program import Input, Output, Program
from torseur.computation.codegen.kernels.backends import choose_backend
from torseur.computation.codegen.kernels.kernel import PREPARED, bake, compile_program
from torseur.computation.codegen.kernels.machine_code import Library, Shape, pointer
from torseur.computation.codegen.routine.routine_language import Array
from torseur.computation.codegen.sources.identifiers import Names
from torseur.computation.codegen.targets.python.python_program import python_function
from torseur.edges.processes import available_cores
from torseur.errors import CompilationError, TorseurError, unknown_name

LEAST_PER_THREAD = 500_000
"""Operations (of all states) below which another thread costs more than it gives: about a hundred microseconds."""


@cache
def _pool() -> ThreadPoolExecutor:
    """The threads of this process, which wait between calls: starting them takes longer than many calls do."""
    return ThreadPoolExecutor(available_cores(), "torseur-batch")


# A process made by a fork has none of the threads of its parent.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def in_pieces(count: int, piece: int, function: Callable[[int, int], Any]) -> None:
    """Calls function(begin, end) for pieces of a range, in threads where there are several pieces.

    For work that differs from place to place: who is done takes the next piece. An interrupt leaves out those to come.
    """
    if count <= piece:
        function(0, count)
        return
    bounds = [(begin, min(begin + piece, count)) for begin in range(0, count, piece)]
    for _ in _pool().map(lambda bound: function(*bound), bounds):
        pass


# States are columns: entry j of all states stands in one row, so that a vector instruction takes as many states as it
# has lanes (docs/decisions/0015-batches-with-vectors-of-states.md).
#
#     q:  (n, states)     [ q0 of state 0, of state 1, ... | q1 of state 0, ... ]
class BatchKernel:
    """A program as a function of arrays with one column per state: input q is (len(q), states), or one column for all.

    Parameters are vectors that all states share. `threads` is how many share the work.
    """

    def __init__(self, program: Program, parameters: tuple[str, ...], threads: int) -> None:
        self.program = program
        self.parameters = parameters
        self.threads = threads
        self.backend = "c" if _has_c() else "python"
        # What depends on parameters alone is computed once per call, for all states and all threads.
        prepare, per_state = program.split(parameters, PREPARED) if parameters else (None, program)
        self._prepare = compile_program(prepare, self.backend) if prepare is not None else None
        self._per_state = per_state
        self._states = [g for g in per_state.inputs if prepare is None or g.name != PREPARED]
        self._library: Library | None = None
        self._function: Any = None
        self._row_function: Any = None
        if self.backend == "c":
            self._library, self._function, self._row_function = self._compile()

    @property
    def source(self) -> str:
        """The generated text; empty where NumPy does the work."""
        return self._library.source if self._library is not None else ""

    def __call__(self, **values: Any) -> dict[str, Array]:
        """The outputs by name, each in its own shape with the states as last dimension."""
        known = [group.name for group in self.program.inputs]
        for name in values:
            if name not in known:
                raise TorseurError(unknown_name("input", name, known, self._where))
        for name in known:
            if name not in values:
                raise TorseurError(f"{self._where}input '{name}' is missing.")
        columns = {group.name: self._columns(group, values[group.name]) for group in self._states}
        count = max((array.shape[1] for array in columns.values()), default=1)
        inputs = [np.ascontiguousarray(np.broadcast_to(c, (c.shape[0], count))) for c in columns.values()]
        outputs = [self._result_array(output, count) for output in self.program.outputs]
        self._run(inputs, self._prepare_parameters(values), outputs, count)
        return {output.name: array for output, array in zip(self.program.outputs, outputs, strict=True)}

    def rows(self, arrays: Sequence[Array], values: Mapping[str, Array]) -> list[Array]:
        """The outputs of states that are rows of (N, n) arrays, in C order, one (n,) array for all; states first.

        `arrays` are the inputs that differ from state to state, in their order; `values` the parameters by name.
        """
        count = next(len(array) for array in arrays if array.ndim == 2)
        if self._row_function is None:
            columns = {g.name: a.T if a.ndim == 2 else a for g, a in zip(self._states, arrays, strict=True)}
            return [np.ascontiguousarray(np.moveaxis(a, -1, 0)) for a in self(**columns, **values).values()]
        prepared = self._prepare_parameters(values)
        outputs = [np.empty((count, *output.shape)) for output in self.program.outputs]
        given = [*arrays, *([prepared] if prepared is not None else []), *outputs]
        steps = (ctypes.c_ssize_t * len(given))(*[a.shape[1] if a.ndim == 2 else 0 for a in arrays])
        self._share(count, self._row_function, steps, *[pointer(a) if a.size else None for a in given])
        return outputs

    @staticmethod
    def _result_array(output: Output, count: int) -> Array:
        """An array for a result, with what is the same in every state: the compiled function does not write it."""
        array = np.zeros((*output.shape, count))
        for row, entry in zip(array.reshape(-1, count), output.entries, strict=True):
            if entry.op in ("constant", "pi") and not entry.is_zero:
                row[:] = float(entry)
        return array

    @property
    def _where(self) -> str:
        return f"batch kernel '{self.program.name}': "

    def _columns(self, group: Input, value: Any) -> Array:
        array: Array = np.asarray(value, dtype=np.float64)
        if array.ndim == 1:
            array = array[:, None]
        if array.ndim != 2 or array.shape[0] != len(group):
            raise TorseurError(
                f"{self._where}input '{group.name}' has shape {array.shape}; expected ({len(group)}, states)."
            )
        return array

    def _prepare_parameters(self, values: Mapping[str, Any]) -> Array | None:
        if self._prepare is None:
            return None
        return self._prepare(*[values[name] for name in self.parameters])[PREPARED]

    def _run(self, inputs: list[Array], prepared: Array | None, outputs: list[Array], count: int) -> None:
        if self._function is None:
            return self._run_numpy(inputs, prepared, outputs)
        given = [*inputs, *([prepared] if prepared is not None else []), *outputs]
        return self._share(count, self._function, count, *[pointer(array) if array.size else None for array in given])

    def _share(self, count: int, function: Any, *arguments: Any) -> None:
        """Calls function(begin, end, ...) for all states, in threads where there is work for them."""
        operations = max(1, len(self._per_state.operations))
        shares = max(1, min(self.threads, count * operations // LEAST_PER_THREAD))
        if shares == 1:
            function(0, count, *arguments)
            return
        # Not rounded to whole vectors: each share may end with a part of one, which costs one block in some thousands.
        bounds = [count * k // shares for k in range(shares + 1)]
        # Threads, not processes: ctypes releases the interpreter while compiled code runs. This one takes a share too.
        tasks = [_pool().submit(function, bounds[k], bounds[k + 1], *arguments) for k in range(1, shares)]
        function(0, bounds[1], *arguments)
        for task in tasks:
            task.result()

    def _run_numpy(self, inputs: list[Array], prepared: Array | None, outputs: list[Array]) -> None:
        function = python_function(self._per_state)
        with np.errstate(all="ignore"):
            results = function(*inputs, *([prepared] if prepared is not None else []))
        for output, values in zip(outputs, results, strict=True):
            rows = output.reshape(-1, output.shape[-1])
            for row, value in zip(rows, values, strict=True):
                row[:] = value

    def _compile(self) -> tuple[Library, Any, Any]:
        from torseur.computation.codegen.targets.c.batch.c_batch import Batch
        from torseur.computation.codegen.targets.c.batch.c_batch_module import native_source
        from torseur.computation.codegen.targets.c.c_compiler import find_compiler

        symbol = Names().unique(f"{self.program.name}_batch")
        shared = (PREPARED,) if self._prepare is not None else ()
        source = native_source(Batch(symbol, self._per_state, shared))
        compiler = find_compiler(lanes=True)
        assert compiler is not None
        library = compiler.build(source, Shape.STRAIGHT)
        arrays = len(self._per_state.inputs) + len(self._per_state.outputs)
        size, doubles = ctypes.c_ssize_t, [ctypes.POINTER(ctypes.c_double)] * arrays
        columns = library.function(f"{symbol}_again", None, size, size, size, *doubles)
        rows = library.function(f"{symbol}_rows", None, size, size, ctypes.POINTER(size), *doubles)
        return library, columns, rows


def compile_batch(
    program: Program,
    parameters: Sequence[str] = (),
    baked: Mapping[str, Sequence[float]] | None = None,
    threads: int | None = None,
) -> BatchKernel:
    """The program as a kernel over many states; by C where there is a compiler, else by NumPy.

    `parameters` names the inputs all states share; `baked` gives inputs a fixed value, compiled into the code;
    `threads` is one per processor unless given.
    """
    program = bake(program, baked or {})
    names = [group.name for group in program.inputs]
    for name in parameters:
        if name not in names:
            raise TorseurError(unknown_name("input", name, names, f"program '{program.name}': "))
    ordered = tuple(name for name in names if name in parameters)
    return BatchKernel(program, ordered, threads if threads is not None else available_cores())


def _has_c() -> bool:
    try:
        return choose_backend("c") == "c"
    except CompilationError:
        return False
