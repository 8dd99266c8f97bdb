"""Accelerations of mechanisms with many constraints as straight-line expressions: bodies and loops one after the other.

The judgements are those of `constrained_functions.py`. M and C M⁻¹ Cᵀ are never formed, so that code grows with the
number of loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from torseur.algebra.graph import Expr, as_expr, scalar
from torseur.algebra.graph.semidefinite import Exchange, Limits, or_nan, safe_inverse, weights_of_rows
from torseur.computation.functions.constrained_functions import CONTRADICTION, WITHOUT_INERTIA, ConstrainedSystem
from torseur.computation.functions.single_precision import sampled_inertias_of_joints
from torseur.computation.functions.usual_rank import usual_rank
from torseur.derivation import dynamics as td
from torseur.derivation.dynamics.constrained.constrained_bodies import ConstrainedBodies
from torseur.derivation.dynamics.constrained.elimination_steps import Pivots
from torseur.derivation.dynamics.constrained.right_sides import Solution
from torseur.derivation.equations.equations import Equations
from torseur.derivation.loops.closure.constraint_equations import rows_by_owner


class JudgedRows(Pivots):
    """Rows that are told from rounding and from those that follow from others by value."""

    has_exchanges = True

    def __init__(self, present: Sequence[Expr], units: Sequence[Expr], limits: Limits) -> None:
        self.present, self.units, self.limits = present, list(units), limits
        self.kept: dict[int, Expr] = {}
        self.flags: list[Expr] = []

    def scale(self, row: int, whole: Expr) -> Expr:
        kept = self.present[row]
        return as_expr(kept / scalar.sqrt(kept * whole + (1 - kept)))

    def inverse(self, row: int, left: Expr, whole: Expr) -> Expr:
        kept, clear = self.limits.judge(left, self.units[row])
        self.kept[row] = kept
        self.flags.append(clear)
        return safe_inverse(kept, left)

    def exchanged(self, exchange: Exchange) -> None:
        exchange.apply(self.units)


@dataclass(frozen=True)
class ManyConstraints(ConstrainedSystem):
    """The mass matrix and the constraints of a mechanism, eliminated along its tree."""

    def accelerations(self, forces: Sequence[Expr]) -> tuple[list[Expr], list[Expr]]:
        e = self.equations
        bias = td.bias(e.regrouped_tree, e.layout.coordinates, e.layout.speeds)
        given = [as_expr(a + b - c) for a, b, c in zip(e.loads, forces, bias, strict=True)]
        solution = self._bodies.solve(given, [c.gamma for c in e.constraints])
        known = or_nan(as_expr(scalar.both(self._is_clear, self._agrees(solution))))
        multipliers = self._or_nan_if_open(solution.multipliers)
        return [known * a for a in solution.accelerations], [known * m for m in multipliers]

    def _closing(self, gaps: Sequence[Expr]) -> list[Expr]:
        still = [as_expr(0)] * len(self.equations.layout.speeds)
        return self._bodies.solve(still, [-gap for gap in gaps]).accelerations

    def _agrees(self, solution: Solution) -> Expr:
        """Whether rows that follow from others ask for nothing else than these do; 1 or 0."""
        largest = reduce(lambda a, b: as_expr(scalar.maximum(a, b)), solution.sizes.values())
        rests = [scalar.absolute(left) * (1 - self._judged_rows.kept[c]) for c, left in solution.reduced.items()]
        flags = [as_expr(scalar.less_equal(rest, CONTRADICTION * largest)) for rest in rests]
        return reduce(lambda a, b: as_expr(scalar.both(a, b)), flags)

    def _null_combination(self) -> list[Expr]:
        kept = [self._judged_rows.kept[c] for c in range(len(self._rows))]
        starts = [weight * (1 - k) for weight, k in zip(weights_of_rows(len(kept)), kept, strict=True)]
        return self._bodies.multipliers_without_motion(starts)

    @cached_property
    def _judged_rows(self) -> JudgedRows:
        return JudgedRows([kept for kept, _ in self._present], self._pivot_units, self._digits.pivots)

    @cached_property
    def _bodies(self) -> ConstrainedBodies:
        constraints = self.equations.constraints
        return ConstrainedBodies(
            self.equations.regrouped_tree, self._rows, rows_by_owner(constraints), self._judged_rows
        )

    @property
    def _usual_rank(self) -> int | None:
        return usual_rank(self.equations, self._rows_in_force)

    @property
    def _rows_in_force(self) -> list[Expr]:
        return list(self._judged_rows.kept.values()) if self._bodies else []

    @property
    def _pivots_are_clear(self) -> list[Expr]:
        return self._judged_rows.flags if self._bodies else []

    @property
    def _inertia_is_clear(self) -> list[Expr]:
        """Pivots of joints after the first, in units of what the joint's own inertia was before; 1 or 0 each."""
        return [as_expr(scalar.less(self._digits.inertia * whole, pivot)) for whole, pivot in self._bodies.later_pivots]


def constrained_system(equations: Equations) -> ConstrainedSystem:
    """The constraints of a mechanism, in the shorter of two writings."""
    if equations.is_sparse and not _has_joint_without_inertia(equations):
        return ManyConstraints(equations)
    return ConstrainedSystem(equations)


def _has_joint_without_inertia(equations: Equations) -> bool:
    """Whether a joint moves nothing that has inertia, by the nominal values.

    Joint by joint: the least eigenvalue of the mass matrix of a long chain is small though every body is heavy.
    """
    frozen, yielding = np.moveaxis(sampled_inertias_of_joints(equations), 1, 0)
    return not bool(np.all(yielding > WITHOUT_INERTIA * frozen))
