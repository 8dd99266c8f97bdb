"""Loops over a finite field: closed configurations modulo a prime, found by meeting in the middle.

A turn about the axis a is the quaternion (1, v a), a move along it is v a, with v any number modulo p. A loop is cut in
two halves; the places reached by one half are compared with those reached backward by the other: p^(joints / 2) places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Integers = np.ndarray[Any, np.dtype[np.int64]]

# 43³ = 79,507: half of a loop of six joints is listed whole. Of longer halves a sample is walked; two samples of this
# size still meet some 14 times in the 43⁶ places of space.
_SAMPLES = 300_000


@dataclass(frozen=True, eq=False)
class ModularElement:
    """An offset, then a turn or a move (the slot's number decides how far)."""

    turn: Integers
    shift: Integers
    axis: Integers
    turns: bool
    slot: int
    sign: int


@dataclass(frozen=True, eq=False)
class ModularCycle:
    """Elements around a loop, then the last offset."""

    elements: tuple[ModularElement, ...]
    turn: Integers
    shift: Integers

    @property
    def slots(self) -> list[int]:
        return [e.slot for e in self.elements]


@dataclass(frozen=True, eq=False)
class _Place:
    """Places (N, 3, 3) and (N, 3), and which of them are meaningless (a division by zero)."""

    turn: Integers
    shift: Integers
    bad: np.ndarray[Any, np.dtype[np.bool_]]


Point = dict[int, int]


@dataclass(frozen=True)
class FiniteField:
    """Arithmetic modulo a small prime."""

    prime: int

    def inverse(self, values: Integers) -> Integers:
        # Zero has no inverse: the entry is a dummy, and callers mark such lanes as bad.
        table = np.array([0] + [pow(i, -1, self.prime) for i in range(1, self.prime)])
        return table[values % self.prime]

    def step(self, element: ModularElement, values: Integers) -> _Place:
        """The motion of an element for many numbers."""
        p, v = self.prime, values * element.sign % self.prime
        if not element.turns:
            still = np.broadcast_to(np.eye(3, dtype=np.int64), (len(v), 3, 3))
            return _Place(still, v[:, None] * element.axis % p, np.zeros(len(v), bool))
        # The rotation of the quaternion (1, v a), not of unit length: its matrix is divided by 1 + v² a·a, which may
        # vanish modulo p. Half a turn (v infinite) is not reached: one value of p + 1.
        x, y, z = (v * c % p for c in element.axis)
        size = (1 + x * x + y * y + z * z) % p
        rows = np.stack([1 + x * x - y * y - z * z, 2 * (x * y - z), 2 * (x * z + y),
                         2 * (x * y + z), 1 - x * x + y * y - z * z, 2 * (y * z - x),
                         2 * (x * z - y), 2 * (y * z + x), 1 - x * x - y * y + z * z], axis=1)  # fmt: skip
        matrix = rows % p * self.inverse(size)[:, None] % p
        return _Place(matrix.reshape(-1, 3, 3), np.zeros((len(v), 3), np.int64), size == 0)

    def then(self, first: _Place, turn: Integers, shift: Integers, bad: Any = False) -> _Place:
        """A place, then an offset from there."""
        moved = (
            # (R₁, p₁) then (R₂, p₂) is (R₁ R₂, p₁ + R₁ p₂).
            first.shift + np.einsum("nij,nj->ni", first.turn, np.broadcast_to(shift, first.shift.shape))
        ) % self.prime
        return _Place(first.turn @ turn % self.prime, moved, first.bad | bad)

    def walk(self, elements: tuple[ModularElement, ...], values: dict[int, Integers], count: int) -> _Place:
        """The places reached by some elements of a loop."""
        place = _Place(np.broadcast_to(np.eye(3, dtype=np.int64), (count, 3, 3)), np.zeros((count, 3), np.int64),
                       np.zeros(count, bool))  # fmt: skip
        for element in elements:
            place = self.then(place, element.turn, element.shift)
            step = self.step(element, np.broadcast_to(values[element.slot], (count,)))
            place = self.then(place, step.turn, step.shift, step.bad)
        return place

    def invert(self, place: _Place) -> _Place:
        # (R, p)⁻¹ = (Rᵀ, -Rᵀ p): Rᵀ R = 1 is an identity of polynomials, true modulo every prime.
        back = np.swapaxes(place.turn, 1, 2)
        return _Place(back, -np.einsum("nij,nj->ni", back, place.shift) % self.prime, place.bad)


def solutions(
    field: FiniteField, cycle: ModularCycle, known: Point, rng: np.random.Generator, wanted: int
) -> list[Point]:
    """Some closed configurations of a loop, with the numbers of known slots kept."""
    free = [slot for slot in cycle.slots if slot not in known]
    cut = _middle(cycle, set(known))
    first, second = cycle.elements[:cut], cycle.elements[cut:]
    # The second half is walked to the loop's end and inverted: its places are where the first half must arrive.
    ahead = _sample(field, first, known, rng)
    behind = _sample(field, second, known, rng)
    a = field.walk(first, ahead, _count(ahead))
    b = field.walk(second, behind, _count(behind))
    b = field.invert(field.then(b, cycle.turn, cycle.shift))
    met = _meetings(a, b, rng, wanted)
    return [_lane_numbers(ahead, i, free) | _lane_numbers(behind, j, free) for i, j in met]


def effort(field: FiniteField, cycle: ModularCycle, known: Point) -> int:
    """How many places are walked to when a loop is solved."""
    free = sum(slot not in known for slot in cycle.slots)
    return sum(min(field.prime**half, _SAMPLES) for half in (free // 2, free - free // 2))


def _lane_numbers(values: dict[int, Integers], lane: int, free: list[int]) -> Point:
    """The numbers of one lane for the slots that were free."""
    return {slot: int(value[lane]) for slot, value in values.items() if slot in free}


def _middle(cycle: ModularCycle, known: set[int]) -> int:
    """Where half of the unknown slots are on either side."""
    unknown = [k for k, slot in enumerate(cycle.slots) if slot not in known]
    return unknown[(len(unknown) - 1) // 2] + 1 if unknown else len(cycle.slots)


def _sample(field: FiniteField, elements: tuple[ModularElement, ...], known: Point,
             rng: np.random.Generator) -> dict[int, Integers]:  # fmt: skip
    """Numbers for the slots of half a loop: all combinations when they are few, random ones otherwise."""
    free = [e.slot for e in elements if e.slot not in known]
    values: dict[int, Integers] = {e.slot: np.array(known[e.slot]) for e in elements if e.slot in known}
    total = field.prime ** len(free)
    if total <= _SAMPLES:
        grid = np.indices((field.prime,) * len(free)).reshape(len(free), -1)
        return values | {slot: grid[k] for k, slot in enumerate(free)}
    return values | {slot: rng.integers(0, field.prime, _SAMPLES) for slot in free}


def _count(values: dict[int, Integers]) -> int:
    return max((len(v) for v in values.values() if np.ndim(v)), default=1)


def _meetings(a: _Place, b: _Place, rng: np.random.Generator, wanted: int) -> list[tuple[int, int]]:
    """Pairs of lanes that reached the same place."""
    # A place is twelve residues; a random linear form of them is its key. Two places share a key by accident with a
    # chance of about 2⁻⁴⁰.
    # 12 · 96 · 2⁴⁰ < 2⁶³: the sums do not overflow.
    weights = rng.integers(1, 2**40, 12)
    keys = [np.concatenate([place.turn.reshape(-1, 9), place.shift], axis=1) @ weights for place in (a, b)]
    # Marks that differ on either side and are no keys, so that places without meaning never meet.
    first, second = np.where(a.bad, -1, keys[0]), np.where(b.bad, -2, keys[1])
    # Meeting in the middle: sort one side, look the other up.
    order = np.argsort(second, kind="stable")
    low, high = (np.searchsorted(second[order], first, side) for side in ("left", "right"))
    hits = np.flatnonzero(high > low)
    if not len(hits):
        return []
    chosen = rng.choice(hits, min(wanted, len(hits)), replace=False)
    return [(int(i), int(order[rng.integers(low[i], high[i])])) for i in chosen]
