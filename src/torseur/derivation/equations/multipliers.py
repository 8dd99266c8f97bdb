"""Multipliers of constraints: their symbols, and their names in equations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torseur.algebra.graph import Expr, symbol

if TYPE_CHECKING:
    from torseur.derivation.loops import ConstraintEquation

_MULTIPLIER = re.compile(r"lambda\.(?:\w+ )?'?([\w.]+)'?(?:\W+([\w ]+))?")


def multiplier_of(constraint: ConstraintEquation) -> Expr:
    """The symbol of a constraint's multiplier."""
    return symbol(f"lambda.{constraint.name}", "1", f"multiplier of {constraint.name}")


def multiplier_display_name(name: str) -> str | None:
    """The name of a multiplier in equations: that of joint 'wrist': x is lambda_wrist_x; None for other names."""
    match = _MULTIPLIER.fullmatch(name)
    return "_".join(part.replace(" ", "_") for part in ("lambda", *match.groups()) if part) if match else None
