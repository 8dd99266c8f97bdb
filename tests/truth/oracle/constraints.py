"""Constraints as residuals that vanish: six per joint, and those that a description adds.

A residual is either of the position, Φ(state, t), or of the velocity, linear in u. Jets along the batch of unit
velocities give its matrix and γ, for both alike:

    of the position:  Φ' = C u + w,  Φ'' = C u' - γ          of the velocity:  ψ = C u + w,  ψ' = C u' - γ
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truth.oracle.jets import Jet, applied, component, cross, dot, root, scaled, stack, transposed
from truth.oracle.places import direction_of
from truth.oracle.state import axial, rotation_of, symbols


@dataclass(frozen=True)
class Row:
    """One residual as a jet along a batch of curves; `of_velocity` when the residual itself is linear in u."""

    owner: str
    residual: Jet
    of_velocity: bool = False


def rows(curves):
    """The residuals of all joints and constraints of a mechanism."""
    found = []
    for joint in curves.model.mechanism.joints:
        found += joint_rows(curves, joint)
    for constraint in curves.model.mechanism.constraints:
        found += _KINDS[type(constraint).__name__](curves, constraint)
    for name, mode in curves.model.modes.items():
        if mode in ("closed", "stick"):
            found.append(Row(name, element_jet(curves, curves.model.switching[name]), mode == "stick"))
    return found


def element_jet(curves, element):
    """The gap of a bound or of a sphere on a plane, or the sliding speed of dry friction."""
    if type(element).__name__ == "Bound":
        return curves.value(element.gap)
    if type(element).__name__ == "DryFriction":
        return curves.value(element.slip[0])
    ball, ground = curves.frame_place(element.frame), curves.frame_place(element.ground)
    n = applied(ground.rotation, direction_of(element.normal, curves.value))
    sizes = dict(element.sizes)
    height = dot(n, ball.position - ground.position)
    return height - curves.value(sizes["radius"]) if sizes else height


def joint_rows(curves, joint):
    """The child's joint frame is where the joint's motions lead from the parent's.

    Three residuals are the gap between the origins, in earth axes; three are the small rotation between the axes, in
    those of the child. Their multipliers are force and moment on the child at that origin, in these axes.
    """
    reached = curves.frame_place(joint.parent).then(curves.joint_place(joint))
    child = curves.frame_place(joint.child)
    gap = child.position - reached.position
    turn = axial(transposed(reached.rotation) @ child.rotation)
    residuals = [component(gap, k) for k in range(3)] + [component(turn, k) for k in range(3)]
    return [Row(joint.name, residual) for residual in residuals]


def _distance(curves, constraint):
    first, second = (curves.frame_place(f).position for f in (constraint.first, constraint.second))
    between = second - first
    return [Row(constraint.name, root(dot(between, between)) - curves.value(constraint.value))]


def _equation(curves, constraint):
    """0 = residual: of the velocity when it mentions a rate, a declared speed or a measured velocity."""
    moving = any(_is_velocity(curves.model, name) for name in symbols(constraint.residual))
    return [Row(constraint.name, curves.value(constraint.residual), moving)]


def _is_velocity(model, name):
    declared = {speed.name for joint in model.mechanism.joints for speed in joint.speeds}
    implied = {n for n in model.speed_names}
    measured = {s.name for s in model.mechanism.sensors if s.kind in ("velocity", "rotation")}
    return name.endswith("'") or name in declared | implied | measured


def _rolling(curves, constraint):
    """A wheel on a plane: its lowest point touches, and the matter there does not slip.

    The circle of the rim, of radius r about the axle a, is lowest in the direction d = -(n - (n·a) a)/|...|; the tyre
    reaches ρ further along -n. At the contact P: n·(P - o) = 0, and v_wheel(P) - v_ground(P) has no component in the plane.
    """
    wheel, ground = curves.frame_place(constraint.wheel), curves.frame_place(constraint.on)
    n = applied(ground.rotation, direction_of(constraint.normal, curves.value))
    axle = wheel.rotation.map(lambda R: R[..., :, 2])
    across = n - scaled(dot(n, axle), axle)
    down = scaled(-1 / root(dot(across, across)), across)
    radius = curves.value(constraint.radius)
    tyre = 0.0 if constraint.tyre_radius is None else curves.value(constraint.tyre_radius)
    contact = wheel.position + scaled(radius, down) - scaled(tyre, n)
    slip = _matter_velocity(wheel, contact) - _matter_velocity(ground, contact)
    return [
        Row(constraint.name, dot(n, contact - ground.position)),
        *(Row(constraint.name, dot(tangent, slip), True) for tangent in _tangents(n)),
    ]


def _matter_velocity(place, point):
    """Velocity of the matter of a body that is at a point now: v_O + ω x OP."""
    return place.position.derivative + cross(rotation_of(place.rotation), point - place.position)


def _tangents(n):
    """Two unit vectors that span the plane across n, carried along with it smoothly."""
    k = int(np.argmin(np.abs(np.asarray(n.value[0], dtype=complex))))
    helper = np.zeros((1, 3))
    helper[0, k] = 1
    first = cross(n, Jet(helper))
    first = scaled(1 / root(dot(first, first)), first)
    return first, cross(n, first)


_KINDS = {"Distance": _distance, "Equation": _equation, "Rolling": _rolling}


def residuals(model, state):
    """Residuals of position and residuals of velocity (their rates, where of position) at a state."""
    position, velocity = [], []
    for row in rows(model.curves(state)):
        if row.of_velocity:
            velocity.append(np.ravel(row.residual.value)[0])
        else:
            position.append(np.ravel(row.residual.value)[0])
            velocity.append(np.ravel(row.residual.rate)[0])
    return np.array(position), np.array(velocity)


def is_half_turned(model, state):
    """Whether some joint is shut the wrong way round.

    The small rotation of `joint_rows` is sin θ along an axis, which vanishes for half a turn too; the trace 1 + 2 cos θ does not.
    """
    curves = model.curves(state)
    for joint in model.mechanism.joints:
        reached = curves.frame_place(joint.parent).then(curves.joint_place(joint))
        turn = reached.rotation.value[0].T @ curves.frame_place(joint.child).rotation.value[0]
        if np.real(complex(np.trace(turn))) < 1:
            return True
    return False


def linear_rows(model, state, elements=()):
    """(C, w, γ, owners) of all constraints at a state, and of elements that switch: C u + w = 0 and C u' = γ."""
    n = model.size
    batch = model.zeros(n + 2, n) + 0 * state.velocities[:1].sum()
    batch[1] = state.velocities
    for k in range(n):
        batch[k + 2, k] = 1
    # Curve 0 stands still in every respect, curve 1 is the motion itself; on the unit curves time does not run.
    ticking = np.zeros(n + 2)
    ticking[1] = 1
    matrix, drift, gamma, owners = [], [], [], []
    curves = model.curves(state, batch, ticking)
    more = [Row(e.name, element_jet(curves, e), type(e).__name__ == "DryFriction") for e in elements]
    for row in [*rows(curves), *more]:
        first, later = (
            (row.residual.value, row.residual.rate) if row.of_velocity else (row.residual.rate, row.residual.second)
        )
        first, later = (np.broadcast_to(x, (n + 2,)) for x in (first, later))
        line = first[2:] - first[0]
        matrix.append(line)
        drift.append(first[1] - line @ state.velocities)
        gamma.append(-later[1])
        owners.append(row.owner)
    return np.array(matrix).reshape(-1, n), np.array(drift), np.array(gamma), owners


__all__ = ["Row", "is_half_turned", "joint_rows", "linear_rows", "residuals", "rows", "stack"]
