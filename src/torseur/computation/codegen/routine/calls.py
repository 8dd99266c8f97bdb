"""Calls in a routine to typed nodes: routines, externals and the functions the language knows."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType
from typing import Any

from torseur.computation.codegen.routine import typing as typed
from torseur.computation.codegen.routine.arrays import ArrayTranslator, RecordValue, shape_of
from torseur.computation.codegen.routine.intrinsics import BY_FUNCTION, IntrinsicRow
from torseur.computation.codegen.routine.nodes import Call, CallExternal, Expression, Function
from torseur.computation.codegen.routine.records import Record, Shape, Type
from torseur.computation.codegen.routine.routine_language import External, Kind, Routine, flat
from torseur.computation.codegen.routine.scope import array_names


class CallTranslator(ArrayTranslator):
    """Translates calls; `touched` collects the array variables they write."""

    def _call(self, node: ast.Call) -> Expression:
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            self.scope.fail(node, "calls take plain positional arguments here.")
        target = self.static_object(node.func)
        if target is flat:
            return self.flat(node)
        if isinstance(target, External):
            return self._call_external(node, target)
        if isinstance(target, Routine):
            return self._call_routine(node, target)
        # Tables and arrays are objects, too, which a dictionary could not look up: only functions and types are.
        plain = isinstance(target, (type, BuiltinFunctionType))
        if plain and target in BY_FUNCTION:
            return self._call_intrinsic(node, BY_FUNCTION[target])
        builtin = self._BUILTINS.get(target) if plain else None
        if builtin is None:
            self.scope.fail(node, f"'{ast.unparse(node.func)}' is not a routine, an external or a known function here.")
        return builtin(self, node)

    def _call_intrinsic(self, node: ast.Call, row: IntrinsicRow) -> Expression:
        self._expect(node, row.arity)
        return typed.intrinsic(row.name, *[self.number(argument) for argument in node.args])

    def _expect(self, node: ast.Call, count: int) -> None:
        if len(node.args) != count:
            self.scope.fail(node, f"'{ast.unparse(node.func)}' takes {count} arguments, got {len(node.args)}.")

    def _absolute(self, node: ast.Call) -> Expression:
        self._expect(node, 1)
        return typed.absolute(self.number(node.args[0]))

    def _extremum(self, node: ast.Call) -> Expression:
        if len(node.args) < 2:
            self.scope.fail(node, f"'{ast.unparse(node)}' takes two numbers or more.")
        name = "min" if self.static_object(node.func) is min else "max"
        numbers = [self.number(argument) for argument in node.args]
        result = numbers[0]
        for other in numbers[1:]:
            result = typed.extremum(name, result, other)
        return result

    def _convert(self, node: ast.Call) -> Expression:
        self._expect(node, 1)
        kind = {float: Kind.FLOAT, int: Kind.INT, bool: Kind.BOOL}[self.static_object(node.func)]
        return typed.convert(self.number(node.args[0]), kind)

    def _length(self, node: ast.Call) -> Expression:
        self._expect(node, 1)
        table = self.table(node.args[0])
        if table is None:
            self.scope.fail(node, "len() is known for compile-time tables only.")
        return typed.constant(len(table))

    def _call_routine(self, node: ast.Call, target: Routine) -> Expression:
        return self._call_function(node, target.name, self.linker.function(target, self.scope, node))

    def _call_function(self, node: ast.Call, name: str, function: Function) -> Expression:
        """The call with records as their blocks and references, as far as the function takes them."""
        self._expect(node, len(function.signature))
        given: dict[str, Expression] = {}
        for argument, (parameter, type_) in zip(node.args, function.signature, strict=True):
            if type_.record is None:
                given[parameter] = self._argument(argument, name, parameter, type_)
            else:
                parts = self._record_argument(argument, name, parameter, type_.record).parts
                given |= {f"{parameter}.{path}": part for path, part in parts.items()}
        # `parameters` lacks the arrays of records that the callee does not use (unit.Linker._translate): they are not
        # passed.
        arguments = tuple(given[p.name] for p in function.parameters)
        self._touch(arguments, {i for i, p in enumerate(function.parameters) if p.name in function.writes})
        return Call(function, arguments, function.returns)

    def _record_argument(self, node: ast.expr, callee: str, parameter: str, kind: type[Record]) -> RecordValue:
        value = self.record(node)
        if value is None or value.layout is not kind.layout():
            name = "no record" if value is None else value.layout.record.__name__
            self.scope.fail(
                node,
                f"argument '{parameter}' of '{callee}' is a record '{kind.__name__}', '{ast.unparse(node)}' is {name}.",
            )
        return value

    def _call_external(self, node: ast.Call, external: External) -> Expression:
        bound = self.linker.external(external, self.scope, node)
        if isinstance(bound, Function):
            return self._call_function(node, external.name, bound)
        arguments = self._external_arguments(node, external)
        # Only programs: callbacks, which may fail, are Python functions that see whole arrays and may do as they like.
        if not bound.fails:
            self._refuse_overlap(node, arguments, bound.writes)
        self._touch(arguments, bound.writes)
        return CallExternal(external.name, arguments, external.returns, bound.writes, bound.fails)

    def _refuse_overlap(self, node: ast.Call, arguments: tuple[Expression, ...], written: frozenset[int]) -> None:
        """A program writes its outputs before it has read all of its inputs."""
        # Programs are printed with restrict and noalias. An array of no entries overlaps nothing. Views of one array at
        # unknown offsets cannot be told apart here: equal nodes alone are refused.
        arrays = [(i, a) for i, a in enumerate(arguments) if a.kind.is_array and 0 not in shape_of(a)]
        read = [a for i, a in arrays if i not in written]
        if any(a in read for i, a in arrays if i in written):
            self.scope.fail(node, f"'{ast.unparse(node)}' writes its result over an input: use another array.")

    def _external_arguments(self, node: ast.Call, external: External) -> tuple[Expression, ...]:
        """What a Program or a callback is given: numbers, arrays of any shape, and the arrays of records."""
        self._expect(node, len(external.arguments))
        values: list[Expression] = []
        for given, argument in zip(node.args, external.arguments, strict=True):
            if argument.record is None:
                values.append(self._argument(given, external.name, argument.name, Type(argument.kind), any_shape=True))
            else:
                kind = argument.record.bound(self.scope.global_statics)
                owner = self._record_argument(given, external.name, argument.name, kind)
                values += [self.field_value(owner, owner.layout.fields[name]) for name in argument.record.arrays()]
        return tuple(values)

    def _argument(
        self, node: ast.expr, callee: str, parameter: str, type_: Type, any_shape: bool = False
    ) -> Expression:
        if self.record(node) is not None:
            self.scope.fail(
                node, f"argument '{parameter}' of '{callee}' is {type_}, '{ast.unparse(node)}' is a record."
            )
        value = self.value(node)
        kind = type_.kind
        if (
            kind.is_array != value.kind.is_array
            or (kind.is_array and value.kind is not kind)
            # An int passes where a float is wanted, as in Python; a float never becomes an int unseen.
            or (value.kind is Kind.FLOAT and kind is not Kind.FLOAT)
            or value.kind is Kind.NONE
        ):
            self.scope.fail(
                node,
                f"argument '{parameter}' of '{callee}' is {kind.value}, '{ast.unparse(node)}' is {value.kind.value}.",
            )
        if not kind.is_array:
            return typed.convert(value, kind)
        if not any_shape and not _fits(shape_of(value), type_.shape):
            given = Type(kind, shape_of(value))
            self.scope.fail(node, f"argument '{parameter}' of '{callee}' is {type_}, '{ast.unparse(node)}' is {given}.")
        return value

    def _touch(self, arguments: tuple[Expression, ...], written: set[int] | frozenset[int]) -> None:
        for i in written:
            self.touched |= array_names(arguments[i])

    _BUILTINS: Mapping[Any, Callable[[Any, ast.Call], Expression]] = {
        abs: _absolute,
        min: _extremum,
        max: _extremum,
        float: _convert,
        int: _convert,
        bool: _convert,
        len: _length,
    }


def _fits(given: Shape, wanted: Shape) -> bool:
    """Whether rows have the length that is wanted, and there are enough of them as far as is known."""
    if max(len(given), 1) != max(len(wanted), 1) or given[1:] != wanted[1:]:
        return False
    known = bool(given) and bool(wanted) and given[0] is not None and wanted[0] is not None
    return not known or (given[0] or 0) >= (wanted[0] or 0)
