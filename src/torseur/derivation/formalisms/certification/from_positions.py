"""M, b and Q from where bodies are, and nothing else: what every formalism is compared with.

All formalisms take velocities from the same joint kinematics, so a fault there would be certified by all of them. Here
the places of bodies are composed from the frames and motions of the description, and everything else is their exact
derivative in time, with q' = rates(q, v, t):

    p, R                   place of a body in the earth             composed, joint by joint
    v = p', [ω] = Rᵀ R'    its velocities                          differentiated
    ∂v/∂v_r, ∂ω/∂v_r       partial velocities                      differentiated
    M, b, Q                virtual power: Σ m a·∂v/∂v_r + (J α + ω x J ω)·∂ω/∂v_r = Σ forces·∂v/∂v_r

That the rates themselves are right is seen by putting them into what declares the speeds: u(q, q', t) - v = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from time import perf_counter
from typing import Any

from torseur.algebra.graph import Expr, as_expr, dense_jacobian, directional_derivative, substitute, symbol, symbols_of
from torseur.algebra.graph import scalar as s
from torseur.algebra.spatial import NULL, SAME, Motion, Rotation, Transform, Vec3, about, from_quaternion, unit
from torseur.derivation.formalisms.certification.comparison import Derivation
from torseur.derivation.tree import JointSymbols, Tree
from torseur.derivation.tree.body_constants import body_inertia, mass_centre, transform_of
from torseur.derivation.tree.definitions import resolve, resolve_structure
from torseur.description.mechanism import (
    EARTH_NAME,
    LENGTH,
    LENGTH_RATE,
    TIME,
    AppliedWrench,
    Bushing,
    CoordinateForce,
    CoordinateSpring,
    Frame,
    Joint,
    JointWrench,
    PointSpring,
)
from torseur.errors import UnsupportedError

NAME = "positions"


def derivation_from_positions(tree: Tree) -> Derivation:
    """The equations of a tree by differentiating the places of its bodies, timed; or why they are not to be had."""
    start = perf_counter()
    places = _Places(tree)
    try:
        matrix, bias = _inertia_forces(places)
        loads = _loads(places)
        speeds = _speed_residuals(places)
    except UnsupportedError as refusal:
        return Derivation(NAME, reason=str(refusal))
    return Derivation(NAME, matrix, bias, loads, seconds=perf_counter() - start, speeds=speeds)


@dataclass(frozen=True)
class _Places:
    """Places of bodies and frames as expressions of q and t, and derivatives along a motion."""

    tree: Tree

    @cached_property
    def rates(self) -> dict[Expr, Expr]:
        """q' of every coordinate, by the symbol of that rate; in the speeds of the layout."""
        pairs = chain.from_iterable(zip(x.symbols.rates, x.motion.rates, strict=True) for x in self.tree.links)
        return {name: as_expr(rate) for name, rate in pairs if name is not rate}

    @cached_property
    def _moving(self) -> dict[Expr, Expr]:
        pairs = chain.from_iterable(zip(x.symbols.coordinates, x.motion.rates, strict=True) for x in self.tree.links)
        return {q: as_expr(rate) for q, rate in pairs} | {TIME: as_expr(1)}

    def rate(self, vector: Vec3) -> Vec3:
        """The derivative in time at constant speeds."""
        return Vec3(*directional_derivative([as_expr(c) for c in vector], self._moving))

    def partials(self, vector: Vec3) -> list[Vec3]:
        """∂/∂v_r of a vector, one per speed."""
        rows = dense_jacobian([as_expr(c) for c in vector], self.tree.layout.speeds)
        return [Vec3(*column) for column in zip(*rows, strict=True)]

    def turning(self, rotation: Rotation) -> Vec3:
        """Angular velocity in the turned axes: the vector of the skew matrix Rᵀ R', by the columns r of R."""
        # (Rᵀ R')_ij = r_i · r_j', columns r of R.
        x, y, z = (rotation.to_parent(Vec3(*axis)) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
        return Vec3(z.dot(self.rate(y)), x.dot(self.rate(z)), y.dot(self.rate(x)))

    @cached_property
    def _bodies(self) -> dict[str, Transform]:
        """Each body's reference frame in the earth, joint by joint in whichever direction it is given."""
        places, waiting = {EARTH_NAME: SAME}, [j for j in self.tree.mechanism.joints if j not in self.tree.loops]
        while waiting:
            # Exactly one side is placed: a joint with both placed closes a loop, and those are not among the waiting.
            joint = next(j for j in waiting if (j.parent.body in places) != (j.child.body in places))
            waiting.remove(joint)
            parent, child, motion = self._in_body(joint.parent), self._in_body(joint.child), self.motion(joint)
            if joint.parent.body in places:
                places[joint.child.body] = places[joint.parent.body].then(parent).then(motion).then(child.inverse)
            else:
                back = places[joint.child.body].then(child).then(motion.inverse)
                places[joint.parent.body] = back.then(parent.inverse)
        return places

    def motion(self, joint: Joint) -> Transform:
        """The child's joint frame in the parent's: its motions one after the other."""
        place = SAME
        used = {x for link in self.tree.links if link.joint == joint for x in link.symbols.quaternion}
        quaternion = [c.symbol for c in joint.coordinates if c.symbol in used]
        for motion in joint.motions:
            if motion.kind == "translation":
                place = place.then(Transform(Rotation(), unit(Vec3(*motion.axis)) * motion.amount))
            elif motion.kind == "rotation":
                place = place.then(Transform(about(Vec3(*motion.axis), motion.amount), NULL))
            else:
                place = place.then(Transform(from_quaternion(*quaternion), NULL))
        return self.resolved(place)

    def resolved(self, thing: Any) -> Any:
        return resolve_structure(self.tree.mechanism, self.tree.definitions, thing)

    def _in_body(self, frame: Frame) -> Transform:
        offset = self.resolved(transform_of(frame.placement))
        if frame.base == "frame" or frame.body == EARTH_NAME:
            return offset
        return self.resolved(mass_centre(self.tree.mechanism.body(frame.body))).then(offset)

    def of(self, frame: Frame) -> Transform:
        """A frame in the earth."""
        return self._bodies[frame.body].then(self._in_body(frame))

    def value(self, *formulas: Any) -> list[Expr]:
        """Formulas of the description in coordinates and speeds: laws, rates and measured quantities put in."""
        mechanism = self.tree.mechanism
        measured = {sensor.symbol: sensor for sensor in mechanism.sensors}
        plain = resolve(mechanism, self.tree.definitions, [as_expr(f) for f in formulas])
        present = set(symbols_of(plain))
        sensed = {name: self._sensor_value(sensor) for name, sensor in measured.items() if name in present}
        speeds = {
            x: v for link in self.tree.links for x, v in zip(_symbols(link.joint), link.symbols.speeds, strict=False)
        }
        known = self.rates | self._spins | sensed | speeds
        return substitute(plain, {k: x for k, x in known.items() if k in present})

    @cached_property
    def _spins(self) -> dict[Expr, Expr]:
        """Angular velocities of quaternions, where a joint is told by other speeds."""
        told = [link for link in self.tree.links if link.symbols.quaternion and link.joint.speeds]
        return {
            w: value
            for link in told
            for w, value in zip(link.symbols.natural[-3:], self.spin(link.symbols), strict=True)
        }

    def spin(self, symbols: JointSymbols) -> list[Expr]:
        """Angular velocity in the axes that a joint's quaternion turns."""
        return [as_expr(c) for c in self.turning(from_quaternion(*symbols.quaternion))]

    def _sensor_value(self, sensor: Any) -> Expr:
        place, axes = self.of(sensor.of), self.of(sensor.axes)
        if sensor.kind == "position":
            vector = place.position
        elif sensor.kind == "velocity":
            vector = self.rate(place.position)
        elif sensor.kind == "rotation":
            vector = place.rotation.to_parent(self.turning(place.rotation))
        else:
            raise UnsupportedError(
                f"sensor '{sensor.name}' measures an acceleration, which positions alone do not give."
            )
        return as_expr(list(axes.rotation.to_child(vector))["xyz".index(sensor.component)])


def _symbols(joint: Joint) -> list[Expr]:
    """The symbols under which formulas may mention a joint's speeds."""
    return [symbol(speed.name, speed.unit) for speed in joint.speeds]


def _inertia_forces(places: _Places) -> tuple[list[Expr], list[Expr]]:
    """M row after row, and b: inertia forces at constant speeds, less the weights."""
    n = len(places.tree.layout.speeds)
    gravity = Vec3(*places.value(*places.tree.mechanism.gravity))
    matrix, bias = [as_expr(0)] * (n * n), [as_expr(0)] * n
    for body in places.tree.mechanism.bodies:
        place, inertia = places.of(body.frame), places.resolved(body_inertia(body))
        omega, velocity = places.turning(place.rotation), places.rate(place.position)
        turns, moves = places.partials(omega), places.partials(velocity)
        # At the body's origin and in its axes, where its inertia is constant.
        screws = [Motion(w, place.rotation.to_child(v)) for w, v in zip(turns, moves, strict=True)]
        alpha, a = places.rate(omega), place.rotation.to_child(places.rate(velocity) - gravity)
        h, J = inertia.moment, inertia.matrix
        force = a * inertia.mass + alpha.cross(h) + omega.cross(omega.cross(h))
        moment = J @ alpha + omega.cross(J @ omega) + h.cross(a)
        for r, screw in enumerate(screws):
            bias[r] = bias[r] + screw.angular.dot(moment) + screw.linear.dot(force)
            for k, other in enumerate(screws):
                matrix[r * n + k] = matrix[r * n + k] + screw.dot(inertia @ other)
    return matrix, bias


def _speed_residuals(places: _Places) -> list[Expr]:
    """u(q, q', t) - v of every speed, by the description's formulas; zero where the rates are right."""
    residuals: list[Expr] = []
    for link in places.tree.links:
        joint, symbols = link.joint, link.symbols
        place = places.motion(joint)
        if joint.speeds:
            declared = places.value(*(speed.value for speed in joint.speeds))
        elif joint.frame_speeds == "body":
            velocity, omega = places.rate(place.position), places.turning(place.rotation)
            declared = [as_expr(c) for c in (*place.rotation.to_child(velocity), *omega)]
        else:
            ordinary = [places.rates.get(rate, rate) for _, rate in symbols.ordinary]
            declared = [*ordinary, *(places.spin(symbols) if symbols.quaternion else ())]
        # All are compared with zero as they are: a wrong rate of one coordinate shows in the speeds that hold it.
        residuals += [u - v for u, v in zip(declared, symbols.speeds, strict=True)]
    return residuals


def _loads(places: _Places) -> list[Expr]:
    """Q: the power of every load per unit of each speed; gravity is in b."""
    total = [as_expr(0)] * len(places.tree.layout.speeds)
    for load in places.tree.mechanism.loads:
        for quantity, force in _KINDS[type(load)](places, load):
            # A force f that does the power f·x' adds f·∂x'/∂v_r.
            for r, partial in enumerate(places.partials(quantity)):
                total[r] = total[r] + partial.dot(force)
    return total


Powers = list[tuple[Vec3, Vec3]]
"""Velocities, each with the force that does work on it."""


def _along(places: _Places, joint: str, coordinate: str, force: Expr) -> Powers:
    rate = places.tree.mechanism.joint(joint).coordinate(coordinate).rate
    return [(Vec3(places.rates.get(rate, rate), 0, 0), Vec3(force, 0, 0))]


def _coordinate_force(places: _Places, load: CoordinateForce) -> Powers:
    return _along(places, load.joint, load.coordinate, places.value(load.law)[0])


def _coordinate_spring(places: _Places, load: CoordinateSpring) -> Powers:
    q = places.tree.mechanism.joint(load.joint).coordinate(load.coordinate)
    k, rest, c, x, rate = places.value(load.stiffness, load.rest, load.damping, q.symbol, q.rate)
    return _along(places, load.joint, load.coordinate, -k * (x - rest) - c * rate)


def _wrench_on(places: _Places, frame: Frame, force: Vec3, moment: Vec3) -> Powers:
    place = places.of(frame)
    return [(places.rate(place.position), force), (places.turning(place.rotation), place.rotation.to_child(moment))]


def _applied_wrench(places: _Places, load: AppliedWrench) -> Powers:
    values, axes = places.value(*load.force, *load.moment), places.of(load.axes).rotation
    return _wrench_on(places, load.on, axes.to_parent(Vec3(*values[:3])), axes.to_parent(Vec3(*values[3:])))


def _joint_wrench(places: _Places, load: JointWrench) -> Powers:
    """The parent pushes the child at the child's joint frame, and is pushed back there."""
    joint = places.tree.mechanism.joint(load.joint)
    values, parent, child = places.value(*load.force, *load.moment), places.of(joint.parent), places.of(joint.child)
    force, moment = (parent.rotation.to_parent(Vec3(*half)) for half in (values[:3], values[3:]))
    arm = child.position - parent.position
    on_child = _wrench_on(places, joint.child, force, moment)
    return on_child + _wrench_on(places, joint.parent, -force, -(moment + arm.cross(force)))


def _point_spring(places: _Places, load: PointSpring) -> Powers:
    """A tension T does the power -T length'."""
    span = places.of(load.second).position - places.of(load.first).position
    if load.law is None and load.rest.is_zero and load.damping.is_zero:
        # Without a length at rest the force is k times the span, which needs no direction where the ends meet.
        (k,) = places.value(load.stiffness)
        return [(places.rate(span), -span * k)]
    length = as_expr(s.sqrt(span.dot(span)))
    rate = as_expr(span.dot(places.rate(span)) / length)
    law = load.law if load.law is not None else load.stiffness * (LENGTH - load.rest) + load.damping * LENGTH_RATE
    (tension,) = substitute(places.value(law), {LENGTH: length, LENGTH_RATE: rate})
    return [(Vec3(rate, 0, 0), Vec3(-tension, 0, 0))]


def _bushing(places: _Places, load: Bushing) -> Powers:
    """-K d - C d' on the offset d and, on the relative rotation R, -∂/∂θ of tr(G (1 - R)) less damping.

    With δR = [δθ] R in the first frame's axes, -δV = tr(R G [δθ]): minus twice the vector of the skew part of R G.
    """
    seen = places.of(load.first).inverse.then(places.of(load.second))
    k, c = (places.value(*row) for row in (load.stiffness, load.damping))
    d, change = seen.position, places.rate(seen.position)
    push = Vec3(*(-k[i] * x - c[i] * v for i, (x, v) in enumerate(zip(d, change, strict=True))))
    G = [(k[3] + k[4] + k[5]) / 2 - x for x in k[3:]]
    columns = [seen.rotation.to_parent(Vec3(*axis)) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    RG = [list(column * g) for column, g in zip(columns, G, strict=True)]  # RG[j][i] is its entry in row i, column j
    elastic = Vec3(RG[2][1] - RG[1][2], RG[0][2] - RG[2][0], RG[1][0] - RG[0][1])
    omega = seen.rotation.to_parent(places.turning(seen.rotation))
    moment = Vec3(*(e - b * w for e, b, w in zip(elastic, c[3:], omega, strict=True)))
    return [(change, push), (omega, moment)]


_KINDS: dict[type, Any] = {
    CoordinateForce: _coordinate_force,
    CoordinateSpring: _coordinate_spring,
    AppliedWrench: _applied_wrench,
    JointWrench: _joint_wrench,
    PointSpring: _point_spring,
    Bushing: _bushing,
}
