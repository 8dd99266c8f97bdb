"""Python expressions of a routine to typed nodes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from math import prod
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any

from torseur.codegen.routine import typing as typed
from torseur.codegen.routine.intrinsics import BY_FUNCTION, IntrinsicRow
from torseur.codegen.routine.language import External, Kind, Parameter, Routine
from torseur.codegen.routine.nodes import (
    Call,
    CallExternal,
    Const,
    Expression,
    Function,
    Load,
    Local,
    TableLoad,
    View,
    walk,
)
from torseur.codegen.routine.scope import Scope, array_names, is_table

if TYPE_CHECKING:
    from torseur.codegen.routine.unit import Linker

_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"}
_COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_FOLDING_ERRORS = (ZeroDivisionError, ValueError, OverflowError, TypeError)


class ExpressionTranslator:
    """Translates the expressions of one routine; `touched` collects array variables written through calls."""

    def __init__(self, scope: Scope, linker: Linker) -> None:
        self.scope = scope
        self.linker = linker
        self.touched: set[str] = set()
        self._known_tables: dict[int, bool] = {}

    # -- values ----------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Expression:
        """The expression as a typed node; compile-time parts are folded."""
        method = self._METHODS.get(type(node))
        if method is None:
            self.scope.fail(node, f"'{ast.unparse(node)}' is not part of the routine language.")
        try:
            return method(self, node)
        except _FOLDING_ERRORS as error:
            self.scope.fail(node, f"'{ast.unparse(node)}' cannot be computed at translation: {error}.")

    def number(self, node: ast.expr) -> Expression:
        """The expression, refused when it is an array or nothing."""
        result = self.value(node)
        if result.kind.is_array or result.kind is Kind.NONE:
            self.scope.fail(node, f"'{ast.unparse(node)}' is {result.kind.value} where a number is needed.")
        return result

    def integer(self, node: ast.expr, what: str) -> Expression:
        result = self.number(node)
        if result.kind is Kind.FLOAT:
            self.scope.fail(node, f"{what} '{ast.unparse(node)}' is float: expected int.")
        return typed.convert(result, Kind.INT)

    def condition(self, node: ast.expr) -> Expression:
        """A test; numbers count as true when they are not zero."""
        return typed.convert(self.number(node), Kind.BOOL)

    def static_integer(self, node: ast.expr, what: str) -> int:
        result = self.integer(node, what)
        if not isinstance(result, Const):
            self.scope.fail(node, f"{what} '{ast.unparse(node)}' must be known at translation.")
        return int(result.value)

    def _constant(self, node: ast.Constant) -> Expression:
        if not isinstance(node.value, (int, float)):
            self.scope.fail(node, f"the value {node.value!r} is not a number.")
        return typed.constant(node.value)

    def _name(self, node: ast.Name) -> Expression:
        kind = self.scope.locals.get(node.id)
        if kind is not None and node.id not in self.scope.statics:
            return Local(node.id, kind)
        return self._as_number(self.scope.object_named(node.id, node), node)

    def _attribute(self, node: ast.Attribute) -> Expression:
        return self._as_number(self.scope.attribute(node), node)

    def _as_number(self, value: Any, node: ast.expr) -> Expression:
        if isinstance(value, (int, float)):
            return typed.constant(value)
        self.scope.fail(node, f"'{ast.unparse(node)}' is not a number, an array or a table here.")

    # -- arithmetic ------------------------------------------------------------------------------------

    def _binary(self, node: ast.BinOp) -> Expression:
        a, b = self.number(node.left), self.number(node.right)
        if isinstance(node.op, ast.Pow):
            return self._power(node, a, b)
        op = _BINARY.get(type(node.op))
        if op is None:
            self.scope.fail(node, f"the operator of '{ast.unparse(node)}' is not part of the routine language.")
        if op in ("//", "%") and Kind.FLOAT in (a.kind, b.kind):
            self.scope.fail(node, f"'{op}' takes integers; use math.floor for floats.")
        return typed.arithmetic(op, a, b)

    def _power(self, node: ast.BinOp, a: Expression, b: Expression) -> Expression:
        result = typed.power(a, b)
        if result is None:
            self.scope.fail(node, "a whole number to an exponent unknown at translation: use float(...) ** ....")
        return result

    def _unary(self, node: ast.UnaryOp) -> Expression:
        a = self.number(node.operand)
        if isinstance(node.op, ast.USub):
            return typed.negate(a)
        if isinstance(node.op, ast.UAdd):
            return a
        if isinstance(node.op, ast.Not):
            return typed.invert(a)
        self.scope.fail(node, "'~' is not part of the routine language.")

    def _logic(self, node: ast.BoolOp) -> Expression:
        op = "and" if isinstance(node.op, ast.And) else "or"
        result = self._boolean(node.values[0])
        for operand in node.values[1:]:
            if isinstance(result, Const) and bool(result.value) != (op == "and"):
                return result
            result = typed.logic(op, result, self._boolean(operand))
        return result

    def _boolean(self, node: ast.expr) -> Expression:
        result = self.number(node)
        if result.kind is not Kind.BOOL:
            self.scope.fail(node, f"'{ast.unparse(node)}' is {result.kind.value} where and/or need a bool: compare it.")
        return result

    def _compare(self, node: ast.Compare) -> Expression:
        operands = [self.number(n) for n in (node.left, *node.comparators)]
        if any(isinstance(part, (Call, CallExternal)) for inner in operands[1:-1] for part in walk(inner)):
            self.scope.fail(node, "a call in the middle of a chained comparison: assign its result to a name first.")
        result: Expression = typed.constant(True)
        for op, a, b in zip(node.ops, operands, operands[1:], strict=False):
            sign = _COMPARE.get(type(op))
            if sign is None:
                self.scope.fail(node, "only < <= > >= == != compare numbers.")
            result = typed.logic("and", result, typed.compare(sign, a, b))
        return result

    def _conditional(self, node: ast.IfExp) -> Expression:
        condition = self.condition(node.test)
        if isinstance(condition, Const):
            return self.value(node.body if condition.value else node.orelse)
        a, b = self.value(node.body), self.value(node.orelse)
        if a.kind is not b.kind and (a.kind.is_array or b.kind.is_array):
            self.scope.fail(node, f"the two sides are {a.kind.value} and {b.kind.value}.")
        return typed.select(condition, a, b)

    # -- arrays and tables -----------------------------------------------------------------------------

    def array(self, node: ast.expr) -> Expression:
        """An array or a view of one."""
        result = self.value(node)
        if not result.kind.is_array:
            self.scope.fail(node, f"'{ast.unparse(node)}' is {result.kind.value} where an array is needed.")
        return result

    def static_object(self, node: ast.expr) -> Any:
        """The compile-time object of a name or attribute, None for anything local or computed."""
        if isinstance(node, ast.Name) and (node.id in self.scope.statics or node.id not in self.scope.locals):
            return self.scope.object_named(node.id, node)
        if isinstance(node, ast.Attribute):
            return self.scope.attribute(node)
        return None

    def table(self, node: ast.expr) -> tuple[Any, ...] | None:
        """The compile-time table an expression names: a tuple, or a row of one."""
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            outer = self.table(node.value)
            if outer is None:
                return None
            index = self.integer(node.slice, "index")
            inner = self._table_entry(node, outer, index) if isinstance(index, Const) else None
            return inner if isinstance(inner, tuple) else None
        found = self.static_object(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        if not isinstance(found, tuple):
            return None
        key = id(found)
        if key not in self._known_tables:
            self._known_tables[key] = is_table(found)
        return found if self._known_tables[key] else None

    def _table_entry(self, node: ast.expr, table: tuple[Any, ...], index: Const) -> Any:
        if not 0 <= index.value < len(table):
            self.scope.fail(node, f"index {index.value} of a table with {len(table)} entries.")
        return table[int(index.value)]

    def _subscript(self, node: ast.Subscript) -> Expression:
        if isinstance(node.slice, ast.Slice):
            return self._view(node, node.slice)
        chain, base = [node.slice], node.value
        while isinstance(base, ast.Subscript) and self.table(base) is None and not isinstance(base.slice, ast.Slice):
            chain.insert(0, base.slice)
            base = base.value
        table = self.table(base)
        if table is not None:
            return self._table_load(node, table, [self.integer(index, "index") for index in chain])
        array = self.array(node.value)
        return Load(array, self.index(node.slice, array), array.kind.element)

    def _table_load(self, node: ast.Subscript, table: tuple[Any, ...], indices: list[Expression]) -> Expression:
        first = indices[0]
        if len(indices) == 1 and isinstance(first, Const):
            return self._as_number(self._table_entry(node, table, first), node)
        shape, flat = _rectangular(table)
        if len(shape) != len(indices):
            self.scope.fail(node, f"'{ast.unparse(node)}': an index known only at run time needs a rectangular table "
                                  f"and one index per dimension (shape {shape or 'ragged'}).")
        position: Expression = typed.constant(0)
        for size, index in zip(shape, indices, strict=True):
            position = typed.arithmetic("+", typed.arithmetic("*", position, typed.constant(size)), index)
        whole = all(isinstance(number, int) for number in flat)
        entries = tuple(flat) if whole else tuple(float(number) for number in flat)
        return TableLoad(entries, position, Kind.INT if whole else Kind.FLOAT)

    def _view(self, node: ast.Subscript, part: ast.Slice) -> Expression:
        if part.upper is not None or part.step is not None:
            self.scope.fail(node, f"'{ast.unparse(node)}': only views of the form a[start:] are known here.")
        array = self.array(node.value)
        if part.lower is None:
            return array
        offset = self.index(part.lower, array, past_end=1)
        return array if offset == Const(0, Kind.INT) else View(array, offset, array.kind)

    def index(self, node: ast.expr, array: Expression, past_end: int = 0) -> Expression:
        """An index from the array's start; one that is surely outside is refused."""
        index = self.integer(node, "index")
        if isinstance(index, Const):
            size = self.scope.sizes.get(array.name) if isinstance(array, Local) else None
            if index.value < 0 or (size is not None and index.value >= size + past_end):
                limit = "" if size is None else f" of an array of {size}"
                self.scope.fail(node, f"index {index.value}{limit} is outside; indices count from the start.")
        return index

    # -- calls -----------------------------------------------------------------------------------------

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
        self._touch(arguments, bound.writes)
        return CallExternal(external.name, arguments, external.returns, bound.writes, bound.fails)

    def _arguments(self, node: ast.Call, name: str, parameters: tuple[Parameter, ...]) -> tuple[Expression, ...]:
        self._expect(node, len(parameters))
        return tuple(self._argument(a, name, p) for a, p in zip(node.args, parameters, strict=True))

    def _argument(self, node: ast.expr, callee: str, parameter: Parameter) -> Expression:
        value = self.value(node)
        kind = parameter.kind
        if kind.is_array != value.kind.is_array or (kind.is_array and value.kind is not kind) \
                or (value.kind is Kind.FLOAT and kind is not Kind.FLOAT) or value.kind is Kind.NONE:
            self.scope.fail(node, f"argument '{parameter.name}' of '{callee}' is {kind.value}, "
                                  f"'{ast.unparse(node)}' is {value.kind.value}.")
        return value if kind.is_array else typed.convert(value, kind)

    def _touch(self, arguments: tuple[Expression, ...], written: set[int] | frozenset[int]) -> None:
        for i in written:
            self.touched |= array_names(arguments[i])

    _METHODS: Mapping[type, Callable[[Any, Any], Expression]] = {
        ast.Constant: _constant, ast.Name: _name, ast.Attribute: _attribute, ast.BinOp: _binary, ast.UnaryOp: _unary,
        ast.BoolOp: _logic, ast.Compare: _compare, ast.IfExp: _conditional, ast.Subscript: _subscript,
        ast.Call: _call,
    }
    _BUILTINS: Mapping[Any, Callable[[Any, ast.Call], Expression]] = {
        abs: _absolute, min: _extremum, max: _extremum, float: _convert, int: _convert, bool: _convert, len: _length,
    }


def _rectangular(table: tuple[Any, ...]) -> tuple[tuple[int, ...], list[int | float]]:
    """Shape and entries of a rectangular table; the empty shape when its rows differ."""
    if not any(isinstance(row, tuple) for row in table):
        return (len(table),), list(table)
    parts = [_rectangular(row) if isinstance(row, tuple) else ((), []) for row in table]
    shapes = {shape for shape, _ in parts}
    if len(shapes) != 1 or () in shapes:
        return (), []
    shape = (len(table), *parts[0][0])
    flat = [number for _, row in parts for number in row]
    return (shape, flat) if prod(shape) == len(flat) else ((), [])
