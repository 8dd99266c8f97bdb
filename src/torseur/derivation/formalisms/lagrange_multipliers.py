"""Lagrange with multipliers: twelve coordinates H = [R, p] for every link, and joints as constraints.

Principle (Lagrange's equations of the first kind): coordinates may be redundant if the constraints Φ = 0 among them
are joined to the equations with multipliers. Here the constraint of joint i is Φ_i = H_parent X_i(q, t) - H_i = 0.

    H         placement of a link, 3x4, each entry a coordinate        `placements`
    g         mass matrix of a placement, constant: T = Σ ½ tr(H' g H'ᵀ)  `tensors`
    X_i       transform of joint i, 4x4                               `joints`
    Λ_i       multiplier of Φ_i, 3x4                                  `multipliers`
    F_i       3x4 force of weight and loads on link i

    H_i :   H_i'' g_i - Λ_i + Σ_children Λ_c X_cᵀ = F_i
    q_k :   Λ_i : (H_parent ∂X_i/∂q_k) = Q_k

The constraint Jacobian is block triangular, so the multipliers follow from the outermost links inward and what is
left is one equation per coordinate; along the speeds (δq = W δπ) one per speed. With H'' from Φ'' = 0 it is linear in
v': M its coefficients, b the rest, the multipliers of the loads give Q.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, as_expr, jacobian
from torseur.derivation.equations.formulation import Formulation
from torseur.derivation.formalisms.ingredients.applied_loads import applied_loads
from torseur.derivation.formalisms.ingredients.coordinate_rates import Rates
from torseur.derivation.formalisms.ingredients.matrices import (
    Matrix,
    coefficients,
    contraction,
    flat,
    plus,
    product,
    product_with_transpose,
    rows_of,
    scale,
    zeros,
)
from torseur.derivation.formalisms.ingredients.placements import (
    force_on_placement,
    inertia_tensor,
    placement_of,
    weight_on_placement,
)
from torseur.derivation.tree import GROUND, Layout

EARTH = [[as_expr(int(i == j)) for j in range(4)] for i in range(3)]


@dataclass(frozen=True)
class LagrangeMultipliers(Formulation):
    """Redundant coordinates (H of every link, and q), explicit constraints, multipliers eliminated."""

    @property
    def name(self) -> str:
        return "lagrange_multipliers"

    @cached_property
    def _rates(self) -> Rates:
        return Rates(self.tree)

    @cached_property
    def joints(self) -> list[Matrix]:
        """X of every joint, 4x4."""
        last = [[as_expr(0)] * 3 + [as_expr(1)]]
        return [placement_of(link.motion.transform) + last for link in self.tree.links]

    @cached_property
    def _joint_rates(self) -> list[Matrix]:
        return [rows_of(self._rates.change(flat(joint)), 4) for joint in self.joints]

    @cached_property
    def placements(self) -> list[Matrix]:
        """H on the constraints, as expressions of q and t."""
        placements: list[Matrix] = []
        for link, joint in zip(self.tree.links, self.joints, strict=True):
            placements.append(product(self._of_parent(placements, link.parent, EARTH), joint))
        return placements

    @staticmethod
    def _of_parent(values: list[Matrix], parent: int, earth: Matrix) -> Matrix:
        return earth if parent == GROUND else values[parent]

    @cached_property
    def accelerations(self) -> list[Matrix]:
        """H'' on the constraints, Φ'' = 0:  H_p'' X + 2 H_p' X' + H_p X'', linear in the symbols v'."""
        still = zeros(3, 4)
        velocities: list[Matrix] = []
        accelerations: list[Matrix] = []
        for link, x, dx in zip(self.tree.links, self.joints, self._joint_rates, strict=True):
            # (H_p X)'' by the product rule, carried outward: each link needs only its parent's H, H', H''.
            ddx = rows_of(self._rates.full_change(flat(dx)), 4)
            place = self._of_parent(self.placements, link.parent, EARTH)
            velocity = self._of_parent(velocities, link.parent, still)
            acceleration = self._of_parent(accelerations, link.parent, still)
            velocities.append(plus(product(velocity, x), product(place, dx)))
            carried = plus(product(acceleration, x), scale(product(velocity, dx), 2))
            accelerations.append(plus(carried, product(place, ddx)))
        return accelerations

    def _multipliers(self, forces: list[Matrix]) -> list[Matrix]:
        """Λ_i = H_i'' g_i - F_i + Σ Λ_c X_cᵀ, `forces` being the first two terms."""
        multipliers = list(forces)
        for i in self.tree.inward():
            parent = self.tree.parent(i)
            if parent != GROUND:
                multipliers[parent] = plus(multipliers[parent], product_with_transpose(multipliers[i], self.joints[i]))
        return multipliers

    def _along(self, multipliers: list[Matrix]) -> list[Expr]:
        """Λ_i : (H_parent ∂X_i'/∂v_k) for every speed k, summed over the joints i that it moves."""
        total: list[Expr] = [as_expr(0)] * len(self.tree.layout.speeds)
        for i, link in enumerate(self.tree.links):
            place = self._of_parent(self.placements, link.parent, EARTH)
            # ∂X'/∂v_k is ∂X/∂q along the column of W for speed k: one derivative for rates and quasi-velocities alike.
            partials = jacobian(flat(self._joint_rates[i]), link.symbols.moving)
            for k, slot in enumerate(link.slots):
                column = rows_of([partials.get((entry, k), as_expr(0)) for entry in range(16)], 4)
                total[slot] = total[slot] + contraction(multipliers[i], product(place, column))
        return total

    @cached_property
    def tensors(self) -> list[Matrix]:
        """g of every link: the mass matrix of its placement."""
        return [inertia_tensor(link.inertia) for link in self.tree.links]

    @cached_property
    def _inertial(self) -> tuple[list[list[Expr]], list[Expr]]:
        """M and b: the multipliers that inertia and gravity need, along the speeds."""
        needed = [
            plus(product(acceleration, tensor), scale(weight_on_placement(self.tree, tensor), -1))
            for acceleration, tensor in zip(self.accelerations, self.tensors, strict=True)
        ]
        return coefficients(self._along(self._multipliers(needed)), self.tree.layout.accelerations)

    def mass_matrix(self) -> list[list[Expr]]:
        return self._inertial[0]

    def bias(self) -> list[Expr]:
        return self._inertial[1]

    def _load_forces(self) -> list[Matrix]:
        wrenches = applied_loads(self.tree).wrenches
        return [
            force_on_placement(place, wrenches[i]) if i in wrenches else zeros(3, 4)
            for i, place in enumerate(self.placements)
        ]

    def loads(self) -> list[Expr]:
        along = self._along(self._multipliers(self._load_forces()))
        return [a + b for a, b in zip(applied_loads(self.tree).generalised, along, strict=True)]

    def multipliers(self) -> dict[str, Matrix]:
        """Λ by joint, with v' as symbols."""
        forces = []
        for load, acceleration, tensor in zip(self._load_forces(), self.accelerations, self.tensors, strict=True):
            applied = plus(load, weight_on_placement(self.tree, tensor))
            forces.append(plus(product(acceleration, tensor), scale(applied, -1)))
        names = [link.joint.name for link in self.tree.links]
        return dict(zip(names, self._multipliers(forces), strict=True))

    def constraints(self) -> dict[str, Matrix]:
        """Φ by joint, in the redundant coordinates."""
        symbols = [placement_symbols(link.name, self.tree.layout) for link in self.tree.links]
        constraints = {}
        for i, link in enumerate(self.tree.links):
            placed = product(self._of_parent(symbols, link.parent, EARTH), self.joints[i])
            constraints[link.joint.name] = plus(placed, scale(symbols[i], -1))
        return constraints

    def objects(self) -> Mapping[str, Any]:
        links = [link.name for link in self.tree.links]
        return {
            "constraints": self.constraints(),
            "multipliers": self.multipliers(),
            "mass matrices of the placements": dict(zip(links, self.tensors, strict=True)),
        }


def placement_symbols(link: str, layout: Layout) -> Matrix:
    """The twelve coordinates of a link."""
    new = layout.fresh_symbol
    rotation = [[new(f"{link}.R{i}{j}", "1", f"rotation of {link}") for j in (1, 2, 3)] for i in (1, 2, 3)]
    origin = [new(f"{link}.{axis}", "m", f"origin of {link}") for axis in "xyz"]
    return [[*row, component] for row, component in zip(rotation, origin, strict=True)]
