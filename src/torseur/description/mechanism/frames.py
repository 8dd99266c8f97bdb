"""Where things are: placements (an offset, then rotations), frames fixed in bodies, and what is measured of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from torseur.algebra.graph import ExprLike, as_expr, symbol
from torseur.algebra.graph.expr import Expr
from torseur.description.mechanism.quantities import ORIGIN, Vector, as_vector
from torseur.errors import MechanismError, unknown_name

EARTH_NAME = "earth"


@dataclass(frozen=True)
class Turn:
    """A rotation of an angle about an axis; the axis need not be of unit length."""

    angle: Expr
    axis: Vector


def turn(angle: ExprLike, axis: Sequence[Any]) -> Turn:
    """A rotation by an angle (rad) about an axis."""
    direction = as_vector(axis, "rotation axis")
    if all(component.is_zero for component in direction):
        raise MechanismError("a rotation axis cannot be [0, 0, 0].")
    return Turn(as_expr(angle), direction)


@dataclass(frozen=True)
class Placement:
    """An offset, then rotations applied one after the other about the turned axes."""

    position: Vector = ORIGIN
    rotation: tuple[Turn, ...] = ()

    @property
    def is_identity(self) -> bool:
        return not self.rotation and all(component.is_zero for component in self.position)


HERE = Placement()


def placement(position: Sequence[Any] = (0, 0, 0), *rotation: Turn) -> Placement:
    """A placement from an offset (m) and rotations."""
    return Placement(as_vector(position, "position"), tuple(rotation))


@dataclass(frozen=True)
class Frame:
    """A frame fixed in a body, placed from the body's reference frame or from its mass centre frame ("iframe")."""

    body: str
    placement: Placement = HERE
    base: str = "frame"

    def __post_init__(self) -> None:
        if self.base not in ("frame", "iframe"):
            raise MechanismError(f"a frame is placed from 'frame' or 'iframe', not '{self.base}'.")

    def at(self, position: Sequence[Any], *rotation: Turn) -> Frame:
        """The frame at an offset from this one (only from a body's own frame)."""
        if not self.placement.is_identity:
            raise MechanismError(f"offset a frame of body '{self.body}' from body.frame or body.iframe.")
        return replace(self, placement=placement(position, *rotation))


EARTH = Frame(EARTH_NAME)


# Kinematic quantities of frames that laws and outputs refer to by name (`wheel.rotation.z`).
QUANTITIES = {
    "position": "m",
    "direction": "1",
    "velocity": "m/s",
    "acceleration": "m/s^2",
    "rotation": "rad/s",
    "rotation_rate": "rad/s^2",
}
COMPONENTS = ("x", "y", "z")
COSINES = tuple(f"{along}{axis}" for along in COMPONENTS for axis in COMPONENTS)


def components_of(kind: str) -> tuple[str, ...]:
    """The components of a quantity; direction cosines of a direction: xy is the part along x of the y axis."""
    return COSINES if kind == "direction" else COMPONENTS


@dataclass(frozen=True)
class Sensor:
    """One component of a kinematic quantity of a frame with respect to the earth.

    kind: position, velocity or acceleration of the frame's origin, rotation (angular velocity) or rotation_rate (its
    derivative), or direction (of the frame's axes). Components are taken along `axes`.
    """

    name: str
    kind: str
    of: Frame
    component: str
    axes: Frame = EARTH

    def __post_init__(self) -> None:
        if self.kind not in QUANTITIES:
            raise MechanismError(unknown_name("quantity", self.kind, QUANTITIES, f"sensor '{self.name}': "))
        known = components_of(self.kind)
        if self.component not in known:
            raise MechanismError(unknown_name("component", self.component, known, f"sensor '{self.name}': "))

    @property
    def symbol(self) -> Expr:
        """The symbol that stands for the measured value in laws."""
        if self.kind == "direction":
            along, axis = tuple(self.component)
            return symbol(self.name, "1", f"part along {along} of the {axis} axis of {self.of.body}")
        return symbol(self.name, QUANTITIES[self.kind], f"{self.kind} of {self.of.body} along {self.component}")


@dataclass(frozen=True)
class Measure:
    """A quantity by name: a formula of time, coordinates, rates, states, sensors and parameters, with its unit."""

    name: str
    formula: Expr
    unit: str = "1"
    meaning: str = ""
