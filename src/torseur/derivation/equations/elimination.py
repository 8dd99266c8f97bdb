"""Equations of motion without multipliers: as many as there are freedoms, in the independent speeds.

The constraints C v + drift = 0 and C v' = γ give the dependent speeds by the independent ones,

    v = N u + n,    v' = N u' + n',

and Nᵀ Cᵀ = 0 removes the multipliers: Nᵀ (M v' + b - Q) = 0.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torseur.algebra.graph import Expr, as_expr, substitute, symbols_of
from torseur.derivation.equations.terms.short_sum import short_expression, written_size
from torseur.derivation.equations.terms.trigonometry import vanishes
from torseur.errors import TorseurError, unknown_name

if TYPE_CHECKING:
    from torseur.derivation.equations.equations import Equations


@dataclass(frozen=True)
class ReducedEquations:
    """Nᵀ (M v' + b - Q) = 0: `residuals`, one per independent speed.

    `speeds` give every dependent one by the independent ones, `accelerations` by these and the speeds. `pivots` were
    divided by: what is written holds where none of them vanishes. `redundant` names constraints that follow from
    the others.
    """

    equations: Equations
    independent: tuple[Expr, ...]
    speeds: dict[Expr, Expr]
    accelerations: dict[Expr, Expr]
    projection: tuple[tuple[Expr, ...], ...]
    residuals: tuple[Expr, ...]
    pivots: tuple[Expr, ...]
    redundant: tuple[str, ...]


def eliminate_multipliers(equations: Equations, independent: Collection[str] = ()) -> ReducedEquations:
    """The equations of a constrained mechanism in its independent speeds, solved for symbolically.

    Speeds named in `independent` stay; otherwise those are solved for whose coefficient is the simplest, so that
    divisions by what may vanish are avoided where they can be.
    """
    layout = equations.layout
    for name in independent:
        if name not in layout.speed_names:
            raise TorseurError(unknown_name("speed", name, layout.speed_names))
    kept = {k for k, name in enumerate(layout.speed_names) if name in independent}
    system = _Elimination(len(layout.speeds), kept)
    for constraint in equations.constraints:
        system.add(constraint.name, constraint.row, constraint.drift, -constraint.gamma)
    free = [k for k in range(len(layout.speeds)) if k not in system.solved]
    u = [layout.speeds[k] for k in free]
    speeds = {layout.speeds[k]: _sum(row, layout.speeds, free, row.drift) for k, row in system.solved.items()}
    # In the dependent speeds too: put in, they would make the terms of Coriolis and centrifugal forces long.
    accelerations = {
        layout.accelerations[k]: short_expression(_sum(row, layout.accelerations, free, row.bias))
        for k, row in system.solved.items()
    }
    projection = tuple(tuple(_entry(system, k, j) for j in free) for k in range(len(layout.speeds)))
    forces = substitute(substitute(forces_without_multipliers(equations), accelerations), speeds)
    residuals = [
        sum((projection[k][i] * force for k, force in enumerate(forces)), as_expr(0)) for i in range(len(free))
    ]
    return ReducedEquations(
        equations, tuple(u), speeds, accelerations, projection, tuple(residuals), tuple(system.pivots),
        tuple(system.redundant),
    )  # fmt: skip


def forces_without_multipliers(equations: Equations) -> list[Expr]:
    """M v' + b - Q: the residual without the multipliers."""
    return substitute(list(equations.residual), {multiplier: as_expr(0) for multiplier in equations.multipliers})


def _entry(system: _Elimination, k: int, j: int) -> Expr:
    if k in system.solved:
        return system.solved[k].coefficients[j]
    return as_expr(int(k == j))


def _sum(row: _Row, symbols: Sequence[Expr], free: Sequence[int], constant: Expr) -> Expr:
    return sum((row.coefficients[j] * symbols[j] for j in free), constant)


@dataclass
class _Row:
    """What a dependent speed is: coefficients of the speeds, and constants at the levels of speed and acceleration."""

    coefficients: list[Expr]
    drift: Expr
    bias: Expr

    def plus(self, factor: Expr, other: _Row) -> _Row:
        """This row and a multiple of another."""
        added = [_short(a + factor * b) for a, b in zip(self.coefficients, other.coefficients, strict=True)]
        return _Row(added, _short(self.drift + factor * other.drift), self.bias + factor * other.bias)


@dataclass
class _Elimination:
    """Gauss and Jordan's elimination, one constraint after the other; entries are shortened on the way."""

    count: int
    kept: set[int]
    solved: dict[int, _Row] = field(default_factory=dict)
    pivots: list[Expr] = field(default_factory=list)
    redundant: list[str] = field(default_factory=list)

    def add(self, name: str, coefficients: Sequence[Expr], drift: Expr, bias: Expr) -> None:
        """One more constraint: Σ c_j v_j + drift = 0 and Σ c_j v'_j + bias = 0."""
        row = _Row([_short(c) for c in coefficients], _short(drift), bias)
        for place, known in self.solved.items():
            factor = row.coefficients[place]
            row.coefficients[place] = as_expr(0)
            row = row.plus(factor, known) if not factor.is_zero else row
        column = self._pivot(row)
        if column is None:
            self.redundant.append(name)
            return
        pivot = row.coefficients[column]
        row.coefficients[column] = as_expr(0)
        minus = as_expr(-1) / pivot
        solution = _Row([_short(minus * c) for c in row.coefficients], _short(minus * row.drift), minus * row.bias)
        for other, known in self.solved.items():
            factor = known.coefficients[column]
            known.coefficients[column] = as_expr(0)
            self.solved[other] = known.plus(factor, solution) if not factor.is_zero else known
        self.solved[column] = solution
        if symbols_of([pivot]):
            self.pivots.append(pivot)

    def _pivot(self, row: _Row) -> int | None:
        """The column to solve for: a number before a parameter before a formula; later speeds before earlier ones."""
        open_columns = [
            k for k, c in enumerate(row.coefficients) if k not in self.kept and not c.is_zero and not vanishes(c)
        ]
        return min(open_columns, key=lambda k: (*_simplicity(row.coefficients[k]), -k), default=None)


def _simplicity(entry: Expr) -> tuple[int, int]:
    functions = written_size(entry)
    return (len(symbols_of([entry])), functions)


def _short(entry: Expr) -> Expr:
    return as_expr(0) if vanishes(entry) else short_expression(entry)
