"""The state in which a constrained motion starts: what is given is kept, the rest follows from the constraints.

Given values that miss the constraints slightly are moved onto them, which is said; otherwise they are refused.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.constrained.start.position_assembly import (
    CLOSED,
    Assembly,
    Mask,
    assemble,
    closed_from,
)
from torseur.computation.simulation.model.system import Vector
from torseur.errors import TorseurError

SLIGHT = 1e-2  # largest move of given values, in units of the mechanism or of the fastest speed
SILENT = 1e-9  # move of given values that is not worth a word
INDEPENDENT = 1e-9  # part of the largest singular value above which a constraint says something new
TOUCHES = 1e-9  # part of a unit speed by which a rate counts as moved
SAME_ACCELERATION = 1e-7  # of the size of accelerations, up to which constraints agree on them
AT_REST = 1e-60  # size of accelerations, in units of the mechanism, that are none: their digits are lost


@dataclass(frozen=True)
class Consistent:
    """A state on the constraints, and what has to be said about it."""

    y: Vector
    notes: tuple[str, ...] = ()


def consistent_state(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> Consistent:
    """The state on the constraints nearest to what is given."""
    return moving_state(numbers, t, closed_state(numbers, t, y, given), given)


def moving_state(numbers: StateNumbers, t: float, closed: Consistent, given: Collection[str]) -> Consistent:
    """A closed state with the speeds nearest to what is given that the constraints allow."""
    velocity = _velocities(numbers, t, closed.y, given)
    _require_accelerations(numbers, t, velocity.y)
    return Consistent(velocity.y, closed.notes + velocity.notes)


def closed_state(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> Consistent:
    """The state with the positions nearest to what is given in which all loops are closed."""
    found = assemble(numbers, t, y, given)
    if found.is_closed:
        if found.start == 0:
            return Consistent(found.y)
        return Consistent(found.y, ("The loops were closed from a guess: give more coordinates for another assembly.",))
    moved = closed_from(numbers, t, y, np.ones(len(numbers.scales), dtype=bool))
    names = numbers.equations.layout.coordinate_names
    scale = coordinate_scales(numbers)
    shift = (moved.y - y)[: len(names)] / scale
    if not moved.is_closed or np.abs(shift).max() > SLIGHT:
        raise TorseurError(_not_closed(numbers, found, given))
    return Consistent(moved.y, _said("coordinates", names, y, moved.y, np.abs(shift)))


def coordinate_scales(numbers: StateNumbers) -> Vector:
    """Sizes that moves of the coordinates are compared with."""
    units = [q.data.unit for q in numbers.equations.layout.coordinates]
    return np.array([numbers.length if unit == "m" else 1.0 for unit in units])


def _not_closed(numbers: StateNumbers, found: Assembly, given: Collection[str]) -> str:
    worst = int(np.argmax(np.abs(found.residual)))
    constraint = numbers.programs.constraints[worst]
    gap = abs(found.residual[worst] * numbers.row_scales[worst])
    off = f"{constraint.name} is off by {gap:.4g} {constraint.unit.removesuffix('1')}".rstrip()
    others = [
        c.name
        for c, r in zip(numbers.programs.constraints, found.residual, strict=False)
        if c is not constraint and abs(r) > 1e-3 * abs(found.residual[worst])
    ]
    kept = [name for name in numbers.equations.layout.coordinate_names if name in given]
    name = numbers.equations.mechanism.name
    if not kept:
        beside = f" They contradict each other: {', '.join([constraint.name, *others])}." if others else ""
        return (
            f"{name}: no state was found in which all constraints hold: {off} at best.{beside} Change dimensions or "
            "drivers, remove one of them, or give coordinates nearer to a closed state."
        )
    beside = f" (beside {', '.join(others)})" if others else ""
    return (
        f"{name}: the initial state violates the constraints. With {_quoted(kept)} as given, {off} at best{beside}. "
        "Give fewer coordinates, or other values: `torseur loops`, or assemble, closes the loops near rough ones."
    )


def _velocities(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> Consistent:
    found = numbers.of(numbers.programs.velocities, t, y)
    rows = found["rows"] * numbers.scales
    v = y[numbers.coordinates :] / numbers.scales
    target = -found["drift"] - rows @ v
    metric = numbers.metric(t, y, rows)
    change = _smallest(metric, rows, target, free_speeds(numbers, t, y, given))
    fastest = max(np.abs(v).max(initial=0.0), np.abs(found["drift"] / numbers.row_scales).max(initial=0.0), 1e-300)
    missed = target - rows @ change
    notes: tuple[str, ...] = ()
    if np.abs(missed / numbers.row_scales).max(initial=0.0) > CLOSED * (1.0 + fastest):
        change = _smallest(metric, rows, target, np.ones(len(v), dtype=bool))
        missed = target - rows @ change
        names = numbers.equations.layout.speed_names
        if np.abs(missed / numbers.row_scales).max() > CLOSED * (1.0 + fastest):
            raise TorseurError(_contradiction(numbers, rows, missed, "velocities"))
        if np.abs(change).max() > SLIGHT * fastest:
            raise TorseurError(_wrong_speeds(numbers, found["drift"] + rows @ v, given))
        after = (v + change) * numbers.scales
        notes = _said("speeds", names, y[numbers.coordinates :], after, np.abs(change) / fastest)
    result = y.copy()
    result[numbers.coordinates :] = (v + change) * numbers.scales
    return Consistent(result, notes)


def _smallest(metric: Vector, rows: Vector, target: Vector, free: Mask) -> Vector:
    """The smallest change of the free speeds that makes rows @ change the target, or comes nearest to it."""
    change = np.zeros(len(free))
    if free.any():
        factor = np.linalg.cholesky(metric[np.ix_(free, free)])
        whitened = np.linalg.solve(factor, rows[:, free].T).T
        answer = np.linalg.lstsq(whitened, target, rcond=INDEPENDENT)[0]
        change[free] = np.linalg.solve(factor.T, answer)
    return change


def free_speeds(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> Mask:
    """Speeds that nobody gives, nor a rate that they move."""
    layout = numbers.equations.layout
    rates = [slot for slot, rate in enumerate(layout.rates) if rate.name in given]
    fixed = np.any(np.abs(numbers.reach(t, y)[rates]) > TOUCHES, axis=0)
    return ~(fixed | np.array([name in given for name in layout.speed_names]))


def _wrong_speeds(numbers: StateNumbers, slip: Vector, given: Collection[str]) -> str:
    worst = int(np.argmax(np.abs(slip / numbers.row_scales)))
    constraint, layout = numbers.programs.constraints[worst], numbers.equations.layout
    kept = [name for name in (*layout.speed_names, *(str(r.name) for r in layout.rates)) if name in given]
    return (
        f"{numbers.equations.mechanism.name}: the initial speeds violate the constraints: {constraint.name} changes at "
        f"{abs(slip[worst]):.4g} per second with {_quoted(list(dict.fromkeys(kept)))} as given. Give fewer speeds, "
        "or other values."
    )


def _require_accelerations(numbers: StateNumbers, t: float, y: Vector) -> None:
    """Refuses constraints that agree on positions and velocities but not on accelerations."""
    found = numbers.of(numbers.programs.dynamics, t, y)
    rows, gamma = found["rows"] * numbers.scales, found["gamma"]
    metric = numbers.metric(t, y, rows)
    missed = gamma - rows @ _smallest(metric, rows, gamma, np.ones(len(numbers.scales), dtype=bool))
    fastest = np.abs(y[numbers.coordinates :] / numbers.scales).max(initial=0.0)
    size = AT_REST + np.abs(gamma).max(initial=0.0) + fastest**2 * np.abs(rows).max(initial=0.0)
    if np.abs(missed).max(initial=0.0) > SAME_ACCELERATION * size:
        raise TorseurError(_contradiction(numbers, rows, missed, "accelerations"))


def _contradiction(numbers: StateNumbers, rows: Vector, missed: Vector, level: str) -> str:
    guilty = np.abs(missed) > 1e-3 * np.abs(missed).max()
    names = [c.name for c, wrong in zip(numbers.programs.constraints, guilty, strict=True) if wrong]
    return (
        f"{numbers.equations.mechanism.name}: {' and '.join(names)} contradict each other: they ask for different "
        f"{level} of the same motion at the start. Remove or correct one of them."
    )


def _said(what: str, names: Sequence[str], before: Vector, after: Vector, shift: Vector) -> tuple[str, ...]:
    worst = int(np.argmax(shift))
    if shift[worst] <= SILENT:
        return ()
    return (
        f"The initial {what} were moved onto the constraints, most of all '{names[worst]}' from {before[worst]:.9g} to "
        f"{after[worst]:.9g}.",
    )


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
