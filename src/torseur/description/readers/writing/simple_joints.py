"""Joints taken apart into what robot files have: hinges, slides, balls, and fixed offsets between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torseur.algebra.graph import symbols_of
from torseur.algebra.spatial import NULL, SAME, Rotation, Transform, Vec3, about
from torseur.description.mechanism import ElementaryMotion, Joint
from torseur.description.readers.writing.coordinate_relations import polynomial_coefficients
from torseur.description.readers.writing.file_outline import Limb
from torseur.description.readers.writing.numeric_values import Values
from torseur.errors import UnsupportedError


@dataclass(frozen=True)
class Offset:
    """A fixed transform."""

    place: Transform


@dataclass(frozen=True)
class Follow:
    """How a motion follows a coordinate q: Σ coefficients[k] q^k."""

    coordinate: str
    coefficients: tuple[float, ...]

    def value(self, q: float) -> float:
        return sum(c * q**k for k, c in enumerate(self.coefficients))

    def derivative(self, q: float) -> float:
        """The rate of the motion per rate of the coordinate."""
        return sum(k * c * q ** (k - 1) for k, c in enumerate(self.coefficients) if k)


@dataclass(frozen=True)
class Motion:
    """A hinge or slide about or along a unit axis by the coordinate of that name, or a ball of four coordinates.

    One that `follows` a coordinate has one of its own in the file only.
    """

    kind: str
    name: str
    axis: Vec3 = NULL
    follows: Follow | None = None
    coordinates: tuple[str, ...] = ()


Step = Offset | Motion


def steps_of(limb: Limb, values: Values) -> list[Step]:
    """The steps from the parent body's frame to the carried body's frame."""
    joint = limb.joint
    near, far = values.frame(joint.parent), values.frame(joint.child)
    moving = joint_steps(joint, values)
    if limb.reverse:
        near, far = far, near
        moving = [_back(step, joint) for step in reversed(moving)]
    return merge_offsets([Offset(near), *moving, Offset(far.inverse)])


def merge_offsets(steps: Sequence[Step]) -> list[Step]:
    """The steps with neighbouring offsets made one; those that do nothing go."""
    result: list[Step] = []
    for step in steps:
        if isinstance(step, Offset) and result and isinstance(result[-1], Offset):
            result[-1] = Offset(result[-1].place.then(step.place))
        else:
            result.append(step)
    return [step for step in result if not (isinstance(step, Offset) and is_nothing(step.place))]


def is_nothing(place: Transform) -> bool:
    """Whether a transform changes nothing at all."""
    rows = place.rotation.matrix.rows
    turned = any(float(list(rows[i])[j]) != float(i == j) for i in range(3) for j in range(3))
    return not turned and not any(float(c) for c in place.position)


def joint_steps(joint: Joint, values: Values) -> list[Step]:
    """The steps from the joint's frame in the parent to that in the child."""
    seen: set[str] = set()
    steps = [step for motion in joint.motions for step in _steps(joint, motion, seen, values)]
    followed = [step.follows.coordinate for step in steps if isinstance(step, Motion) and step.follows is not None]
    for q in joint.coordinates:
        if q.name in followed and q.name not in seen:
            amounts = ", ".join(str(m.amount) for m in joint.motions if q.symbol in symbols_of([m.amount]))
            raise UnsupportedError(f"joint '{joint.name}' moves by {amounts}, which robot files cannot say.")
    return steps


def _steps(joint: Joint, motion: ElementaryMotion, seen: set[str], values: Values) -> list[Step]:
    what = f"joint '{joint.name}'"
    if motion.kind == "quaternion":
        moved = symbols_of([m.amount for m in joint.motions])
        return [
            Motion("ball", joint.name, coordinates=tuple(q.name for q in joint.coordinates if q.symbol not in moved))
        ]
    axis = values.vector(motion.axis, what)
    axis = axis / axis.dot(axis) ** 0.5
    kind = "hinge" if motion.kind == "rotation" else "slide"
    amount = values.plain(motion.amount)
    used = [q for q in values.coordinates if q.symbol in symbols_of([amount])]
    if not used:
        return [Offset(_constant(kind, axis, values.number(amount, what)))]
    coefficients = polynomial_coefficients(amount, [q.symbol for q in used], values)
    if coefficients is None:
        raise UnsupportedError(f"{what} moves by {motion.amount}, which robot files cannot say.")
    (q,) = used
    constant, factor = (*coefficients, 0.0)[:2]
    own = q in joint.coordinates
    if own and len(coefficients) == 2 and abs(factor) == 1.0 and q.name not in seen:
        seen.add(q.name)
        return [Offset(_constant(kind, axis, constant)), Motion(kind, q.name, axis * factor, None, (q.name,))]
    # A joint that follows another one keeps its name; a second motion by the same coordinate needs one of its own.
    name = f"{q.name}.{kind}{len(seen) + 1}" if own or joint.name in seen else joint.name
    seen.add(name)
    return [Motion(kind, name, axis, Follow(q.name, coefficients))]


def _constant(kind: str, axis: Vec3, amount: float) -> Transform:
    if amount == 0.0:
        return SAME
    return Transform(about(axis, amount), NULL) if kind == "hinge" else Transform(Rotation(), axis * amount)


def _back(step: Step, joint: Joint) -> Step:
    """The same step from the other side."""
    if isinstance(step, Offset):
        return Offset(step.place.inverse)
    if step.kind == "ball":
        raise UnsupportedError(
            f"joint '{joint.name}' turns by a quaternion and carries its parent; describe it the other way."
        )
    return replace(step, axis=-step.axis)
