"""d'Alembert: the virtual power of inertia forces equals that of applied forces, for every virtual velocity.

Principle (d'Alembert, Lagrange): ∫ r'' · r'* dm = Σ F · r'* for every velocity field r'* that the joints allow. In
coordinates this is the raw form of Lagrange's equations,

    Σ_j a_ij q_j'' + Σ_jk Γ_i,jk q_j' q_k' = Q_i,    a_ij = ∫ ∂_i r · ∂_j r dm,    Γ_i,jk = ∫ ∂_i r · ∂_j ∂_k r dm

    H         placement [R, p] of a link, r = H [ξ; 1]                `placements`
    g         ∫ [ξ; 1][ξ; 1]ᵀ dm, so that ∫ dm becomes a trace          `tensors`
    ∂H'/∂v_k  virtual velocity of the virtual speed v_k* = 1
    F : H'    power of a 3x4 force F on a placement
    Γ_i,jk    Christoffel symbols of the first kind                   `christoffel_symbols`

M_jk = Σ tr(∂H'/∂v_j g ∂H'/∂v_kᵀ); b is the virtual power of H'' g at constant speeds, less that of the weights; Q is
that of the loads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, as_expr, weighted_gradient
from torseur.derivation.equations.formulation import Formulation
from torseur.derivation.formalisms.ingredients.applied_loads import applied_loads
from torseur.derivation.formalisms.ingredients.coordinate_rates import Rates
from torseur.derivation.formalisms.ingredients.matrices import Matrix, dot, flat, plus, product, rows_of, scale
from torseur.derivation.formalisms.ingredients.placements import (
    force_on_placement,
    inertia_tensor,
    link_placements,
    partial_placements,
    products_of_inertia,
    weight_on_placement,
)


@dataclass(frozen=True)
class DAlembert(Formulation):
    """Virtual power: a virtual speed v_k* moves every link at ∂H'/∂v_k; forces on links do work along it."""

    @property
    def name(self) -> str:
        return "dalembert"

    @cached_property
    def _rates(self) -> Rates:
        return Rates(self.tree)

    @cached_property
    def placements(self) -> list[Matrix]:
        """H of every link."""
        return link_placements(self.tree)

    @cached_property
    def tensors(self) -> list[Matrix]:
        """g of every link."""
        return [inertia_tensor(link.inertia) for link in self.tree.links]

    @cached_property
    def _velocities(self) -> list[list[Expr]]:
        """H' of every link, entry by entry."""
        return [self._rates.change(flat(placement)) for placement in self.placements]

    def _virtual_power(self, forces: list[Matrix]) -> list[Expr]:
        """Σ F : ∂H'/∂v_k over the links, the forces F being 3x4."""
        # F does not depend on the virtual speed, so all k come from one reverse sweep with F as weights.
        velocities = [entry for velocity in self._velocities for entry in velocity]
        return weighted_gradient(velocities, flat([row for force in forces for row in force]), self.tree.layout.speeds)

    def mass_matrix(self) -> list[list[Expr]]:
        """Σ tr(∂H'/∂v_j g ∂H'/∂v_kᵀ)."""
        speeds = self.tree.layout.speeds
        partials = [partial_placements(velocity, speeds) for velocity in self._velocities]
        return products_of_inertia(partials, self.tensors, len(speeds))

    def bias(self) -> list[Expr]:
        """Virtual power of H'' g at constant speeds, which is Σ Γ q' q', and of the weights."""
        # ∂_i H : H'' g with H'' = Σ ∂_j ∂_k H q_j' q_k' + ... holds all Christoffel symbols, none of which is ever
        # made.
        accelerations = [rows_of(self._rates.change(velocity), 4) for velocity in self._velocities]
        forces = []
        for acceleration, tensor in zip(accelerations, self.tensors, strict=True):
            forces.append(plus(product(acceleration, tensor), scale(weight_on_placement(self.tree, tensor), -1)))
        return self._virtual_power(forces)

    def loads(self) -> list[Expr]:
        applied = applied_loads(self.tree)
        wrenches = {i: force_on_placement(self.placements[i], wrench) for i, wrench in applied.wrenches.items()}
        velocities = [entry for i in wrenches for entry in self._velocities[i]]
        weights = [entry for wrench in wrenches.values() for entry in flat(wrench)]
        power = weighted_gradient(velocities, weights, self.tree.layout.speeds)
        return [direct + part for direct, part in zip(applied.generalised, power, strict=True)]

    def christoffel_symbols(self) -> dict[tuple[str, str, str], Expr]:
        """Γ_i,jk = Σ ∂_i H : (∂_j ∂_k H g) by names of coordinates i, j, k (j not after k), where not zero."""
        q, names = self.tree.layout.coordinates, self.tree.layout.coordinate_names
        total: dict[tuple[str, str, str], Expr] = {}
        for placement, tensor in zip(self.placements, self.tensors, strict=True):
            first = partial_placements(flat(placement), q)
            for k, column in first.items():
                for j, bent in partial_placements(column, q).items():
                    force = flat(product(rows_of(bent, 4), tensor))
                    # Γ_i,jk = Γ_i,kj: second derivatives commute.
                    for i, other in first.items() if j <= k else ():
                        key = names[i], names[j], names[k]
                        total[key] = total.get(key, as_expr(0)) + dot(other, force)
        return {key: value for key, value in total.items() if not value.is_zero}

    def objects(self) -> Mapping[str, Any]:
        return {"Christoffel symbols": self.christoffel_symbols(), "mass matrix": self.mass_matrix()}
