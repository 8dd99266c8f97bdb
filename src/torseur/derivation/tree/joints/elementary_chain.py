"""A joint as a chain of elementary motions, each with screws that are fixed in its own child frame."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torseur.algebra.graph import Expr, as_expr, substitute, symbols_of
from torseur.algebra.spatial import NULL, REST, UNIT, Motion, Transform, Vec3, from_quaternion, unit
from torseur.derivation.tree.definitions import resolve_structure
from torseur.derivation.tree.joints.joint_kinematics import JointSymbols, amount_of, displacement, reversed_motions
from torseur.derivation.tree.tree import Link, Tree
from torseur.description.mechanism import TIME, ElementaryMotion


@dataclass(frozen=True)
class Elementary:
    """One motion: its place, its screws, and the velocity and acceleration (at constant speeds) that it adds.

    `partials[k][j]` is the rate along screw k per unit of the link's speed slot j, a constant.
    """

    transform: Transform
    screws: tuple[Motion, ...]
    partials: tuple[tuple[Expr, ...], ...]
    velocity: Motion
    bias: Motion


def is_fixed(link: Link) -> bool:
    """Whether a joint's screws stay fixed in its child frame and nothing but its speeds moves it."""
    motion = link.motion
    screw_rates = [as_expr(c) for rate in motion.screw_rates for c in (*rate.angular, *rate.linear)]
    velocity = [as_expr(c) for c in (*motion.velocity.angular, *motion.velocity.linear)]
    still = substitute(velocity, {v: as_expr(0) for v in link.symbols.moving})
    return all(c.is_zero for c in (*screw_rates, *still))


def steps_of(tree: Tree, link: Link) -> tuple[Elementary, ...] | None:
    """A joint as motions with fixed screws: itself where it is one, else its elementary motions.

    None when a motion is not linear in the coordinates, or the speeds are not the coordinates' rates.
    """
    if is_fixed(link):
        return (_whole(link),)
    joint, symbols = link.joint, link.symbols
    # Declared speeds mix the motions of a joint, and a quaternion walked backward has screws that turn with it.
    if symbols.speeds != symbols.natural or (link.reverse and symbols.quaternion):
        return None
    motions = reversed_motions(joint.motions) if link.reverse else joint.motions
    steps = resolve_structure(tree.mechanism, tree.definitions, [_elementary(motion, link) for motion in motions])
    partials = [partial for step in steps for row in step.partials for partial in row]
    if {*symbols.coordinates, *(q for q, _ in symbols.followed), TIME} & set(symbols_of(partials)):
        return None
    return (replace(steps[0], transform=link.base.then(steps[0].transform)), *steps[1:])


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
    screw = Motion(axis, NULL) if motion.kind == "rotation" else Motion(NULL, axis)
    moved = any(not partial.is_zero for partial in amount.partials)
    # A motion by time alone has a velocity but no screw: nothing in the state moves it.
    screws, partials = ((screw,), (tuple(amount.partials),)) if moved else ((), ())
    return Elementary(displacement(motion), screws, partials, screw * amount.rate, screw * amount.bias)


def _ball(symbols: JointSymbols) -> Elementary:
    """Any rotation, its speeds the angular velocity in the child's axes."""
    others = len(symbols.natural) - 3
    rows = tuple(tuple(as_expr(int(j == others + k)) for j in range(symbols.width)) for k in range(3))
    place = Transform(from_quaternion(*symbols.quaternion), NULL)
    omega = Vec3(*symbols.natural[-3:])
    return Elementary(place, tuple(Motion(axis, NULL) for axis in UNIT), rows, Motion(omega, NULL), REST)
