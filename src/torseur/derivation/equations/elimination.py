"""Equations of motion without multipliers: as many as there are freedoms, in the independent speeds.

The constraints C v + drift = 0 and C v' = γ give the dependent speeds by the independent ones,

    v = N u + n,    v' = N u' + n',

and Nᵀ Cᵀ = 0 removes the multipliers: Nᵀ (M v' + b - Q) = 0.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torseur.algebra.graph import Expr, as_expr, substitute, symbols_of
from torseur.derivation.equations.formulation import quaternions_of
from torseur.derivation.equations.linear_system import KeptUnknowns, LinearSystem, divided_once, solved_together
from torseur.derivation.equations.terms.short_sum import short_expression
from torseur.derivation.equations.terms.unit_quaternions import on_unit_sphere
from torseur.description.mechanism import TIME
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

    Speeds named in `independent` stay; otherwise those are solved for whose coefficient is the simplest, or together
    have a determinant that never vanishes, so that divisions by what may vanish are avoided where they can be.
    """
    layout = equations.layout
    for name in independent:
        if name not in layout.speed_names:
            raise TorseurError(unknown_name("speed", name, layout.speed_names))
    kept = {k for k, name in enumerate(layout.speed_names) if name in independent}
    system = LinearSystem(len(layout.speeds), kept, start=_start(equations))
    for constraint in equations.constraints:
        add_constraint(
            system, layout.speed_names, constraint.name, constraint.row, (constraint.drift, -constraint.gamma)
        )
    moving = {*layout.coordinates, *layout.speeds, TIME}
    if not system.redundant and not moving.isdisjoint(symbols_of(system.pivots)):
        # One after the other, each equation divides by its own pivot, which may vanish somewhere; the determinant of
        # all need not (a rotation's is 1), and never does where no pivot does. Only worth trying where a pivot moves.
        rows = [constraint.row for constraint in equations.constraints]
        constants = [(constraint.drift, -constraint.gamma) for constraint in equations.constraints]
        together = solved_together(rows, constants, moving) if not kept else None
        system = together or divided_once(system, rows, constants) or system
    free = [k for k in range(len(layout.speeds)) if k not in system.solved]
    u = [layout.speeds[k] for k in free]
    speeds = {layout.speeds[k]: system.value(k, layout.speeds) for k in system.solved}
    # In the dependent speeds too: put in, they would make the terms of Coriolis and centrifugal forces long.
    accelerations = {
        layout.accelerations[k]: short_expression(system.value(k, layout.accelerations, level=1)) for k in system.solved
    }
    # N: dependent speeds by independent ones, and ones on the diagonal for these.
    projection = tuple(tuple(system.entry(k, j) for j in free) for k in range(len(layout.speeds)))
    forces = substitute(substitute(forces_without_multipliers(equations), accelerations), speeds)
    quaternions = quaternions_of(equations.tree)
    residuals = [
        on_unit_sphere(sum((projection[k][i] * force for k, force in enumerate(forces)), as_expr(0)), quaternions)
        for i in range(len(free))
    ]
    return ReducedEquations(
        equations, tuple(u), speeds, accelerations, projection, tuple(residuals), tuple(system.pivots),
        tuple(system.redundant),
    )  # fmt: skip


def _start(equations: Equations) -> dict[Expr, Expr]:
    """Where the motion starts: coordinates by their given values, and zero where nobody gives or constrains them."""
    given = dict(equations.mechanism.initial)
    tied = set(symbols_of([c.residual for c in equations.constraints if c.is_holonomic]))
    quaternions = {part for four in quaternions_of(equations.tree) for part in four}
    return {
        q: given.get(str(q.name), as_expr(0))
        for q in equations.layout.coordinates
        if str(q.name) in given or not (q in tied or q in quaternions)
    }


def forces_without_multipliers(equations: Equations) -> list[Expr]:
    """M v' + b - Q: the residual without the multipliers."""
    return substitute(list(equations.residual), {multiplier: as_expr(0) for multiplier in equations.multipliers})


def add_constraint(
    system: LinearSystem, names: Sequence[str], constraint: str, row: Sequence[Expr], constants: tuple[Expr, Expr]
) -> None:
    """One more constraint between unknowns of these names; raises where all it ties are to be independent."""
    try:
        system.add(constraint, row, *constants)
    except KeptUnknowns as problem:
        tied = ", ".join(f"'{names[k]}'" for k in problem.tied)
        raise TorseurError(
            f"independent: {constraint} ties {tied}, so that one fewer of them can be independent."
        ) from problem
