"""NumPy arrays handed to compiled functions as pointers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from torseur.codegen.library import Library
from torseur.codegen.routine.language import Array
from torseur.graph.program import Program

POINTER = ctypes.POINTER(ctypes.c_double)
_from_buffer: Callable[[Any], Any] = ctypes.c_double.from_buffer


Evaluate = Callable[[Sequence[Array], Sequence[Array]], None]
"""Fills output arrays from input arrays."""


def array_function(library: Library, symbol: str, program: Program) -> Evaluate:
    """A compiled program as a function that fills output arrays from input arrays of the right sizes."""
    function = library.function(symbol, None, *[POINTER] * (len(program.inputs) + len(program.outputs)))

    def call(inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        function(*[pointer(array) for array in inputs], *[pointer(array) for array in outputs])

    return call


def pointer(array: Array) -> Any:
    """A pointer to the first element of a contiguous array."""
    try:
        return _from_buffer(array)
    except (TypeError, ValueError):
        return ctypes.cast(array.ctypes.data, POINTER)
