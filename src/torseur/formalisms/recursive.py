"""Recursive formalism: spatial algebra, Newton-Euler and articulated bodies."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.dynamics import bias, forward_dynamics, generalised_loads, load_sum, mass_matrix
from torseur.equations.formulation import Formulation, as_expressions
from torseur.graph import Expr
from torseur.tree import regrouped


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
        return as_expressions(forward_dynamics(regrouped(self.tree), q, v, direct, loads.wrenches))
