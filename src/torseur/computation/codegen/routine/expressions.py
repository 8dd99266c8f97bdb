"""Python expressions of a routine to typed nodes: names, numbers and operators."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torseur.computation.codegen.routine import typing as typed
from torseur.computation.codegen.routine.nodes import Call, CallExternal, Const, Expression, Local, walk
from torseur.computation.codegen.routine.routine_language import Kind
from torseur.computation.codegen.routine.scope import Scope

if TYPE_CHECKING:
    from torseur.computation.codegen.routine.unit import Linker

_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"}
_COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
# What Python raises where constants are folded: 1 / 0, math.sqrt(-1), 10.0 ** 400, and a wrong type of argument.
_FOLDING_ERRORS = (ZeroDivisionError, ValueError, OverflowError, TypeError)


# Four classes in a line of inheritance, one per concern: expressions, arrays, calls, assignments, statements. They
# call each other (an index is an expression, an expression may index), which separate objects could not without cycles.
class ExpressionTranslator:
    """Translates the expressions of one routine: here numbers and operators, further down the line arrays and calls."""

    _METHODS: Mapping[type, str] = {
        ast.Constant: "_constant",
        ast.Name: "_name",
        ast.Attribute: "_attribute",
        ast.BinOp: "_binary",
        ast.UnaryOp: "_unary",
        ast.BoolOp: "_logic",
        ast.Compare: "_compare",
        ast.IfExp: "_conditional",
        ast.Subscript: "_subscript",
        ast.Call: "_call",
    }

    def __init__(self, scope: Scope, linker: Linker) -> None:
        self.scope = scope
        self.linker = linker
        self.touched: set[str] = set()
        self._known_tables: dict[int, bool] = {}

    def value(self, node: ast.expr) -> Expression:
        """The expression as a typed node; compile-time parts are folded."""
        method = self._METHODS.get(type(node))
        if method is None:
            self.scope.fail(node, f"'{ast.unparse(node)}' is not part of the routine language.")
        try:
            return getattr(self, method)(node)
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
            return Local(node.id, kind, self.scope.shapes.get(node.id, ()))
        if node.id in self.scope.records:
            self.scope.fail(node, f"'{node.id}' is a record where a number or an array is needed.")
        return self._as_number(self.scope.outer_object(node.id, node), node)

    def _as_number(self, value: Any, node: ast.expr) -> Expression:
        if isinstance(value, (int, float)):
            return typed.constant(value)
        self.scope.fail(node, f"'{ast.unparse(node)}' is not a number, an array or a table here.")

    def _binary(self, node: ast.BinOp) -> Expression:
        a, b = self.number(node.left), self.number(node.right)
        if isinstance(node.op, ast.Pow):
            return self._power(node, a, b)
        op = _BINARY.get(type(node.op))
        if op is None:
            self.scope.fail(node, f"the operator of '{ast.unparse(node)}' is not part of the routine language.")
        # Of floats they are refused: fmod and Python's % differ for negative numbers, and no method has needed either.
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
        # a < b < c becomes (a < b) and (b < c): b is written twice, which a call in it would notice.
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
