"""Routines compiled to a backend and callable from Python with NumPy arrays."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from torseur.computation.codegen.kernels.backends import build_library, choose_backend
from torseur.computation.codegen.kernels.callbacks import CTYPES, Failures, trampoline
from torseur.computation.codegen.kernels.linking import LinkedUnit, link
from torseur.computation.codegen.kernels.machine_code import Library
from torseur.computation.codegen.kernels.program_binding import CallbackSpec
from torseur.computation.codegen.routine.records import Record
from torseur.computation.codegen.routine.routine_language import Kind, Parameter, Routine, RoutineError
from torseur.computation.codegen.targets.python.python_routine import bind_python

_SYMBOL = "torseur_routine"
_POINTERS = {Kind.ARRAY: ctypes.POINTER(ctypes.c_double), Kind.INT_ARRAY: ctypes.POINTER(ctypes.c_int64)}
_FROM_BUFFER = {Kind.ARRAY: ctypes.c_double.from_buffer, Kind.INT_ARRAY: ctypes.c_int64.from_buffer}
_DTYPES = {Kind.ARRAY: np.dtype(np.float64), Kind.INT_ARRAY: np.dtype(np.int64)}


class CompiledRoutine:
    """A routine as a Python function: numbers by value, arrays in place.

    `backend` says what runs it, `source` is the generated text, `seconds` what generation and compilation took.
    """

    def __init__(
        self, routine: Routine, backend: str, call: Callable[..., Any], library: Library | None, seconds: float
    ) -> None:
        self.name = routine.name
        self.backend = backend
        self.source = library.source if library is not None else ""
        self.cached = library is not None and library.cached
        self.seconds = seconds
        self._library = library
        self.call = call  # the same as calling the object, a little sooner

    def __call__(self, *arguments: Any) -> Any:
        return self.call(*arguments)

    def __repr__(self) -> str:
        return f"CompiledRoutine({self.name!r}, backend={self.backend!r})"


def compile_routine(
    entry: Routine,
    statics: Mapping[str, int] | None = None,
    externals: Mapping[str, Any] | None = None,
    backend: str = "auto",
) -> CompiledRoutine:
    """The routine, with everything it reaches, compiled as one unit.

    `statics` gives compile-time integers, `externals` a Program, a routine or a CallbackSpec for each external.
    """
    start = time.perf_counter()
    if not isinstance(entry, Routine):
        raise RoutineError(f"'{getattr(entry, '__name__', entry)}' is not a routine: mark it with @routine.")
    chosen = choose_backend(backend)
    statics, externals = statics or {}, externals or {}
    if chosen == "python":
        function = bind_python(entry, statics, externals)
        return CompiledRoutine(entry, "python", function, None, time.perf_counter() - start)
    linked = link(entry, statics, externals)
    library = build_library(chosen, backend == "auto", linked.shape, lambda target: target.unit_source(linked, _SYMBOL))
    specs = {name: spec for name, spec in externals.items() if isinstance(spec, CallbackSpec)}
    call = _caller(linked, library, specs)
    return CompiledRoutine(entry, library.backend, call, library, time.perf_counter() - start)


def bind(
    routine: Routine,
    statics: Mapping[str, int] | None = None,
    externals: Mapping[str, Any] | None = None,
    target: str = "python",
) -> CompiledRoutine:
    """The routine ready to call: on the python target its own function with its globals bound, untranslated."""
    return compile_routine(routine, statics, externals, target)


def _caller(linked: LinkedUnit, library: Library, specs: Mapping[str, CallbackSpec]) -> Callable[..., Any]:
    entry = linked.entry
    kinds = [_POINTERS.get(p.kind, CTYPES[p.kind]) for p in entry.parameters]
    function = library.function(_SYMBOL, CTYPES[entry.returns], *kinds, ctypes.c_void_p, ctypes.c_void_p)
    steps = _conversions(linked)
    is_bool = entry.returns is Kind.BOOL
    # The caller outlives the translation: it keeps names, not the functions that were translated.
    name, expected = entry.name, len(entry.signature)
    failures = Failures()
    unused = ctypes.byref(ctypes.c_int64(0))
    pointers = [trampoline(b.external, specs[b.external.name], failures) for b in linked.callbacks]
    table = (ctypes.c_void_p * len(pointers))(*[ctypes.cast(p, ctypes.c_void_p).value for p in pointers])

    def call(*arguments: Any) -> Any:
        if len(arguments) != expected:
            raise RoutineError(f"routine '{name}' takes {expected} arguments, got {len(arguments)}.")
        given = []
        for (record, parts), argument in zip(steps, arguments, strict=False):  # a strict zip takes twice as long
            if record is None:
                given.append(parts[0][1](argument))
                continue
            if type(argument) is not record:
                raise _other_record(name, record, argument)
            own = argument.__dict__
            for component, convert in parts:
                given.append(convert(own[component]))
        if not pointers:
            result = function(*given, None, unused)
            return bool(result) if is_bool else result
        # A stack, because a callback may call a compiled routine that has callbacks of its own.
        failures.pending.append(None)
        try:
            result = function(*given, table, unused)
        finally:
            error = failures.pending.pop()
        if error is not None:
            raise error
        return bool(result) if is_bool else result

    return call


Conversions = Sequence[tuple[type[Record] | None, Sequence[tuple[str, Callable[[Any], Any]]]]]


def _conversions(linked: LinkedUnit) -> Conversions:
    """For each argument: the record it has to be, and how the arrays that it consists of enter ctypes, by name."""
    entry, parameters = linked.entry, iter(linked.entry.parameters)
    steps = []
    for _, type_ in entry.signature:
        names = type_.record.layout().components if type_.record is not None else ("",)
        own = [(name, next(parameters)) for name in names]
        converters = [
            (name, _converter(entry.name, p, p.name in entry.writes, linked.least_size(p.name))) for name, p in own
        ]
        steps.append((type_.record, converters))
    return steps


def _other_record(routine: str, record: type[Record], argument: Any) -> RoutineError:
    return RoutineError(
        f"routine '{routine}' takes a record '{record.__name__}' with the sizes it was compiled for, "
        f"got {type(argument).__name__}."
    )


def _converter(routine: str, parameter: Parameter, written: bool, least: int) -> Callable[[Any], Any]:
    """How an argument enters ctypes, checked; an array has at least so many entries."""
    if parameter.kind is Kind.FLOAT:
        return float
    if not parameter.kind.is_array:
        return lambda value: _whole(routine, parameter, value)
    dtype, from_buffer = _DTYPES[parameter.kind], _FROM_BUFFER[parameter.kind]
    if parameter.name.endswith((".floats", ".ints")):  # blocks of records are known to be what they should
        return from_buffer

    def convert(array: Any) -> Any:
        try:
            if array.dtype is dtype and array.size >= least:
                return from_buffer(array)
        except (AttributeError, TypeError, ValueError):
            pass
        return _unusual_array(routine, parameter, written, array, least)

    return convert


def _whole(routine: str, parameter: Parameter, value: Any) -> int:
    if isinstance(value, (int, np.integer, np.bool_)):
        return int(value)
    raise RoutineError(
        f"argument '{parameter.name}' of routine '{routine}' is {type(value).__name__}: expected "
        f"{parameter.kind.value}."
    )


def _unusual_array(routine: str, parameter: Parameter, written: bool, array: Any, least: int) -> Any:
    """A pointer to an empty or read-only array; anything else is refused with its reason."""
    where = f"argument '{parameter.name}' of routine '{routine}'"
    dtype = _DTYPES[parameter.kind]
    if not isinstance(array, np.ndarray):
        raise RoutineError(f"{where} is {type(array).__name__}: expected a NumPy array of {dtype}.")
    if array.dtype != dtype:
        raise RoutineError(f"{where} has dtype {array.dtype}: expected {dtype}. Use array.astype('{dtype}').")
    if not array.flags.c_contiguous:
        raise RoutineError(f"{where} is not contiguous. Use np.ascontiguousarray.")
    if written and not array.flags.writeable:
        raise RoutineError(f"{where} is read-only, and the routine writes to it.")
    if array.size < least:
        raise RoutineError(f"{where} has {array.size} entries: at least {least} are read.")
    pointer: Any = _POINTERS[parameter.kind]
    return ctypes.cast(array.ctypes.data, pointer)
