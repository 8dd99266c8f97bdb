"""Branches of motion through a singular configuration."""

from __future__ import annotations

from typing import Any

import numpy as np

from torseur.loops.mobility import MANY_MOTIONS, Branch, Mobility, mobility
from torseur.loops.projection import project
from torseur.loops.rank import NumericalRank, numerical_rank
from torseur.loops.second_order import is_flat, quadrics, zero_directions
from torseur.loops.system import LoopSystem, State

Floats = np.ndarray[Any, np.dtype[np.float64]]

_DISTANCES = (0.15, 0.05)
_CLOSED = 1e-10
_MOVED = 0.5
_SAME_DIRECTION = 0.3
_MOST = 12


def branching(system: LoopSystem, state: State, found: NumericalRank, rng: np.random.Generator, depth: int) -> Mobility:
    """The verdict at a configuration around which the rank changes, or where motions stop beyond second order."""
    k = found.motions.shape[1]

    def verdict(finite: int | None, nearby: int, reason: str, branches: tuple[Branch, ...] = ()) -> Mobility:
        return Mobility(found.rank, k, finite, nearby, reason, found.motions[:, :0], branches)

    if k > MANY_MOTIONS:
        return verdict(None, found.rank, f"singular, with {k} first-order motions to follow")
    q = quadrics(system, state, found)
    zeros = np.zeros((0, k)) if is_flat(q) else zero_directions(q, rng)
    if not is_flat(q) and not len(zeros):
        return verdict(0, found.rank, "isolated: every first-order motion is stopped at second order")
    reached = _points(system, state, found, np.vstack([zeros, _random(rng, k)]))
    branches = [_branch(system, point, distance, rng, depth) for point, distance in reached]
    if not branches:
        return verdict(None, found.rank, "motions that second order allows were followed and lead nowhere")
    nearby = max(there.nearby_rank for _, there in branches)
    if any(there.finite is None for _, there in branches):
        return verdict(None, nearby, "singular, and a branch through it is undecided")
    distinct = _distinct([branch for branch, _ in branches])
    listing = ", ".join(str(branch.dimension) for branch in distinct)
    plural = "a branch" if len(distinct) == 1 else f"{len(distinct)} branches"
    reason = f"singular: {plural} of dimension {listing} through it"
    return verdict(max(branch.dimension for branch in distinct), nearby, reason, tuple(distinct))


def _random(rng: np.random.Generator, k: int) -> Floats:
    directions = rng.normal(size=(6 * k, k))
    unit: Floats = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return unit


def _points(system: LoopSystem, state: State, found: NumericalRank, directions: Floats) -> list[tuple[State, float]]:
    """Points reached from the singular configuration, one per space of directions, with their distance."""
    here = state.repeated(len(directions))
    for distance in _DISTANCES:
        reached = project(system, system.moved(here, distance * directions @ found.motions.T), steps=300, damping=1e-6)
        went = system.difference(here, reached.state)
        length = np.linalg.norm(went, axis=1)
        lanes = np.flatnonzero((length > _MOVED * distance) & (reached.gap < _CLOSED))
        chosen = _representatives(system, reached.state, went, [int(lane) for lane in lanes])
        if chosen:
            return [(reached.state.lane(lane), distance) for lane in chosen]
    return []


def _representatives(system: LoopSystem, states: State, went: Floats, lanes: list[int]) -> list[int]:
    """Lanes that left in directions outside the first-order motions at each other's points."""
    chosen: list[int] = []
    spaces: list[Floats] = []
    for lane in lanes:
        direction = went[lane] / np.linalg.norm(went[lane])
        if len(chosen) < _MOST and not any(_along(direction, space) for space in spaces):
            chosen.append(lane)
            spaces.append(numerical_rank(system.linearised(states.lane(lane))[1][0]).motions)
    return chosen


def _branch(system: LoopSystem, point: State, distance: float, rng: np.random.Generator,
            depth: int) -> tuple[Branch, Mobility]:  # fmt: skip
    there = mobility(system, point, rng, scale=distance / 30, depth=depth)
    return Branch(there.finite or 0, there.tangent, point), there


def _along(direction: Floats, space: Floats) -> bool:
    """Whether a direction lies in a space."""
    return bool(np.linalg.norm(direction - space @ (space.T @ direction)) < _SAME_DIRECTION)


def _distinct(branches: list[Branch]) -> list[Branch]:
    """Branches that leave in different spaces; one followed to both sides counts once."""
    kept: list[Branch] = []
    for branch in sorted(branches, key=lambda b: -b.dimension):
        if not any(_same(b.tangent, branch.tangent) for b in kept):
            kept.append(branch)
    return kept


def _same(first: Floats, second: Floats) -> bool:
    if first.shape != second.shape:
        return False
    cosines = np.linalg.svd(first.T @ second, compute_uv=False)
    return bool(np.min(cosines, initial=1.0) > np.sqrt(1 - _SAME_DIRECTION**2))
