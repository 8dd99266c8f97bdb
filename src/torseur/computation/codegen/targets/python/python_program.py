"""Straight-line programs printed as Python functions over NumPy numbers or arrays (one lane per state)."""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from torseur.algebra.graph.expr import Expr
from torseur.algebra.graph.operations import OPERATIONS
from torseur.algebra.graph.program import Program
from torseur.computation.codegen.straight_line import Layout, layout

_SPELLING = {name: operation.spelling["python"] for name, operation in OPERATIONS.items()}
FUNCTIONS = (
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "arctan2",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "sqrt",
    "abs",
    "sign",
    "minimum",
    "maximum",
    "floor",
    "where",
)
_RESERVED = frozenset([*keyword.kwlist, *FUNCTIONS, "lookup", "math", "print"])


def program_source(program: Program, name: str = "program") -> str:
    """A Python function of the program's inputs that returns one list per output."""
    plan = layout(program, _RESERVED, chunk=max(1, len(program.operations)))
    chunk = plan.chunks[0]
    lines = [f"def {name}({', '.join(plan.arrays[: len(program.inputs)])}):"]
    lines += [f"    {plan.names[node]} = {plan.arrays[i]}[{j}]" for node, (i, j) in chunk.inputs.items()]
    tables = _tables(program)
    lines += [f"    {plan.names[node]} = {_operation(node, plan, tables)}" for node in chunk.operations]
    results = [", ".join(_reference(entry, plan) for entry in output.entries) for output in program.outputs]
    return "\n".join([*lines, f"    return [{', '.join(f'[{entries}]' for entries in results)}]", ""])


def python_function(program: Program) -> Callable[..., list[list[Any]]]:
    """The program as a callable of its input vectors."""
    namespace: dict[str, Any] = {name: getattr(np, name) for name in FUNCTIONS}
    namespace["lookup"] = [lookup_function(data) for data in _tables(program)]
    # Names come from `Names`, never from a user's text; without builtins, what slipped through could still call
    # nothing.
    namespace["__builtins__"] = {}
    exec(compile(program_source(program), f"<program {program.name}>", "exec"), namespace)
    function: Callable[..., list[list[Any]]] = namespace["program"]
    return function


def lookup_function(data: Any) -> Callable[[Any], Any]:
    """A table's value or derivative as a function of a number or an array."""
    return lambda x: data.table.value(x, data.order)


def _tables(program: Program) -> list[Any]:
    return list(dict.fromkeys(node.data for node in program.operations if node.op == "table"))


def _reference(node: Expr, plan: Layout) -> str:
    name = plan.names.get(node)
    if name is not None:
        return name
    text = repr(math.pi if node.op == "pi" else float(node.data))
    return f"({text})" if text.startswith("-") else text


def _operation(node: Expr, plan: Layout, tables: Sequence[Any]) -> str:
    arguments = [_reference(a, plan) for a in node.args]
    if node.op == "table":
        return f"lookup[{tables.index(node.data)}]({arguments[0]})"
    return _SPELLING[node.op].format(*arguments)
