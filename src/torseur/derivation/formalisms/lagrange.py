"""Lagrange: d/dt ∂T/∂q' - ∂T/∂q = Q from the kinetic energy T(q, q', t) and the potential V(q).

Principle (Lagrange): the equations follow from two scalar functions, whatever the coordinates.

    T         Σ ½ tr(H' g H'ᵀ), from positions alone                  `energies.kinetic`
    V         potential of gravity; springs are among the loads        `energies.gravity`
    p         momenta ∂T/∂q'                                          `momenta`
    A         ∂²T/∂q'∂q'                                              `energies.matrix`
    W, w      q' = W v + w                                            `Rates`

Where the speeds v are not the rates of the coordinates (quasi-velocities, unit quaternions), the virtual
displacements are δq = W δπ, so the equations are taken along the columns of W; a unit quaternion's own multiplier
falls out because W is tangent to its sphere. With q'' = W v' + ... that gives

    M = Wᵀ A W,    b = Wᵀ (dp/dt at constant v - ∂T/∂q + ∂V/∂q),    Q = Wᵀ (forces by coordinate)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, gradient, time_derivative
from torseur.derivation.equations.formulation import Formulation
from torseur.derivation.equations.terms.short_sum import short_expression
from torseur.derivation.formalisms.ingredients.coordinate_rates import Rates
from torseur.derivation.formalisms.ingredients.energies import Energies
from torseur.description.mechanism import TIME


@dataclass(frozen=True)
class Lagrange(Formulation):
    """The momenta ∂T/∂q' by one reverse sweep of T, then their rate along the motion."""

    @property
    def name(self) -> str:
        return "lagrange"

    @cached_property
    def energies(self) -> Energies:
        return Energies(self.tree)

    @cached_property
    def _rates(self) -> Rates:
        return Rates(self.tree)

    @cached_property
    def momenta(self) -> list[Expr]:
        """∂T/∂q' as expressions of q, v and t."""
        return self._rates.in_speeds(self.energies.momenta)

    def mass_matrix(self) -> list[list[Expr]]:
        """Wᵀ A W: the coefficients of v' in d/dt ∂T/∂q', because q'' = W v' + ..."""
        return self._rates.matrix_along(self.energies.matrix)

    def bias(self) -> list[Expr]:
        """Wᵀ (dp/dt at constant speeds - ∂T/∂q + ∂V/∂q), V the potential of gravity."""
        q = self.tree.layout.joint_coordinates
        by_position = self._rates.in_speeds(self.energies.kinetic_gradient)
        gravity_gradient = gradient(self.energies.gravity, q)
        change = self._rates.change(self.momenta)
        return self._rates.along([a - b + c for a, b, c in zip(change, by_position, gravity_gradient, strict=True)])

    def loads(self) -> list[Expr]:
        return self.energies.generalised_forces(self._rates)

    def objects(self) -> Mapping[str, Any]:
        """Lagrange's steps: T, V, L, p = ∂L/∂q', dp/dt with v' as symbols, ∂L/∂q and the forces without potential."""
        layout, energies, rates = self.tree.layout, self.energies, self._rates
        names = layout.joint_coordinate_names
        # The energies in their shortest writing, whose derivatives are short in turn.
        kinetic = short_expression(energies.kinetic)
        potential = short_expression(energies.gravity + energies.elastic)
        momenta = rates.in_speeds(gradient(kinetic, layout.joint_rates))
        moving = dict(zip(layout.coordinates, rates.values, strict=True))
        # With v' as symbols, for reading: `bias` takes the same rate at constant speeds.
        moving |= dict(zip(layout.speeds, layout.accelerations, strict=True))
        lagrangian = kinetic - potential
        return {
            "kinetic energy": kinetic,
            "potential energy": potential,
            "Lagrangian": lagrangian,
            "momenta": dict(zip(names, momenta, strict=True)),
            "rates of the momenta": dict(zip(names, time_derivative(momenta, moving, TIME), strict=True)),
            "gradient of the Lagrangian": dict(
                zip(names, rates.in_speeds(gradient(lagrangian, layout.joint_coordinates)), strict=True)
            ),
            "generalised forces": dict(zip(names, energies.forces_without_potential(rates), strict=True)),
        }
