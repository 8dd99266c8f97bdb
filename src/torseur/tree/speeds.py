"""Speeds other than the rates of the coordinates: quasi-velocities of a joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from torseur.errors import MechanismError, UnsupportedError
from torseur.graph import Expr, as_expr, directional_derivative, gradient, substitute, symbols_of
from torseur.mechanism import TIME, Joint
from torseur.spatial import NULL, REST, UNIT, Motion, Scalar, Vec3, quaternion_rate
from torseur.tree.inverse import inverse_matrix

if TYPE_CHECKING:
    from torseur.tree.joint_kinematics import JointKinematics, JointSymbols


def with_body_speeds(natural: JointKinematics, joint: Joint, symbols: JointSymbols, reverse: bool) -> JointKinematics:
    """A free joint whose speeds are the velocity and rotation of the child in its own axes.

    The screws become constant and the bias is w x v; the rates follow from the rotation.
    """
    if reverse or len(symbols.natural) != 6 or [m.kind for m in joint.motions[:3]] != ["translation"] * 3:
        raise UnsupportedError(f"joint '{joint.name}': speeds in body axes need a free joint from parent to child.")
    velocity, omega = Vec3(*symbols.speeds[:3]), Vec3(*symbols.speeds[3:])
    shifts = natural.transform.rotation.to_parent(velocity)
    turns = _turning_rates(natural, joint, symbols, omega)
    screws = tuple(Motion(NULL, axis) for axis in UNIT) + tuple(Motion(axis, NULL) for axis in UNIT)
    bias = Motion(NULL, omega.cross(velocity))
    return replace(natural, screws=screws, velocity=Motion(omega, velocity), bias=bias, rates=(*shifts, *turns))


def _turning_rates(natural: JointKinematics, joint: Joint, symbols: JointSymbols, omega: Vec3) -> Sequence[Scalar]:
    if symbols.quaternion:
        return quaternion_rate(symbols.quaternion, omega)
    columns = [list(screw.angular) for screw in natural.screws[3:]]
    inverse = inverse_matrix([[columns[j][i] for j in range(3)] for i in range(3)])
    if inverse is None:
        raise MechanismError(f"joint '{joint.name}': its angles do not span all rotations.")
    return [_product(row, list(omega)) for row in inverse]


def with_declared_speeds(natural: JointKinematics, joint: Joint, symbols: JointSymbols) -> JointKinematics:
    """Speeds u declared as u = Y(q, t) nu + y(q, t) of the natural speeds nu.

    Then nu = Y⁻¹ (u - y), the screws are multiplied by Y⁻¹, and nu' at constant u adds to the bias.
    """
    values = [speed.value for speed in joint.speeds]
    matrix = [gradient(value, symbols.natural) for value in values]
    drift = substitute(values, {nu: as_expr(0) for nu in symbols.natural})
    inverse = inverse_matrix(matrix)
    if inverse is None or any(nu in symbols_of([e for row in matrix for e in row]) for nu in symbols.natural):
        raise MechanismError(f"joint '{joint.name}': its speeds must be independent linear combinations of the rates.")
    natural_speeds = [_product(row, [u - y for u, y in zip(symbols.speeds, drift, strict=True)]) for row in inverse]
    moving = dict(zip(symbols.coordinates, natural.rates, strict=True)) | {TIME: as_expr(1)}
    change = directional_derivative(values, moving)
    speed_change = [-_product(row, change) for row in inverse]
    bias = natural.bias
    for screw, value in zip(natural.screws, speed_change, strict=True):
        bias = bias + screw * value
    screws = tuple(_combination(natural.screws, [row[k] for row in inverse]) for k in range(len(values)))
    swap = dict(zip(symbols.natural, natural_speeds, strict=True))
    return replace(
        natural,
        screws=screws,
        velocity=_swapped(natural.velocity, swap),
        bias=_swapped(bias, swap),
        rates=tuple(substitute([as_expr(r) for r in natural.rates], swap)),
    )


def _combination(screws: Sequence[Motion], weights: Sequence[Scalar]) -> Motion:
    total = REST
    for screw, weight in zip(screws, weights, strict=True):
        total = total + screw * weight
    return total


def _swapped(motion: Motion, swap: dict[Expr, Expr]) -> Motion:
    values = substitute([as_expr(c) for c in (*motion.angular, *motion.linear)], swap)
    return Motion(Vec3(*values[:3]), Vec3(*values[3:]))


def _product(row: Sequence[Scalar], column: Sequence[Scalar]) -> Scalar:
    total: Scalar = as_expr(0)
    for a, b in zip(row, column, strict=True):
        total = total + a * b
    return total
