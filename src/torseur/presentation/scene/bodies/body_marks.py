"""Marks that a picture shows when asked: the axes of bodies and of named frames, and the mass centre of the whole."""

from __future__ import annotations

from typing import Any

from torseur.description.mechanism import EARTH_NAME, Frame
from torseur.presentation.scene.bodies.body_poses import point, quaternion_of, rotation_matrix
from torseur.presentation.scene.bodies.body_shapes import Pictures

MOST_FRAMES = 300
LONG = 0.7  # of the typical length: an axis


def marks_data(pictures: Pictures, numbers: dict[str, int]) -> dict[str, Any]:
    """Frames as plain data for the page's script, which places them by the poses of bodies.

    `numbers` are those of the bodies in the scene.
    """
    tree = pictures.numbers.tree
    own = [(name, Frame(name)) for name in (EARTH_NAME, *(body.name for body in tree.mechanism.bodies))]
    frames = []
    for name, frame in [*own, *tree.mechanism.frames][:MOST_FRAMES]:
        place = pictures.place(frame)
        if place is not None and frame.body in numbers:
            turn = quaternion_of(rotation_matrix(place.rotation, 1)[0])
            frames.append({"name": name, "body": numbers[frame.body], "point": point(place.position), "turn": turn})
    return {"frames": frames, "length": LONG * pictures.size}


def masses_data(pictures: Pictures, numbers: dict[str, int]) -> list[dict[str, Any]]:
    """Masses and their centres in the bodies; none where one of them is not known.

    They are no part of the pictures, so that a slider of a mass does not change these.
    """
    if any(one.mass != 0 and (one.mass is None or one.centre is None) for one in pictures.masses.values()):
        return []
    return [
        {"body": numbers[name], "mass": one.mass, "point": one.centre}
        for name, one in pictures.masses.items()
        if name in numbers and one.mass
    ]
