"""Typed tree of a translated routine: compile-time values folded, static loops unrolled, names resolved.

Every target prints this tree; none looks at Python syntax.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from torseur.computation.codegen.routine.records import Type
from torseur.computation.codegen.routine.routine_language import Kind, Parameter

Number: TypeAlias = int | float | bool


@dataclass(frozen=True)
class Const:
    value: Number
    kind: Kind


# Two nodes are the same array when they have the same name: a shape is how it is indexed, and no part of what memory it
# is. The refusal of overlapping arguments (calls.py) compares nodes and relies on this.
@dataclass(frozen=True)
class Local:
    """A parameter or local variable; `shape` is that of an array, () when it is flat and of unknown size."""

    name: str
    kind: Kind
    shape: tuple[int | None, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Unary:
    """op is "neg" or "not"."""

    op: str
    a: Expression
    kind: Kind


@dataclass(frozen=True)
class Binary:
    """op is one of + - * / // % on operands of the result's type."""

    op: str
    a: Expression
    b: Expression
    kind: Kind


# A node of its own, and not a product of equal nodes: its base would be evaluated once per factor, calls in it
# included. Every target multiplies from the left, n - 1 times, so that all round alike.
@dataclass(frozen=True)
class Power:
    """a to a whole exponent of at least two, evaluated by products."""

    a: Expression
    exponent: int
    kind: Kind


@dataclass(frozen=True)
class Compare:
    """op is one of < <= > >= == != on operands of one type."""

    op: str
    a: Expression
    b: Expression
    kind: Kind = Kind.BOOL


@dataclass(frozen=True)
class Logic:
    """Short-circuit "and" or "or" of booleans."""

    op: str
    a: Expression
    b: Expression
    kind: Kind = Kind.BOOL


# A guard such as `a[i] if i < n else 0.0` must not load a[i] beside the array: no target may compute both sides first.
@dataclass(frozen=True)
class Select:
    """a if condition else b; only the chosen side is evaluated."""

    condition: Expression
    a: Expression
    b: Expression
    kind: Kind


@dataclass(frozen=True)
class Convert:
    a: Expression
    kind: Kind


@dataclass(frozen=True)
class Load:
    array: Expression
    index: Expression
    kind: Kind


@dataclass(frozen=True)
class TableLoad:
    """An element of a compile-time table at an index known at run time."""

    table: tuple[float, ...] | tuple[int, ...]
    index: Expression
    kind: Kind


# Offsets count elements, not bytes. A view of a view is folded by `arrays.offset` where both starts are known.
@dataclass(frozen=True)
class View:
    """The array from an offset on."""

    array: Expression
    offset: Expression
    kind: Kind
    shape: tuple[int | None, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Intrinsic:
    """A function of the intrinsic table on operands of the types it asks for."""

    name: str
    args: tuple[Expression, ...]
    kind: Kind


@dataclass(frozen=True)
class Call:
    """A call of a translated function."""

    function: Function
    args: tuple[Expression, ...]
    kind: Kind


# `writes` are positions among `args`, after records were replaced by their arrays.
@dataclass(frozen=True)
class CallExternal:
    """A call of a bound Program or callback, by the external's name."""

    name: str
    args: tuple[Expression, ...]
    kind: Kind
    writes: frozenset[int]
    fails: bool


Expression: TypeAlias = (
    Const
    | Local
    | Unary
    | Binary
    | Power
    | Compare
    | Logic
    | Select
    | Convert
    | Load
    | TableLoad
    | View
    | Intrinsic
    | Call
    | CallExternal
)


@dataclass(frozen=True)
class Assign:
    name: str
    value: Expression


@dataclass(frozen=True)
class NewArray:
    """Zeroes the local array's storage and points the name at it."""

    # Name and storage are apart, because a name may be pointed at another array later, and an array that is made in a
    # loop is the same memory in each round.

    name: str
    storage: str
    size: int
    kind: Kind


@dataclass(frozen=True)
class Store:
    array: Expression
    index: Expression
    value: Expression


@dataclass(frozen=True)
class Evaluate:
    """A call for its effect."""

    value: Expression


@dataclass(frozen=True)
class If:
    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True)
class While:
    condition: Expression
    body: tuple[Statement, ...]
    label: str


# Python's range is not disturbed by `i += 1` in the body; a C loop over i itself would be. Hence the hidden counter.
@dataclass(frozen=True)
class For:
    """name runs over range(start, stop, step); counter is the hidden variable that the body cannot change."""

    name: str
    counter: str
    start: Expression
    stop: Expression
    step: int
    body: tuple[Statement, ...]
    label: str


# Rounds of an unrolled loop: `continue` is a Break of the round's block, `break` one of the block around all rounds.
@dataclass(frozen=True)
class Block:
    """Statements that Break(label) leaves."""

    body: tuple[Statement, ...]
    label: str


@dataclass(frozen=True)
class Break:
    """Leaves the loop or block with this label."""

    label: str


@dataclass(frozen=True)
class Continue:
    """Next round of the loop with this label."""

    label: str


@dataclass(frozen=True)
class Return:
    value: Expression | None


# Follows every call that may reach Python. Without it a loop would go on with the numbers that the callback did not
# write, perhaps for ever; the exception itself waits on Python's side until the compiled code has returned.
@dataclass(frozen=True)
class StopIfFailed:
    """Returns at once when a callback has raised."""


Statement: TypeAlias = (
    Assign | NewArray | Store | Evaluate | If | While | For | Block | Break | Continue | Return | StopIfFailed
)


# Compared by identity: a routine is translated once per unit, and its body would be compared statement by statement.
@dataclass(frozen=True, eq=False)
class Function:
    """A translated routine.

    `signature` is what callers give, `parameters` what becomes of it: records as their blocks and references, without
    those that are not used. `writes` holds the array parameters it may change, directly or through calls; `fails` says
    that a callback can be reached, so callers check the failure flag after it; `uses_context` that a Program or
    callback is.
    """

    name: str
    signature: tuple[tuple[str, Type], ...]
    parameters: tuple[Parameter, ...]
    returns: Kind
    locals: dict[str, Kind]
    counters: tuple[str, ...]
    storage: dict[str, tuple[Kind, int]]
    body: tuple[Statement, ...]
    writes: frozenset[str]
    # Array names that are assigned somewhere: they may stand for another array than the caller's.
    rebound: frozenset[str]
    calls: tuple[Call | CallExternal, ...]
    fails: bool
    uses_context: bool
    origin: str


def children(node: Expression) -> tuple[Expression, ...]:
    """Direct operands of an expression."""
    if isinstance(node, (Const, Local)):
        return ()
    if isinstance(node, (Unary, Convert, Power)):
        return (node.a,)
    if isinstance(node, (Binary, Compare, Logic)):
        return (node.a, node.b)
    if isinstance(node, Select):
        return (node.condition, node.a, node.b)
    if isinstance(node, Load):
        return (node.array, node.index)
    if isinstance(node, TableLoad):
        return (node.index,)
    if isinstance(node, View):
        return (node.array, node.offset)
    return node.args


def walk(node: Expression) -> Iterator[Expression]:
    """The expression and everything inside it."""
    yield node
    for child in children(node):
        yield from walk(child)


def expressions(statements: tuple[Statement, ...]) -> Iterator[Expression]:
    """Every expression of the statements, outermost ones only."""
    for statement in statements:
        if isinstance(statement, (Assign, Evaluate)):
            yield statement.value
        elif isinstance(statement, Store):
            yield from (statement.array, statement.index, statement.value)
        elif isinstance(statement, Return) and statement.value is not None:
            yield statement.value
        elif isinstance(statement, If):
            yield statement.condition
            yield from expressions(statement.then)
            yield from expressions(statement.otherwise)
        elif isinstance(statement, While):
            yield statement.condition
            yield from expressions(statement.body)
        elif isinstance(statement, For):
            yield from (statement.start, statement.stop)
            yield from expressions(statement.body)
        elif isinstance(statement, Block):
            yield from expressions(statement.body)
