"""Assignments of a routine to typed nodes: numbers, arrays, records and their fields."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from math import prod

from torseur.computation.codegen.routine import typing as typed
from torseur.computation.codegen.routine.arrays import RecordValue, element, shape_of
from torseur.computation.codegen.routine.calls import CallTranslator
from torseur.computation.codegen.routine.effects import fails, order_conflict
from torseur.computation.codegen.routine.nodes import (
    Assign,
    Call,
    CallExternal,
    Const,
    Expression,
    Local,
    NewArray,
    Statement,
    StopIfFailed,
    Store,
    walk,
)
from torseur.computation.codegen.routine.records import Layout, Shape
from torseur.computation.codegen.routine.routine_language import Kind, izeros, zeros
from torseur.computation.codegen.routine.scope import array_names

# Half of the 8 MiB that Linux and macOS give a main thread.
LARGEST_FRAME = 4 << 20


class AssignmentTranslator(CallTranslator):
    """Translates assignments; `aliases` maps an array variable to what it may point into."""

    aliases: dict[str, set[str]]

    def _refuse_conflict(self, expression: Expression, node: ast.AST, *others: Expression) -> Expression:
        """Refuses expressions whose value depends on the order in which a target evaluates operands."""
        culprit = order_conflict(expression, *others)
        if culprit is not None:
            self.scope.fail(
                node,
                f"the call of '{culprit}' changes arrays or reaches a callback, and its place among "
                "the other reads and calls of this expression would matter: assign its result to a "
                "name first.",
            )
        return expression

    def _evaluate_first(self, expression: Expression, node: ast.AST) -> tuple[list[Statement], Expression]:
        """The value after a possible failure of a callback has been looked at."""
        self._refuse_conflict(expression, node)
        # Otherwise: value = call(...); if failed: return. Whatever reads the value comes after the test.
        if not fails(expression):
            return [], expression
        result = self.scope.temporary(expression.kind)
        return [Assign(result.name, expression), StopIfFailed()], result

    def _assign(self, node: ast.Assign) -> list[Statement]:
        if len(node.targets) != 1:
            self.scope.fail(node, "one target per assignment.")
        return self._assign_to(node.targets[0], node.value, node)

    def _assign_annotated(self, node: ast.AnnAssign) -> list[Statement]:
        type_ = self.scope.type_of(node.annotation)
        if node.value is None or type_ is None or not isinstance(node.target, ast.Name):
            self.scope.fail(node, "an annotated assignment needs a name, a type of the language and a value.")
        if type_.kind is not Kind.RECORD:
            self.scope.declare(node.target.id, type_.kind, node)
        return self._assign_to(node.target, node.value, node)

    def _assign_to(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> list[Statement]:
        if isinstance(target, ast.Subscript):
            return self._store(target, self.number(value), node)
        if isinstance(target, ast.Attribute):
            return self._store_field(target, value, node)
        if not isinstance(target, ast.Name):
            self.scope.fail(node, f"cannot assign to '{ast.unparse(target)}'.")
        self._refuse_static_index(target.id, node)
        if (record := self.record(value)) is not None:
            return self._name_record(target.id, record, node)
        if self._is_allocation(value):
            assert isinstance(value, ast.Call)
            return self._new_array(target.id, value)
        if isinstance(value, ast.Call) and (kind := self.record_class(value.func)) is not None:
            return self._new_record(target.id, kind.layout(), value)
        if self._bind_static(target.id, value):
            return []
        result = self.value(value)
        return self._assign_local(target.id, result, node)

    def _assign_local(self, name: str, value: Expression, node: ast.AST) -> list[Statement]:
        if value.kind is Kind.NONE:
            self.scope.fail(node, f"'{name}' is assigned a call that returns nothing.")
        self.scope.declare(name, value.kind, node)
        if value.kind.is_array:
            self.scope.declare_shape(name, _open(shape_of(value)), node)
            self._alias(name, value, node)
        kind = self.scope.locals[name]
        converted = value if kind.is_array else typed.convert(self._refuse_conflict(value, node), kind)
        return [Assign(name, converted), *([StopIfFailed()] if fails(value) else [])]

    def _alias(self, name: str, value: Expression, node: ast.AST) -> None:
        # An array in a loop is the same memory in each round, where Python makes a new one: a second name would still
        # show the last round's numbers there, and not here.
        sources = array_names(value)
        fresh = sources & self.scope.made_in_loop
        if fresh:
            self.scope.fail(
                node, f"'{min(fresh)}' is made anew in a loop and cannot have a second name: make it before the loop."
            )
        self.aliases.setdefault(name, set()).update(sources)

    def _bind_static(self, name: str, value: ast.expr) -> bool:
        """Keeps a name as a compile-time value when it is assigned once, to one."""
        # Assigned twice, its value would depend on which branch was taken: no longer a matter of translation.
        if not self.scope.is_single_assignment(name) or name in self.scope.locals:
            return False
        table = self.table(value) if isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)) else None
        result = self._peek(value) if table is None else None
        if table is None and not isinstance(result, Const):
            return False
        self.scope.statics[name] = result.value if isinstance(result, Const) else table
        return True

    def _peek(self, value: ast.expr) -> Expression | None:
        """The value when it is made of compile-time names only."""
        names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
        known = self.scope.locals.keys() | self.scope.records.keys()
        local = any(name in known and name not in self.scope.statics for name in names)
        return None if local else self.value(value)

    def _refuse_static_index(self, name: str, node: ast.AST) -> None:
        if name in self.scope.static_indices:
            self.scope.fail(node, f"'{name}' is the index of a static_range and cannot be assigned in it.")

    def _is_allocation(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and self.static_object(value.func) in (zeros, izeros)

    def _new_array(self, name: str, node: ast.Call) -> list[Statement]:
        kind = Kind.ARRAY if self.static_object(node.func) is zeros else Kind.INT_ARRAY
        shape = tuple(self.static_integer(argument, "the size") for argument in node.args)
        if not shape or min(shape) < 0:
            self.scope.fail(node, f"an array of size {shape}.")
        size = prod(shape)
        self.scope.declare(name, kind, node)
        self.scope.declare_shape(name, shape, node)
        if self.scope.is_single_assignment(name):
            self.scope.sizes[name] = shape[0]
        return [self._allocate(name, kind, size, node)]

    def _allocate(self, name: str, kind: Kind, size: int, node: ast.AST) -> NewArray:
        self.aliases.setdefault(name, set())
        storage = self.scope.label(name)
        self.scope.storage[storage] = (kind, size)
        # Local arrays lie on the stack, whose size nobody can rely on beyond a few MiB; threads often have less.
        if 8 * sum(length for _, length in self.scope.storage.values()) > LARGEST_FRAME:
            self.scope.fail(
                node, f"local arrays of more than {LARGEST_FRAME >> 20} MiB: take a workspace as a parameter."
            )
        if self.scope.loop_depth:
            self.scope.made_in_loop.add(name)
        return NewArray(name, storage, size, kind)

    # -- records ---------------------------------------------------------------------------------------

    def _new_record(self, name: str, layout: Layout, node: ast.Call) -> list[Statement]:
        """A record made here: its blocks as they start, its references, and the numbers that are given by name."""
        given = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
        if len(node.args) != len(layout.references):
            self.scope.fail(node, f"record '{layout.record.__name__}' takes the arrays {list(layout.references)}.")
        arrays = {path: self.array(array) for path, array in zip(layout.references, node.args, strict=True)}
        self.scope.declare_record(name, layout, node)
        statements: list[Statement] = []
        floats, ints = layout.defaults
        if layout.floats:
            statements += self._new_block(f"{name}.floats", Kind.ARRAY, floats[: layout.floats], node)
        if layout.ints:
            statements += self._new_block(f"{name}.ints", Kind.INT_ARRAY, ints[: layout.ints], node)
        for path, array in arrays.items():
            statements += self._assign_local(f"{name}.{path}", array, node)
        for field, value in given.items():
            target = ast.copy_location(ast.Attribute(ast.Name(name), field), node)
            ast.fix_missing_locations(target)
            statements += self._store_field(target, value, node)
        return statements

    def _new_block(self, name: str, kind: Kind, start: Sequence[float], node: ast.AST) -> list[Statement]:
        """Memory of a record, with the numbers that it starts with."""
        stores = [Store(Local(name, kind), typed.constant(k), typed.constant(x)) for k, x in enumerate(start) if x]
        return [self._allocate(name, kind, len(start), node), *stores]

    def _name_record(self, name: str, record: RecordValue, node: ast.stmt) -> list[Statement]:
        """A second name for a record: for its blocks and references."""
        self.scope.declare_record(name, record.layout, node)
        statements: list[Statement] = []
        for path, part in record.parts.items():
            self._alias(f"{name}.{path}", part, node)
            statements.append(Assign(f"{name}.{path}", part))
        return statements

    def _store_field(self, target: ast.Attribute, value: ast.expr, node: ast.AST) -> list[Statement]:
        known = self.field(target)
        if known is None:
            self.scope.fail(node, f"cannot assign to '{ast.unparse(target)}'.")
        owner, field = known
        if field.type.kind.is_array or field.type.kind is Kind.RECORD:
            self.scope.fail(node, f"'{ast.unparse(target)}' is {field.type}: assign its entries.")
        number = self.number(value)
        if _narrows(number.kind, field.type.kind):
            self.scope.fail(node, f"'{ast.unparse(target)}' is {field.type.kind.value}, not {number.kind.value}.")
        block, start = owner.place(field)
        place = element(block, typed.constant(start))
        before, settled = self._evaluate_first(number, node)
        self.touched |= array_names(place.array)
        stored = typed.convert(typed.convert(settled, field.type.kind), place.kind)
        return [*before, Store(place.array, place.index, stored)]

    def _store(self, target: ast.Subscript, value: Expression, node: ast.stmt) -> list[Statement]:
        if isinstance(target.slice, ast.Slice):
            self.scope.fail(node, "assign elements one by one: a[i] = ....")
        array, index = self.place(target)
        if len(shape_of(array)) > (len(target.slice.elts) if isinstance(target.slice, ast.Tuple) else 1):
            self.scope.fail(node, "assign elements one by one: a[i, j] = ....")
        place = element(array, index)
        array, index = place.array, place.index
        if value.kind is Kind.FLOAT and array.kind is Kind.INT_ARRAY:
            self.scope.fail(node, "a float cannot be stored in an IntArray: use int(...).")
        before, settled = self._evaluate_first(value, node)
        self._refuse_conflict(index, node, settled)
        self.touched |= array_names(array)
        return [*before, Store(array, index, typed.convert(settled, array.kind.element))]

    def _assign_augmented(self, node: ast.AugAssign) -> list[Statement]:
        if isinstance(node.target, ast.Subscript) and self._calls_out(node.target):
            self.scope.fail(node, "a call in the target of an augmented assignment: assign its result to a name first.")
        # a[i] += x is a[i] = a[i] + x: the index is evaluated twice, which no call may notice (refused above).
        whole = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
        return self._assign_to(node.target, whole, node)

    def _calls_out(self, target: ast.Subscript) -> bool:
        """True when evaluating the target twice would call a routine or external twice."""
        return any(isinstance(part, (Call, CallExternal)) for part in walk(self.number(target)))


def _open(shape: Shape) -> Shape:
    """The shape of a name that may come to stand for another part: rows have a length, their number is open."""
    return (None, *shape[1:]) if len(shape) > 1 else shape


def _narrows(given: Kind, wanted: Kind) -> bool:
    """Whether a number would lose its fraction, or its value."""
    return (given is Kind.FLOAT and wanted is not Kind.FLOAT) or (given is Kind.INT and wanted is Kind.BOOL)
