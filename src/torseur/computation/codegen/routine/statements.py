"""Python statements of a routine to typed nodes: compile-time tests pruned, static loops unrolled."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torseur.computation.codegen.routine import typing as typed
from torseur.computation.codegen.routine.assignments import AssignmentTranslator
from torseur.computation.codegen.routine.effects import fails, falls_through
from torseur.computation.codegen.routine.nodes import (
    Assign,
    Block,
    Break,
    Call,
    CallExternal,
    Const,
    Continue,
    Evaluate,
    For,
    If,
    Return,
    Statement,
    StopIfFailed,
    While,
)
from torseur.computation.codegen.routine.routine_language import Kind, static_range

# Far above any tableau (dop853 unrolls 12 stages of 12): reached only where a size of the system was unrolled by
# mistake, which would take minutes to compile.
LARGEST_UNROLLED_LOOP = 10_000
_END = (Return, Break, Continue)


class StatementTranslator(AssignmentTranslator):
    """Translates the body of one routine."""

    def body(self, statements: list[ast.stmt]) -> tuple[Statement, ...]:
        """The statements in order, without those that cannot be reached."""
        result: list[Statement] = []
        for node in statements:
            result.extend(self._statement(node))
            # What follows a return, break or continue is dropped here: LLVM allows one terminator per block, and C
            # warns.
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

    # -- control flow ----------------------------------------------------------------------------------

    def _expression(self, node: ast.Expr) -> list[Statement]:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return []
        value = self._refuse_conflict(self.value(node.value), node)
        if not isinstance(value, (Call, CallExternal)):
            self.scope.fail(node, f"'{ast.unparse(node)}' has no effect.")
        return [Evaluate(value), *([StopIfFailed()] if fails(value) else [])]

    def _pass(self, node: ast.Pass) -> list[Statement]:
        return []

    def _if(self, node: ast.If) -> list[Statement]:
        condition = self.condition(node.test)
        # The other branch is not even translated: it may use externals and sizes that this system has not.
        if isinstance(condition, Const):
            return list(self.body(node.body if condition.value else node.orelse))
        before, condition = self._evaluate_first(condition, node)
        return [*before, If(condition, self.body(node.body), self.body(node.orelse))]

    def _while(self, node: ast.While) -> list[Statement]:
        self._refuse_else(node)
        condition = self._refuse_conflict(self.condition(node.test), node)
        if isinstance(condition, Const) and not condition.value:
            return []
        label = self.scope.label("while")
        with self._loop(Break(label), Continue(label), repeated=True):
            body = self.body(node.body)
        if not fails(condition):
            return [While(condition, body, label)]
        # A condition that calls Python has to stop the loop when that raises, which an expression cannot: it becomes
        # statements at the head of an endless loop.
        before, settled = self._evaluate_first(condition, node)
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
        # Bounds are evaluated once, before the loop, as range does it: C's for would ask for its end in each round.
        before, settled = [], []
        for bound in bounds:
            statements, value = self._evaluate_first(bound, node)
            before.extend(statements)
            settled.append(value)
        start, stop = (typed.constant(0), settled[0]) if len(settled) == 1 else settled
        self.scope.declare(name, Kind.INT, node)
        if isinstance(start, Const) and isinstance(stop, Const):
            rounds = range(int(start.value), int(stop.value), step)
            if len(rounds) == 1:
                # A loop of one round is none: routines that move several motions at once are as fast for one.
                return self._unroll(node, name, rounds)
        counter, label = self.scope.label(name), self.scope.label("for")
        self.scope.counters.append(counter)
        with self._loop(Break(label), Continue(label), repeated=True):
            body = self.body(node.body)
        return [*before, For(name, counter, start, stop, step, body, label)]

    def _static_for(self, node: ast.For, name: str, call: ast.Call) -> list[Statement]:
        indices = range(*[self.static_integer(argument, "a bound of static_range") for argument in call.args])
        # Unrolled so that `A[i][j]` of a tableau is a number: products with its zeros are not even written.
        if len(indices) > LARGEST_UNROLLED_LOOP:
            self.scope.fail(node, f"static_range of {len(indices)} rounds: use range.")
        return self._unroll(node, name, indices)

    def _unroll(self, node: ast.For, name: str, indices: range) -> list[Statement]:
        # break leaves the outer block and continue the block of its round: nested blocks need no loop to jump out of.
        outer = self.scope.label("unrolled")
        rounds: list[Statement] = []
        self.scope.static_indices.add(name)
        for index in indices:
            inner = self.scope.label("round")
            self.scope.statics[name] = index
            with self._loop(Break(outer), Break(inner), repeated=False):
                body = self.body(node.body)
            rounds.append(Block(body, inner))
            # A round that surely leaves the loop is the last; one that surely continues is followed by the next.
            if body and isinstance(body[-1], _END) and body[-1] != Break(inner):
                break
        self.scope.static_indices.discard(name)
        last = self.scope.statics.pop(name, None)
        # After the loop its index keeps its last value, as in Python.
        if name in self.scope.locals and last is not None:
            rounds.append(Assign(name, typed.constant(last)))
        return [Block(tuple(rounds), outer)]

    @contextmanager
    def _loop(self, leave: Break, again: Continue | Break, repeated: bool) -> Iterator[None]:
        self.scope.exits.append((leave, again))
        # Unrolled rounds are not repeated: an array made in one of them is made once, and may have a second name.
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
        value = self._refuse_conflict(self.number(node.value), node)
        narrowing = value.kind is Kind.FLOAT and expected is not Kind.FLOAT
        if expected is Kind.NONE or narrowing or (value.kind is Kind.INT and expected is Kind.BOOL):
            self.scope.fail(node, f"returns {value.kind.value}, the annotation says {expected.value}.")
        return [Return(typed.convert(value, expected))]

    _STATEMENTS: Mapping[type, Callable[[Any, Any], list[Statement]]] = {
        ast.Assign: AssignmentTranslator._assign,
        ast.AnnAssign: AssignmentTranslator._assign_annotated,
        ast.AugAssign: AssignmentTranslator._assign_augmented,
        ast.Expr: _expression,
        ast.Pass: _pass,
        ast.If: _if,
        ast.While: _while,
        ast.For: _for,
        ast.Break: _break,
        ast.Continue: _continue,
        ast.Return: _return,
    }
