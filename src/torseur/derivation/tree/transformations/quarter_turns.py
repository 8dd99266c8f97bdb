"""Angles of placements within a few roundings of a multiple of pi/2, taken as that multiple."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

from torseur.algebra.graph import PI, Expr
from torseur.description.mechanism import Mechanism, Turn

# Why right angles depend on the precision: docs/decisions/0025-right-angles-by-precision.md.
DOUBLE = 1e-15
"""How far from a quarter turn an angle in radians is still one."""
SINGLE = 2.0**-23
"""The same in single precision: a unit in the last place of 1.57. Angles near zero have finer ones: they stay."""


def exact_angle(turn: Turn, within: float = DOUBLE) -> Expr:
    """The angle of a turn, a float near a multiple of pi/2 taken as that multiple.

    Files write quarter turns with 15 or 16 digits. Their sines and cosines are then exactly 0 or 1 instead of 4e-16,
    which shortens the equations of an arm by a quarter and changes nothing that a float can tell. No other angle is
    touched.
    """
    if not turn.angle.is_constant or not isinstance(turn.angle.value, float):
        return turn.angle
    quarters = round(turn.angle.value / (math.pi / 2))
    off = abs(turn.angle.value - quarters * (math.pi / 2))
    return PI * Fraction(quarters, 2) if off <= (within * abs(quarters) or DOUBLE) else turn.angle


def with_quarter_turns(mechanism: Mechanism, within: float) -> Mechanism:
    """The mechanism with all angles of placements near quarter turns taken as these; itself where there are none."""
    exact: Mechanism = _with_exact_angles(mechanism, within)
    return exact


def _with_exact_angles(part: Any, within: float) -> Any:
    if isinstance(part, Turn):
        angle = exact_angle(part, within)
        return part if angle is part.angle else replace(part, angle=angle)
    if isinstance(part, tuple):
        parts = tuple(_with_exact_angles(one, within) for one in part)
        return part if all(a is b for a, b in zip(part, parts, strict=True)) else parts
    if not is_dataclass(part) or isinstance(part, type | Expr):
        return part
    old = {field.name: getattr(part, field.name) for field in fields(part) if field.init}
    new = {name: _with_exact_angles(value, within) for name, value in old.items()}
    changed = {name: value for name, value in new.items() if value is not old[name]}
    return replace(part, **changed) if changed else part
