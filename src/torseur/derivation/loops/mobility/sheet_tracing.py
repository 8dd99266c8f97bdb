"""Sheets of two dimensions followed all around a singular configuration, along the curve in which they meet a sphere.

Two patches of a sheet that folds sharply between them look like two sheets: no straight walk leads from one to the
other. The curve does, whatever it folds through, and through crossings with other sheets (or with itself).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.projection import project
from torseur.derivation.loops.configuration import ClosedConfiguration
from torseur.derivation.loops.mobility.branch_points import CLOSED, TURNED, BranchPoint, nearest_motions
from torseur.derivation.loops.model.loop_system import State
from torseur.derivation.loops.rank.numerical_rank import numerical_rank

_LARGEST, _LEAST = 0.1, 0.001  # steps, in units of the distance of the sphere
_STEPS = 400
# The curve is passed at points a step apart, so that whatever lies on it is within half a step of one.
_MET = 0.6  # of a step: nearer to the curve a point lies on it


def join_by_tracing(
    here: ClosedConfiguration, groups: list[list[BranchPoint]], distance: float
) -> list[list[BranchPoint]]:
    """Sheets of two dimensions joined where the curve of one passes through points of another."""
    joined: list[list[BranchPoint]] = []
    left = list(groups)
    while left:
        group, *left = left
        if group[0].dimension == 2 and any(other[0].dimension == 2 for other in left):
            for passed in _around(here, group[0], distance):
                met = [g for g in left if g[0].dimension == 2 and any(_passes(passed, p, distance) for p in g)]
                left = [g for g in left if not any(g is other for other in met)]
                group = [*group, *(point for other in met for point in other)]
                if not any(other[0].dimension == 2 for other in left):
                    break
        joined.append(group)
    return joined


def _passes(passed: BranchPoint, point: BranchPoint, distance: float) -> bool:
    """Whether the curve runs through a point, on its sheet."""
    near = float(np.linalg.norm(passed.step - point.step)) < _MET * _LARGEST * distance
    return near and float(np.linalg.svd(passed.motions.T @ point.motions, compute_uv=False)[-1]) > TURNED


def _around(here: ClosedConfiguration, start: BranchPoint, distance: float) -> Iterator[BranchPoint]:
    """Points along the curve from a point, one way until it comes back or stops, then the other way."""
    first = _direction(start, None)
    for heading in (first, -first):
        point, along, size = start, heading, _LARGEST
        for k in range(_STEPS):
            ahead = _next(here, point, along, size * distance, distance)
            if ahead is None:
                size /= 2
                if size < _LEAST:
                    break
                continue
            along, point, size = _direction(ahead, along), ahead, min(_LARGEST, 1.5 * size)
            yield point
            # Back at the start with the same heading. The first steps are still near it.
            if k > 5 and _passes(point, start, distance) and float(along @ heading) > 0:
                return


def _direction(point: BranchPoint, before: Array | None) -> Array:
    """The unit tangent of the curve: in the sheet, across the way out, on from the one before."""
    # In the sheet's own two directions: the way out turned by a right angle.
    outward = point.motions.T @ point.step
    along: Array = point.motions @ np.array([-outward[1], outward[0]]) / float(np.linalg.norm(outward))
    return -along if before is not None and float(along @ before) < 0 else along


def _next(
    here: ClosedConfiguration, point: BranchPoint, along: Array, size: float, distance: float
) -> BranchPoint | None:
    """The point of the curve one step ahead, None where the sheet turns too much on the way."""
    system, went = here.system, point.step + size * along
    state: State = system.move(point.state, (size * along)[None])
    for _ in range(3):
        closed = project(system, state, steps=60)
        went = here.steps_to(closed.state)[0]
        if closed.gap[0] > system.open_limit(CLOSED):
            return None
        state = system.move(here.state, (went * distance / max(float(np.linalg.norm(went)), 1e-300))[None])
    # Fallen back, or jumped to another sheet: the caller halves the step.
    if not 0.3 * size < float(np.linalg.norm(went - point.step)) < 2.0 * size:
        return None
    motions = nearest_motions(numerical_rank(system.linearise(closed.state)[1][0]).motions, point.motions)
    return None if motions is None else BranchPoint(closed.state, went, motions)
