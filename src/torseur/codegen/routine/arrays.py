"""Arrays, views and compile-time tables of a routine to typed nodes."""

from __future__ import annotations

import ast
from math import prod
from typing import Any

from torseur.codegen.routine import typing as typed
from torseur.codegen.routine.expressions import ExpressionTranslator
from torseur.codegen.routine.language import Kind
from torseur.codegen.routine.nodes import Const, Expression, Load, Local, TableLoad, View
from torseur.codegen.routine.scope import is_table


class ArrayTranslator(ExpressionTranslator):
    """Translates indexing."""

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
            self.scope.fail(
                node,
                f"'{ast.unparse(node)}': an index known only at run time needs a rectangular table "
                f"and one index per dimension (shape {shape or 'ragged'}).",
            )
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
