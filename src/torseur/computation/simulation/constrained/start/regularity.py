"""Which constraints the solver works with, and what they usually add to each other.

Where constraints are redundant, as many are selected as are independent: the others follow from them. The selection
holds until it becomes a bad one, as do independent speeds. What a constraint usually adds to those before it tells a
passing singularity from one that depends on the others forever. A motion may start in a singular configuration, so its
neighbours are asked too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.constrained.start.position_assembly import closed_from
from torseur.computation.simulation.model.system import Vector

DEPENDENT = 1e-8  # sine of the angle to the constraints before, below which one depends on them
VANISHED = 1e-11  # part of the largest constraint, in the mass metric, that counts as nothing
GOOD = 0.1  # the same, from which a constraint is selected in its turn
REGULAR = 1e-3  # part of the largest volume that the constraints span above which a state is regular
BETTER = 2.0  # how much better another selection must be
NEIGHBOURS = 3
STEP = 0.3  # length of the move to a neighbour, in units of the mechanism


def usual_sizes(numbers: StateNumbers, t: float, y: Vector) -> Vector:
    """For each selected constraint, the largest it adds to those before it at a state and its neighbours; 0 for others.

    Lengths in the mass metric.
    """
    states = (y, *neighbours(numbers, t, y))
    rows = [whitened(numbers, t, state) for state in states]
    selections = [selected_by(numbers, each) for each in rows]
    rank = max(len(selection) for selection in selections)
    volumes = [_volume(r, s) if len(s) == rank else 0.0 for r, s in zip(rows, selections, strict=True)]
    best = 0 if volumes[0] > REGULAR * max(volumes) else int(np.argmax(volumes))
    return _largest(numbers, rows, selections[best])


def usual_pivots(numbers: StateNumbers, t: float, y: Vector, usual: Vector) -> Vector:
    """The same lengths where bodies and loops are eliminated: what a constraint adds to those eliminated before it."""
    selected = usual > 0.0
    given = {"sizes": selected.astype(float), "least": np.zeros(1)}
    program = numbers.programs.elimination.pivots
    left = [numbers.of(program, t, state, **given)["left"] for state in (y, *neighbours(numbers, t, y))]
    return np.where(selected, np.sqrt(np.maximum(np.max(left, axis=0), 0.0)), 0.0)


def other_sizes(numbers: StateNumbers, t: float, y: Vector, usual: Vector) -> Vector | None:
    """The same for a better selection at a state; None when there is none."""
    rows, before = whitened(numbers, t, y), np.flatnonzero(usual > 0.0).tolist()
    selection = selected_by(numbers, rows)
    if selection == before or len(selection) != len(before):
        return None
    if _volume(rows, selection) < BETTER * _volume(rows, before):
        return None
    return _largest(numbers, [rows, *(whitened(numbers, t, s) for s in neighbours(numbers, t, y))], selection)


def _largest(numbers: StateNumbers, states: Sequence[Vector], selection: Sequence[int]) -> Vector:
    # At its best: at a singular start a row adds nothing, beside it what it usually does.
    largest: Vector = np.max([sizes_added(rows, selection) for rows in states], axis=0)
    return largest * numbers.row_scales


def whitened(numbers: StateNumbers, t: float, y: Vector) -> Vector:
    """The constraints at a state in the mass metric, one row each, in units of the mechanism."""
    rows = numbers.of(numbers.programs.velocities, t, y)["rows"] * numbers.scales
    result: Vector = np.linalg.solve(np.linalg.cholesky(numbers.metric(t, y, rows)), rows.T).T
    return result / numbers.row_scales[:, None]


def selected_by(numbers: StateNumbers, rows: Vector, vanished: float = VANISHED) -> list[int]:
    """Independent constraints, less those that are independent by the rounding of dimensions only."""
    return _select(rows, numbers.negligible(vanished), numbers.negligible(DEPENDENT))


def _select(rows: Vector, vanished: float, dependent: float) -> list[int]:
    """Independent constraints: in their order while they are good, then the best of the others."""
    lengths, rest = np.linalg.norm(rows, axis=1), rows
    chosen: list[int] = []
    # Two passes: in the order of the description while a row leaves much of itself, then the largest remainder. By size
    # alone rounding would decide between rows that are alike.
    for limit in (GOOD * lengths.max(initial=0.0), 0.0):
        while len(chosen) < len(rows):
            left = np.linalg.norm(rest, axis=1)
            left[(left <= dependent * lengths) | (left <= vanished * lengths.max())] = 0.0
            left[chosen] = 0.0
            good = np.flatnonzero(left > limit)
            if not len(good):
                break
            best = int(good[0] if limit > 0.0 else np.argmax(left))
            unit = rest[best] / left[best]
            for _ in range(2):
                rest = rest - np.outer(rest @ unit, unit)
            chosen.append(best)
    return sorted(chosen)


def sizes_added(rows: Vector, selection: Sequence[int]) -> Vector:
    """Length of the part of each selected row across the selected ones before it; 0 where there is none."""
    units, count = np.zeros((len(selection), rows.shape[1])), 0
    added = np.zeros(len(rows))
    for k in selection:
        rest = rows[k]
        for _ in range(2):
            rest = rest - units[:count].T @ (units[:count] @ rest)
        size = np.linalg.norm(rest)
        if size > DEPENDENT * np.linalg.norm(rows[k]):
            added[k], units[count] = size, rest / size
            count += 1
    return added


def _volume(rows: Vector, selection: Sequence[int]) -> float:
    """Volume that the selected rows span, in units of the largest row."""
    lengths = sizes_added(rows, selection)[list(selection)]
    return float(np.prod(lengths / np.linalg.norm(rows, axis=1).max(initial=1e-300)))


def regular_state(numbers: StateNumbers, t: float, y: Vector, selection: Sequence[int]) -> Vector:
    """The state itself, or a neighbour where it is singular."""
    states = [y, *neighbours(numbers, t, y)]
    volumes = [_volume(whitened(numbers, t, state), selection) for state in states]
    return y if volumes[0] > REGULAR * max(volumes) else states[int(np.argmax(volumes))]


def neighbours(numbers: StateNumbers, t: float, y: Vector) -> list[Vector]:
    """Closed states not far away, reached by moves that the constraints allow."""
    _, derivatives = numbers.closure(t, y)
    _, sizes, directions = np.linalg.svd(derivatives)
    rank = int(np.sum(sizes > numbers.negligible(DEPENDENT) * sizes.max(initial=0.0)))
    # The same neighbours on every run.
    allowed, random = directions[rank:], np.random.default_rng(0)
    states = []
    for _ in range(NEIGHBOURS if len(allowed) else 0):
        move = random.standard_normal(len(allowed)) @ allowed
        moved = numbers.moved(t, y, STEP * move / np.linalg.norm(move))
        closed = closed_from(numbers, t, moved)
        if closed.is_nearly_closed:
            states.append(closed.y)
    return states
