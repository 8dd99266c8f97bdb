"""The configurations of a robot as inverse kinematics moves among them: limits, unit quaternions, closed loops.

A step is a displacement along the speeds, δq = W(q) δπ with q' = W(q) v, so that a turn of a quaternion is three
numbers like any turn, and the rows of Jacobians fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array, Mask, Slots
from torseur.algebra.graph import Program
from torseur.analysis.robotics.robot_functions import direction_program
from torseur.derivation.equations import Equations
from torseur.derivation.formalisms.ingredients.coordinate_rates import Rates
from torseur.errors import TorseurError, unknown_name

UNBOUNDED = np.pi
"""Random starts of coordinates without limits are within a half turn (or metre) of zero."""


@dataclass(frozen=True)
class Configurations:
    """Coordinates between `low` and `high`, and how the speeds move them.

    `directions` gives W (N, nq, nv); None where every speed is the rate of the coordinate of the same number.
    `own` has the coordinate whose rate a speed is, -1 for the others; `quaternions` the slots of each quaternion, and
    `still` marks coordinates that no speed moves (activations of muscles).
    """

    low: Array
    high: Array
    own: Slots
    quaternions: tuple[Slots, ...]
    still: Mask
    directions: Callable[[Array], Array] | None

    def advance(self, q: Array, step: Array) -> Array:
        """The configurations after displacements (N, nv), within the limits."""
        if self.directions is None:
            return np.clip(q + step, self.low, self.high)
        return self.admissible(q + np.einsum("kij,kj->ki", self.directions(q), step))

    def admissible(self, q: Array) -> Array:
        """Coordinates cut at their limits, and quaternions of length one."""
        q = np.clip(q, self.low, self.high)
        for slots in self.quaternions:
            length = np.linalg.norm(q[:, slots], axis=1, keepdims=True)
            q[:, slots] = np.where(length > 0, q[:, slots] / np.where(length > 0, length, 1.0), [1.0, 0.0, 0.0, 0.0])
        return q

    def leaving(self, q: Array, step: Array) -> Mask:
        """Speeds (N, nv) along which a step would leave the limits."""
        plain = self.own >= 0
        at, low, high = q[:, self.own], self.low[self.own], self.high[self.own]
        return plain & (((at <= low) & (step < 0)) | ((at >= high) & (step > 0)))

    def random(self, rng: np.random.Generator, count: int) -> Array:
        """Random configurations: anything between the limits, unit quaternions."""
        least = np.where(np.isfinite(self.low), self.low, -UNBOUNDED)
        most = np.where(np.isfinite(self.high), self.high, UNBOUNDED)
        q = rng.uniform(least, np.maximum(most, least), (count, len(least)))
        for slots in self.quaternions:
            q[:, slots] = rng.normal(size=(len(q), 4))
        return self.admissible(q)

    def away(self, q: Array, goal: Array) -> Array:
        """goal - q, a quaternion and its opposite being one turn."""
        goal = np.array(np.broadcast_to(goal, q.shape))
        for slots in self.quaternions:
            opposite = np.einsum("ki,ki->k", q[:, slots], goal[:, slots]) < 0
            goal[:, slots] *= np.where(opposite, -1.0, 1.0)[:, None]
        gap: Array = goal - q
        return gap

    def towards(self, q: Array, goal: Array) -> Array:
        """The displacement (N, nv) that comes nearest to leading from q to a goal."""
        gap = self.away(q, goal)
        if self.directions is None:
            return gap
        return np.einsum("kij,kj->ki", np.linalg.pinv(self.directions(q)), gap)


def configuration_of(what: str, value: Any, names: Sequence[str], neutral: Array) -> Array:
    """Coordinates given as an array, or by name, the others being neutral."""
    if isinstance(value, Mapping):
        for name in value:
            if name not in names:
                raise TorseurError(unknown_name("coordinate", name, names, f"ik: {what}: "))
        value = [value.get(name, x) for name, x in zip(names, neutral, strict=True)]
    q = np.asarray(value, dtype=float)
    if q.ndim not in (1, 2) or q.shape[-1] != len(names):
        raise TorseurError(f"ik: {what} has shape {q.shape}; expected ({len(names)},) or (N, {len(names)}).")
    if not np.isfinite(q).all():
        raise TorseurError(f"ik: {what} holds values that are not finite numbers.")
    return q


def configurations_of(
    equations: Equations, limits: tuple[Array, Array], compiled: Callable[[Program], Callable[..., Any]]
) -> Configurations:
    """The configurations of a mechanism between limits; `compiled` makes functions of its programs."""
    layout, ways = equations.layout, Rates(equations.tree).directions
    columns = [speed for _, speed in ways]
    own = np.full(len(layout.speeds), -1)
    for (coordinate, speed), way in ways.items():
        if way.is_constant and float(way) == 1.0 and columns.count(speed) == 1:
            own[speed] = coordinate
    count = len(layout.coordinates)
    is_plain = count == len(own) and bool((own == np.arange(count)).all())
    balls = [link.symbols.quaternion for link in equations.tree.links if link.symbols.quaternion]
    moved = {coordinate for coordinate, _ in ways}
    return Configurations(
        *limits,
        own=own,
        quaternions=tuple(np.array([layout.coordinates.index(x) for x in ball]) for ball in balls),
        still=np.array([k not in moved for k in range(count)]),
        directions=None if is_plain else compiled(direction_program(equations)),
    )
