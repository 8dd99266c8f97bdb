"""A language that straight-line programs are printed in: its words, numbers, operations, and tabulated functions.

Each lookup of a table is a function of its own in a source, with the numbers of its spline.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph.expr import Expr
from torseur.algebra.graph.functions import TableLookup
from torseur.algebra.graph.operations import OPERATIONS
from torseur.algebra.graph.program import Program
from torseur.computation.codegen.sources.identifiers import Names
from torseur.computation.codegen.sources.table_lookup import derivative_rows


@dataclass(frozen=True)
class Spline:
    """Polynomials between knots: on interval k, powers of x - knots[k], the constant first.

    Beyond the ends the outer polynomials continue.
    """

    knots: tuple[float, ...]
    rows: tuple[tuple[float, ...], ...]

    @property
    def intervals(self) -> int:
        return len(self.rows)

    @property
    def columns(self) -> int:
        return len(self.rows[0])

    @property
    def flat(self) -> tuple[float, ...]:
        """The rows one after the other."""
        return tuple(number for row in self.rows for number in row)


@dataclass(frozen=True)
class Splines:
    """The lookups of a source and the names of their functions."""

    names: dict[TableLookup, str]

    @staticmethod
    def of(programs: Iterable[Program], names: Names) -> Splines:
        """Those of some programs, named when they are met."""
        lookups = [node.data for program in programs for node in program.operations if node.op == "table"]
        return Splines({lookup: names.unique(f"spline_{lookup.name}") for lookup in dict.fromkeys(lookups)})

    def items(self) -> list[tuple[str, Spline]]:
        """Each function's name and its spline."""
        return self.items_of(self.names)

    def items_of(self, lookups: Iterable[TableLookup]) -> list[tuple[str, Spline]]:
        """The same for some of them."""
        return [(self.names[lookup], _spline(lookup)) for lookup in lookups]


def _spline(lookup: TableLookup) -> Spline:
    knots = tuple(float(x) for x in lookup.table.knots)
    # Derivatives of a table are tables with shorter rows over the same knots; each order is a function of its own.
    flat = derivative_rows(lookup.table, lookup.order)
    columns = len(flat) // (len(knots) - 1)
    return Spline(knots, tuple(flat[k : k + columns] for k in range(0, len(flat), columns)))


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
        # pi is a node of its own in the graph, so that sin(pi) folds exactly; sources see its nearest double.
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
