"""Machine code in memory, whatever made it, and NumPy arrays handed to it as pointers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from torseur.algebra.graph.program import Program
from torseur.computation.codegen.routine.routine_language import Array


class Shape(Enum):
    """What a source looks like to a compiler, which decides how much work is worth while."""

    STRAIGHT = "straight"
    LOOPS = "loops"
    LONG_LOOPS = "long loops"


@dataclass(frozen=True, eq=False)
class Library:
    """Loaded code: where its symbols are, what it was made from and how long that took.

    `seconds` is the time to compile, or to load when `cached`. The owner of the code is held as long as this is.
    """

    backend: str
    source: str
    seconds: float
    cached: bool
    owner: Any = field(repr=False)
    lookup: Callable[[Any, str], int] = field(repr=False)

    def function(self, symbol: str, returns: Any, *arguments: Any) -> Any:
        """A callable for an exported function with the given ctypes signature; it keeps the code alive."""
        function = ctypes.CFUNCTYPE(returns, *arguments)(self.lookup(self.owner, symbol))
        function.library = self  # type: ignore[attr-defined]
        return function


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
