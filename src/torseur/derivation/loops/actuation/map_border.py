"""Where the mechanism can go no further on a map, and whether inputs or outputs are singular there.

A determinant that is never negative has no line of zeros between nodes of a grid: where the coordinates of the map are
the inputs themselves, they are singular on the border of what is reached, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.actuation.contours import Crossing, at_corners, zero_lines
from torseur.derivation.loops.actuation.map_slice import Slice
from torseur.derivation.loops.model.loop_system import State

_HALVINGS = 30
_VANISHED = 1e-3  # of its usual size: a determinant falls like the root of the distance to the border


@dataclass(frozen=True)
class Border:
    """A piece of the border, points (P, 2) in SI, and the kinds of singularity all along it."""

    points: Array
    kinds: tuple[str, ...]


def border_lines(cut: Slice, axes: Sequence[Array], reached: Array, states: State) -> list[Border]:
    """The border between nodes that are reached and nodes that are not, cut where its kinds change."""
    inside = states.lanes(np.flatnonzero(reached))
    watched = {"": cut.given_coordinates, **cut.kinds}
    usual = {name: float(np.median(cut.determinants(inside, rows))) for name, rows in watched.items()}
    borders = []
    for line in zero_lines(at_corners(np.where(reached, 1.0, -1.0))):
        points, there = _border_points(cut, line, axes, reached, states)
        vanishes = {name: cut.determinants(there, rows) < _VANISHED * usual[name] for name, rows in watched.items()}
        # Where the coordinates of the map still determine the motion, a jump to another branch ended the way there.
        kinds = [tuple(k for k in cut.kinds if vanishes[k][p] and vanishes[""][p]) for p in range(len(line))]
        borders += _pieces(points * cut.system.amounts.units[list(cut.drawn)], kinds)
    return borders


def _border_points(cut: Slice, line: list[Crossing], axes: Sequence[Array], reached: Array,
              states: State) -> tuple[Array, State]:  # fmt: skip
    """The last place on every edge of the grid that is reached from its node that is, and the states there."""
    units = cut.system.amounts.units[list(cut.drawn)]
    ends = [edge if reached[edge[0]] else edge[::-1] for edge in line]
    low, high = (np.array([[axes[0][i], axes[1][j]] for i, j in nodes]) / units for nodes in zip(*ends, strict=True))
    near = states.lanes([i * len(axes[1]) + j for (i, j), _ in ends])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        closed, good = cut.closed(near, middle)
        low, high = np.where(good[:, None], middle, low), np.where(good[:, None], high, middle)
        near = near.with_lanes(good, closed.lanes(good))
    return low, near


def _pieces(points: Array, kinds: list[tuple[str, ...]]) -> list[Border]:
    """The line as pieces of one kind each; pieces of no kind go on to the singular ones beside them."""
    cuts = [0, *(k for k in range(1, len(kinds)) if kinds[k] != kinds[k - 1]), len(kinds)]
    spans = [(a, b) if kinds[a] else (max(a - 1, 0), b + 1) for a, b in pairwise(cuts)]
    return [Border(points[a:b], kinds[first]) for (a, b), first in zip(spans, cuts, strict=False) if b - a > 1]
