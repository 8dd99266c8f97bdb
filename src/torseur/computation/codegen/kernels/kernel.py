"""Programs compiled to a backend and called with arrays: numbers in, arrays out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from torseur.algebra.graph.evaluation import substitute
from torseur.algebra.graph.expr import Expr, as_expr
from torseur.algebra.graph.program import Input, Output, Program, Solved
from torseur.algebra.graph.simd_batching import substitute_packed
from torseur.computation.codegen.kernels.array_entry import array_entry
from torseur.computation.codegen.kernels.backends import build_library, choose_backend
from torseur.computation.codegen.kernels.machine_code import Evaluate, Library, Shape, array_function
from torseur.computation.codegen.routine.routine_language import Array
from torseur.computation.codegen.sources.generate_files import describe, header
from torseur.computation.codegen.sources.identifiers import Names
from torseur.computation.codegen.targets.python.python_program import program_source as python_source
from torseur.computation.codegen.targets.python.python_program import python_function
from torseur.errors import TorseurError, unknown_name

PREPARED = "prepared"
_FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True)
class Timing:
    """Seconds spent on printing the source, and on compiling it (or loading it, when it was cached)."""

    generation: float
    compilation: float
    cached: bool


@dataclass(frozen=True)
class Code:
    """A program on one backend: its text, the function that evaluates it and the one that prepares its parameters."""

    backend: str
    source: str
    timing: Timing
    evaluate: Evaluate
    prepare: Evaluate | None
    library: Library | None = None
    symbol: str = ""


class Kernel:
    """A program as a function of NumPy arrays.

    `kernel(q, v, p)` or `kernel(q=..., v=..., p=...)` returns a dict of output arrays. What depends on the
    parameters only is computed when they change, not at every call.
    """

    def __init__(self, program: Program, parameters: tuple[str, ...], code: Code, prepared_size: int) -> None:
        self.program = program
        self.parameters = parameters
        self.backend = code.backend
        self.timing = code.timing
        self.library = code.library
        self._code = code
        self._prepared_size = prepared_size
        self._last: tuple[list[Array], Array] | None = None
        self._names = [group.name for group in program.inputs]
        self._output_names = [output.name for output in program.outputs]
        self._is_parameter = [name in parameters for name in self._names]
        self._where = f"kernel '{program.name}': "

    def __call__(self, *values: Any, **named: Any) -> dict[str, Array]:
        """The outputs, each in its own shape."""
        results = self._results(values, named) if named else self.function(*values)
        return dict(zip(self._output_names, results if isinstance(results, tuple) else (results,), strict=True))

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The kernel that gives arrays without names: of one array per input, one array, or a tuple of several.

        Called with float64 arrays of one dimension it is machine code all through (array_entry.py); whatever else
        is given becomes such arrays first.
        """
        return self.function_or(lambda *values, **named: self._results(values, named))

    def function_or(self, otherwise: Callable[..., Any]) -> Callable[..., Any]:
        """The same with another answer to calls with anything but such arrays."""
        code, program = self._code, self.program
        # With prepared parameters every call has to compare them with the last ones, which is Python's work.
        if code.library is None or code.prepare is not None:
            return otherwise
        sizes, shapes = [len(group) for group in program.inputs], [output.shape for output in program.outputs]
        return array_entry(code.library, code.symbol, sizes, shapes, otherwise)

    def _results(self, values: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The outputs as arrays: one, or a tuple of several."""
        results = [np.empty(output.shape) for output in self.program.outputs]
        self._run(self._inputs(values, named), results)
        return results[0] if len(results) == 1 else tuple(results)

    def into(self, outputs: Sequence[Array] | Mapping[str, Array], *values: Any, **named: Any) -> None:
        """Writes the outputs into given arrays (contiguous, float64, not overlapping the inputs)."""
        groups = self.program.outputs
        given = [outputs[g.name] for g in groups] if isinstance(outputs, Mapping) else list(outputs)
        if len(given) != len(groups):
            raise TorseurError(f"{self._where}has {len(groups)} outputs, got {len(given)} arrays.")
        inputs = self._inputs(values, named)
        for group, array in zip(groups, given, strict=True):
            self._check_output(group, array, inputs)
        self._run(inputs, given)

    @property
    def source(self) -> str:
        """The generated text under a header that says what it computes and what it cost."""
        timing = self.timing
        made = "loaded from the cache" if timing.cached else "compiled"
        spent = f"generated in {1e3 * timing.generation:.1f} ms, {made} in {1e3 * timing.compilation:.1f} ms"
        return header(self.backend, [*describe(self.program), spent]) + self._code.source

    def prepare(self, *parameters: Any) -> Array:
        """The values that depend on the parameters only, in the order the per-state function reads them."""
        groups = [self.program.input(name) for name in self.parameters]
        if len(parameters) != len(groups):
            raise TorseurError(f"{self._where}has parameters {list(self.parameters)}, got {len(parameters)} arrays.")
        prepared = np.empty(self._prepared_size)
        if self._code.prepare is not None:
            self._code.prepare([self._input(g, p) for g, p in zip(groups, parameters, strict=True)], [prepared])
        return prepared

    def __reduce__(self) -> tuple[Any, ...]:
        """Compiled again, or taken from the cache, where it arrives."""
        return compile_program, (self.program, self.backend, self.parameters)

    def __repr__(self) -> str:
        return f"Kernel({self.program.name!r}, backend={self.backend!r})"

    def _run(self, inputs: list[Array], outputs: list[Array]) -> None:
        if self._code.prepare is None:
            return self._code.evaluate(inputs, outputs)
        fixed = [a for a, is_parameter in zip(inputs, self._is_parameter, strict=True) if is_parameter]
        states = [a for a, is_parameter in zip(inputs, self._is_parameter, strict=True) if not is_parameter]
        self._code.evaluate([*states, self._prepare_once(fixed)], outputs)

    def _prepare_once(self, fixed: list[Array]) -> Array:
        # Compared by value, not by identity: a caller may change its array in place.
        last = self._last
        if last is not None and all(np.array_equal(a, b) for a, b in zip(last[0], fixed, strict=True)):
            return last[1]
        prepared = self.prepare(*fixed)
        # A pair, assigned in one step: another thread sees either the old parameters and their vector or the new ones.
        self._last = ([a.copy() for a in fixed], prepared)
        return prepared

    def _inputs(self, values: tuple[Any, ...], named: dict[str, Any]) -> list[Array]:
        groups = self.program.inputs
        if len(values) > len(groups):
            raise TorseurError(f"{self._where}has {len(groups)} inputs, got {len(values)}.")
        if len(values) == len(groups) and not named:
            return [self._input(group, value) for group, value in zip(groups, values, strict=True)]
        given = dict(zip(self._names, values, strict=False))
        for name in named:
            if name not in self._names:
                raise TorseurError(unknown_name("input", name, self._names, self._where))
            if name in given:
                raise TorseurError(f"{self._where}input '{name}' is given twice.")
        given |= named
        for name in self._names:
            if name not in given:
                raise TorseurError(f"{self._where}input '{name}' is missing.")
        return [self._input(group, given[group.name]) for group in groups]

    def _input(self, group: Input, value: Any) -> Array:
        array: Array = value
        if type(value) is not np.ndarray or value.dtype is not _FLOAT64 or not value.flags.c_contiguous:
            array = np.ascontiguousarray(value, dtype=np.float64)
        if array.size != len(group.nodes):
            raise TorseurError(f"{self._where}input '{group.name}' has {array.size} entries, expected {len(group)}.")
        return array

    def _check_output(self, group: Output, array: Array, inputs: list[Array]) -> None:
        where = f"{self._where}output '{group.name}'"
        if not isinstance(array, np.ndarray) or array.dtype != np.float64 or not array.flags.c_contiguous:
            raise TorseurError(f"{where} needs a contiguous NumPy array of float64.")
        if array.size != len(group) or not array.flags.writeable:
            raise TorseurError(
                f"{where} has {len(group)} entries and needs a writable array of that size, got {array.size}."
            )
        if any(np.may_share_memory(array, given) for given in inputs):
            raise TorseurError(f"{where} overlaps an input in memory.")


def compile_program(
    program: Program,
    backend: str = "auto",
    parameters: Sequence[str] = (),
    baked: Mapping[str, Sequence[float]] | None = None,
) -> Kernel:
    """The program as a kernel.

    `parameters` names the inputs that change rarely; `baked` gives inputs a fixed value, compiled into the code.
    """
    program = bake(program, baked or {})
    for name in parameters:
        if name not in [group.name for group in program.inputs]:
            names = [group.name for group in program.inputs]
            raise TorseurError(unknown_name("input", name, names, f"program '{program.name}': "))
    ordered = tuple(group.name for group in program.inputs if group.name in parameters)
    prepare, per_state = program.split(ordered, PREPARED) if ordered else (None, program)
    # Parameters that only pass through would be copied twice for nothing.
    if prepare is None or not prepare.operations:
        prepare, per_state = None, program
    chosen = choose_backend(backend)
    if chosen == "python":
        code = _python_code(prepare, per_state)
    else:
        code = _compiled_code(prepare, per_state, chosen, may_change=backend == "auto")
    return Kernel(program, ordered, code, len(prepare.outputs[0]) if prepare is not None else 0)


def bake(program: Program, values: Mapping[str, Sequence[float]]) -> Program:
    """The program with some inputs replaced by numbers."""
    if not values:
        return program
    known = {group.name: group for group in program.inputs}
    fixed: dict[Expr, Expr] = {}
    for name, numbers in values.items():
        if name not in known:
            raise TorseurError(unknown_name("input", name, known, f"program '{program.name}': "))
        fixed |= {node: as_expr(x) for node, x in zip(known[name].nodes, numbers, strict=True)}
    return _substitute_inputs(program, tuple(group for group in program.inputs if group.name not in values), fixed)


def _substitute_inputs(program: Program, left: tuple[Input, ...], fixed: Mapping[Expr, Expr]) -> Program:
    """The program in all its ways, of the inputs that are left."""
    # A program may be held in several ways at once: as it was derived, with a linear system solved by blocks (0012),
    # and with limbs that are alike in vectors (0011). A number put in place of an input must reach all of them.
    solved, simd = program.solved, program.simd
    if solved is not None:
        solved = _substitute_in_system(solved, left, fixed)
    if simd is not None:
        entries = [entry for output in simd.outputs for entry in output.entries]
        simd = Program(simd.name, left, _with_entries(simd.outputs, substitute_packed(entries, fixed)))
    # Outputs and labelled values at once: they share most of their nodes.
    entries = [entry for output in program.outputs for entry in output.entries]
    values = substitute([*entries, *program.labels], fixed)
    labels = dict(zip(values[len(entries) :], program.labels.values(), strict=True))
    return Program(program.name, left, _with_entries(program.outputs, values), solved, simd, labels)


def _substitute_in_system(solved: Solved, left: tuple[Input, ...], fixed: Mapping[Expr, Expr]) -> Solved:
    middle, rest = (tuple(substitute(list(entries), fixed)) for entries in (solved.middle, solved.rest))
    entries = substitute([entry for _, _, entry in solved.matrix], fixed)
    places = [(k, i) for k, i, _ in solved.matrix]
    matrix = tuple((k, i, entry) for (k, i), entry in zip(places, entries, strict=True))
    return replace(
        solved, program=_substitute_inputs(solved.program, left, fixed), middle=middle, matrix=matrix, rest=rest
    )


def _with_entries(outputs: Sequence[Output], values: Iterable[Expr]) -> tuple[Output, ...]:
    """The outputs with other entries, taken one after the other."""
    entries = iter(values)
    return tuple(Output(o.name, o.shape, tuple(islice(entries, len(o)))) for o in outputs)


def _python_code(prepare: Program | None, per_state: Program) -> Code:
    start = time.perf_counter()
    source = "\n".join(python_source(part) for part in (prepare, per_state) if part is not None)
    first = None if prepare is None else _python_evaluate(prepare)
    second = _python_evaluate(per_state)
    return Code("python", source, Timing(time.perf_counter() - start, 0.0, False), second, first)


def _python_evaluate(program: Program) -> Evaluate:
    function = python_function(program)

    def evaluate(inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        with np.errstate(all="ignore"):
            results = function(*[array.reshape(-1) for array in inputs])
        for array, values in zip(outputs, results, strict=True):
            array.reshape(-1)[:] = values

    return evaluate


def _compiled_code(prepare: Program | None, per_state: Program, backend: str, may_change: bool) -> Code:
    start = time.perf_counter()
    symbol = Names().unique(f"{per_state.name}_kernel")
    parts = {symbol: per_state} | ({f"{symbol}_prepare": prepare} if prepare is not None else {})
    library = build_library(backend, may_change, Shape.STRAIGHT, lambda target: target.programs_source(parts))
    timing = Timing(time.perf_counter() - start - library.seconds, library.seconds, library.cached)
    evaluate, *rest = (array_function(library, name, part) for name, part in parts.items())
    return Code(library.backend, library.source, timing, evaluate, rest[0] if rest else None, library, symbol)
