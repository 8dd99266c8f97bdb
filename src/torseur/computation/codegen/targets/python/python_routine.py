"""Routines run as the Python functions they are, with compile-time names and externals put in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from torseur.computation.codegen.kernels.linking import as_binding
from torseur.computation.codegen.kernels.program_binding import CallbackSpec, ProgramBinding
from torseur.computation.codegen.routine.records import Record, resolve_type
from torseur.computation.codegen.routine.routine_language import External, Kind, Routine, StaticInteger


def bind_python(routine: Routine, statics: Mapping[str, int], externals: Mapping[str, Any]) -> Callable[..., Any]:
    """The routine's own function with its globals bound; NumPy warnings about NaN and overflow are off inside."""
    function = _Binder(statics, externals).function(routine)
    names = {**routine.function.__globals__, **_closure(routine.function)}
    types = [resolve_type(argument.annotation, names, statics) for argument in routine.definition.args.args]
    rows = [(k, t.shape[1:]) for k, t in enumerate(types) if t is not None and len(t.shape) > 1]

    def call(*arguments: Any) -> Any:
        for k, shape in rows:  # compiled code takes an array of any shape
            arguments = (*arguments[:k], arguments[k].reshape(-1, *shape), *arguments[k + 1 :])
        with np.errstate(all="ignore"):
            return function(*arguments)

    return call


def _closure(function: Any) -> dict[str, Any]:
    """The variables of an enclosing function."""
    return dict(zip(function.__code__.co_freevars, [c.cell_contents for c in function.__closure__ or ()], strict=True))


class _Binder:
    """Rebuilds functions so that statics are integers and externals are callables."""

    def __init__(self, statics: Mapping[str, int], externals: Mapping[str, Any]) -> None:
        self.statics = statics
        self.externals = externals
        self._functions: dict[Routine, Callable[..., Any]] = {}

    def function(self, routine: Routine) -> Callable[..., Any]:
        if routine not in self._functions:
            original: Any = routine.function
            scope = dict(original.__globals__)
            cells = tuple(CellType(self.value(cell.cell_contents)) for cell in original.__closure__ or ())
            bound = FunctionType(original.__code__, scope, original.__name__, original.__defaults__, cells)
            # Entered before its globals are bound: a routine may be met again among them.
            self._functions[routine] = bound
            for name in _names(original.__code__.co_names, scope):
                scope[name] = self.value(scope[name], original.__code__.co_names)
        return self._functions[routine]

    def value(self, thing: Any, attributes: tuple[str, ...] = ()) -> Any:
        """What a global name stands for once bound."""
        if isinstance(thing, StaticInteger):
            return thing.value(self.statics)
        if isinstance(thing, Routine):
            return self.function(thing)
        if isinstance(thing, External):
            return self._external(thing)
        if isinstance(thing, type) and issubclass(thing, Record):
            return thing.bound(self.statics)
        if isinstance(thing, ModuleType):
            return self._module(thing, attributes)
        return thing

    def _module(self, module: ModuleType, attributes: tuple[str, ...]) -> Any:
        """The module, or a stand-in when one of the attributes used is part of the routine language."""
        # co_names lists attribute names of all modules together: a stand-in may hold some that this module does not
        # need.
        used = [name for name in attributes if _is_bound(getattr(module, name, None))]
        if not used:
            return module
        members = {name: getattr(module, name) for name in attributes if hasattr(module, name)}
        return SimpleNamespace(**{name: self.value(value) for name, value in members.items()})

    def _external(self, external: External) -> Callable[..., Any]:
        if external.name not in self.externals:
            return external
        binding = as_binding(external.name, self.externals[external.name])
        if isinstance(binding, Routine):
            return self.function(binding)
        if isinstance(binding, ProgramBinding):
            return _call_program(external, binding)
        return _call_back(external, binding)


def _is_bound(value: Any) -> bool:
    """Whether a value stands for another one once compile-time integers and externals are known."""
    return isinstance(value, (StaticInteger, Routine, External)) or (
        isinstance(value, type) and issubclass(value, Record)
    )


def _expander(external: External) -> Callable[[tuple[Any, ...]], list[Any]]:
    """Arguments as Programs and callbacks take them: arrays flat, records as their arrays."""
    fields = [None if a.record is None else list(a.record.arrays()) for a in external.arguments]

    def expand(arguments: tuple[Any, ...]) -> list[Any]:
        given: list[Any] = []
        for argument, names in zip(arguments, fields, strict=True):
            given += [argument] if names is None else [getattr(argument, name) for name in names]
        return [a.reshape(-1) if isinstance(a, np.ndarray) and a.ndim > 1 else a for a in given]

    return expand


def _names(used: tuple[str, ...], scope: Mapping[str, Any]) -> list[str]:
    return [name for name in used if name in scope and not isinstance(scope[name], BuiltinFunctionType)]


def _call_back(external: External, spec: CallbackSpec) -> Callable[..., Any]:
    spec.effects(external)
    written = spec.output_names(external)
    limits = [(spec.sizes.get(p.name), p.name in written) for p in external.parameters]

    def view(argument: Any, size: int | None, writable: bool) -> Any:
        if size is None:
            return argument
        part = argument[:size]
        part.flags.writeable = writable
        return part

    expand = _expander(external)

    def call(*arguments: Any) -> Any:
        return spec.function(*[view(a, *limit) for a, limit in zip(expand(arguments), limits, strict=True)])

    return call


def _call_program(external: External, binding: ProgramBinding) -> Callable[..., Any]:
    from torseur.computation.codegen.targets.python.python_program import python_function

    function = python_function(binding.program)
    inputs = [(i, external.parameters[i].kind is Kind.FLOAT) for i in binding.input_positions(external)]
    outputs = [(i, len(o)) for i, o in zip(binding.output_positions(external), binding.program.outputs, strict=True)]

    expand = _expander(external)

    def call(*given: Any) -> None:
        arguments = expand(given)
        results = function(*[(np.float64(arguments[i]),) if scalar else arguments[i] for i, scalar in inputs])
        for (i, size), values in zip(outputs, results, strict=True):
            arguments[i][:size] = values

    return call
