"""The logarithmic barrier of what parameters must be: S(π) ≻ 0 for bodies, masses, ellipsoids, densities and signs.

-μ log det S(π) keeps a minimiser inside; as μ goes to zero it follows the central path to the best parameters allowed.
Its gradient and curvature are those of squares: with rows √μ S^-½ ∂S S^-½ and residual -√μ 1 a least-squares step takes
them along with the data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.identification.estimators.semidefinite import ConeProblem, linear_limits, non_negative
from torseur.analysis.identification.model.pseudo_inertia import BASIS

_PART = 0.9  # of the distance to a limit that it may come nearer at a time


@dataclass(frozen=True, eq=False)
class Condition:
    """S(π) = base + Σ derivatives_k π_k + shift 1 ≻ 0, of one or four rows, over some columns.

    A limit that the parameters do not meet yet is shifted until they do.
    """

    base: Array
    derivatives: Array  # (columns here, rows, rows)
    columns: slice
    shift: float = 0.0

    def at(self, pi: Array) -> Array:
        own: Array = np.tensordot(pi[self.columns], self.derivatives, axes=1)
        return self.base + own + self.shift * np.eye(len(self.base))

    def rows(self, pi: Array) -> Array:
        """S^-½ ∂S S^-½ of every column, flattened."""
        # -log det(S + dS) = -log det S - tr(S⁻¹ dS) + ½ |S^-½ dS S^-½|² + ...: with rows S^-½ ∂S S^-½ and residual -1 a
        # least-squares model has this gradient and this curvature (Boyd and Vandenberghe 2004, appendix A.4).
        values, vectors = np.linalg.eigh(self.at(pi))
        root = (vectors / np.sqrt(values)) @ vectors.T
        rows = np.zeros((self.base.size, len(pi)))
        rows[:, self.columns] = (root @ self.derivatives @ root).reshape(len(self.derivatives), -1).T
        return rows

    def room(self, pi: Array) -> float:
        """The smallest eigenvalue of S: positive inside."""
        return float(np.linalg.eigvalsh(self.at(pi))[0])


@dataclass(frozen=True, eq=False)
class Barrier:
    """Conditions together, each of a size that makes a body's own size count one."""

    conditions: tuple[Condition, ...]

    @staticmethod
    def of(problem: ConeProblem, start: Array) -> Barrier:
        """Conditions of a problem; limits are shifted to where `start` meets them."""
        bodies = [Condition(-problem.margin * np.eye(4), BASIS, where) for where in problem.model.bodies.values()]
        width = len(problem.model.columns)
        signs = [Condition(np.zeros((1, 1)), np.ones((1, 1, 1)), slice(c, c + 1)) for c in non_negative(problem.model)]
        rows, right = linear_limits(problem)
        sizes = np.maximum(np.maximum(np.abs(right), np.abs(rows) @ np.abs(start)), 1e-6)
        limits = [
            Condition(np.array([[b / s]]), (-a / s).reshape(-1, 1, 1), slice(0, width))
            for a, b, s in zip(rows, right, sizes, strict=True)
        ]
        shifted = [_shift_until_met(condition, start) for condition in (*limits, *_density_conditions(problem))]
        return Barrier((*bodies, *signs, *shifted))

    @property
    def degree(self) -> int:
        """How far, in units of μ, the cost on the central path may be from the least one."""
        return sum(len(condition.base) for condition in self.conditions)

    @property
    def shift(self) -> float:
        return max((condition.shift for condition in self.conditions), default=0.0)

    def value(self, pi: Array) -> float:
        """-Σ log det S, infinite outside."""
        total = 0.0
        for condition in self.conditions:
            sign, logarithm = np.linalg.slogdet(S := condition.at(pi))
            if sign <= 0 or not np.isfinite(logarithm) or float(np.linalg.eigvalsh(S)[0]) <= 0:
                return np.inf
            total -= float(logarithm)
        return total

    def rows(self, pi: Array) -> tuple[Array, Array]:
        """Jacobian and residuals whose squares the barrier is near π."""
        jacobian = np.vstack([condition.rows(pi) for condition in self.conditions])
        return jacobian, np.concatenate([-np.eye(len(c.base)).ravel() for c in self.conditions])

    def tighten(self, pi: Array) -> Barrier:
        """Shifted limits brought as near to where they belong as parameters inside allow."""
        nearer = (
            replace(c, shift=max(0.0, c.shift - _PART * c.room(pi))) if c.shift > 0 else c for c in self.conditions
        )
        return Barrier(tuple(nearer))


def _shift_until_met(condition: Condition, start: Array) -> Condition:
    room = condition.room(start)
    return condition if room > 0 else replace(condition, shift=0.1 - room)


def _density_conditions(problem: ConeProblem) -> list[Condition]:
    """Bodies of limited density: 1 - J in units of the fullest one."""
    conditions = []
    for owner, limits in problem.limits.items():
        if (fullest := limits.fullest) is None:
            continue
        values, vectors = np.linalg.eigh(fullest)
        root = (vectors / np.sqrt(values)) @ vectors.T
        conditions.append(Condition(np.eye(4), -(root @ BASIS @ root), problem.model.bodies[owner]))
    return conditions
