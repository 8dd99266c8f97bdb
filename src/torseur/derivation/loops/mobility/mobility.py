"""Mobility: by count, and how many of the infinitesimal motions can be followed for a finite distance.

The closed configurations near a closed one are probed. Where they keep their distance in every direction, all
motions are finite. Where they lose the same directions everywhere, those are infinitesimal only. Where the probes
land on configurations of higher rank, this one is singular, and the branches through it are followed one by one. A
number is given only when probes, second order and continuation agree; otherwise the mobility is undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.configuration import (
    MANY_MOTIONS,
    Branch,
    ClosedConfiguration,
    Mobility,
    closed_configuration,
)
from torseur.derivation.loops.mobility.branch_points import BranchPoint, branch_point, branch_points, sheets
from torseur.derivation.loops.mobility.probing import SCALE, follow, smooth_mobility
from torseur.derivation.loops.mobility.second_order import independent_quadrics, is_flat, quadrics, zero_directions
from torseur.derivation.loops.mobility.sheet_tracing import join_by_tracing
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
_MOST_BRANCHES = 48
_REGULAR = 1e-3


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


def part_mobility(here: ClosedConfiguration) -> Mobility:
    """Rank, infinitesimal and finite mobility at a closed configuration of loops that hang together.

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
    return replace(verdict, finite=None, reason="too close to a singular configuration to decide; move away or onto it")


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

    def verdict(
        finite: int | None, nearby: int, reason: str, branches: tuple[Branch, ...] = (), proof: str = ""
    ) -> Mobility:
        return Mobility(rank, k, finite, nearby, reason, here.rank.motions[:, :0], branches, proof)

    if k > MANY_MOTIONS:
        return verdict(None, rank, f"singular, with {k} first-order motions to follow")
    q = quadrics(here)
    zeros = np.zeros((0, k)) if is_flat(q) else zero_directions(q, here.rng, 60 * k)
    if not is_flat(q) and not len(zeros):
        return verdict(0, rank, "isolated: every first-order motion is stopped at second order")
    ways = _ways_out(here, zeros, depth)
    if not ways and k == 1:
        return verdict(0, rank, "isolated: its only first-order motion does not continue in either direction")
    if not ways:
        return verdict(None, rank, "motions that second order allows were followed and lead nowhere")
    nearby = max(there.nearby_rank for _, there in ways)
    if any(there.finite is None for _, there in ways):
        return verdict(None, nearby, "singular, and a branch through it is undecided")
    branches = _pair_ways(here, [branch for branch, _ in ways])
    proof = "" if is_flat(q) else _completeness(independent_quadrics(q), nearby - rank, branches)
    return verdict(max(b.dimension for b in branches), nearby, dimensions_text(branches), tuple(branches), proof)


def _completeness(q: Array, equations: int, branches: list[Branch]) -> str:
    """Why the branches are all there are, empty where that is not known; q are the independent quadratic equations."""
    k, count = q.shape[1], len(branches)
    if len(q) != equations:
        return ""
    # One equation whose quadratic part is regular is equivalent to it (Morse's lemma): two curves, or one cone.
    sizes = np.linalg.eigvalsh(q[0])
    regular = float(np.min(np.abs(sizes))) > _REGULAR * float(np.max(np.abs(sizes)))
    if equations == 1 and regular and count == (2 if k == 2 else 1):
        return "second order is one regular quadratic form, which the configurations around are equivalent to"
    # Bézout: so many quadrics in general position have at most so many common lines.
    if k == equations + 1 and count == 2**equations and all(b.dimension == 1 for b in branches):
        return f"{equations} quadratic equations allow no more"
    return ""


def _pair_ways(here: ClosedConfiguration, ways: list[Branch]) -> list[Branch]:
    """Branches from the ways out that were examined: a curve has two ways out; larger families stand once each."""
    larger = sorted((way for way in ways if way.dimension > 1), key=lambda way: -way.dimension)
    curves, kept = [way for way in ways if way.dimension <= 1], []
    while curves:
        first = curves.pop(0)
        kept.append(first)
        # The other way out of a smooth curve is the most nearly opposite one.
        if curves:
            curves.pop(int(np.argmin([_cosine(here, first, other) for other in curves])))
    return [*larger, *kept]


def _cosine(here: ClosedConfiguration, first: Branch, second: Branch) -> float:
    """Of the angle between two ways out."""
    a, b = (here.steps_to(way.point)[0] for way in (first, second))
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def dimensions_text(branches: Sequence[Branch]) -> str:
    """The branches in words."""
    dimensions = [branch.dimension for branch in branches]
    if len(set(dimensions)) == 1:
        count = "a branch" if len(branches) == 1 else f"{len(branches)} branches"
        return f"singular: {count} of dimension {dimensions[0]} through it"
    shown = ", ".join(map(str, dimensions[:-1]))
    return f"singular: {len(branches)} branches of dimensions {shown} and {dimensions[-1]} through it"


def _ways_out(here: ClosedConfiguration, zeros: Array, depth: int) -> list[tuple[Branch, Mobility]]:
    """Ways to leave the configuration, in allowed and in random directions, with what can move on them."""
    random = here.rng.normal(size=(20 * here.count + 10, here.count))
    directions = np.vstack([zeros, -zeros, random / np.linalg.norm(random, axis=1, keepdims=True)])
    for distance in _DISTANCES:
        points = branch_points(here, directions, distance)
        found = join_by_tracing(here, sheets(here, points), distance)
        ways, crossings = _follow_sheets(here, found, distance, depth)
        # A point on a crossing of sheets tells of the sheets that cross there.
        more = [branch_point(here, branch.point) for there in crossings for branch in there.branches]
        if more:
            again = [g for g in sheets(here, [*points, *more]) if g[0].dimension in {p.dimension for p in more}]
            others = [way for way in ways if way[0].tangent.shape[1] not in {g[0].dimension for g in again}]
            ways = others + _follow_sheets(here, again, distance, depth)[0]
        if ways:
            return ways
    return []


def _follow_sheets(
    here: ClosedConfiguration, groups: list[list[BranchPoint]], distance: float, depth: int
) -> tuple[list[tuple[Branch, Mobility]], list[Mobility]]:
    """(ways, crossings): what moves at a point of each sheet, and the verdicts at points where sheets cross."""
    ways, crossings = [], []
    # Sheets with many points first: a crossing is met by few.
    for group in sorted(groups, key=lambda g: -len(g))[:_MOST_BRANCHES]:
        branch, there = _follow_way(here, group[0].state, distance, depth)
        if there.is_singular and there.branches and len(groups) > 1:
            crossings.append(there)
        else:
            ways.append((branch, there))
    return ways, crossings


def _follow_way(here: ClosedConfiguration, point: State, distance: float, depth: int) -> tuple[Branch, Mobility]:
    """What can move at a point on a way out, if that way goes on to four times the distance."""
    there = closed_configuration(here.system, point, here.rng)
    outward = here.steps_to(point)
    verdict = _mobility_at_scale(there, distance / _PROBES_PER_DISTANCE, depth - 1)
    if not follow(there, outward / np.linalg.norm(outward), distance, 3)[0].all():
        verdict = replace(verdict, finite=None)
    return Branch(verdict.finite or 0, verdict.tangent, point), verdict
