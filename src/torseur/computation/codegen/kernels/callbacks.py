"""Python functions called from compiled routines, their exceptions kept until the routine has returned."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from torseur.computation.codegen.kernels.program_binding import CallbackSpec
from torseur.computation.codegen.routine.routine_language import External, Kind

CTYPES: dict[Kind, Any] = {
    Kind.FLOAT: ctypes.c_double,
    Kind.INT: ctypes.c_int64,
    Kind.BOOL: ctypes.c_int64,
    Kind.ARRAY: ctypes.c_void_p,
    Kind.INT_ARRAY: ctypes.c_void_p,
    Kind.NONE: None,
}
_DTYPES = {Kind.ARRAY: np.float64, Kind.INT_ARRAY: np.int64}
_VIEWS_KEPT = 64
_DEFAULTS = {Kind.FLOAT: float("nan"), Kind.INT: 0, Kind.BOOL: 0, Kind.NONE: None}


class Failures(threading.local):
    """The first exception of each call of a routine that is under way in this thread, innermost last."""

    def __init__(self) -> None:
        self.pending: list[BaseException | None] = []

    def keep(self, error: BaseException) -> None:
        self.pending[-1] = self.pending[-1] or error


def trampoline(external: External, spec: CallbackSpec, failures: Failures) -> Any:
    """A C function pointer that calls the Python function with views of its arrays."""
    convert = [
        _converter(p.kind, spec.sizes.get(p.name, 0), p.name in spec.output_names(external))
        for p in external.parameters
    ]
    default = _DEFAULTS[external.returns]

    def call(*arguments: Any) -> Any:
        try:
            result = spec.function(*[c(a) for c, a in zip(convert, arguments[:-1], strict=True)])
            return default if external.returns is Kind.NONE else CTYPES[external.returns](result).value
        # KeyboardInterrupt too: ctypes would print it and go on.
        except BaseException as error:
            # The first one counts: what a routine does before it looks at the flag may make further calls, and further
            # errors.
            failures.keep(error)
            ctypes.c_int64.from_address(arguments[-1]).value = 1
            _fill_with_nan(external, spec, arguments)
            return default

    kinds = [CTYPES[p.kind] for p in external.parameters]
    return ctypes.CFUNCTYPE(CTYPES[external.returns], *kinds, ctypes.c_void_p)(call)


def _converter(kind: Kind, size: int, writable: bool) -> Callable[[Any], Any]:
    if not kind.is_array:
        return bool if kind is Kind.BOOL else lambda value: value
    if not size:
        return lambda address: np.zeros(0, dtype=_DTYPES[kind])
    # The memory is the routine's: a callback must copy what it wants to keep.
    views: dict[int, Any] = {}

    def view(address: int) -> Any:
        """A routine passes the same few places of memory over and over."""
        array = views.get(address)
        if array is None:
            if len(views) >= _VIEWS_KEPT:
                views.clear()
            array = views[address] = _view(kind, size, address, writable)
        return array

    return view


def _view(kind: Kind, size: int, address: int, writable: bool) -> Any:
    block = (ctypes.c_double if kind is Kind.ARRAY else ctypes.c_int64) * size
    array: Any = np.frombuffer(memoryview(block.from_address(address)), dtype=_DTYPES[kind])
    array.flags.writeable = writable
    return array


def _fill_with_nan(external: External, spec: CallbackSpec, arguments: tuple[Any, ...]) -> None:
    """Values that nobody can mistake for results, in case the routine looks at them before it stops."""
    for p, address in zip(external.parameters, arguments[:-1], strict=True):
        if p.name in spec.output_names(external) and p.kind is Kind.ARRAY and spec.sizes[p.name]:
            _view(p.kind, spec.sizes[p.name], address, True).fill(np.nan)
