"""Sensors: kinematic quantities of frames that laws and outputs refer to by name (`wheel.rotation.z`)."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.algebra.graph import Expr, symbol
from torseur.description.mechanism.frames import EARTH, Frame
from torseur.errors import MechanismError, unknown_name

UNITS = {"position": "m", "velocity": "m/s", "acceleration": "m/s^2", "rotation": "rad/s", "rotation_rate": "rad/s^2"}
COMPONENTS = ("x", "y", "z")


@dataclass(frozen=True)
class Sensor:
    """One component of a kinematic quantity of a frame with respect to the earth.

    kind: position, velocity or acceleration of the frame's origin, rotation (angular velocity) or rotation_rate (its
    derivative). Components are taken along `axes`.
    """

    name: str
    kind: str
    of: Frame
    component: str
    axes: Frame = EARTH

    def __post_init__(self) -> None:
        if self.kind not in UNITS:
            raise MechanismError(unknown_name("quantity", self.kind, UNITS, f"sensor '{self.name}': "))
        if self.component not in COMPONENTS:
            raise MechanismError(unknown_name("component", self.component, COMPONENTS, f"sensor '{self.name}': "))

    @property
    def symbol(self) -> Expr:
        """The symbol that stands for the measured value in laws."""
        return symbol(self.name, UNITS[self.kind], f"{self.kind} of {self.of.body} along {self.component}")
