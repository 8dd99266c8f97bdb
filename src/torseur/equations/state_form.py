"""Equations as one linear system for the rates of the state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.graph import Expr, as_expr


@dataclass(frozen=True)
class StateForm:
    """A z = f for z = (q', v', λ): the rates of the state y = (q, v), and multipliers where there are constraints.

    | 1  0  0  | | q' |   | rates(q, v, t) |
    | 0  M  Cᵀ | | v' | = | Q - b          |
    | 0  C  0  | | λ  |   | γ              |
    """

    matrix: tuple[tuple[Expr, ...], ...]
    right: tuple[Expr, ...]


def state_form(
    rates: Sequence[Expr],
    mass: Sequence[Sequence[Expr]],
    forces: Sequence[Expr],
    constraints: Sequence[Sequence[Expr]],
    gammas: Sequence[Expr],
) -> StateForm:
    """The state form from q', M, Q - b, the rows of C and γ."""
    nq, nv, nc = len(rates), len(forces), len(gammas)
    one, zero = as_expr(1), as_expr(0)
    upper = [tuple(one if i == j else zero for j in range(nq + nv + nc)) for i in range(nq)]
    middle = [(*([zero] * nq), *row, *(c[k] for c in constraints)) for k, row in enumerate(mass)]
    lower = [(*([zero] * nq), *row, *([zero] * nc)) for row in constraints]
    return StateForm((*upper, *middle, *lower), (*rates, *forces, *gammas))
