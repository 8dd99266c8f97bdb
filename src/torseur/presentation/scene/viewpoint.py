"""From where a mechanism is first seen: along the normal of the plane it moves in, or from aside and above.

A mechanism in space is seen from the side on which its own parts hide least of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.description.mechanism import TIME
from torseur.presentation.scene.bodies.body_shapes import Pictures
from torseur.presentation.scene.bodies.joint_shapes import moving_axes
from torseur.presentation.scene.orientation import level_axes, rotation, screen_axes
from torseur.presentation.scene.pictures.triangles import surface_of
from torseur.presentation.scene.scene import Array, Scene

ASIDE, ABOVE = 0.9, 0.3  # azimuth and elevation of a mechanism in space (rad)
DEEP = 1.0  # times its width, how far a mechanism may reach along the normal of its plane and still be seen flat
NEAR = 0.05  # of the whole, how far behind a shape a point counts as hidden by it
WORTH = 0.15  # of all points, how many more must be seen from another side
PARALLEL = 1e-6
STEEPEST = 1.5  # as far up as the viewer's camera goes


def plane_normal(pictures: Pictures, up: Array, points: Array) -> Array | None:
    """The unit normal of the plane in which every joint moves its bodies; None for a mechanism in space.

    Rotations about one direction and displacements across it stay in planes. Displacements alone may leave several
    normals: the most level one is taken, and of what goes up and down alone that which shows things side by side.
    """
    turns: list[Array] = []
    slides: list[Array] = []
    for kind, axis in _axes(pictures):
        (turns if kind == "rotation" else slides).append(axis)
        if kind == "quaternion":
            return None
    if turns:
        normal = turns[0]
        flat = all(np.linalg.norm(np.cross(axis, normal)) < PARALLEL for axis in turns)
        return normal if flat and all(abs(float(axis @ normal)) < PARALLEL for axis in slides) else None
    if not slides:
        return None
    # Directions across all slides: the rows of the null space, of which the most level one is the view.
    _, sizes, rows = np.linalg.svd(np.array(slides))
    free = rows[int(np.sum(sizes > PARALLEL)) :]
    if not len(free):
        return None
    level = free[0]
    if len(free) > 1:
        is_upright = float(np.abs(free @ up).max()) < PARALLEL
        spread = (points - points.mean(axis=0)) @ free.T if is_upright and len(points) > 1 else np.zeros((1, 2))
        level = np.linalg.svd(spread if spread.any() else (free @ up)[None])[2][-1] @ free
    normal = level / np.linalg.norm(level)
    return np.asarray(normal)


def is_deep(points: Array, normal: Array) -> bool:
    """Whether points lie behind one another along a normal, as discs on a shaft do, more than beside one another."""
    along = float(np.ptp(points @ normal))
    across = points - np.outer(points @ normal, normal)
    return along > DEEP * float(np.linalg.norm(np.ptp(across, axis=0)))


def clearest_side(scene: Scene, points: Array) -> float:
    """The azimuth, of four, from which the shapes of a scene hide fewest points where its motion starts."""
    solids = list(_solids(scene))
    hidden = []
    for side in (0, -1, 1, 2):
        azimuth = ASIDE + side * np.pi / 2
        screen = screen_axes(replace(scene.view, azimuth=azimuth, elevation=ABOVE))
        hidden.append((_count_hidden(solids, points, screen), azimuth))
    best = min(hidden, key=lambda one: one[0])
    return best[1] if hidden[0][0] - best[0] > WORTH * len(points) else ASIDE


def _solids(scene: Scene) -> Iterator[tuple[Array, NDArray[Any]]]:
    """Corners, in the world where the motion starts, and triangles of every shape."""
    for number, body in enumerate(scene.bodies):
        turn, place = rotation(scene.motion.quaternions[0, number]), scene.motion.positions[0, number]
        for shape in body.shapes:
            surface = surface_of(shape, 0.0)
            if surface is not None and len(surface.triangles):
                yield surface.vertices @ turn.T + place, surface.triangles


def _count_hidden(solids: Sequence[tuple[Array, NDArray[Any]]], points: Array, screen: Array) -> int:
    """How many points lie well behind a shape; the rows of `screen` are right, up and towards the viewer."""
    flat = points @ screen.T
    hidden = np.zeros(len(points), dtype=bool)
    clear = NEAR * float(np.linalg.norm(np.ptp(points, axis=0)))
    for vertices, triangles in solids:
        corners = vertices @ screen.T
        low, high = corners.min(axis=0), corners.max(axis=0)
        inside = np.all((flat[:, :2] >= low[:2]) & (flat[:, :2] <= high[:2]), axis=1)
        near = inside & (flat[:, 2] < high[2] - clear) & ~hidden
        if near.any():
            hidden[near] = _behind(flat[near], corners[triangles], clear)
    return int(hidden.sum())


def _behind(points: Array, triangles: Array, clear: float) -> Array:
    """Which points have a triangle between them and the viewer, by more than a distance; depth is the third number."""
    one, first, second = triangles[:, 0], triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    off = points[:, None] - one
    area = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        a = (off[..., 0] * second[:, 1] - off[..., 1] * second[:, 0]) / area
        b = (first[:, 0] * off[..., 1] - first[:, 1] * off[..., 0]) / area
        depth = one[:, 2] + a * first[:, 2] + b * second[:, 2]
        covered = (a >= 0) & (b >= 0) & (a + b <= 1) & (depth - points[:, None, 2] > clear)
    return np.asarray(covered.any(axis=1))


def _axes(pictures: Pictures) -> Iterator[tuple[str, Array]]:
    """Kind and direction, in the world where the motion starts, of every motion of a joint."""
    motion, tree = pictures.motion, pictures.numbers.tree
    if motion is None:
        return
    names = [body.name for body in tree.mechanism.bodies]
    closing = {joint.name for joint in tree.loops}
    for joint in tree.mechanism.joints:
        # Balls and others that close a loop have freedoms that it never uses.
        if joint.name in closing and len(joint.coordinates) > 1:
            continue
        if any(one.kind == "quaternion" for one in joint.motions):
            yield "quaternion", np.zeros(3)
            continue
        place = pictures.place(joint.parent)
        if place is None:
            continue
        number = names.index(joint.parent.body) + 1 if joint.parent.body in names else 0
        turn = rotation(motion.quaternions[0, number])
        # What time turns, and what follows another joint, moves as well.
        moving = moving_axes(joint, pictures.numbers, place, {*pictures.moving, TIME})
        yield from ((kind, turn @ axis) for kind, axis in moving)


def angles_of(normal: Array, up: Array) -> tuple[float, float]:
    """Azimuth and elevation of a viewer in the direction of a normal, on its side that shows right what is right."""
    x, y = level_axes(up)
    a, b, c = float(normal @ x), float(normal @ y), float(normal @ up)
    if abs(c) > 0.99:
        return -np.pi / 2, STEEPEST if abs(c) < 1.0 else float(np.pi / 2)
    # Of the two sides the one from which the first level axis points to the right, or the second one where it points
    # at the viewer: -y and +x, as in drawings.
    sign = -1.0 if (b > PARALLEL or (abs(b) <= PARALLEL and a < 0)) else 1.0
    return float(np.arctan2(sign * b, sign * a)), float(np.arcsin(np.clip(sign * c, -1, 1)))
