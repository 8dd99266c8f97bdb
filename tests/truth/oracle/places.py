"""Where frames are: positions and rotation matrices as jets, from placements and elementary motions.

A place (p, R) maps components in a frame to components in the frame it is seen from: x = p + R ξ. Placements and motions
are written exactly as the language says: an offset, then turns about the turned axes; motions one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truth.oracle.jets import Jet, applied, component, dot, function, jet, root, scaled, stack, transposed


@dataclass(frozen=True)
class Place:
    """Position and rotation matrix of a frame."""

    position: Jet
    rotation: Jet

    def then(self, other):
        """The place of a frame that has the place `other` in this one."""
        return Place(self.position + applied(self.rotation, other.position), self.rotation @ other.rotation)

    @property
    def inverse(self):
        """The place of the frame from which this one is seen, seen from this one."""
        back = transposed(self.rotation)
        return Place(-applied(back, self.position), back)


def unmoved():
    return Place(Jet(np.zeros((1, 3))), Jet(np.eye(3)[None]))


def vector_of(components, value):
    """A vector of the description, each component evaluated by `value`."""
    return stack([value(c) for c in components])


def direction_of(components, value):
    """The unit vector along a vector of the description."""
    vector = vector_of(components, value)
    return scaled(1 / root(dot(vector, vector)), vector)


def skew(vector):
    """[v], with [v] w = v x w."""
    x, y, z = (component(vector, k) for k in range(3))
    rows = [stack(row) for row in ((0 * x, -z, y), (z, 0 * x, -x), (-y, x, 0 * x))]
    return Jet(*(np.stack([getattr(row, part) for row in rows], axis=-2) for part in ("value", "rate", "second")))


def turned(angle, axis):
    """Rotation by an angle about a unit vector: 1 + sin a [u] + (1 - cos a) [u]²."""
    turn = skew(axis)
    angle = angle if isinstance(angle, Jet) else jet(np.atleast_1d(np.asarray(angle)))
    return Jet(np.eye(3)[None]) + scaled(function("sin", angle), turn) + scaled(1 - function("cos", angle), turn @ turn)


def turned_by_quaternion(w, x, y, z):
    """Rotation matrix of a quaternion (scalar first): 1 + 2 w [v] + 2 [v]² for |q| = 1."""
    turn = skew(stack([x, y, z]))
    return Jet(np.eye(3)[None]) + scaled(2 * w, turn) + 2 * (turn @ turn)


def placed(placement, value):
    """The place that a placement of the description means."""
    place = Place(vector_of(placement.position, value), Jet(np.eye(3)[None]))
    for turn in placement.rotation:
        spin = turned(value(turn.angle), direction_of(turn.axis, value))
        place = place.then(Place(Jet(np.zeros((1, 3))), spin))
    return place


def moved(joint, quaternion, value):
    """The place of a joint's child frame in its parent frame: its elementary motions one after the other."""
    place = unmoved()
    for motion in joint.motions:
        if motion.kind == "translation":
            amount = value(motion.amount)
            shift = scaled(
                amount if isinstance(amount, Jet) else jet(np.atleast_1d(np.asarray(amount))),
                direction_of(motion.axis, value),
            )
            place = place.then(Place(shift, Jet(np.eye(3)[None])))
        elif motion.kind == "rotation":
            place = place.then(
                Place(Jet(np.zeros((1, 3))), turned(value(motion.amount), direction_of(motion.axis, value)))
            )
        else:
            place = place.then(Place(Jet(np.zeros((1, 3))), turned_by_quaternion(*quaternion)))
    return place
