"""Rolling without slip of a wheel on a plane, and the distance between two points.

The wheel touches the plane at the lowest point of its rim, moved down by the tyre radius:
contact = c + R d - r n with d = -(n - (n·a) a) / |n - (n·a) a|, for centre c, axle a, rim radius R, tyre radius r and
plane normal n. Its height above the plane is zero, and so is the velocity of the wheel's own point there.
"""

from __future__ import annotations

from dataclasses import dataclass

from torseur.algebra.graph import as_expr
from torseur.algebra.graph import scalar as s
from torseur.algebra.spatial import Scalar, Transform, Vec3, unit
from torseur.derivation.dynamics.loads.frames_in_motion import FrameInMotion, MovingFrames
from torseur.derivation.loops.closure.directions import Direction, across
from torseur.derivation.loops.closure.joint_closure import VELOCITY, Residual, Values, relative_pose, residual
from torseur.derivation.tree import Snapshot
from torseur.description.mechanism import Distance, Rolling
from torseur.errors import MechanismError


@dataclass(frozen=True)
class Contact:
    """Height of the contact point above the plane, and its place from the wheel's centre, in the plane's axes."""

    height: Scalar
    arm: Vec3


def contact(rolling: Rolling, wheel: Transform) -> Contact:
    """Where a wheel, placed in the plane's frame, comes nearest to the plane."""
    normal, axle = _normal_and_axle(rolling, wheel)
    tyre = rolling.tyre_radius if rolling.tyre_radius is not None else as_expr(0)
    # Cosine and sine of the angle between axle and normal: the centre stands R rise above the rim's lowest point.
    lean = normal.dot(axle)
    rise = s.sqrt(1 - lean * lean)
    if as_expr(rise).is_zero:
        raise MechanismError(flat_wheel_words(rolling, "in every position"))
    down = (axle * lean - normal) * (1 / rise)
    height = normal.dot(wheel.position) - rolling.radius * rise - tyre
    return Contact(height, down * rolling.radius - normal * tyre)


def flat_wheel_words(rolling: Rolling, when: str) -> str:
    """What is said of a wheel that lies flat."""
    return (
        f"constraint '{rolling.name}': the wheel lies flat {when}. Its axle, the z axis of the frame "
        "that rolls, is along the normal of the plane, so no point of its rim is the lowest. Give an initial "
        "orientation in which the axle is not along the normal, or a frame whose z axis is the axle."
    )


def wheel_lean(rolling: Rolling, now: Snapshot) -> Scalar:
    """Cosine of the angle between a wheel's axle and the plane's normal: ±1 for a wheel that lies flat."""
    normal, axle = _normal_and_axle(rolling, relative_pose(now, rolling.on, rolling.wheel))
    return normal.dot(axle)


def _normal_and_axle(rolling: Rolling, wheel: Transform) -> tuple[Vec3, Vec3]:
    return unit(Vec3(*rolling.normal)), wheel.rotation.to_parent(Vec3(0, 0, 1))


def rolling_residuals(rolling: Rolling, now: Snapshot, frames: MovingFrames, values: Values) -> list[Residual]:
    """One height (holonomic) and two slips (velocities) of a wheel."""
    owner = f"constraint '{rolling.name}'"
    wheel = relative_pose(now, rolling.on, rolling.wheel)
    touching = contact(rolling, wheel)
    slip = slip_velocity(frames[rolling.wheel], frames[rolling.on], wheel, touching.arm)
    tangents: tuple[Direction, ...] = across([Vec3(*rolling.normal)], values)
    return [
        residual(owner, "height", touching.height, "m"),
        *(residual(owner, f"slip along {t.name}", t.vector.dot(slip), "m/s", VELOCITY) for t in tangents),
    ]


def slip_velocity(wheel: FrameInMotion, plane: FrameInMotion, place: Transform, arm: Vec3) -> Vec3:
    """Velocity of the wheel's point at the contact relative to the plane's, in the plane's axes."""
    to_plane = plane.place.rotation.to_child
    point = place.position + arm
    of_wheel = to_plane(wheel.velocity.linear) + to_plane(wheel.velocity.angular).cross(arm)
    return of_wheel - to_plane(plane.velocity.linear) - to_plane(plane.velocity.angular).cross(point)


def distance_residual(distance: Distance, now: Snapshot) -> Residual:
    """(r·r - L²) / (2 L): no root, and its gradient is the unit vector between the points where it vanishes."""
    if distance.value.is_zero:
        raise MechanismError(
            f"constraint '{distance.name}': a distance of 0 holds two points together. Use a spherical joint."
        )
    span = relative_pose(now, distance.first, distance.second).position
    length = distance.value
    return residual(f"constraint '{distance.name}'", "", (span.dot(span) - length * length) / (2 * length), "m")
