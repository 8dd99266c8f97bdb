"""Dry friction as rows of the constraints that may be switched on: sticking is C v = 0, sliding a given multiplier."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.graph.scalar import absolute, exp, sqrt
from torseur.derivation.equations import Equations
from torseur.derivation.loops import ConstraintEquation
from torseur.derivation.loops.closure.constraint_equations import differentiate_residuals
from torseur.derivation.loops.closure.joint_closure import VELOCITY, Residual
from torseur.description.mechanism import DryFriction
from torseur.errors import UnsupportedError

AMOUNTS = 5  # force, coefficient, breakaway, static, stribeck
SMALLEST = 1e-300  # added under a root, whose derivative is zero where nothing presses
BARELY = 1e-3  # speed, in units of creep, that tells the direction of what has not begun to slide yet
LEAST_SQUARE = 1e-60  # added under roots of squared speeds, whose third powers are divided by


@dataclass(frozen=True)
class FrictionRows:
    """An element of dry friction in the equations.

    `rows` are its one or two sliding speeds as velocity constraints, `amounts` its force, coefficient, breakaway force,
    static coefficient and Stribeck speed (0 for none). What presses is the contact or the constraint called `on`.
    """

    name: str
    rows: tuple[ConstraintEquation, ...]
    amounts: tuple[Expr, ...]
    on: str

    @property
    def depends(self) -> bool:
        """Whether its limit depends on a force that presses."""
        return bool(self.on)


def friction_rows(
    equations: Equations, elements: Sequence[DryFriction], resolve: Callable[[Expr], Expr]
) -> tuple[FrictionRows, ...]:
    """The elements in the equations, those with one sliding speed first."""
    ordered = sorted(elements, key=lambda element: len(element.slip))
    return tuple(_rows(equations, element, resolve) for element in ordered)


def _rows(equations: Equations, element: DryFriction, resolve: Callable[[Expr], Expr]) -> FrictionRows:
    slips = [resolve(slip) for slip in element.slip]
    parts = [""] if len(slips) == 1 else ["first", "second"]
    unit = slip_unit(equations, slips[0])
    items = [
        Residual(f"friction '{element.name}'", part, s, unit, VELOCITY) for part, s in zip(parts, slips, strict=True)
    ]
    rows = differentiate_residuals(equations.tree, items)
    for row in rows:
        if all(entry.is_zero for entry in row.row):
            raise UnsupportedError(f"friction '{element.name}': its sliding speed {element.slip[0]} never changes.")
    breakaway = element.force if element.breakaway is None else element.breakaway
    static = element.coefficient if element.static is None else element.static
    stribeck = as_expr(0) if element.stribeck is None else element.stribeck
    amounts = (element.force, element.coefficient, breakaway, static, stribeck)
    return FrictionRows(element.name, rows, tuple(resolve(amount) for amount in amounts), element.on)


def slip_unit(equations: Equations, slip: Expr) -> str:
    """rad/s where a single speed in rad/s slides, m/s otherwise."""
    return next((v.data.unit for v in equations.layout.speeds if v is slip), "m/s")


def pressing(element: FrictionRows, contacts: Sequence[ConstraintEquation], lasting: Sequence[ConstraintEquation],
             multipliers: Mapping[str, Expr]) -> Expr:  # fmt: skip
    """The force that presses the element together, of the multipliers by the names of their rows."""
    own = [c for c in contacts if c.owner == f"impact '{element.on}'"]
    if own:  # a contact that pulled would be open: its multiplier is negative or zero
        return -multipliers[own[0].name]
    held = [c for c in lasting if c.owner == f"constraint '{element.on}'"]
    if not element.on or not held:
        return as_expr(0)
    if len(held) == 1:
        return as_expr(absolute(multipliers[held[0].name]))
    return as_expr(sqrt(sum((multipliers[c.name] * multipliers[c.name] for c in held), as_expr(SMALLEST))))


def sliding_law(element: FrictionRows, normal: Expr, directions: Sequence[Expr], creep: Expr) -> list[Expr]:
    """Multipliers of the rows of an element that slides, as formulas: what friction_forces.py computes by numbers.

    Along a line the direction is that of the mode. In a plane it is that of the slip, with a little of the direction in
    which what creeps has begun, which has length 1 there and 2 afterwards.
    """
    force, coefficient, breakaway, static, stribeck = element.amounts
    slips = [row.residual for row in element.rows]
    if len(slips) == 1:
        speed = directions[0] * slips[0]
        along = [directions[0]]
    else:
        little = BARELY * creep * (4 - sum((d * d for d in directions[:2]), as_expr(0))) / 3
        begun = [s + little * d for s, d in zip(slips, directions, strict=False)]
        speed = as_expr(sqrt(sum((s * s for s in slips), as_expr(LEAST_SQUARE))))
        size = sqrt(sum((s * s for s in begun), as_expr(LEAST_SQUARE)))
        along = [as_expr(s / size) for s in begun]
    limit = force + coefficient * normal
    if not stribeck.is_zero:
        ratio = speed / stribeck
        limit = limit + (breakaway + static * normal - limit) * exp(-ratio * ratio)
    return [as_expr(d * limit) for d in along]
