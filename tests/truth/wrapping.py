"""A drawn mechanism as a part: mounted somewhere on the earth, or mirrored there, with gravity turned along.

Whatever the frame and the mirror, equal coordinates are the same motion seen from elsewhere: accelerations are those of the
text that is written out. Components that have names (of quaternions, of speeds in a body's axes) change sign in a mirror.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

NORMALS = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0.3, -1, 0.4), (0.3, 0.2, -0.4), (-0.6, 0.1, 0.5))
NAME = "piece_1"


@dataclass(frozen=True)
class Wrapped:
    """A text with a part in it, and the axis along which the part is reflected."""

    text: str
    axis: int | None


def wrapped(text, rng, mirrored):
    """The text as a part, in use once."""
    found = re.search(r"gravity = \[([^\]]*)\] ;", text)
    gravity = np.array([float(c) for c in found[1].split(",")])
    inside = text.replace(found[0], "")
    angle, axis = round(rng.uniform(-2, 2), 3), [round(rng.uniform(-1, 1), 3) for _ in range(3)]
    # A position is measured from the ground: a part that measures one cannot lie elsewhere.
    away = (
        [0, 0, 0] if ".position." in text or "position." in text else [round(rng.uniform(-1, 1), 3) for _ in range(3)]
    )
    normal = rng.choice(NORMALS) if mirrored else None
    here = rotation(angle, axis) @ (np.eye(3) if normal is None else reflection(normal)) @ gravity
    at = f"[{away[0]}, {away[1]}, {away[2]}] m ++ ({angle} || [{axis[0]}, {axis[1]}, {axis[2]}]) @ earth"
    across = "" if normal is None else f" mirrored across [{normal[0]}, {normal[1]}, {normal[2]}]"
    whole = [
        f"gravity = [{', '.join(repr(float(c)) for c in here)}] ;",
        f"part piece\n{inside}end ;",
        f"use piece as {NAME} at {at}{across} ;",
    ]
    return Wrapped("\n".join(whole) + "\n", None if normal is None else int(np.argmax(np.abs(normal))))


def reflection(normal):
    n = np.array(normal, dtype=float)
    return np.eye(3) - 2 * np.outer(n, n) / (n @ n)


def rotation(angle, axis):
    """Rodrigues' formula."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    across = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * across + (1 - np.cos(angle)) * across @ across


def component_sign(name, joint, axis):
    """The sign that a coordinate or speed has in a mirror: it is a component of something, or the same as ever."""
    quaternion = [m for m in joint.motions if m.kind == "quaternion"]
    used = {str(x.name) for m in joint.motions for x in _symbols(m.amount)}
    vector = [q.name for q in joint.coordinates if q.name not in used][1:] if quaternion else []
    if name.rstrip("'") in vector:
        return 1 if vector.index(name.rstrip("'")) == axis else -1
    body = [speed.name for speed in joint.speeds] if joint.frame_speeds == "body" else []
    for kind, names in (("v", body[:3]), ("w", body[3:])):
        names = names or [f"{joint.name}.{kind}{c}" for c in "xyz"]
        if name in names:
            turns = kind == "w"
            return 1 if (names.index(name) == axis) == turns else -1
    return 1


def _symbols(formula):
    from torseur.algebra.graph import symbols_of

    return symbols_of([formula])
