"""By how much a loop may stay open and still count as closed.

An overconstrained linkage closes for its exact dimensions only, and a file has them rounded: what it leaves open is of
the size of the last digit written there. Loops that are open by no more than that are taken as closed, and what was
forced is said; a user chooses another tolerance by `within`.
See docs/decisions/0063-loops-close-within-the-digits-of-their-description.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from torseur.algebra.graph import Expr, as_expr, constant_value, evaluate, live_nodes, symbols_of
from torseur.derivation.tree.flatten import flatten
from torseur.description.mechanism import Constraint, Frame, Joint, Mechanism
from torseur.errors import MechanismError

LEAST = 1e-9  # of the mechanism's size (rad): what rounding of numbers with all their digits can leave
MOST = 1e-5  # the same, however few digits there are
ROUNDED = 6  # significant digits from which a decimal is taken for a rounded one; 0.25 is meant as it stands
ALL_DIGITS = 14  # significant digits from which a number has lost nothing
ADDED_UP = 10.0  # last digits: those of several numbers along a loop, each wrong by half of one
ROUNDED_ROWS = 3.0  # how much more of a gap by rounding shows in the directions of constraints
# How a number may have been written, and what one is worth there: as it is, in degrees, in degrees before they were
# multiplied by pi.
_WRITINGS = ((1.0, 1.0), (180 / math.pi, math.pi / 180), (180.0, math.pi / 180))


def last_digit(number: float) -> float:
    """The unit of the last digit of a rounded decimal, in SI or in degrees; 0 for one that is not rounded."""
    digits, unit = min(_digits_and_unit(abs(number) * factor, worth) for factor, worth in _WRITINGS)
    return unit if ROUNDED <= digits < ALL_DIGITS else 0.0


def _digits_and_unit(size: float, worth: float) -> tuple[int, float]:
    if not math.isfinite(size) or size == 0.0:
        return 0, 0.0
    # 15 digits: a conversion of units leaves its rounding in the 16th and 17th.
    mantissa, _, exponent = f"{size:.14e}".partition("e")
    digits = len(mantissa.replace(".", "").rstrip("0"))
    return digits, 10.0 ** (int(exponent) - digits + 1) * worth


def rounding(numbers: Iterable[float]) -> float:
    """What the rounding of some numbers may leave open, in their own unit."""
    return ADDED_UP * max(map(last_digit, numbers), default=0.0)


def closure_tolerance(mechanism: Mechanism, size: float, parameters: Mapping[str, float] | None = None) -> float:
    """The default tolerance of the mechanism's loops in units of its size (and rad), from the digits of its geometry.

    `parameters` are values that replace those of the description.
    """
    lengths, others = _geometry(mechanism)
    given = {p.name: p for p in mechanism.parameters}
    for symbol in symbols_of([*lengths, *others]):
        parameter = given.get(str(symbol.name))
        if parameter is None:
            continue
        kind = lengths if parameter.unit == "m" else others
        if parameters is not None and parameter.name in parameters:
            kind.append(as_expr(parameters[parameter.name]))
        elif parameter.value is not None:
            kind.append(parameter.value)
    error = max(rounding(_constants(lengths)) / size, rounding(_constants(others)))
    return min(max(LEAST, error), MOST)


def _geometry(mechanism: Mechanism) -> tuple[list[Expr], list[Expr]]:
    """Formulas of lengths, and of directions and angles, in joints, bodies' frames and constraints."""
    frames = [frame for joint in mechanism.joints for frame in (joint.parent, joint.child)]
    frames += [end for c in mechanism.constraints for end in _ends(c)]
    places = [frame.placement for frame in frames]
    lengths = [x for place in places for x in place.position]
    others = [x for place in places for x in flatten(place.rotation)]
    for joint in mechanism.joints:
        others += [x for motion in joint.motions for x in (*motion.axis, motion.amount)]
    for constraint in mechanism.constraints:
        lengths += [getattr(constraint, name) for name in ("value", "radius") if hasattr(constraint, name)]
    return [x for x in lengths if isinstance(x, Expr)], [x for x in others if isinstance(x, Expr)]


def _ends(constraint: Constraint) -> list[Frame]:
    return [getattr(constraint, name) for name in ("first", "second", "wheel", "on") if hasattr(constraint, name)]


def _constants(formulas: Iterable[Expr]) -> list[float]:
    return [float(constant_value(node)) for node in live_nodes(list(formulas)) if node.is_constant]


def chosen_tolerance(closing: Joint | Constraint, values: Mapping[Expr, float]) -> float | None:
    """The tolerance that a joint or constraint is given by `within`, None without one."""
    if closing.within is None:
        return None
    (tolerance,) = evaluate([closing.within], values)
    if not 0.0 < float(tolerance) < math.inf:
        raise MechanismError(f"'{closing.name}': within {float(tolerance):.4g}: expected a tolerance above 0.")
    return float(tolerance)
