"""What the names of one routine stand for while it is translated."""

from __future__ import annotations

import ast
import builtins
from collections import ChainMap, Counter
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, NoReturn

from torseur.computation.codegen.routine.nodes import Break, Continue, Expression, Local, Select, View
from torseur.computation.codegen.routine.records import Layout, Shape, Type, component_types, resolve_type
from torseur.computation.codegen.routine.routine_language import Kind, Parameter, Routine, RoutineError, StaticInteger
from torseur.errors import unknown_name

MISSING = object()


class Scope:
    """Locals, compile-time names and loop labels of a routine, and the objects its global names refer to."""

    def __init__(self, routine: Routine, statics: dict[str, int]) -> None:
        self.routine = routine
        self.global_statics = statics
        # Locals and records exist when the routine runs; `statics` only while it is translated: indices of unrolled
        # loops and names assigned once to a compile-time value. A name in `statics` hides the local of the same name.
        self.locals: dict[str, Kind] = {}
        self.shapes: dict[str, Shape] = {}
        self.records: dict[str, Layout] = {}
        self.statics: dict[str, Any] = {}
        # Memory of local arrays by label, and the lengths known of array names: for the check of constant indices.
        self.storage: dict[str, tuple[Kind, int]] = {}
        self.sizes: dict[str, int] = {}
        self.counters: list[str] = []
        # Arrays made inside a loop share one memory over all rounds, and may have no second name (assignments._alias).
        self.made_in_loop: set[str] = set()
        self.static_indices: set[str] = set()
        # What `break` and `continue` mean here, innermost loop last; in an unrolled loop both are Breaks of blocks.
        self.exits: list[tuple[Break, Continue | Break]] = []
        self.loop_depth = 0
        self._labels = 0
        self._assignments = _count_assignments(routine.definition)
        self._outer = _outer_names(routine)
        self.signature, self.returns = self._signature()
        self.parameters = tuple(self._lower_parameters())

    def fail(self, node: ast.AST, message: str) -> NoReturn:
        """Stops the translation with the routine's file and the node's line."""
        line = getattr(node, "lineno", self.routine.definition.lineno)
        raise RoutineError(f"{self.routine.file}:{line}: routine '{self.routine.name}': {message}")

    def outer_object(self, name: str, node: ast.AST) -> Any:
        """The Python object of a name that is not local: compile-time number, table, function or module."""
        if name in self.statics:
            return self.statics[name]
        value = self._outer.get(name, MISSING)
        if value is MISSING:
            value = getattr(builtins, name, MISSING)
        if value is MISSING:
            known = [*self.locals, *self.statics]
            self.fail(node, unknown_name("name", name, known) + " A name must be assigned above its first use.")
        return self.static_value(value, node)

    def static_value(self, value: Any, node: ast.AST) -> Any:
        """The value of a compile-time integer; every other object as it is."""
        if not isinstance(value, StaticInteger):
            return value
        try:
            return value.value(self.global_statics)
        except RoutineError as error:
            self.fail(node, str(error))

    def attribute(self, node: ast.Attribute) -> Any:
        """The object `module.name`."""
        base = node.value
        module = self.outer_object(base.id, node) if isinstance(base, ast.Name) else MISSING
        if not isinstance(module, ModuleType):
            self.fail(node, f"'{ast.unparse(node)}': only attributes of modules are known here.")
        value = getattr(module, node.attr, MISSING)
        if value is MISSING:
            self.fail(node, f"module '{module.__name__}' has no '{node.attr}'.")
        return self.static_value(value, node)

    def is_single_assignment(self, name: str) -> bool:
        return self._assignments[name] == 1

    def declare(self, name: str, kind: Kind, node: ast.AST) -> None:
        """Types a local by its first assignment and refuses another type later."""
        # Narrower numbers are converted to the wider first type, as C would. The other way would need the type of all
        # assignments before the first is translated, and would make x = 0; x += 0.5 a float far from where it is read.
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
        return (
            f"{stem}.{self._labels}"  # the dot keeps it apart; numbers by order of translation are the same each time
        )

    def declare_record(self, name: str, layout: Layout, node: ast.AST) -> None:
        """Gives a record its name, and its blocks and references theirs."""
        # A record is known at translation, by its name: a second one would need pointers to records at run time.
        if not self.is_single_assignment(name):
            self.fail(node, f"'{name}' is a record and cannot be assigned twice.")
        self.records[name] = layout
        for component, type_ in component_types(name, layout):
            self.locals[component], self.shapes[component] = type_.kind, type_.shape

    @property
    def components(self) -> set[str]:
        """The names of blocks and references of all records."""
        return {name for record, layout in self.records.items() for name, _ in component_types(record, layout)}

    def declare_shape(self, name: str, shape: Shape, node: ast.AST) -> None:
        """Types an array by its first assignment: rows keep their length."""
        known = self.shapes.setdefault(name, shape)
        if known != shape:
            # Index arithmetic needs the length of a row; the number of rows is nobody's business but the caller's.
            if known[1:] != shape[1:]:
                self.fail(node, f"'{name}' is an array of another shape since its first assignment.")
            self.shapes[name] = (None, *known[1:]) if len(known) > 1 else ()

    def type_of(self, node: ast.expr | None) -> Type | None:
        """What an annotation means here."""
        try:
            return resolve_type(node, self._outer, self.global_statics)
        except RoutineError as error:
            self.fail(node or self.routine.definition, str(error))

    def _lower_parameters(self) -> Iterator[Parameter]:
        """The parameters of the translated function: records as their blocks and references."""
        for name, type_ in self.signature:
            if type_.record is None:
                self.locals[name], self.shapes[name] = type_.kind, type_.shape
                yield Parameter(name, type_.kind)
            else:
                self.declare_record(name, type_.record.layout(), self.routine.definition)
                for component, part in component_types(name, type_.record.layout()):
                    yield Parameter(component, part.kind)

    def _signature(self) -> tuple[tuple[tuple[str, Type], ...], Kind]:
        definition = self.routine.definition
        arguments = definition.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults or arguments.posonlyargs:
            self.fail(definition, "only plain positional parameters without defaults are known here.")
        parameters = tuple(self._parameter(argument) for argument in arguments.args)
        returns = Type(Kind.NONE) if definition.returns is None else self.type_of(definition.returns)
        if returns is None or returns.kind.is_array or returns.kind is Kind.RECORD:
            self.fail(definition, "the return annotation must be float, int, bool or None.")
        return parameters, returns.kind

    def _parameter(self, argument: ast.arg) -> tuple[str, Type]:
        type_ = self.type_of(argument.annotation)
        if type_ is None or type_.kind is Kind.NONE:
            self.fail(
                argument,
                f"parameter '{argument.arg}' needs an annotation: float, int, bool, Array, IntArray or a record.",
            )
        return argument.arg, type_


# Several, where a conditional expression chooses between arrays: whatever writes through it may write all of them.
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
    # The names that Python itself would see, so that a routine means the same untranslated.
    function: Any = routine.function
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return ChainMap({name: cell.cell_contents for name, cell in cells.items()}, function.__globals__)


def is_table(value: Any) -> bool:
    """True for nested tuples of numbers."""
    return isinstance(value, tuple) and all(isinstance(v, (int, float)) or is_table(v) for v in value)
