"""Tabulated functions as routines: the search and the polynomial are written once and translated to each target."""

from __future__ import annotations

import math

import numpy as np

from torseur.algebra.graph.functions import Table, TableLookup
from torseur.computation.codegen.routine.nodes import Function
from torseur.computation.codegen.routine.routine_language import Routine, routine, static_range
from torseur.computation.codegen.routine.unit import Linker
from torseur.computation.codegen.sources.identifiers import identifier

_UNIFORM = 1e-9
"""Relative unevenness below which a grid is searched by division; the neighbours are then checked exactly."""


class Lookups:
    """The lookup functions that the programs of one compilation unit call."""

    def __init__(self) -> None:
        self._linker = Linker({}, {})
        self._routines: dict[TableLookup, Routine] = {}

    def function(self, lookup: TableLookup) -> Function:
        """The function of one argument that evaluates a table or one of its derivatives."""
        if lookup not in self._routines:
            self._routines[lookup] = lookup_routine(lookup.table, lookup.order)
        return self._linker.function(self._routines[lookup])

    @property
    def functions(self) -> tuple[Function, ...]:
        return tuple(self._linker.functions.values())


def lookup_routine(table: Table, order: int) -> Routine:
    """A routine giving the derivative of the given order of a table's spline."""
    knots = tuple(float(x) for x in table.knots)
    rows = derivative_rows(table, order)
    search = _uniform_search(knots) if _is_uniform(knots) else _bisection(knots)
    columns = len(rows) // (len(knots) - 1)

    def lookup(x: float) -> float:
        k = search(x)
        local = x - knots[k]
        result = rows[columns * k + columns - 1]
        for power in static_range(columns - 2, -1, -1):
            result = result * local + rows[columns * k + power]
        return result

    lookup.__name__ = identifier(f"table_{table.name}") + "_d" * order
    lookup.__doc__ = f"table {table.name}" + (f", derivative of order {order}" if order else "")
    return routine(lookup)


def derivative_rows(table: Table, order: int) -> tuple[float, ...]:
    """Coefficients of the derivative on each interval, constant first, one interval after another."""
    powers = np.arange(order, table.degree + 1)
    if powers.size == 0:
        return (0.0,) * (len(table.knots) - 1)
    # d^r/dx^r x^n = n (n - 1) ... (n - r + 1) x^(n - r).
    factors = [float(math.perm(int(power), order)) for power in powers]
    return tuple(float(c) for c in (table.coefficients[:, powers] * factors).ravel())


def _is_uniform(knots: tuple[float, ...]) -> bool:
    steps = np.diff(knots)
    return bool(np.ptp(steps) <= _UNIFORM * steps.mean())


def _uniform_search(knots: tuple[float, ...]) -> Routine:
    last = len(knots) - 2
    start, inverse = knots[0], (last + 1) / (knots[-1] - knots[0])

    def interval(x: float) -> int:
        """The interval between knots that x lies in, or the nearest one."""
        # The comparison with zero is false for NaN, which then falls on the first interval and stays NaN in the
        # polynomial.
        position = (x - start) * inverse
        k = 0
        if position > 0.0:
            k = int(position) if position < last else last
        # One step either way undoes the rounding of `position`: derivatives jump at knots, and bisection must agree.
        if k > 0 and x < knots[k]:
            k = k - 1
        if k < last and x >= knots[k + 1]:
            k = k + 1
        return k

    return routine(interval)


def _bisection(knots: tuple[float, ...]) -> Routine:
    last = len(knots) - 2

    def interval(x: float) -> int:
        """The interval between knots that x lies in, or the nearest one."""
        low = 0
        high = last + 1
        while high - low > 1:
            middle = (low + high) // 2
            if x >= knots[middle]:
                low = middle
            else:
                high = middle
        return low

    return routine(interval)
