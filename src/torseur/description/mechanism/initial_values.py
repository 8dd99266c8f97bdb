"""Guesses among the values of an initial state: constraints may move them, exact values never."""

from __future__ import annotations

from torseur.algebra.graph import ExprLike, as_expr, constant_value, symbols_of
from torseur.errors import MechanismError


class Guess(float):
    """A number near which the initial state is looked for."""

    def __repr__(self) -> str:
        return f"about({float(self)!r})"


def about(value: ExprLike) -> Guess:
    """A guess of an initial coordinate or speed (SI): `initial={"phi": ts.about(0.3)}`."""
    formula = as_expr(value)
    if symbols_of([formula]):
        raise MechanismError(
            f"about({formula}): expected a number. For a formula name its coordinate in Mechanism(..., guesses=[...])."
        )
    return Guess(constant_value(formula))
