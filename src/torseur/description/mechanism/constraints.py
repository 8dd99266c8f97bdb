"""Constraints besides joints: what must hold between coordinates, points or velocities.

They are part of a description and of the language; analyses that do not cover them say so. `within` is by how much
one may stay open where nothing closes it better (m, or the unit of an equation); None goes by the description's digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from torseur.algebra.graph import ExprLike, as_expr
from torseur.algebra.graph.expr import Expr
from torseur.description.mechanism.bodies import Body, frame_of
from torseur.description.mechanism.frames import EARTH, Frame
from torseur.description.mechanism.joints import Joint, rotation, sequence, spherical, translation
from torseur.description.mechanism.quantities import Coordinate, Vector, as_vector
from torseur.errors import MechanismError

_AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


@dataclass(frozen=True)
class Equation:
    """0 = residual, an expression of coordinates, rates, time, parameters and sensors.

    Rates make it a velocity constraint (nonholonomic when it cannot be integrated).
    """

    name: str
    residual: Expr
    within: Expr | None = None
    # It follows from the residual: a text knows it, a constraint made in Python need not say it to be the same one.
    unit: str = field(default="", compare=False)
    """Of the residual, where it is known."""


@dataclass(frozen=True)
class Distance:
    """The distance between two points has a given value (m)."""

    name: str
    first: Frame
    second: Frame
    value: Expr
    within: Expr | None = None


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
    within: Expr | None = None


Constraint = Equation | Distance | Rolling
Closing = TypeVar("Closing", bound=Joint | Equation | Distance | Rolling)


def within(closing: Closing, tolerance: ExprLike) -> Closing:
    """A joint or constraint that may stay open by a tolerance (m, or the unit of an equation) and counts as closed.

    Without one the digits of the description decide: see docs/constrained_motion.md.
    """
    return replace(closing, within=as_expr(tolerance))


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


def gear(name: str, first: Coordinate, second: Coordinate, ratio: ExprLike, offset: ExprLike = 0) -> Equation:
    """second = ratio * first + offset: two wheels in mesh; the ratio of outer gears is negative."""
    return Equation(name, second.symbol - as_expr(ratio) * first.symbol - as_expr(offset))


def rack(name: str, pinion: Coordinate, slide: Coordinate, radius: ExprLike, offset: ExprLike = 0) -> Equation:
    """slide = radius * pinion + offset."""
    return gear(name, pinion, slide, radius, offset)


def cam(name: str, cam_angle: Coordinate, follower: Coordinate, lift: Callable[[Expr], ExprLike]) -> Equation:
    """follower = lift(cam angle); the lift may be a formula or a table."""
    return Equation(name, follower.symbol - as_expr(lift(cam_angle.symbol)))


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


def point(name: str, first: Frame, second: Frame) -> Joint:
    """The origins of two frames stay together."""
    # A joint of role "loop" rather than a constraint of its own: closing a loop by a ball is already there.
    joint = spherical(name, first, second, *(f"{name}.{axis}" for axis in "xyz"), angles="xyz")
    return replace(joint, role="loop")


def angle(name: str, first: Frame, second: Frame, first_axis: Sequence[Any], second_axis: Sequence[Any]) -> Joint:
    """The angle between an axis of one frame and an axis of another stays what it is between those vectors.

    For a right angle give two orthogonal vectors, whatever the frames.
    """
    shifts = [Coordinate(f"{name}.{axis}", "m") for axis in "xyz"]
    turns = [Coordinate(f"{name}.{k}") for k in ("first", "second")]
    motions = [translation(axis, q) for axis, q in zip(_AXES, shifts, strict=True)]
    motions += [rotation(axis, q) for axis, q in zip((first_axis, second_axis), turns, strict=True)]
    if _parallel(first_axis, second_axis):
        raise MechanismError(
            f"constraint '{name}': parallel axes leave no angle. Use a joint that keeps them parallel."
        )
    return replace(sequence(name, first, second, [*shifts, *turns], motions, kind="angle"), role="loop")


def _parallel(a: Sequence[Any], b: Sequence[Any]) -> bool:
    x, y = ([as_expr(c) for c in v] for v in (a, b))
    crossed = (x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0])
    return all(c.is_zero for c in crossed)
