"""Hamilton: canonical first-order equations q' = ∂H/∂p, p' = -∂H/∂q + Q, less Cᵀ λ where there are constraints.

With the momenta p = ∂T/∂q' = A q' + a of the kinetic energy T = ½ q'ᵀ A q' + aᵀ q' + T_0 and the potential V,
the Hamiltonian is

    H(q, p, t) = ½ (p - a)ᵀ A⁻¹ (p - a) - T_0 + V

Q holds every load without potential, whatever its law. Since p = A (W v + w) + a, the rate of the momenta gives
the accelerations: Wᵀ (p' + ∂H/∂q) = Wᵀ Q is M v' + b = Q.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.equations.equations import multiplier_of
from torseur.equations.formulation import Formulation
from torseur.formalisms.energies import Energies
from torseur.formalisms.matrices import dot
from torseur.formalisms.rates import Rates
from torseur.graph import Expr, as_expr, gradient, substitute, symbol
from torseur.graph.solve import solve_symmetric
from torseur.loops import constraint_equations


@dataclass(frozen=True)
class Hamilton(Formulation):
    """Momenta of the coordinates, as symbols where the equations are canonical."""

    @property
    def name(self) -> str:
        return "hamilton"

    def refusal(self) -> str:
        joints = [f"'{link.joint.name}'" for link in self.tree.links if link.symbols.quaternion]
        if not joints:
            return ""
        return (
            f"momenta need independent coordinates, and the rotation in joint {', '.join(joints)} is a unit "
            "quaternion (four coordinates for three freedoms). Use angles there."
        )

    @cached_property
    def energies(self) -> Energies:
        return Energies(self.tree)

    @cached_property
    def _rates(self) -> Rates:
        return Rates(self.tree)

    @cached_property
    def momenta(self) -> tuple[Expr, ...]:
        """The symbols p."""
        units = {"m": "kg*m/s", "rad": "kg*m^2/s"}
        return tuple(
            symbol(f"p.{q.name}", units.get(q.data.unit, "1"), f"momentum of {q.name}")
            for q in self.tree.layout.coordinates
        )

    @cached_property
    def _driven(self) -> list[Expr]:
        """a = ∂T/∂q' at q' = 0: the momenta of what time moves."""
        return substitute(self.energies.momenta, {rate: 0 for rate in self.tree.layout.rates})

    @cached_property
    def _shifted(self) -> list[Expr]:
        """p - a."""
        return [p - a for p, a in zip(self.momenta, self._driven, strict=True)]

    @cached_property
    def velocities(self) -> list[Expr]:
        """q' = ∂H/∂p = A⁻¹ (p - a)."""
        return solve_symmetric(self.energies.matrix, self._shifted, self.tree.layout.coordinate_names)

    @cached_property
    def kinetic(self) -> Expr:
        """The Hamiltonian without the potential."""
        (driven,) = substitute([self.energies.kinetic], {rate: 0 for rate in self.tree.layout.rates})
        return dot(self._shifted, self.velocities) / 2 - driven

    @cached_property
    def hamiltonian(self) -> Expr:
        """H(q, p, t)."""
        return self.kinetic + self.energies.gravity + self.energies.elastic

    def mass_matrix(self) -> list[list[Expr]]:
        """Wᵀ A W."""
        return self._rates.matrix_along(self.energies.matrix)

    def bias(self) -> list[Expr]:
        """Wᵀ (dp/dt at constant speeds + ∂H/∂q), the elastic potential being among the loads.

        In ∂H/∂q the momenta are A q' + a with the very entries of A that H inverts, so that rounding of the
        description's numbers is not magnified.
        """
        change = self._rates.change(self._rates.in_speeds(self.energies.momenta))
        slope = gradient(self.kinetic + self.energies.gravity, self.tree.layout.coordinates)
        there = [dot(row, self._rates.values) + a for row, a in zip(self.energies.matrix, self._driven, strict=True)]
        slope = substitute(slope, dict(zip(self.momenta, there, strict=True)))
        return self._rates.along([a + b for a, b in zip(change, slope, strict=True)])

    def loads(self) -> list[Expr]:
        return self.energies.generalised_forces(self._rates)

    def canonical_equations(self) -> tuple[list[Expr], list[Expr]]:
        """(q', p') in terms of q, p, t and multipliers: ∂H/∂p and -∂H/∂q + Q - Cᵀ λ."""
        layout = self.tree.layout
        rates = dict(zip(layout.rates, self.velocities, strict=True))
        speeds = [value for link in self.tree.links for value in self._rates.definitions(link)]
        in_momenta = rates | dict(zip(layout.speeds, substitute(speeds, rates), strict=True))
        forces = substitute(self.energies.forces_without_potential(self._rates), in_momenta)
        slope = gradient(self.hamiltonian, layout.coordinates)
        held = self._rates.by_coordinate(self._constraint_forces())
        changes = [f - s - c for f, s, c in zip(forces, slope, held, strict=True)]
        return gradient(self.hamiltonian, self.momenta), changes

    def _constraint_forces(self) -> list[Expr]:
        """Cᵀ λ of loops and constraints, by speed."""
        total = [as_expr(0)] * len(self.tree.layout.speeds)
        if self.tree.loops or self.tree.mechanism.constraints:
            for constraint in constraint_equations(self.tree):
                total = [a + multiplier_of(constraint) * c for a, c in zip(total, constraint.row, strict=True)]
        return total

    def objects(self) -> Mapping[str, Any]:
        names = self.tree.layout.coordinate_names
        velocities, forces = self.canonical_equations()
        return {
            "kinetic energy": self.energies.kinetic,
            "momenta": dict(zip(names, self.energies.momenta, strict=True)),
            "Hamiltonian": self.hamiltonian,
            "rates of the coordinates": dict(zip(names, velocities, strict=True)),
            "rates of the momenta": dict(zip(names, forces, strict=True)),
        }
