"""Rank on the closed configurations over a finite field: the largest over several points."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.errors import UnsupportedError
from torseur.graph import Expr
from torseur.loops.chains import Chain, chain, number_slots
from torseur.loops.finite_field import PRIMES, NoSquareRoot, exact_numbers, residue
from torseur.loops.model import with_numbers
from torseur.loops.modular_loops import FiniteField, ModularCycle, ModularElement, Point, effort, solutions
from torseur.loops.skeleton import BALL, TURN
from torseur.loops.system import LoopSystem
from torseur.spatial import Transform, Vec3

Integers = np.ndarray[Any, np.dtype[np.int64]]

_POINTS = 6
_EFFORT = 8_000_000  # places walked to before a prime is given up
_ROUNDS = 6
_PRIMES_TRIED = 2


@dataclass(frozen=True)
class ModularRank:
    """The largest rank met, the prime, and how many points had which rank."""

    rank: int
    prime: int
    points: Counter[int]


def modular_rank(system: LoopSystem, rng: np.random.Generator) -> ModularRank:
    """The rank over a prime field; raises UnsupportedError where no points can be had."""
    _require_simple(system)
    tried = 0
    for prime in PRIMES:
        try:
            cycles = _cycles(system, prime)
        except (NoSquareRoot, ValueError):
            continue
        field = FiniteField(prime)
        found = Counter(_rank(field, cycles, point, system.slots) for point in _points(field, cycles, rng))
        if found:
            return ModularRank(max(found), prime, found)
        tried += 1
        if tried == _PRIMES_TRIED:
            break
    if tried == 0:
        raise UnsupportedError("the square roots in its dimensions do not exist modulo small primes.")
    raise UnsupportedError("no closed configurations were found modulo small primes.")


def _require_simple(system: LoopSystem) -> None:
    balls = any(step.kind == BALL for edge in system.frame.edges for step in edge.steps)
    shared = np.any(np.count_nonzero(system.amounts.slope, axis=0) > 1) or not system.amounts.is_affine
    if system.relations or balls or shared:
        raise UnsupportedError(
            "modular points cover loops of turns and moves with a coordinate each, without balls and constraints."
        )


def _cycles(system: LoopSystem, prime: int) -> list[ModularCycle]:
    """The loops with their dimensions modulo a prime."""
    mechanism = system.frame.mechanism

    def numbers(expressions: list[Expr]) -> list[Any]:
        import flint

        return [flint.nmod(residue(v, prime), prime) for v in exact_numbers(mechanism, expressions, system.time)]

    edges = with_numbers(system.frame, numbers, lambda axis: axis)
    slots = number_slots(system.frame)
    return [_converted(chain(edges, slots, cycle.passages)) for cycle in system.cycles]


def _converted(whole: Chain) -> ModularCycle:
    elements = tuple(
        ModularElement(*_place(e.before), _vector(e.axis), e.motion == TURN, e.slot, e.sign) for e in whole.elements
    )
    return ModularCycle(elements, *_place(whole.last))


def _place(transform: Transform) -> tuple[Integers, Integers]:
    rows = [[int(c) for c in row] for row in transform.rotation.matrix.rows]
    return np.array(rows), _vector(transform.position)


def _vector(vector: Vec3) -> Integers:
    return np.array([int(c) for c in vector])


def _points(field: FiniteField, cycles: list[ModularCycle], rng: np.random.Generator) -> list[Point]:
    """Configurations that close all loops, one loop after the other, those with the fewest new joints first."""
    order = _solving_order(cycles)
    left = _EFFORT

    def extended(k: int, known: Point) -> Point | None:
        nonlocal left
        if k == len(order):
            return known
        left -= effort(field, order[k], known)
        for found in solutions(field, order[k], known, rng, 4) if left > 0 else []:
            whole = extended(k + 1, {**known, **found})
            if whole is not None:
                return whole
        return None

    points: list[Point] = []
    for _ in range(_ROUNDS):
        starts = solutions(field, order[0], {}, rng, _POINTS)
        points += [whole for start in starts if (whole := extended(1, start)) is not None]
        if len(points) >= _POINTS or left <= 0:
            break
    return points[:_POINTS]


def _solving_order(cycles: list[ModularCycle]) -> list[ModularCycle]:
    left, known, order = list(cycles), set[int](), []
    while left:
        cycle = min(left, key=lambda c: (len(set(c.slots) - known), len(c.slots)) if known else (len(c.slots), 0))
        left.remove(cycle)
        order.append(cycle)
        known |= set(cycle.slots)
    return order


def _rank(field: FiniteField, cycles: list[ModularCycle], point: Point, slots: int) -> int:
    import flint

    rows = [_screws(field, cycle, point, slots) for cycle in cycles]
    matrix = np.concatenate(rows) % field.prime
    entries = [[int(x) for x in row] for row in matrix]
    return int(flint.nmod_mat(entries, field.prime).rank())


def _screws(field: FiniteField, cycle: ModularCycle, point: Point, slots: int) -> Integers:
    """The screws around a loop at a point, (6, slots)."""
    rows = np.zeros((6, slots), np.int64)
    values = {slot: np.array(point[slot]) for slot in cycle.slots}
    for k, element in enumerate(cycle.elements):
        before = field.then(field.walk(cycle.elements[:k], values, 1), element.turn, element.shift)
        axis = before.turn[0] @ element.axis * element.sign % field.prime
        if element.turns:
            rows[:3, element.slot] = axis
            rows[3:, element.slot] = np.cross(before.shift[0], axis) % field.prime
        else:
            rows[3:, element.slot] = axis
    return rows
