"""Handles: for each coordinate a point of the body it moves, and where that point goes per unit of the coordinate.

At the ends of open chains are hands, which several coordinates move together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torseur.computation.simulation import Trajectory
from torseur.derivation.tree import Link
from torseur.presentation.report.compose.compose_report import Page
from torseur.presentation.scene.bodies.body_poses import body_poses
from torseur.presentation.scene.bodies.body_shapes import Pictures
from torseur.presentation.scene.scene import Array

# A difference: the error of about 1e-5 of the length is less than a pixel.
STEP = 1e-5
ASIDE = 0.45  # of the typical length: handles where a body has no point that moves
MOST_HANDLES, MOST_HANDS = 60, 10
STILL = 0.05  # of the typical length per unit: a point that moves less is no handle


def handles(page: Page, start: Trajectory) -> list[dict[str, Any]]:
    """The handles of the first coordinates but those of quaternions, which do not vary one by one."""
    tree, drawing = page.tree, page.composition.pictures
    bodies = [body.name for body in tree.mechanism.bodies]
    poses = body_poses(page.numbers, _lanes(start, tree.layout.coordinate_names))
    listing = []
    for link in tree.links:
        taken: list[Array] = []
        if link.name not in bodies or link.symbols.quaternion:
            continue
        number = bodies.index(link.name)
        points = _candidates(drawing, link)
        for symbol in link.symbols.coordinates:
            lane = 1 + tree.layout.coordinates.index(symbol)
            moves = [_move(*poses[number], lane, point) for point in points]
            chosen = _choose(points, moves, taken, drawing.size)
            taken.append(points[chosen])
            place = {"body": number + 1, "point": points[chosen].tolist(), "move": moves[chosen].tolist()}
            listing.append({"name": str(symbol.name), **place})
    return listing[:MOST_HANDLES] + _hands(page, poses, drawing)


def _hands(page: Page, poses: list[tuple[Array, Array]], drawing: Pictures) -> list[dict[str, Any]]:
    """A handle at the end of each open chain of several joints, with the columns of its Jacobian.

    The page turns a drag of the hand into motions of all coordinates before it, as inverse kinematics does.
    """
    tree = page.tree
    if tree.loops or tree.mechanism.constraints:
        return []
    # A base that floats stays where it is, and balls as they are turned: the joints between bring the hand there.
    kept = {str(x) for link in tree.links if link.symbols.quaternion for x in link.symbols.coordinates}
    bodies = [body.name for body in tree.mechanism.bodies]
    names, parents = tree.layout.coordinate_names, {link.parent for link in tree.links}
    listing = []
    for k, link in enumerate(tree.links):
        if k in parents or link.name not in bodies:
            continue
        number = bodies.index(link.name)
        point = _candidates(drawing, link)[0]
        columns = {name: _move(*poses[number], lane, point) for lane, name in enumerate(names, 1) if name not in kept}
        moves = {name: column.tolist() for name, column in columns.items() if np.linalg.norm(column) > 0}
        if len(moves) > 1:
            still = [0.0, 0.0, 0.0]
            listing.append(
                {
                    "name": f"{link.name} (hand)",
                    "body": number + 1,
                    "point": point.tolist(),
                    "move": still,
                    "moves": moves,
                }
            )
    return listing[:MOST_HANDS]


def _lanes(start: Trajectory, names: Sequence[str]) -> Trajectory:
    """The start, and the start with each coordinate moved a little, as samples: all are evaluated at once."""
    rows = np.tile(start.values[0], (len(names) + 1, 1))
    columns = [column.name for column in start.columns]
    for lane, name in enumerate(names, 1):
        rows[lane, columns.index(name)] += STEP
    return Trajectory(np.zeros(len(rows)), rows, start.columns)


def _candidates(drawing: Pictures, link: Link) -> list[Array]:
    """Points of a body in its own frame: its ends, the farthest first, then points on its axes."""
    start = drawing.start(link.name)
    ends = sorted(drawing.ends(link.name), key=lambda end: -float(np.linalg.norm(end - start)))
    aside = ASIDE * drawing.size
    return [*ends, *(start + sign * aside * axis for axis in np.eye(3) for sign in (1.0, -1.0))]


def _move(origin: Array, turn: Array, lane: int, point: Array) -> Array:
    """How a point moves per unit of a coordinate."""
    moved: Array = (origin[lane] - origin[0] + (turn[lane] - turn[0]) @ point) / STEP
    return moved


def _choose(points: Sequence[Array], moves: Sequence[Array], taken: Sequence[Array], size: float) -> int:
    """The first point that moves well and holds no other handle; else the one that moves most."""
    for k, (point, move) in enumerate(zip(points, moves, strict=True)):
        free = all(np.linalg.norm(point - other) > 0.1 * size for other in taken)
        if free and np.linalg.norm(move) > STILL * size:
            return k
    return int(np.argmax([np.linalg.norm(move) for move in moves]))
