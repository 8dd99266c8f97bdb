"""Speeds other than the rates of the coordinates: quasi-velocities of a joint.

Speeds u = Y(q, t) ν + y(q, t) of the natural speeds ν are solved for ν. A speed that is a component of the child's
velocity in its own axes is put in place of that component, and its screw is a constant. Nothing of the form RᵀR
is left to simplify: a translation before all turns has the rates R v, and three turns are undone one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from torseur.algebra.graph import Expr, as_expr, dense_jacobian, directional_derivative, substitute, symbols_of
from torseur.algebra.spatial import Motion, Rotation, Vec3, about, unit
from torseur.description.mechanism import TIME, ElementaryMotion, Joint, body_rotation, body_velocity
from torseur.errors import MechanismError

if TYPE_CHECKING:
    from torseur.derivation.tree.joints.joint_kinematics import JointKinematics, JointSymbols


Components = list[Expr]
"""Angular x, y, z, then linear x, y, z."""


# Why recognised and not simplified: docs/decisions/0028-quasi-velocities-recognised.md.
def with_speeds(
    natural: JointKinematics, described: JointKinematics, joint: Joint, symbols: JointSymbols
) -> JointKinematics:
    """The kinematics for the joint's own speeds u in place of the natural ones.

    `described` are the kinematics from parent to child, which say what the speeds are; `natural` run from child to
    parent where the tree reaches the joint from behind. Screws are ∂V/∂u. The bias is the rate of V at constant u; in
    turning axes, ω x v adds to the linear part.
    """
    values = _values(described, joint, symbols)
    # The component that is a speed is replaced by it as a whole: substituting ν would leave R Rᵀ to be recognised.
    velocity = _components(natural.velocity)
    named = dict(zip(values, symbols.speeds, strict=True))
    swap = dict(zip(symbols.natural, _natural_speeds(described, joint, symbols, values, named), strict=True))
    swapped = substitute(velocity, swap)
    known = [named.get(value, other) for value, other in zip(velocity, swapped, strict=True)]
    rates = substitute([as_expr(rate) for rate in natural.rates], swap)
    moving = dict(zip(symbols.coordinates, rates, strict=True)) | {TIME: as_expr(1)}
    twist, change = _motion(known), _motion(directional_derivative(known, moving))
    columns = zip(*dense_jacobian(known, symbols.speeds), strict=True)
    return replace(
        natural,
        screws=tuple(_motion(column) for column in columns),
        velocity=twist,
        bias=Motion(change.angular, change.linear + twist.angular.cross(twist.linear)),
        rates=tuple(rates),
    )


def _values(described: JointKinematics, joint: Joint, symbols: JointSymbols) -> list[Expr]:
    """The speeds by the natural speeds: components of the child's velocity in its own axes as they are, formulas with
    the rates of a quaternion replaced by its angular velocity."""
    velocity = [as_expr(c) for c in (*described.velocity.linear, *described.velocity.angular)]
    if joint.frame_speeds == "body":
        return velocity
    # By the rates of the four coordinates of a quaternion, its angular velocity is ω times their sum of squares, which
    # nothing simplifies: what a description says by `velocity in` and `rotation in` is recognised as a whole.
    written = (body_velocity(joint.coordinates, joint.motions), body_rotation(joint.coordinates, joint.motions))
    meant = {value: natural for value, natural in zip((c for part in written for c in part), velocity, strict=True)}
    rates = {rate: as_expr(r) for rate, r in zip(symbols.rates, described.rates, strict=True) if rate is not r}
    return [meant[s.value] if s.value in meant else substitute([s.value], rates)[0] for s in joint.speeds]


def _natural_speeds(
    natural: JointKinematics, joint: Joint, symbols: JointSymbols, values: Sequence[Expr], named: Mapping[Expr, Expr]
) -> list[Expr]:
    """ν in terms of the speeds: what is known from the geometry of the joint, the rest by solving Y ν + y = u."""
    # Geometry first: R v and undone turns leave nothing to simplify. What it does not tell is solved for by minors.
    known = _moving_rates(natural, joint, symbols, named) | _turning_rates(natural, joint, symbols, named)
    # A speed that the geometry has used gives no equation of its own any more.
    used = {named[c] for c in _components(natural.velocity) if c in named and _rates_in(c, symbols) <= set(known)}
    rows = [(value, u) for value, u in zip(values, symbols.speeds, strict=True) if u not in used]
    unknown = [nu for nu in symbols.natural if nu not in known]
    rest = _solve(joint, symbols, substitute([value for value, _ in rows], known), [u for _, u in rows], unknown)
    known = known | dict(zip(unknown, rest, strict=True))
    return substitute([known[nu] for nu in symbols.natural], known)


def _rates_in(component: Expr, symbols: JointSymbols) -> set[Expr]:
    return {x for x in symbols_of([component]) if x in symbols.natural}


def _solve(
    joint: Joint, symbols: JointSymbols, values: Sequence[Expr], speeds: Sequence[Expr], unknown: Sequence[Expr]
) -> list[Expr]:
    """Y⁻¹ (u - y) for values = Y ν + y."""
    rows = dense_jacobian(values, unknown)
    for row, speed in zip(rows, speeds, strict=True):
        if any(nu in symbols_of(row) for nu in symbols.natural):
            raise MechanismError(f"joint '{joint.name}': speed '{speed.name}' must be linear in the rates.")
    inverse = inverse_matrix(rows) if len(rows) == len(unknown) else None
    if inverse is None:
        given, rates = (", ".join(f"'{x.name}'" for x in part) for part in (symbols.speeds, symbols.natural))
        raise MechanismError(
            f"joint '{joint.name}': its speeds {given} do not span its motions. "
            f"Give {len(symbols.natural)} independent linear combinations of {rates}."
        )
    drift = substitute(values, {nu: as_expr(0) for nu in unknown})
    return [_product(row, [u - y for u, y in zip(speeds, drift, strict=True)]) for row in inverse]


def _moving_rates(
    natural: JointKinematics, joint: Joint, symbols: JointSymbols, named: Mapping[Expr, Expr]
) -> dict[Expr, Expr]:
    """Rates of displacements along axes of the parent, where the velocity v is known in the child's axes: R v."""
    rates = dict(symbols.ordinary)
    moves = [motion for motion in joint.motions if motion.kind == "translation"]
    plain = list(joint.motions[: len(moves)]) == moves and all(motion.amount in rates for motion in moves)
    velocity = _speeds_along(natural.velocity.linear, named)
    if not moves or not plain or velocity is None:
        return {}
    axes = [unit(Vec3(*motion.axis)) for motion in moves]
    # Components along orthogonal axes are scalar products; oblique ones would need a matrix to invert.
    if any(not as_expr(a.dot(b)).is_zero for i, a in enumerate(axes) for b in axes[:i]):
        return {}
    moved = natural.transform.rotation.to_parent(velocity)
    return {rates[motion.amount]: as_expr(moved.dot(axis)) for motion, axis in zip(moves, axes, strict=True)}


def _turning_rates(
    natural: JointKinematics, joint: Joint, symbols: JointSymbols, named: Mapping[Expr, Expr]
) -> dict[Expr, Expr]:
    """Rates of three angles where the angular velocity is known in the child's axes.

    Before the last turn the three axes are that of the first turn seen through the second, and the other two as
    they are: a matrix with one sine and one cosine.
    """
    rates = dict(symbols.ordinary)
    turns = [motion for motion in joint.motions if motion.kind == "rotation"]
    omega = _speeds_along(natural.velocity.angular, named)
    if len(turns) != 3 or any(motion.amount not in rates for motion in turns) or omega is None or symbols.quaternion:
        return {}
    # ω before the last turn = q1' R2ᵀ a1 + q2' a2 + q3' a3: columns of the matrix, whose inverse gives the rates.
    first, second, third = (unit(Vec3(*motion.axis)) for motion in turns)
    inverse = inverse_matrix(list(zip(*(_turn(turns[1]).to_child(first), second, third), strict=True)))
    if inverse is None:
        raise MechanismError(f"joint '{joint.name}': its angles do not span all rotations.")
    before = [as_expr(c) for c in _turn(turns[2]).to_parent(omega)]
    return {rates[motion.amount]: _product(row, before) for motion, row in zip(turns, inverse, strict=True)}


def _speeds_along(vector: Vec3, named: Mapping[Expr, Expr]) -> Vec3 | None:
    """The speeds that are the components of a vector, None when one of them is no speed."""
    components = [as_expr(c) for c in vector]
    if any(c not in named and not c.is_zero for c in components):
        return None
    return Vec3(*(named.get(c, c) for c in components))


def _turn(motion: ElementaryMotion) -> Rotation:
    return about(Vec3(*motion.axis), motion.amount)


def _components(motion: Motion) -> Components:
    return [as_expr(c) for c in (*motion.angular, *motion.linear)]


def _motion(components: Sequence[Expr]) -> Motion:
    return Motion(Vec3(*components[:3]), Vec3(*components[3:]))


def _product(row: Sequence[Expr], column: Sequence[Expr]) -> Expr:
    return sum((a * b for a, b in zip(row, column, strict=True)), as_expr(0))


def inverse_matrix(rows: Sequence[Sequence[Expr]]) -> list[list[Expr]] | None:
    """The inverse, or None when the determinant vanishes identically. For at most about eight rows.

    By minors: no pivot is chosen, so nothing divides by an accidental zero.
    """
    n = len(rows)

    @cache
    def minor(row_set: tuple[int, ...], column_set: tuple[int, ...]) -> Expr:
        """Determinant of the chosen rows and columns, expanded along the first row."""
        if not row_set:
            return as_expr(1)
        total = as_expr(0)
        for k, column in enumerate(column_set):
            entry = as_expr(rows[row_set[0]][column])
            if not entry.is_zero:
                term = entry * minor(row_set[1:], column_set[:k] + column_set[k + 1 :])
                total = total + term if k % 2 == 0 else total - term
        return total

    everything = tuple(range(n))
    determinant = minor(everything, everything)
    if determinant.is_zero:
        return None

    # Zero as an expression, after the folds, is zero whatever the values; a determinant that vanishes only in some
    # configurations passes, and divides by zero there.
    # A sign in front of the determinant goes to the cofactors, where it often meets another one.
    odd, size = (1, determinant.args[0]) if determinant.op == "neg" else (0, determinant)

    def cofactor(i: int, j: int) -> Expr:
        value = minor(everything[:i] + everything[i + 1 :], everything[:j] + everything[j + 1 :])
        return value if (i + j + odd) % 2 == 0 else -value

    return [[cofactor(j, i) / size for j in range(n)] for i in range(n)]
