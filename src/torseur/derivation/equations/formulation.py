"""What a formalism must give, whatever its principle: M and the forces in M(q) v' + b(q, v) = Q(q, v, t)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph import Expr, as_expr
from torseur.derivation.equations.terms.unit_quaternions import Quaternion, on_unit_sphere
from torseur.derivation.tree import Tree


@dataclass(frozen=True)
class Formulation(ABC):
    """One way of writing the equations of a tree. Entries are expressions of the tree's layout symbols.

    M is the mass matrix, b the centrifugal, Coriolis and gravity terms, Q the generalised forces of the loads.
    """

    tree: Tree

    @property
    @abstractmethod
    def name(self) -> str:
        """The formalism's name."""

    def refusal(self) -> str:
        """Why the formalism does not apply to this tree; empty where it does."""
        return ""

    @abstractmethod
    def mass_matrix(self) -> list[list[Expr]]:
        """M."""

    @abstractmethod
    def bias(self) -> list[Expr]:
        """b: what the speeds and gravity take."""

    @abstractmethod
    def loads(self) -> list[Expr]:
        """Q: what the loads give."""

    def acceleration(self) -> list[Expr] | None:
        """v' where the formalism has a way of its own to it; None where M v' = Q - b is to be solved."""
        return None

    def objects(self) -> Mapping[str, Any]:
        """Named intermediate results of the formalism, for reading."""
        return {}


def as_expressions(values: Sequence[Any]) -> list[Expr]:
    """Scalars of an algorithm, integers included, as expressions."""
    return [as_expr(value) for value in values]


def quaternions_of(tree: Tree) -> list[Quaternion]:
    """The components of every quaternion of a joint."""
    return [link.symbols.quaternion for link in tree.links if link.symbols.quaternion]


@dataclass(frozen=True)
class OnUnitSphere(Formulation):
    """M, b and Q of a formulation on the unit sphere of the quaternions."""

    inner: Formulation

    @property
    def name(self) -> str:
        return self.inner.name

    def mass_matrix(self) -> list[list[Expr]]:
        return [self._short(row) for row in self.inner.mass_matrix()]

    def bias(self) -> list[Expr]:
        return self._short(self.inner.bias())

    def loads(self) -> list[Expr]:
        return self._short(self.inner.loads())

    @property
    def quaternions(self) -> list[Quaternion]:
        return quaternions_of(self.tree)

    def _short(self, entries: Sequence[Expr]) -> list[Expr]:
        return [on_unit_sphere(as_expr(entry), self.quaternions) for entry in entries]
