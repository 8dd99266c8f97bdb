"""Energies as functions of coordinates and rates, and generalised forces with and without a potential."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph import Expr, as_expr, gradient, time_derivative, weighted_gradient
from torseur.derivation.formalisms.ingredients.applied_loads import AppliedLoads, loads_without_potential
from torseur.derivation.formalisms.ingredients.coordinate_rates import Rates
from torseur.derivation.formalisms.ingredients.matrices import Matrix, contraction, flat, product, rows_of
from torseur.derivation.formalisms.ingredients.placements import (
    force_on_placement,
    gravity_potential,
    inertia_tensor,
    link_placements,
    partial_placements,
    products_of_inertia,
)
from torseur.derivation.tree import Tree
from torseur.description.mechanism import TIME


@dataclass(frozen=True)
class Energies:
    """T(q, q', t) and V(q, t) of a tree, from the placements of its links; q' are the layout's rates."""

    tree: Tree

    @cached_property
    def placements(self) -> list[Matrix]:
        """H of every link."""
        return link_placements(self.tree)

    @cached_property
    def _tensors(self) -> list[Matrix]:
        return [inertia_tensor(link.inertia) for link in self.tree.links]

    @cached_property
    def _velocities(self) -> list[Matrix]:
        """H' of every link."""
        # By the symbols q', not by q' = W v: Lagrange's function is one of coordinates and their rates.
        moving = dict(zip(self.tree.layout.coordinates, self.tree.layout.rates, strict=True))
        return [rows_of(time_derivative(flat(placement), moving, TIME), 4) for placement in self.placements]

    @cached_property
    def _impulses(self) -> list[Matrix]:
        """H' g of every link."""
        return [product(velocity, tensor) for velocity, tensor in zip(self._velocities, self._tensors, strict=True)]

    @cached_property
    def kinetic(self) -> Expr:
        """T = Σ ½ tr(H' g H'ᵀ)."""
        total = as_expr(0)
        for velocity, impulse in zip(self._velocities, self._impulses, strict=True):
            total = total + contraction(velocity, impulse)
        return total / 2

    @cached_property
    def _kinetic_gradient(self) -> list[Expr]:
        """∂T/∂q' and ∂T/∂q in one reverse sweep: T is quadratic in H', so its change is tr(H' g δH'ᵀ)."""
        velocities, impulses = ([e for m in part for e in flat(m)] for part in (self._velocities, self._impulses))
        layout = self.tree.layout
        return weighted_gradient(velocities, impulses, (*layout.joint_rates, *layout.joint_coordinates))

    @property
    def momenta(self) -> list[Expr]:
        """p = ∂T/∂q'."""
        return self._kinetic_gradient[: len(self.tree.layout.joint_rates)]

    @property
    def kinetic_gradient(self) -> list[Expr]:
        """∂T/∂q."""
        return self._kinetic_gradient[len(self.tree.layout.joint_rates) :]

    @cached_property
    def matrix(self) -> list[list[Expr]]:
        """A_ij = Σ tr(∂_i H g ∂_j Hᵀ), the matrix of the part of T that is quadratic in q'."""
        q = self.tree.layout.joint_coordinates
        partials = [partial_placements(flat(placement), q) for placement in self.placements]
        return products_of_inertia(partials, self._tensors, len(q))

    @cached_property
    def gravity(self) -> Expr:
        """Potential of gravity."""
        return gravity_potential(self.tree, self.placements, self._tensors)

    @cached_property
    def _other_loads(self) -> AppliedLoads:
        return loads_without_potential(self.tree)

    @property
    def elastic(self) -> Expr:
        """Potential of the springs of constant stiffness."""
        return self._other_loads.energy

    def generalised_forces(self, rates: Rates) -> list[Expr]:
        """By speed: -∂V/∂q of the springs, and the work of every other load."""
        by_coordinate = [w - v for w, v in zip(self._work(), self._elastic_gradient, strict=True)]
        return [a + b for a, b in zip(rates.along(by_coordinate), self._other_loads.generalised, strict=True)]

    def forces_without_potential(self, rates: Rates) -> list[Expr]:
        """By coordinate: the work of every load besides those of the springs' potential, δW = Q δq."""
        along_speeds = rates.by_coordinate(self._other_loads.generalised)
        return [a + b for a, b in zip(self._work(), along_speeds, strict=True)]

    @cached_property
    def _elastic_gradient(self) -> list[Expr]:
        return gradient(self.elastic, self.tree.layout.joint_coordinates)

    def _work(self) -> list[Expr]:
        """F : ∂H/∂q of the wrenches on links."""
        wrenches = self._other_loads.wrenches
        entries = [entry for i in wrenches for entry in flat(self.placements[i])]
        forces = [flat(force_on_placement(self.placements[i], wrench)) for i, wrench in wrenches.items()]
        return weighted_gradient(entries, flat(forces), self.tree.layout.joint_coordinates)
