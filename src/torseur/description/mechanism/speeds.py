"""Velocities of a joint's child in its own axes, as expressions of the joint's coordinates and rates."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.graph import Expr, as_expr, symbols_of, time_derivative
from torseur.algebra.graph import scalar as s
from torseur.algebra.spatial import NULL, Rotation, Vec3, about, from_quaternion
from torseur.description.mechanism.joints import ElementaryMotion, Speed
from torseur.description.mechanism.quantities import TIME, Coordinate, Vector, as_vector
from torseur.errors import MechanismError

UNITS = {"velocity": "m/s", "rotation": "rad/s"}


def body_velocity(coordinates: Sequence[Coordinate], motions: Sequence[ElementaryMotion]) -> Vector:
    """Velocity of the child's joint frame relative to the parent, along the child's axes: Rᵀ p'."""
    rotation, position = Rotation(), NULL
    for motion in motions:
        if motion.kind == "translation":
            position = position + rotation.to_parent(_unit(motion.axis) * motion.amount)
        else:
            rotation = rotation.then(_turn(quaternion_coordinates(coordinates, motions), motion))
    velocity = time_derivative([as_expr(c) for c in position], _rates(coordinates), TIME)
    return as_vector(list(rotation.to_child(Vec3(*velocity))), "velocity")


def body_rotation(coordinates: Sequence[Coordinate], motions: Sequence[ElementaryMotion]) -> Vector:
    """Angular velocity of the child relative to the parent, along the child's axes."""
    total = NULL
    for motion in motions:
        if motion.kind == "rotation":
            (rate,) = time_derivative([motion.amount], _rates(coordinates), TIME)
            total = about(Vec3(*motion.axis), motion.amount).to_child(total) + _unit(motion.axis) * rate
        elif motion.kind == "quaternion":
            quaternion = quaternion_coordinates(coordinates, motions)
            total = _turn(quaternion, motion).to_child(total) + _quaternion_rotation(quaternion)
    return as_vector([as_expr(c) for c in total], "rotation")


def body_speeds(
    names: Sequence[str], quantity: str, coordinates: Sequence[Coordinate], motions: Sequence[ElementaryMotion]
) -> tuple[Speed, ...]:
    """Named speeds for the components of the velocity or rotation in the child's axes that can differ from zero."""
    components = {"velocity": body_velocity, "rotation": body_rotation}[quantity](coordinates, motions)
    # In a plane one component is zero whatever the state: it needs no name, and could have no speed.
    moving = components if len(names) == 3 else tuple(c for c in components if not c.is_zero)
    if len(moving) != len(names):
        raise MechanismError(f"the {quantity} has {len(moving)} components here, but {len(names)} names were given.")
    return tuple(Speed(name, value, UNITS[quantity]) for name, value in zip(names, moving, strict=True))


def _rates(coordinates: Sequence[Coordinate]) -> dict[Expr, Expr]:
    return {q.symbol: q.rate for q in coordinates}


def _unit(axis: Vector) -> Vec3:
    direction = Vec3(*axis)
    return direction / s.sqrt(direction.dot(direction))


def quaternion_coordinates(
    coordinates: Sequence[Coordinate], motions: Sequence[ElementaryMotion]
) -> tuple[Coordinate, ...]:
    """The coordinates of a joint that no amount of its motions uses: the four of its quaternion, where it has one."""
    used = set(symbols_of([motion.amount for motion in motions]))
    return tuple(q for q in coordinates if q.symbol not in used)


def _turn(quaternion: Sequence[Coordinate], motion: ElementaryMotion) -> Rotation:
    if motion.kind == "quaternion":
        return from_quaternion(*(q.symbol for q in quaternion))
    return about(Vec3(*motion.axis), motion.amount)


def _quaternion_rotation(quaternion: Sequence[Coordinate]) -> Vec3:
    """The vector part of 2 q* ∘ q': angular velocity in the turned axes."""
    w, x, y, z = (q.symbol for q in quaternion)
    dw, dx, dy, dz = (q.rate for q in quaternion)
    return Vec3(
        2 * (w * dx - x * dw - y * dz + z * dy),
        2 * (w * dy - y * dw - z * dx + x * dz),
        2 * (w * dz - z * dw - x * dy + y * dx),
    )
