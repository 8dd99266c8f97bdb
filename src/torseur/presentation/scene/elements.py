"""What stretches between bodies: springs, dampers, rods, ropes, from drawings, loads and constraints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.algebra.graph import Expr, as_expr, substitute, symbols_of
from torseur.derivation.tree import resolve
from torseur.description.mechanism import (
    EARTH_NAME,
    TIME,
    Bushing,
    CoordinateForce,
    CoordinateSpring,
    Distance,
    Drawing,
    Frame,
    Joint,
    Mechanism,
    PointSpring,
)
from torseur.description.mechanism.loads import LENGTH, LENGTH_RATE
from torseur.presentation.scene.bodies.body_poses import point
from torseur.presentation.scene.bodies.body_shapes import Pictures
from torseur.presentation.scene.bodies.drawn_shapes import THIN, paint_of, wheel
from torseur.presentation.scene.bodies.guesses.belts import belt_of
from torseur.presentation.scene.bodies.guesses.coordinate_ties import (
    Tie,
    pulley_of,
    rack_of,
)
from torseur.presentation.scene.bodies.guesses.tracks import frame_about
from torseur.presentation.scene.bodies.joint_shapes import moving_axes
from torseur.presentation.scene.orientation import rotation
from torseur.presentation.scene.scene import Anchor, Array, Element
from torseur.presentation.scene.shapes import Cone, Cylinder, Line, Shape

COIL, WIRE, DAMPER, ROD, ROPE = 0.055, 0.009, 0.03, 0.013, 0.008  # radii as parts of the typical length
TURNS = 9
SLIM = 1.8  # the size by which a spring is drawn, at most, as a multiple of its length
SEEN = 20  # samples of a motion that are looked at for a length
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
                if load.law is not None and not self._stretches(load.law):
                    yield from self._pull(load, ends)
                    continue
                elastic = load.law is not None or not load.stiffness.is_zero
                yield from self._strut(load.name, ends, elastic, not load.damping.is_zero)
            elif isinstance(load, CoordinateSpring):
                # A file's meshes show what is there; the damping of a finger is no strut beside it.
                if self.pictures.has_mesh(self._mechanism.joint(load.joint).child.body):
                    continue
                ends = self._ends_of_slide(load)
                yield from self._strut(load.name, ends, not load.stiffness.is_zero, not load.damping.is_zero)
            elif isinstance(load, Bushing):
                one, other = self._anchor(load.first), self._anchor(load.second)
                if one is not None and other is not None:
                    yield Element("coil", (one, other), 1.5 * COIL * size, 2 * WIRE * size, 3, label=load.name)

    def _stretches(self, law: Expr) -> bool:
        """Whether a law of tension depends on the length, as that of a spring does."""
        return bool({LENGTH, LENGTH_RATE} & set(symbols_of(self._resolved(law))))

    def _resolved(self, law: Expr) -> list[Expr]:
        tree = self.pictures.numbers.tree
        return list(resolve(tree.mechanism, tree.definitions, [law]))

    def _pull(self, load: PointSpring, ends: Ends) -> Iterator[Element]:
        """A tension whatever the length: the rope of a winch where it pulls in time, otherwise a cylinder."""
        one, other = ends
        if one is None or other is None or load.law is None:
            return
        tension = self.pictures.numbers.value(substitute(self._resolved(load.law), {TIME: as_expr(0)})[0])
        if tension is not None and tension >= 0:
            yield Element("rope", (one, other), 0.0, ROPE * self.pictures.size, label=load.name)
        else:
            yield from self._strut(load.name, ends, False, True)

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
        size = min(self.pictures.size, SLIM * self._longest(one, other))
        if elastic:
            yield Element("coil", (one, other), COIL * size, WIRE * size, TURNS, label=name)
        if damped:
            yield Element("damper", (one, other), DAMPER * size, DAMPER * size / 3, label=name)

    def _longest(self, one: Anchor, other: Anchor) -> float:
        """How far two anchors come apart in the motion; infinite where there is none."""
        motion = self.pictures.motion
        if motion is None:
            return np.inf
        names = [EARTH_NAME, *(body.name for body in self._mechanism.bodies)]
        kept = slice(None, None, max(1, len(motion.times) // SEEN))
        places = []
        for anchor in (one, other):
            number = names.index(anchor.body)
            turned = np.array([rotation(turn) @ np.array(anchor.point) for turn in motion.quaternions[kept, number]])
            places.append(motion.positions[kept, number] + turned)
        lengths = np.linalg.norm(places[1] - places[0], axis=1)
        return float(lengths.max()) if np.isfinite(lengths).all() and lengths.max() > 0 else np.inf

    def _ends_of_slide(self, load: CoordinateSpring) -> Ends:
        """Where the spring of a sliding coordinate is held: where its length is zero, or at the wall of the rail."""
        pictures = self.pictures
        joint = self._mechanism.joint(load.joint)
        if pictures.is_length(load):
            return self._anchor_beyond(joint), self._anchor(joint.child)
        shape = pictures.rail(joint)
        if shape is None:
            return None, None
        ends, parent = [shape.start, shape.end], joint.parent.body
        # On the earth a rail has a wall at its start; on a body the spring stands on the side of its mass.
        mass = pictures.masses.get(parent)
        if mass is not None and mass.centre is not None:
            centre = np.array(mass.centre)
            ends.sort(key=lambda spot: float(np.linalg.norm(spot - centre)))
        return Anchor(parent, point(ends[0])), self._anchor(joint.child)

    def _anchor_beyond(self, joint: Joint) -> Anchor | None:
        place = self.pictures.beyond(joint, joint.parent)
        return None if place is None else Anchor(joint.parent.body, point(place.position))

    def _of_constraints(self) -> Iterator[Element]:
        size = self.pictures.size
        for joint in self._mechanism.joints:
            centre, end = self.pictures.arm(joint), self._anchor(joint.child)
            if centre is not None and end is not None:
                yield Element("rod", (Anchor(joint.parent.body, point(centre)), end), 0.0, ROD * size, label=joint.name)
        for constraint in self._mechanism.constraints:
            if isinstance(constraint, Distance):
                one, other = self._anchor(constraint.first), self._anchor(constraint.second)
                if one is not None and other is not None:
                    yield Element("rod", (one, other), 0.0, ROD * size, label=constraint.name)
        for tie in self.pictures.ties:
            if (rack := rack_of(self.pictures, tie)) is not None and rack.touch is not None:
                if rack.touch[1].body not in self.pictures.racks:
                    yield Element("rope", rack.touch, 0.0, ROPE * size, label=tie.name)
            elif (pulley := pulley_of(self.pictures, tie)) is not None:
                anchors = (pulley.ends[0], Anchor(pulley.body, point(pulley.centre), pulley.radius), pulley.ends[1])
                yield Element("rope", anchors, 0.0, ROPE * size, label=tie.name)

    # Shapes on single bodies

    def shapes(self) -> dict[str, list[Shape]]:
        """Pitch circles, pulleys, spirals of torsion springs, arrows of drivers and motors, by body."""
        shapes: dict[str, list[Shape]] = {}
        for load in self._mechanism.loads:
            if isinstance(load, (CoordinateSpring, CoordinateForce)):
                joint = self._mechanism.joint(load.joint)
                make = self._spiral if isinstance(load, CoordinateSpring) else self._drive_arrow
                shapes.setdefault(joint.parent.body, []).extend(make(joint, load.coordinate))
        for tie in self.pictures.ties:
            for body, shape in self._of_tie(tie):
                shapes.setdefault(body, []).append(shape)
        return shapes

    def _of_tie(self, tie: Tie) -> Iterator[tuple[str, Shape]]:
        if tie.driven is not None:
            yield from ((tie.driven[0].parent.body, s) for s in self._drive_arrow(*tie.driven))
        belt = belt_of(self.pictures, tie)
        if belt is not None:
            yield belt.parent, belt.line(ROPE * self.pictures.size)
        pulley = pulley_of(self.pictures, tie)
        if pulley is not None and not pulley.is_body:
            disc = wheel(pulley.centre, frame_about(pulley.axis), pulley.radius, 0.2 * pulley.radius)
            yield from ((pulley.body, s) for s in disc)

    def _axes(self, joint: Joint) -> list[tuple[str, Array]]:
        place = self.pictures.place(joint.child)
        return [] if place is None else list(moving_axes(joint, self.pictures.numbers, place))

    def _spiral(self, joint: Joint, coordinate: str) -> Iterator[Shape]:
        """A flat spiral about the axis of a rotation, for a torsion spring."""
        place, axes = self.pictures.place(joint.parent), self._axes(joint)
        if place is None or len(joint.coordinates) != 1 or not axes or axes[0][0] != "rotation":
            return
        turn = frame_about(self._parent_axis(joint))
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
        turn = frame_about(axis)
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
