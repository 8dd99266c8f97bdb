"""Lines on a grid where a function vanishes (marching squares), as pairs of neighbours with different signs."""

from __future__ import annotations

import numpy as np

from torseur.algebra.arrays import Array

Node = tuple[int, int]
Crossing = tuple[Node, Node]


def zero_lines(values: Array) -> list[list[Crossing]]:
    """Polylines through grid edges (pairs of neighbouring nodes) across which values change sign; nan is outside.

    Values (R - 1, C - 1, 4) are those at the corners of each cell, in the order of `corners`: a function that has a
    sign along every cell need not have one over the whole grid.
    """
    around: dict[Crossing, list[Crossing]] = {}
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            for first, second in _segments(values[i, j], corners(i, j)):
                around.setdefault(first, []).append(second)
                around.setdefault(second, []).append(first)
    return _join(around)


def corners(i: int, j: int) -> list[Node]:
    """Nodes at the corners of a cell, around it."""
    return [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]


def at_corners(grid: Array) -> Array:
    """Values on a grid (R, C) as values at the corners of its cells (R - 1, C - 1, 4)."""
    return np.stack([grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]], axis=-1)


def _segments(numbers: Array, corners: list[Node]) -> list[tuple[Crossing, Crossing]]:
    """Pieces of the line in a cell, each from one of its edges to another."""
    if not np.all(np.isfinite(numbers)):
        return []
    edges = [(corners[k], corners[(k + 1) % 4]) for k in range(4)]
    crossed = [_order(*edges[k]) for k in range(4) if (numbers[k] > 0) != (numbers[(k + 1) % 4] > 0)]
    if len(crossed) == 2:
        return [(crossed[0], crossed[1])]
    if len(crossed) == 4:
        # A saddle: the mean decides which corners belong together.
        turned = (np.mean(numbers) > 0) == (numbers[0] > 0)
        return [(crossed[0], crossed[1]), (crossed[2], crossed[3])] if turned else [
            (crossed[3], crossed[0]), (crossed[1], crossed[2])]  # fmt: skip
    return []


def _order(first: Node, second: Node) -> Crossing:
    return (first, second) if first <= second else (second, first)


def _join(around: dict[Crossing, list[Crossing]]) -> list[list[Crossing]]:
    """Pieces joined to lines, open ones from their ends."""
    left = dict.fromkeys(around)
    lines = []
    for start in sorted(around, key=lambda crossing: (len(around[crossing]), crossing)):
        if start not in left:
            continue
        line, here = [start], start
        del left[start]
        while following := [n for n in around[here] if n in left]:
            here = following[0]
            del left[here]
            line.append(here)
        if len(line) > 2 and start in around[here]:
            line.append(start)
        lines.append(line)
    return lines
