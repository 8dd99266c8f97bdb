"""Constraints besides joints that have names of their own: gears, racks, cams, points and angles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from torseur.errors import MechanismError
from torseur.graph import Expr, ExprLike, as_expr
from torseur.mechanism import Coordinate, Equation, Frame, Joint, rotation, sequence, spherical, translation

_AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def gear(name: str, first: Coordinate, second: Coordinate, ratio: ExprLike, offset: ExprLike = 0) -> Equation:
    """second = ratio * first + offset: two wheels in mesh; the ratio of outer gears is negative."""
    return Equation(name, second.symbol - as_expr(ratio) * first.symbol - as_expr(offset))


def rack(name: str, pinion: Coordinate, slide: Coordinate, radius: ExprLike, offset: ExprLike = 0) -> Equation:
    """slide = radius * pinion + offset."""
    return gear(name, pinion, slide, radius, offset)


def cam(name: str, cam_angle: Coordinate, follower: Coordinate, lift: Callable[[Expr], ExprLike]) -> Equation:
    """follower = lift(cam angle); the lift may be a formula or a table."""
    return Equation(name, follower.symbol - as_expr(lift(cam_angle.symbol)))


def driver(name: str, coordinate: Coordinate, value: ExprLike) -> Equation:
    """coordinate = value, an expression of time."""
    return Equation(name, coordinate.symbol - as_expr(value))


def point(name: str, first: Frame, second: Frame) -> Joint:
    """The origins of two frames stay together."""
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
