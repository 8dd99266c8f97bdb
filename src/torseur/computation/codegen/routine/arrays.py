"""Arrays, records and compile-time tables of a routine to typed nodes.

Arrays are flat in compiled code, rows one after the other, and records are flat arrays with known places:

    a[i, j]      becomes   a[i * columns + j]
    a[i]         becomes   the array from a[i * columns] on, where `a` has rows
    record.a[i]  becomes   block[place of a + i]
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from torseur.computation.codegen.routine import typing as typed
from torseur.computation.codegen.routine.expressions import ExpressionTranslator
from torseur.computation.codegen.routine.nodes import Const, Expression, Load, Local, TableLoad, View
from torseur.computation.codegen.routine.records import Field, Layout, Record, Shape, component_types
from torseur.computation.codegen.routine.routine_language import Kind
from torseur.computation.codegen.routine.scope import is_table


@dataclass(frozen=True)
class RecordValue:
    """A record in a routine: its layout, and the arrays that its blocks and references are (see component_types)."""

    layout: Layout
    parts: dict[str, Expression]

    def place(self, field: Field) -> tuple[Expression, int]:
        """The block of a field, and where it starts there."""
        kind = field.type.kind
        if kind in (Kind.FLOAT, Kind.ARRAY):
            return self.parts["floats"], field.floats
        return self.parts["ints"], field.ints

    def inner(self, field: Field, number: Expression) -> RecordValue:
        """A record inside this one; `number` counts those that stand side by side in the field."""
        assert field.type.record is not None
        layout, parts = field.type.record.layout(), {}
        # Records side by side:   [ ... | record 0 | record 1 | ... ]
        #                               ^ start    ^ start + size, in each of the two blocks with its own start and size
        for block, start, size in (("floats", field.floats, layout.floats), ("ints", field.ints, layout.ints)):
            if size:
                before = typed.arithmetic("*", number, typed.constant(size))
                parts[block] = offset(self.parts[block], typed.arithmetic("+", typed.constant(start), before))
        parts |= {path: self.parts[f"{field.name}.{path}"] for path in layout.references}
        return RecordValue(layout, parts)


def offset(array: Expression, start: Expression, shape: Shape = ()) -> Expression:
    """The array from an index on; known starts are added up."""
    if isinstance(array, View) and isinstance(array.offset, Const) and isinstance(start, Const):
        start = typed.constant(int(array.offset.value) + int(start.value))
        array = array.array
    if start == Const(0, Kind.INT):
        return replace(array, shape=shape) if isinstance(array, (Local, View)) else array
    return View(array, start, array.kind, shape)


def element(array: Expression, index: Expression) -> Load:
    """An entry of an array; a known start of the array is part of the index."""
    if isinstance(array, View) and isinstance(array.offset, Const):
        return Load(array.array, typed.arithmetic("+", array.offset, index), array.kind.element)
    return Load(array, index, array.kind.element)


def shape_of(array: Expression) -> Shape:
    return array.shape if isinstance(array, (Local, View)) else ()


class ArrayTranslator(ExpressionTranslator):
    """Translates indexing and fields."""

    def array(self, node: ast.expr) -> Expression:
        """An array or a view of one."""
        result = self.value(node)
        if not result.kind.is_array:
            self.scope.fail(node, f"'{ast.unparse(node)}' is {result.kind.value} where an array is needed.")
        return result

    def static_object(self, node: ast.expr) -> Any:
        """The compile-time object of a name or attribute, None for anything local or computed."""
        if isinstance(node, ast.Name) and self._is_outside(node):
            return self.scope.outer_object(node.id, node)
        if isinstance(node, ast.Attribute) and self._is_outside(node.value):
            return self.scope.attribute(node)
        return None

    def _is_outside(self, node: ast.expr) -> bool:
        """Whether a name stands for a compile-time object."""
        while isinstance(node, ast.Attribute):
            node = node.value
        if not isinstance(node, ast.Name):
            return isinstance(node, ast.Constant)
        local = node.id in self.scope.locals or node.id in self.scope.records
        return node.id in self.scope.statics or not local

    # -- records ---------------------------------------------------------------------------------------

    def record(self, node: ast.expr) -> RecordValue | None:
        """The record that an expression names, None when it is something else."""
        if isinstance(node, ast.Name) and node.id in self.scope.records:
            return self._local_record(node.id)
        if isinstance(node, ast.Attribute):
            return self._inner_record(node, None)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            return self._inner_record(node.value, node)
        if isinstance(node, ast.Call):
            return self._record_view(node)
        return None

    def _inner_record(self, node: ast.Attribute, subscript: ast.Subscript | None) -> RecordValue | None:
        """A record that is a field, or one of those that stand side by side in a field."""
        outer = self.record(node.value)
        field = outer.layout.fields.get(node.attr) if outer is not None else None
        if outer is None or field is None or field.type.record is None:
            return None
        if bool(field.type.shape) != (subscript is not None):
            self.scope.fail(node, f"'{ast.unparse(subscript or node)}': field '{field.name}' is {field.type}.")
        number = self.integer(subscript.slice, "index") if subscript is not None else typed.constant(0)
        return outer.inner(field, number)

    def _local_record(self, name: str) -> RecordValue:
        layout = self.scope.records[name]
        names = [component for component, _ in component_types(name, layout)]
        parts = {n[len(name) + 1 :]: Local(n, self.scope.locals[n], self.scope.shapes[n]) for n in names}
        return RecordValue(layout, dict(parts))

    def _record_view(self, node: ast.Call) -> RecordValue | None:
        """`Kind.view(array)`: a record of floats that lies in an array."""
        call = node.func
        if not isinstance(call, ast.Attribute) or call.attr != "view" or not self._is_outside(call.value):
            return None
        kind = self.record_class(call.value)
        if kind is None:
            return None
        layout = kind.layout()
        if len(node.args) != 1 or node.keywords or layout.ints or layout.references:
            self.scope.fail(node, f"'{ast.unparse(node)}': a record of floats alone can lie in one array.")
        array = self.array(node.args[0])
        if array.kind is not Kind.ARRAY:
            self.scope.fail(node, f"'{ast.unparse(node.args[0])}' is {array.kind.value}: expected an Array.")
        return RecordValue(layout, {"floats": array})

    def record_class(self, node: ast.expr) -> type[Record] | None:
        """The class of records that an expression names."""
        value = self.static_object(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        if isinstance(value, type) and issubclass(value, Record):
            return value.bound(self.scope.global_statics)
        return None

    def field(self, node: ast.Attribute) -> tuple[RecordValue, Field] | None:
        """The record and the field that an attribute means, None when it is no record's."""
        if self._is_outside(node.value):
            return None
        owner = self.record(node.value)
        if owner is None:
            return None
        if node.attr not in owner.layout.fields:
            name = owner.layout.record.__name__
            self.scope.fail(node, f"record '{name}' has no field '{node.attr}': it has {list(owner.layout.fields)}.")
        return owner, owner.layout.fields[node.attr]

    def _attribute(self, node: ast.Attribute) -> Expression:
        known = self.field(node)
        if known is None:
            return self._as_number(self.scope.attribute(node), node)
        owner, field = known
        if field.type.kind is Kind.RECORD:
            self.scope.fail(node, f"'{ast.unparse(node)}' is a record where a number or an array is needed.")
        return self.field_value(owner, field)

    def field_value(self, owner: RecordValue, field: Field) -> Expression:
        """What a field holds, where it is not a record."""
        kind = field.type.kind
        if field.type.is_reference:
            return owner.parts[field.name]
        block, start = owner.place(field)
        if kind.is_array:
            return offset(block, typed.constant(start), field.type.shape)
        load = element(block, typed.constant(start))
        return typed.compare("!=", load, typed.constant(0)) if kind is Kind.BOOL else load

    # -- tables and arrays -----------------------------------------------------------------------------

    def table(self, node: ast.expr) -> tuple[Any, ...] | None:
        """The compile-time table an expression names: a tuple, or a row of one."""
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Slice, ast.Tuple)):
            outer = self.table(node.value)
            if outer is None:
                return None
            index = self.integer(node.slice, "index")
            inner = self._table_entry(node, outer, index) if isinstance(index, Const) else None
            return inner if isinstance(inner, tuple) else None
        value = self.static_object(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        if not isinstance(value, tuple):
            return None
        key = id(value)
        if key not in self._known_tables:
            self._known_tables[key] = is_table(value)
        return value if self._known_tables[key] else None

    def _table_entry(self, node: ast.expr, table: tuple[Any, ...], index: Const) -> Any:
        if not 0 <= index.value < len(table):
            self.scope.fail(node, f"index {index.value} of a table with {len(table)} entries.")
        return table[int(index.value)]

    def _subscript(self, node: ast.Subscript) -> Expression:
        if isinstance(node.slice, ast.Slice):
            return self._view(node, node.slice)
        # Tables are indexed as a[i][j], arrays as a[i, j]: the brackets are collected down to the name, which decides.
        chain, base = [node.slice], node.value
        while isinstance(base, ast.Subscript) and self.table(base) is None and not isinstance(base.slice, ast.Slice):
            chain.insert(0, base.slice)
            base = base.value
        table = self.table(base)
        if table is not None:
            return self._table_load(node, table, [self.integer(index, "index") for index in chain])
        array, index = self.place(node)
        rest = shape_of(array)[_count(node.slice) :]
        return offset(array, index, rest) if rest else element(array, index)

    def place(self, node: ast.Subscript) -> tuple[Expression, Expression]:
        """The array of a subscript and the flat index that it means."""
        array = self.array(node.value)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        shape = shape_of(array)
        if len(indices) > max(len(shape), 1):
            self.scope.fail(node, f"'{ast.unparse(node)}': the array has {max(len(shape), 1)} dimensions here.")
        # Rows one after the other: a[i, j, k] of shape (l, m, n) stands at i·m·n + j·n + k. The first extent is not
        # needed, so that it may be open.
        position: Expression = typed.constant(0)
        for axis, node_of_index in enumerate(indices):
            index = self.index(node_of_index, array, axis)
            position = typed.arithmetic("+", position, self._times(index, shape[axis + 1 :]))
        return array, position

    def _times(self, index: Expression, extents: Shape) -> Expression:
        size = prod(n for n in extents if n is not None)
        return typed.arithmetic("*", index, typed.constant(size)) if extents else index

    def _table_load(self, node: ast.Subscript, table: tuple[Any, ...], indices: list[Expression]) -> Expression:
        first = indices[0]
        if len(indices) == 1 and isinstance(first, Const):
            return self._as_number(self._table_entry(node, table, first), node)
        shape, entries = _rectangular(table)
        if len(shape) != len(indices):
            self.scope.fail(
                node,
                f"'{ast.unparse(node)}': an index known only at run time needs a rectangular table "
                f"and one index per dimension (shape {shape or 'ragged'}).",
            )
        position: Expression = typed.constant(0)
        for size, index in zip(shape, indices, strict=True):
            position = typed.arithmetic("+", typed.arithmetic("*", position, typed.constant(size)), index)
        whole = all(isinstance(number, int) for number in entries)
        numbers = tuple(entries) if whole else tuple(float(number) for number in entries)
        return TableLoad(numbers, position, Kind.INT if whole else Kind.FLOAT)

    def _view(self, node: ast.Subscript, part: ast.Slice) -> Expression:
        if part.upper is not None or part.step is not None:
            self.scope.fail(node, f"'{ast.unparse(node)}': only views of the form a[start:] are known here.")
        array = self.array(node.value)
        if part.lower is None:
            return array
        start = self.index(part.lower, array, 0, past_end=1)
        shape = shape_of(array)
        rest = (None, *shape[1:]) if len(shape) > 1 else ()
        return offset(array, self._times(start, shape[1:]), rest)

    def flat(self, node: ast.Call) -> Expression:
        """`flat(a)`: the same memory as one row of numbers."""
        if len(node.args) != 1:
            self.scope.fail(node, f"'{ast.unparse(node)}' takes one array.")
        return offset(self.array(node.args[0]), typed.constant(0))

    def index(self, node: ast.expr, array: Expression, axis: int = 0, past_end: int = 0) -> Expression:
        """An index from the array's start; one that is surely outside is refused."""
        index = self.integer(node, "index")
        if isinstance(index, Const):
            shape = shape_of(array)
            size = shape[axis] if axis < len(shape) else None
            if size is None and isinstance(array, Local) and axis == 0:
                size = self.scope.sizes.get(array.name)
            if index.value < 0 or (size is not None and index.value >= size + past_end):
                limit = "" if size is None else f" of an array of {size}"
                self.scope.fail(node, f"index {index.value}{limit} is outside; indices count from the start.")
        return index


def _count(index: ast.expr) -> int:
    return len(index.elts) if isinstance(index, ast.Tuple) else 1


def _rectangular(table: tuple[Any, ...]) -> tuple[tuple[int, ...], list[int | float]]:
    """Shape and entries of a rectangular table; the empty shape when its rows differ."""
    if not any(isinstance(row, tuple) for row in table):
        return (len(table),), list(table)
    parts = [_rectangular(row) if isinstance(row, tuple) else ((), []) for row in table]
    shapes = {shape for shape, _ in parts}
    if len(shapes) != 1 or () in shapes:
        return (), []
    shape = (len(table), *parts[0][0])
    entries = [number for _, row in parts for number in row]
    return (shape, entries) if prod(shape) == len(entries) else ((), [])
