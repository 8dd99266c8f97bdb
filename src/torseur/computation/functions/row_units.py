"""What the entries of constraints can be: the measure by which a row is told from rounding.

A row of C in which all products cancel is of no size that could be compared with itself. Its geometry says what it
could be: a rotation changes by 1 rad for each radian of a joint, a position by as much as the loop is long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torseur.algebra.graph import Expr, as_expr, evaluate, scalar, symbols_of
from torseur.algebra.spatial import Vec3
from torseur.derivation.equations.equations import Equations
from torseur.derivation.equations.formulation import as_expressions
from torseur.derivation.loops import ConstraintEquation
from torseur.derivation.loops.closure.closure_tolerance import (
    LEAST,
    ROUNDED_ROWS,
    chosen_tolerance,
    closure_tolerance,
)
from torseur.derivation.loops.closure.dimension_conditions import characteristic_length, known_values
from torseur.derivation.tree import Tree
from torseur.description.mechanism import Distance, Frame, Rolling

GEOMETRIC = ("m", "rad", "m/s")
"""Units of the equations of joints, distances and rolling. A user's own equation is in units of its own."""
MOST_ROUNDED = 1e-3  # part of what a row can be that rounding is never taken to make: beyond, nothing is clear


def row_units(equations: Equations) -> list[list[Expr]]:
    """For each entry of each constraint, what it can be."""
    is_long = [is_length(speed.data.unit) for speed in equations.layout.speeds]
    lengths = _lengths(equations)
    return [_units(c, length, is_long) for c, length in zip(equations.constraints, lengths, strict=True)]


def _units(c: ConstraintEquation, length: float, is_long: list[bool]) -> list[Expr]:
    row = as_expressions(c.row)
    if c.unit not in GEOMETRIC:
        return [_sum_of_magnitudes(entry) for entry in row]
    top = length if is_length(c.unit) else 1.0
    units = [as_expr(1 if top == bottom else top / bottom) for bottom in (1.0, length)]
    zero = as_expr(0)
    return [zero if entry.is_zero else units[long] for entry, long in zip(row, is_long, strict=True)]


def rounded_parts(equations: Equations) -> list[float]:
    """For each constraint, the part of what its entries can be that rounded dimensions make of zero; 0 if exact."""
    values = known_values(equations.tree)
    mechanism = equations.tree.mechanism
    size = characteristic_length(mechanism, values)
    usual = closure_tolerance(mechanism, size, {str(x.name): v for x, v in values.items()})
    chosen = {f"joint '{j.name}'": chosen_tolerance(j, values) for j in mechanism.joints}
    chosen |= {f"constraint '{c.name}'": chosen_tolerance(c, values) for c in mechanism.constraints}
    parts = []
    for c, length in zip(equations.constraints, _lengths(equations), strict=True):
        limit = chosen.get(c.owner)
        tolerance = usual if limit is None else limit / size
        # Tolerances are parts of the mechanism's size, entries are measured by the loop's.
        longer = size / length if is_length(c.unit) else 1.0
        is_rounded = c.unit in GEOMETRIC and tolerance > LEAST
        parts.append(min(ROUNDED_ROWS * tolerance * longer, MOST_ROUNDED) if is_rounded else 0.0)
    return parts


def is_length(unit: str) -> bool:
    """Whether a unit is that of a length or of its rate."""
    return unit.startswith("m")


def _sum_of_magnitudes(entry: Expr) -> Expr:
    """The sum of the magnitudes of an entry's terms."""
    if entry.op in ("add", "sub", "neg"):
        return sum((_sum_of_magnitudes(argument) for argument in entry.args), as_expr(0))
    return as_expr(scalar.absolute(entry))


def _lengths(equations: Equations) -> list[float]:
    """For each constraint, the largest offset within the links that it ties to each other (m), by the nominal values.

    Not those of the whole mechanism: a small loop may be carried far from the origin.
    """
    tree = equations.tree
    values = known_values(tree)
    frames, usual = _closing_frames(tree), characteristic_length(tree.mechanism, values)
    links_of = [i for i, link in enumerate(tree.links) for _ in range(*link.v.indices(len(equations.layout.speeds)))]
    children: dict[int, list[int]] = {}
    for i, link in enumerate(tree.links):
        children.setdefault(link.parent, []).append(i)
    bases = [_largest([link.base.position], values) for link in tree.links]
    lengths = []
    for c in equations.constraints:
        tied = {links_of[k] for k, entry in enumerate(c.row) if not as_expr(entry).is_zero}
        offsets = [bases[child] for i in tied for child in children.get(i, ())]
        places = [tree.place(frame) for frame in frames.get(c.owner, [])]
        offsets.append(_largest([place.position for link, place in places if link in tied], values))
        lengths.append(max(offsets) or usual)
    return lengths


def _largest(offsets: Sequence[Vec3], values: Mapping[Expr, float]) -> float:
    """The largest component of offsets of which the value is known."""
    components = [as_expr(component) for offset in offsets for component in offset]
    known = [x for x in components if all(symbol in values for symbol in symbols_of([x]))]
    return max((abs(float(value)) for value in evaluate(known, values)), default=0.0) if known else 0.0


def _closing_frames(tree: Tree) -> dict[str, list[Frame]]:
    """The frames that each loop joint, distance and rolling contact ties, by its owner."""
    frames = {f"joint '{joint.name}'": [joint.parent, joint.child] for joint in tree.loops}
    for constraint in tree.mechanism.constraints:
        if isinstance(constraint, Distance):
            frames[f"constraint '{constraint.name}'"] = [constraint.first, constraint.second]
        elif isinstance(constraint, Rolling):
            frames[f"constraint '{constraint.name}'"] = [constraint.on, constraint.wheel]
    return frames
