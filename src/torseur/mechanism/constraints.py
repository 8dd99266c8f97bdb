"""Constraints besides joints: what must hold between coordinates, points or velocities.

They are part of a description and of the language; analyses that do not cover them say so.
"""

from __future__ import annotations

from dataclasses import dataclass

from torseur.graph.expr import Expr
from torseur.mechanism.frames import EARTH, Frame
from torseur.mechanism.quantities import Vector


@dataclass(frozen=True)
class Equation:
    """0 = residual, an expression of coordinates, rates, time, parameters and sensors.

    Rates make it a velocity constraint (nonholonomic when it cannot be integrated).
    """

    name: str
    residual: Expr


@dataclass(frozen=True)
class Distance:
    """The distance between two points has a given value (m)."""

    name: str
    first: Frame
    second: Frame
    value: Expr


@dataclass(frozen=True)
class Rolling:
    """A wheel rolls without slipping on a plane of another body.

    The wheel turns about the z axis of its frame (the axle); `radius` is that of its rim, `tyre_radius` that of the
    torus around it (0 = knife edge). `normal` is the plane's upward normal, with the plane through the origin of `on`.
    """

    name: str
    wheel: Frame
    radius: Expr
    normal: Vector
    on: Frame = EARTH
    tyre_radius: Expr | None = None


Constraint = Equation | Distance | Rolling
