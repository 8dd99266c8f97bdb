"""Python statements of a routine to typed nodes: compile-time tests pruned, static loops unrolled."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torseur.codegen.routine import typing as typed
from torseur.codegen.routine.calls import CallTranslator
from torseur.codegen.routine.effects import fails, falls_through, order_conflict
from torseur.codegen.routine.language import Kind, izeros, kind_of_annotation, static_range, zeros
from torseur.codegen.routine.nodes import (
    Assign,
    Block,
    Break,
    Call,
    CallExternal,
    Const,
    Continue,
    Evaluate,
    Expression,
    For,
    If,
    NewArray,
    Return,
    Statement,
    StopIfFailed,
    Store,
    While,
    walk,
)
from torseur.codegen.routine.scope import array_names

LARGEST_FRAME = 4 << 20
LARGEST_UNROLLED_LOOP = 10_000
_END = (Return, Break, Continue)


class StatementTranslator(CallTranslator):
    """Translates the body of one routine; `aliases` maps an array variable to what it may point into."""

    aliases: dict[str, set[str]]

    def body(self, statements: list[ast.stmt]) -> tuple[Statement, ...]:
        """The statements in order, without those that cannot be reached."""
        result: list[Statement] = []
        for node in statements:
            result.extend(self._statement(node))
            if result and isinstance(result[-1], _END):
                break
        return tuple(result)

    def function_body(self) -> tuple[Statement, ...]:
        self.aliases = {}
        definition = self.scope.routine.definition
        body = self.body(definition.body)
        if self.scope.returns is not Kind.NONE and falls_through(body):
            self.scope.fail(definition, f"it may end without returning its {self.scope.returns.value}.")
        return body

    def _statement(self, node: ast.stmt) -> list[Statement]:
        method = self._STATEMENTS.get(type(node))
        if method is None:
            first = ast.unparse(node).splitlines()[0]
            self.scope.fail(node, f"the statement '{first}' is not part of the routine language.")
        return method(self, node)

    def _checked(self, expression: Expression, node: ast.AST, *others: Expression) -> Expression:
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

    def _settled(self, expression: Expression, node: ast.AST) -> tuple[list[Statement], Expression]:
        """The value after a possible failure of a callback has been looked at."""
        self._checked(expression, node)
        if not fails(expression):
            return [], expression
        result = self.scope.temporary(expression.kind)
        return [Assign(result.name, expression), StopIfFailed()], result

    # -- assignment ------------------------------------------------------------------------------------

    def _assign(self, node: ast.Assign) -> list[Statement]:
        if len(node.targets) != 1:
            self.scope.fail(node, "one target per assignment.")
        return self._assign_to(node.targets[0], node.value, node)

    def _annotated(self, node: ast.AnnAssign) -> list[Statement]:
        kind = kind_of_annotation(node.annotation)
        if node.value is None or kind is None or not isinstance(node.target, ast.Name):
            self.scope.fail(node, "an annotated assignment needs a name, a type of the language and a value.")
        self.scope.declare(node.target.id, kind, node)
        return self._assign_to(node.target, node.value, node)

    def _assign_to(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> list[Statement]:
        if isinstance(target, ast.Subscript):
            return self._store(target, self.number(value), node)
        if not isinstance(target, ast.Name):
            self.scope.fail(node, f"cannot assign to '{ast.unparse(target)}'.")
        self._refuse_static_index(target.id, node)
        if self._is_allocation(value):
            assert isinstance(value, ast.Call)
            return self._new_array(target.id, value)
        if self._bind_static(target.id, value):
            return []
        result = self.value(value)
        return self._assign_local(target.id, result, node)

    def _assign_local(self, name: str, value: Expression, node: ast.stmt) -> list[Statement]:
        if value.kind is Kind.NONE:
            self.scope.fail(node, f"'{name}' is assigned a call that returns nothing.")
        self.scope.declare(name, value.kind, node)
        if value.kind.is_array:
            self._alias(name, value, node)
        kind = self.scope.locals[name]
        converted = value if kind.is_array else typed.convert(self._checked(value, node), kind)
        return [Assign(name, converted), *([StopIfFailed()] if fails(value) else [])]

    def _alias(self, name: str, value: Expression, node: ast.stmt) -> None:
        sources = array_names(value)
        fresh = sources & self.scope.made_in_loop
        if fresh:
            self.scope.fail(
                node, f"'{min(fresh)}' is made anew in a loop and cannot have a second name: make it before the loop."
            )
        self.aliases.setdefault(name, set()).update(sources)

    def _bind_static(self, name: str, value: ast.expr) -> bool:
        """Keeps a name as a compile-time value when it is assigned once, to one."""
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
        local = any(name in self.scope.locals and name not in self.scope.statics for name in names)
        return None if local else self.value(value)

    def _refuse_static_index(self, name: str, node: ast.AST) -> None:
        if name in self.scope.static_indices:
            self.scope.fail(node, f"'{name}' is the index of a static_range and cannot be assigned in it.")

    def _is_allocation(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and self.static_object(value.func) in (zeros, izeros)

    def _new_array(self, name: str, node: ast.Call) -> list[Statement]:
        self._expect(node, 1)
        kind = Kind.ARRAY if self.static_object(node.func) is zeros else Kind.INT_ARRAY
        size = self.static_integer(node.args[0], "the size")
        if size < 0:
            self.scope.fail(node, f"an array of size {size}.")
        self.scope.declare(name, kind, node)
        self.aliases.setdefault(name, set())
        storage = self.scope.label(name)
        self.scope.storage[storage] = (kind, size)
        if 8 * sum(length for _, length in self.scope.storage.values()) > LARGEST_FRAME:
            self.scope.fail(
                node, f"local arrays of more than {LARGEST_FRAME >> 20} MiB: take a workspace as a parameter."
            )
        if self.scope.is_single_assignment(name):
            self.scope.sizes[name] = size
        if self.scope.loop_depth:
            self.scope.made_in_loop.add(name)
        return [NewArray(name, storage, size, kind)]

    def _store(self, target: ast.Subscript, value: Expression, node: ast.stmt) -> list[Statement]:
        array = self.array(target.value)
        index = self.index(target.slice, array) if not isinstance(target.slice, ast.Slice) else None
        if index is None:
            self.scope.fail(node, "assign elements one by one: a[i] = ....")
        if value.kind is Kind.FLOAT and array.kind is Kind.INT_ARRAY:
            self.scope.fail(node, "a float cannot be stored in an IntArray: use int(...).")
        before, settled = self._settled(value, node)
        self._checked(index, node, settled)
        self.touched |= array_names(array)
        return [*before, Store(array, index, typed.convert(settled, array.kind.element))]

    def _augmented(self, node: ast.AugAssign) -> list[Statement]:
        if isinstance(node.target, ast.Subscript) and self._calls_out(node.target):
            self.scope.fail(node, "a call in the target of an augmented assignment: assign its result to a name first.")
        whole = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
        return self._assign_to(node.target, whole, node)

    def _calls_out(self, target: ast.Subscript) -> bool:
        """True when evaluating the target twice would call a routine or external twice."""
        return any(isinstance(part, (Call, CallExternal)) for part in walk(self.number(target)))

    # -- control flow ----------------------------------------------------------------------------------

    def _expression(self, node: ast.Expr) -> list[Statement]:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return []
        value = self._checked(self.value(node.value), node)
        if not isinstance(value, (Call, CallExternal)):
            self.scope.fail(node, f"'{ast.unparse(node)}' has no effect.")
        return [Evaluate(value), *([StopIfFailed()] if fails(value) else [])]

    def _pass(self, node: ast.Pass) -> list[Statement]:
        return []

    def _if(self, node: ast.If) -> list[Statement]:
        condition = self.condition(node.test)
        if isinstance(condition, Const):
            return list(self.body(node.body if condition.value else node.orelse))
        before, condition = self._settled(condition, node)
        return [*before, If(condition, self.body(node.body), self.body(node.orelse))]

    def _while(self, node: ast.While) -> list[Statement]:
        self._refuse_else(node)
        condition = self._checked(self.condition(node.test), node)
        if isinstance(condition, Const) and not condition.value:
            return []
        label = self.scope.label("while")
        with self._loop(Break(label), Continue(label), repeated=True):
            body = self.body(node.body)
        if not fails(condition):
            return [While(condition, body, label)]
        before, settled = self._settled(condition, node)
        test = If(typed.invert(settled), (Break(label),), ())
        return [While(typed.constant(True), (*before, test, *body), label)]

    def _for(self, node: ast.For) -> list[Statement]:
        self._refuse_else(node)
        call = node.iter
        if not isinstance(node.target, ast.Name) or not isinstance(call, ast.Call):
            self.scope.fail(node, "a for loop runs one name over range(...) or static_range(...).")
        self._refuse_static_index(node.target.id, node)
        kind = self.static_object(call.func)
        if kind is static_range:
            return self._static_for(node, node.target.id, call)
        if kind is not range or not 1 <= len(call.args) <= 3 or call.keywords:
            self.scope.fail(node, "a for loop runs over range(...) or static_range(...).")
        return self._range_for(node, node.target.id, call)

    def _range_for(self, node: ast.For, name: str, call: ast.Call) -> list[Statement]:
        bounds = [self.integer(argument, "a bound of range") for argument in call.args[:2]]
        step = self.static_integer(call.args[2], "the step of range") if len(call.args) == 3 else 1
        if step == 0:
            self.scope.fail(node, "the step of range is zero.")
        before, settled = [], []
        for bound in bounds:
            statements, value = self._settled(bound, node)
            before.extend(statements)
            settled.append(value)
        start, stop = (typed.constant(0), settled[0]) if len(settled) == 1 else settled
        self.scope.declare(name, Kind.INT, node)
        counter, label = self.scope.label(name), self.scope.label("for")
        self.scope.counters.append(counter)
        with self._loop(Break(label), Continue(label), repeated=True):
            body = self.body(node.body)
        return [*before, For(name, counter, start, stop, step, body, label)]

    def _static_for(self, node: ast.For, name: str, call: ast.Call) -> list[Statement]:
        indices = range(*[self.static_integer(argument, "a bound of static_range") for argument in call.args])
        if len(indices) > LARGEST_UNROLLED_LOOP:
            self.scope.fail(node, f"static_range of {len(indices)} rounds: use range.")
        outer = self.scope.label("unrolled")
        rounds: list[Statement] = []
        self.scope.static_indices.add(name)
        for index in indices:
            inner = self.scope.label("round")
            self.scope.statics[name] = index
            with self._loop(Break(outer), Break(inner), repeated=False):
                body = self.body(node.body)
            rounds.append(Block(body, inner))
            if body and isinstance(body[-1], _END) and body[-1] != Break(inner):
                break
        self.scope.static_indices.discard(name)
        last = self.scope.statics.pop(name, None)
        if name in self.scope.locals and last is not None:
            rounds.append(Assign(name, typed.constant(last)))
        return [Block(tuple(rounds), outer)]

    @contextmanager
    def _loop(self, leave: Break, again: Continue | Break, repeated: bool) -> Iterator[None]:
        self.scope.exits.append((leave, again))
        self.scope.loop_depth += repeated
        yield
        self.scope.loop_depth -= repeated
        self.scope.exits.pop()

    def _refuse_else(self, node: ast.For | ast.While) -> None:
        if node.orelse:
            self.scope.fail(node.orelse[0], "'else' of a loop is not part of the routine language.")

    def _break(self, node: ast.Break) -> list[Statement]:
        return [self.scope.exits[-1][0]]

    def _continue(self, node: ast.Continue) -> list[Statement]:
        return [self.scope.exits[-1][1]]

    def _return(self, node: ast.Return) -> list[Statement]:
        expected = self.scope.returns
        if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
            if expected is not Kind.NONE:
                self.scope.fail(node, f"'return' without the {expected.value} that the annotation promises.")
            return [Return(None)]
        value = self._checked(self.number(node.value), node)
        narrowing = value.kind is Kind.FLOAT and expected is not Kind.FLOAT
        if expected is Kind.NONE or narrowing or (value.kind is Kind.INT and expected is Kind.BOOL):
            self.scope.fail(node, f"returns {value.kind.value}, the annotation says {expected.value}.")
        return [Return(typed.convert(value, expected))]

    _STATEMENTS: Mapping[type, Callable[[Any, Any], list[Statement]]] = {
        ast.Assign: _assign,
        ast.AnnAssign: _annotated,
        ast.AugAssign: _augmented,
        ast.Expr: _expression,
        ast.Pass: _pass,
        ast.If: _if,
        ast.While: _while,
        ast.For: _for,
        ast.Break: _break,
        ast.Continue: _continue,
        ast.Return: _return,
    }
