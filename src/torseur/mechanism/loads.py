"""Loads: what pushes on bodies and joints. Gravity belongs to the mechanism itself.

Every law is an expression of time, parameters, coordinates, rates and sensors, in SI.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torseur.errors import MechanismError
from torseur.graph import ExprLike, as_expr, symbol
from torseur.graph.expr import Expr
from torseur.mechanism.bodies import Body
from torseur.mechanism.frames import EARTH, Frame
from torseur.mechanism.quantities import ORIGIN, Vector, as_vector

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


def _frame(place: Frame | Body) -> Frame:
    return place.frame if isinstance(place, Body) else place


def motor(name: str, joint: str, coordinate: str, law: ExprLike) -> CoordinateForce:
    """A force or torque law along a coordinate."""
    return CoordinateForce(name, joint, coordinate, as_expr(law))


def coordinate_spring(
    name: str, joint: str, coordinate: str, *, stiffness: ExprLike = 0, rest: ExprLike = 0, damping: ExprLike = 0
) -> CoordinateSpring:
    """A spring and damper on a coordinate."""
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
    """A spring and damper between two points; `law` (of LENGTH and LENGTH_RATE) replaces the linear tension."""
    linear = (as_expr(stiffness), as_expr(rest), as_expr(damping))
    if law is not None and not all(value.is_zero for value in linear):
        raise MechanismError(f"spring '{name}': give either a law or stiffness, rest and damping.")
    return PointSpring(name, _frame(first), _frame(second), *linear, None if law is None else as_expr(law))


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
    return Bushing(name, _frame(first), _frame(second), k, c)


def force(name: str, on: Frame | Body, components: Sequence[Any], axes: Frame | Body = EARTH) -> AppliedWrench:
    """A force applied at the origin of a frame."""
    return AppliedWrench(name, _frame(on), as_vector(components, f"force '{name}'"), ORIGIN, _frame(axes))


def torque(name: str, on: Frame | Body, components: Sequence[Any], axes: Frame | Body = EARTH) -> AppliedWrench:
    """A torque applied to a body."""
    return AppliedWrench(name, _frame(on), ORIGIN, as_vector(components, f"torque '{name}'"), _frame(axes))
