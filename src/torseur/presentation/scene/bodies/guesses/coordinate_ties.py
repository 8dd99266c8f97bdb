"""What ties coordinates together: gears, planetary ones too, racks, wheels that roll, ropes over pulleys, drivers.

A tie is an equation that is linear in coordinates or in their rates, or a joint that follows a coordinate of another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from torseur.algebra.graph import Expr, gradient, symbols_of
from torseur.derivation.tree import resolve
from torseur.description.mechanism import EARTH_NAME, TIME, Equation, Frame, Joint
from torseur.presentation.scene.bodies.body_poses import point
from torseur.presentation.scene.bodies.joint_shapes import moving_axes
from torseur.presentation.scene.scene import Anchor, Array

if TYPE_CHECKING:
    from torseur.presentation.scene.bodies.body_shapes import Pictures

CLEAR = 3.0  # radii of a pulley above what hangs from it
SAME = 1e-6  # of directions, of places as a part of the typical length, of factors as a part of their size


@dataclass(frozen=True, eq=False)
class Share:
    """A joint's motion by a coordinate, its axis on both sides, and the factor that it has in a tie."""

    joint: Joint
    kind: str
    axis: Array  # in the parent's body
    own_axis: Array  # in the body that it carries
    factor: float


@dataclass(frozen=True, eq=False)
class Tie:
    """Motions whose sum, each times its factor, is constant; or the joint and coordinate that an equation drives."""

    name: str
    shares: tuple[Share, ...] = ()
    driven: tuple[Joint, str] | None = None
    unit: str = ""  # of the sum, where it is known


@dataclass(frozen=True, eq=False)
class Wheel:
    """A wheel fixed in a body: its centre, axis and radius, and whether others turn within it.

    `sense` is -1 where its axis points against that of the other wheel of a mesh.
    """

    body: str
    centre: Array
    axis: Array
    radius: float
    is_ring: bool = False
    sense: float = 1.0


@dataclass(frozen=True, eq=False)
class Rack:
    """A wheel, and the ends of the straight line between it and the slider that it moves; None where it rolls."""

    wheel: Wheel
    touch: tuple[Anchor, Anchor] | None


@dataclass(frozen=True, eq=False)
class Pulley:
    """A pulley on a body, its axis and radius, the two things that hang on its rope, and whether some body is it."""

    body: str
    centre: Array
    axis: Array
    radius: float
    ends: tuple[Anchor, Anchor]
    is_body: bool


# What is tied to what


def ties(pictures: Pictures) -> Iterator[Tie]:
    """The ties of a mechanism."""
    mechanism = pictures.numbers.tree.mechanism
    for constraint in mechanism.constraints:
        if isinstance(constraint, Equation):
            yield from _of_equation(pictures, constraint)
    for joint in mechanism.joints:
        yield from _of_follower(pictures, joint)


def _of_equation(pictures: Pictures, equation: Equation) -> Iterator[Tie]:
    """The tie that an equation makes which is linear in coordinates, or in rates, with known factors."""
    tree = pictures.numbers.tree
    (residual,) = resolve(tree.mechanism, tree.definitions, [equation.residual])
    present = set(symbols_of([residual]))
    coordinates = [(q, joint) for joint in tree.mechanism.joints for q in joint.coordinates]
    moving = {TIME, *(q.symbol for q, _ in coordinates), *(q.rate for q, _ in coordinates)}
    by_rates = any(q.rate in present for q, _ in coordinates)
    if by_rates and any(q.symbol in present for q, _ in coordinates):
        return
    own = [(q, joint) for q, joint in coordinates if (q.rate if by_rates else q.symbol) in present]
    partials = gradient(residual, [q.rate if by_rates else q.symbol for q, _ in own])
    factors = [None if moving & set(symbols_of([p])) else pictures.numbers.value(p) for p in partials]
    if None in factors or not own:
        return
    if len(own) == 1 and TIME in present:
        yield Tie(equation.name, driven=(own[0][1], own[0][0].name))
    shares = [_share(pictures, joint, q.symbol, factor or 0.0) for (q, joint), factor in zip(own, factors, strict=True)]
    known = tuple(share for share in shares if share is not None)
    if 1 < len(known) == len(shares) and TIME not in present:
        yield Tie(equation.name, known, unit=equation.unit)


def _of_follower(pictures: Pictures, joint: Joint) -> Iterator[Tie]:
    """The tie of a joint without coordinates of its own that moves with one of another."""
    if joint.coordinates or pictures.given:
        return  # robots show their parts; their fingers follow without gears
    tree = pictures.numbers.tree
    owners = {q.symbol: other for other in tree.mechanism.joints for q in other.coordinates}
    leading = [x for motion in joint.motions for x in symbols_of([motion.amount]) if x in owners]
    if len(leading) != 1:
        return
    follower = _share(pictures, joint, leading[0], 1.0)
    leader = _share(pictures, owners[leading[0]], leading[0], -1.0)
    if follower is not None and leader is not None:
        # Both factors are per coordinate; the follower's share is its own motion, whose factor is then one.
        yield Tie(joint.name, (follower, leader))


def _share(pictures: Pictures, joint: Joint, symbol: Expr, factor: float) -> Share | None:
    """The share of a joint that one motion moves by a coordinate, in proportion to it."""
    places, numbers = [pictures.place(frame) for frame in (joint.parent, joint.child)], pictures.numbers
    moving = [motion for motion in joint.motions if symbol in symbols_of([motion.amount])]
    if len(moving) != 1 or moving[0].kind == "quaternion":
        return None
    (partial,) = gradient(moving[0].amount, [symbol])
    rate = None if symbol in symbols_of([partial]) else numbers.value(partial)
    axes = [axis for place in places if place is not None for _, axis in moving_axes(joint, numbers, place, {symbol})]
    return Share(joint, moving[0].kind, axes[0], axes[1], factor / rate) if rate and len(axes) == 2 else None


# What ties mean


def rack_of(pictures: Pictures, tie: Tie) -> Rack | None:
    """A wheel and a slider that are tied together: rack and pinion, pulley and rope, or a wheel that rolls."""
    if {share.kind for share in tie.shares} != {"rotation", "translation"} or len(tie.shares) != 2:
        return None
    turning, sliding = sorted(tie.shares, key=lambda share: share.kind)
    centre, place = pictures.place(turning.joint.child), pictures.beyond(turning.joint, turning.joint.parent)
    square = abs(float(turning.axis @ sliding.axis)) < SAME
    if not square or not turning.factor or not sliding.factor or centre is None or place is None:
        return None
    # turning * θ + sliding * x = const: x = -(turning / sliding) θ, and the point of the rim at a from the centre
    # moves with ω × a, so that a = r (slide × axis) for x = r θ.
    radius = -turning.factor / sliding.factor
    wheel = Wheel(turning.joint.child.body, np.array(point(centre.position)), turning.own_axis, abs(radius))
    if turning.joint is sliding.joint or turning.joint.parent.body == sliding.joint.child.body:
        return Rack(wheel, None)
    slider = _anchor(pictures, sliding.joint.child)
    if turning.joint.parent.body != sliding.joint.parent.body or slider is None:
        return None
    touch = np.array(point(place.position)) + np.cross(sliding.axis, turning.axis) * radius
    return Rack(wheel, (Anchor(turning.joint.parent.body, point(touch)), slider))


def pulley_of(pictures: Pictures, tie: Tie) -> Pulley | None:
    """Two weights side by side, one going up as the other goes down: a rope over a pulley between their lines."""
    if len(tie.shares) != 2 or any(share.kind != "translation" for share in tie.shares):
        return None
    first, second = tie.shares
    joints, cosine = (first.joint, second.joint), float(first.axis @ second.axis)
    places = [pictures.beyond(joint, joint.parent) for joint in joints]
    ends = [_anchor(pictures, joint.child) for joint in joints]
    low, high = (None if place is None else np.array(point(place.position)) for place in places)
    # Of sliders whose axes point against one another the difference is constant.
    against = abs(first.factor - np.sign(cosine) * second.factor) > SAME * abs(first.factor)
    if joints[0] is joints[1] or joints[0].parent.body != joints[1].parent.body or against:
        return None
    down = _downwards(pictures, first.axis)
    if low is None or high is None or None in ends or abs(abs(cosine) - 1) > SAME or down is None:
        return None
    across = high - low
    across = across - down * float(across @ down)
    radius = float(np.linalg.norm(across)) / 2
    if radius < SAME * pictures.size:
        return None
    starts = [pictures.at_start(joint.child) for joint in joints if joint.parent.body == EARTH_NAME]
    top = min((float(s @ down) for s in starts), default=np.inf)
    turning = _turning_between(pictures, joints[0].parent.body, (across, down), low + across / 2, top)
    # The sliders hang from the pulley: its centre is level with the higher of their origins, and above both.
    level = min(float(low @ down), float(high @ down), top - CLEAR * radius)
    centre = low + across / 2 + down * ((level if turning is None else float(turning @ down)) - float(low @ down))
    held = tuple(end for end in ends if end is not None)
    axis = np.cross(down, across) / (2 * radius)
    return Pulley(joints[0].parent.body, centre, axis, radius, (held[0], held[1]), turning is not None)


def _turning_between(
    pictures: Pictures, parent: str, plane: tuple[Array, Array], middle: Array, top: float
) -> Array | None:
    """Where a body turns about an axis between the lines of two sliders, above both: it is their pulley."""
    across, down = plane[0] / np.linalg.norm(plane[0]), plane[1]
    for joint in pictures.numbers.tree.mechanism.joints:
        place = pictures.beyond(joint, joint.parent)
        if place is None or joint.parent.body != parent:
            continue
        turning = [a for kind, a in moving_axes(joint, pictures.numbers, place, pictures.moving) if kind == "rotation"]
        spot = np.array(point(place.position))
        if len(turning) != 1 or abs(abs(float(turning[0] @ np.cross(down, across))) - 1) > SAME:
            continue
        if abs(float((spot - middle) @ across)) < SAME * pictures.size and float(spot @ down) <= top:
            return spot
    return None


def _downwards(pictures: Pictures, axis: Array) -> Array | None:
    """The direction of an axis in which weight pulls; as the axis points where there is none, None across it."""
    weight = _weight(pictures)
    pull = float(weight @ axis)
    if weight.any() and abs(pull) < 0.5:
        return None
    return -axis if pull < 0 else axis


def gears_of(pictures: Pictures, tie: Tie) -> Iterator[Wheel]:
    """Two parallel wheels in mesh with their pitch circles: on one frame, or one on a carrier that turns."""
    if len(tie.shares) not in (2, 3) or any(share.kind != "rotation" for share in tie.shares):
        return
    planets = [s for s in tie.shares if any(s.joint.parent.body == c.joint.child.body for c in tie.shares)]
    if not planets and len(tie.shares) == 2:
        one, other = tie.shares
        if one.joint.parent.body == other.joint.parent.body:
            yield from _meshing(pictures, _side(pictures, one), _side(pictures, other))
    elif len(planets) == 1:
        yield from _on_carrier(pictures, tie, planets[0])


def _on_carrier(pictures: Pictures, tie: Tie, planet: Share) -> Iterator[Wheel]:
    """A planet and what it meshes with, a sun or ring that turns or one that is fixed to the carrier's parent.

    Seen from the carrier, both turn about axes that rest: a (s - c) + b p = const, whatever the carrier's own c.
    """
    carrier = next(s for s in tie.shares if s.joint.child.body == planet.joint.parent.body)
    others = [s for s in tie.shares if s is not planet and s is not carrier]
    centre = pictures.place(carrier.joint.child)
    if centre is None:
        return
    if others:
        sun = others[0]
        sense = float(np.sign(sun.axis @ carrier.axis))
        if sun.joint.parent.body != carrier.joint.parent.body or abs(sense * sun.factor + carrier.factor) > SAME * abs(
            sun.factor
        ):
            return
        frame, factor, axis, own = sun.joint.child, sun.factor, sun.axis, sun.own_axis
    else:
        frame, factor, axis, own = carrier.joint.parent, -carrier.factor, carrier.axis, carrier.axis
    held = pictures.place(frame)
    if held is None:
        return
    # On the carrier the axis is the carrier's own.
    axis = carrier.own_axis * np.sign(float(axis @ carrier.axis))
    inner = _Side(np.array(point(centre.position)), axis, factor, frame.body, np.array(point(held.position)), own)
    yield from _meshing(pictures, inner, _side(pictures, planet))


@dataclass(frozen=True, eq=False)
class _Side:
    """One wheel of a mesh: its centre and axis on what carries both, its factor, and the same in its own body."""

    place: Array
    axis: Array
    factor: float
    body: str
    centre: Array
    own_axis: Array


def _side(pictures: Pictures, share: Share) -> _Side | None:
    joint = share.joint
    carried, own = pictures.beyond(joint, joint.parent), pictures.place(joint.child)
    if carried is None or own is None:
        return None
    spots = [np.array(point(place.position)) for place in (carried, own)]
    return _Side(spots[0], share.axis, share.factor, joint.child.body, spots[1], share.own_axis)


def _meshing(pictures: Pictures, one: _Side | None, other: _Side | None) -> Iterator[Wheel]:
    if one is None or other is None:
        return
    cosine = float(one.axis @ other.axis)
    if abs(abs(cosine) - 1) > SAME or not one.factor or not other.factor:
        return
    way = other.place - one.place
    distance = float(np.linalg.norm(way - one.axis * (way @ one.axis)))
    # a q + b p = const with both about the same axis: p' = -(a / b) q', and the rims have the same speed where they
    # touch: r q' = -s p' outside one another, r q' = s p' one within the other.
    ratio = -one.factor / other.factor * np.sign(cosine)
    if distance < 1e-9 * pictures.size or abs(ratio - 1) < 1e-9:
        return
    radius = distance / abs(1 - ratio)
    yield Wheel(one.body, one.centre, one.own_axis, abs(ratio) * radius, ratio > 1)
    yield Wheel(other.body, other.centre, other.own_axis, radius, 0 < ratio < 1, float(np.sign(cosine)))


def hangs(pictures: Pictures, tie: Tie, joint: Joint) -> bool:
    """Whether a slider goes up and down on a rope of a tie, so that it needs no rail."""
    shares = [share for share in tie.shares if share.joint is joint and share.kind == "translation"]
    if not shares or joint.parent.body != EARTH_NAME:
        return False
    rack, weight = rack_of(pictures, tie), _weight(pictures)
    on_rope = (rack is not None and rack.touch is not None) or pulley_of(pictures, tie) is not None
    return on_rope and abs(float(weight @ shares[0].axis)) > 0.5


def _weight(pictures: Pictures) -> Array:
    """The direction of gravity; zero where there is none."""
    gravity = np.array([pictures.numbers.value(g) or 0.0 for g in pictures.numbers.tree.mechanism.gravity])
    return gravity / (float(np.linalg.norm(gravity)) or 1.0)


def _anchor(pictures: Pictures, frame: Frame) -> Anchor | None:
    place = pictures.place(frame)
    return None if place is None else Anchor(frame.body, point(place.position))
