"""Initial states: bodies placed joint by joint, then everything brought onto the constraints.

What is given stays; the other coordinates and the bodies follow. Bodies are first placed along joints from the earth
outward; Newton's method with the smallest change in the least-squares sense closes loops after that. All of it is analytic, so that complex
steps in parameters pass through.
"""

from __future__ import annotations

from dataclasses import replace

import mpmath
import numpy as np

from truth.oracle.constraints import is_half_turned, linear_rows, residuals
from truth.oracle.dynamics import SingularState, independent_rows, solve
from truth.oracle.jets import Jet
from truth.oracle.places import Place, placed, unmoved
from truth.oracle.state import State


def start_state(model, values=None, time=0.0):
    """The state with given values by name (coordinates, rates, speeds); the description's own where none is given."""
    given = {name: model.constant(value) for name, value in model.mechanism.initial}
    given |= values or {}
    state = assembled(model, given, time)
    return with_speeds(model, state, given)


def assembled(model, given, time=0.0, guessed=()):
    """Positions: given coordinates are kept exactly (unless only guessed), the rest moves onto the constraints."""
    held = set()
    for joint in model.mechanism.joints:
        turning = model.quaternions[joint.name]
        kept = [c.name for c in joint.coordinates if c.name in given and c.name not in guessed]
        held |= {model.column[f"{name}'"] for name in kept if name not in turning}
        if turning and all(name in kept for name in turning):
            first = model.column[f"{joint.name}.wx"]
            held |= {first, first + 1, first + 2}
    state = _onto_positions(model, placed_state(model, given, time), sorted(held))
    if is_half_turned(model, state):
        raise SingularState("a joint is shut by half a turn")
    return state


def placed_state(model, given, time=0.0):
    """Bodies where the given coordinates put them, joint by joint; loops may be open."""
    coordinates = {}
    for joint in model.mechanism.joints:
        turning = model.quaternions[joint.name]
        for c in joint.coordinates:
            coordinates[c.name] = given.get(c.name, 1.0 if turning and c.name == turning[0] else 0.0)
        if turning:
            length = sum(coordinates[name] ** 2 for name in turning) ** 0.5
            coordinates |= {name: coordinates[name] / length for name in turning}
    coordinates |= {name: given.get(name, 0.0) for name in model.states}
    # Any constant of the description may be a complex number: then everything is.
    number = 0.0j if model.is_complex else 0.0
    if model.precise:
        coordinates = {name: mpmath.mpf(x) for name, x in coordinates.items()}
        number = mpmath.mpf(0)
    u = model.zeros(model.size) + number
    return _placed(model, State(time, *_nowhere(model, number), coordinates, u), given)


def _nowhere(model, number):
    n = len(model.bodies)
    return model.zeros(n, 3) + number, (model.zeros(n, 3, 3) + number) + np.eye(3)


def _placed(model, state, given):
    """Bodies placed outward from the earth along joints, in whichever direction these are given."""
    known = {"earth": unmoved()}
    curves = model.curves(state)
    waiting = list(model.mechanism.joints)
    while waiting:
        ready = [j for j in waiting if (j.parent.body in known) != (j.child.body in known)]
        if not ready:
            break
        # A loop is closed by a joint whose coordinates nobody gave.
        joint = min(ready, key=lambda j: (j.role == "loop", any(c.name not in given for c in j.coordinates)))
        waiting.remove(joint)
        sides = [_in_body(model, curves, frame) for frame in (joint.parent, joint.child)]
        motion = curves.joint_place(joint)
        if joint.parent.body in known:
            place = known[joint.parent.body].then(sides[0]).then(motion).then(sides[1].inverse)
            known[joint.child.body] = place
        else:
            place = known[joint.child.body].then(sides[1]).then(motion.inverse).then(sides[0].inverse)
            known[joint.parent.body] = place
    centres, rotations = state.centres.copy(), state.rotations.copy()
    for name, k in model.bodies.items():
        place = known[name]
        centres[k] = place.position.value[0] + place.rotation.value[0] @ model.inertias[k].centre
        rotations[k] = place.rotation.value[0]
    return replace(state, centres=centres, rotations=rotations)


def _in_body(model, curves, frame):
    place = unmoved()
    if frame.base == "iframe" and frame.body != "earth":
        body = model.mechanism.body(frame.body)
        axes = unmoved() if body.iframe is None else placed(body.iframe, curves.value)
        place = Place(Jet(model.inertias[model.bodies[frame.body]].centre[None]), axes.rotation)
    return place.then(placed(frame.placement, curves.value))


def _onto_positions(model, state, held):
    """Newton's method on the residuals of position; coordinates in the columns `held` do not move."""
    free = [k for k in range(model.size) if k not in held]
    tolerance = mpmath.mpf(10) ** (5 - mpmath.mp.dps) if model.precise else 1e-14
    for _ in range(60):
        position, _ = residuals(model, state)
        matrix, *_ = linear_rows(model, state.moving(0 * state.velocities))
        holonomic = _rows_of_position(model, state)
        step = _least_change(matrix[holonomic][:, free], -position)
        # Complex steps need one more turn after the real part has converged, which the order of these lines gives.
        state = displaced(model, state, free, step)
        if np.max(np.abs(step), initial=0) <= tolerance:
            break
    return state


def _rows_of_position(model, state):
    from truth.oracle.constraints import rows

    return [k for k, row in enumerate(rows(model.curves(state))) if not row.of_velocity]


def _least_change(matrix, right):
    """The smallest x with A x = b, by independent rows: Aᵀ (A Aᵀ)⁻¹ b."""
    if not len(matrix):
        return np.zeros(matrix.shape[1])
    rows = independent_rows(matrix)
    A = matrix[rows]
    return A.T @ solve(A @ A.T, right[rows]) if len(rows) else 0 * matrix[0]


def displaced(model, state, columns, step):
    """The state moved by small displacements along velocities; rotations by R exp[θ], quaternions likewise."""
    move = 0 * state.velocities + 0 * (step.sum() if len(step) else 0)
    move[columns] = step
    centres = state.centres + np.array([move[6 * k : 6 * k + 3] for k in range(len(state.centres))]).reshape(-1, 3)
    rotations = np.array([R @ _rotated(move[6 * k + 3 : 6 * k + 6]) for k, R in enumerate(state.rotations)])
    coordinates = dict(state.coordinates)
    for joint in model.mechanism.joints:
        turning = model.quaternions[joint.name]
        for c in joint.coordinates:
            if c.name not in turning:
                coordinates[c.name] = coordinates[c.name] + move[model.column[f"{c.name}'"]]
        if turning:
            first = model.column[f"{joint.name}.wx"]
            turned = _turned_quaternion([coordinates[n] for n in turning], move[first : first + 3])
            coordinates |= dict(zip(turning, turned, strict=True))
    return replace(state, centres=centres, rotations=rotations.reshape(-1, 3, 3), coordinates=coordinates)


def _rotated(theta):
    """Cayley's rotation (1 - [θ]/2)⁻¹ (1 + [θ]/2): orthogonal, and exp[θ] to second order."""
    x, y, z = theta / 2
    K = np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]])
    square = x * x + y * y + z * z
    return np.eye(3) + 2 / (1 + square) * (K + K @ K)


def _turned_quaternion(e, theta):
    """e ∘ (1, θ/2), made of unit length."""
    a, b, c, d = e
    x, y, z = theta / 2
    product = [
        a - b * x - c * y - d * z,
        b + a * x + c * z - d * y,
        c + a * y - b * z + d * x,
        d + a * z + b * y - c * x,
    ]
    length = sum(p * p for p in product) ** 0.5
    return [p / length for p in product]


def with_speeds(model, state, given):
    """Velocities: what is given holds and constraints hold; speeds that both leave free are zero, as long as they are."""
    matrix, drift, _, _ = linear_rows(model, state)
    rows, right = list(matrix[independent_rows(matrix)]), list(-drift[independent_rows(matrix)])
    speeds = [name for joint in model.mechanism.joints for name in _speed_names(model, joint)]
    wanted = [name for name in (*model.column, *speeds) if name in given] + [
        name for name in speeds if name not in given
    ]
    unit = model.zeros(model.size, model.size) + 0 * state.velocities.sum()
    for k in range(model.size):
        unit[k, k] = 1
    still = model.curves(state.moving(0 * state.velocities))
    moving = model.curves(state, unit, np.zeros(model.size))
    for name in dict.fromkeys(wanted):
        # A speed may hold something of time alone: its value at rest is the part that no rate changes.
        rest = np.ravel(np.broadcast_to(still[name].value, (1,)))[0]
        row = np.broadcast_to(moving[name].value, (model.size,)) - rest
        if len(independent_rows(np.array([*rows, row]))) > len(rows):
            rows.append(row)
            right.append(given.get(name, 0.0) - rest)
    A = np.array(rows).reshape(-1, model.size)
    return state.moving(_least_change(A, np.array(right)))


def tangent(model, state, rates):
    """The velocities of a move along the constraints at a fixed time, by the linear part of some speeds in it."""
    matrix, *_ = linear_rows(model, state)
    holonomic = matrix[_rows_of_position(model, state)]
    found = list(holonomic[independent_rows(holonomic)]) if len(holonomic) else []
    right = [0.0] * len(found)
    still = model.curves(state.moving(0 * state.velocities))
    moving = model.curves(state, np.eye(model.size) + 0 * state.velocities.sum(), np.zeros(model.size))
    for name, rate in rates.items():
        rest = np.ravel(np.broadcast_to(still[name].value, (1,)))[0]
        found.append(np.broadcast_to(moving[name].value, (model.size,)) - rest)
        right.append(rate)
    A = np.array(found).reshape(-1, model.size)
    if len(independent_rows(A)) < model.size:
        raise SingularState("some moves are not told by the speeds given")
    return _least_change(A, np.array(right))


def _speed_names(model, joint):
    """The speeds that a joint's motion is told by: declared ones, those of its body, or the rates."""
    if joint.speeds:
        return [speed.name for speed in joint.speeds]
    if joint.frame_speeds == "body":
        return [f"{joint.name}.{w}" for w in ("vx", "vy", "vz", "wx", "wy", "wz")]
    turning = model.quaternions[joint.name]
    rates = [f"{c.name}'" for c in joint.coordinates if c.name not in turning]
    return rates + ([f"{joint.name}.w{axis}" for axis in "xyz"] if turning else [])
