"""Kinematics of a joint: from its elementary motions to transform, screws, velocity and acceleration.

The motions are walked like a chain of massless bodies. Each is a turn about or a move along an axis by an amount
f(q, t); velocities and accelerations are relative to the parent side, with components in the child frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torseur.algebra.graph import Expr, as_expr, directional_derivative, gradient, symbol, symbols_of
from torseur.algebra.spatial import (
    NULL,
    REST,
    SAME,
    UNIT,
    Motion,
    Rotation,
    Scalar,
    Transform,
    Vec3,
    about,
    from_quaternion,
    quaternion_rate,
    unit,
)
from torseur.derivation.tree.joints.quasi_velocities import with_speeds
from torseur.description.mechanism import TIME, Coordinate, ElementaryMotion, Joint, quaternion_coordinates
from torseur.errors import MechanismError


@dataclass(frozen=True)
class JointKinematics:
    """Where the child is and how it moves relative to its parent.

    `screws[k]` is the motion per unit of speed k, `velocity` the relative velocity, `bias` the relative angular
    acceleration and the acceleration of the child's origin (classical, not spatial) when no speed changes, `rates`
    are q', and `screw_rates[k]` is how screw k changes in the child frame.
    """

    transform: Transform
    screws: tuple[Motion, ...]
    velocity: Motion
    bias: Motion
    rates: tuple[Scalar, ...]
    screw_rates: tuple[Motion, ...] = ()


@dataclass(frozen=True)
class JointSymbols:
    """The symbols of a joint: coordinates q, their rates q', and its speeds v.

    Natural speeds are the rates of ordinary coordinates, then the angular velocity of a quaternion. `followed` are
    (coordinate, rate) of other joints that the motions of this one are formulas of: gears, mimic joints.
    """

    coordinates: tuple[Expr, ...]
    rates: tuple[Expr, ...]
    quaternion: tuple[Expr, ...]
    natural: tuple[Expr, ...]
    speeds: tuple[Expr, ...]
    followed: tuple[tuple[Expr, Expr], ...] = ()

    @property
    def ordinary(self) -> list[tuple[Expr, Expr]]:
        """(coordinate, rate) of the coordinates that are not part of a quaternion."""
        pairs = zip(self.coordinates, self.rates, strict=True)
        return [(q, rate) for q, rate in pairs if q not in self.quaternion]

    @property
    def width(self) -> int:
        """How many screws the joint has: one per natural speed, then one per coordinate that it follows."""
        return len(self.natural) + len(self.followed)

    @property
    def moving(self) -> tuple[Expr, ...]:
        """The speeds that move it: its own, then the rates that it follows."""
        return (*self.speeds, *(rate for _, rate in self.followed))


def joint_symbols(joint: Joint, followed: Sequence[Coordinate] = ()) -> JointSymbols:
    """The symbols of a joint's coordinates and speeds; `followed` are the coordinates of others that move it."""
    coordinates = tuple(c.symbol for c in joint.coordinates)
    rates = tuple(c.rate for c in joint.coordinates)
    quaternion = _quaternion_coordinates(joint)
    ordinary = [rate for q, rate in zip(coordinates, rates, strict=True) if q not in quaternion]
    turning = [symbol(f"{joint.name}.w{axis}", "rad/s", f"angular velocity in joint {joint.name}") for axis in "xyz"]
    natural = (*ordinary, *(turning if quaternion else ()))
    speeds = _speed_symbols(joint, natural)
    return JointSymbols(coordinates, rates, quaternion, natural, speeds, tuple((q.symbol, q.rate) for q in followed))


def _quaternion_coordinates(joint: Joint) -> tuple[Expr, ...]:
    """The four coordinates that no other motion uses, when the joint has a quaternion."""
    if not any(motion.kind == "quaternion" for motion in joint.motions):
        return ()
    unused = tuple(c.symbol for c in quaternion_coordinates(joint.coordinates, joint.motions))
    if len(unused) != 4:
        raise MechanismError(
            f"joint '{joint.name}': a quaternion needs four coordinates of its own, found {len(unused)}."
        )
    return unused


def _speed_symbols(joint: Joint, natural: tuple[Expr, ...]) -> tuple[Expr, ...]:
    if joint.frame_speeds == "body" and not joint.speeds:
        names = [f"{joint.name}.{n}" for n in ("vx", "vy", "vz", "wx", "wy", "wz")]
        units = ["m/s"] * 3 + ["rad/s"] * 3
        return tuple(symbol(n, u, f"speed in joint {joint.name}, body axes") for n, u in zip(names, units, strict=True))
    if joint.speeds:
        return tuple(symbol(v.name, v.unit, f"speed in joint {joint.name}") for v in joint.speeds)
    return natural


# Why expressions, built once with the tree: docs/decisions/0003-joint-kinematics-as-expressions.md.
def joint_kinematics(joint: Joint, symbols: JointSymbols, reverse: bool) -> JointKinematics:
    """The kinematics of a joint as expressions of its symbols; from child to parent when `reverse`."""
    # The walk runs over natural speeds: declared speeds are put in afterwards, by solving for the natural ones.
    natural = _walk(reversed_motions(joint.motions) if reverse else joint.motions, joint, symbols)
    if joint.speeds or joint.frame_speeds:
        # What the speeds are follows from the joint as it was described, whichever way the tree walks it.
        described = _walk(joint.motions, joint, symbols) if reverse else natural
        natural = with_speeds(natural, described, joint, symbols)
    return replace(natural, screw_rates=_screw_rates(natural, symbols))


def _walk(motions: Sequence[ElementaryMotion], joint: Joint, symbols: JointSymbols) -> JointKinematics:
    """The kinematics of a sequence of motions, by the natural speeds."""
    walked = _Walk(SAME, (REST,) * symbols.width, REST, REST)
    for motion in motions:
        walked = _STEPS[motion.kind](walked, motion, joint, symbols)
    return JointKinematics(walked.transform, walked.screws, walked.velocity, walked.acceleration, _rates(symbols))


def _screw_rates(kinematics: JointKinematics, symbols: JointSymbols) -> tuple[Motion, ...]:
    own = dict(zip(symbols.coordinates, kinematics.rates, strict=True))
    moving = own | dict(symbols.followed) | {TIME: as_expr(1)}
    # Along the motion: q changes at its rates, time at one, speeds not at all.
    components = [as_expr(c) for screw in kinematics.screws for c in (*screw.angular, *screw.linear)]
    rates = directional_derivative(components, moving)
    return tuple(Motion(Vec3(*rates[k : k + 3]), Vec3(*rates[k + 3 : k + 6])) for k in range(0, len(rates), 6))


def reversed_motions(motions: Sequence[ElementaryMotion]) -> tuple[ElementaryMotion, ...]:
    """The way back: the inverse motions in the opposite order."""
    return tuple(
        replace(m, kind="inverse quaternion") if m.kind == "quaternion" else replace(m, amount=-m.amount)
        for m in reversed(motions)
    )


def displacement(motion: ElementaryMotion, quaternion: Sequence[Expr] = ()) -> Transform:
    """The place that one elementary motion leads to; `quaternion` are the joint's coordinates of that kind."""
    if motion.kind == "translation":
        return Transform(Rotation(), unit(Vec3(*motion.axis)) * motion.amount)
    if motion.kind == "rotation":
        return Transform(about(Vec3(*motion.axis), motion.amount), NULL)
    turn = from_quaternion(*quaternion)
    return Transform(turn if motion.kind == "quaternion" else turn.inverse, NULL)


def _rates(symbols: JointSymbols) -> tuple[Expr, ...]:
    if not symbols.quaternion:
        return symbols.rates
    turning = dict(
        zip(symbols.quaternion, quaternion_rate(symbols.quaternion, Vec3(*symbols.natural[-3:])), strict=True)
    )
    return tuple(turning.get(q, rate) for q, rate in zip(symbols.coordinates, symbols.rates, strict=True))


@dataclass(frozen=True)
class _Walk:
    """The frame reached so far, its screws, velocity and acceleration in its own axes."""

    transform: Transform
    screws: tuple[Motion, ...]
    velocity: Motion
    acceleration: Motion


@dataclass(frozen=True)
class Amount:
    """An amount f(q, t) with its partial by each speed, its rate, and its second rate at constant speeds."""

    value: Expr
    partials: list[Expr]
    rate: Expr
    bias: Expr


def amount_of(motion: ElementaryMotion, joint: Joint, symbols: JointSymbols) -> Amount:
    wrong = [x for x in symbols_of([motion.amount]) if x in symbols.natural]
    if wrong:
        raise MechanismError(f"joint '{joint.name}': a motion may depend on coordinates and time, not on {wrong[0]}.")
    moving = dict((*symbols.ordinary, *symbols.followed)) | {TIME: as_expr(1)}
    (rate,) = directional_derivative([motion.amount], moving)
    (bias,) = directional_derivative([rate], moving)
    own, followed = (gradient(motion.amount, [q for q, _ in pairs]) for pairs in (symbols.ordinary, symbols.followed))
    # A quaternion's coordinates are no ordinary ones: its three speeds get zeros, after the own ones.
    turning = [as_expr(0)] * (len(symbols.natural) - len(own))
    return Amount(motion.amount, [*own, *turning, *followed], rate, bias)


def _turn(walk: _Walk, motion: ElementaryMotion, joint: Joint, symbols: JointSymbols) -> _Walk:
    """Turn about a fixed axis: the axis is the same before and after."""
    f = amount_of(motion, joint, symbols)
    axis = unit(Vec3(*motion.axis))
    columns = [axis * partial for partial in f.partials]
    return _rotate(walk, about(Vec3(*motion.axis), f.value), columns, axis * f.rate, axis * f.bias)


def _turn_by_quaternion(walk: _Walk, motion: ElementaryMotion, joint: Joint, symbols: JointSymbols) -> _Walk:
    columns = _columns_of_turning(UNIT, symbols)
    return _rotate(walk, from_quaternion(*symbols.quaternion), columns, Vec3(*symbols.natural[-3:]), NULL)


def _turn_back_by_quaternion(walk: _Walk, motion: ElementaryMotion, joint: Joint, symbols: JointSymbols) -> _Walk:
    forward = from_quaternion(*symbols.quaternion)
    # Seen from the child the parent turns the opposite way, at -ω, whose components the rotation takes over.
    columns = _columns_of_turning([-forward.to_parent(axis) for axis in UNIT], symbols)
    omega = -forward.to_parent(Vec3(*symbols.natural[-3:]))
    return _rotate(walk, forward.inverse, columns, omega, NULL)


def _columns_of_turning(axes: Sequence[Vec3], symbols: JointSymbols) -> list[Vec3]:
    """Angular velocity per screw: the axes stand for the last three natural speeds, the others turn nothing."""
    return [*[NULL] * (len(symbols.natural) - 3), *axes, *[NULL] * len(symbols.followed)]


def _rotate(walk: _Walk, rotation: Rotation, columns: Sequence[Vec3], omega: Vec3, alpha: Vec3) -> _Walk:
    """A turn with this angular velocity and acceleration on top of the walk so far."""
    back = rotation.to_child
    # ω = ω_before + ω_turn; its rate in the turned axes gains ω_before x ω_turn, because ω_before is fixed elsewhere.
    carried = back(walk.velocity.angular)
    screws = tuple(
        Motion(back(screw.angular) + column, back(screw.linear))
        for screw, column in zip(walk.screws, columns, strict=True)
    )
    velocity = Motion(carried + omega, back(walk.velocity.linear))
    angular = back(walk.acceleration.angular) + carried.cross(omega) + alpha
    acceleration = Motion(angular, back(walk.acceleration.linear))
    return _Walk(walk.transform.then(Transform(rotation, NULL)), screws, velocity, acceleration)


def _move(walk: _Walk, motion: ElementaryMotion, joint: Joint, symbols: JointSymbols) -> _Walk:
    """Move along an axis: the point's velocity and acceleration on the turning frame."""
    f = amount_of(motion, joint, symbols)
    axis = unit(Vec3(*motion.axis))
    shift, slide = axis * f.value, axis * f.rate
    w, alpha = walk.velocity.angular, walk.acceleration.angular
    screws = tuple(
        Motion(screw.angular, screw.linear + screw.angular.cross(shift) + axis * partial)
        for screw, partial in zip(walk.screws, f.partials, strict=True)
    )
    velocity = Motion(w, walk.velocity.linear + w.cross(shift) + slide)
    # Acceleration of a point that slides on a turning body: tangential, centripetal and Coriolis.
    carried = alpha.cross(shift) + w.cross(w.cross(shift)) + w.cross(slide) * 2
    acceleration = Motion(alpha, walk.acceleration.linear + carried + axis * f.bias)
    return _Walk(walk.transform.then(Transform(Rotation(), shift)), screws, velocity, acceleration)


_STEPS = {
    "rotation": _turn,
    "translation": _move,
    "quaternion": _turn_by_quaternion,
    "inverse quaternion": _turn_back_by_quaternion,
}
