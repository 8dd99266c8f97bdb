"""From where a mechanism is first seen: along the normal of the plane it moves in, or from aside and above."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torseur.presentation.scene.bodies.body_shapes import Pictures
from torseur.presentation.scene.bodies.joint_shapes import moving_axes
from torseur.presentation.scene.orientation import level_axes, rotation
from torseur.presentation.scene.scene import Array

PARALLEL = 1e-6
STEEPEST = 1.5  # as far up as the viewer's camera goes


def plane_normal(pictures: Pictures, up: Array) -> Array | None:
    """The unit normal of the plane in which every joint moves its bodies; None for a mechanism in space.

    Rotations about one direction and displacements across it stay in planes. Displacements alone may leave several
    normals: the most level one is taken.
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
    level = np.linalg.svd((free @ up)[None])[2][-1] @ free if len(free) > 1 else free[0]
    normal = level / np.linalg.norm(level)
    return np.asarray(normal)


def _axes(pictures: Pictures) -> Iterator[tuple[str, Array]]:
    """Kind and direction, in the world where the motion starts, of every motion of a joint by its coordinates."""
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
        yield from ((kind, turn @ axis) for kind, axis in moving_axes(joint, pictures.numbers, place))


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
