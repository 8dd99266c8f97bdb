"""Inverse kinematics: coordinates within their limits that put frames of a robot where they are wanted.

The search is one compiled routine (pose_search.py). Here are its data: goals and weights of frames as arrays, the
starts that problems share, and answers as a user reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array, Mask, Slots
from torseur.algebra.graph import Program
from torseur.analysis.robotics.configurations import Configurations
from torseur.analysis.robotics.pose_search import PLACE, Aim, Answers, Problems, Space, States, linearise, search
from torseur.computation.codegen import CompiledRoutine, compile_routine
from torseur.computation.codegen.kernels.batch_kernel import in_pieces
from torseur.errors import TorseurError

ROUNDS = 60
PIECE = 64
"""Problems that a thread takes at a time: an interrupt waits for some milliseconds, not for thousands of problems."""


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


@dataclass(frozen=True)
class Target:
    """Where a frame should be: positions (N, 3), rotations (N, 3, 3), or both; and the weight of its errors."""

    position: Array | None
    rotation: Array | None
    weight: float = 1.0

    @property
    def count(self) -> int:
        """The number of problems."""
        part = self.rotation if self.position is None else self.position
        assert part is not None
        return len(part)

    @property
    def weights(self) -> list[float]:
        """The weights of the three errors of position and of the three of rotation."""
        own = (self.position is not None, self.rotation is not None)
        return [self.weight if is_wanted else 0.0 for is_wanted in own for _ in range(3)]

    def goals(self, count: int) -> Array:
        """A row per problem: the position, and the rotation matrix by rows; zeros for what is not wanted."""
        goals = np.zeros((count, PLACE))
        if self.position is not None:
            goals[:, :3] = self.position
        if self.rotation is not None:
            goals[:, 3:] = self.rotation.reshape(-1, 9)
        return goals


def target_of(name: str, value: Any, weight: float) -> Target:
    """The target that an array stands for: (3,) a position, (3, 3) a rotation, (4, 4) both; N in front: N of them."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise TorseurError(f"ik: the target of '{name}' must be an array of numbers, got {value!r}.") from None
    shape = array.shape[-2:] if array.ndim > 1 and array.shape[-2:] in ((3, 3), (4, 4)) else array.shape[-1:]
    if shape not in ((3,), (3, 3), (4, 4)) or array.ndim > len(shape) + 1:
        raise TorseurError(
            f"ik: the target of '{name}' has shape {array.shape}; expected (3,) for a position, (3, 3) for a rotation, "
            "(4, 4) for both, or N of them."
        )
    if not np.isfinite(array).all():
        raise TorseurError(f"ik: the target of '{name}' holds values that are not finite numbers.")
    if not (np.isfinite(weight) and weight >= 0):
        raise TorseurError(f"ik: weights: that of '{name}' is {weight:g}; expected a number of 0 or more.")
    array = array.reshape(-1, *shape)
    if shape == (3,):
        return Target(array, None, weight)
    rotation = array[:, :3, :3]
    if (
        np.abs(rotation @ np.swapaxes(rotation, 1, 2) - np.eye(3)).max(initial=0.0) > 1e-6
        or (np.linalg.det(rotation) < 0).any()
    ):
        raise TorseurError(
            f"ik: the target of '{name}' is no rotation (R Rᵀ = 1, determinant 1). Three positions "
            "at once look like one: ask for them one by one."
        )
    return Target(array[:, :3, 3] if shape == (4, 4) else None, rotation, weight)


class PoseSearch:
    """The search for places of some frames of a robot, compiled when it is first used.

    `kinematics` and `displaced` are the programs that pose_search.py names, `p` the parameters that they read.
    """

    def __init__(self, kinematics: Program, displaced: Program, among: Configurations, p: Array) -> None:
        self.programs = {"kinematics": kinematics, "displaced": displaced}
        self.among = among
        self.p = p if p.size else np.zeros(1)
        sizes = {output.name: output.shape for output in kinematics.outputs}
        freedoms = len(among.own)
        self.errors = sizes["rows"][0]
        self.closures = sizes["residuals"][0]
        self.statics = {
            "NQ": len(among.low),
            "NV": freedoms,
            "NF": sizes["places"][0] // PLACE,
            "NC": self.closures,
            "NB": len(among.quaternions),
        }
        slots = [slot for ball in among.quaternions for slot in ball]
        self._space = Space.bound(self.statics)()
        self._space.low[:], self._space.high[:] = among.low, among.high
        self._space.own[:], self._space.still[:], self._space.balls[:] = among.own, among.still, slots
        self._others: tuple[tuple[int, int], Array] = ((0, 0), np.empty((0, 0)))

    @cached_property
    def _search(self) -> CompiledRoutine:
        return compile_routine(search, self.statics, self.programs)

    @cached_property
    def _linearise(self) -> CompiledRoutine:
        return compile_routine(linearise, self.statics, self.programs)

    def solve(self, goals: Array, start: Array, aim: Any, seed: int) -> tuple[Array, Array, Slots]:
        """Of each problem the coordinates, the largest error there, and how many starts were tried."""
        count, size = len(goals), self.statics["NQ"]
        q, error, starts = np.empty((count, size)), np.empty(count), np.zeros(count, dtype=np.int64)
        problems = Problems.bound(self.statics)(goals, start, self._other_starts(aim.starts - 1, seed))
        answers = Answers.bound(self.statics)(q, error, starts)
        in_pieces(count, PIECE, lambda k, m: self._search(k, m, self.p, self._space, aim, problems, answers))
        return q, error, starts

    def _other_starts(self, count: int, seed: int) -> Array:
        key, table = self._others
        if key != (count, seed):
            rng = np.random.default_rng(seed)
            table = self.among.random(rng, max(count, 1))
            self._others = ((count, seed), table)
        return table

    def linearise(self, goals: Array, q: Array, aim: Any) -> tuple[Array, Array]:
        """Errors (N, m) and their rows (N, m, nv) at N states, each with its goal."""
        errors, rows = np.empty((len(q), self.errors)), np.empty((len(q), self.errors * self.statics["NV"]))
        states = States.bound(self.statics)(np.ascontiguousarray(q), goals, errors, rows)
        in_pieces(len(q), PIECE, lambda k, m: self._linearise(k, m, self.p, aim, states))
        return errors, rows.reshape(len(q), self.errors, -1)

    def aim(self, weights: Array, tolerance: float, starts: int) -> Any:
        """What is asked for, as the routine reads it."""
        made = Aim.bound(self.statics)(tolerance=tolerance, starts=starts)
        made.weights[:] = weights
        return made


@dataclass(frozen=True)
class Task:
    """Errors that are to vanish: those of all frames and loops with a weight."""

    search: PoseSearch
    goals: Array
    weights: Array

    @property
    def _wanted(self) -> Slots:
        return np.flatnonzero(self.weights)

    def equations(self, q: Array, of: Slots) -> tuple[Array, Array]:
        """Errors (N, m) at states of the problems `of`, and their rows (N, m, nv): J with error' = -J v."""
        aim = self.search.aim(self.weights, 0.0, 1)
        errors, rows = self.search.linearise(np.ascontiguousarray(self.goals[of]), q, aim)
        return errors[:, self._wanted], rows[:, self._wanted]

    def descend(self, start: Array, of: Slots, tolerance: float) -> tuple[Array, Array]:
        """Where each start leads, and the largest error there."""
        aim = self.search.aim(self.weights, tolerance, 1)
        goals = np.ascontiguousarray(self.goals[of])
        q, error, _ = self.search.solve(goals, np.ascontiguousarray(start), aim, 0)
        return q, error

    def reach(self, start: Array, starts: int, tolerance: float, seed: int) -> Reach:
        """Solutions of N problems, from `start` (N, n) and then from random starts, at most `starts` for each."""
        aim = self.search.aim(self.weights, tolerance, starts)
        q, error, used = self.search.solve(self.goals, start, aim, seed)
        return Reach(q, error, error <= tolerance, int(used.max(initial=0)), np.empty((len(q), 0)))


def towards_posture(task: Task, among: Configurations, found: Reach, posture: Array, tolerance: float) -> Reach:
    """The solutions moved towards a posture as far as the targets and limits leave them free."""
    q, of = found.q.copy(), np.arange(len(found.q))
    for _ in range(ROUNDS):
        rows = task.equations(q, of)[1]
        wish = among.towards(q, posture)
        free = wish - (np.linalg.pinv(rows, rcond=1e-6) @ (rows @ wish[..., None]))[..., 0]
        moved, error = task.descend(among.advance(q, 0.5 * free), of, tolerance)
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
