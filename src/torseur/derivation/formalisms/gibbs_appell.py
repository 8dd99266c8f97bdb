"""Gibbs-Appell: ∂S/∂v_k' = Q_k with the energy of accelerations S = ½ ∫ |a|² dm.

Principle (Gibbs, Appell): one function of the accelerations gives the equations, with quasi-velocities as easily as
with coordinates.

    a, α, ω   acceleration of the origin, angular acceleration and velocity of a link, in its axes  `motions`
    U         α̃ + ω̃ ω̃: a point ξ of the link accelerates at a + U ξ   `motion.tensor`
    g         ∫ [ξ; 1][ξ; 1]ᵀ dm, so S = Σ ½ tr([U, a] g [U, a]ᵀ)      `gibbs_function`

A force takes part through its product with the acceleration of its point, Q_k = ∂(F · a)/∂v_k'. S is quadratic in v':
M = ∂²S/∂v'∂v', and b is ∂S/∂v' at v' = 0, less the part of the weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, as_expr, gradient, substitute, weighted_gradient
from torseur.algebra.spatial import NULL, Scalar
from torseur.derivation.dynamics import link_poses
from torseur.derivation.dynamics.recursion import LinkMotion, link_motions
from torseur.derivation.equations.formulation import Formulation
from torseur.derivation.formalisms.ingredients.applied_loads import applied_loads
from torseur.derivation.formalisms.ingredients.matrices import contraction, hessian, product
from torseur.derivation.formalisms.ingredients.placements import inertia_tensor, now


@dataclass(frozen=True)
class GibbsAppell(Formulation):
    """Accelerations of the links in their own axes, linear in the symbols v'."""

    @property
    def name(self) -> str:
        return "gibbs_appell"

    @cached_property
    def motions(self) -> list[LinkMotion]:
        """Angular velocity and acceleration of every link and the acceleration of its origin."""
        return link_motions(now(self.tree), self.tree.layout.accelerations, NULL)

    @cached_property
    def gibbs_function(self) -> Expr:
        """S(q, v, v')."""
        total = as_expr(0)
        for link, motion in zip(self.tree.links, self.motions, strict=True):
            field = [[*row, a] for row, a in zip(motion.tensor.rows, motion.a, strict=True)]
            # tr(F g Fᵀ) = F : F g with F = [U, a].
            total = total + contraction(field, product(field, inertia_tensor(link.inertia)))
        return total / 2

    @cached_property
    def _gradient(self) -> list[Expr]:
        """∂S/∂v'."""
        return gradient(self.gibbs_function, self.tree.layout.accelerations)

    def mass_matrix(self) -> list[list[Expr]]:
        """∂²S/∂v'∂v'."""
        return hessian(self._gradient, self.tree.layout.accelerations)

    def bias(self) -> list[Expr]:
        """∂S/∂v' where no speed changes, less the part of the weights."""
        # S also holds terms without v', which no derivative by v' sees: they are not needed, and never separated.
        still = substitute(self._gradient, {symbol: 0 for symbol in self.tree.layout.accelerations})
        return [inertial - weight for inertial, weight in zip(still, self._weights(), strict=True)]

    def _weights(self) -> list[Expr]:
        """∂(Σ m g · a_G)/∂v', with m a_G = m a + U h."""
        outputs: list[Scalar] = []
        weights: list[Scalar] = []
        for link, motion, pose in zip(self.tree.links, self.motions, link_poses(now(self.tree)), strict=True):
            outputs += motion.a * link.inertia.mass + motion.tensor @ link.inertia.moment
            weights += pose.rotation.to_child(self.tree.gravity)
        return self._by_acceleration(outputs, weights)

    def loads(self) -> list[Expr]:
        """∂(Σ f · a + m · α)/∂v'."""
        applied = applied_loads(self.tree)
        outputs: list[Scalar] = []
        weights: list[Scalar] = []
        for i, wrench in applied.wrenches.items():
            outputs += [*self.motions[i].alpha, *self.motions[i].a]
            weights += [*wrench.moment, *wrench.force]
        active = self._by_acceleration(outputs, weights)
        return [a + b for a, b in zip(applied.generalised, active, strict=True)]

    def _by_acceleration(self, outputs: list[Scalar], weights: list[Scalar]) -> list[Expr]:
        return weighted_gradient([as_expr(o) for o in outputs], weights, self.tree.layout.accelerations)

    def objects(self) -> Mapping[str, Any]:
        return {"Gibbs function": self.gibbs_function}
