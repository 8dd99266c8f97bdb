"""A joint as a chain of elementary motions, each with screws that are fixed in its own child frame."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torseur.graph import Expr, as_expr, substitute, symbols_of
from torseur.mechanism import TIME, ElementaryMotion
from torseur.spatial import NULL, REST, UNIT, Motion, Rotation, Transform, Vec3, about, from_quaternion
from torseur.tree.definitions import resolved
from torseur.tree.joint_kinematics import JointSymbols, amount_of, reversed_motions, unit
from torseur.tree.tree import Link, Tree


@dataclass(frozen=True)
class Elementary:
    """One motion: its place, its screws, and the velocity and acceleration (at constant speeds) that it adds.

    `slopes[k][j]` is the rate along screw k per unit of the joint's speed j, a constant.
    """

    transform: Transform
    screws: tuple[Motion, ...]
    slopes: tuple[tuple[Expr, ...], ...]
    velocity: Motion
    bias: Motion


def is_fixed(link: Link) -> bool:
    """Whether a joint's screws stay fixed in its child frame and nothing but its speeds moves it."""
    motion = link.motion
    changes = [as_expr(c) for rate in motion.screw_rates for c in (*rate.angular, *rate.linear)]
    velocity = [as_expr(c) for c in (*motion.velocity.angular, *motion.velocity.linear)]
    still = substitute(velocity, {v: as_expr(0) for v in link.symbols.speeds})
    return all(c.is_zero for c in (*changes, *still))


def steps_of(tree: Tree, link: Link) -> tuple[Elementary, ...] | None:
    """A joint as motions with fixed screws: itself where it is one, else its elementary motions.

    None when a motion is not linear in the coordinates, or the speeds are not the coordinates' rates.
    """
    if is_fixed(link):
        return (_whole(link),)
    joint, symbols = link.joint, link.symbols
    if symbols.speeds != symbols.natural or (link.reverse and symbols.quaternion):
        return None
    motions = reversed_motions(joint.motions) if link.reverse else joint.motions
    found = resolved(tree.mechanism, tree.definitions, [_elementary(motion, link) for motion in motions])
    slopes = [slope for one in found for row in one.slopes for slope in row]
    if {*symbols.coordinates, TIME} & set(symbols_of(slopes)):
        return None
    return (replace(found[0], transform=link.base.then(found[0].transform)), *found[1:])


def _whole(link: Link) -> Elementary:
    """A joint with fixed screws as one motion of several degrees of freedom."""
    motion, n = link.motion, len(link.motion.screws)
    rows = tuple(tuple(as_expr(int(j == k)) for j in range(n)) for k in range(n))
    return Elementary(motion.transform, motion.screws, rows, motion.velocity, motion.bias)


def _elementary(motion: ElementaryMotion, link: Link) -> Elementary:
    if motion.kind == "quaternion":
        return _ball(link.symbols)
    amount = amount_of(motion, link.joint, link.symbols)
    axis = unit(Vec3(*motion.axis))
    if motion.kind == "rotation":
        place, screw = Transform(about(Vec3(*motion.axis), amount.value), NULL), Motion(axis, NULL)
    else:
        place, screw = Transform(Rotation(), axis * amount.value), Motion(NULL, axis)
    moved = any(not partial.is_zero for partial in amount.partials)
    screws, slopes = ((screw,), (tuple(amount.partials),)) if moved else ((), ())
    return Elementary(place, screws, slopes, screw * amount.rate, screw * amount.bias)


def _ball(symbols: JointSymbols) -> Elementary:
    """Any rotation, its speeds the angular velocity in the child's axes."""
    others = len(symbols.natural) - 3
    rows = tuple(tuple(as_expr(int(j == others + k)) for j in range(others + 3)) for k in range(3))
    place = Transform(from_quaternion(*symbols.quaternion), NULL)
    omega = Vec3(*symbols.natural[-3:])
    return Elementary(place, tuple(Motion(axis, NULL) for axis in UNIT), rows, Motion(omega, NULL), REST)
