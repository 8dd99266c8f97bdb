"""The state in which a constrained motion starts.

Exact values stay; guesses are where the search begins; what nobody states is zero where the constraints allow it, and
follows from them otherwise. Values that contradict the constraints are refused, unless they do so by no more than the
digits they were written with: docs/decisions/0062-starts-exact-guessed-free.md.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.constrained.start.initial_speeds import (
    AMPLIFIED,
    INDEPENDENT,
    LOOSE,
    moving_state,
    nearest_speeds,
)
from torseur.computation.simulation.constrained.start.position_assembly import (
    CLOSED,
    Assembly,
    assemble,
    closed_from,
    free_directions,
)
from torseur.computation.simulation.constrained.start.start_account import (
    GIVEN,
    GUESSED,
    Consistent,
    StartValue,
    origin_of,
    quoted,
)
from torseur.computation.simulation.model.system import Vector
from torseur.derivation.loops.closure.closure_tolerance import MOST, rounding
from torseur.derivation.loops.closure.dimension_conditions import condition_gaps
from torseur.errors import TorseurError

MOST_NOTES = 6


def consistent_state(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> Consistent:
    """The state on the constraints with what is given."""
    return moving_state(numbers, t, closed_state(numbers, t, y, given), y, given)


def nearest_state(numbers: StateNumbers, t: float, y: Vector) -> Vector:
    """The state on the constraints nearest to one, its speeds in the metric of the mass matrix."""
    return nearest_speeds(numbers, t, closed_state(numbers, t, y, ()).y)


def closed_state(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> Consistent:
    """The state with the positions nearest to what is stated in which all loops are closed."""
    forced = condition_notes(numbers)
    assembly = assemble(numbers, t, y, given)
    if not assembly.is_closed:
        assembly = _close_within_rounding(numbers, t, y, given, assembly)
    notes = (*forced, *forced_notes(numbers, assembly))
    if assembly.start:
        notes += ("The loops were closed from a guess: give more coordinates for another assembly.",)
    return Consistent(assembly.y, notes, _coordinate_account(numbers, t, y, assembly.y, given))


def _close_within_rounding(
    numbers: StateNumbers, t: float, y: Vector, given: Collection[str], assembly: Assembly
) -> Assembly:
    """A state that exact values miss by the rounding of what was written: moved by as little; refuses other ones."""
    names, scale = numbers.equations.layout.coordinate_names, coordinate_scales(numbers)
    exact = [k for k, name in enumerate(names) if name in given]
    written = min(MOST, rounding((y[exact] / scale[exact]).tolist())) if exact else 0.0
    allowed = np.maximum(assembly.tolerances, written)
    if not assembly.half_turned and np.all(np.abs(assembly.residual) <= allowed):
        together = closed_from(numbers, t, assembly.y)
        shift = np.abs((together.y - y)[: len(names)] / scale)[exact].max(initial=0.0)
        is_slight = shift <= AMPLIFIED * float(allowed.max(initial=0.0))
        if together.is_closed and is_slight:
            return together
        if assembly.is_nearly_closed:
            return assembly
        if together.is_nearly_closed and is_slight:
            return together
    raise TorseurError(_not_closed(numbers, t, y, assembly, given))


def condition_notes(numbers: StateNumbers) -> tuple[str, ...]:
    """What dimensions miss of the conditions that no coordinate changes; refuses more than their tolerance."""
    layout, notes = numbers.equations.layout, []
    values = dict(zip(layout.parameters, numbers.parameters.tolist(), strict=True))
    for one in condition_gaps(numbers.equations.tree, numbers.programs.conditions, values):
        if one.gap > one.limit:
            raise TorseurError(f"{numbers.equations.mechanism.name}: {one.fault}")
        if one.gap > CLOSED * numbers.length:
            amounts = [f"{number:.2g} {one.unit}".strip() for number in (one.gap, one.limit)]
            notes.append(
                f"{one.name} is open by {amounts[0]} in every position, within its tolerance of {amounts[1]}: it was "
                "taken as closed."
            )
    return tuple(notes)


def forced_notes(numbers: StateNumbers, assembly: Assembly) -> tuple[str, ...]:
    """What stays open, and was taken as closed."""
    notes = []
    for constraint, gap, limit, scale in zip(
        numbers.programs.constraints, assembly.residual, assembly.tolerances, numbers.row_scales, strict=False
    ):
        if abs(gap) > CLOSED:
            unit = constraint.unit.removesuffix("1")
            notes.append(
                f"{constraint.name} is open by {abs(gap) * scale:.2g} {unit}".rstrip()
                + f" at the start, within its tolerance of {limit * scale:.2g} {unit}".rstrip()
                + ": it was taken as closed."
            )
    if len(notes) > MOST_NOTES:
        notes = [*notes[: MOST_NOTES - 1], f"{len(notes) - MOST_NOTES + 1} more constraints were taken as closed."]
    return tuple(notes)


def coordinate_scales(numbers: StateNumbers) -> Vector:
    """Sizes that moves of the coordinates are compared with."""
    units = [q.data.unit for q in numbers.equations.layout.coordinates]
    return np.array([numbers.length if unit == "m" else 1.0 for unit in units])


def _coordinate_account(
    numbers: StateNumbers, t: float, before: Vector, y: Vector, given: Collection[str]
) -> tuple[StartValue, ...]:
    """What each coordinate comes from; one that the constraints leave free beside the exact ones is free."""
    names = numbers.equations.layout.coordinate_names
    _, rows = numbers.closure(t, y)
    free = free_directions(numbers, t, y, given)
    _, sizes, directions = np.linalg.svd(rows @ free) if len(rows) else (None, np.zeros(0), np.eye(free.shape[1]))
    rank = int(np.sum(sizes > numbers.negligible(INDEPENDENT) * sizes.max(initial=0.0)))
    open_moves = np.abs(numbers.reach(t, y) @ free @ directions[rank:].T).max(axis=1, initial=0.0)
    values = []
    for k, name in enumerate(names):
        origin = origin_of(name, given, numbers.guesses, is_free=bool(open_moves[k] > LOOSE))
        values.append(
            StartValue(name, float(y[k]), origin, float(y[k] - before[k]) if origin in (GIVEN, GUESSED) else 0.0)
        )
    return tuple(values)


def _not_closed(numbers: StateNumbers, t: float, y: Vector, assembly: Assembly, given: Collection[str]) -> str:
    if assembly.half_turned:
        return (
            f"{numbers.equations.mechanism.name}: no state was found in which all constraints hold: "
            f"{_wrong_way(assembly)} at best. Turn one of its frames, or give coordinates nearer to a closed state."
        )
    worst = int(np.argmax(np.abs(assembly.residual)))
    constraint = numbers.programs.constraints[worst]
    gap = abs(assembly.residual[worst] * numbers.row_scales[worst])
    off = f"{constraint.name} is off by {gap:.4g} {constraint.unit.removesuffix('1')}".rstrip()
    others = [
        c.name
        for c, r in zip(numbers.programs.constraints, assembly.residual, strict=False)
        if c is not constraint and abs(r) > 1e-3 * abs(assembly.residual[worst])
    ]
    kept = [name for name in numbers.equations.layout.coordinate_names if name in given]
    name = numbers.equations.mechanism.name
    together = closed_from(numbers, t, y)
    if not kept or np.linalg.norm(together.residual) > 0.99 * np.linalg.norm(assembly.residual):
        beside = f" They contradict each other: {', '.join([constraint.name, *others])}." if others else ""
        return (
            f"{name}: no state was found in which all constraints hold: {off} at best.{beside} Change dimensions or "
            "drivers, remove one of them, or give coordinates nearer to a closed state; `within` after the joint or "
            "constraint allows more."
        )
    beside = f" (beside {', '.join(others)})" if others else ""
    return (
        f"{name}: the initial state violates the constraints. With {quoted(kept)} as given, {off} at best{beside}. "
        + _way_out(numbers, t, y, given, kept)
    )


def _wrong_way(assembly: Assembly) -> str:
    joints = quoted(assembly.half_turned)
    if len(assembly.half_turned) == 1:
        return f"joint {joints} meets its other side the wrong way round (half a turn off)"
    return f"joints {joints} meet their other sides the wrong way round (half a turn off)"


def _way_out(numbers: StateNumbers, t: float, y: Vector, given: Collection[str], kept: Sequence[str]) -> str:
    """The exact value that becomes a guess at the least price, in words."""
    names, scale = numbers.equations.layout.coordinate_names, coordinate_scales(numbers)
    prices = []
    for name in kept:
        others = {*given} - {name}
        freed = closed_from(numbers, t, y, others)
        if freed.is_nearly_closed:
            slot = names.index(name)
            prices.append((abs(freed.y[slot] - y[slot]) / scale[slot], name))
    if not prices:
        return (
            f"Make them guesses, such as '{kept[0]} about {y[names.index(kept[0])]:.4g}', give fewer, or other values."
        )
    name = min(prices)[1]
    return f"Make '{name}' a guess, '{name} about {y[names.index(name)]:.6g}', give fewer coordinates, or other values."
