"""Points of the branches through a singular configuration, told apart by the sheets that they lie on.

Points are closed configurations at a distance. Two lie on one sheet when both have the same tangent space, nearly, and
the step between them lies in it; or when one can be walked to from the other along tangent spaces that turn gradually.
A branch of dimension two or more is one such sheet, a curve two of them: one for each way out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.projection import project
from torseur.derivation.loops.configuration import ClosedConfiguration
from torseur.derivation.loops.model.loop_system import State
from torseur.derivation.loops.rank.numerical_rank import numerical_rank

CLOSED = 1e-10
# In units of the distance from the singular configuration.
SAME_POINT = 0.03
_ROUNDS = 6
TURNED = np.cos(0.25)  # of the largest angle between tangent spaces of neighbours
# Of a step between points, what may stand out of their tangent spaces: curvature, not another sheet.
_ASIDE = 0.25
# Steps of a fifth of the straight way each: detours of up to five times its length.
_WALK = 25
_MOST_WALKS = 60


@dataclass(frozen=True, eq=False)
class BranchPoint:
    """A closed configuration near a singular one, the step to it, and the first-order motions there (n, k)."""

    state: State
    step: Array
    motions: Array

    @property
    def dimension(self) -> int:
        return int(self.motions.shape[1])


def branch_points(here: ClosedConfiguration, directions: Array, distance: float) -> list[BranchPoint]:
    """Different closed configurations at a distance, looked for in directions and opposite to those that closed."""
    states, went = _on_sphere(here, directions, distance)
    # A curve leaves both ways. Directions are tried with either sign, but closing may lose one of the two.
    opposite = -went[_different(went, distance)] @ here.rank.motions / distance
    more, further = _on_sphere(here, opposite, distance)
    both = State(np.concatenate([states.x, more.x]), np.concatenate([states.balls, more.balls]))
    steps = np.concatenate([went, further])
    return [branch_point(here, both.lane(lane), steps[lane]) for lane in _different(steps, distance)]


def branch_point(here: ClosedConfiguration, state: State, step: Array | None = None) -> BranchPoint:
    """A closed configuration as a point of a branch."""
    motions = numerical_rank(here.system.linearise(state)[1][0]).motions
    return BranchPoint(state, here.steps_to(state)[0] if step is None else step, motions)


def _on_sphere(here: ClosedConfiguration, directions: Array, distance: float) -> tuple[State, Array]:
    """Closed states at a distance from here, and the steps to them: closed and put at the distance in turns."""
    system = here.system
    states = here.move(directions, distance)
    for _ in range(_ROUNDS):
        closed = project(system, states, steps=300)
        went = here.steps_to(closed.state)
        length = np.linalg.norm(went, axis=1)
        # What fell back to the singular configuration lies on every branch and tells of none.
        good = (closed.gap < system.open_limit(CLOSED)) & (length > distance / 2)
        if not good.any():
            return closed.state.lanes(good), went[good]
        # Closing changes the distance and stretching opens the loops: each undoes little of the other, so they
        # alternate.
        aimed = went[good] * (distance / length[good])[:, None]
        states = system.move(here.state.repeat(int(good.sum())), aimed)
    closed = project(system, states, steps=300)
    went = here.steps_to(closed.state)
    good = (closed.gap < system.open_limit(CLOSED)) & (np.abs(np.linalg.norm(went, axis=1) / distance - 1) < SAME_POINT)
    return closed.state.lanes(good), went[good]


def _different(went: Array, distance: float) -> list[int]:
    """Lanes whose points differ."""
    chosen: list[int] = []
    for lane, step in enumerate(went):
        if all(np.linalg.norm(step - went[other]) > SAME_POINT * distance for other in chosen):
            chosen.append(lane)
    return chosen


def sheets(here: ClosedConfiguration, points: list[BranchPoint]) -> list[list[BranchPoint]]:
    """Points by the sheets they lie on; points of curves stand alone, one for each way out."""
    groups: list[list[BranchPoint]] = []
    for point in points:
        # Single linkage: the new point merges all groups that it neighbours.
        joined = [g for g in groups if point.dimension > 1 and any(_neighbours(point, other) for other in g)]
        groups = [g for g in groups if not any(g is other for other in joined)]
        groups.append([*(other for g in joined for other in g), point])
    return _join_by_walks(here, groups)


def _neighbours(first: BranchPoint, second: BranchPoint) -> bool:
    """Whether two points lie on one sheet as far as tangent spaces tell."""
    if first.dimension != second.dimension:
        return False
    # The smallest singular value of N₁ᵀ N₂ is the cosine of the largest principal angle between the spaces.
    if np.linalg.svd(first.motions.T @ second.motions, compute_uv=False)[-1] < TURNED:
        return False
    between = second.step - first.step
    aside = max(float(np.linalg.norm(between - t @ (t.T @ between))) for t in (first.motions, second.motions))
    return aside < _ASIDE * float(np.linalg.norm(between))


def _join_by_walks(here: ClosedConfiguration, groups: list[list[BranchPoint]]) -> list[list[BranchPoint]]:
    """Sheets of one dimension joined where one can be walked to from the other."""
    kept: list[list[BranchPoint]] = []
    walks = 0
    # Large groups first: their many points offer a near target to the small ones.
    for group in sorted(groups, key=len, reverse=True):
        target = None
        for known in kept:
            if group[0].dimension > 1 and known[0].dimension == group[0].dimension and walks < _MOST_WALKS:
                walks += 1
                nearest = min(known, key=lambda p: float(np.linalg.norm(p.step - group[0].step)))
                if _can_walk(here, group[0], nearest):
                    target = known
                    break
        if target is None:
            kept.append(group)
        else:
            target.extend(group)
    return kept


def _can_walk(here: ClosedConfiguration, start: BranchPoint, end: BranchPoint) -> bool:
    """Whether a walk on the sheet of the first point towards the second arrives there, with its tangent space."""
    system, state, tangent = here.system, start.state, start.motions
    whole = float(np.linalg.norm(end.step - start.step))
    for _ in range(_WALK):
        ahead = system.difference(state, end.state)[0]
        along = tangent @ (tangent.T @ ahead)
        left, size = float(np.linalg.norm(ahead)), float(np.linalg.norm(along))
        if left < SAME_POINT * whole:
            return bool(np.linalg.svd(tangent.T @ end.motions, compute_uv=False)[-1] > TURNED)
        # The target stands across the sheet here; walking along would only circle it.
        if size < 0.3 * left:
            return False
        step = along * min(1.0, 0.2 * whole / size)
        closed = project(system, system.move(state, step[None]), steps=60)
        if closed.gap[0] > system.open_limit(CLOSED):
            return False
        state = closed.state
        motions = numerical_rank(system.linearise(state)[1][0]).motions
        turned = nearest_motions(motions, tangent)
        if turned is None:
            return False
        tangent = turned
    return False


def nearest_motions(motions: Array, tangent: Array) -> Array | None:
    """Of the motions at a point those nearest to the ones just before; None where they turn too much.

    On a crossing with another sheet there are more motions than those of the sheet that is followed.
    """
    left_vectors, values, _ = np.linalg.svd(motions @ (motions.T @ tangent), full_matrices=False)
    return left_vectors if values[-1] >= TURNED else None
