"""Inverse kinematics: coordinates within their limits that put frames of a robot where they are wanted.

Levenberg and Marquardt's method on the errors of position (m) and rotation (rad, the vector of R_target Rᵀ) and on what
is missing until loops are closed, all problems and all starts in one array. A coordinate at a limit that the step would
leave is held there. What does not arrive from the given start is tried from random ones within the limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from torseur.algebra.arrays import Array, Mask, Slots
from torseur.analysis.robotics.configurations import Configurations
from torseur.errors import TorseurError

ROUNDS = 60
FEWEST_STARTS = 8
LARGEST_STEP = 1.0
DAMPING, LEAST_DAMPING, HOPELESS = 1e-2, 1e-12, 1e8


@dataclass(frozen=True)
class Reach:
    """Coordinates found, one row per problem where there are several.

    `error` is the largest of the position errors (m) and rotation errors (rad), weighted; `converged` where it is below
    the tolerance. `starts` counts the starts that were used. Both are of the first priority; `lower_errors` are the
    largest errors of the targets of each lower one.
    """

    q: Array
    error: Array
    converged: Mask
    starts: int
    lower_errors: Array


class Task(Protocol):
    """Errors (N, m) that are to vanish at the problems `of`, and their rows (N, m, nv): J with error' = -J v."""

    def errors(self, q: Array, of: Slots) -> Array: ...

    def rows(self, q: Array) -> Array: ...


@dataclass(frozen=True)
class Target:
    """Where a frame should be: positions (N, 3), rotations (N, 3, 3), or both; and the weight of its errors."""

    place: Callable[[Array], Array]
    jacobian: Callable[[Array], Array]
    position: Array | None
    rotation: Array | None
    weight: float = 1.0

    def errors(self, q: Array, of: Slots) -> Array:
        """What is missing to the targets of the problems `of`, in earth axes."""
        from scipy.spatial.transform import Rotation

        place, parts = self.place(q), []
        if self.position is not None:
            parts.append(self.position[of] - place[:, :3, 3])
        if self.rotation is not None:
            parts.append(Rotation.from_matrix(self.rotation[of] @ np.swapaxes(place[:, :3, :3], 1, 2)).as_rotvec())
        return self.weight * np.concatenate(parts, axis=1)

    def rows(self, q: Array) -> Array:
        """The rows of the Jacobian that go with the errors."""
        jacobian = self.jacobian(q)
        kept = [jacobian[:, part] for part, wanted in ((slice(0, 3), self.position), (slice(3, 6), self.rotation))
                if wanted is not None]  # fmt: skip
        return self.weight * np.concatenate(kept, axis=1)


def target_of(name: str, value: Any, weight: float, functions: tuple[Any, Any]) -> Target:
    """The target that an array stands for: (3,) a position, (3, 3) a rotation, (4, 4) both; N in front: N of them."""
    array = np.asarray(value, dtype=float)
    shape = array.shape[-2:] if array.ndim > 1 and array.shape[-2:] in ((3, 3), (4, 4)) else array.shape[-1:]
    if shape not in ((3,), (3, 3), (4, 4)) or array.ndim > len(shape) + 1:
        raise TorseurError(
            f"ik: the target of '{name}' has shape {array.shape}; expected (3,) for a position, (3, 3) for a rotation, "
            "(4, 4) for both, or N of them."
        )
    array = array.reshape(-1, *shape)
    if shape == (3,):
        return Target(*functions, array, None, weight)
    rotation = array[:, :3, :3]
    if np.abs(rotation @ np.swapaxes(rotation, 1, 2) - np.eye(3)).max() > 1e-6 or (np.linalg.det(rotation) < 0).any():
        raise TorseurError(
            f"ik: the target of '{name}' is no rotation (R Rᵀ = 1, determinant 1). Three positions "
            "at once look like one: ask for them one by one."
        )
    return Target(*functions, array[:, :3, 3] if shape == (4, 4) else None, rotation, weight)


def reach(
    targets: Mapping[str, Task], among: Configurations, start: Array, starts: int, tolerance: float, seed: int
) -> Reach:
    """Solutions of N problems, from `start` (N, n) and then from random starts, at most `starts` in all for each."""
    count = len(start)
    rng = np.random.default_rng(seed)
    best, least = among.admissible(start), np.full(count, np.inf)
    open_ones, used, wave = np.arange(count), 0, best
    while len(open_ones) and used < starts:
        of = np.repeat(open_ones, len(wave) // len(open_ones))
        q, error = descend(targets, among, wave, of, tolerance)
        # The best start of each problem: sorted by error, the first of each.
        order = np.argsort(error, kind="stable")
        problems, first = np.unique(of[order], return_index=True)
        better = error[order[first]] < least[problems]
        best[problems[better]] = q[order[first[better]]]
        least[problems[better]] = error[order[first[better]]]
        used += len(wave) // len(open_ones)
        open_ones = np.flatnonzero(least > tolerance)
        tries = min(FEWEST_STARTS, starts - used)
        wave = among.random(rng, np.repeat(start[open_ones], max(tries, 0), axis=0))
    return Reach(best, least, least <= tolerance, used, np.empty((count, 0)))


def rows_of(targets: Mapping[str, Task], q: Array) -> Array:
    """The rows of all targets' Jacobians."""
    return np.concatenate([target.rows(q) for target in targets.values()], axis=1)


def errors_of(targets: Mapping[str, Task], q: Array, of: Slots) -> Array:
    """What is missing to all targets of the problems `of`."""
    return np.concatenate([target.errors(q, of) for target in targets.values()], axis=1)


def descend(
    targets: Mapping[str, Task], among: Configurations, start: Array, of: Slots, tolerance: float
) -> tuple[Array, Array]:
    """Where each start leads, and the largest error there."""
    q, error = start.copy(), errors_of(targets, start, of)
    damping = np.full(len(q), DAMPING)
    for _ in range(ROUNDS):
        size = np.abs(error).max(axis=1)
        done = np.unique(of[size <= tolerance])
        at = np.flatnonzero((size > tolerance) & (damping < HOPELESS) & ~np.isin(of, done))
        if not len(at):
            break
        tried = among.advance(q[at], _step(rows_of(targets, q[at]), error[at], damping[at], q[at], among))
        after = errors_of(targets, tried, of[at])
        is_better = (after**2).sum(axis=1) < (error[at] ** 2).sum(axis=1)
        good = at[is_better]
        q[good], error[good] = tried[is_better], after[is_better]
        damping[at] = np.maximum(damping[at] * np.where(is_better, 0.2, 5.0), LEAST_DAMPING)
    return q, np.abs(error).max(axis=1)


def _step(rows: Array, error: Array, damping: Array, q: Array, among: Configurations) -> Array:
    """(Jᵀ J + λ) dπ = Jᵀ e, without the coordinates that would leave their limits."""
    held = among.leaving(q, np.einsum("kij,ki->kj", rows, error))
    rows = np.where(held[:, None, :], 0.0, rows)
    normal = np.swapaxes(rows, 1, 2) @ rows + damping[:, None, None] * np.eye(rows.shape[2])
    change = np.linalg.solve(normal, np.einsum("kij,ki->kj", rows, error)[..., None])[..., 0]
    change *= np.minimum(1.0, LARGEST_STEP / np.maximum(np.abs(change).max(axis=1), 1e-300))[:, None]
    return change


def towards_posture(
    targets: Mapping[str, Task], among: Configurations, found: Reach, posture: Array, tolerance: float
) -> Reach:
    """The solutions moved towards a posture as far as the targets and limits leave them free."""
    q, of = found.q.copy(), np.arange(len(found.q))
    for _ in range(ROUNDS):
        rows = rows_of(targets, q)
        wish = among.towards(q, posture)
        free = wish - (np.linalg.pinv(rows, rcond=1e-6) @ (rows @ wish[..., None]))[..., 0]
        moved, error = descend(targets, among, among.advance(q, 0.5 * free), of, tolerance)
        distance, before = (np.linalg.norm(among.away(at, posture), axis=1) for at in (moved, q))
        nearer = (error <= tolerance) & (distance < before)
        if not nearer.any():
            break
        q[nearer] = moved[nearer]
    return replace(found, q=np.where(found.converged[:, None], q, found.q))


def along_path(
    solve: Callable[..., Reach], targets: Mapping[str, Any], start: Any, options: Mapping[str, Any]
) -> Reach:
    """The solutions of N targets one after the other, each from the one before; they end where one fails."""
    paths = {name: np.asarray(value, dtype=float) for name, value in targets.items()}
    count = min((len(path) for path in paths.values()), default=0)
    if not count:
        raise TorseurError("ik_path: no targets are given. robot.ik_path({'hand': poses}), poses of shape (N, 4, 4).")
    reached: list[Reach] = []
    for k in range(count):
        # Only the first may be looked for elsewhere: a path that jumps is none.
        only = {} if k == 0 else {"starts": 1}
        reached.append(solve({name: path[k] for name, path in paths.items()}, start, **{**options, **only}))
        if not reached[-1].converged:
            break
        start = reached[-1].q
    missing = count - len(reached)
    q = np.array([r.q for r in reached] + [reached[-1].q] * missing)
    errors = np.array([float(r.error) for r in reached] + [np.inf] * missing)
    done = np.array([bool(r.converged) for r in reached] + [False] * missing)
    lower = np.array([r.lower_errors for r in reached] + [np.full_like(reached[0].lower_errors, np.inf)] * missing)
    return Reach(q, errors, done, reached[0].starts, lower)
