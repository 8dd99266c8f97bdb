"""Constraints besides joints: what must hold between coordinates, points or velocities.

They are part of a description and of the language; analyses that do not cover them say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torseur.errors import MechanismError
from torseur.graph import ExprLike, as_expr
from torseur.graph.expr import Expr
from torseur.mechanism.bodies import Body, frame_of
from torseur.mechanism.frames import EARTH, Frame
from torseur.mechanism.quantities import Coordinate, Vector, as_vector


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


def equation(name: str, residual: ExprLike) -> Equation:
    """0 = residual, of coordinates, rates, time and parameters; with rates it is a velocity constraint."""
    return Equation(name, as_expr(residual))


def driver(name: str, coordinate: Coordinate, law: ExprLike) -> Equation:
    """A prescribed motion: the coordinate, such as mechanism.joint("A").coordinate("q"), follows a law of ts.TIME."""
    if not isinstance(coordinate, Coordinate):
        raise MechanismError(
            f"driver '{name}': expected a coordinate, such as joint.coordinate('q'), got {coordinate!r}."
        )
    return Equation(name, coordinate.symbol - as_expr(law))


def distance(name: str, first: Frame | Body, second: Frame | Body, value: ExprLike) -> Distance:
    """A massless rod with balls at its ends: two points keep their distance (m)."""
    one, other = (frame_of(end, f"distance '{name}'") for end in (first, second))
    return Distance(name, one, other, as_expr(value))


def rolling(
    name: str,
    wheel: Frame | Body,
    radius: ExprLike,
    normal: Sequence[Any] = (0, 0, 1),
    on: Frame = EARTH,
    tyre: ExprLike | None = None,
) -> Rolling:
    """A wheel that turns about the z axis of its frame and rolls on the plane through `on` with that upward normal.

    `radius` is that of its rim, `tyre` that of the torus around it; without one it is a knife edge.
    """
    upward, thick = as_vector(normal, f"normal of '{name}'"), None if tyre is None else as_expr(tyre)
    return Rolling(name, frame_of(wheel, f"rolling '{name}'"), as_expr(radius), upward, on, thick)
