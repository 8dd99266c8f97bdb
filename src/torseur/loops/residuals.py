"""Residuals: expressions that vanish when a constraint holds, before they are differentiated."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.graph import Expr, as_expr

POSITION, VELOCITY = "holonomic", "velocity"


@dataclass(frozen=True)
class Residual:
    """0 = value. `owner` is the joint or constraint, `part` which of its equations; the unit is m, rad, m/s, ..."""

    owner: str
    part: str
    value: Expr
    unit: str
    kind: str = POSITION

    @property
    def name(self) -> str:
        return f"{self.owner}: {self.part}" if self.part else self.owner


def residual(owner: str, part: str, value: object, unit: str, kind: str = POSITION) -> Residual:
    """A residual from any scalar of an algorithm."""
    return Residual(owner, part, as_expr(value), unit, kind)
