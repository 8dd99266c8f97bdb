"""What is asked of inverse kinematics: targets with weights and priorities, a posture, and how hard to try."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.robotics.configurations import Configurations
from torseur.analysis.robotics.reaching import Reach, Target, Task, reach, target_of, towards_posture
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
    functions: Callable[[str], tuple[Any, Any]],
    among: Configurations,
    targets: Mapping[str, Any],
    start: Array,
    wishes: Wishes,
) -> Reach:
    """Coordinates of all problems: the first priority by several starts, each further one in what those leave free."""
    if not targets:
        raise TorseurError("ik: no target is given. robot.ik({'hand': pose}).")
    for what, given in (("weights", wishes.weights), ("priorities", wishes.priorities)):
        for name in given:
            if name not in targets:
                raise TorseurError(unknown_name("target", name, targets, f"ik: {what}: "))
    wanted = {
        name: target_of(name, value, float(wishes.weights.get(name, 1.0)), functions(name))
        for name, value in targets.items()
    }
    begin = np.broadcast_to(np.asarray(start, dtype=float), (_problems(wanted), np.shape(start)[-1]))
    levels = sorted({wishes.priorities.get(name, 0) for name in wanted})
    tasks: list[dict[str, Task]] = [
        {n: t for n, t in wanted.items() if wishes.priorities.get(n, 0) == level} for level in levels
    ]
    if among.closure is not None:  # loops are closed whatever else is given up
        tasks[0] = {**tasks[0], "loops": among.closure}
    found = reach(tasks[0], among, begin, wishes.starts, wishes.tolerance, wishes.seed)
    above = tasks[0]
    for task in tasks[1:]:
        found = improve(above, task, among, found, wishes.tolerance)
        above = above | task
    if wishes.posture is not None:
        posture = np.asarray(wishes.posture, dtype=float)
        # Targets of lower priority that are not reached leave the posture nothing: it would draw them further away.
        found = towards_posture(above, among, found, posture, wishes.tolerance)
    if all(np.ndim(value) == len(_shape(value)) for value in targets.values()):
        return Reach(found.q[0], found.error[0], found.converged[0], found.starts, found.lower_errors[0])
    return found


def _problems(wanted: Mapping[str, Target]) -> int:
    given = [part for target in wanted.values() for part in (target.position, target.rotation) if part is not None]
    counts = {len(part) for part in given}
    if len(counts) > 1:
        raise TorseurError(f"ik: the targets have different numbers of problems ({sorted(counts)}).")
    return counts.pop()


def _shape(value: Any) -> tuple[int, ...]:
    """The shape of one target: of a position, a rotation, or both."""
    shape = np.shape(value)
    return shape[-2:] if len(shape) > 1 and shape[-2:] in ((3, 3), (4, 4)) else shape[-1:]
