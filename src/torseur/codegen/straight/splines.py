"""The tabulated functions of a source: each lookup has a function of its own there, with the spline's numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from torseur.codegen.names import Names
from torseur.codegen.tables import derivative_rows
from torseur.graph.functions import TableLookup
from torseur.graph.program import Program


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
    flat = derivative_rows(lookup.table, lookup.order)
    columns = len(flat) // (len(knots) - 1)
    return Spline(knots, tuple(flat[k : k + columns] for k in range(0, len(flat), columns)))
