"""Pictures of bodies.

A body is drawn by what `draw` says, by the shapes that a robot file gives it, or by its solids. Any other is guessed:
rods from the joint that carries it to its other joints and to the points of loads and constraints on it, and its mass
as the ellipsoid that has its inertia, to scale where that hides neither its joints nor its neighbours.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.algebra.spatial import Transform
from torseur.description.mechanism import (
    DRAWINGS,
    EARTH_NAME,
    Body,
    CoordinateSpring,
    Joint,
    Rolling,
)
from torseur.presentation.scene.bodies.body_places import Places
from torseur.presentation.scene.bodies.body_poses import point, quaternion_of, rotation_matrix
from torseur.presentation.scene.bodies.contact_shapes import fills, touching_shapes
from torseur.presentation.scene.bodies.drawn_shapes import drawn_shapes, wheel
from torseur.presentation.scene.bodies.guesses.belts import belt_of
from torseur.presentation.scene.bodies.guesses.connecting_rods import gimbal, rods_to_solids, turned_hoop
from torseur.presentation.scene.bodies.guesses.coordinate_ties import (
    Tie,
    Wheel,
    gears_of,
    hangs,
    rack_of,
    ties,
)
from torseur.presentation.scene.bodies.guesses.guessed_masses import ROD, flywheel, guessed_mass, rack_bar
from torseur.presentation.scene.bodies.guesses.link_plates import is_polygon, link_of
from torseur.presentation.scene.bodies.guesses.seen_solids import seen_of_solids, standing_out
from torseur.presentation.scene.bodies.guesses.tracks import Rail, Track, frame_about
from torseur.presentation.scene.bodies.joint_shapes import hub, moving_axes
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.bodies.solid_shapes import solid_shapes
from torseur.presentation.scene.scene import Array
from torseur.presentation.scene.shapes import Box, Capsule, Ring, Shape, Sphere

WHEEL_WIDTH = 0.1  # half the width of a gear, as a part of its radius
PLATE = 0.17  # edge of what holds a mechanism, as a part of the typical length
MOST_HELD = 3  # a joint with more coordinates holds nothing in place


@dataclass(frozen=True, eq=False)
class Pictures(Places):
    """The pictures of all bodies."""

    def shapes(self, body: str) -> tuple[Shape, ...]:
        """What a body looks like, in its own frame."""
        drawn = tuple(self._drawings_of(body))
        if body in self.given:
            return (*self.given[body], *drawn)
        if body in self._covered:
            return drawn
        hubs, rails = list(self._hubs(body)), list(self._rails(body))
        circles = [self._circle(one) for one in self._tied_wheels.get(body, ())]
        if body == EARTH_NAME:
            return (*self._plates(), *hubs, *rails, *circles, *touching_shapes(self, body), *drawn)
        described = self.numbers.tree.mechanism.body(body)
        if described.solids:
            solids = tuple(solid_shapes(described, self.numbers, ROD * self.size))
            points = [self.start(body), *self.held_points(body)]
            rods = [np.array(spot) for rod in solids if isinstance(rod, Capsule) for spot in (rod.start, rod.end)]
            corners = _distinct([*rods, *self._link_points(body)], 1e-3 * self.size)
            if len(rods) == 2 * len(solids) and is_polygon(corners):
                held: Iterable[Shape] = link_of(corners, None, ROD * self.size)
            else:
                held = rods_to_solids(solids, points, 0.7 * ROD * self.size)
            return (
                *solids,
                *held,
                *seen_of_solids(self, body, solids),
                *standing_out(hubs, solids),
                *rails,
                *circles,
                *drawn,
            )
        return (*self._rods(described), *hubs, *rails, *drawn)

    def is_guessed(self, body: str) -> bool:
        """Whether nobody has said what a body looks like, by shapes, solids or drawings; on the earth, by a drawing."""
        if body == EARTH_NAME:
            return not any(self._drawings_of(body))
        return (
            body not in self.given and body not in self._covered and not self.numbers.tree.mechanism.body(body).solids
        )

    def has_mesh(self, body: str) -> bool:
        """Whether a body looks as a file shows it: by the shapes of a robot file or by a mesh that is drawn."""
        drawings = self.numbers.tree.mechanism.drawings
        return body in self.given or any(d.kind == "mesh" and d.frames[0].body == body for d in drawings)

    @cached_property
    def ties(self) -> tuple[Tie, ...]:
        """What ties coordinates together."""
        return tuple(ties(self))

    @cached_property
    def _tied_wheels(self) -> dict[str, list[Wheel]]:
        """Gears and other wheels that ties make of bodies, each once however many it meshes with."""
        wheels: dict[str, list[Wheel]] = {}
        racks = [one for one in (rack_of(self, tie) for tie in self.ties) if one is not None]
        meshes = [
            list(gears_of(self, tie)) if (b := belt_of(self, tie)) is None else list(b.wheels) for tie in self.ties
        ]
        for one in _in_layers([[rack.wheel] for rack in racks] + meshes):
            wheels.setdefault(one.body, []).append(one)
        return wheels

    @cached_property
    def racks(self) -> dict[str, Box]:
        """The bars of sliders that are racks, by body: of those whose look is guessed and that hang on no rope."""
        bars: dict[str, Box] = {}
        for tie in self.ties:
            rack = rack_of(self, tie)
            if rack is None or rack.touch is None or any(hangs(self, tie, share.joint) for share in tie.shares):
                continue
            body, bar = rack.touch[1].body, rack_bar(self, rack)
            known = body in self.given or body in self._covered or body == EARTH_NAME
            if bar is not None and not known and not self.numbers.tree.mechanism.body(body).solids:
                bars[body] = bar
        return bars

    def _circle(self, one: Wheel) -> Shape:
        """The pitch circle of a gear."""
        wire = min(0.02 * self.size, 0.08 * one.radius)
        return Ring(point(one.centre), point(one.axis), one.radius, wire)

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

    def _link_points(self, body: str) -> list[Array]:
        """The points that a body holds together, where it is carried first."""
        carried = [] if self.floats(body) else [self.start(body)]
        return _distinct([*carried, *self.held_points(body)], 1e-3 * self.size)

    def _rods(self, body: Body) -> Iterator[Shape]:
        mass, size = self.masses[body.name], self.size
        hoop = turned_hoop(self, body.name)
        if hoop is not None:
            yield from (hoop, Sphere(point(mass.centre or self.start(body.name)), 3 * hoop.wire))
            return
        yield from link_of(
            self._link_points(body.name), None if mass.centre is None else np.array(mass.centre), ROD * size
        )
        wheels = list(self._wheels(body.name)) or list(flywheel(self, body.name))
        yield from wheels
        touching = touching_shapes(self, body.name)
        yield from touching
        if wheels or not mass.mass or fills(touching, mass.centre):
            return
        if body.name in self.racks:
            yield self.racks[body.name]
            return
        if self._gimbal(body.name):
            yield from self._gimbal(body.name)
        elif self._wires(body.name):
            yield from self._axle(body.name)
        else:
            yield guessed_mass(self, body.name)

    def _gimbal(self, body: str) -> list[Shape]:
        """The ring and axles of a body that is a gimbal; nothing for any other."""
        shapes: list[Shape] = self._once(("gimbal", body), lambda: list(gimbal(self, body)))
        return shapes

    def _wheels(self, body: str) -> Iterator[Shape]:
        """Wheels that roll, as discs of their radius."""
        for constraint in self.numbers.tree.mechanism.constraints:
            if isinstance(constraint, Rolling) and constraint.wheel.body == body:
                place, radius = self.place(constraint.wheel), self.numbers.value(constraint.radius)
                tyre = 0.0 if constraint.tyre_radius is None else self.numbers.value(constraint.tyre_radius)
                if place is not None and radius is not None and tyre is not None:
                    turn = rotation_matrix(place.rotation, 1)[0]
                    yield from wheel(np.array(point(place.position)), turn, radius + tyre, 2 * tyre or 0.12 * radius)
        for joint, frame in self._joints(body):
            rolled = self._rolling(joint) if frame is joint.child else None
            place = self.place(frame)
            if rolled is not None and place is not None:
                turn = rotation_matrix(place.rotation, 1)[0] @ frame_about(_last_axis(joint, self.numbers))
                yield from wheel(np.array(point(place.position)), turn, rolled.radius, 0.2 * rolled.radius)
        for one in self._tied_wheels.get(body, ()):
            if one.is_ring:
                yield self._circle(one)
            else:
                yield from wheel(one.centre, frame_about(one.axis), one.radius, 2 * WHEEL_WIDTH * one.radius)

    def _hubs(self, body: str) -> Iterator[Shape]:
        if body != EARTH_NAME and (self._gimbal(body) or self._wires(body)):
            return
        for joint, frame in self._joints(body):
            place = self.place(frame)
            if place is not None and frame is joint.child and not self._is_bookkeeping(joint, frame):
                yield from hub(joint, self.numbers, place, self.size)

    def _plates(self) -> Iterator[Shape]:
        """Where the mechanism is held by the earth."""
        for joint, frame in self._joints(EARTH_NAME):
            place = self.place(frame)
            if place is not None and len(joint.coordinates) <= MOST_HELD and self._shows_its_axis(joint, place):
                turn = quaternion_of(rotation_matrix(place.rotation, 1)[0])
                wheels = [one.radius for one in self._tied_wheels.get(joint.child.body, ())]
                edge = min([PLATE * self.size, *(0.5 * radius for radius in wheels)])
                yield Box(point(place.position), (edge, edge, 0.16 * edge), turn, shade=0.9)

        for frame in self._attachments(EARTH_NAME):
            place = self.place(frame)
            if place is not None:
                yield Sphere(point(place.position), 1.2 * ROD * self.size, shade=0.9)

    def _shows_its_axis(self, joint: Joint, place: Transform) -> bool:
        """Whether a joint holds a line of what it carries: one that slides across its axes does not, nor a gimbal's."""
        axes = list(moving_axes(joint, self.numbers, place, self.moving))
        turns = [axis for kind, axis in axes if kind == "rotation"]
        slides = [axis for kind, axis in axes if kind == "translation"]
        at_rest = not any(np.linalg.norm(np.cross(s, t)) > 1e-6 for s in slides for t in turns or np.eye(3))
        return at_rest and not self._gimbal(joint.child.body) and not self._wires(joint.child.body)

    def _wires(self, body: str) -> list[Track]:
        """The hoops along which a body leads others: curves that close."""
        curves = [self.curve(joint) for joint, frame in self._joints(body) if frame is joint.parent]
        return [curve for curve in curves if curve is not None and curve.is_closed]

    def _axle(self, body: str) -> Iterator[Shape]:
        """What a hoop turns on: a thin rod across it along the axis of the joint that carries it."""
        carrier = self.carrier(body)
        place = None if carrier is None else self.place(carrier.child)
        axes = [] if carrier is None or place is None else list(moving_axes(carrier, self.numbers, place))
        if len(axes) == 1 and axes[0][0] == "rotation" and place is not None:
            origin, axis = np.array(point(place.position)), axes[0][1]
            reach = np.concatenate([(wire.points - origin) @ axis for wire in self._wires(body)])
            margin = 0.1 * float(np.ptp(reach))
            ends = (origin + axis * (reach.min() - margin), origin + axis * (reach.max() + margin))
            yield Capsule(point(ends[0]), point(ends[1]), 0.5 * ROD * self.size, shade=0.8)

    def _rails(self, body: str) -> Iterator[Shape]:
        """What a body's sliding joints run along; on the earth, with a wall at its start."""
        springs = [s for s in self.numbers.tree.mechanism.loads if isinstance(s, CoordinateSpring)]
        rails: list[Rail] = []
        for joint, frame in self._joints(body):
            carried = any(s.joint == joint.name and self.is_length(s) for s in springs)
            if frame is not joint.parent or carried:
                continue
            straight, curved = self.rail(joint), self.curve(joint)
            if straight is not None and any(hangs(self, tie, joint) for tie in self.ties):
                continue  # a weight on a rope needs no rail
            if straight is not None:
                # Sliders on one line share a rail.
                met = [(k, both) for k, other in enumerate(rails) if (both := other.joined(straight)) is not None]
                rails = [other for k, other in enumerate(rails) if not met or k != met[0][0]]
                rails.append(met[0][1] if met else straight)
            elif curved is not None:
                yield curved.line
        for line in rails:
            yield line.line
            if body == EARTH_NAME:
                yield line.wall(PLATE * self.size)


def _in_layers(meshes: list[list[Wheel]]) -> Iterator[Wheel]:
    """Wheels in mesh, each once however many it meshes with, those of one body side by side along its axis.

    A wheel that is already there keeps its layer, and what meshes with it is moved to it; another wheel of the same
    body lies in another layer, so that the wheels of a next stage do not pass through those of the last.
    """
    kept: dict[str, list[tuple[float, int]]] = {}  # radius and layer of the wheels of each body
    apart = 2.2 * WHEEL_WIDTH * max((one.radius for mesh in meshes for one in mesh), default=0.0)
    for mesh in meshes:
        known = [(r, k, one) for one in mesh for r, k in kept.get(one.body, ())]
        same = [k for r, k, one in known if abs(one.radius - r) <= 1e-6 * one.radius]
        layer = same[0] if same else next(k for k in itertools.count() if k not in {other for _, other, _ in known})
        for one in mesh:
            if all(abs(one.radius - r) > 1e-6 * one.radius for r, _ in kept.get(one.body, ())):
                kept.setdefault(one.body, []).append((one.radius, layer))
                yield replace(one, centre=one.centre + apart * layer * one.axis * one.sense)


def _last_axis(joint: Joint, numbers: Numbers) -> Array:
    """The axis of a joint's last motion, which is the same in the frames that it joins."""
    axis = np.array([float(c) for c in numbers.of(joint.motions[-1].axis)])
    return np.asarray(axis / np.linalg.norm(axis))


def _distinct(points: list[Array], least: float) -> list[Array]:
    kept: list[Array] = []
    for candidate in points:
        if all(np.linalg.norm(candidate - other) > least for other in kept):
            kept.append(candidate)
    return kept
