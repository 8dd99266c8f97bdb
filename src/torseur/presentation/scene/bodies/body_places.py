"""Where the joints, points and mass centres of bodies are, how large the whole is, and what leads a body where."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from torseur.algebra.graph import Expr
from torseur.algebra.spatial import SAME, Transform
from torseur.description.mechanism import (
    EARTH_NAME,
    AppliedWrench,
    Bushing,
    Contact,
    CoordinateSpring,
    Distance,
    Frame,
    Joint,
    PointSpring,
    Rolling,
)
from torseur.presentation.scene.bodies.body_masses import BodyMass, body_mass
from torseur.presentation.scene.bodies.body_poses import point, rotation_matrix
from torseur.presentation.scene.bodies.guesses.connecting_rods import offset_at_end
from torseur.presentation.scene.bodies.guesses.tracks import Rail, RollingWay, Track, arm_of, rolling_of, track
from torseur.presentation.scene.bodies.joint_shapes import moving_axes, transform_of_offsets
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.orientation import rotation, rotations
from torseur.presentation.scene.scene import Array, Motion
from torseur.presentation.scene.shapes import Shape

RAIL = 0.3  # by how much a rail goes on beyond its slider, as a part of the typical length
FAR = 0.1  # part of the extent of a motion that is still seen well
MOST_HELD = 3  # a joint with more coordinates holds nothing in place
KEPT_AWAY = 0.1  # a displacement that stays this part of its range away from zero may be a length


@dataclass(frozen=True, eq=False)
class Places:
    """The places of all bodies, from which pictures are guessed.

    `ranges` are the least and the greatest value of each coordinate in the motion shown, `motion` where bodies are,
    `given` the shapes of bodies that have shapes of their own (none: a body that is not seen), `known` their masses
    where somebody has computed them.
    """

    numbers: Numbers
    motion: Motion | None = None
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    given: Mapping[str, tuple[Shape, ...]] = field(default_factory=dict)
    known: tuple[BodyMass, ...] = ()

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
            typical = min(max(typical, 0.2 * whole, 0.3 * self._largest_solid), whole)
        return min(max(typical, FAR * self._extent), 1.5 * typical)

    @cached_property
    def _largest_solid(self) -> float:
        """The longest measure of any solid: pins of a large disc are drawn as large discs have them."""
        bodies = self.numbers.tree.mechanism.bodies
        sizes = [
            (self.numbers.value(value) or 0.0) * (2.0 if name == "radius" else 1.0)
            for body in bodies
            for solid in body.solids
            for name, value in solid.dimensions
        ]
        return max(sizes, default=0.0)

    @cached_property
    def _extent(self) -> float:
        """How far bodies move."""
        return 0.0 if self.motion is None else float(np.max(np.ptp(self.motion.positions, axis=0)))

    @cached_property
    def whole(self) -> float:
        """The size of the whole where the motion starts: of the box around all joints, points and mass centres."""
        points = [spot for name in (EARTH_NAME, *self.masses) for spot in self.spots(name)]
        if len(points) < 2:
            return 0.0
        return float(np.linalg.norm(np.ptp(np.array(points), axis=0)))

    def spots(self, body: str) -> list[Array]:
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

    def at_start(self, frame: Frame) -> Array:
        """Where a frame is when the motion starts, in the world; its place in its body where there is no motion."""
        place = self.place(frame)
        local = np.zeros(3) if place is None else np.array(point(place.position))
        if self.motion is None:
            return local
        names = [EARTH_NAME, *(body.name for body in self.numbers.tree.mechanism.bodies)]
        number = names.index(frame.body)
        return np.asarray(self.motion.positions[0, number] + rotation(self.motion.quaternions[0, number]) @ local)

    def path(self, frame: Frame) -> tuple[Array, Array] | None:
        """Where a frame is at every sample: positions (T, 3) and axes (T, 3, 3)."""
        path: tuple[Array, Array] | None = self._once(("path", frame), lambda: self._follow(frame))
        return path

    def _follow(self, frame: Frame) -> tuple[Array, Array] | None:
        place, motion = self.place(frame), self.motion
        if place is None or motion is None:
            return None
        number = [EARTH_NAME, *(body.name for body in self.numbers.tree.mechanism.bodies)].index(frame.body)
        turns = rotations(motion.quaternions[:, number])
        spots = motion.positions[:, number] + turns @ np.array(point(place.position))
        return spots, turns @ rotation_matrix(place.rotation, 1)[0]

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
        held = [link for link in links if link.parent == here[0] and link.name in self.masses]
        carried = [link for link in held if not self.leads(link.joint)]
        places = [(link.name, self.beyond(link.joint, link.joint.parent)) for link in carried]
        at = [(name, np.array(point(place.position))) for name, place in places if place is not None]
        meeting = [name for name, spot in at if np.linalg.norm(spot - np.array(centre)) <= near]
        return [name for name in meeting if self.masses[name].mass and self._is_held_at_centre(name, near)]

    def leads(self, joint: Joint) -> bool:
        """Whether a joint moves the point at which it carries a body."""
        place = self.place(joint.parent)
        return place is not None and any(k == "translation" for k, _ in moving_axes(joint, self.numbers, place))

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
        centre = self.masses[body].centre if body in self.masses else None
        if carrier is not None and centre is not None and (len(carrier.coordinates) > MOST_HELD or self.floats(body)):
            return np.array(centre)
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
        centre = self.masses[body].centre if body in self.masses else None
        spots = [*self.held_points(body), *([] if centre is None else [np.array(centre)])]
        return [spot for spot in spots if np.all(np.isfinite(spot))]

    def held_points(self, body: str) -> list[Array]:
        """The joints of a body and the points of loads and constraints on it, that which carries it first."""
        joints = [(joint, frame) for joint, frame in self._joints(body) if not self._is_bookkeeping(joint, frame)]
        places = [self.beyond(joint, frame) for joint, frame in joints if len(joint.coordinates) <= 5]
        places += [self.place(frame) for frame in self._attachments(body)]
        places += [self._before(joint, frame) for joint, frame in joints]
        points = [np.array(point(place.position)) for place in places if place is not None]
        return [spot for spot in points if np.all(np.isfinite(spot))]

    def _is_bookkeeping(self, joint: Joint, frame: Frame) -> bool:
        return frame is joint.child and joint is self.carrier(frame.body) and self.floats(frame.body)

    def floats(self, body: str) -> bool:
        """Whether the joint that carries a body holds no point of it: it slides over the earth and turns across that.

        Such coordinates say where a body is; where other joints or loads hold it, nothing is at their origin.
        """
        floating: bool = self._once(("floats", body), lambda: self._is_held_elsewhere(body))
        return floating

    def _is_held_elsewhere(self, body: str) -> bool:
        carrier = self.carrier(body)
        if carrier is None or carrier.parent.body != EARTH_NAME or len(carrier.coordinates) < 2:
            return False
        place = self.place(carrier.child)
        axes = [] if place is None else list(moving_axes(carrier, self.numbers, place))
        slides = list(itertools.takewhile(lambda one: one[0] == "translation", axes))
        turns = [axis for kind, axis in axes if kind == "rotation"]
        across = any(float(np.linalg.norm(np.cross(slide, turn))) > 1e-6 for _, slide in slides for turn in turns)
        joints = [joint for joint, _ in self._joints(body) if joint is not carrier]
        return across and bool(joints or list(self._attachments(body)))

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
        for contact in mechanism.contacts:
            if isinstance(contact, Contact):
                touched = (contact.ground,) if contact.ground_radius is not None else ()
                yield from (frame for frame in (contact.frame, *touched) if frame.body == body)

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

    def is_length(self, load: CoordinateSpring) -> bool:
        """Whether a sliding coordinate is the length of its spring: it has a rest length and stays away from zero."""
        joint, rest = self.numbers.tree.mechanism.joint(load.joint), self.numbers.value(load.rest)
        if len(joint.coordinates) != 1 or joint.coordinates[0].unit != "m" or load.coordinate not in self.ranges:
            return False
        low, high = self.ranges[load.coordinate]
        return bool(rest) and low * high > 0 and min(abs(low), abs(high)) > KEPT_AWAY * (high - low)

    def rail(self, joint: Joint) -> Rail | None:
        """The straight line along which a joint of one coordinate leads what it carries; under a wheel that rolls."""
        place = self.place(joint.parent)
        way = None if place is None else track(joint, self.numbers, place, self.ranges, RAIL * self.size)
        if way is None or not way.is_straight:
            return None
        line, rolling = way.rail(RAIL * self.size), self._rolling(joint)
        down = np.zeros(3) if rolling is None else rolling.down * rolling.radius
        return Rail(line.start + down, line.end + down)

    def _rolling(self, joint: Joint) -> RollingWay | None:
        place = self.place(joint.parent)
        way: RollingWay | None = self._once(
            ("rolling", joint.name),
            lambda: None if place is None else rolling_of(joint, self.numbers, place, self.ranges),
        )
        return way

    def curve_to(self, body: str) -> Track | None:
        """The curved line along which the joint that carries a body leads it; None for any other body."""
        carrier = self.carrier(body)
        return None if carrier is None else self.curve(carrier)

    def carrier(self, body: str) -> Joint | None:
        """The joint that carries a body in the tree."""
        return next((link.joint for link in self.numbers.tree.links if link.name == body), None)

    def curve(self, joint: Joint) -> Track | None:
        """The wire or hoop on which a joint leads a bead; None for a straight one, and where a rod can lead it."""
        place = self.place(joint.parent)
        if place is None or self.arm(joint) is not None:
            return None
        way: Track | None = self._once(
            ("track", joint.name), lambda: track(joint, self.numbers, place, self.ranges, RAIL * self.size)
        )
        return None if way is None or way.is_straight else way

    def arm(self, joint: Joint) -> Array | None:
        """The centre about which displacements lead a point, as a rod does; a body that turns has a hoop instead."""
        place = self.place(joint.parent)
        if place is None or (len(joint.coordinates) == 1 and self._turns(joint.parent.body)):
            return None
        centre: Array | None = self._once(("arm", joint.name), lambda: arm_of(joint, self.numbers, place))
        return centre

    def _turns(self, body: str) -> bool:
        """Whether the joint that carries a body turns it."""
        carrier = self.carrier(body)
        return carrier is not None and any(motion.kind != "translation" for motion in carrier.motions)

    @cached_property
    def moving(self) -> frozenset[Expr]:
        """The coordinates of all joints."""
        return frozenset(q.symbol for joint in self.numbers.tree.mechanism.joints for q in joint.coordinates)
