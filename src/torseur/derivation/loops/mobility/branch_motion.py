"""A motion from a singular configuration into one of the branches through it, and the branch's tangent there."""

from __future__ import annotations

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.projection import project
from torseur.derivation.loops.configuration import Branch, ClosedConfiguration
from torseur.derivation.loops.mobility.branch_points import CLOSED
from torseur.derivation.loops.mobility.partition import independent_rows
from torseur.derivation.loops.model.loop_system import State
from torseur.derivation.loops.rank.numerical_rank import numerical_rank

# Frames for whoever draws the motion: eight to the branch's point, up to sixteen beyond.
_INWARD = 8
_OUTWARD = 16


def branch_motion(here: ClosedConfiguration, branch: Branch) -> list[State]:
    """Closed states from the singular one through the branch's point and on, as far as the motion goes."""
    # From the point inwards: near the singular configuration closing alone would choose any branch.
    inward = [here.state, *(_at_part(here, branch, k / _INWARD) for k in range(1, _INWARD)), branch.point]
    return inward + _outward(here, inward)


def _at_part(here: ClosedConfiguration, branch: Branch, part: float) -> State:
    """The closed state nearest to a part of the way to the branch's point."""
    aimed = part * here.steps_to(branch.point)
    return project(here.system, here.system.move(here.state, aimed), steps=100).state


def _outward(here: ClosedConfiguration, inward: list[State]) -> list[State]:
    """The motion followed further, steps of one size with the direction it has."""
    system, states = here.system, []
    before, state = inward[-2:]
    # Twice the inward spacing: beyond the point the branch stands clear of its neighbours.
    size = 2.0 * float(np.linalg.norm(system.difference(before, state)))
    for _ in range(_OUTWARD):
        along = system.difference(before, state)
        along = along * (size / max(float(np.linalg.norm(along)), 1e-300))
        closed = project(system, system.move(state, along), steps=100)
        went = system.difference(state, closed.state)
        # Less than half the step gained along it: a dead point, where closing pushed the state back.
        if closed.gap[0] > system.open_limit(CLOSED) or float(np.sum(went * along)) < 0.5 * size**2:
            break
        before, state = state, closed.state
        states.append(state)
    return states


def branch_tangent(here: ClosedConfiguration, branch: Branch) -> tuple[list[int], Array]:
    """(rows, N): independent freedoms of a branch, and its directions (n, dimension) per unit of each at its start."""
    dimension = branch.tangent.shape[1]
    if dimension == 0:
        return [], np.zeros((here.system.n, 0))
    rows = independent_rows(branch.tangent)
    spaces = [_tangent_at(here, _at_part(here, branch, part), branch.tangent, rows) for part in (0.5, 0.25, 0.125)]
    # Richardson: what curvature adds grows with the distance and with its square, both of which are extrapolated away.
    near, nearer, nearest = spaces
    extrapolated: Array = (near - 6 * nearer + 8 * nearest) / 3
    # Below this stands what extrapolation leaves, third order in the distance: a reader wants a zero there.
    return rows, np.where(np.abs(extrapolated) < 1e-4, 0.0, extrapolated)


def _tangent_at(here: ClosedConfiguration, state: State, tangent: Array, rows: list[int]) -> Array:
    """Directions of a branch at a state, those of its first-order motions nearest to a known tangent."""
    motions = numerical_rank(here.system.linearise(state)[1][0]).motions
    # The nearest subspace of the motions (principal vectors), where a crossing has more of them than the branch.
    own = motions @ np.linalg.svd(motions.T @ tangent, full_matrices=False)[0]
    normalised: Array = own @ np.linalg.inv(own[rows])
    return normalised
