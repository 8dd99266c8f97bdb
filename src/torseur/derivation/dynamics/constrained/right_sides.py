"""Right sides of M v' + Cᵀ λ = f, C v' = γ carried inward through eliminated joints and constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.graph.scalar import absolute, where
from torseur.algebra.graph.semidefinite import Exchange
from torseur.algebra.spatial import Force
from torseur.derivation.dynamics.constrained.elimination_steps import NO_FORCE, RowElimination, RowScaling, RowStep
from torseur.derivation.dynamics.mass_matrix_factors import scale_force
from torseur.derivation.tree import GROUND

if TYPE_CHECKING:
    from torseur.derivation.dynamics.constrained.constrained_bodies import ConstrainedBodies


@dataclass(frozen=True)
class Solution:
    """Accelerations and multipliers; for each scaled row what was left of its right side, and the size of the terms."""

    accelerations: list[Expr]
    multipliers: list[Expr]
    reduced: dict[int, Expr]
    sizes: dict[int, Expr]


class RightSides:
    """Right sides carried inward: the forces of links at A = 0, and h of the rows."""

    def __init__(
        self,
        forces: list[Expr],
        right: list[Expr],
        is_held: Callable[[int, Expr], Expr] | None,
        beyond_held: list[Expr],
    ) -> None:
        self.forces, self.right = forces, right
        self.is_held, self.beyond_held = is_held, beyond_held
        self.free: dict[int, Expr] = {}
        self.reduced: dict[int, Expr] = {}
        self.sizes: dict[int, Expr] = {}
        self._terms = [as_expr(absolute(entry)) for entry in right]

    def run(self, bodies: ConstrainedBodies) -> None:
        tree = bodies.tree
        needed = [NO_FORCE] * len(tree)
        for i in tree.inward():
            force = self._rows(bodies.rows.get(i, []), needed[i])
            for step in bodies.screws[i]:
                rest = self.forces[step.slot] - as_expr(step.screw.dot(force))
                free = rest * step.inverse
                for c, pull in step.pulls.items():
                    self.right[c] = self.right[c] + pull * free
                    # The size of what is added up, beside the sum: a remainder means a contradiction only if it is
                    # large against that.
                    self._terms[c] = self._terms[c] + absolute(pull * free)
                self.free[step.slot] = free
                force = force + scale_force(step.gain, rest)
            parent = tree.parent(i)
            if parent != GROUND:
                needed[parent] = needed[parent] + bodies.links[i].motion.transform.force_to_parent(force)
        self._rows(bodies.rows.get(GROUND, []), NO_FORCE)

    def _rows(self, steps: Sequence[RowStep], force: Force) -> Force:
        for step in steps:
            if isinstance(step, RowScaling):
                self.right[step.row] = self.right[step.row] * step.factor
                self.sizes[step.row] = self._terms[step.row] * step.factor
            elif isinstance(step, Exchange):
                step.apply(self.right)
            else:
                own = self.right[step.row]
                if self.is_held is not None:
                    own = self._own_or_held(step)
                self.reduced[step.row] = own
                for d, share in step.shares.items():
                    self.right[d] = self.right[d] - share * own
                force = force + scale_force(step.push, step.inverse * own)
        return force

    def _own_or_held(self, step: RowElimination) -> Expr:
        """What is left of a row's right side; with what is held in place of its γ where that is so."""
        assert self.is_held is not None
        held, beyond = self.is_held(step.row, step.inverse), self.beyond_held[step.row]
        passed = where(held, 0, beyond)
        for d, share in step.shares.items():
            self.beyond_held[d] = self.beyond_held[d] - share * passed
        return self.right[step.row] + where(held, beyond, 0)
