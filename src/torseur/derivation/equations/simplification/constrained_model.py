"""Simplified equations of a mechanism with loops and constraints as states: multipliers are rates of impulses.

    M v' + b - Q + Cᵀ Λ' = 0   the simplified rows,  Λ' = λ
    C v' = γ                   the constraints, complete

so that v' and λ are solved together wherever the matrix [[M, Cᵀ], [C, 0]] is regular. Constraints that follow from
others have no multiplier. A start is a state of the complete loops: given values stay, and the others are formulas of
the parameters. States off the constraints have no rates: a motion that would begin or come there ends instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from torseur.algebra.graph import Expr, as_expr, dense_jacobian, evaluate, substitute
from torseur.algebra.graph.scalar import absolute, sqrt, where
from torseur.derivation.equations.equations import Equations
from torseur.derivation.equations.multipliers import multiplier_display_name
from torseur.derivation.equations.simplification.short_constraints import short_constraint_equations
from torseur.derivation.loops import ConstraintEquation
from torseur.derivation.loops.assembly.assembly import closed_state
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.named_coordinates import coordinates_at
from torseur.derivation.tree import resolve
from torseur.derivation.tree.state_rates import solve_block
from torseur.description.mechanism import TIME, State
from torseur.errors import UnsupportedError

Values = Mapping[Expr, float]
STEPS = 8  # with one matrix each step gains the digits that the first has, for parameters near their values
SETTLED = 1e-9  # part of a start's size that the last step may still change
SMALL = 1e-3  # least size of a constraint: the largest coefficient of a speed in it, a length or one
OPEN = 1e-5  # part of a constraint's own size by which a motion may leave it
RANK = 1e-9  # least pivot of constraints that are independent, against the largest


@dataclass(frozen=True)
class ClosedStart:
    """The constraints of a mechanism about the state in which it starts, with numbers for its parameters."""

    equations: Equations
    values: Values

    @cached_property
    def positions(self) -> dict[Expr, float]:
        """A closed configuration: exact values of the description stay, the others follow."""
        mechanism, layout = self.equations.mechanism, self.equations.layout
        own = {p.name for p in mechanism.parameters}
        fixed = {str(x.name): self.values[x] for x in layout.parameters if str(x.name) in own}
        system = loop_system(mechanism.with_values(**fixed), 0.0)
        closed = coordinates_at(system, closed_state(system, None))
        if missing := [str(q.name) for q in layout.coordinates if str(q.name) not in closed]:
            raise UnsupportedError(
                f"'{mechanism.name}': the loops leave no value for '{missing[0]}', with which a model could start."
            )
        rough = self._rough()
        return {
            q: _nearest_turn(float(closed[str(q.name)]), rough.get(q, 0.0), q.data.unit) for q in layout.coordinates
        }

    def _rough(self) -> dict[Expr, float]:
        """What the description says of the start, guesses too."""
        mechanism, layout = self.equations.mechanism, self.equations.layout
        formulas = resolve(mechanism, self.equations.tree.definitions, [value for _, value in mechanism.initial])
        numbers = evaluate(formulas, {**self.values, TIME: 0.0})
        stated = dict(zip((name for name, _ in mechanism.initial), map(float, numbers), strict=True))
        return {q: stated[str(q.name)] for q in layout.coordinates if str(q.name) in stated}

    @cached_property
    def constraints(self) -> tuple[ConstraintEquation, ...]:
        """The constraints in the axes in which they are shortest: they tie the same accelerations."""
        return short_constraint_equations(self.equations.tree)

    @cached_property
    def independent_rows(self) -> list[int]:
        """Places of multipliers whose constraints do not follow from others at the start."""
        return _pivots(self._matrix(self.equations.constraints).T)

    @cached_property
    def kept(self) -> list[ConstraintEquation]:
        return [self.constraints[k] for k in _pivots(self._matrix(self.constraints).T)]

    def _matrix(self, constraints: Sequence[ConstraintEquation]) -> Any:
        """C at the start."""
        entries = [entry for c in constraints for entry in c.row]
        return self.numbers(entries).reshape(len(constraints), -1)

    def numbers(self, formulas: Sequence[Expr], more: Values | None = None) -> Any:
        """Values at the start, with speeds zero unless others are given."""
        still = dict.fromkeys(self.equations.layout.speeds, 0.0)
        point = {**self.values, **still, TIME: 0.0, **self.positions, **(more or {})}
        return np.array([float(x) for x in evaluate(list(formulas), point)])

    def initial(self) -> dict[Expr, Expr]:
        """All coordinates and speeds at the start, as formulas of the parameters."""
        mechanism, layout = self.equations.mechanism, self.equations.layout
        given = {name: value for name, value in mechanism.initial if name not in mechanism.guesses}
        formulas = dict(
            zip(given, resolve(mechanism, self.equations.tree.definitions, list(given.values())), strict=True)
        )
        exact = {x: as_expr(formulas[str(x.name)]) for x in (*layout.coordinates, *layout.speeds)
                 if str(x.name) in formulas}  # fmt: skip
        places = self._positions(exact)
        return places | self._speeds(exact, places)

    def _positions(self, exact: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
        """Coordinates by z - J⁻¹ Φ(z; x), again and again, from the closed configuration, with J as it is there."""
        layout = self.equations.layout
        conditions = [c.residual for c in self.kept if c.is_holonomic]
        start: dict[Expr, Expr] = {q: as_expr(value) for q, value in self.positions.items()}
        start |= {q: value for q, value in exact.items() if q in start}
        loose = [q for q in layout.coordinates if q not in exact]
        jacobian = self.numbers([e for row in dense_jacobian(conditions, loose) for e in row])
        jacobian = jacobian.reshape(len(conditions), len(loose))
        columns = _pivots(jacobian)
        moved = [loose[k] for k in columns]
        # Where more is given exactly than loops leave free, the rest closes them if it can: `kept_constraints` sees.
        # One matrix of numbers for all steps (chord method): the result is a formula of the parameters, and inverting a
        # matrix of formulas at each step would make it too long to use.
        inverse = np.linalg.pinv(jacobian[:, columns])
        step: list[Expr] = []
        for _ in range(STEPS if moved else 0):
            gaps = substitute(conditions, {**start, TIME: as_expr(0)})
            step = [sum((float(f) * g for f, g in zip(row, gaps, strict=True)), as_expr(0)) for row in inverse]
            start |= {z: start[z] - s for z, s in zip(moved, step, strict=True)}
        for z, s in zip(moved, step, strict=True):
            left = SETTLED * (1 + absolute(start[z])) - absolute(s)
            start[z] = as_expr(where(left >= 0, start[z], sqrt(left)))  # no number where it has not settled
        return start

    def _speeds(self, exact: Mapping[Expr, Expr], places: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
        """Speeds with C v + drift = 0: those given stay, the others are zero but for as many as there are rows."""
        layout = self.equations.layout
        start: dict[Expr, Expr] = {v: exact.get(v, as_expr(0)) for v in layout.speeds}
        loose = [k for k, v in enumerate(layout.speeds) if v not in exact]
        rows = self._matrix(self.kept)
        columns = _pivots(rows[:, loose])
        moved = [loose[k] for k in columns]
        at_start = {**places, TIME: as_expr(0)}
        solving = [self.kept[k] for k in _pivots(rows[:, moved].T)]
        matrix = [substitute([c.row[k] for k in moved], at_start) for c in solving]
        others = {**start, **{layout.speeds[k]: as_expr(0) for k in moved}}
        known = [c.drift + sum((e * others[v] for e, v in zip(c.row, layout.speeds, strict=True)), as_expr(0))
                 for c in solving]  # fmt: skip
        right = [-value for value in substitute(known, at_start)]
        solved = solve_block(matrix, right, [layout.speeds[k] for k in moved]) if moved else []
        return start | {layout.speeds[k]: value for k, value in zip(moved, solved, strict=True)}


def impulses(equations: Equations, rows: Sequence[int]) -> dict[Expr, State]:
    """For the multipliers of these constraints states whose rates they are."""
    states = {}
    for k in rows:
        multiplier = equations.multipliers[k]
        name = multiplier_display_name(str(multiplier.name)) or str(multiplier.name)
        own = "impulse" + name.removeprefix("lambda")
        states[multiplier] = State(own, "1", f"integral over time of {name}, which is its rate")
    return states


GAP = State("constraint_gap", "1", "squares of what is open of the constraints, in parts of their sizes")
KEPT = State("constraints_kept", "1", "1 on the constraints, and no number where a motion has left them")


def constraint_rows(start: ClosedStart) -> list[Expr]:
    """C v' - γ of the independent constraints, with what makes them no number where the state has left them."""
    accelerations = start.equations.layout.accelerations
    return [
        sum((e * a for e, a in zip(c.row, accelerations, strict=True)), -c.gamma) + (1 - KEPT.symbol)
        for c in start.kept
    ]  # fmt: skip


def kept_constraints(start: ClosedStart) -> list[Expr]:
    """The equations of GAP and KEPT: as much may be open as rounding and the steps of a motion leave."""
    speeds = start.equations.layout.speeds
    fast = 1 + sum((v * v for v in speeds), as_expr(0))
    gap = as_expr(0)
    for c in start.constraints:
        size = max(float(np.abs(start.numbers(c.row)).max(initial=0.0)), SMALL)
        rate = c.drift + sum((e * v for e, v in zip(c.row, speeds, strict=True)), as_expr(0))
        gap = gap + (rate / size) ** 2 / fast
        if c.is_holonomic:
            gap = gap + (c.residual / size) ** 2
    left = OPEN**2 - GAP.symbol
    return [GAP.symbol - gap, KEPT.symbol - as_expr(where(left >= 0, as_expr(1), sqrt(left)))]


def _nearest_turn(angle: float, rough: float, unit: str) -> float:
    """The angle by whole turns as near to a rough one as it can be; closed loops tell angles up to turns."""
    turn = 2 * np.pi
    # Otherwise a model that starts at 370° would be compared with one at 10°.
    return angle - turn * round((angle - rough) / turn) if unit == "rad" else angle


def _pivots(matrix: Any) -> list[int]:
    """Columns that are independent, found one after the other, in their own order."""
    from scipy.linalg import qr

    if not matrix.size:
        return []
    # Column pivoting: |r_11| >= |r_22| >= ..., so that the first small one tells the rank (Businger and Golub 1965).
    _, triangle, order = qr(matrix, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    count = int(np.sum(sizes > RANK * max(sizes.max(initial=0.0), 1e-300)))
    return sorted(int(k) for k in order[:count])
