"""The skeleton of a mechanism: joints as elementary steps between bodies, without masses and without a tree.

Free rotations become balls, whose state is a rotation: the angles that describe them play no role in mobility. Angles
that somebody names, to drive or hold them, stay coordinates.
Everything constant stays an expression, so that numbers of any precision can be put in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torseur.algebra.graph import Expr, symbols_of
from torseur.algebra.spatial import SAME, Transform, Vec3
from torseur.derivation.loops.closure.joint_closure import path_of
from torseur.derivation.tree.body_constants import mass_centre, transform_of
from torseur.derivation.tree.definitions import definitions_of, resolve_structure
from torseur.derivation.tree.joints.lower_pairs import independent, orthogonal
from torseur.description.mechanism import (
    EARTH_NAME,
    TIME,
    ElementaryMotion,
    Equation,
    Frame,
    Joint,
    Mechanism,
    followed_coordinates,
)

TURN, MOVE, BALL = "turn", "move", "ball"


@dataclass(frozen=True)
class Freedom:
    """One scalar freedom: a coordinate, or the rotation of a ball about one axis."""

    name: str
    joint: str
    unit: str
    symbol: Expr | None


@dataclass(frozen=True)
class Step:
    """A constant offset, then a turn about or a move along an axis (of any length) by `amount`, or any rotation."""

    before: Transform
    kind: str
    axis: Vec3
    amount: Expr | None
    freedoms: tuple[int, ...]


@dataclass(frozen=True)
class Edge:
    """A joint as steps from a body's frame to another's; `last` is the offset after the last step."""

    joint: str
    start: str
    end: str
    steps: tuple[Step, ...]
    last: Transform


@dataclass(frozen=True)
class Skeleton:
    """Joints as edges between named bodies, with the freedoms they have together."""

    mechanism: Mechanism
    edges: tuple[Edge, ...]
    freedoms: tuple[Freedom, ...]
    named: tuple[str, ...] = ()

    def local(self, frame: Frame) -> Transform:
        """A frame in its body's reference frame."""
        place: Transform = resolve_in(self.mechanism, local_transform(self.mechanism, frame))
        return place


def local_transform(mechanism: Mechanism, frame: Frame) -> Transform:
    """A frame in its body's reference frame, parameters as written."""
    offset = transform_of(frame.placement)
    if frame.base == "frame" or frame.body == EARTH_NAME:
        return offset
    return mass_centre(mechanism.body(frame.body)).then(offset)


def resolve_in(mechanism: Mechanism, thing: Any) -> Any:
    """A structure of expressions with laws and dependent parameters expanded."""
    return resolve_structure(mechanism, definitions_of(mechanism), thing)


def skeleton(mechanism: Mechanism, named: Sequence[str] = ()) -> Skeleton:
    """The skeleton of a mechanism, with a freedom for every coordinate that is `named`."""
    used = set(symbols_of([c.residual for c in mechanism.constraints if isinstance(c, Equation)]))
    used |= {c.symbol for joint in mechanism.joints for c in joint.coordinates if c.name in named}
    followed = {name: [q.symbol for q in others] for name, others in followed_coordinates(mechanism).items()}
    # A coordinate that another joint follows stays one, not a part of a ball.
    builder = _Builder(mechanism, used | {q for others in followed.values() for q in others}, followed)
    edges = [builder.with_followed(edge) for edge in [builder.edge(joint) for joint in mechanism.joints]]
    # Names are not scalars: only the constants and amounts are expanded.
    constants = resolve_in(mechanism, [[[s.before, s.axis, s.amount] for s in e.steps] + [e.last] for e in edges])
    renewed = tuple(_with(e, c) for e, c in zip(edges, constants, strict=True))
    return Skeleton(mechanism, renewed, tuple(builder.freedoms), tuple(named))


def _with(edge: Edge, constants: list[Any]) -> Edge:
    *steps, last = constants
    renewed = [replace(s, before=b, axis=a, amount=f) for s, (b, a, f) in zip(edge.steps, steps, strict=True)]
    return replace(edge, steps=tuple(renewed), last=last)


class _Builder:
    """Numbers freedoms while joints are taken apart."""

    def __init__(self, mechanism: Mechanism, used: set[Expr], followed: Mapping[str, list[Expr]]) -> None:
        self.mechanism, self.used, self.followed = mechanism, used, followed
        self.freedoms: list[Freedom] = []

    def with_followed(self, edge: Edge) -> Edge:
        """An edge whose steps have the freedoms of other joints that move them too; all are numbered by now."""
        others = self.followed.get(edge.joint, [])
        slots = {f.symbol: k for k, f in enumerate(self.freedoms) if f.symbol in others}
        if not slots:
            return edge
        steps = [
            replace(s, freedoms=(*s.freedoms, *(slots[x] for x in symbols_of([s.amount]) if x in slots)))
            if s.amount is not None
            else s
            for s in edge.steps
        ]
        return replace(edge, steps=tuple(steps))

    def edge(self, joint: Joint) -> Edge:
        slots = self._slots(joint)
        offset = local_transform(self.mechanism, joint.parent)
        steps = []
        # A law may hide what is followed.
        is_follower = joint.name in self.followed
        motions = list(resolve_in(self.mechanism, joint.motions) if is_follower else joint.motions)
        while motions:
            if _is_constant(joint, motions[0], self.followed.get(joint.name, [])):
                offset = offset.then(path_of(motions[:1]))
                motions = motions[1:]
                continue
            count, step = self._step(joint, motions, offset, slots)
            steps.append(step)
            motions, offset = motions[count:], SAME
        last = local_transform(self.mechanism, joint.child).inverse
        return Edge(joint.name, joint.parent.body, joint.child.body, tuple(steps), offset.then(last))

    def _slots(self, joint: Joint) -> dict[Expr, int]:
        """Slots of the coordinates that stay; those of balls get slots when their step is made."""
        angles = {q for motions in self._balls(joint) for m in motions for q in _coordinates(joint, m)}
        slots = {}
        for c in joint.coordinates:
            if c.symbol not in angles and not _is_quaternion(joint, c.symbol):
                slots[c.symbol] = len(self.freedoms)
                self.freedoms.append(Freedom(c.name, joint.name, c.unit, c.symbol))
        return slots

    def _balls(self, joint: Joint) -> list[tuple[ElementaryMotion, ...]]:
        """Three successive rotations about orthogonal axes, each by a coordinate that nothing else uses."""
        balls = []
        for k in range(len(joint.motions) - 2):
            three = joint.motions[k : k + 3]
            own = {q for m in three for q in _coordinates(joint, m)}
            rest = {q for m in joint.motions if m not in three for q in _coordinates(joint, m)}
            if _any_rotation(joint, three) and not own & (rest | self.used):
                balls.append(three)
        return balls[:1]

    def _step(self, joint: Joint, motions: list[ElementaryMotion], offset: Transform,
              slots: dict[Expr, int]) -> tuple[int, Step]:  # fmt: skip
        first = motions[0]
        if first.kind == "quaternion":
            return 1, self._ball(joint, offset)
        if tuple(motions[:3]) in self._balls(joint):
            return 3, self._ball(joint, offset)
        kind = TURN if first.kind == "rotation" else MOVE
        freedoms = tuple(slots[q] for q in _coordinates(joint, first))
        return 1, Step(offset, kind, Vec3(*first.axis), first.amount, freedoms)

    def _ball(self, joint: Joint, offset: Transform) -> Step:
        start = len(self.freedoms)
        self.freedoms += [Freedom(f"{joint.name} about {axis}", joint.name, "rad", None) for axis in "xyz"]
        return Step(offset, BALL, Vec3(0, 0, 1), None, (start, start + 1, start + 2))


def _coordinates(joint: Joint, motion: ElementaryMotion) -> list[Expr]:
    used = set(symbols_of([motion.amount]))
    return [c.symbol for c in joint.coordinates if c.symbol in used]


def _is_constant(joint: Joint, motion: ElementaryMotion, followed: Sequence[Expr]) -> bool:
    driven = any(x is TIME or x in followed for x in symbols_of([motion.amount]))
    return motion.kind != "quaternion" and not driven and not _coordinates(joint, motion)


def _is_quaternion(joint: Joint, q: Expr) -> bool:
    turned = any(m.kind == "quaternion" for m in joint.motions)
    return turned and not any(q in _coordinates(joint, m) for m in joint.motions)


def _any_rotation(joint: Joint, motions: tuple[ElementaryMotion, ...]) -> bool:
    if any(m.kind != "rotation" for m in motions) or not independent(motions, {c.symbol for c in joint.coordinates}):
        return False
    # Three angles have a gimbal lock; the rotation itself has none, and mobility must not depend on the angles chosen.
    a, b, c = (Vec3(*m.axis) for m in motions)
    return orthogonal(a, b) and orthogonal(b, c)
