"""Recursive formalism: spatial algebra, Newton-Euler and articulated bodies.

Principle: the balances of Newton and Euler, arranged so that each link is visited once outward (velocities,
accelerations) and once inward (forces). The algorithms stand in `derivation/dynamics`: M by composite bodies, b by
recursive Newton-Euler with v' = 0, v' by articulated bodies (Featherstone), Q by the screws of the joints.
"""

from __future__ import annotations

from dataclasses import dataclass

from torseur.algebra.graph import Expr
from torseur.derivation.dynamics import bias, forward_dynamics, generalised_loads, load_sum, mass_matrix
from torseur.derivation.equations.formulation import Formulation, as_expressions
from torseur.derivation.tree import regroup


@dataclass(frozen=True)
class Recursive(Formulation):
    """Forces by the Newton-Euler recursion, accelerations by articulated bodies: cost linear in the number of links."""

    @property
    def name(self) -> str:
        return "recursive"

    def mass_matrix(self) -> list[list[Expr]]:
        return [as_expressions(row) for row in mass_matrix(self.tree, self.tree.layout.coordinates)]

    def bias(self) -> list[Expr]:
        return as_expressions(bias(self.tree, self.tree.layout.coordinates, self.tree.layout.speeds))

    def loads(self) -> list[Expr]:
        return as_expressions(generalised_loads(self.tree, self.tree.layout.coordinates, self.tree.layout.speeds))

    def acceleration(self) -> list[Expr]:
        q, v = self.tree.layout.coordinates, self.tree.layout.speeds
        loads = load_sum(self.tree.at(q, v))
        direct = [loads.generalised.get(k, 0) for k in range(len(v))]
        # Regrouped: the same accelerations from fewer inertial parameters.
        return as_expressions(forward_dynamics(regroup(self.tree), q, v, direct, loads.wrenches))
