"""Loads as forces on points of bodies and on joint coordinates, by virtual power.

A force F at a point x and a moment M on a body with centre c do the work F·v_c + (Rᵀ((x - c) x F + M))·ω, which says what
they add to the right-hand side of the equations of motion for (v_c, ω).
"""

from __future__ import annotations

import numpy as np

from truth.oracle.jets import Jet, applied, dot, root, scaled, transposed
from truth.oracle.places import vector_of
from truth.oracle.state import axial, rotation_of


class _Forces:
    """The vector of generalised forces that goes with u, filled load by load."""

    def __init__(self, curves):
        self.curves, self.model = curves, curves.model
        self.total = curves.model.zeros(curves.model.size) + 0 * curves.state.velocities.sum()

    def on_body(self, name, point, force, moment=0.0):
        """A force at a point and a moment, all in earth axes."""
        if name == "earth":
            return
        k = self.model.bodies[name]
        arm = point - self.curves.state.centres[k]
        self.total[6 * k : 6 * k + 3] += force
        self.total[6 * k + 3 : 6 * k + 6] += self.curves.state.rotations[k].T @ (_cross(arm, force) + moment)

    def on_coordinate(self, name, force):
        self.total[self.model.column[f"{name}'"]] += number(force)


def _cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def number(x):
    """The value of a scalar that has one row."""
    return np.ravel(x.value if isinstance(x, Jet) else x)[0]


def generalised_forces(model, state):
    """Gravity and every load of the description at a state."""
    curves = model.curves(state)
    forces = _Forces(curves)
    gravity = vector_of(model.mechanism.gravity, curves.value).value[0]
    for body, inertia, centre in zip(model.mechanism.bodies, model.inertias, state.centres, strict=True):
        forces.on_body(body.name, centre, inertia.mass * gravity)
    for load in model.mechanism.loads:
        _KINDS[type(load).__name__](forces, curves, load)
    for name, mode in model.modes.items():
        if mode in (-1, 1):
            forces.total += _rubbing(model, state, model.switching[name], mode)
    return forces.total


def _rubbing(model, state, element, sign):
    """Dry friction that slides: its force against the sliding speed s does the work -F |s|."""
    from truth.oracle.constraints import linear_rows

    matrix, *_ = linear_rows(model, state, [element])
    return -sign * number(model.curves(state).value(element.force)) * matrix[-1]


def _coordinate_force(forces, curves, load):
    forces.on_coordinate(load.coordinate, curves.value(load.law))


def _coordinate_spring(forces, curves, load):
    q, rate = curves[load.coordinate], curves[f"{load.coordinate}'"]
    stiffness, rest, damping = (curves.value(x) for x in (load.stiffness, load.rest, load.damping))
    forces.on_coordinate(load.coordinate, -stiffness * (q - rest) - damping * Jet(rate.value))


def joint_wrench(curves, load):
    """(point, force, moment) of a wrench that the parent exerts on the child, in earth axes."""
    joint = curves.model.mechanism.joint(load.joint)
    axes = curves.frame_place(joint.parent).rotation
    force, moment = (applied(axes, vector_of(v, curves.value)).value[0] for v in (load.force, load.moment))
    return curves.frame_place(joint.child).position.value[0], force, moment


def _joint_wrench(forces, curves, load):
    joint = curves.model.mechanism.joint(load.joint)
    point, force, moment = joint_wrench(curves, load)
    forces.on_body(joint.child.body, point, force, moment)
    forces.on_body(joint.parent.body, point, -force, -moment)


def _point_spring(forces, curves, load):
    first, second = (curves.frame_place(f).position for f in (load.first, load.second))
    between = second - first
    length = root(dot(between, between))
    curves["length"], curves["length'"] = Jet(length.value), Jet(length.rate)
    if load.law is None:
        stiffness, rest, damping = (curves.value(x) for x in (load.stiffness, load.rest, load.damping))
        tension = number(stiffness * (length - rest)) + number(damping * Jet(length.rate))
    else:
        # Its own memory, because another spring's length may be remembered under the same formula.
        from truth.oracle.formulas import evaluate

        tension = number(evaluate(load.law, curves, curves.model.laws))
    pull = tension * scaled(1 / length, between).value[0]
    forces.on_body(load.first.body, first.value[0], pull)
    forces.on_body(load.second.body, second.value[0], -pull)


def _bushing(forces, curves, load):
    """-K d - C d' and a moment with the potential tr(G (1 - R)), G = tr(K)/2 - K, in the axes of the first frame.

    With δR = [δθ] R the moment M·δθ = -δV = tr(R G [δθ]) = -2 axial(R G)·δθ; for small rotations it is -K θ.
    """
    first, second = curves.frame_place(load.first), curves.frame_place(load.second)
    k, c = ([number(curves.value(x)) for x in row] for row in (load.stiffness, load.damping))
    seen = first.inverse.then(second)
    d = seen.position
    push = -np.array(k[:3]) * d.value[0] - np.array(c[:3]) * d.rate[0]
    G = np.diag([sum(k[3:]) / 2 - x for x in k[3:]])
    omega = rotation_of(seen.rotation).value[0]
    moment = -2 * axial(Jet((seen.rotation.value[0] @ G)[None])).value[0] - np.array(c[3:]) * omega
    axes, point = first.rotation.value[0], second.position.value[0]
    forces.on_body(load.second.body, point, axes @ push, axes @ moment)
    forces.on_body(load.first.body, point, -axes @ push, -axes @ moment)


def _applied_wrench(forces, curves, load):
    axes = curves.frame_place(load.axes).rotation
    force, moment = (applied(axes, vector_of(v, curves.value)).value[0] for v in (load.force, load.moment))
    forces.on_body(load.on.body, curves.frame_place(load.on).position.value[0], force, moment)


_KINDS = {
    "CoordinateForce": _coordinate_force,
    "CoordinateSpring": _coordinate_spring,
    "JointWrench": _joint_wrench,
    "PointSpring": _point_spring,
    "Bushing": _bushing,
    "AppliedWrench": _applied_wrench,
}

__all__ = ["generalised_forces", "joint_wrench", "number", "transposed"]
