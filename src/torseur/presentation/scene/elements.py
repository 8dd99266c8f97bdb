"""What stretches between bodies: springs, dampers, rods, ropes, from drawings, loads and constraints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.algebra.graph import as_expr, gradient, substitute, symbols_of
from torseur.derivation.tree import resolve
from torseur.description.mechanism import (
    TIME,
    Bushing,
    CoordinateForce,
    CoordinateSpring,
    Distance,
    Drawing,
    Equation,
    Frame,
    Joint,
    Mechanism,
    PointSpring,
)
from torseur.description.mechanism.loads import LENGTH
from torseur.presentation.scene.bodies.body_poses import point
from torseur.presentation.scene.bodies.body_shapes import Pictures
from torseur.presentation.scene.bodies.drawn_shapes import THIN, paint_of, wheel
from torseur.presentation.scene.bodies.joint_shapes import moving_axes, rail
from torseur.presentation.scene.scene import Anchor, Array, Element
from torseur.presentation.scene.shapes import Cone, Cylinder, Line, Ring, Shape

COIL, WIRE, DAMPER, ROD, ROPE = 0.055, 0.009, 0.03, 0.013, 0.008  # radii as parts of the typical length
TURNS = 9
SPIRAL_TURNS, SPIRAL_STEPS = 2.5, 40
TURNING, TURN_STEPS = 0.14, 20  # radius of the arrow of a rotation, as a part of the typical length
Ends = tuple[Anchor | None, Anchor | None]


@dataclass(frozen=True, eq=False)
class Connections:
    """Elements between bodies, and shapes that loads and constraints add to single bodies."""

    pictures: Pictures

    @cached_property
    def _mechanism(self) -> Mechanism:
        return self.pictures.numbers.tree.mechanism

    def elements(self) -> tuple[Element, ...]:
        """Everything that stretches: what is drawn, then what draws itself."""
        drawn = [element for drawing in self._mechanism.drawings for element in self._elements_of(drawing)]
        ends = {frozenset(a.body for a in e.anchors) for e in drawn if e.kind in ("coil", "damper", "rod", "rope")}
        own = [*self._of_loads(), *self._of_constraints()]
        # What somebody draws between two bodies stands for the loads and constraints between them.
        return (*drawn, *(e for e in own if frozenset(a.body for a in e.anchors) not in ends))

    def _anchor(self, frame: Frame, radius: float = 0.0) -> Anchor | None:
        place = self.pictures.place(frame)
        return None if place is None else Anchor(frame.body, point(place.position), radius)

    # What is drawn

    def _elements_of(self, drawing: Drawing) -> Iterator[Element]:
        if drawing.kind == "path" or len({frame.body for frame in drawing.frames}) < 2:
            return
        numbers, size = self.pictures.numbers, self.pictures.size
        values = {name: numbers.value(value) for name, value in drawing.sizes}
        radii = {number: numbers.value(value) for number, value in drawing.wound}
        anchors = [self._anchor(frame, radii.get(k) or 0.0) for k, frame in enumerate(drawing.frames)]
        if any(a is None for a in anchors) or any(v is None for v in (*values.values(), *radii.values())):
            return
        d = {name: value for name, value in values.items() if value is not None}
        paint, whole = paint_of(drawing, numbers), tuple(a for a in anchors if a is not None)
        kind, radius, wire = drawing.kind, d.get("radius", 0.0), d.get("thickness", 0.0) / 2
        match kind:
            case "spring":
                wide = radius or COIL * size
                turns = max(1, round(d.get("turns", TURNS)))
                yield Element("coil", whole, wide, wire or 0.16 * wide, turns, paint)
            case "damper":
                yield Element("damper", whole, radius or DAMPER * size, (radius or DAMPER * size) / 3, 0, paint)
            case "rope" | "polyline":
                yield Element("rope", whole, 0.0, wire or ROPE * size, 0, paint)
            case "arrow":
                yield Element("arrow", whole, 0.0, wire or THIN * size, 0, paint)
            case "track":
                yield Element("rod", whole, 0.0, d.get("width", 2 * THIN * size) / 2, 0, paint)
            case _:
                yield Element("rod", whole, 0.0, radius or ROD * size, 0, paint)

    # What draws itself

    def _of_loads(self) -> Iterator[Element]:
        size = self.pictures.size
        for load in self._mechanism.loads:
            if isinstance(load, PointSpring):
                ends = (self._anchor(load.first), self._anchor(load.second))
                if self._attracts_from_afar(load):
                    yield from self._ray(load.name, ends)
                    continue
                elastic = load.law is not None or not load.stiffness.is_zero
                yield from self._strut(load.name, ends, elastic, not load.damping.is_zero)
            elif isinstance(load, CoordinateSpring):
                ends = self._ends_of_slide(load)
                yield from self._strut(load.name, ends, not load.stiffness.is_zero, not load.damping.is_zero)
            elif isinstance(load, Bushing):
                one, other = self._anchor(load.first), self._anchor(load.second)
                if one is not None and other is not None:
                    yield Element("coil", (one, other), 1.5 * COIL * size, 2 * WIRE * size, 3, label=load.name)

    def _attracts_from_afar(self, spring: PointSpring) -> bool:
        """Whether a law of tension fades with the length, as attraction between masses or charges does."""
        if spring.law is None:
            return False
        lengths = [as_expr(k * self.pictures.size) for k in (0.5, 1.0, 2.0)]
        tensions = [self.pictures.numbers.value(substitute([spring.law], {LENGTH: x})[0]) for x in lengths]
        sizes = [abs(t) for t in tensions if t is not None]
        return len(sizes) == 3 and sizes[0] > sizes[1] > sizes[2] > 0

    def _ray(self, name: str, ends: Ends) -> Iterator[Element]:
        one, other = ends
        if one is not None and other is not None:
            yield Element("rope", (one, other), 0.0, 0.3 * ROPE * self.pictures.size, label=name)

    def _strut(
        self, name: str, ends: tuple[Anchor | None, Anchor | None], elastic: bool, damped: bool
    ) -> Iterator[Element]:
        """A coil, a damper, or one about the other."""
        one, other = ends
        if one is None or other is None:
            return
        size = self.pictures.size
        if elastic:
            yield Element("coil", (one, other), COIL * size, WIRE * size, TURNS, label=name)
        if damped:
            yield Element("damper", (one, other), DAMPER * size, DAMPER * size / 3, label=name)

    def _ends_of_slide(self, load: CoordinateSpring) -> Ends:
        """Where the spring of a sliding coordinate is held: where its length is zero, or at the wall of the rail."""
        pictures = self.pictures
        joint = self._mechanism.joint(load.joint)
        if pictures.is_length(load):
            return self._anchor_beyond(joint), self._anchor(joint.child)
        place = pictures.beyond(joint, joint.parent)
        shape = None if place is None else rail(joint, pictures.numbers, place, pictures.ranges, 0.3 * pictures.size)
        if shape is None:
            return None, None
        return Anchor(joint.parent.body, point(shape.start)), self._anchor(joint.child)

    def _anchor_beyond(self, joint: Joint) -> Anchor | None:
        place = self.pictures.beyond(joint, joint.parent)
        return None if place is None else Anchor(joint.parent.body, point(place.position))

    def _of_constraints(self) -> Iterator[Element]:
        size = self.pictures.size
        for constraint in self._mechanism.constraints:
            if isinstance(constraint, Distance):
                one, other = self._anchor(constraint.first), self._anchor(constraint.second)
                if one is not None and other is not None:
                    yield Element("rod", (one, other), 0.0, ROD * size, label=constraint.name)
            elif isinstance(constraint, Equation) and (rack := self._rack(constraint)) is not None:
                yield from self._wound_line(rack, constraint.name)
            elif isinstance(constraint, Equation) and (pulley := self._pulley(constraint)) is not None:
                anchors = (pulley.ends[0], Anchor(pulley.body, point(pulley.centre), pulley.radius), pulley.ends[1])
                yield Element("rope", anchors, 0.0, ROPE * size, label=constraint.name)

    def _wound_line(self, rack: Rack, name: str) -> Iterator[Element]:
        """The rack or rope that runs off a wheel: from the slider to where its line of travel touches the wheel."""
        place, slider = self.pictures.place(rack.wheel.parent), self._anchor(rack.slide.child)
        if place is not None and slider is not None:
            touch = np.array(point(place.position)) + rack.aside * abs(rack.radius)
            ends = (Anchor(rack.wheel.parent.body, point(touch)), slider)
            yield Element("rope", ends, 0.0, ROPE * self.pictures.size, label=name)

    # Shapes on single bodies

    def shapes(self) -> dict[str, list[Shape]]:
        """Pitch circles, pulleys, spirals of torsion springs, arrows of drivers and motors, by body."""
        shapes: dict[str, list[Shape]] = {}
        for load in self._mechanism.loads:
            if isinstance(load, (CoordinateSpring, CoordinateForce)):
                joint = self._mechanism.joint(load.joint)
                make = self._spiral if isinstance(load, CoordinateSpring) else self._drive_arrow
                shapes.setdefault(joint.parent.body, []).extend(make(joint, load.coordinate))
        for constraint in self._mechanism.constraints:
            if isinstance(constraint, Equation):
                for body, shape in self._of_equation(constraint):
                    shapes.setdefault(body, []).append(shape)
        return shapes

    def _of_equation(self, equation: Equation) -> Iterator[tuple[str, Shape]]:
        driven = self._driven(equation)
        if driven is not None:
            yield from ((driven[0].parent.body, s) for s in self._drive_arrow(*driven))
        rack = self._rack(equation)
        if rack is not None:
            yield from ((rack.wheel.child.body, s) for s in self._disc(rack.wheel, abs(rack.radius), filled=True))
        pulley = self._pulley(equation)
        if pulley is not None and not self._is_wheel(pulley):
            disc = wheel(pulley.centre, _frame_about(pulley.axis), pulley.radius, 0.2 * pulley.radius)
            yield from ((pulley.body, s) for s in disc)
        for joint, radius in self._gears(equation):
            yield from ((joint.child.body, s) for s in self._disc(joint, radius, filled=False))

    def _disc(self, joint: Joint, radius: float, filled: bool) -> Iterator[Shape]:
        place = self.pictures.place(joint.child)
        axes = self._axes(joint)
        if place is None or not axes or not radius > 0:
            return
        centre, axis = np.array(point(place.position)), axes[0][1]
        if filled:
            yield from wheel(centre, _frame_about(axis), radius, 0.2 * radius)
        else:
            yield Ring(point(centre), point(axis), radius, min(0.012 * self.pictures.size, 0.08 * radius))

    def _axes(self, joint: Joint) -> list[tuple[str, Array]]:
        place = self.pictures.place(joint.child)
        return [] if place is None else list(moving_axes(joint, self.pictures.numbers, place))

    def _spiral(self, joint: Joint, coordinate: str) -> Iterator[Shape]:
        """A flat spiral about the axis of a rotation, for a torsion spring."""
        place, axes = self.pictures.place(joint.parent), self._axes(joint)
        if place is None or len(joint.coordinates) != 1 or not axes or axes[0][0] != "rotation":
            return
        turn = _frame_about(self._parent_axis(joint))
        centre, angles = np.array(point(place.position)), np.linspace(0, 2 * np.pi * SPIRAL_TURNS, SPIRAL_STEPS)
        radii = self.pictures.size * np.linspace(0.03, 0.09, SPIRAL_STEPS)
        points = centre + radii[:, None] * (np.cos(angles)[:, None] * turn[:, 0] + np.sin(angles)[:, None] * turn[:, 1])
        yield Line(tuple(point(p) for p in points), radius=0.5 * WIRE * self.pictures.size, shade=0.7)

    def _parent_axis(self, joint: Joint) -> Array:
        """The axis of a joint's first motion by a coordinate, on the parent's side."""
        place = self.pictures.place(joint.parent)
        assert place is not None
        return next(axis for _, axis in moving_axes(joint, self.pictures.numbers, place))

    def _drive_arrow(self, joint: Joint, coordinate: str) -> Iterator[Shape]:
        """A bent arrow about an axis that is driven, a straight one along a slide."""
        place, axes = self.pictures.place(joint.parent), self._axes(joint)
        if place is None or len(joint.coordinates) != 1 or not axes:
            return
        size, centre, axis = self.pictures.size, np.array(point(place.position)), self._parent_axis(joint)
        wire, head = 0.008 * size, 0.05 * size
        turn = _frame_about(axis)
        if axes[0][0] == "translation":
            start = centre + turn[:, 0] * 0.12 * size
            yield Cylinder(point(start), point(start + axis * 0.16 * size), wire)
            yield Cone(point(start + axis * 0.16 * size), point(start + axis * (0.16 * size + head)), 2.4 * wire)
            return
        angles = np.linspace(0.3, 1.5 * np.pi, TURN_STEPS)
        bent = centre + TURNING * size * (np.cos(angles)[:, None] * turn[:, 0] + np.sin(angles)[:, None] * turn[:, 1])
        tangent = -np.sin(angles[-1]) * turn[:, 0] + np.cos(angles[-1]) * turn[:, 1]
        yield Line(tuple(point(p) for p in bent), radius=wire, shade=0.8)
        yield Cone(point(bent[-1]), point(bent[-1] + tangent * head), 2.4 * wire, shade=0.8)

    # What equations between coordinates mean

    def _linear(self, equation: Equation) -> dict[str, tuple[Joint, float]]:
        """The coefficients of an equation that is linear in coordinates with known factors; empty otherwise."""
        tree = self.pictures.numbers.tree
        owners = {q.symbol: joint for joint in self._mechanism.joints for q in joint.coordinates}
        (residual,) = resolve(self._mechanism, tree.definitions, [equation.residual])
        own = [symbol for symbol in symbols_of([residual]) if symbol in owners]
        moving = {*owners, TIME, *(q.rate for joint in self._mechanism.joints for q in joint.coordinates)}
        known: dict[str, tuple[Joint, float]] = {}
        for symbol, partial in zip(own, gradient(residual, own), strict=True):
            value = None if moving & set(symbols_of([partial])) else self.pictures.numbers.value(partial)
            if value is None or len(owners[symbol].coordinates) != 1:
                return {}
            known[str(symbol.name)] = (owners[symbol], value)
        rates = {q.rate for joint in self._mechanism.joints for q in joint.coordinates}
        return {} if rates & set(symbols_of([residual])) else known

    def _driven(self, equation: Equation) -> tuple[Joint, str] | None:
        """The joint and coordinate that an equation drives along a law of time."""
        factors = self._linear(equation)
        if len(factors) != 1 or TIME not in symbols_of([equation.residual]):
            return None
        (name, (joint, _)) = next(iter(factors.items()))
        return joint, name

    def _pair(self, equation: Equation) -> list[tuple[str, Joint, float]] | None:
        """Two joints of one coordinate each that an equation ties together, each with its motion and factor."""
        factors = self._linear(equation)
        if len(factors) != 2:
            return None
        axes = {name: self._axes(joint) for name, (joint, _) in factors.items()}
        if any(len(found) != 1 for found in axes.values()):
            return None
        return [(axes[name][0][0], joint, factor) for name, (joint, factor) in factors.items()]

    def _rack(self, equation: Equation) -> Rack | None:
        """A wheel and a slider that an equation ties together: rack and pinion, or pulley and rope."""
        pair = self._pair(equation)
        if pair is None or {kind for kind, _, _ in pair} != {"rotation", "translation"}:
            return None
        (_, wheel_joint, turning), (_, slide, sliding) = sorted(pair, key=lambda one: one[0])
        same = wheel_joint.parent.body == slide.parent.body
        if not same or not turning or not sliding or not self._are_square(wheel_joint, slide):
            return None
        # turning * θ + sliding * x = const: x = -(turning / sliding) θ, and the point of the rim at a from the centre
        # moves with ω × a, so that a = r (slide × axis) for x = r θ.
        radius = -turning / sliding
        aside = np.cross(self._parent_axis(slide), self._parent_axis(wheel_joint))
        return Rack(wheel_joint, slide, radius, aside * np.sign(radius))

    def _pulley(self, equation: Equation) -> Pulley | None:
        """Two sliders side by side whose ways add up to a constant: a rope over a pulley between their lines."""
        pair = self._pair(equation)
        if pair is None or any(kind != "translation" for kind, _, _ in pair):
            return None
        (_, one, a), (_, other, b) = pair
        places = [self.pictures.beyond(joint, joint.parent) for joint in (one, other)]
        ends = [self._anchor(joint.child) for joint in (one, other)]
        if one.parent.body != other.parent.body or None in places or None in ends or abs(a - b) > 1e-9 * abs(a):
            return None
        axis = self._parent_axis(one)
        first, second = (np.array(point(place.position)) for place in places if place is not None)
        across = second - first
        across = across - axis * float(across @ axis)
        width = float(np.linalg.norm(across))
        if float(axis @ self._parent_axis(other)) < 1 - 1e-6 or width < 1e-6 * self.pictures.size:
            return None
        # The sliders hang from the pulley: its centre is level with the higher of their origins.
        top = first if float(first @ axis) < float(second @ axis) else second - across
        turn = np.cross(axis, across / width)
        held = tuple(end for end in ends if end is not None)
        return Pulley(one.parent.body, top + across / 2, turn, width / 2, (held[0], held[1]))

    def _is_wheel(self, pulley: Pulley) -> bool:
        """Whether some body turns about the pulley's axis: it is the pulley then."""
        for joint in self._mechanism.joints:
            place = self.pictures.place(joint.parent)
            if place is None or joint.parent.body != pulley.body or joint.kind != "revolute":
                continue
            off = np.array(point(place.position)) - pulley.centre
            along = float(off @ pulley.axis)
            if np.linalg.norm(off - along * pulley.axis) < 1e-6 * self.pictures.size:
                return True
        return False

    def _are_square(self, one: Joint, other: Joint) -> bool:
        return abs(float(self._parent_axis(one) @ self._parent_axis(other))) < 1e-6

    def _gears(self, equation: Equation) -> Iterator[tuple[Joint, float]]:
        """Two parallel wheels in mesh and the radii of their pitch circles."""
        pair = self._pair(equation)
        if pair is None or any(kind != "rotation" for kind, _, _ in pair):
            return
        (_, one, a), (_, other, b) = pair
        places = [self.pictures.place(joint.parent) for joint in (one, other)]
        if one.parent.body != other.parent.body or None in places or not a or not b:
            return
        first, second = (np.array(point(place.position)) for place in places if place is not None)
        axis = self._parent_axis(one)
        cosine = float(axis @ self._parent_axis(other))
        if abs(abs(cosine) - 1) > 1e-6:
            return
        way = second - first
        distance = float(np.linalg.norm(way - axis * (way @ axis)))
        # a q + b p = const with both about the same axis: p' = -(a / b) q', and the rims have the same speed where they
        # touch: r q' = -s p' outside one another, r q' = s p' one within the other.
        ratio = -a / b * np.sign(cosine)
        if distance < 1e-9 * self.pictures.size or abs(ratio - 1) < 1e-9:
            return
        radius = distance / abs(1 - ratio)
        yield one, abs(ratio) * radius
        yield other, radius


@dataclass(frozen=True, eq=False)
class Rack:
    """A wheel, the slider that it moves, the radius between them, and where the line touches (unit vector)."""

    wheel: Joint
    slide: Joint
    radius: float
    aside: Array


@dataclass(frozen=True, eq=False)
class Pulley:
    """A pulley on a body, its axis and radius, and the two things that hang on its rope."""

    body: str
    centre: Array
    axis: Array
    radius: float
    ends: tuple[Anchor, Anchor]


def _frame_about(axis: Array) -> Array:
    """A rotation matrix whose third column is a unit axis."""
    across = np.linalg.svd(axis[None])[2][1]
    return np.stack([across, np.cross(axis, across), axis], axis=1)
