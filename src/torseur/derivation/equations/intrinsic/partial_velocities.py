"""What a joint's child does per unit of one of its speeds, as two vectors: ∂ω/∂v and ∂v(O)/∂v.

Along a quasi-velocity or a component of a quaternion's angular velocity the balances read, with Kane,

    ∂ω/∂v · (moments at O) + ∂v(O)/∂v · (forces) = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph import as_expr
from torseur.algebra.intrinsic.operators import vector
from torseur.algebra.spatial import UNIT, Vec3
from torseur.derivation.equations.intrinsic.frames_catalogue import Constant, FramesCatalogue


@dataclass(frozen=True)
class PartialVelocity:
    """sign · vector, with the vector None where the speed does not move the child that way."""

    angular: Any
    angular_sign: int
    linear: Any
    linear_sign: int


def partial_velocity(catalogue: FramesCatalogue, i: int, slot: int) -> PartialVelocity:
    """The partial velocities of link i by a speed of its own joint."""
    link = catalogue.tree.links[i]
    screw = link.motion.screws[slot - link.v.start]
    speed = str(catalogue.tree.layout.speeds[slot].name)
    turning = _vector(catalogue, i, screw.angular, f"w_{speed}", f"angular velocity of {link.name} per unit of {speed}")
    moving = _vector(catalogue, i, screw.linear, f"v_{speed}", f"velocity of O_{link.name} per unit of {speed}")
    return PartialVelocity(*turning, *moving)


def _vector(catalogue: FramesCatalogue, i: int, local: Vec3, name: str, meaning: str) -> tuple[Any, int]:
    """An axis of the link where it is one, otherwise a vector of its own name."""
    components = [as_expr(x) for x in local]
    if all(x.is_zero for x in components):
        return None, 1
    for axis, letter in zip(UNIT, "xyz", strict=True):
        for sign in (1, -1):
            if all((x - sign * e).is_zero for x, e in zip(components, axis, strict=True)):
                return unit_axis(catalogue, i, letter), sign
    made = vector(name, frame=catalogue.frames[i])
    catalogue.components[made] = catalogue.pose(i).rotation.to_parent(local)
    catalogue.fixed[made] = Constant(meaning, catalogue.frames[i].name, Vec3(*components))
    return made, 1


def unit_axis(catalogue: FramesCatalogue, i: int, letter: str) -> Any:
    """The axis x, y or z of a link."""
    link, axis = catalogue.tree.links[i], UNIT["xyz".index(letter)]
    made = vector(f"e_{letter}_{link.name}", unit=True, constant=True, frame=catalogue.frames[i])
    catalogue.components[made] = catalogue.pose(i).rotation.to_parent(axis)
    catalogue.fixed[made] = Constant(f"{letter} axis of {link.name}, of unit length")
    return made
