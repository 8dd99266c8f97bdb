"""Hamilton: canonical first-order equations q' = ∂H/∂p, p' = -∂H/∂q + Q, less Cᵀ λ where there are constraints.

Principle (Hamilton): the Legendre transformation of Lagrange's function takes momenta p in place of rates q'.

    T         ½ q'ᵀ A q' + aᵀ q' + T_0; a and T_0 are zero unless joints depend on time
    p         ∂T/∂q' = A q' + a                                       `momenta` (symbols)
    a         momenta of what time moves                              `_driven_momenta`
    H         ½ (p - a)ᵀ A⁻¹ (p - a) - T_0 + V                          `hamiltonian`
    Q         every load without potential, whatever its law
    W, w      q' = W v + w                                            `Rates`

Since p = A (W v + w) + a, the rate of the momenta gives the accelerations: Wᵀ (p' + ∂H/∂q) = Wᵀ Q is M v' + b = Q
with M = Wᵀ A W and b = Wᵀ (dp/dt at constant v + ∂H/∂q).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, as_expr, gradient, substitute
from torseur.algebra.graph.solve import solve_symmetric
from torseur.derivation.equations.formulation import Formulation
from torseur.derivation.equations.multipliers import multiplier_of
from torseur.derivation.equations.terms.equal_values import merge_equal_values
from torseur.derivation.equations.terms.linear_solution import form_of_inverse, solve_by_minors
from torseur.derivation.equations.terms.short_sum import short_expression
from torseur.derivation.formalisms.ingredients.coordinate_rates import Rates
from torseur.derivation.formalisms.ingredients.energies import Energies
from torseur.derivation.formalisms.ingredients.matrices import dot
from torseur.derivation.loops import constraint_equations


@dataclass(frozen=True)
class Hamilton(Formulation):
    """Momenta of the coordinates, as symbols where the equations are canonical."""

    @property
    def name(self) -> str:
        return "hamilton"

    def refusal(self) -> str:
        joints = [f"'{link.joint.name}'" for link in self.tree.links if link.symbols.quaternion]
        if not joints:
            return self._without_inertia()
        return (
            f"momenta need independent coordinates, and the rotation in joint {', '.join(joints)} is a unit "
            "quaternion (four coordinates for three freedoms). Use angles there."
        )

    def _without_inertia(self) -> str:
        """Why there are no momenta where only constraints tell how a coordinate moves; empty where there are."""
        if not constraint_equations(self.tree):
            return ""
        names, matrix = self.tree.layout.joint_coordinate_names, self.energies.matrix
        massless = [f"'{name}'" for k, name in enumerate(names) if as_expr(matrix[k][k]).is_zero]
        if not massless:
            return ""
        return (
            f"every coordinate needs a momentum of its own, and nothing that {', '.join(massless)} moves has mass: the "
            "constraints alone say how it moves, as they do for coordinates of joints that close loops. Formalisms "
            "without momenta derive it, such as recursive."
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
            self.tree.layout.fresh_symbol(f"p_{q.name}", units.get(q.data.unit, "1"), f"momentum of {q.name}")
            for q in self.tree.layout.joint_coordinates
        )

    @cached_property
    def _driven_momenta(self) -> list[Expr]:
        """a = ∂T/∂q' at q' = 0: the momenta of what time moves."""
        return substitute(self.energies.momenta, {rate: 0 for rate in self.tree.layout.rates})

    @cached_property
    def _shifted_momenta(self) -> list[Expr]:
        """p - a."""
        return [p - a for p, a in zip(self.momenta, self._driven_momenta, strict=True)]

    @cached_property
    def velocities(self) -> list[Expr]:
        """q' = ∂H/∂p = A⁻¹ (p - a)."""
        return solve_symmetric(self.energies.matrix, self._shifted_momenta, self.tree.layout.joint_coordinate_names)

    @cached_property
    def kinetic(self) -> Expr:
        """The Hamiltonian without the potential."""
        # T in momenta: ½ (p - a)ᵀ A⁻¹ (p - a) - T_0; for joints that time does not move it is the kinetic energy
        # itself.
        return dot(self._shifted_momenta, self.velocities) / 2 - self._driven_energy

    @cached_property
    def _driven_energy(self) -> Expr:
        """T_0: the kinetic energy of what time moves."""
        return substitute([self.energies.kinetic], {rate: 0 for rate in self.tree.layout.rates})[0]

    @cached_property
    def hamiltonian(self) -> Expr:
        """H(q, p, t)."""
        return self.kinetic + self._potential

    @property
    def _potential(self) -> Expr:
        return self.energies.gravity + self.energies.elastic

    @cached_property
    def _hamiltonian_as_read(self) -> Expr:
        """H with ½ (p - a)ᵀ A⁻¹ (p - a) as one fraction, where that is short: by its minors, adj A / det A."""
        form = form_of_inverse(self.energies.matrix, self._shifted_momenta)
        written = self.kinetic if form is None else form.value / 2 - self._driven_energy
        return short_expression(written + self._potential)

    @cached_property
    def _velocities_as_read(self) -> list[Expr]:
        """q' = A⁻¹ (p - a), each one fraction where that is short."""
        quotients = solve_by_minors(self.energies.matrix, self._shifted_momenta)
        return self.velocities if quotients is None else [own.value for own in quotients]

    def mass_matrix(self) -> list[list[Expr]]:
        """Wᵀ A W."""
        return self._rates.matrix_along(self.energies.matrix)

    def bias(self) -> list[Expr]:
        """Wᵀ (dp/dt at constant speeds + ∂H/∂q), the elastic potential being among the loads.

        In ∂H/∂q the momenta are A q' + a with the very entries of A that H inverts, so that rounding of the
        description's numbers is not magnified.
        """
        change = self._rates.change(self._rates.in_speeds(self.energies.momenta))
        gradient_q = gradient(self.kinetic + self.energies.gravity, self.tree.layout.joint_coordinates)
        rates = self._rates.values[: len(self.momenta)]
        # ∂H/∂q at constant p, then p by the speeds: the other order would differentiate p.
        there = [dot(row, rates) + a for row, a in zip(self.energies.matrix, self._driven_momenta, strict=True)]
        gradient_q = substitute(gradient_q, dict(zip(self.momenta, there, strict=True)))
        return self._rates.along([a + b for a, b in zip(change, gradient_q, strict=True)])

    def loads(self) -> list[Expr]:
        return self.energies.generalised_forces(self._rates)

    def canonical_equations(self, to_read: bool = False) -> tuple[list[Expr], list[Expr]]:
        """(q', p') in terms of q, p, t and multipliers: ∂H/∂p and -∂H/∂q + Q - Cᵀ λ; of the H that is read if asked."""
        layout = self.tree.layout
        hamiltonian = self._hamiltonian_as_read if to_read else self.hamiltonian
        velocities = self._velocities_as_read if to_read else self.velocities
        rates = dict(zip(layout.joint_rates, velocities, strict=True))
        speeds = [value for link in self.tree.links for value in self._rates.definitions(link)]
        in_momenta = rates | dict(zip(layout.speeds, substitute(speeds, rates), strict=True))
        forces = substitute(self.energies.forces_without_potential(self._rates), in_momenta)
        gradient_q = gradient(hamiltonian, layout.joint_coordinates)
        constraint_forces = self._rates.by_coordinate(self._constraint_forces())
        changes = [f - s - c for f, s, c in zip(forces, gradient_q, constraint_forces, strict=True)]
        return velocities, changes

    def _constraint_forces(self) -> list[Expr]:
        """Cᵀ λ of loops and constraints, by speed."""
        total = [as_expr(0)] * len(self.tree.layout.speeds)
        if self.tree.loops or self.tree.mechanism.constraints:
            for constraint in constraint_equations(self.tree):
                total = [a + multiplier_of(constraint) * c for a, c in zip(total, constraint.row, strict=True)]
        return total

    def objects(self) -> Mapping[str, Any]:
        """p, H and both sets of canonical equations; momenta that nothing changes are conserved."""
        names = self.tree.layout.joint_coordinate_names
        velocities, forces = self.canonical_equations(to_read=True)
        # The kinetic energy in its shortest writing, whose derivatives are short in turn.
        kinetic = short_expression(self.energies.kinetic)
        momenta = gradient(kinetic, self.tree.layout.joint_rates)
        changing = merge_equal_values(forces)
        return {
            "kinetic energy": kinetic,
            "momenta": dict(zip(names, momenta, strict=True)),
            "Hamiltonian": self._hamiltonian_as_read,
            "rates of the coordinates": dict(zip(names, velocities, strict=True)),
            "rates of the momenta": dict(zip(names, forces, strict=True)),
            "conserved momenta": {
                name: momentum for name, momentum, force in zip(names, momenta, changing, strict=True) if force.is_zero
            },
        }
