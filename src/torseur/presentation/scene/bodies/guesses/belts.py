"""Belts and chains: two wheels on one frame that turn the same way, with radii that leave room between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from torseur.presentation.scene.bodies.body_poses import point
from torseur.presentation.scene.bodies.guesses.coordinate_ties import SAME, Tie, Wheel
from torseur.presentation.scene.scene import Array
from torseur.presentation.scene.shapes import Line

if TYPE_CHECKING:
    from torseur.presentation.scene.bodies.body_shapes import Pictures

ARC = 24  # points of a belt about each of its wheels
LENGTHS = ("m", "m/s")


@dataclass(frozen=True, eq=False)
class Belt:
    """Two wheels, the body on which both turn, and the line of the belt in that body."""

    parent: str
    wheels: tuple[Wheel, Wheel]
    points: Array

    def line(self, radius: float) -> Line:
        return Line(tuple(point(p) for p in self.points), radius=radius, shade=0.7)


def belt_of(pictures: Pictures, tie: Tie) -> Belt | None:
    """The belt of r q = s p, with wheels of radii r and s that do not touch; None for any other tie.

    With factors that are no lengths, as in q = 3 p, the wheels are taken for gears: nothing says how large they are.
    """
    if len(tie.shares) != 2 or any(share.kind != "rotation" for share in tie.shares):
        return None
    one, other = tie.shares
    radii = (abs(one.factor), abs(other.factor))
    is_length = tie.unit in LENGTHS or (not tie.unit and 1.0 not in radii)
    parent, cosine = one.joint.parent.body, float(one.axis @ other.axis)
    same_way = one.factor * other.factor * cosine < 0 and abs(abs(cosine) - 1) <= SAME
    if one.joint is other.joint or other.joint.parent.body != parent or not (is_length and same_way):
        return None
    carried = [pictures.beyond(share.joint, share.joint.parent) for share in tie.shares]
    own = [pictures.place(share.joint.child) for share in tie.shares]
    spots = [np.array(point(place.position)) for place in (*carried, *own) if place is not None]
    if len(spots) != 4:
        return None
    way = spots[1] - spots[0]
    way = way - one.axis * (way @ one.axis)
    distance = float(np.linalg.norm(way))
    if distance < sum(radii) * (1 + SAME):
        return None
    # The belt leaves the line of centres by the angle whose cosine is (r - s) / d, on both wheels the same.
    along, half = way / distance, float(np.arccos((radii[0] - radii[1]) / distance))
    across = np.cross(one.axis, along)
    angles = np.concatenate([np.linspace(half, 2 * np.pi - half, ARC), np.linspace(-half, half, ARC)])
    centres = np.repeat([spots[0], spots[0] + way], ARC, axis=0)
    sizes = np.repeat(radii, ARC)[:, None]
    points = centres + sizes * (np.cos(angles)[:, None] * along + np.sin(angles)[:, None] * across)
    wheels = tuple(
        Wheel(s.joint.child.body, c, s.own_axis, r) for s, c, r in zip(tie.shares, spots[2:], radii, strict=True)
    )
    return Belt(parent, (wheels[0], wheels[1]), np.vstack([points, points[:1]]))
