"""Branches of motion through a singular configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from torseur.loops.probing import followed
from torseur.loops.projection import project
from torseur.loops.second_order import is_flat, quadrics, zero_directions
from torseur.loops.spot import MANY_MOTIONS, Branch, Mobility, Spot, spot
from torseur.loops.system import State

Floats = np.ndarray[Any, np.dtype[np.float64]]
Examine = Callable[[Spot, float], Mobility]

_DISTANCES = (0.1, 0.03)
_CLOSED = 1e-10
_ROUNDS = 6
_SAME_POINT = 0.03
_SAME_DIRECTION = 0.3
_MOST = 16


def branching(here: Spot, examine: Examine) -> Mobility:
    """The verdict at a configuration around which the rank changes, or where motions stop beyond second order.

    `examine` gives the mobility at a point reached at a distance from here.
    """
    rank, k = here.rank.rank, here.count

    def verdict(finite: int | None, nearby: int, reason: str, branches: tuple[Branch, ...] = ()) -> Mobility:
        return Mobility(rank, k, finite, nearby, reason, here.rank.motions[:, :0], branches)

    if k > MANY_MOTIONS:
        return verdict(None, rank, f"singular, with {k} first-order motions to follow")
    q = quadrics(here)
    zeros = np.zeros((0, k)) if is_flat(q) else zero_directions(q, here.rng)
    if not is_flat(q) and not len(zeros):
        return verdict(0, rank, "isolated: every first-order motion is stopped at second order")
    found = _ways_out(here, zeros, examine)
    if not found and k == 1:
        return verdict(0, rank, "isolated: its only first-order motion was followed both ways and leads nowhere")
    if not found:
        return verdict(None, rank, "motions that second order allows were followed and lead nowhere")
    nearby = max(there.nearby_rank for _, there in found)
    if any(there.finite is None for _, there in found):
        return verdict(None, nearby, "singular, and a branch through it is undecided")
    branches = _counted(here, [branch for branch, _ in found])
    return verdict(max(b.dimension for b in branches), nearby, _listed(branches), tuple(branches))


def _counted(here: Spot, ways: list[Branch]) -> list[Branch]:
    """Branches from the ways out that were examined: a curve has two ways out; larger families stand once each."""
    larger = {way.dimension: way for way in reversed(ways) if way.dimension > 1}
    curves, kept = [way for way in ways if way.dimension <= 1], []
    while curves:
        first = curves.pop(0)
        kept.append(first)
        if curves:
            curves.pop(int(np.argmin([_cosine(here, first, other) for other in curves])))
    return [*(larger[d] for d in sorted(larger, reverse=True)), *kept]


def _cosine(here: Spot, first: Branch, second: Branch) -> float:
    """Of the angle between two ways out."""
    a, b = (here.steps_to(way.point)[0] for way in (first, second))
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def _listed(branches: list[Branch]) -> str:
    dimensions = ", ".join(str(branch.dimension) for branch in branches)
    count = "a branch" if len(branches) == 1 else f"{len(branches)} branches"
    return f"singular: {count} of dimension {dimensions} through it"


def _ways_out(here: Spot, zeros: Floats, examine: Examine) -> list[tuple[Branch, Mobility]]:
    """Ways to leave the configuration, in allowed and in random directions, with what can move on them."""
    random = here.rng.normal(size=(10 * here.count + 10, here.count))
    directions = np.vstack([zeros, -zeros, random / np.linalg.norm(random, axis=1, keepdims=True)])
    found: list[tuple[Branch, Mobility]] = []
    for distance in _DISTANCES:
        states, went = _both_ways(here, directions, distance)
        for lane in _different(went, distance):
            known = any(_along(went[lane], branch.tangent) for branch, _ in found if branch.dimension > 1)
            if not known and len(found) < _MOST:
                found.append(_branch(here, states.lane(lane), distance, examine))
        if found:
            break
    return found


def _both_ways(here: Spot, directions: Floats, distance: float) -> tuple[State, Floats]:
    """Closed states at a distance, those looked for opposite to the ones found included."""
    states, went = _on_sphere(here, directions, distance)
    opposite = -went[_different(went, distance)] @ here.rank.motions / distance
    more, further = _on_sphere(here, opposite, distance)
    both = State(np.concatenate([states.x, more.x]), np.concatenate([states.balls, more.balls]))
    return both, np.concatenate([went, further])


def _on_sphere(here: Spot, directions: Floats, distance: float) -> tuple[State, Floats]:
    """Closed states at a distance from here, and the steps to them: closed and put at the distance in turns."""
    system = here.system
    states = here.moved(directions, distance)
    for _ in range(_ROUNDS):
        closed = project(system, states, steps=300, damping=1e-6)
        went = here.steps_to(closed.state)
        length = np.linalg.norm(went, axis=1)
        good = (closed.gap < _CLOSED) & (length > distance / 2)
        if not good.any():
            return closed.state.lanes(good), went[good]
        aimed = went[good] * (distance / length[good])[:, None]
        states = system.moved(here.state.repeated(int(good.sum())), aimed)
    closed = project(system, states, steps=300, damping=1e-6)
    went = here.steps_to(closed.state)
    good = (closed.gap < _CLOSED) & (np.abs(np.linalg.norm(went, axis=1) / distance - 1) < _SAME_POINT)
    return closed.state.lanes(good), went[good]


def _different(went: Floats, distance: float) -> list[int]:
    """Lanes whose points differ."""
    chosen: list[int] = []
    for lane, step in enumerate(went):
        if all(np.linalg.norm(step - went[other]) > _SAME_POINT * distance for other in chosen):
            chosen.append(lane)
    return chosen


def _along(direction: Floats, space: Floats) -> bool:
    """Whether a direction lies in a space."""
    rest = direction - space @ (space.T @ direction)
    return bool(np.linalg.norm(rest) < _SAME_DIRECTION * np.linalg.norm(direction))


def _branch(here: Spot, point: State, distance: float, examine: Examine) -> tuple[Branch, Mobility]:
    """What can move at a point on a way out, if that way goes on to four times the distance."""
    there = spot(here.system, point, here.rng)
    outward = here.steps_to(point)
    found = examine(there, distance)
    if not followed(there, outward / np.linalg.norm(outward), distance, 3).all():
        found = replace(found, finite=None)
    return Branch(found.finite or 0, found.tangent, point), found
