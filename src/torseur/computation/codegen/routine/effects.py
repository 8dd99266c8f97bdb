"""What calls do besides returning a value, and where control can go: the facts that keep targets alike.

C leaves the order of operands open; Python and LLVM do not. An expression in which that order could matter is
refused, so the three targets cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from torseur.computation.codegen.routine.nodes import (
    Assign,
    Block,
    Break,
    Call,
    CallExternal,
    Const,
    Expression,
    For,
    If,
    Load,
    Local,
    Logic,
    NewArray,
    Return,
    Select,
    Statement,
    While,
    children,
    expressions,
    walk,
)


def writes(call: Call | CallExternal) -> bool:
    """True when the call may change an array."""
    return bool(call.function.writes if isinstance(call, Call) else call.writes)


def can_fail(call: Call | CallExternal) -> bool:
    """True when the call can reach a callback, which may raise."""
    return call.function.fails if isinstance(call, Call) else call.fails


def fails(expression: Expression) -> bool:
    """True when a callback can be reached, whose exception must stop the routine."""
    return any(can_fail(part) for part in walk(expression) if isinstance(part, (Call, CallExternal)))


def needs_context(call: Call | CallExternal) -> bool:
    """True when the call can reach a Program or callback, to which the unit's context leads."""
    return isinstance(call, CallExternal) or call.function.uses_context


def order_conflict(*operands: Expression) -> str | None:
    """Name of a call whose order among the other reads and calls would matter, else None.

    It matters when the call changes arrays, and when two calls reach callbacks.

    and, or and conditional expressions fix the order of their parts, so each part is looked at alone.
    """
    if len(operands) == 1 and isinstance(operands[0], (Logic, Select)):
        return next(filter(None, (order_conflict(part) for part in children(operands[0]))), None)
    # Arguments of a call are evaluated before it in every target, so that reads inside the changing call are in order;
    # what conflicts is a read or call beside it:
    #     f(a) + a[0]     refused, where f writes a
    #     f(a, a[0])      accepted
    parts = [part for operand in operands for part in walk(operand)]
    calls = [part for part in parts if isinstance(part, (Call, CallExternal))]
    changing = [call for call in calls if writes(call)]
    # Calls that change nothing commute, unless two of them may raise: which exception the user sees would be chance.
    if not changing:
        failing = [call for call in calls if can_fail(call)]
        return _name(failing[1]) if len(failing) > 1 else None
    inside = {id(part) for part in walk(changing[0])}
    others = [part for part in parts if id(part) not in inside and isinstance(part, (Load, Call, CallExternal))]
    return _name(changing[0]) if len(changing) > 1 or others else None


def _name(call: Call | CallExternal) -> str:
    return call.function.name if isinstance(call, Call) else call.name


def falls_through(body: tuple[Statement, ...]) -> bool:
    """True when control can reach the end of the statements."""
    if not body:
        return True
    last = body[-1]
    if isinstance(last, If):
        return falls_through(last.then) or falls_through(last.otherwise)
    if isinstance(last, Block):
        return falls_through(last.body) or leaves(last.body, last.label)
    # `while True` has a constant condition, since a false one is dropped: only a break leads past it.
    if isinstance(last, While):
        endless = isinstance(last.condition, Const)
        return not endless or leaves(last.body, last.label)
    return not isinstance(last, Return)


def leaves(body: tuple[Statement, ...], label: str) -> bool:
    """True when a Break with this label stands somewhere in the statements."""
    for statement in body:
        if isinstance(statement, Break) and statement.label == label:
            return True
        if isinstance(statement, If) and (leaves(statement.then, label) or leaves(statement.otherwise, label)):
            return True
        if isinstance(statement, (While, For, Block)) and leaves(statement.body, label):
            return True
    return False


def loop_bounds(body: tuple[Statement, ...]) -> Iterator[int]:
    """The ends of range loops that are known at translation."""
    for statement in body:
        if isinstance(statement, For) and isinstance(statement.stop, Const):
            yield int(statement.stop.value)
        if isinstance(statement, If):
            yield from loop_bounds(statement.then + statement.otherwise)
        elif isinstance(statement, (While, For, Block)):
            yield from loop_bounds(statement.body)


# `b = a[3:]` makes b point into a: a routine that writes b writes a, and its callers must know.
def reachable(names: set[str], aliases: Mapping[str, set[str]]) -> set[str]:
    """The names and everything they may point into."""
    reached: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending.extend(aliases.get(name, ()))
    return reached


def drop_unused(body: tuple[Statement, ...], names: set[str]) -> tuple[tuple[Statement, ...], set[str]]:
    """The statements without assignments to those of the names that nothing reads, and which these are.

    A record has several arrays, of which a routine seldom needs all.
    """
    # To a fixed point: an assignment that goes may have been the only reader of another name.
    while True:
        unused = names - {part.name for e in expressions(body) for part in walk(e) if isinstance(part, Local)}
        shorter = _without(body, unused)
        if shorter == body:
            return body, unused
        body = shorter


def _without(body: tuple[Statement, ...], unused: set[str]) -> tuple[Statement, ...]:
    kept: list[Statement] = []
    for statement in body:
        if isinstance(statement, (Assign, NewArray)) and statement.name in unused:
            continue
        if isinstance(statement, If):
            statement = replace(
                statement, then=_without(statement.then, unused), otherwise=_without(statement.otherwise, unused)
            )
        elif isinstance(statement, (While, For, Block)):
            statement = replace(statement, body=_without(statement.body, unused))
        kept.append(statement)
    return tuple(kept)
