"""Maximal coordinates: every body on its own, every joint with its own coordinates, no tree anywhere.

A state holds, for each body, its mass centre c and rotation matrix R; for each joint, its coordinates q; and the
velocities u of all of them: centre velocities (earth axes) and angular velocities (body axes) of bodies, then rates of
joint coordinates, where a quaternion e has the angular velocity ω of the turned frame instead, e' = e ∘ (0, ω) / 2.

Joint coordinates are massless unknowns beside the bodies. So a force on a coordinate, a gear between two coordinates or
a driver is written down as it is said, and a joint is nothing but six constraints between two bodies and its coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import mpmath
import numpy as np

from truth.oracle.bodies import inertia_of
from truth.oracle.formulas import evaluate
from truth.oracle.jets import Jet, applied, component, dot, jet, scaled, stack, transposed
from truth.oracle.places import Place, moved, placed, unmoved


@dataclass(frozen=True)
class State:
    """A moment of a mechanism: time, centres (n, 3), rotations (n, 3, 3), coordinates by name, velocities u."""

    time: float
    centres: np.ndarray
    rotations: np.ndarray
    coordinates: dict
    velocities: np.ndarray

    def moving(self, velocities):
        return replace(self, velocities=np.asarray(velocities))


class Model:
    """A mechanism with numbers for its parameters: inertias, and where each velocity stands in u."""

    def __init__(self, mechanism, parameters=None, precise=False):
        self.mechanism = mechanism
        self.precise = precise
        self.laws = {law.name: law for law in mechanism.laws}
        # States beyond mechanics have their place among the coordinates, but no velocity in u.
        self.states = {state.name: state.formula for state in mechanism.states}
        # What switches along a motion, and how it is just now: "open", "closed", "stick", or the sign of a sliding speed.
        self.switching, self.modes, self.held = {element.name: element for element in mechanism.contacts}, {}, set()
        self.sensors = {sensor.name: sensor for sensor in mechanism.sensors}
        self.constants = _Constants(self, parameters or {})
        self.is_complex = any(isinstance(value, complex) for value in (parameters or {}).values())
        self.bodies = {body.name: k for k, body in enumerate(mechanism.bodies)}
        self.inertias = [inertia_of(body, self.constant) for body in mechanism.bodies]
        self.speed_names, self.quaternions = [], {}
        for joint in mechanism.joints:
            turning = _quaternion_of(joint)
            self.quaternions[joint.name] = turning
            self.speed_names += [f"{c.name}'" for c in joint.coordinates if c.name not in turning]
            self.speed_names += [f"{joint.name}.w{axis}" for axis in "xyz"] if turning else []
        first = 6 * len(self.bodies)
        self.column = {name: first + k for k, name in enumerate(self.speed_names)}
        self.size = first + len(self.speed_names)

    def constant(self, formula):
        """A number of the description: of its parameters alone."""
        if isinstance(formula, str):
            return self.constants[formula]
        return evaluate(formula, self.constants, self.laws)

    def zeros(self, *shape):
        return np.full(shape, mpmath.mpf(0), dtype=object) if self.precise else np.zeros(shape)

    def curves(self, state, velocities=None, ticking=None):
        """The state as jets, for a batch of velocities (the state's own if none is given)."""
        own = velocities is None
        return Curves(self, state, state.velocities[None] if own else velocities, np.ones(1) if own else ticking)


class _Constants(dict):
    """Parameters by name, evaluated when asked for."""

    def __init__(self, model, given):
        super().__init__({"high precision": True} if model.precise else {})
        self.model, self.given = model, given
        self.defined = {p.name: p.value for p in model.mechanism.parameters}

    def __missing__(self, name):
        if name in self.given:
            value = self.given[name]
            self[name] = mpmath.mpf(value) if self.model.precise else value
        elif self.defined.get(name) is None:
            raise KeyError(f"'{name}' has no value")
        else:
            self[name] = evaluate(self.defined[name], self, self.model.laws)
        return self[name]


def _quaternion_of(joint):
    """Names of the four coordinates that no amount uses, in a joint with a quaternion."""
    if not any(motion.kind == "quaternion" for motion in joint.motions):
        return ()
    used = set()
    for motion in joint.motions:
        used |= symbols(motion.amount)
    return tuple(c.name for c in joint.coordinates if c.name not in used)


def symbols(formula):
    """Names of the symbols of a formula."""
    found, seen, stack_ = set(), set(), [formula]
    while stack_:
        node = stack_.pop()
        if id(node) not in seen:
            seen.add(id(node))
            stack_ += node.args
            if node.op == "symbol":
                found.add(node.data.name)
    return found


class Curves(dict):
    """Everything that moves, as jets along the curves on which u is constant; also the names of formulas.

    Along such a curve c' = v, R' = R [ω], R'' = R [ω]², so that second derivatives of a constraint Φ are Φ'' at u' = 0.
    Row k of a batch is the curve with velocities U[k], on which time runs at `ticking[k]`.
    """

    def __init__(self, model, state, velocities, ticking):
        super().__init__({"high precision": True} if model.precise else {})
        self.model, self.state, self.u = model, state, velocities
        self["t"] = Jet(
            np.full(1, state.time, dtype=object) if model.precise else np.array([state.time]), ticking, 0 * ticking
        )
        self._memory, self._places, self._joints = {}, {}, {}
        self._name_coordinates()

    def _name_coordinates(self):
        still = 0 * self.u[:, 0] if self.model.size else np.zeros(1)
        for joint in self.model.mechanism.joints:
            turning = self.model.quaternions[joint.name]
            for c in joint.coordinates:
                if c.name not in turning:
                    rate = self.u[:, self.model.column[f"{c.name}'"]]
                    self[c.name] = Jet(_row(self.state.coordinates[c.name]), rate, still)
                    self[f"{c.name}'"] = Jet(rate, still)
            if turning:
                self._name_quaternion(joint, turning)
        # No constraint holds them, so that nobody asks for their rates along a curve of constant u.
        for name in self.model.states:
            self[name] = Jet(_row(self.state.coordinates[name]), still, still)

    def _name_quaternion(self, joint, turning):
        first = self.model.column[f"{joint.name}.wx"]
        w = [self.u[:, first + k] for k in range(3)]
        e = [_row(self.state.coordinates[name]) for name in turning]
        rate = _times(e, w)
        second = _times(rate, w)
        for name, *parts in zip(turning, e, rate, second, strict=True):
            self[name] = Jet(*parts)
            self[f"{name}'"] = self[name].derivative
        for axis, speed in zip("xyz", w, strict=True):
            self[f"{joint.name}.w{axis}"] = Jet(speed, 0 * speed)

    def __missing__(self, name):
        """Parameters, declared speeds, sensors and rates of states."""
        if name[:-1] in self.model.states and name.endswith("'"):
            self[name] = jet(self.value(self.model.states[name[:-1]]))
            return self[name]
        if name in self.model.sensors:
            self[name] = self._sensed(self.model.sensors[name])
            return self[name]
        for joint in self.model.mechanism.joints:
            for speed in joint.speeds:
                if speed.name == name:
                    self[name] = jet(self.value(speed.value))
                    return self[name]
            if joint.frame_speeds == "body" and name.startswith(f"{joint.name}."):
                self._name_body_speeds(joint)
                return self[name]
        return self.model.constants[name]

    def _name_body_speeds(self, joint):
        place = self.joint_place(joint)
        back = transposed(place.rotation)
        velocity, omega = applied(back, place.position.derivative), body_rotation(place.rotation)
        for k, axis in enumerate("xyz"):
            self[f"{joint.name}.v{axis}"] = component(velocity, k)
            self[f"{joint.name}.w{axis}"] = component(omega, k)

    def value(self, formula):
        return evaluate(formula, self, self.model.laws, self._memory)

    def body_place(self, name):
        """Place of a body's reference frame: its origin is the mass centre less R r."""
        if name == "earth":
            return unmoved()
        if name not in self._places:
            k = self.model.bodies[name]
            u = self.u[:, 6 * k : 6 * k + 6]
            rotation = self.state.rotations[k][None]
            spin = rotation @ _skew(u[:, 3:])
            turn = Jet(rotation, spin, spin @ _skew(u[:, 3:]))
            centre = Jet(self.state.centres[k][None], u[:, :3], 0 * u[:, :3])
            self._places[name] = Place(centre - applied(turn, Jet(self.model.inertias[k].centre[None])), turn)
        return self._places[name]

    def centre(self, name):
        k = self.model.bodies[name]
        u = self.u[:, 6 * k : 6 * k + 6]
        return Jet(self.state.centres[k][None], u[:, :3], 0 * u[:, :3])

    def frame_place(self, frame):
        """Place of a frame of the description."""
        place = self.body_place(frame.body)
        if frame.base == "iframe" and frame.body != "earth":
            body = self.model.mechanism.body(frame.body)
            k = self.model.bodies[frame.body]
            axes = unmoved() if body.iframe is None else placed(body.iframe, self.value)
            place = place.then(Place(Jet(self.model.inertias[k].centre[None]), axes.rotation))
        return place.then(placed(frame.placement, self.value))

    def joint_place(self, joint):
        """Place of the child's joint frame in the parent's, by the joint's own motions."""
        if joint.name not in self._joints:
            quaternion = [self[name] for name in self.model.quaternions[joint.name]]
            self._joints[joint.name] = moved(joint, quaternion, self.value)
        return self._joints[joint.name]

    def _sensed(self, sensor):
        place, axes = self.frame_place(sensor.of), self.frame_place(sensor.axes)
        vector = {
            "position": lambda: place.position,
            "velocity": lambda: place.position.derivative,
            "rotation": lambda: rotation_of(place.rotation),
        }[sensor.kind]()
        return component(applied(transposed(axes.rotation), vector), "xyz".index(sensor.component))


def rotation_of(rotation):
    """Angular velocity in the outer axes: [ω] = R' Rᵀ."""
    return axial(rotation.derivative @ transposed(rotation))


def body_rotation(rotation):
    """Angular velocity in the turned axes: [ω] = Rᵀ R'."""
    return axial(transposed(rotation) @ rotation.derivative)


def axial(matrix):
    """The vector v of the skew part [v] of a matrix."""
    return matrix.map(
        lambda x: (
            np.stack([x[..., 2, 1] - x[..., 1, 2], x[..., 0, 2] - x[..., 2, 0], x[..., 1, 0] - x[..., 0, 1]], axis=-1)
            / 2
        )
    )


def _row(number):
    return np.asarray([number], dtype=object if isinstance(number, mpmath.mpf) else None)


def _skew(w):
    zero = 0 * w[:, 0]
    rows = [(zero, -w[:, 2], w[:, 1]), (w[:, 2], zero, -w[:, 0]), (-w[:, 1], w[:, 0], zero)]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _times(e, w):
    """e ∘ (0, ω) / 2 of quaternions."""
    a, b, c, d = e
    x, y, z = w
    return [
        (-b * x - c * y - d * z) / 2,
        (a * x + c * z - d * y) / 2,
        (a * y - b * z + d * x) / 2,
        (a * z + b * y - c * x) / 2,
    ]


__all__ = ["Curves", "Model", "State", "axial", "body_rotation", "dot", "rotation_of", "scaled", "stack", "symbols"]
