"""Linear equations with formulas for coefficients, solved one after the other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb

from torseur.algebra.graph import Expr, as_expr, substitute, symbols_of
from torseur.derivation.equations.terms.linear_solution import determinant, inverse_by_minors
from torseur.derivation.equations.terms.polynomial import expression_of
from torseur.derivation.equations.terms.short_sum import short_expression, written_size
from torseur.derivation.equations.terms.trigonometry import vanishes


class KeptUnknowns(Exception):
    """An equation ties unknowns that all were to be kept."""

    def __init__(self, name: str, tied: Sequence[int]) -> None:
        super().__init__(name)
        self.name, self.tied = name, tuple(tied)


@dataclass
class _Row:
    """What a dependent unknown is: coefficients of the others, and constants at two levels (speed, acceleration)."""

    coefficients: list[Expr]
    drift: Expr
    bias: Expr

    def plus(self, factor: Expr, other: _Row) -> _Row:
        """This row and a multiple of another."""
        added = [_short(a + factor * b) for a, b in zip(self.coefficients, other.coefficients, strict=True)]
        return _Row(added, _short(self.drift + factor * other.drift), self.bias + factor * other.bias)


MOST_SETS = 60  # of unknowns to solve for that are looked through
MOST_AT_ONCE = 4  # unknowns; minors of more are longer than an elimination


def solved_together(
    rows: Sequence[Sequence[Expr]], constants: Sequence[tuple[Expr, Expr]], moving: Collection[Expr]
) -> LinearSystem | None:
    """The equations solved at once for unknowns whose determinant has nothing that moves, where there are such.

    x' cos a + y' sin a = u and y' cos a - x' sin a = w, one after the other, would divide by cos a; their determinant
    is 1. The rows are Σ c_j v_j + drift = 0 and Σ c_j v'_j + bias = 0, constants the pairs (drift, bias).
    """
    n, m = len(rows[0]), len(rows)
    if comb(n, m) > MOST_SETS:
        return None
    for places in sorted(combinations(range(n), m), reverse=True):
        matrix = [[row[k] for k in places] for row in rows]
        size = determinant(matrix)
        if not size or not set(symbols_of([expression_of(size)])).isdisjoint(moving):
            continue
        if (system := _solved_for(places, rows, constants)) is not None:
            return system
    return None


def divided_once(
    system: LinearSystem, rows: Sequence[Sequence[Expr]], constants: Sequence[tuple[Expr, Expr]]
) -> LinearSystem | None:
    """The same unknowns by the same others, divided by the determinant alone, where that is shorter.

    Of a four-bar the first pivot is sin gamma, by which only its elimination divides: the determinant is
    b c sin(alpha + beta - gamma), and where gamma is zero nothing is singular.
    """
    if not 1 < len(system.solved) <= MOST_AT_ONCE:
        return None
    at_once = _solved_for(tuple(sorted(system.solved)), rows, constants)
    return at_once if at_once is not None and at_once.size < system.size else None


def _solved_for(
    places: Sequence[int], rows: Sequence[Sequence[Expr]], constants: Sequence[tuple[Expr, Expr]]
) -> LinearSystem | None:
    """The equations solved at once for the unknowns at some places, by minors; None where they are too long."""
    matrix = [[row[k] for k in places] for row in rows]
    size, inverse = determinant(matrix), inverse_by_minors(matrix)
    if not size or inverse is None:
        return None
    solved = {place: _row(weights, rows, constants, places) for place, weights in zip(places, inverse, strict=True)}
    divisor = short_expression(expression_of(size))
    return LinearSystem(len(rows[0]), solved=solved, pivots=[divisor] if symbols_of([divisor]) else [])


def _row(
    weights: Sequence[Expr],
    rows: Sequence[Sequence[Expr]],
    constants: Sequence[tuple[Expr, Expr]],
    places: Sequence[int],
) -> _Row:
    """One dependent unknown: a row of the inverse times the equations, on the other side."""

    def total(entries: Sequence[Expr]) -> Expr:
        return -sum((w * entry for w, entry in zip(weights, entries, strict=True)), as_expr(0))

    others = [as_expr(0) if k in places else _short(total([row[k] for row in rows])) for k in range(len(rows[0]))]
    drifts, biases = zip(*constants, strict=True)
    return _Row(others, _short(total(drifts)), total(biases))


@dataclass
class LinearSystem:
    """Gauss and Jordan's elimination, one equation after the other; entries are shortened on the way.

    `solved` gives unknowns by those that are left, of which `kept` are some. `pivots` were divided by. `start` has
    values of coordinates where the motion starts, where no pivot should vanish.
    """

    count: int
    kept: set[int] = field(default_factory=set)
    solved: dict[int, _Row] = field(default_factory=dict)
    pivots: list[Expr] = field(default_factory=list)
    redundant: list[str] = field(default_factory=list)
    start: Mapping[Expr, Expr] = field(default_factory=dict)

    def add(self, name: str, coefficients: Sequence[Expr], drift: Expr, bias: Expr) -> Expr:
        """What is left of the drift of one more equation, zero unless it is redundant.

        It is Σ c_j v_j + drift = 0 and Σ c_j v'_j + bias = 0. Raises where it ties unknowns that are all to be kept.
        """
        row = _Row([_short(c) for c in coefficients], _short(drift), bias)
        for place, known in self.solved.items():
            # Kept throughout: no solved unknown stands in another's row (Jordan), so that one pass clears a new
            # equation.
            factor = row.coefficients[place]
            row.coefficients[place] = as_expr(0)
            row = row.plus(factor, known) if not factor.is_zero else row
        column = self._pivot(row)
        if column is None:
            if tied := [k for k, c in enumerate(row.coefficients) if not vanishes(c)]:
                raise KeptUnknowns(name, tied)
            self.redundant.append(name)
            return row.drift
        pivot = row.coefficients[column]
        row.coefficients[column] = as_expr(0)
        minus = as_expr(-1) / pivot
        solution = _Row([_short(minus * c) for c in row.coefficients], _short(minus * row.drift), minus * row.bias)
        for other, known in self.solved.items():
            # And the new unknown goes out of the rows that are there.
            factor = known.coefficients[column]
            known.coefficients[column] = as_expr(0)
            self.solved[other] = known.plus(factor, solution) if not factor.is_zero else known
        self.solved[column] = solution
        if symbols_of([pivot]):
            self.pivots.append(pivot)
        return as_expr(0)

    @property
    def size(self) -> int:
        """How long the rates of the unknowns are as they are written."""
        return sum(written_size(c) for row in self.solved.values() for c in (*row.coefficients, row.drift))

    def entry(self, k: int, j: int) -> Expr:
        """By how much unknown k follows unknown j, which is left."""
        return self.solved[k].coefficients[j] if k in self.solved else as_expr(int(k == j))

    def value(self, k: int, unknowns: Sequence[Expr], level: int = 0) -> Expr:
        """Unknown k by those that are left, at the level of speeds or (1) of accelerations."""
        if k not in self.solved:
            return unknowns[k]
        row = self.solved[k]
        constant = row.bias if level else row.drift
        return sum((row.coefficients[j] * x for j, x in enumerate(unknowns) if j not in self.solved), constant)

    def _pivot(self, row: _Row) -> int | None:
        """The column to solve for: a number before a parameter before a formula; later speeds before earlier ones.

        What vanishes where the motion starts comes last: a blade along x has y' = x' tan φ, and not x' = y'/tan φ.
        """
        # vanishes() costs a proof; is_zero, which is free, is asked first.
        open_columns = [
            k for k, c in enumerate(row.coefficients) if k not in self.kept and not c.is_zero and not vanishes(c)
        ]
        if len(open_columns) < 2:
            return open_columns[0] if open_columns else None
        return min(
            open_columns,
            key=lambda k: (self._starts_at_zero(row.coefficients[k]), *_simplicity(row.coefficients[k]), -k),
        )

    def _starts_at_zero(self, entry: Expr) -> bool:
        if not self.start or self.start.keys().isdisjoint(symbols_of([entry])):
            return False
        return vanishes(substitute([entry], self.start)[0])


def _simplicity(entry: Expr) -> tuple[int, int]:
    functions = written_size(entry)
    return (len(symbols_of([entry])), functions)


def _short(entry: Expr) -> Expr:
    return as_expr(0) if vanishes(entry) else short_expression(entry)
