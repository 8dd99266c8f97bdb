"""Probes around a closed configuration: points along first-order motions, closed again, at two scales."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.projection import project
from torseur.derivation.loops.configuration import MANY_MOTIONS, ClosedConfiguration, Mobility
from torseur.derivation.loops.mobility.second_order import is_flat, quadrics, zero_directions
from torseur.derivation.loops.model.loop_system import State
from torseur.derivation.loops.rank.numerical_rank import ranks

# In units of the mechanism's own size: far above what rounding and closing leave (1e-10), and near enough that what
# curvature takes of a step, about its square, is small beside the step.
SCALE = 0.02
_PROBE_GAP = 1e-10
_AT_ONCE = 10
_NEARLY_ALL = 0.35
_OUTSIDE = 0.05
_FEW_FREEDOMS = 40
_MANY_FREEDOMS = 200
_NUDGES = 4


def smooth_mobility(here: ClosedConfiguration, scale: float) -> Mobility | None:
    """The verdict where configurations of the same rank form a smooth set, None where they do not."""
    k = here.count
    # A unit direction among k motions moves each by 1/√k: beyond four motions the probe grows so that none moves less.
    size = scale * max(1.0, np.sqrt(k) / 2)
    directions, kept, worst = np.zeros((0, k)), np.zeros((0, k)), 0.0
    # A few directions at a time: most mechanisms are decided by the first handful.
    for new in _orthonormal(here):
        far, near = probe(here, new, size), probe(here, new, size / 4)
        if far is None or near is None:
            return None
        # What curvature takes is proportional to the distance; the limit at zero distance is what counts.
        directions, kept = np.vstack([directions, new]), np.vstack([kept, (4 * near - far) / 3])
        worst = max(worst, float(np.max(np.linalg.norm(new - far, axis=1))))
        gone = _count_directions(directions - kept, k)
        # Nothing lost, and no probe far from where it was aimed: the set is as large as the tangent space.
        if gone == 0 and worst < _NEARLY_ALL and len(directions) >= min(k, _AT_ONCE):
            return _verdict_all(here, scale)
        saturated = gone is not None and gone <= len(directions) - 3 and k > MANY_MOTIONS
        # What is lost and what is kept are counted apart and must add up to k, or the probes do not tell.
        if gone and (saturated or (len(directions) >= k and _count_directions(kept, k) == k - gone)):
            return _verdict_some(here, kept, k - gone, scale)
    return None


def probe(here: ClosedConfiguration, directions: Array, size: float) -> Array | None:
    """Where points at a distance along first-order motions come to lie when closed again, in units of the distance.

    None when some cannot be closed or come to lie where the rank is another.
    """
    closed = _close_again(here, here.move(directions, size), size)
    if closed is None:
        return None
    n = here.system.n
    # Ranks of large nets cost more than closing them: there one or two probes stand for all.
    seen = closed.lanes(slice(0, len(directions) if n <= _FEW_FREEDOMS else 2 if n <= _MANY_FREEDOMS else 1))
    if np.any(ranks(here.system.linearise(seen)[1]) != here.rank.rank):
        return None
    went: Array = here.steps_to(closed) @ here.rank.motions / size
    return went


def _close_again(here: ClosedConfiguration, states: State, size: float) -> State | None:
    """States closed again; one that stops at a saddle of its gap is nudged. None when some cannot be closed."""
    for _ in range(_NUDGES):
        tried = project(here.system, states, steps=200)
        opened = tried.gap > here.system.open_limit(_PROBE_GAP)
        if not opened.any():
            return tried.state
        # At a saddle the gradient of the gap vanishes; a nudge of a thousandth of the probe leaves it.
        nudge = np.where(opened[:, None], here.rng.normal(0.0, 1e-3 * size, (len(opened), here.system.n)), 0.0)
        states = here.system.move(tried.state, nudge)
    return None


def _count_directions(rows: Array, k: int) -> int | None:
    """The number of independent directions in rows of a projected orthonormal set, None when it is not clear."""
    values = np.linalg.svd(rows, compute_uv=False) / np.sqrt(min(1.0, len(rows) / k))
    # Of an orthonormal set projected on a subspace the singular values are 1 or 0; probes blur both.
    present, absent = values > 0.3, values < 0.12
    return int(np.sum(present)) if np.all(present | absent) else None


def _orthonormal(here: ClosedConfiguration) -> Iterator[Array]:
    """Random directions a few at a time: orthonormal ones first, then two to check."""
    k = here.count
    # k + 2 rows from whole bases: two of them, or three of a single motion.
    sets = [np.linalg.qr(here.rng.normal(size=(k, k)))[0] for _ in range(1 + -(-2 // k))]
    chosen: Array = np.vstack(sets)[: k + 2]
    few = _AT_ONCE if k <= MANY_MOTIONS else _AT_ONCE // 2
    for start in range(0, len(chosen), few):
        yield chosen[start : start + few]


def _verdict_all(here: ClosedConfiguration, scale: float) -> Mobility | None:
    """All motions are finite, if some of them drawn at random go on."""
    rank, motions, k = here.rank.rank, here.rank.motions, here.count
    if not _go_on(here, motions, scale):
        return None
    return Mobility(rank, k, k, rank, "every first-order motion continues", motions)


def _verdict_some(here: ClosedConfiguration, kept: Array, finite: int, scale: float) -> Mobility | None:
    """Some motions are infinitesimal only, if second order forbids them and the others go on."""
    k = here.count
    span = np.linalg.svd(kept)[2][:finite].T
    if len(kept) < k:
        span = np.zeros((k, 0))  # too many motions to name those that continue
    elif k <= MANY_MOTIONS and not _forbidden(here, span):
        return None
    tangent = here.rank.motions @ span
    if span.shape[1] and not _go_on(here, tangent, scale):
        return None
    gone = k - finite
    reason = f"{gone} of the {k} first-order motions {'leads' if gone == 1 else 'lead'} nowhere"
    return Mobility(here.rank.rank, k, finite, here.rank.rank, reason, tangent)


def _forbidden(here: ClosedConfiguration, span: Array) -> bool:
    """Whether second order allows no direction outside a space."""
    # Probes lost these directions; second order must forbid them too, or the loss may be one of convergence.
    q = quadrics(here)
    if is_flat(q):
        return False
    zeros = zero_directions(q, here.rng)
    outside = zeros - (zeros @ span) @ span.T
    return not np.any(np.linalg.norm(outside, axis=1) > _OUTSIDE)


def _go_on(here: ClosedConfiguration, tangent: Array, scale: float) -> bool:
    """Whether two motions drawn at random go on for ten times the distance of a probe, the rank not growing."""
    chosen = here.rng.normal(size=(2, tangent.shape[1])) @ tangent.T
    directions = chosen / np.linalg.norm(chosen, axis=1, keepdims=True)
    alive, states = follow(here, directions, 2.5 * scale, 4)
    # Beside a cusp the rank changes so little that probes, which close near it, do not see it. Further out it shows.
    return bool(np.all(alive)) and bool(np.all(ranks(here.system.linearise(states)[1]) <= here.rank.rank))


def follow(here: ClosedConfiguration, directions: Array, step: float, count: int) -> tuple[Array, State]:
    """(which, states): directions (lanes) that can be followed, and where to.

    Each step is closed again and must cover more than half its length.
    """
    system, states = here.system, here.state.repeat(len(directions))
    alive = np.ones(len(directions), bool)
    for _ in range(count):
        closed = project(system, system.move(states, step * directions), steps=100)
        went = system.difference(states, closed.state)
        ahead = np.sum(went * directions, axis=1) > 0.5 * step
        alive &= ahead & (closed.gap < system.open_limit(_PROBE_GAP))
        states = closed.state
        directions = went / np.maximum(np.linalg.norm(went, axis=1, keepdims=True), 1e-300)
    return alive, states
