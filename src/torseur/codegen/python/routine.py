"""Routines run as the Python functions they are, with compile-time names and externals put in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from torseur.codegen.binding import CallbackSpec, ProgramBinding
from torseur.codegen.linking import as_binding
from torseur.codegen.routine.language import External, Kind, Routine, RoutineError, StaticInteger
from torseur.errors import unknown_name


def bind_python(routine: Routine, statics: Mapping[str, int], externals: Mapping[str, Any]) -> Callable[..., Any]:
    """The routine's own function with its globals bound; NumPy warnings about NaN and overflow are off inside."""
    function = _Binder(statics, externals).function(routine)

    def call(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return call


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
            self._functions[routine] = bound
            for name in _names(original.__code__.co_names, scope):
                scope[name] = self.value(scope[name], original.__code__.co_names)
        return self._functions[routine]

    def value(self, found: Any, attributes: tuple[str, ...] = ()) -> Any:
        """What a global name stands for once bound."""
        if isinstance(found, StaticInteger):
            return self._static(found)
        if isinstance(found, Routine):
            return self.function(found)
        if isinstance(found, External):
            return self._external(found)
        if isinstance(found, ModuleType):
            return self._module(found, attributes)
        return found

    def _static(self, static: StaticInteger) -> int:
        if static.name not in self.statics:
            raise RoutineError(unknown_name("static", static.name, self.statics) + " Give it in statics={...}.")
        return self.statics[static.name]

    def _module(self, module: ModuleType, attributes: tuple[str, ...]) -> Any:
        """The module, or a stand-in when one of the attributes used is part of the routine language."""
        own = (StaticInteger, Routine, External)
        used = [name for name in attributes if isinstance(getattr(module, name, None), own)]
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

    def call(*arguments: Any) -> Any:
        return spec.function(*[view(a, *limit) for a, limit in zip(arguments, limits, strict=True)])

    return call


def _call_program(external: External, binding: ProgramBinding) -> Callable[..., Any]:
    from torseur.codegen.python.program import python_function

    function = python_function(binding.program)
    inputs = [(i, external.parameters[i].kind is Kind.FLOAT) for i in binding.input_positions(external)]
    outputs = [(i, len(o)) for i, o in zip(binding.output_positions(external), binding.program.outputs, strict=True)]

    def call(*arguments: Any) -> None:
        results = function(*[(np.float64(arguments[i]),) if scalar else arguments[i] for i, scalar in inputs])
        for (i, size), values in zip(outputs, results, strict=True):
            arguments[i][:size] = values

    return call
