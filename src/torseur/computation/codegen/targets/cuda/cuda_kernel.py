"""Programs as kernels on an NVIDIA GPU: arrays of many states in, arrays out.

CuPy compiles (by NVRTC, or by nvcc where that is missing) and keeps what it compiled. Arrays of any library that
speaks DLPack or `__cuda_array_interface__` are used where they lie; NumPy arrays are copied there and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from torseur.algebra.graph.program import Input, Output, Program
from torseur.computation.codegen.kernels.kernel import PREPARED, compile_program
from torseur.computation.codegen.targets.cuda.cuda_entries import kernel_sources
from torseur.computation.codegen.targets.cuda.tuning import FAST_SINES, Launchable, cupy, run_all
from torseur.errors import TorseurError, unknown_name

PRECISIONS = {"float32": "f32", "float64": "f64", "mixed": "mixed"}
TYPES = {"f32": (np.float32, np.float32), "f64": (np.float64, np.float64), "mixed": (np.float32, np.float64)}
"""Types of T and F by suffix."""


def suffix_of(precision: str) -> str:
    """The suffix of kernels in a precision."""
    if precision not in PRECISIONS:
        raise TorseurError(unknown_name("precision", precision, PRECISIONS))
    return PRECISIONS[precision]


class CudaKernel:
    """A program as a function of arrays with one column per state: kernel(q, v, p=...) with q of shape (entries, n).

    An input given as a plain vector holds for all states; parameters given as (entries, n) are those of each state.
    Results have the states as their last dimension. NumPy in gives NumPy out; anything on the device gives CuPy arrays
    on the device.
    """

    backend = "cuda"

    def __init__(
        self, program: Program, parameters: Sequence[str] = (), precision: str = "float32", fast_sines: bool = False
    ) -> None:
        suffix = suffix_of(precision)
        self._cupy = cupy()
        self.program = program = program.without_vectors
        self.parameters = tuple(group.name for group in program.inputs if group.name in parameters)
        self.precision, self.fast_sines = precision, fast_sines
        self._type, self._fine = TYPES[suffix]
        prepare, self._per_state = program.split(self.parameters, PREPARED) if self.parameters else (None, program)
        self._prepare = compile_program(prepare) if prepare is not None else None
        sources, self._scratch = kernel_sources(self._per_state, suffix)
        self._stages = [Launchable(source, [FAST_SINES] if fast_sines else []) for source in sources]

    def __repr__(self) -> str:
        return f"CudaKernel({self.program.name!r}, precision={self.precision!r})"

    def __call__(self, *values: Any, **named: Any) -> dict[str, Any]:
        """The outputs for all states."""
        given = self._named_inputs(values, named)
        if any(np.ndim(given[name]) == 2 for name in self.parameters):
            return self._of_each_state(**given)
        on_host = all(isinstance(x, np.ndarray | float | int | list | tuple) for x in given.values())
        arrays, n = self._columns(given)
        results = [self._room(output, n) for output in self.program.outputs]
        self.launch(arrays, results, n)
        named_results = {o.name: r for o, r in zip(self.program.outputs, results, strict=True)}
        return {k: self._cupy.asnumpy(r) for k, r in named_results.items()} if on_host else named_results

    @cached_property
    def _of_each_state(self) -> CudaKernel:
        """The same with parameters that differ from state to state."""
        # Another program, not another call: nothing can be prepared on the host when parameters differ between threads.
        return CudaKernel(self.program, (), self.precision, self.fast_sines)

    @property
    def source(self) -> str:
        """The text of all kernels."""
        return "\n".join(stage.text for stage in self._stages)

    def launch(self, arrays: Sequence[Any], results: Sequence[Any], n: int) -> None:
        """Runs on device arrays: inputs in the order of the per-state program, what was prepared as a host array.

        Results must hold zeros where the program has none to give.
        """
        if n:
            scratch = [self._cupy.empty(self._scratch * n, dtype=self._fine)] if self._scratch else []
            run_all(self._stages, (*arrays, *results, *scratch, np.uint32(n)), n)

    def _room(self, output: Output, n: int) -> Any:
        """An array for results; entries that are zero for every state are not computed, so they are set here."""
        make = self._cupy.zeros if any(entry.is_zero for entry in output.entries) else self._cupy.empty
        return make((*output.shape, n), dtype=self._type)

    def _named_inputs(self, values: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        names = [group.name for group in self.program.inputs]
        if len(values) > len(names):
            raise TorseurError(f"{self}: has {len(names)} inputs, got {len(values)}.")
        given = dict(zip(names, values, strict=False)) | named
        for name in given:
            if name not in names:
                raise TorseurError(unknown_name("input", name, names, f"{self}: "))
        for name in names:
            if name not in given:
                raise TorseurError(f"{self}: input '{name}' is missing.")
        return given

    def _columns(self, given: dict[str, Any]) -> tuple[list[Any], int]:
        """The arguments of the per-state program on the device, and the number of states."""
        arrays = {g.name: self._array(g, given[g.name]) for g in self.program.inputs if g.name not in self.parameters}
        widths = {name: a.shape[1] for name, a in arrays.items() if a.ndim == 2}
        n = max(widths.values(), default=1)
        for name, width in widths.items():
            if width != n:
                raise TorseurError(f"{self}: input '{name}' holds {width} states, another input {n}.")
        columns = [self._prepare_parameters(given) if g.name == PREPARED else self._wide(arrays[g.name], n)
                   for g in self._per_state.inputs]  # fmt: skip
        return columns, n

    def _array(self, group: Input, value: Any) -> Any:
        # `get` tells CuPy's own arrays, which need no conversion.
        if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray) and not hasattr(value, "get"):
            value = self._cupy.from_dlpack(value)
        array = self._cupy.asarray(value, dtype=self._type)
        if array.ndim not in (1, 2) or array.shape[0] != len(group):
            shape = f"({len(group)}, states) or ({len(group)},)"
            raise TorseurError(f"{self}: input '{group.name}' has shape {array.shape}, expected {shape}.")
        return array

    def _wide(self, array: Any, n: int) -> Any:
        wide = array if array.ndim == 2 else self._cupy.broadcast_to(array[:, None], (len(array), n))
        return self._cupy.ascontiguousarray(wide)

    def _prepare_parameters(self, given: dict[str, Any]) -> Any:
        """What depends on parameters only, as an array that is passed by value."""
        assert self._prepare is not None
        numbers = [np.asarray(given[name], dtype=float) for name in self.parameters]
        return by_value(self._prepare(*numbers)[PREPARED].astype(self._fine))


# Kernel arguments lie in constant memory, which all threads of a warp read at once, without a load each.
def by_value(numbers: Any) -> Any:
    """Numbers as one argument that holds them all; CuPy passes single values only."""
    size = max(len(numbers), 1)
    packed = np.zeros((), dtype=[("values", numbers.dtype, (size,))])
    packed["values"][: len(numbers)] = numbers
    return packed
