"""What is asked of inverse kinematics: targets with weights and priorities, a posture, and how hard to try."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.robotics.reaching import PoseSearch, Reach, Task, target_of, towards_posture
from torseur.analysis.robotics.task_priorities import improve
from torseur.errors import TorseurError, unknown_name


@dataclass(frozen=True)
class Wishes:
    """Options of `Robot.ik`, which says what they mean."""

    weights: Mapping[str, float]
    priorities: Mapping[str, int]
    posture: Any
    starts: int
    tolerance: float
    seed: int


def inverse_kinematics(
    search_for: Callable[[tuple[str, ...]], PoseSearch], targets: Mapping[str, Any], start: Array, wishes: Wishes
) -> Reach:
    """Coordinates of all problems: the first priority by several starts, each further one in what those leave free."""
    if not targets:
        raise TorseurError("ik: no target is given. robot.ik({'hand': pose}).")
    for what, given in (("weights", wishes.weights), ("priorities", wishes.priorities)):
        for name in given:
            if name not in targets:
                raise TorseurError(unknown_name("target", name, targets, f"ik: {what}: "))
    if wishes.starts < 1:
        raise TorseurError(f"ik: starts is {wishes.starts}; expected 1 or more.")
    if not 0.0 < wishes.tolerance < math.inf:
        raise TorseurError(f"ik: tolerance is {wishes.tolerance:g}; expected a positive number (m and rad).")
    wanted = {name: target_of(name, value, float(wishes.weights.get(name, 1.0))) for name, value in targets.items()}
    counts = {target.count for target in wanted.values()}
    if len(counts) > 1:
        raise TorseurError(f"ik: the targets have different numbers of problems ({sorted(counts)}).")
    count = counts.pop()
    if np.ndim(start) == 2 and len(start) not in (1, count):
        raise TorseurError(
            f"ik: start has {len(start)} rows and the targets are of {count}: expected one start for each."
        )
    begin = np.ascontiguousarray(np.broadcast_to(start, (count, np.shape(start)[-1])))
    search = search_for(tuple(wanted))
    goals = np.concatenate([target.goals(count) for target in wanted.values()], axis=1)

    def above(level: float) -> Task:
        """What has at least this priority; loops are closed whatever else is given up."""
        return Task(search, goals, _weights(lambda name: wishes.priorities.get(name, 0) <= level, loops=1.0))

    def _weights(has_part: Callable[[str], bool], loops: float) -> Array:
        own = [w if has_part(name) else 0.0 for name, target in wanted.items() for w in target.weights]
        return np.array([*own, *[loops] * search.closures])

    first, *lower = sorted({wishes.priorities.get(name, 0) for name in wanted})
    found = above(first).reach(begin, wishes.starts, wishes.tolerance, wishes.seed)
    before = first
    for level in lower:
        own = _weights(lambda name, level=level: wishes.priorities.get(name, 0) == level, loops=0.0)  # type: ignore[misc]
        found = improve(above(before), Task(search, goals, own), search.among, found, wishes.tolerance)
        before = level
    if wishes.posture is not None:
        # Targets of lower priority that are not reached leave the posture nothing: it would draw them further away.
        found = towards_posture(above(before), search.among, found, wishes.posture, wishes.tolerance)
    if all(np.ndim(value) == len(_shape(value)) for value in targets.values()):
        return Reach(found.q[0], found.error[0], found.converged[0], found.starts, found.lower_errors[0])
    return found


def _shape(value: Any) -> tuple[int, ...]:
    """The shape of one target: of a position, a rotation, or both."""
    shape = np.shape(value)
    return shape[-2:] if len(shape) > 1 and shape[-2:] in ((3, 3), (4, 4)) else shape[-1:]
