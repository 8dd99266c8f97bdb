"""Constraint equations as short as they are printed."""

from __future__ import annotations

from dataclasses import replace

from torseur.derivation.equations.terms.short_sum import short_expression
from torseur.derivation.loops import ConstraintEquation, constraint_equations
from torseur.derivation.tree import Tree


def short_constraint_equations(tree: Tree) -> tuple[ConstraintEquation, ...]:
    """Every equation of the loop joints and constraints, each Φ, row C, drift and γ in the shortest form found.

    The residual of a joint is where its second side is less where its first is, that of `constrain A = B` is B - A. The
    force of a constraint with the multiplier λ is -Cᵀ λ: equations read M v' + b + Cᵀ λ = Q.
    """
    return tuple(map(_shorten, constraint_equations(tree, to_read=True)))


def _shorten(one: ConstraintEquation) -> ConstraintEquation:
    return replace(
        one,
        residual=short_expression(one.residual),
        row=tuple(map(short_expression, one.row)),
        drift=short_expression(one.drift),
        gamma=short_expression(one.gamma),
    )
