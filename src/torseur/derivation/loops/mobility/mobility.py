"""Mobility: by count, and how many of the infinitesimal motions can be followed for a finite distance.

The closed configurations near a closed one are probed. Where they keep their distance in every direction, all
motions are finite. Where they lose the same directions everywhere, those are infinitesimal only. Where the probes
land on configurations of higher rank, this one is singular, and the branches through it are followed one by one. A
number is given only when probes, second order and continuation agree; otherwise the mobility is undecided.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.projection import project
from torseur.derivation.loops.configuration import (
    MANY_MOTIONS,
    Branch,
    ClosedConfiguration,
    Mobility,
    closed_configuration,
)
from torseur.derivation.loops.mobility.probing import SCALE, can_follow, smooth_mobility
from torseur.derivation.loops.mobility.second_order import is_flat, quadrics, zero_directions
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.rank.numerical_rank import numerical_rank
from torseur.derivation.loops.reasons.motion_groups import generated_algebra

_DEPTH = 2
_LOW_THRESHOLD = 1e-9
# A branch is looked for far out first, where it stands clear of its neighbours and of what a high order of contact
# leaves open; nearer only where nothing closes that far out.
_DISTANCES = (0.1, 0.03)
# At a point of a branch the next scale is so small that probes there do not reach back to the singular configuration.
_PROBES_PER_DISTANCE = 30
_CLOSED = 1e-10
_ROUNDS = 6
_SAME_POINT = 0.03
_SAME_DIRECTION = 0.3
_MOST_BRANCHES = 16


def count_mobility(system: LoopSystem) -> int:
    """n - 6 per loop - 1 per constraint (Kutzbach)."""
    return system.n - system.rows


def count_mobility_by_order(system: LoopSystem, state: State) -> int:
    """n - the order of each loop - 1 per constraint.

    A loop whose joints all move in a plane (or about a point) forbids three motions, a spatial one six: the dimension
    of the smallest set of motions closed under composition that contains the joints' own (the order of the loop).
    """
    rows = system.screw_rows(state)[0]
    orders = [len(generated_algebra(rows[6 * c : 6 * c + 6].T)) for c in range(len(system.cycles))]
    return system.n - sum(orders) - sum(len(r.parts) for r in system.relations)


def mobility(here: ClosedConfiguration) -> Mobility:
    """Rank, infinitesimal and finite mobility at a closed configuration.

    So near to a singular configuration that the rank is not clear, both readings must agree on the finite mobility.
    """
    verdict = _mobility_at_scale(here, SCALE, _DEPTH)
    if here.rank.is_clear:
        return verdict
    jacobian = here.system.linearise(here.state)[1][0]
    other_rank = numerical_rank(jacobian, _LOW_THRESHOLD)
    other = _mobility_at_scale(ClosedConfiguration(here.system, here.state, other_rank, here.rng), SCALE, _DEPTH)
    if verdict.finite == other.finite:
        return verdict
    return replace(verdict, finite=None, reason="too near to a singular configuration to tell; move away or onto it")


def _mobility_at_scale(here: ClosedConfiguration, scale: float, depth: int) -> Mobility:
    """The mobility where the rank is clear, probed at a scale; branches are followed to a depth."""
    rank, motions, k = here.rank.rank, here.rank.motions, here.count
    if k == 0:
        return Mobility(rank, 0, 0, rank, "no motion at first order", motions)
    # With full row rank the implicit function theorem gives a manifold of that dimension: nothing to probe.
    if rank == here.system.rows:
        return Mobility(rank, k, k, rank, "all closure equations are independent here", motions)
    verdict = smooth_mobility(here, scale)
    if verdict is not None:
        return verdict
    if depth == 0:
        return Mobility(rank, k, None, rank, "singular all along a branch", motions)
    return _singular_mobility(here, depth)


def _singular_mobility(here: ClosedConfiguration, depth: int) -> Mobility:
    """The verdict at a configuration around which the rank changes, or where motions stop beyond second order."""
    rank, k = here.rank.rank, here.count

    def verdict(finite: int | None, nearby: int, reason: str, branches: tuple[Branch, ...] = ()) -> Mobility:
        return Mobility(rank, k, finite, nearby, reason, here.rank.motions[:, :0], branches)

    if k > MANY_MOTIONS:
        return verdict(None, rank, f"singular, with {k} first-order motions to follow")
    q = quadrics(here)
    zeros = np.zeros((0, k)) if is_flat(q) else zero_directions(q, here.rng)
    if not is_flat(q) and not len(zeros):
        return verdict(0, rank, "isolated: every first-order motion is stopped at second order")
    ways = _ways_out(here, zeros, depth)
    if not ways and k == 1:
        return verdict(0, rank, "isolated: its only first-order motion was followed both ways and leads nowhere")
    if not ways:
        return verdict(None, rank, "motions that second order allows were followed and lead nowhere")
    nearby = max(there.nearby_rank for _, there in ways)
    if any(there.finite is None for _, there in ways):
        return verdict(None, nearby, "singular, and a branch through it is undecided")
    branches = _pair_ways(here, [branch for branch, _ in ways])
    return verdict(max(b.dimension for b in branches), nearby, _dimensions_text(branches), tuple(branches))


def _pair_ways(here: ClosedConfiguration, ways: list[Branch]) -> list[Branch]:
    """Branches from the ways out that were examined: a curve has two ways out; larger families stand once each."""
    larger = {way.dimension: way for way in reversed(ways) if way.dimension > 1}
    curves, kept = [way for way in ways if way.dimension <= 1], []
    while curves:
        first = curves.pop(0)
        kept.append(first)
        # The other way out of a smooth curve is the most nearly opposite one.
        if curves:
            curves.pop(int(np.argmin([_cosine(here, first, other) for other in curves])))
    return [*(larger[d] for d in sorted(larger, reverse=True)), *kept]


def _cosine(here: ClosedConfiguration, first: Branch, second: Branch) -> float:
    """Of the angle between two ways out."""
    a, b = (here.steps_to(way.point)[0] for way in (first, second))
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def _dimensions_text(branches: list[Branch]) -> str:
    dimensions = ", ".join(str(branch.dimension) for branch in branches)
    count = "a branch" if len(branches) == 1 else f"{len(branches)} branches"
    return f"singular: {count} of dimension {dimensions} through it"


def _ways_out(here: ClosedConfiguration, zeros: Array, depth: int) -> list[tuple[Branch, Mobility]]:
    """Ways to leave the configuration, in allowed and in random directions, with what can move on them."""
    random = here.rng.normal(size=(10 * here.count + 10, here.count))
    directions = np.vstack([zeros, -zeros, random / np.linalg.norm(random, axis=1, keepdims=True)])
    ways: list[tuple[Branch, Mobility]] = []
    for distance in _DISTANCES:
        states, went = _both_ways(here, directions, distance)
        for lane in _different(went, distance):
            known = any(_along(went[lane], branch.tangent) for branch, _ in ways if branch.dimension > 1)
            if not known and len(ways) < _MOST_BRANCHES:
                ways.append(_follow_way(here, states.lane(lane), distance, depth))
        if ways:
            break
    return ways


def _both_ways(here: ClosedConfiguration, directions: Array, distance: float) -> tuple[State, Array]:
    """Closed states at a distance, those looked for opposite to the ones that closed included."""
    states, went = _on_sphere(here, directions, distance)
    opposite = -went[_different(went, distance)] @ here.rank.motions / distance
    more, further = _on_sphere(here, opposite, distance)
    both = State(np.concatenate([states.x, more.x]), np.concatenate([states.balls, more.balls]))
    return both, np.concatenate([went, further])


def _on_sphere(here: ClosedConfiguration, directions: Array, distance: float) -> tuple[State, Array]:
    """Closed states at a distance from here, and the steps to them: closed and put at the distance in turns."""
    system = here.system
    states = here.move(directions, distance)
    for _ in range(_ROUNDS):
        closed = project(system, states, steps=300)
        went = here.steps_to(closed.state)
        length = np.linalg.norm(went, axis=1)
        good = (closed.gap < system.open_limit(_CLOSED)) & (length > distance / 2)
        if not good.any():
            return closed.state.lanes(good), went[good]
        aimed = went[good] * (distance / length[good])[:, None]
        states = system.move(here.state.repeat(int(good.sum())), aimed)
    closed = project(system, states, steps=300)
    went = here.steps_to(closed.state)
    good = (closed.gap < system.open_limit(_CLOSED)) & (
        np.abs(np.linalg.norm(went, axis=1) / distance - 1) < _SAME_POINT
    )
    return closed.state.lanes(good), went[good]


def _different(went: Array, distance: float) -> list[int]:
    """Lanes whose points differ."""
    chosen: list[int] = []
    for lane, step in enumerate(went):
        if all(np.linalg.norm(step - went[other]) > _SAME_POINT * distance for other in chosen):
            chosen.append(lane)
    return chosen


def _along(direction: Array, space: Array) -> bool:
    """Whether a direction lies in a space."""
    rest = direction - space @ (space.T @ direction)
    return bool(np.linalg.norm(rest) < _SAME_DIRECTION * np.linalg.norm(direction))


def _follow_way(here: ClosedConfiguration, point: State, distance: float, depth: int) -> tuple[Branch, Mobility]:
    """What can move at a point on a way out, if that way goes on to four times the distance."""
    there = closed_configuration(here.system, point, here.rng)
    outward = here.steps_to(point)
    verdict = _mobility_at_scale(there, distance / _PROBES_PER_DISTANCE, depth - 1)
    if not can_follow(there, outward / np.linalg.norm(outward), distance, 3).all():
        verdict = replace(verdict, finite=None)
    return Branch(verdict.finite or 0, verdict.tangent, point), verdict
