"""What the names of one routine stand for while it is translated."""

from __future__ import annotations

import ast
import builtins
from collections import ChainMap, Counter
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NoReturn

from torseur.codegen.routine.language import Kind, Parameter, Routine, RoutineError, StaticInteger, kind_of_annotation
from torseur.codegen.routine.nodes import Break, Continue, Expression, Local, Select, View
from torseur.errors import unknown_name

MISSING = object()


class Scope:
    """Locals, compile-time names and loop labels of a routine, and the objects its global names refer to."""

    def __init__(self, routine: Routine, statics: dict[str, int]) -> None:
        self.routine = routine
        self.global_statics = statics
        self.locals: dict[str, Kind] = {}
        self.statics: dict[str, Any] = {}
        self.storage: dict[str, tuple[Kind, int]] = {}
        self.sizes: dict[str, int] = {}
        self.counters: list[str] = []
        self.made_in_loop: set[str] = set()
        self.static_indices: set[str] = set()
        self.exits: list[tuple[Break, Continue | Break]] = []
        self.loop_depth = 0
        self._labels = 0
        self._assignments = _count_assignments(routine.definition)
        self._outer = _outer_names(routine)
        self.parameters, self.returns = self._signature()

    def fail(self, node: ast.AST, message: str) -> NoReturn:
        """Stops the translation with the routine's file and the node's line."""
        line = getattr(node, "lineno", self.routine.definition.lineno)
        raise RoutineError(f"{self.routine.file}:{line}: routine '{self.routine.name}': {message}")

    def object_named(self, name: str, node: ast.AST) -> Any:
        """The Python object of a name that is not local: compile-time number, table, function or module."""
        if name in self.statics:
            return self.statics[name]
        found = self._outer.get(name, MISSING)
        if found is MISSING:
            found = getattr(builtins, name, MISSING)
        if found is MISSING:
            known = [*self.locals, *self.statics]
            self.fail(node, unknown_name("name", name, known) + " A name must be assigned above its first use.")
        return self.bound(found, node)

    def bound(self, value: Any, node: ast.AST) -> Any:
        """The value of a compile-time integer; every other object as it is."""
        if not isinstance(value, StaticInteger):
            return value
        if value.name not in self.global_statics:
            self.fail(node, unknown_name("static", value.name, self.global_statics) + " Give it in statics={...}.")
        return int(self.global_statics[value.name])

    def attribute(self, node: ast.Attribute) -> Any:
        """The object `module.name`."""
        base = node.value
        module = self.object_named(base.id, node) if isinstance(base, ast.Name) else MISSING
        if not isinstance(module, ModuleType):
            self.fail(node, f"'{ast.unparse(node)}': only attributes of modules are known here.")
        value = getattr(module, node.attr, MISSING)
        if value is MISSING:
            self.fail(node, f"module '{module.__name__}' has no '{node.attr}'.")
        return self.bound(value, node)

    def is_single_assignment(self, name: str) -> bool:
        return self._assignments[name] == 1

    def declare(self, name: str, kind: Kind, node: ast.AST) -> None:
        """Types a local by its first assignment and refuses another type later."""
        known = self.locals.setdefault(name, kind)
        self.statics.pop(name, None)
        if (
            known is not kind
            and not (known is Kind.FLOAT and kind in (Kind.INT, Kind.BOOL))
            and not (known is Kind.INT and kind is Kind.BOOL)
        ):
            hint = " Start it as a float, e.g. 0.0." if (known, kind) == (Kind.INT, Kind.FLOAT) else ""
            self.fail(
                node, f"'{name}' is {known.value} since its first assignment and cannot become {kind.value}.{hint}"
            )

    def temporary(self, kind: Kind) -> Local:
        name = self.label("value")
        self.locals[name] = kind
        return Local(name, kind)

    def label(self, stem: str) -> str:
        """A name no Python identifier can take."""
        self._labels += 1
        return f"{stem}.{self._labels}"

    def _signature(self) -> tuple[tuple[Parameter, ...], Kind]:
        definition = self.routine.definition
        arguments = definition.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults or arguments.posonlyargs:
            self.fail(definition, "only plain positional parameters without defaults are known here.")
        parameters = tuple(self._parameter(argument) for argument in arguments.args)
        returns = Kind.NONE if definition.returns is None else kind_of_annotation(definition.returns)
        if returns is None or returns.is_array:
            self.fail(definition, "the return annotation must be float, int, bool or None.")
        self.locals.update({p.name: p.kind for p in parameters})
        return parameters, returns

    def _parameter(self, argument: ast.arg) -> Parameter:
        kind = kind_of_annotation(argument.annotation)
        if kind is None or kind is Kind.NONE:
            self.fail(argument, f"parameter '{argument.arg}' needs an annotation: float, int, bool, Array or IntArray.")
        return Parameter(argument.arg, kind)


def array_names(expression: Expression) -> set[str]:
    """The variables an array expression may point into."""
    if isinstance(expression, Local):
        return {expression.name}
    if isinstance(expression, View):
        return array_names(expression.array)
    if isinstance(expression, Select):
        return array_names(expression.a) | array_names(expression.b)
    return set()


def _count_assignments(definition: ast.FunctionDef) -> Counter[str]:
    """How often each name is assigned; parameters count once."""
    names = [node.id for node in ast.walk(definition) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return Counter(names + [argument.arg for argument in definition.args.args])


def _outer_names(routine: Routine) -> Mapping[str, Any]:
    """Globals of the routine's module and the variables of an enclosing function."""
    function: Any = routine.function
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return ChainMap({name: cell.cell_contents for name, cell in cells.items()}, function.__globals__)


def is_table(value: Any) -> bool:
    """True for nested tuples of numbers."""
    return isinstance(value, tuple) and all(isinstance(v, (int, float)) or is_table(v) for v in value)
