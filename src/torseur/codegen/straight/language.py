"""A language that straight-line programs are printed in: its words, its numbers, and its spelling of operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from torseur.codegen.straight.splines import Splines
from torseur.graph.expr import Expr
from torseur.graph.operations import OPERATIONS


@dataclass(frozen=True)
class Language:
    """What a printer of straight-line code has to know about its language.

    `column` is that of the operation table, `literal` spells a number such that it can stand in any expression,
    `element` an element of an array from its name and its index, counted from 0.
    """

    name: str
    column: str
    comment: tuple[str, str]
    reserved: frozenset[str]
    literal: Callable[[float], str]
    element: Callable[[str, int], str]
    ignore_case: bool = False

    @cached_property
    def _spelling(self) -> dict[str, str]:
        return {name: operation.spelling[self.column] for name, operation in OPERATIONS.items()}

    def reference(self, node: Expr, names: Mapping[Expr, str]) -> str:
        """A value: its name, or the number it is."""
        name = names.get(node)
        if name is not None:
            return name
        return self.literal(math.pi if node.op == "pi" else float(node.data))

    def operation(self, node: Expr, names: Mapping[Expr, str], splines: Splines) -> str:
        """An operation on values."""
        arguments = [self.reference(argument, names) for argument in node.args]
        if node.op == "table":
            return f"{splines.names[node.data]}({arguments[0]})"
        return self._spelling[node.op].format(*arguments)


def zero_based(array: str, index: int) -> str:
    """An element in C, C++ and Python."""
    return f"{array}[{index}]"


def one_based(array: str, index: int) -> str:
    """An element in Fortran and MATLAB."""
    return f"{array}({index + 1})"
