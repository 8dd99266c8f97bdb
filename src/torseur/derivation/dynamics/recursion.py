"""Velocities and accelerations of the links, from the earth outward.

Classical vectors, as in Luh, Walker and Paul (1980) with the tensor U = α̃ + ω̃ ω̃ of Khalil and Kleinfinger (1987): the
acceleration of a point r of a link is a + U r, so the velocity of the origin is never needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.algebra.graph import Expr
from torseur.algebra.spatial import NULL, Force, Inertia, Matrix3, Motion, Scalar, Symmetric3, Vec3
from torseur.derivation.tree import GROUND, Moving, Snapshot, Tree

_ZERO_TENSOR = Matrix3((NULL, NULL, NULL))


@dataclass(frozen=True)
class LinkMotion:
    """Angular velocity w, its rate, the acceleration of the origin less gravity, and U, all in the link's axes."""

    w: Vec3
    alpha: Vec3
    a: Vec3
    tensor: Matrix3


# Why classical accelerations and U, with operation counts: docs/decisions/0004-classical-accelerations.md.
def link_motions(now: Snapshot, vdot: Sequence[Scalar], gravity: Vec3) -> list[LinkMotion]:
    """The motion of every link when the speeds change at the rate vdot.

    The earth accelerates against gravity, so every acceleration is less gravity and weights need no term of their own.
    """
    tree, links = now.tree, now.links
    earth = LinkMotion(NULL, NULL, -gravity, _ZERO_TENSOR)
    motions: list[LinkMotion] = []
    for i in tree.outward():
        parent = earth if tree.parent(i) == GROUND else motions[tree.parent(i)]
        motions.append(_link_motion(parent, links[i], [vdot[k] for k in tree.links[i].slots]))
    return motions


def _link_motion(parent: LinkMotion, link: Moving, vdot: Sequence[Scalar]) -> LinkMotion:
    joint = link.motion
    turn, r = joint.transform.rotation.to_child, joint.transform.position
    relative, change = joint.velocity, _acceleration(joint.screws, vdot, joint.bias)
    # In the child's axes: ω = ω_p + φ' ,  α = α_p + ω_p × φ' + (S v' + c),  a = a_p + U_p r + 2 ω_p × t' + (S v' + c):
    # the parent's field of accelerations at the child's origin, Coriolis' term, and what the joint adds in its own
    # basis.
    carried = turn(parent.w)
    w = carried + relative.angular
    alpha = turn(parent.alpha) + carried.cross(relative.angular) + change.angular
    a = turn(parent.a + parent.tensor @ r) + carried.cross(relative.linear) * 2 + change.linear
    return LinkMotion(w, alpha, a, rotation_tensor(w, alpha))


def _acceleration(screws: Sequence[Motion], vdot: Sequence[Scalar], bias: Motion) -> Motion:
    """S vdot + bias."""
    total = bias
    for screw, rate in zip(screws, vdot, strict=True):
        total = total + screw * rate
    return total


def rotation_tensor(w: Vec3, alpha: Vec3) -> Matrix3:
    """U = α̃ + ω̃ ω̃."""
    xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
    xy, xz, yz = w.x * w.y, w.x * w.z, w.y * w.z
    return Matrix3((
        Vec3(-(yy + zz), xy - alpha.z, xz + alpha.y),
        Vec3(xy + alpha.z, -(xx + zz), yz - alpha.x),
        Vec3(xz - alpha.y, yz + alpha.x, -(xx + yy)),
    ))  # fmt: skip


def inertial_force(inertia: Inertia, motion: LinkMotion) -> Force:
    """The force and the moment at the origin that a link's motion requires: m a + U h and I α + ω x I ω + h x a."""
    h, a = inertia.moment, motion.a
    force = a * inertia.mass + motion.tensor @ h
    return Force(_spin_rate(inertia.matrix, motion) + h.cross(a), force)


def _spin_rate(matrix: Symmetric3, motion: LinkMotion) -> Vec3:
    """I α + ω x I ω, written with the entries of U so that products of ω are shared."""
    # First component: I_xx α_x + (I_zz - I_yy) ω_y ω_z + I_xz (α_z + ω_x ω_y) + I_xy (α_y - ω_x ω_z) + I_yz (ω_y² -
    # ω_z²). The brackets are entries of U up to a sign, and U is there already.
    w, alpha, (u0, u1, u2), m = motion.w, motion.alpha, motion.tensor.rows, matrix
    xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
    xy, xz, yz = w.x * w.y, w.x * w.z, w.y * w.z
    return Vec3(
        _pair(m.xx, alpha.x, m.zz - m.yy, yz, u2.y, u1.z) + m.xz * u1.x - m.xy * u2.x + m.yz * (yy - zz),
        _pair(m.yy, alpha.y, m.xx - m.zz, xz, u0.z, u2.x) + m.xy * u2.y - m.yz * u0.y + m.xz * (zz - xx),
        _pair(m.zz, alpha.z, m.yy - m.xx, xy, u1.x, u0.y) + m.yz * u0.z - m.xz * u1.z + m.xy * (xx - yy),
    )


def _pair(a: Scalar, alpha: Scalar, b: Scalar, product: Scalar, total: Scalar, difference: Scalar) -> Scalar:
    """a α + b π, as one product with π + α or π - α (entries of U) where the coefficients are the same expression.

    That happens after regrouping, when the moment about a joint's axis is the sum of the other two.
    """
    if a is b:
        return a * total
    if isinstance(a, Expr) and -a is b:
        return -(a * difference)
    return a * alpha + b * product


def motion_names(tree: Tree, accelerated: bool = True) -> dict[str, list[Expr]]:
    """Names for the motions of the links, w_arm_x, dw_arm_x and a_arm_x, with the values that they may stand for.

    Those of the whole motion come first. Forward dynamics has none: it knows the motion without the accelerations v',
    which goes by the same names there; where no program is `accelerated`, these are all.
    """
    layout = tree.layout
    at_rest = [0] * len(layout.speeds)
    now = tree.at(layout.coordinates, layout.speeds)
    names: dict[str, list[Expr]] = {}
    for vdot in (layout.accelerations, at_rest) if accelerated else (at_rest,):
        for link, motion in zip(tree.links, link_motions(now, vdot, now.gravity), strict=True):
            for letter, vector in (("w", motion.w), ("dw", motion.alpha), ("a", motion.a)):
                for axis, value in zip("xyz", vector, strict=True):
                    if isinstance(value, Expr) and value.args:
                        names.setdefault(f"{letter}_{link.name}_{axis}", []).append(value)
    return names
