"""Coordinates of a joint that closes a loop, from the pose of one of its sides in the other.

The state does not hold them. What the pair leaves free is a translation p = Σ x_i d_i and a rotation R = R(a_1, q_1) …
R(a_k, q_k). Translations come from the dual directions, angles from where R takes its own axes, which the outer
rotations leave alone (Davenport 1973; Shuster and Markley 2003, "Generalization of the Euler angles").
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, pi

from torseur.algebra.graph import PI, Expr, as_expr, gradient, substitute, symbols_of
from torseur.algebra.graph import scalar as s
from torseur.algebra.spatial import UNIT, Rotation, Vec3, unit
from torseur.derivation.loops.closure.joint_closure import path_of, relative_pose
from torseur.derivation.tree import Snapshot, far_side, pair_of
from torseur.description.mechanism import Coordinate, ElementaryMotion, Joint

_ROUNDING = 1e-9


def coordinates_of_cut_joint(joint: Joint, now: Snapshot) -> list[tuple[Coordinate, Expr]]:
    """The coordinates of a joint that closes a loop, each with its value.

    Angles are in (-π, π]; the middle one of three is in [-π/2, π/2] where the outer axes of the joint are orthogonal
    and in [0, π] where they coincide. None for joints whose coordinates stay in the state, nor for quaternions,
    whose sign is not known from the pose.
    """
    pair = pair_of(joint)
    if pair is None or far_side(joint.name) in now.tree.places or any(m.kind == "quaternion" for m in joint.motions):
        return []
    before, after = path_of(pair.before), path_of(pair.after)
    freed = before.inverse.then(relative_pose(now, joint.parent, joint.child)).then(after.inverse)
    # Translations that come last are fixed in the child: R Σ x_i d_i is what is seen from the parent.
    shift = -freed.inverse.position if pair.late else freed.position
    amounts = {
        "translation": _components(shift, [unit(d) for d in pair.translations]),
        "rotation": _angles(freed.rotation, [unit(a) for a in pair.rotations]),
    }
    moving = joint.motions[len(pair.before) : len(joint.motions) - len(pair.after)]
    values = [(motion, amounts[motion.kind].pop(0)) for motion in moving if amounts[motion.kind]]
    found = {name: value for motion, amount in values for name, value in [_coordinate(joint, motion, amount)]}
    return [(c, found[c.name]) for c in joint.coordinates if c.name in found]


def _coordinate(joint: Joint, motion: ElementaryMotion, amount: Expr) -> tuple[str, Expr]:
    """The coordinate q of a motion by k q + d, d being free of coordinates."""
    used = set(symbols_of([motion.amount]))
    (own,) = (c for c in joint.coordinates if c.symbol in used)
    (factor,) = gradient(motion.amount, [own.symbol])
    (offset,) = substitute([motion.amount], {own.symbol: as_expr(0)})
    return own.name, as_expr((amount - offset) / factor)


def _components(vector: Vec3, directions: Sequence[Vec3]) -> list[Expr]:
    """x_i of a vector Σ x_i d_i, by the dual directions; closure leaves nothing across them."""
    if len(directions) == 1:
        return [as_expr(directions[0].dot(vector))]
    if len(directions) == 2:
        first, second = directions
        directions = (first, second, first.cross(second))
    # d*_i · d_j = δ_ij times the volume, which the quotient takes off.
    duals = [directions[k - 2].cross(directions[k - 1]) for k in range(len(directions))]
    return [as_expr(dual.dot(vector) / dual.dot(d)) for dual, d in zip(duals, directions, strict=True)]


def _angles(rotation: Rotation, axes: Sequence[Vec3]) -> list[Expr]:
    if not axes:
        return []
    if len(axes) == 1:
        return [_angle_about(axes[0], rotation)]
    first, last = axes[0], axes[-1]
    there, here = rotation.to_parent(last), rotation.to_child(first)
    if len(axes) == 2:
        # R a_2 = R(a_1, q_1) a_2 and Rᵀ a_1 = R(a_2, -q_2) a_1.
        return [_turn(first, last, there), _turn(last, here, first)]
    middle = axes[1]
    cosine, sine = first.dot(last), first.dot(middle.cross(last))
    if symbols_of([as_expr(cosine), as_expr(sine)]):
        return []
    # a_1 · R a_3 holds q_2 alone: q_1 leaves a_1 where it is and q_3 leaves a_3.
    between = _middle_angle(float(cosine), float(sine), first, there)
    inner = last * s.cos(between) + middle.cross(last) * s.sin(between)  # R(a_2, q_2) a_3
    outer = first * s.cos(between) - middle.cross(first) * s.sin(between)  # R(a_2, -q_2) a_1
    return [_turn(first, inner, there), between, _turn(last, here, outer)]


def _middle_angle(cosine: float, sine: float, first: Vec3, there: Vec3) -> Expr:
    """q_2 from a_1 · R a_3 = cos(q_2 - δ), where δ is the angle from a_3 to a_1 about a_2."""
    delta = atan2(sine, cosine)
    turns = next((k for k in range(-2, 3) if abs(delta - k * pi / 2) < _ROUNDING), None)
    start = as_expr(delta) if turns is None else turns * PI / 2
    across = first.cross(there)
    opening = s.atan2(s.sqrt(across.dot(across)), first.dot(there))
    # Of the two solutions the one around zero is taken, or the positive one where the outer axes coincide.
    return as_expr(start - opening if delta > _ROUNDING else start + opening)


def _turn(axis: Vec3, start: Vec3, end: Vec3) -> Expr:
    """The angle about an axis that takes the one direction to the other."""
    sine = axis.dot(start.cross(end))
    cosine = start.dot(end) - axis.dot(start) * axis.dot(end)
    return as_expr(s.atan2(sine, cosine))


def _angle_about(axis: Vec3, rotation: Rotation) -> Expr:
    """The angle of a rotation about its axis: Σ e × R e = 2 a sin q, and tr R = 1 + 2 cos q."""
    turned = [rotation.to_parent(e) for e in UNIT]
    sine = sum((axis.dot(e.cross(r)) for e, r in zip(UNIT, turned, strict=True)), as_expr(0)) / 2
    cosine = (sum((e.dot(r) for e, r in zip(UNIT, turned, strict=True)), as_expr(0)) - 1) / 2
    return as_expr(s.atan2(sine, cosine))
