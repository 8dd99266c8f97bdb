"""Targets of lower priority: approached as far as those above and the limits leave motions free, and no further.

A step of a lower task is taken in the null space of the rows J of all tasks above, N = 1 - J⁺ J, and the tasks above
are then met again exactly; it counts only where they are (strict priorities: Siciliano and Slotine 1991).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.analysis.robotics.configurations import Configurations
from torseur.analysis.robotics.pose_search import DAMPING, HOPELESS, LARGEST_STEP, LEAST_DAMPING
from torseur.analysis.robotics.reaching import Reach, Task

ROUNDS = 100
WORTH = 1e-12
"""Relative improvement of the squared error below which a task has come to its end."""


def improve(above: Task, task: Task, among: Configurations, found: Reach, tolerance: float) -> Reach:
    """The solutions with the errors of a task made as small as the tasks above it allow."""
    q = found.q.copy()
    error = task.equations(q, np.arange(len(q)))[0]
    damping = np.full(len(q), DAMPING)
    going = found.converged.copy()
    for _ in range(ROUNDS):
        at = np.flatnonzero(going & (np.abs(error).max(axis=1) > tolerance) & (damping < HOPELESS))
        if not len(at):
            break
        (_, upper), (_, own) = above.equations(q[at], at), task.equations(q[at], at)
        step = _step(upper, own, error[at], damping[at], q[at], among)
        tried, missed = above.descend(among.advance(q[at], step), at, tolerance)
        after = task.equations(tried, at)[0]
        before, now = (error[at] ** 2).sum(axis=1), (after**2).sum(axis=1)
        is_better = (missed <= tolerance) & (now < before)
        good = at[is_better]
        q[good], error[good] = tried[is_better], after[is_better]
        damping[at] = np.maximum(damping[at] * np.where(is_better, 0.2, 5.0), LEAST_DAMPING)
        going[at[is_better & (before - now <= WORTH * before)]] = False
    missing = np.where(found.converged, np.abs(error).max(axis=1), np.inf)
    return replace(found, q=q, lower_errors=np.column_stack([found.lower_errors, missing]))


def _step(above: Array, rows: Array, error: Array, damping: Array, q: Array, among: Configurations) -> Array:
    """The step of a task in the null space of those above; coordinates that would leave their limits are held."""
    count, freedoms = len(q), rows.shape[2]
    held: Mask = np.zeros((count, freedoms), dtype=bool)
    change = np.zeros((count, freedoms))
    # What is held changes the null space, and with it what others would do: twice is enough to see most of it.
    for _ in range(3):
        upper, own = np.where(held[:, None], 0.0, above), np.where(held[:, None], 0.0, rows)
        free = np.eye(freedoms) - np.linalg.pinv(upper, rcond=1e-8) @ upper
        free = np.where(held[:, None], 0.0, np.where(held[..., None], 0.0, free))
        own = own @ free
        normal = np.swapaxes(own, 1, 2) @ own + damping[:, None, None] * np.eye(freedoms)
        change = np.linalg.solve(normal, np.einsum("kij,ki->kj", own, error)[..., None])[..., 0]
        change = np.einsum("kij,kj->ki", free, change)
        leaving = among.leaving(q, change)
        if not (leaving & ~held).any():
            break
        held |= leaving
    size = np.maximum(np.abs(change).max(axis=1), 1e-300)
    return change * np.minimum(1.0, LARGEST_STEP / size)[:, None]
