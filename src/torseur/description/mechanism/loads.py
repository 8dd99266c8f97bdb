"""Loads: what pushes on bodies and joints. Gravity belongs to the mechanism itself.

Every law is an expression of time, parameters, coordinates, rates and sensors, in SI.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph import ExprLike, as_expr, symbol
from torseur.algebra.graph.expr import Expr
from torseur.description.mechanism.bodies import Body, frame_of
from torseur.description.mechanism.frames import EARTH, Frame
from torseur.description.mechanism.quantities import ORIGIN, Vector, as_vector
from torseur.errors import MechanismError

LENGTH = symbol("length", "m", "distance between the ends of a spring")
LENGTH_RATE = symbol("length'", "m/s", "rate of the distance between the ends of a spring")


@dataclass(frozen=True)
class CoordinateForce:
    """A motor or any law acting along one coordinate of a joint: N m on an angle, N on a displacement."""

    name: str
    joint: str
    coordinate: str
    law: Expr


@dataclass(frozen=True)
class CoordinateSpring:
    """Spring and damper on one coordinate: -stiffness (q - rest) - damping q'."""

    name: str
    joint: str
    coordinate: str
    stiffness: Expr
    rest: Expr
    damping: Expr


@dataclass(frozen=True)
class JointWrench:
    """A force and a moment exerted in a joint by the parent on the child (and back), at the child's joint frame,
    with components in the parent's joint frame."""

    name: str
    joint: str
    force: Vector
    moment: Vector


@dataclass(frozen=True)
class PointSpring:
    """A massless element between two points, pulling them together with its tension.

    Tension = stiffness (length - rest) + damping length', or `law`, an expression of LENGTH and LENGTH_RATE.
    """

    name: str
    first: Frame
    second: Frame
    stiffness: Expr
    rest: Expr
    damping: Expr
    law: Expr | None = None


@dataclass(frozen=True)
class Bushing:
    """Elastic and damping force and moment between two frames.

    Stiffness and damping x, y, z of force, then of moment, along the first frame's axes. The elastic moment has the
    potential tr(G (1 - R)), G = tr(K)/2 - K, of the relative rotation R: ½ θᵀ K θ for small rotations, conservative
    for large ones.
    """

    name: str
    first: Frame
    second: Frame
    stiffness: tuple[Expr, ...]
    damping: tuple[Expr, ...]


@dataclass(frozen=True)
class AppliedWrench:
    """A force (N) at a frame's origin and a moment (N m) on its body, components in the axes of `axes`."""

    name: str
    on: Frame
    force: Vector
    moment: Vector
    axes: Frame = EARTH


Load = CoordinateForce | CoordinateSpring | JointWrench | PointSpring | Bushing | AppliedWrench


def motor(name: str, joint: str, coordinate: str, law: ExprLike) -> CoordinateForce:
    """A force (N) or torque (N m) along a coordinate, given by the names of its joint and of itself.

    The law is a number or a formula of coordinates, rates, parameters and ts.TIME: motor("drive", "axle", "q", 2.0).
    """
    return CoordinateForce(name, joint, coordinate, as_expr(law))


def coordinate_spring(
    name: str, joint: str, coordinate: str, *, stiffness: ExprLike = 0, rest: ExprLike = 0, damping: ExprLike = 0
) -> CoordinateSpring:
    """A spring and damper on a coordinate of a joint, both by name: -stiffness (q - rest) - damping q'."""
    return CoordinateSpring(name, joint, coordinate, as_expr(stiffness), as_expr(rest), as_expr(damping))


def spring(
    name: str,
    first: Frame | Body,
    second: Frame | Body,
    *,
    stiffness: ExprLike = 0,
    rest: ExprLike = 0,
    damping: ExprLike = 0,
    law: ExprLike | None = None,
) -> PointSpring:
    """A spring and damper between the origins of two frames: tension stiffness (length - rest) + damping length'.

    `law`, a formula of ts.LENGTH and ts.LENGTH_RATE, replaces that tension.
    """
    linear = (as_expr(stiffness), as_expr(rest), as_expr(damping))
    # Never both: a law replaces the tension, and a stiffness beside it would be ignored.
    if law is not None and not all(value.is_zero for value in linear):
        raise MechanismError(f"spring '{name}': give either a law or stiffness, rest and damping.")
    one, other = (frame_of(end, f"spring '{name}'") for end in (first, second))
    return PointSpring(name, one, other, *linear, None if law is None else as_expr(law))


def bushing(
    name: str,
    first: Frame | Body,
    second: Frame | Body,
    stiffness: Sequence[ExprLike],
    damping: Sequence[ExprLike] = (0,) * 6,
) -> Bushing:
    """An elastic bushing from six stiffnesses (N/m, N m/rad) and six damping coefficients."""
    if len(stiffness) != 6 or len(damping) != 6:
        raise MechanismError(f"bushing '{name}' needs six stiffnesses and six damping coefficients.")
    k, c = (tuple(as_expr(value) for value in row) for row in (stiffness, damping))
    one, other = (frame_of(end, f"bushing '{name}'") for end in (first, second))
    return Bushing(name, one, other, k, c)


def force(name: str, on: Frame | Body, components: Sequence[Any], axes: Frame | Body = EARTH) -> AppliedWrench:
    """A force (N) at the origin of the frame `on`, its three components along `axes`, the earth's at first.

    Components are numbers or formulas of coordinates, rates, parameters and ts.TIME.
    """
    where = f"force '{name}'"
    return AppliedWrench(name, frame_of(on, where), as_vector(components, where), ORIGIN, frame_of(axes, where))


def torque(name: str, on: Frame | Body, components: Sequence[Any], axes: Frame | Body = EARTH) -> AppliedWrench:
    """A torque (N m) on the body of the frame `on`, its three components along `axes`, the earth's at first."""
    where = f"torque '{name}'"
    return AppliedWrench(name, frame_of(on, where), ORIGIN, as_vector(components, where), frame_of(axes, where))
