"""Calls in a routine to typed nodes: routines, externals and the functions the language knows."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType
from typing import Any

from torseur.codegen.routine import typing as typed
from torseur.codegen.routine.arrays import ArrayTranslator
from torseur.codegen.routine.intrinsics import BY_FUNCTION, IntrinsicRow
from torseur.codegen.routine.language import External, Kind, Parameter, Routine
from torseur.codegen.routine.nodes import Call, CallExternal, Expression, Function
from torseur.codegen.routine.scope import array_names


class CallTranslator(ArrayTranslator):
    """Translates calls; `touched` collects the array variables they write."""

    def _call(self, node: ast.Call) -> Expression:
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            self.scope.fail(node, "calls take plain positional arguments here.")
        target = self.static_object(node.func)
        if isinstance(target, External):
            return self._call_external(node, target)
        if isinstance(target, Routine):
            return self._call_routine(node, target)
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
        function = self.linker.function(target, self.scope, node)
        arguments = self._arguments(node, target.name, function.parameters)
        self._touch(arguments, {i for i, p in enumerate(function.parameters) if p.name in function.writes})
        return Call(function, arguments, function.returns)

    def _call_external(self, node: ast.Call, external: External) -> Expression:
        bound = self.linker.external(external, self.scope, node)
        if isinstance(bound, Function):
            arguments = self._arguments(node, external.name, bound.parameters)
            self._touch(arguments, {i for i, p in enumerate(bound.parameters) if p.name in bound.writes})
            return Call(bound, arguments, bound.returns)
        arguments = self._arguments(node, external.name, external.parameters)
        if not bound.fails:
            self._refuse_overlap(node, arguments, bound.writes)
        self._touch(arguments, bound.writes)
        return CallExternal(external.name, arguments, external.returns, bound.writes, bound.fails)

    def _refuse_overlap(self, node: ast.Call, arguments: tuple[Expression, ...], written: frozenset[int]) -> None:
        """A program writes its outputs before it has read all of its inputs."""
        read = [a for i, a in enumerate(arguments) if i not in written and a.kind.is_array]
        if any(arguments[i] in read for i in written):
            self.scope.fail(node, f"'{ast.unparse(node)}' writes its result over an input: use another array.")

    def _arguments(self, node: ast.Call, name: str, parameters: tuple[Parameter, ...]) -> tuple[Expression, ...]:
        self._expect(node, len(parameters))
        return tuple(self._argument(a, name, p) for a, p in zip(node.args, parameters, strict=True))

    def _argument(self, node: ast.expr, callee: str, parameter: Parameter) -> Expression:
        value = self.value(node)
        kind = parameter.kind
        if (
            kind.is_array != value.kind.is_array
            or (kind.is_array and value.kind is not kind)
            or (value.kind is Kind.FLOAT and kind is not Kind.FLOAT)
            or value.kind is Kind.NONE
        ):
            self.scope.fail(
                node,
                f"argument '{parameter.name}' of '{callee}' is {kind.value}, "
                f"'{ast.unparse(node)}' is {value.kind.value}.",
            )
        return value if kind.is_array else typed.convert(value, kind)

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
