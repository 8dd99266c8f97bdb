"""Positions that satisfy the constraints while given coordinates keep their values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.model.system import Vector
from torseur.derivation.loops.assembly.levenberg_marquardt import descend

Mask: TypeAlias = NDArray[np.bool_]

STARTS = 24  # guesses of what is not given, the first one as it stands
CLOSED = 1e-10  # largest residual of a closed mechanism, in its own units
FAR = 0.5  # move of the guesses, in rad or units of the mechanism, from which other assemblies are looked for
ROUNDED = 1e-15  # part of the largest derivative that a projection leaves of nothing
TOUCHES = 1e-9  # part of a unit move by which a coordinate counts as moved


@dataclass(frozen=True)
class Positions:
    """States of the layout as lanes of a descent."""

    y: Vector

    def __len__(self) -> int:
        return len(self.y)

    def lanes(self, chosen: Any) -> Positions:
        return Positions(self.y[chosen])

    def with_lanes(self, chosen: Any, new: Positions) -> Positions:
        y = self.y.copy()
        y[chosen] = new.y
        return Positions(y)


@dataclass(frozen=True)
class Assembly:
    """A closed state, or the nearest to it; `start` counts the guesses before it, `tolerances` what may stay open.

    `half_turned` are joints whose residuals vanish although their sides are opposite: such a state is not closed.
    """

    y: Vector
    residual: Vector
    tolerances: Vector
    start: int = 0
    half_turned: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """The largest residual; half a turn where joints are closed the wrong way round."""
        return float(np.abs(self.residual).max(initial=0.0)) + (np.pi if self.half_turned else 0.0)

    @property
    def is_closed(self) -> bool:
        return self.gap <= CLOSED

    @property
    def is_nearly_closed(self) -> bool:
        """Whether nothing is open by more than the rounding of a description leaves."""
        is_open = np.abs(self.residual) > np.maximum(self.tolerances, CLOSED)
        return not (self.half_turned or np.any(is_open))


def assemble(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> Assembly:
    """The first closed state from several guesses of the coordinates that are not given; the nearest without any."""
    best: Assembly | None = None
    for start, guess in enumerate(_guesses(numbers, t, y, given)):
        assembly = closed_from(numbers, t, guess, given, start)
        if best is None or assembly.gap < best.gap:
            best = assembly
        # A linkage whose dimensions are rounded closes no better from elsewhere.
        if best.is_closed or (best.is_nearly_closed and best.start == 0):
            break
    assert best is not None
    # Closed, but far from what was guessed: another assembly may be the one that is meant.
    if best.is_nearly_closed and _guess_shift(numbers, y, best) > FAR:
        best = min([best, *_near_guesses(numbers, t, y, given)], key=lambda one: _guess_shift(numbers, y, one))
    return best


def _near_guesses(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> list[Assembly]:
    """Closed states from elsewhere: first what nobody states goes to meet the guesses, then these move too."""
    others = islice(_guesses(numbers, t, y, given), STARTS // 3)
    met = (closed_from(numbers, t, other, {*given, *numbers.guesses}).y for other in others)
    closed = [closed_from(numbers, t, near, given, start) for start, near in enumerate(met)]
    return [one for one in closed if one.is_nearly_closed]


def _guess_shift(numbers: StateNumbers, y: Vector, assembly: Assembly) -> float:
    """How far the guessed coordinates were moved together, in rad or units of the mechanism."""
    slots = held_slots(numbers, numbers.guesses)
    units = [numbers.equations.layout.coordinates[slot].data.unit for slot in slots]
    scales = np.array([numbers.length if unit == "m" else 1.0 for unit in units])
    return float(np.linalg.norm((assembly.y - y)[slots] / scales))


def free_directions(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> Vector:
    """Orthonormal moves along the speeds, one per column, that leave the given coordinates alone."""
    reach = numbers.reach(t, y)[held_slots(numbers, given)]
    touched = np.any(np.abs(reach) > TOUCHES, axis=0)
    # Speeds that move no given coordinate are free one by one; of the others, such as the angular velocity of a body
    # two of whose angles are given, the combinations that cancel in all of them: the kernel of their rows.
    rows = reach[:, touched]
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), TOUCHES)
    _, sizes, directions = np.linalg.svd(rows)
    kernel = directions[int(np.sum(sizes > TOUCHES * sizes.max(initial=0.0))) :]
    result = np.zeros((len(touched), int(np.sum(~touched)) + len(kernel)))
    result[np.flatnonzero(~touched), np.arange(np.sum(~touched))] = 1.0
    result[np.flatnonzero(touched), np.sum(~touched) :] = kernel.T
    return result


def held_slots(numbers: StateNumbers, given: Collection[str]) -> list[int]:
    """Places of the given coordinates in the state."""
    return [slot for slot, name in enumerate(numbers.equations.layout.coordinate_names) if name in given]


def has_constant_directions(numbers: StateNumbers, held: Sequence[int]) -> bool:
    """Whether what holds these coordinates is the same everywhere: their rates are speeds."""
    layout = numbers.equations.layout
    return all(str(layout.rates[slot].name) in layout.speed_names for slot in held)


def _guesses(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> Iterator[Vector]:
    """The state as it stands, then others: a third of them with guessed coordinates kept, as far as they can be."""
    yield y
    free = free_directions(numbers, t, y, given)
    unguessed = free_directions(numbers, t, y, {*given, *numbers.guesses})
    random = np.random.default_rng(0)
    for k in range(STARTS - 1 if free.size else 0):
        moving = unguessed if k < STARTS // 3 and unguessed.size else free
        move = moving @ (moving.T @ random.uniform(-np.pi, np.pi, len(free)))
        yield _move(numbers, t, y, move, held_slots(numbers, given))


def closed_from(numbers: StateNumbers, t: float, y: Vector, given: Collection[str] = (), start: int = 0) -> Assembly:
    """The closed state near one in which the given coordinates are the same."""
    held, usual = held_slots(numbers, given), _projector(numbers, t, y, given)
    is_constant = has_constant_directions(numbers, held)

    def linearise(states: Positions) -> tuple[Vector, Vector]:
        residual, jacobian = numbers.closure(t, states.y[0])
        free = jacobian @ (usual if is_constant else _projector(numbers, t, states.y[0], given))
        free[np.abs(free) < ROUNDED * np.abs(jacobian).max(initial=0.0)] = 0.0  # what is not free is not moved by 1e-17
        return residual[None], free[None]

    def move(states: Positions, step: Vector) -> Positions:
        return Positions(_move(numbers, t, states.y[0], step[0], held)[None])

    descent = descend(linearise, move, Positions(y[None]), negligible=numbers.negligible(0.0))
    closed: Vector = descent.state.y[0]
    residual = numbers.closure(t, closed)[0]
    return Assembly(closed, residual, numbers.tolerances[: len(residual)], start, numbers.half_turned(t, closed))


def _projector(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> Vector:
    free = free_directions(numbers, t, y, given)
    result: Vector = free @ free.T
    return result


def _move(numbers: StateNumbers, t: float, y: Vector, move: Vector, held: Sequence[int]) -> Vector:
    """The state after a move, held coordinates to the last digit as before."""
    result = numbers.moved(t, y, move)
    result[held] = y[held]
    # Quaternions were scaled to length one together with their held components: the others make up for it.
    for quaternion in numbers.programs.quaternions:
        slots = [numbers.equations.layout.coordinates.index(x) for x in quaternion]
        rest = [slot for slot in slots if slot not in held]
        kept, size = sum(y[slot] ** 2 for slot in slots if slot in held), np.linalg.norm(result[rest])
        if 0 < len(rest) < len(slots) and size > 0.0:
            result[rest] *= np.sqrt(max(1.0 - kept, 0.0)) / size
    return result
