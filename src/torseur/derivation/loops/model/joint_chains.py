"""Chains of joints from one frame to another, all walked at once: poses, and the screws of the steps.

Arrays have the state first (one lane per state), then the chain. The screw of a step is its motion per unit of amount,
at the origin and in the axes of the chain's first frame.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.spatial import SAME, Transform, Vec3
from torseur.algebra.spatial.rotation_arrays import cross, turn_about
from torseur.derivation.loops.model.cycles import Passage
from torseur.derivation.loops.model.skeleton import BALL, MOVE, TURN, Edge, Skeleton, Step

Integers = np.ndarray[Any, np.dtype[np.int64]]

CODES = {"": 0, TURN: 1, MOVE: 2, BALL: 3}
_AXES = (Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1))


@dataclass(frozen=True)
class Element:
    """One position of a chain: an offset, a screw to record (or not), then a motion (or none).

    `slot` is the row of the step's amount (or of one axis of a ball) among all slots, `index` the slot or ball
    that gives the motion.
    """

    before: Transform
    axis: Vec3
    slot: int
    screw: str
    motion: str
    index: int
    sign: int


@dataclass(frozen=True)
class Chain:
    """Elements from a first frame to a last one, and the offset after the last element."""

    elements: tuple[Element, ...]
    last: Transform


@dataclass(frozen=True)
class Slots:
    """Where the amounts of steps and the axes of balls stand."""

    step: dict[tuple[int, int], int]
    ball: dict[tuple[int, int], int]
    count: int


def number_slots(frame: Skeleton) -> Slots:
    """A slot for every turn and move, three for every ball, in the order of the joints."""
    step: dict[tuple[int, int], int] = {}
    ball: dict[tuple[int, int], int] = {}
    count = 0
    for e, edge in enumerate(frame.edges):
        for k, part in enumerate(edge.steps):
            step[e, k] = count
            count += 3 if part.kind == BALL else 1
            if part.kind == BALL:
                ball[e, k] = len(ball)
    return Slots(step, ball, count)


def chain(edges: Sequence[Edge], slots: Slots, path: Sequence[Passage],
          first: Transform = SAME, last: Transform = SAME) -> Chain:  # fmt: skip
    """The chain from a frame of the path's first body along joints to a frame of its last body."""
    elements: list[Element] = []
    #     forward    before₀ · motion₀ · before₁ · motion₁ · ... · last
    #     back       last⁻¹ · motion₁⁻¹ · before₁⁻¹ · motion₀⁻¹ · before₀⁻¹
    # What stands between two motions is gathered in `offset` until the next one takes it.
    offset = first.inverse
    for passage in path:
        edge = edges[passage.edge]
        steps = [(k, part) for k, part in enumerate(edge.steps)]
        if passage.forward:
            for k, part in steps:
                elements += _elements(part, offset.then(part.before), slots, (passage.edge, k), 1)
                offset = SAME
            offset = offset.then(edge.last)
        else:
            offset = offset.then(edge.last.inverse)
            for k, part in reversed(steps):
                elements += _elements(part, offset, slots, (passage.edge, k), -1)
                offset = part.before.inverse
    return Chain(tuple(elements), offset.then(last))


def _elements(part: Step, offset: Transform, slots: Slots, key: tuple[int, int], sign: int) -> list[Element]:
    slot = slots.step[key]
    if part.kind != BALL:
        return [Element(offset, part.axis, slot, part.kind, part.kind, slot, sign)]
    # A ball is updated on its near side, so its three screws stand there.
    places = [offset, SAME, SAME] if sign > 0 else [SAME] * 3
    screws = [
        Element(place, axis, slot + k, TURN, "", 0, sign)
        for k, (axis, place) in enumerate(zip(_AXES, places, strict=True))
    ]
    rotation = Element(SAME if sign > 0 else offset, _AXES[2], -1, "", BALL, slots.ball[key], sign)
    return [*screws, rotation] if sign > 0 else [rotation, *screws]


@dataclass(frozen=True)
class Chains:
    """Chains padded to one length L, as arrays over C chains."""

    turn: Array  # offsets, (C, L + 1, 3, 3)
    shift: Array  # (C, L + 1, 3)
    axis: Array  # (C, L, 3)
    slot: Integers  # (C, L), -1 without screw
    screw: Integers  # kind of screw
    motion: Integers  # kind of motion
    index: Integers  # slot or ball of the motion
    sign: Array

    def __len__(self) -> int:
        return len(self.slot)


def stack_chains(chains: Sequence[Chain], length_unit: float) -> Chains:
    """Chains of numbers as arrays, lengths counted in a unit."""
    length = max((len(c.elements) for c in chains), default=0)
    still = Element(SAME, _AXES[2], -1, "", "", 0, 1)
    rows = [[*c.elements, *[still] * (length - len(c.elements))] for c in chains]
    # The last offset of a short chain comes right after its own elements; padding stands still behind it.
    ends = [len(c.elements) for c in chains]
    offsets = [[*(e.before for e in row), SAME] for row in rows]
    for row, end, c in zip(offsets, ends, chains, strict=True):
        row[end] = c.last
    places = [[_place(t) for t in row] for row in offsets]
    shape = (len(chains), length)

    def codes(code: Callable[[Element], int]) -> Integers:
        return np.array([[code(e) for e in row] for row in rows], int).reshape(shape)

    return Chains(
        turn=np.array([[r for r, _ in row] for row in places], float).reshape(len(chains), length + 1, 3, 3),
        shift=np.array([[p for _, p in row] for row in places], float).reshape(len(chains), length + 1, 3)
        / length_unit,
        axis=np.array([[list(e.axis) for e in row] for row in rows], float).reshape(*shape, 3),
        slot=codes(lambda e: e.slot),
        screw=codes(lambda e: CODES[e.screw]),
        motion=codes(lambda e: CODES[e.motion]),
        index=codes(lambda e: e.index),
        sign=codes(lambda e: e.sign).astype(float),
    )


def _place(transform: Transform) -> tuple[list[list[float]], list[float]]:
    rows = [[float(x) for x in row] for row in transform.rotation.matrix.rows]
    return rows, [float(x) for x in transform.position]


def walk(chains: Chains, amounts: Array, balls: Array) -> tuple[Array, Array, Array]:
    """(R, p, screws): pose of each chain's last frame, and the screws of its elements (B, C, L, 6), angular first."""
    states, (count, length) = amounts.shape[0], chains.slot.shape
    # All chains step by step together: the loop runs over the length of the longest, NumPy over states and chains.
    turned, moved = _motions(chains, amounts, balls)
    rotation = np.broadcast_to(np.eye(3), (states, count, 3, 3))
    position = np.zeros((states, count, 3))
    axes, points = np.zeros((2, states, count, length, 3))
    for k in range(length):
        position = position + _rotate(rotation, chains.shift[:, k])
        rotation = rotation @ chains.turn[:, k]
        axes[:, :, k], points[:, :, k] = _rotate(rotation, chains.axis[:, k]), position
        position = position + axes[:, :, k] * moved[:, :, k, None]
        rotation = rotation @ turned[:, :, k]
    position = position + _rotate(rotation, chains.shift[:, length])
    return rotation @ chains.turn[:, length], position, _screws(chains, axes, points)


def _rotate(rotation: Array, vector: Array) -> Array:
    product: Array = (rotation @ vector[..., None])[..., 0]
    return product


def _screws(chains: Chains, axes: Array, points: Array) -> Array:
    # The screw at the chain's first origin: (w, p x w) for a turn about the point p, (0, u) for a move.
    angular = axes * ((chains.screw == CODES[TURN]) * chains.sign)[..., None]
    sliding = axes * ((chains.screw == CODES[MOVE]) * chains.sign)[..., None]
    return np.concatenate([angular, cross(points, angular) + sliding], axis=-1)


def _motions(chains: Chains, amounts: Array, balls: Array) -> tuple[Array, Array]:
    """Rotation matrices (B, C, L, 3, 3) and displacements (B, C, L) of all elements."""
    is_turn, is_move = (chains.motion == CODES[kind] for kind in (TURN, MOVE))
    by_amount = amounts[:, np.where(is_turn | is_move, chains.index, 0)] * chains.sign if amounts.shape[1] else 0.0
    turned = turn_about(chains.axis, np.where(is_turn, by_amount, np.zeros((len(amounts), 1, 1))))
    is_ball = chains.motion == CODES[BALL]
    if is_ball.any():
        free = balls[:, np.where(is_ball, chains.index, 0)]
        free = np.where((chains.sign < 0)[..., None, None], np.swapaxes(free, -1, -2), free)
        turned = np.where(is_ball[..., None, None], free, turned)
    return turned, np.where(is_move, by_amount, np.zeros((len(amounts), 1, 1)))
