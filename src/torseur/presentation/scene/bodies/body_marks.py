"""Marks that a picture shows when asked: the axes of bodies and of named frames, and the mass centre of the whole."""

from __future__ import annotations

from typing import Any

from torseur.description.mechanism import EARTH_NAME, Frame
from torseur.presentation.scene.bodies.body_poses import point, quaternion_of, rotation_matrix
from torseur.presentation.scene.bodies.body_shapes import Pictures

MOST_FRAMES = 300
LONG = 0.7  # of the typical length: an axis


def marks_data(pictures: Pictures, numbers: dict[str, int]) -> dict[str, Any]:
    """Frames and masses as plain data for the page's script, which places them by the poses of bodies.

    `numbers` are those of the bodies in the scene. Masses are there when all of them are known.
    """
    tree = pictures.numbers.tree
    own = [(name, Frame(name)) for name in (EARTH_NAME, *(body.name for body in tree.mechanism.bodies))]
    frames = []
    for name, frame in [*own, *tree.mechanism.frames][:MOST_FRAMES]:
        place = pictures.place(frame)
        if place is not None and frame.body in numbers:
            turn = quaternion_of(rotation_matrix(place.rotation, 1)[0])
            frames.append({"name": name, "body": numbers[frame.body], "point": point(place.position), "turn": turn})
    masses = [
        {"body": numbers[name], "mass": one.mass, "point": one.centre}
        for name, one in pictures.masses.items()
        if name in numbers and one.mass
    ]
    known = all(one.mass == 0 or (one.mass is not None and one.centre is not None) for one in pictures.masses.values())
    return {"frames": frames, "masses": masses if known else [], "length": LONG * pictures.size}
