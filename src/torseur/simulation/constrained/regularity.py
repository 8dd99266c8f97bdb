"""What the constraints usually add to each other: it tells a passing singularity from constraints that depend forever.

A motion may start in a singular configuration, so its neighbours are asked too.
"""

from __future__ import annotations

import numpy as np

from torseur.simulation.constrained.assembly import closed_from
from torseur.simulation.constrained.numbers import StateNumbers
from torseur.simulation.system import Vector

DEPENDENT = 1e-8  # sine of the angle to the constraints before, below which one depends on them
REGULAR = 1e-3  # part of what a constraint usually adds above which a state is regular
NEIGHBOURS = 3
STEP = 0.3  # length of the move to a neighbour, in units of the mechanism


def usual_sizes(numbers: StateNumbers, t: float, y: Vector) -> Vector:
    """For each constraint, the largest it adds to those before it at a state and its neighbours, in the mass metric."""
    largest: Vector = np.max([sizes_added(numbers, t, state) for state in (y, *_neighbours(numbers, t, y))], axis=0)
    return largest


def sizes_added(numbers: StateNumbers, t: float, y: Vector) -> Vector:
    """Length of the part of each constraint across those before it, in the mass metric; 0 where it depends on them."""
    rows = numbers.of(numbers.programs.velocities, t, y)["rows"] * numbers.scales
    whitened = np.linalg.solve(np.linalg.cholesky(numbers.metric(t, y, rows)), rows.T).T
    units: list[Vector] = []
    added = np.zeros(len(rows))
    for k, row in enumerate(whitened):
        rest = row
        for _ in range(2):
            for unit in units:
                rest = rest - (unit @ rest) * unit
        size = np.linalg.norm(rest)
        if size > DEPENDENT * np.linalg.norm(row):
            added[k] = size
            units.append(rest / size)
    return added


def regular_state(numbers: StateNumbers, t: float, y: Vector) -> Vector:
    """The state itself, or a neighbour where it is singular."""
    states = [y, *_neighbours(numbers, t, y)]
    sizes = [sizes_added(numbers, t, state) for state in states]
    usual = np.max(sizes, axis=0)
    worst = [np.min(np.where(usual > 0.0, size / np.maximum(usual, 1e-300), 1.0), initial=1.0) for size in sizes]
    return y if worst[0] > REGULAR else states[int(np.argmax(worst))]


def added_size(numbers: StateNumbers, t: float, y: Vector, before: Vector, row: Vector) -> float:
    """Length of the part of a scaled row across others, in the mass metric of the lasting constraints."""
    own = numbers.of(numbers.programs.velocities, t, y)["rows"] * numbers.scales
    factor = np.linalg.cholesky(numbers.metric(t, y, own))
    whitened, others = np.linalg.solve(factor, row), np.linalg.solve(factor, before.T)
    rest = whitened - others @ np.linalg.lstsq(others, whitened, rcond=DEPENDENT)[0]
    return float(np.linalg.norm(rest))


def _neighbours(numbers: StateNumbers, t: float, y: Vector) -> list[Vector]:
    """Closed states not far away, reached by moves that the constraints allow."""
    _, slopes = numbers.closure(t, y)
    _, sizes, directions = np.linalg.svd(slopes)
    rank = int(np.sum(sizes > DEPENDENT * sizes.max(initial=0.0)))
    allowed, random = directions[rank:], np.random.default_rng(0)
    anything = np.ones(len(numbers.scales), dtype=bool)
    found = []
    for _ in range(NEIGHBOURS if len(allowed) else 0):
        move = random.standard_normal(len(allowed)) @ allowed
        moved = numbers.moved(t, y, STEP * move / np.linalg.norm(move))
        closed = closed_from(numbers, t, moved, anything)
        if closed.is_closed:
            found.append(closed.y)
    return found
