"""Pictures of bodies.

A body is drawn by what `draw` says, by the shapes that a robot file gives it, or by its solids. Any other is guessed:
rods from the joint that carries it to its other joints and to the points of loads and constraints on it, and its mass
as the ellipsoid that has its inertia, to scale where that hides neither its joints nor its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from torseur.algebra.spatial import SAME, Transform
from torseur.description.mechanism import (
    DRAWINGS,
    EARTH_NAME,
    AppliedWrench,
    Body,
    Bushing,
    CoordinateSpring,
    Distance,
    Frame,
    Joint,
    PointSpring,
    Rolling,
)
from torseur.presentation.scene.bodies.body_masses import BodyMass, body_mass
from torseur.presentation.scene.bodies.body_poses import point, quaternion_of, rotation_matrix
from torseur.presentation.scene.bodies.connecting_rods import gimbal_ring, offset_at_end, rods_to_solids
from torseur.presentation.scene.bodies.drawn_shapes import drawn_shapes, wheel
from torseur.presentation.scene.bodies.joint_shapes import hub, moving_axes, rail, transform_of_offsets
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.bodies.solid_shapes import solid_shapes
from torseur.presentation.scene.orientation import rotation
from torseur.presentation.scene.scene import Array, Motion
from torseur.presentation.scene.shapes import Box, Capsule, Ellipsoid, Shape, Sphere

ROD, BALL, PLATE, LEAST, RAIL, SLIDER = 0.022, 0.075, 0.17, 0.02, 0.3, 0.17  # parts of the typical length
FAR = 0.1  # part of the extent of a motion that is still seen well
MOST_HELD = 3  # a joint with more coordinates holds nothing in place
KEPT_AWAY = 0.1  # a displacement that stays this part of its range away from zero may be a length
OWN_ROOM, OTHERS_ROOM = 0.42, 0.6  # parts of the way to own joints and to other bodies that a guessed mass may fill


@dataclass(frozen=True, eq=False)
class Pictures:
    """The pictures of all bodies.

    `ranges` are the least and the greatest value of each coordinate in the motion shown, `motion` where bodies are,
    `given` the shapes of bodies that have shapes of their own (none: a body that is not seen), `known` their masses
    where somebody has computed them.
    """

    numbers: Numbers
    motion: Motion | None = None
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    given: Mapping[str, tuple[Shape, ...]] = field(default_factory=dict)
    known: tuple[BodyMass, ...] = ()

    def shapes(self, body: str) -> tuple[Shape, ...]:
        """What a body looks like, in its own frame."""
        drawn = tuple(self._drawings_of(body))
        if body in self.given:
            return (*self.given[body], *drawn)
        if body in self._covered:
            return drawn
        joints = [*self._hubs(body), *self._rails(body)]
        if body == EARTH_NAME:
            return (*self._plates(), *joints, *drawn)
        described = self.numbers.tree.mechanism.body(body)
        if described.solids:
            solids = tuple(solid_shapes(described, self.numbers, ROD * self.size))
            held = rods_to_solids(solids, [self.start(body), *self.ends(body)], 0.7 * ROD * self.size)
            return (*solids, *held, *joints, *drawn)
        return (*self._rods(described), *joints, *drawn)

    @cached_property
    def _covered(self) -> frozenset[str]:
        """Bodies whose picture somebody has drawn. Shapes on the earth stand beside what is guessed of it."""
        drawings = self.numbers.tree.mechanism.drawings
        bodies = {
            d.frames[0].body for d in drawings if DRAWINGS[d.kind].covers and len({f.body for f in d.frames}) == 1
        }
        hidden = {d.frames[0].body for d in drawings if d.kind == "nothing"}
        return frozenset((bodies - {EARTH_NAME}) | hidden)

    def _drawings_of(self, body: str) -> Iterator[Shape]:
        for drawing in self.numbers.tree.mechanism.drawings:
            if drawing.kind != "path" and {frame.body for frame in drawing.frames} == {body}:
                places = [self.place(frame) for frame in drawing.frames]
                yield from drawn_shapes(drawing, [p for p in places if p is not None], self.numbers, self.size)

    @cached_property
    def masses(self) -> dict[str, BodyMass]:
        masses = self.known or [body_mass(body, self.numbers) for body in self.numbers.tree.mechanism.bodies]
        return {mass.name: mass for mass in masses}

    @cached_property
    def size(self) -> float:
        """A typical length: one of the longer distances drawn, or what the whole or inertias suggest, or 1 m.

        In a motion that goes far, parts are drawn thicker, so that they can be seen.
        """
        names = [body.name for body in self.numbers.tree.mechanism.bodies]
        distances = sorted(float(np.linalg.norm(end - self.start(name))) for name in names for end in self.ends(name))
        lengths = [length for length in distances if 1e-9 < length < np.inf]
        whole = self.whole
        if not lengths:
            lengths = [0.7 * whole] if whole > 0 else self._gyrations()
        if not lengths:
            return 3 * self._extent or 1.0
        # The upper quartile: neither one long rail nor many short offsets decide how thick everything is drawn.
        typical = lengths[3 * len(lengths) // 4]
        if whole > 0:
            typical = min(max(typical, 0.2 * whole), whole)
        return min(max(typical, FAR * self._extent), 1.5 * typical)

    @cached_property
    def _extent(self) -> float:
        """How far bodies move."""
        return 0.0 if self.motion is None else float(np.max(np.ptp(self.motion.positions, axis=0)))

    @cached_property
    def whole(self) -> float:
        """The size of the whole where the motion starts: of the box around all joints, points and mass centres."""
        points = [spot for name in (EARTH_NAME, *self.masses) for spot in self._spots(name)]
        if len(points) < 2:
            return 0.0
        return float(np.linalg.norm(np.ptp(np.array(points), axis=0)))

    def _spots(self, body: str) -> list[Array]:
        """Where the joints, points and mass centre of a body are in the world when the motion starts."""
        if self.motion is None:
            return []
        number = 0 if body == EARTH_NAME else 1 + [b.name for b in self.numbers.tree.mechanism.bodies].index(body)
        position, turn = self.motion.positions[0, number], rotation(self.motion.quaternions[0, number])
        if not np.all(np.isfinite(position)):
            return []
        # Numbers near the largest there are overflow when they are turned; such a point is in no picture.
        with np.errstate(over="ignore", invalid="ignore"):
            spots = [position + turn @ local for local in self._points(body)]
        return [spot for spot in spots if np.all(np.isfinite(spot))]

    def _gyrations(self) -> list[float]:
        sizes = [2 * np.sqrt(m.principal[2] / m.mass) for m in self.masses.values() if m.principal and m.mass]
        return sorted(float(size) for size in sizes if 0 < size < np.inf)

    def place(self, frame: Frame) -> Transform | None:
        """A frame fixed in a body, in the body's reference frame."""
        place: Transform | None = self._once(("place", frame), lambda: self._locate(frame))
        return place

    @cached_property
    def _results(self) -> dict[object, Any]:
        return {}

    def _once(self, key: object, compute: Callable[[], Any]) -> Any:
        """What several parts of a picture need, computed once."""
        if key not in self._results:
            self._results[key] = compute()
        return self._results[key]

    def _locate(self, frame: Frame) -> Transform | None:
        _, in_link = self.numbers.tree.place(frame)
        if frame.body == EARTH_NAME:
            return self.numbers.of(in_link)
        _, reference, _ = self.numbers.tree.places[frame.body]
        return self.numbers.of(reference.inverse.then(in_link))

    def _joints(self, body: str) -> Iterator[tuple[Joint, Frame]]:
        for joint in self.numbers.tree.mechanism.joints:
            for frame in (joint.parent, joint.child):
                if frame.body == body:
                    yield joint, frame

    def carried_at_centre(self, body: str, near: float) -> list[str]:
        """Bodies with mass whose own mass centre is carried at that of a body, which would hide them."""
        centre, links = self.masses[body].centre, self.numbers.tree.links
        here = [k for k, link in enumerate(links) if link.name == body]
        if centre is None or not here:
            return []
        carried = [link for link in links if link.parent == here[0] and link.name in self.masses]
        places = [(link.name, self.beyond(link.joint, link.joint.parent)) for link in carried]
        at = [(name, np.array(point(place.position))) for name, place in places if place is not None]
        meeting = [name for name, spot in at if np.linalg.norm(spot - np.array(centre)) <= near]
        return [name for name in meeting if self.masses[name].mass and self._is_held_at_centre(name, near)]

    def _is_held_at_centre(self, body: str, near: float) -> bool:
        centre = self.masses[body].centre
        return centre is not None and float(np.linalg.norm(self.start(body) - np.array(centre))) <= near

    def axes_of(self, body: str) -> list[Array]:
        """The axes about which the joints of a body turn, in its frame."""
        axes = []
        for joint, frame in self._joints(body):
            place = self.place(frame)
            if place is not None:
                axes += [axis for kind, axis in moving_axes(joint, self.numbers, place) if kind == "rotation"]
        return axes

    def start(self, body: str) -> Array:
        """The origin of the joint that carries a body; its mass centre where no joint holds it anywhere."""
        carrier = next((link.joint for link in self.numbers.tree.links if link.name == body), None)
        if carrier is not None and len(carrier.coordinates) > MOST_HELD and self.masses[body].centre is not None:
            return np.array(self.masses[body].centre)
        for joint, frame in self._joints(body):
            if carrier is None or joint.name == carrier.name:
                place = self.place(frame)
                return np.zeros(3) if place is None else np.array(point(place.position))
        return np.zeros(3)

    def ends(self, body: str) -> list[Array]:
        """The other joints of a body, the points of loads and constraints on it, and its mass centre."""
        ends: list[Array] = self._once(("ends", body), lambda: self._points(body))
        return ends

    def _points(self, body: str) -> list[Array]:
        places = [self.beyond(joint, frame) for joint, frame in self._joints(body) if len(joint.coordinates) <= 5]
        places += [self.place(frame) for frame in self._attachments(body)]
        places += [self._before(joint, frame) for joint, frame in self._joints(body)]
        points = [np.array(point(place.position)) for place in places if place is not None]
        centre = self.masses[body].centre if body in self.masses else None
        places_and_centre = [*points, np.array(centre)] if centre is not None else points
        return [spot for spot in places_and_centre if np.all(np.isfinite(spot))]

    def _attachments(self, body: str) -> Iterator[Frame]:
        """Points of loads and constraints on a body."""
        mechanism = self.numbers.tree.mechanism
        for thing in (*mechanism.loads, *mechanism.constraints):
            if isinstance(thing, (PointSpring, Bushing, Distance)):
                yield from (frame for frame in (thing.first, thing.second) if frame.body == body)
            elif isinstance(thing, AppliedWrench) and thing.on.body == body and any(not c.is_zero for c in thing.force):
                yield thing.on
            elif isinstance(thing, Rolling) and thing.wheel.body == body:
                yield thing.wheel

    def beyond(self, joint: Joint, frame: Frame) -> Transform | None:
        """A joint frame, moved on the parent's side by the offsets with which the joint begins."""
        place: Transform | None = self._once(("beyond", joint.name, frame), lambda: self._with_offsets(joint, frame))
        return place

    def _with_offsets(self, joint: Joint, frame: Frame) -> Transform | None:
        place = self.place(frame)
        if place is None or frame is not joint.parent:
            return place
        offset = self.numbers.of(transform_of_offsets(joint))
        return place if offset is None else place.then(offset)

    def _before(self, joint: Joint, frame: Frame) -> Transform | None:
        """On the child's side, where the offsets begin with which a joint ends."""
        place, offset = self.place(frame), offset_at_end(joint)
        if place is None or frame is not joint.child or offset is SAME:
            return None
        known = self.numbers.of(offset)
        return None if known is None else place.then(known.inverse)

    def _rods(self, body: Body) -> Iterator[Shape]:
        start, size = self.start(body.name), self.size
        ends = [end for end in self.ends(body.name) if np.linalg.norm(end - start) > 1e-3 * size]
        for end in _distinct(ends, 1e-3 * size):
            yield Capsule(point(start), point(end), ROD * size)
        wheels = list(self._wheels(body.name))
        yield from wheels
        mass = self.masses[body.name]
        if wheels or not mass.mass:
            return
        ring = gimbal_ring(self, body.name)
        if ring is not None:
            yield ring
            return
        room = self._room(body.name, mass)
        solid = self._ellipsoid(mass, room)
        if solid is not None:
            yield solid
        elif self._slides_on_earth(body.name):
            yield Box(point(mass.centre or start), (min(SLIDER * size, room),) * 3)
        else:
            radius = min(BALL * size * self._share(mass.mass), 0.7 * room)
            yield Sphere(point(mass.centre or start), max(radius, 1.3 * ROD * size))

    def _wheels(self, body: str) -> Iterator[Shape]:
        """Wheels that roll, as discs of their radius."""
        for constraint in self.numbers.tree.mechanism.constraints:
            if isinstance(constraint, Rolling) and constraint.wheel.body == body:
                place, radius = self.place(constraint.wheel), self.numbers.value(constraint.radius)
                tyre = 0.0 if constraint.tyre_radius is None else self.numbers.value(constraint.tyre_radius)
                if place is not None and radius is not None and tyre is not None:
                    turn = rotation_matrix(place.rotation, 1)[0]
                    yield from wheel(np.array(point(place.position)), turn, radius + tyre, 2 * tyre or 0.12 * radius)

    def _slides_on_earth(self, body: str) -> bool:
        links = self.numbers.tree.links
        return any(k.joint.kind == "prismatic" and k.parent < 0 for k in links if k.name == body)

    def _share(self, mass: float) -> float:
        """The radius of a mass as a part of the largest."""
        largest = max(m.mass or 0.0 for m in self.masses.values())
        return float(max(0.45, (mass / largest) ** (1 / 3)))

    def _room(self, body: str, mass: BodyMass) -> float:
        """How far a guessed mass may reach from its centre without hiding the body's own joints or another body."""
        near = 0.02 * self.size
        centre = np.array(mass.centre) if mass.centre is not None else self.start(body)
        own = [float(np.linalg.norm(end - centre)) for end in [*self.ends(body), self.start(body)]]
        limits = [OWN_ROOM * distance for distance in own if distance > near]
        if self.motion is not None:
            names = [b.name for b in self.numbers.tree.mechanism.bodies]
            number = 1 + names.index(body)
            with np.errstate(over="ignore", invalid="ignore"):
                here = self.motion.positions[0, number] + rotation(self.motion.quaternions[0, number]) @ centre
            others = [spot for name in names if name != body for spot in self._spots(name)]
            gaps = [float(np.linalg.norm(spot - here)) for spot in others]
            limits += [OTHERS_ROOM * gap for gap in gaps if gap > near]
        return min(limits, default=np.inf)

    def _ellipsoid(self, mass: BodyMass, room: float) -> Shape | None:
        """The homogeneous ellipsoid with a body's inertia, its half axes √(5 (B + C - A) / 2m), reduced to fit."""
        if mass.inertia is None or mass.centre is None or not np.any(mass.inertia) or not mass.is_finite:
            return None
        moments, axes = np.linalg.eigh(mass.inertia)
        if moments[1] <= 1e-9 * moments[2] and np.isfinite(room):
            return None  # a single moment, for motions in a plane: a ball hides less than a disc across everything
        # A body said by diag(0, 0, J), for motions in a plane, is a disc: what would be negative is thin.
        squares = 2.5 * (moments.sum() - 2 * moments) / float(mass.mass or 1.0)
        halves = np.sqrt(np.maximum(squares, 0.0))
        if not halves.max() > 0:
            return None
        halves = np.maximum(halves * min(1.0, room / halves.max()), min(LEAST * self.size, room))
        turn = axes * np.sign(np.linalg.det(axes))
        return Ellipsoid(point(mass.centre), point(halves), quaternion_of(turn))

    def _hubs(self, body: str) -> Iterator[Shape]:
        for joint, frame in self._joints(body):
            place = self.place(frame)
            if place is not None and frame is joint.child:
                yield from hub(joint, self.numbers, place, self.size)

    def _plates(self) -> Iterator[Shape]:
        """Where the mechanism is held by the earth."""
        for joint, frame in self._joints(EARTH_NAME):
            place = self.place(frame)
            if place is not None and len(joint.coordinates) <= MOST_HELD and self._is_held(joint, place):
                turn = quaternion_of(rotation_matrix(place.rotation, 1)[0])
                edge = PLATE * self.size
                yield Box(point(place.position), (edge, edge, 0.16 * edge), turn, shade=0.9)

        for frame in self._attachments(EARTH_NAME):
            place = self.place(frame)
            if place is not None:
                yield Sphere(point(place.position), 1.2 * ROD * self.size, shade=0.9)

    def _is_held(self, joint: Joint, place: Transform) -> bool:
        """Whether a joint holds a point of what it carries: one that only slides does not."""
        axes = list(moving_axes(joint, self.numbers, place))
        return not axes or any(kind == "rotation" for kind, _ in axes)

    def is_length(self, load: CoordinateSpring) -> bool:
        """Whether a sliding coordinate is the length of its spring: it has a rest length and stays away from zero."""
        joint, rest = self.numbers.tree.mechanism.joint(load.joint), self.numbers.value(load.rest)
        if len(joint.coordinates) != 1 or joint.coordinates[0].unit != "m" or load.coordinate not in self.ranges:
            return False
        low, high = self.ranges[load.coordinate]
        return bool(rest) and low * high > 0 and min(abs(low), abs(high)) > KEPT_AWAY * (high - low)

    def _rails(self, body: str) -> Iterator[Shape]:
        """What a body's sliding joints run along; on the earth, with a wall at its start."""
        for joint, frame in self._joints(body):
            place = self.beyond(joint, frame)
            shape = None
            springs = [s for s in self.numbers.tree.mechanism.loads if isinstance(s, CoordinateSpring)]
            carried = any(s.joint == joint.name and self.is_length(s) for s in springs)
            if place is not None and frame is joint.parent and not carried:
                shape = rail(joint, self.numbers, place, self.ranges, RAIL * self.size)
            if shape is not None:
                yield shape.line
                if body == EARTH_NAME:
                    yield shape.wall(PLATE * self.size)


def _distinct(points: list[Array], least: float) -> list[Array]:
    kept: list[Array] = []
    for candidate in points:
        if all(np.linalg.norm(candidate - other) > least for other in kept):
            kept.append(candidate)
    return kept
