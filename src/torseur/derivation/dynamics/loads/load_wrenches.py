"""Loads at a state: wrenches on links, generalised forces on coordinates, and the energy stored in springs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from torseur.algebra.graph import Expr, as_expr, evaluate, gradient, symbols_of
from torseur.algebra.graph import scalar as s
from torseur.algebra.spatial import NO_FORCE, NULL, Force, Scalar, Vec3
from torseur.derivation.dynamics.inverse_dynamics import project
from torseur.derivation.dynamics.loads.frames_in_motion import MovingFrames
from torseur.derivation.dynamics.loads.sensor_values import law_values
from torseur.derivation.tree import GROUND, Snapshot, Tree, resolve
from torseur.description.mechanism import (
    LENGTH,
    LENGTH_RATE,
    TIME,
    AppliedWrench,
    Bushing,
    CoordinateForce,
    CoordinateSpring,
    JointWrench,
    Load,
    PointSpring,
)
from torseur.errors import MechanismError


@dataclass
class LoadSum:
    """What the loads do at one state: wrenches by link, generalised forces by speed slot, stored energy."""

    now: Snapshot
    frames: MovingFrames
    wrenches: dict[int, Force] = field(default_factory=dict)
    generalised: dict[int, Scalar] = field(default_factory=dict)
    energy: Scalar = 0

    def push(self, link: int, wrench: Force) -> None:
        if link != GROUND:
            self.wrenches[link] = self.wrenches.get(link, NO_FORCE) + wrench

    def push_along(self, joint: str, coordinate: str, force: Scalar) -> None:
        """A generalised force along a coordinate does the work force * q' (q' is linear in the joint's speeds)."""
        # F q' = Σ (F ∂q'/∂v_k) v_k: for speeds that are rates of coordinates, the force itself.
        link = next(link for link in self.now.tree.links if link.joint.name == joint)
        index = [c.name for c in link.joint.coordinates].index(coordinate)
        slots = range(*link.v.indices(len(self.now.tree.layout.speeds)))
        partials = self.now.evaluate(gradient(link.motion.rates[index], link.symbols.speeds))
        for slot, partial in zip(slots, partials, strict=True):
            self.generalised[slot] = self.generalised.get(slot, 0) + partial * force

    def laws(self, *formulas: Any, extra: dict[Any, Any] | None = None) -> list[Scalar]:
        return law_values(self.now, self.frames, formulas, extra)


def load_sum(now: Snapshot) -> LoadSum:
    """All loads of the mechanism at a state; gravity is not among them."""
    total = LoadSum(now, MovingFrames(now))
    for load in now.tree.mechanism.loads:
        _LOADS[type(load)](load, total)
    return total


def generalised_loads(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], t: Scalar | None = None) -> list[Scalar]:
    """Generalised forces Q of all loads (without gravity): Q · v is their power."""
    return _project(load_sum(tree.at(q, v, t)))


def _project(total: LoadSum) -> list[Scalar]:
    """Generalised forces of wrenches on links and forces on coordinates."""
    tree = total.now.tree
    forces = [total.wrenches.get(i, NO_FORCE) for i in tree.outward()]
    # Wrenches all at once, by one inward pass, however many loads there are.
    projected = project(total.now, forces) if total.wrenches else [0] * len(tree.layout.speeds)
    return [force + total.generalised[k] if k in total.generalised else force for k, force in enumerate(projected)]


def elastic_energy(tree: Tree, q: Sequence[Scalar], t: Scalar | None = None) -> Scalar:
    """Energy stored in springs with constant stiffness."""
    # With speeds as symbols, of which it holds none: at rest, forces that divide by a speed have no value.
    layout = tree.layout
    energy = load_sum(tree.at(layout.coordinates, layout.speeds)).energy
    if all(a is b for a, b in zip(q, layout.coordinates, strict=True)) and t in (None, TIME):
        return energy
    start = TIME if t is None and all(isinstance(x, Expr) for x in q) else 0 if t is None else t
    values = evaluate([as_expr(energy)], tree.bindings(q, layout.speeds, start))
    return values[0]


def generalised_by(now: Snapshot, name: str) -> list[Scalar]:
    """Generalised forces of one load by its name: Q · v is its power."""
    total = LoadSum(now, MovingFrames(now))
    load = next(load for load in now.tree.mechanism.loads if load.name == name)
    _LOADS[type(load)](load, total)
    return _project(total)


def spring_state(now: Snapshot, load: PointSpring) -> tuple[Scalar, Scalar]:
    """Length and tension of a spring between two points."""
    total = LoadSum(now, MovingFrames(now))
    first, second = total.frames[load.first], total.frames[load.second]
    span = second.place.position - first.place.position
    speed = second.velocity.linear - first.velocity.linear
    length = s.sqrt(span.dot(span))
    return length, _tension(load, total, length, span.dot(speed) / length)


def _coordinate_force(load: CoordinateForce, total: LoadSum) -> None:
    (value,) = total.laws(load.law)
    total.push_along(load.joint, load.coordinate, value)


def _coordinate_spring(load: CoordinateSpring, total: LoadSum) -> None:
    coordinate = total.now.tree.mechanism.joint(load.joint).coordinate(load.coordinate)
    k, rest, c, x, rate = total.laws(load.stiffness, load.rest, load.damping, coordinate.symbol, coordinate.rate)
    total.push_along(load.joint, load.coordinate, -(k * (x - rest)) - c * rate)
    # A stiffness that varies with the state has no potential in general: no energy is claimed then.
    if is_constant(total, load.stiffness, load.rest):
        total.energy = total.energy + k * (x - rest) * (x - rest) / 2


def _joint_wrench(load: JointWrench, total: LoadSum) -> None:
    joint = total.now.tree.mechanism.joint(load.joint)
    values = total.laws(*load.force, *load.moment)
    force, moment = Vec3(*values[:3]), Vec3(*values[3:])
    _act_and_react(
        total,
        total.frames[joint.child].link,
        total.frames[joint.parent].link,
        # Both at one point, the child's joint frame: applied each at its own frame they would leave a couple.
        total.frames[joint.child].place.position,
        total.frames[joint.parent].place.rotation.to_parent(force),
        total.frames[joint.parent].place.rotation.to_parent(moment),
    )


def _act_and_react(total: LoadSum, on: int, back: int, point: Vec3, force: Vec3, moment: Vec3) -> None:
    """A wrench at a point (earth axes) on one link, and the opposite one on another."""
    for link, f, m in ((on, force, moment), (back, -force, -moment)):
        if link != GROUND:
            total.push(link, total.frames.wrench_at(link, point, f, m))


def _point_spring(load: PointSpring, total: LoadSum) -> None:
    first, second = total.frames[load.first], total.frames[load.second]
    span = second.place.position - first.place.position
    speed = second.velocity.linear - first.velocity.linear
    pull = _linear_pull(load, total, span) if _is_linear(load) else _pull(load, total, span, speed)
    for frame, force in ((first, pull), (second, -pull)):
        if frame.link != GROUND:
            total.push(frame.link, total.frames.wrench_at(frame.link, frame.place.position, force, NULL))


def _is_linear(load: PointSpring) -> bool:
    """Whether the force is the stiffness times the span, which needs no direction where the ends meet."""
    return load.law is None and load.rest.is_zero and load.damping.is_zero


def _linear_pull(load: PointSpring, total: LoadSum, span: Vec3) -> Vec3:
    (k,) = total.laws(load.stiffness)
    if is_constant(total, load.stiffness):
        total.energy = total.energy + k * span.dot(span) / 2
    return span * k


def _pull(load: PointSpring, total: LoadSum, span: Vec3, speed: Vec3) -> Vec3:
    """The force on the first end, along the span."""
    length = s.sqrt(span.dot(span))
    if isinstance(length, Expr) and length.is_zero:
        raise MechanismError(
            f"spring '{load.name}': its ends '{load.first.body}' and '{load.second.body}' are at one place whatever "
            "the coordinates, so that it pulls in no direction. Check the points between which it acts."
        )
    # The force is along the span, so the rate of its length is all that damping sees of the speed.
    tension = _tension(load, total, length, span.dot(speed) / length)
    return span * (tension / length)


def _tension(load: PointSpring, total: LoadSum, length: Scalar, rate: Scalar) -> Scalar:
    if load.law is not None:
        # A law knows the spring by its length and its rate, for which two symbols stand in the description.
        return total.laws(load.law, extra={LENGTH: length, LENGTH_RATE: rate})[0]
    k, rest, c = total.laws(load.stiffness, load.rest, load.damping)
    if is_constant(total, load.stiffness, load.rest):
        total.energy = total.energy + k * (length - rest) * (length - rest) / 2
    return k * (length - rest) + c * rate


def _bushing(load: Bushing, total: LoadSum) -> None:
    """Elastic force -K x on the displacement x in the first frame's axes; a moment with the potential tr(G (1 - R)).

    G = tr(K)/2 - K makes it ½ θᵀ K θ for small rotations θ and conservative for large ones.
    """
    first, second = total.frames[load.first], total.frames[load.second]
    to_first, to_earth = first.place.rotation.to_child, first.place.rotation.to_parent
    values = total.laws(*load.stiffness, *load.damping)
    k, kr, c, cr = (values[i : i + 3] for i in (0, 3, 6, 9))
    # The slide is seen from the first frame: what its own turning does to the span is no deformation.
    span = second.place.position - first.place.position
    x = to_first(span)
    turning = second.velocity.angular - first.velocity.angular
    slide = to_first(second.velocity.linear - first.velocity.linear - first.velocity.angular.cross(span))
    force = -(_times(k, x) + _times(c, slide))
    # On the second frame; the opposite wrench on the first acts at the same point, so no moment is lost.
    relative = first.place.rotation.inverse.then(second.place.rotation).matrix
    moment = second.place.rotation.to_parent(-_restoring(kr, relative.rows)) - to_earth(_times(cr, to_first(turning)))
    _act_and_react(total, second.link, first.link, second.place.position, to_earth(force), moment)
    if is_constant(total, *load.stiffness):
        # tr(G (1 - R)) has only diagonal entries: G is diagonal.
        g = _complement(kr)
        stored = sum((g[i] * (1 - list(relative.rows[i])[i]) for i in range(3)), _times(k, x).dot(x) / 2)
        total.energy = total.energy + stored


def _times(diagonal: Sequence[Scalar], v: Vec3) -> Vec3:
    return Vec3(diagonal[0] * v.x, diagonal[1] * v.y, diagonal[2] * v.z)


def _complement(stiffness: Sequence[Scalar]) -> list[Scalar]:
    """tr(K)/2 - K for diagonal K."""
    half = (stiffness[0] + stiffness[1] + stiffness[2]) / 2
    return [half - k for k in stiffness]


def _restoring(stiffness: Sequence[Scalar], rows: Sequence[Vec3]) -> Vec3:
    """The vector of G R - Rᵀ G, in the second frame's axes."""
    g, r = _complement(stiffness), [list(row) for row in rows]
    return Vec3(g[2] * r[2][1] - g[1] * r[1][2], g[0] * r[0][2] - g[2] * r[2][0], g[1] * r[1][0] - g[0] * r[0][1])


def _applied_wrench(load: AppliedWrench, total: LoadSum) -> None:
    values = total.laws(*load.force, *load.moment)
    total.push(*total.frames.wrench_on(load.on, Vec3(*values[:3]), Vec3(*values[3:]), load.axes))


def is_constant(total: LoadSum, *formulas: Any) -> bool:
    """Whether formulas depend on parameters only."""
    # With laws written out: a law may hold a coordinate besides its arguments.
    tree = total.now.tree
    return set(symbols_of(resolve(tree.mechanism, tree.definitions, list(formulas)))) <= set(tree.layout.parameters)


_LOADS: dict[type[Load], Callable[[Any, LoadSum], None]] = {
    CoordinateForce: _coordinate_force,
    CoordinateSpring: _coordinate_spring,
    JointWrench: _joint_wrench,
    PointSpring: _point_spring,
    Bushing: _bushing,
    AppliedWrench: _applied_wrench,
}
