"""Finite mobility: how many of the infinitesimal motions can be followed for a finite distance.

The closed configurations near a closed one are probed: points off it along first-order motions are projected back,
at two scales. Where they keep their distance in every direction, all motions are finite. Where they lose
the same directions everywhere, those are infinitesimal only. Where the probes land on configurations of higher
rank, this one is singular, and the branches through it are followed one by one. A number is given only when probes,
second order and continuation agree; otherwise the mobility is undecided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.loops.projection import project
from torseur.loops.rank import NumericalRank, numerical_rank
from torseur.loops.second_order import is_flat, quadrics, zero_directions
from torseur.loops.system import LoopSystem, State

Floats = np.ndarray[Any, np.dtype[np.float64]]

SCALE = 0.02
MANY_MOTIONS = 40
_PROBE_GAP = 1e-10
_AT_ONCE = 10
_NEARLY_ALL = 0.35
_OUTSIDE = 0.05


@dataclass(frozen=True)
class Branch:
    """Configurations through a singular one: their dimension, the directions they leave in (n, k), a point on them."""

    dimension: int
    tangent: Floats
    point: State


@dataclass(frozen=True)
class Mobility:
    """Rank and mobilities at a closed configuration; `finite` is None when undecided.

    `nearby_rank` is the rank of configurations reached by finite motions, larger than `rank` at a singular
    configuration. `tangent` spans the directions that continue (n, finite).
    """

    rank: int
    infinitesimal: int
    finite: int | None
    nearby_rank: int
    reason: str
    tangent: Floats
    branches: tuple[Branch, ...] = ()

    @property
    def is_singular(self) -> bool:
        return self.nearby_rank > self.rank


def mobility(system: LoopSystem, state: State, rng: np.random.Generator, scale: float = SCALE, depth: int = 2) -> Mobility:
    """Rank, infinitesimal and finite mobility at a closed configuration (one lane)."""
    found = numerical_rank(system.linearised(state)[1][0])
    rank, motions = found.rank, found.motions
    k = motions.shape[1]
    if k == 0:
        return Mobility(rank, 0, 0, rank, "no motion at first order", motions)
    if rank == system.rows:
        return Mobility(rank, k, k, rank, "all closure equations are independent here", motions)
    smooth = _smooth(system, state, found, rng, scale)
    if smooth is not None:
        return smooth
    if depth == 0:
        return Mobility(rank, k, None, rank, "singular all along a branch", motions)
    from torseur.loops.branching import branching

    return branching(system, state, found, rng, depth - 1)


def _smooth(system: LoopSystem, state: State, found: NumericalRank, rng: np.random.Generator,
            scale: float) -> Mobility | None:  # fmt: skip
    """The verdict where configurations of the same rank form a smooth set, None where they do not."""
    k = found.motions.shape[1]
    size = scale * max(1.0, np.sqrt(k) / 2)
    directions, kept, worst = np.zeros((0, k)), np.zeros((0, k)), 0.0
    while len(directions) <= k + 4:
        new = _orthonormal(rng, k, min(k + 2, _AT_ONCE))
        far = probe(system, state, found, new, size)
        near = probe(system, state, found, new, size / 4)
        if far is None or near is None:
            return None
        # What curvature takes is proportional to the distance; the limit at zero distance is what counts.
        directions, kept = np.vstack([directions, new]), np.vstack([kept, (4 * near - far) / 3])
        worst = max(worst, float(np.max(np.linalg.norm(new - far, axis=1))))
        gone, went = _counted(directions - kept, k), _counted(kept, k)
        if gone == 0 and worst < _NEARLY_ALL:
            return _full(system, state, found, scale, rng)
        if gone is None or went is None or (gone == 0 and worst >= _NEARLY_ALL):
            return None
        if gone <= len(directions) - 3 or (len(directions) >= k and went == k - gone):
            return _partial(system, state, found, kept, k - gone, scale, rng)
    return None


def probe(system: LoopSystem, state: State, found: NumericalRank, directions: Floats, size: float) -> Floats | None:
    """Where points at a distance along first-order motions come to lie when closed again, in units of the distance.

    None when some cannot be closed or come to lie where the rank is another.
    """
    count = len(directions)
    start = system.moved(state.repeated(count), size * directions @ found.motions.T)
    closed = project(system, start, steps=200, damping=1e-6)
    if np.any(closed.gap > _PROBE_GAP):
        return None
    if any(numerical_rank(j).rank != found.rank for j in system.linearised(closed.state)[1]):
        return None
    went: Floats = system.difference(state.repeated(count), closed.state) @ found.motions / size
    return went


def _counted(rows: Floats, k: int) -> int | None:
    """The number of independent directions in rows of a projected orthonormal set, None when it is not clear."""
    values = np.linalg.svd(rows, compute_uv=False) / np.sqrt(min(1.0, len(rows) / k))
    present, absent = values > 0.3, values < 0.12
    return int(np.sum(present)) if np.all(present | absent) else None


def _orthonormal(rng: np.random.Generator, k: int, count: int) -> Floats:
    """Random directions, orthonormal as far as possible."""
    sets = [np.linalg.qr(rng.normal(size=(k, k)))[0] for _ in range(-(-count // k))]
    chosen: Floats = np.vstack(sets)[:count]
    return chosen


def _full(system: LoopSystem, state: State, found: NumericalRank, scale: float,
          rng: np.random.Generator) -> Mobility | None:  # fmt: skip
    """All motions are finite, if some of them drawn at random go on."""
    k = found.motions.shape[1]
    if not _go_on(system, state, found.motions, scale, rng):
        return None
    return Mobility(found.rank, k, k, found.rank, "every first-order motion continues", found.motions)


def _partial(system: LoopSystem, state: State, found: NumericalRank, kept: Floats, finite: int, scale: float,
             rng: np.random.Generator) -> Mobility | None:  # fmt: skip
    """Some motions are infinitesimal only, if second order forbids them and the others go on."""
    k = found.motions.shape[1]
    span = np.linalg.svd(kept)[2][:finite].T
    if len(kept) < k:
        span = np.zeros((k, 0))  # too many motions to name those that continue
    elif k <= MANY_MOTIONS and not _forbidden(system, state, found, span, rng):
        return None
    tangent = found.motions @ span
    if span.shape[1] and not _go_on(system, state, tangent, scale, rng):
        return None
    gone = k - finite
    reason = f"{gone} of the {k} first-order motions {'leads' if gone == 1 else 'lead'} nowhere"
    return Mobility(found.rank, k, finite, found.rank, reason, tangent)


def _forbidden(system: LoopSystem, state: State, found: NumericalRank, span: Floats, rng: np.random.Generator) -> bool:
    """Whether second order allows no direction outside a space."""
    q = quadrics(system, state, found)
    if is_flat(q):
        return False
    zeros = zero_directions(q, rng)
    outside = zeros - (zeros @ span) @ span.T
    return not np.any(np.linalg.norm(outside, axis=1) > _OUTSIDE)


def _go_on(system: LoopSystem, state: State, tangent: Floats, scale: float, rng: np.random.Generator) -> bool:
    """Whether two motions drawn at random can be followed for ten times the distance of a probe."""
    chosen = rng.normal(size=(2, tangent.shape[1])) @ tangent.T
    directions = chosen / np.linalg.norm(chosen, axis=1, keepdims=True)
    return bool(np.all(followed(system, state, directions, 2.5 * scale, 4)))


def followed(system: LoopSystem, state: State, directions: Floats, step: float, count: int) -> Floats:
    """Which directions (lanes) can be followed: each step is closed again and must cover more than half its length."""
    here = state.repeated(len(directions))
    alive = np.ones(len(directions), bool)
    for _ in range(count):
        closed = project(system, system.moved(here, step * directions), steps=100, damping=1e-6)
        went = system.difference(here, closed.state)
        length = np.linalg.norm(went, axis=1, keepdims=True)
        ahead = np.sum(went * directions, axis=1) > 0.5 * step
        alive &= ahead & (closed.gap < _PROBE_GAP)
        here, directions = closed.state, went / np.maximum(length, 1e-300)
    return alive
