"""The steps by which joints and constraints are eliminated, and how rows that follow from others are recognised."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeAlias

from torseur.algebra.graph import Expr
from torseur.algebra.graph.semidefinite import Exchange
from torseur.algebra.spatial import NULL, Force, Motion

NO_FORCE = Force(NULL, NULL)


class Pivots(ABC):
    """How rows that follow from others, or are nothing, are recognised."""

    has_exchanges: bool = False

    @abstractmethod
    def scale(self, row: int, whole: Expr) -> Expr:
        """What a row is multiplied by; `whole` is the square of its length in the metric of the masses."""

    @abstractmethod
    def inverse(self, row: int, left: Expr, whole: Expr) -> Expr:
        """The inverse of the pivot `left` of a scaled row, 0 where the row adds nothing to those before it."""

    def exchanged(self, exchange: Exchange) -> None:  # noqa: B027 - most have nothing that belongs to a row
        """Two rows have changed places."""


@dataclass(frozen=True)
class RowScaling:
    row: int
    factor: Expr


@dataclass(frozen=True)
class RowElimination:
    """A multiplier eliminated: λ_c = (h_c + P_c · A) / S_cc - Σ shares_d λ_d."""

    row: int
    inverse: Expr
    push: Force
    shares: dict[int, Expr]


@dataclass(frozen=True)
class ScrewElimination:
    """A screw of a joint eliminated: v' = rest / D - gain · A - Σ pulls_c λ_c / D."""

    slot: int
    screw: Motion
    inverse: Expr
    gain: Force
    pulls: dict[int, Expr]


RowStep: TypeAlias = RowScaling | Exchange | RowElimination
