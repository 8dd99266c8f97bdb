"""A program as a function of one state, (n,) arrays, or of many, (N, n) arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Program
from torseur.computation.codegen import compile_program
from torseur.computation.codegen.kernels.batch_kernel import BatchKernel, compile_batch
from torseur.errors import TorseurError, unknown_name


def array_function(
    program: Program,
    names: Mapping[str, Sequence[str]],
    where: str,
    shared: Mapping[str, Array] | None = None,
    called: Mapping[str, str] | None = None,
) -> Callable[..., Any]:
    """The program as a function of its inputs, in order or by name: it gives one array, or a tuple of several.

    Of arrays (n,) it gives one state's results, of arrays (N, n) those of N states, the states first; an input given
    once counts for all of them. A mapping by the `names` of an input's entries stands for zeros with these values.
    `shared` are inputs that are not arguments: parameters, read anew at every call. Inputs may be `called` otherwise.
    """
    others = _Others(program, names, where, dict(shared or {}), dict(called or {}))
    return others.entry


class _Others:
    """Calls that the compiled entry does not take: lists, mappings, other types, many states, mistakes."""

    def __init__(
        self,
        program: Program,
        names: Mapping[str, Sequence[str]],
        where: str,
        shared: dict[str, Array],
        called: dict[str, str],
    ) -> None:
        self.program, self.names, self.where, self.shared = program, names, where, shared
        self.arguments = [group for group in program.inputs if group.name not in shared]
        self.called = [called.get(group.name, group.name) for group in self.arguments]
        self.kernel = compile_program(program)
        self.many: BatchKernel | None = None
        self.entry = self.kernel.function_or(self.answer) if not shared else self.answer

    def answer(self, *values: Any, **named: Any) -> Any:
        ordered = self._in_order(values, named)
        arrays = [
            self._array(group.name, called, len(group), value)
            for group, called, value in zip(self.arguments, self.called, ordered, strict=True)
        ]
        if all(array.ndim == 1 for array in arrays):
            given = dict(zip([group.name for group in self.arguments], arrays, strict=True)) | self.shared
            return self.kernel.function(*[given[group.name] for group in self.program.inputs])
        return self._at_many_states(arrays)

    def _in_order(self, values: tuple[Any, ...], named: Mapping[str, Any]) -> list[Any]:
        """One value per argument; those given by name come after the others."""
        known = dict(zip(self.called, values, strict=False))
        for name in named:
            if name not in self.called:
                raise TorseurError(unknown_name("argument", name, self.called, f"{self.where}: "))
            if name in known:
                raise TorseurError(f"{self.where}: {name} is given twice.")
        known |= named
        if len(values) > len(self.called) or len(known) < len(self.called):
            got = len(values) + len(named)
            wanted = ", ".join(self.called)
            raise TorseurError(f"{self.where} takes {wanted}: {len(self.called)} arrays, got {got}.")
        return [known[name] for name in self.called]

    def _array(self, group: str, name: str, size: int, value: Any) -> Array:
        if isinstance(value, Mapping):
            value = self._by_name(group, name, value)
        if np.iscomplexobj(value):
            # Whoever differentiates by complex steps would be given derivatives of zero.
            raise TorseurError(f"{self.where}: {name} must be real numbers; derivatives are functions of their own.")
        try:
            array: Array = np.ascontiguousarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise TorseurError(f"{self.where}: {name} must be numbers, got {value!r}.") from None
        if array.ndim not in (1, 2) or array.shape[-1] != size:
            raise TorseurError(f"{self.where}: {name} has shape {array.shape}; expected ({size},) or (N, {size}).")
        return array

    def _by_name(self, group: str, name: str, values: Mapping[str, float]) -> list[float]:
        known = list(self.names.get(group, ()))
        for key in values:
            if key not in known:
                raise TorseurError(unknown_name(f"entry of {name}", key, known, f"{self.where}: "))
        return [float(values.get(key, 0.0)) for key in known]

    def _at_many_states(self, arrays: list[Array]) -> Any:
        counts = {len(array) for array in arrays if array.ndim == 2}
        if len(counts) > 1:
            listing = ", ".join(str(count) for count in sorted(counts))
            raise TorseurError(f"{self.where}: the arrays have different numbers of states ({listing}).")
        if self.many is None:
            self.many = compile_batch(self.program, [name for name in self.shared])
        results = self.many.rows(arrays, self.shared)
        return results[0] if len(results) == 1 else tuple(results)
