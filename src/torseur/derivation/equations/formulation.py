"""What a formalism must give, whatever its principle: M and the forces in M(q) v' + b(q, v) = Q(q, v, t)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph import Expr, as_expr
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
