"""Pictures of bodies.

A body is drawn by the shapes that a robot file gives it, or by its solids. Any other is drawn as rods from the joint
that carries it to its other joints and to its mass centre, with a ball there; one without any extent as the block that
has its inertia.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from torseur.algebra.spatial import Transform
from torseur.description.mechanism import EARTH_NAME, Body, Frame, Joint
from torseur.presentation.report.bodies.body_masses import BodyMass, body_mass
from torseur.presentation.report.bodies.body_poses import point, quaternion_of, rotation_matrix
from torseur.presentation.report.bodies.joint_shapes import hub, rail, transform_of_offsets
from torseur.presentation.report.bodies.known_numbers import Numbers
from torseur.presentation.report.bodies.solid_shapes import solid_shapes
from torseur.presentation.report.drawing.shapes import Box, Capsule, Cylinder, Shape, Sphere
from torseur.presentation.report.page.report_content import Array

ROD, BALL, PLATE, LEAST_BLOCK, RAIL, SLIDER = 0.03, 0.09, 0.34, 0.02, 0.3, 0.3  # parts of the typical length
FAR = 0.1  # part of the extent of a motion that is still seen well
MOST_HELD = 3  # a joint with more coordinates holds nothing in place


@dataclass(frozen=True)
class Drawing:
    """The pictures of all bodies.

    `ranges` are the least and the greatest value of each coordinate in the motion shown, `extent` how far bodies move,
    `given` the shapes of bodies that have shapes of their own (none: a body that is not seen), `known` their masses
    where somebody has computed them.
    """

    numbers: Numbers
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    extent: float = 0.0
    given: Mapping[str, tuple[Shape, ...]] = field(default_factory=dict)
    known: tuple[BodyMass, ...] = ()

    def shapes(self, body: str) -> tuple[Shape, ...]:
        """What a body looks like, in its own frame."""
        if body in self.given:
            return self.given[body]
        joints = [*self._hubs(body), *self._rails(body)]
        if body == EARTH_NAME:
            return (*self._plates(), *joints)
        described = self.numbers.tree.mechanism.body(body)
        if described.solids:
            return (*solid_shapes(described, self.numbers, ROD * self.size), *joints)
        return (*self._rods(described), *joints)

    @cached_property
    def masses(self) -> dict[str, BodyMass]:
        masses = self.known or [body_mass(body, self.numbers) for body in self.numbers.tree.mechanism.bodies]
        return {mass.name: mass for mass in masses}

    @cached_property
    def size(self) -> float:
        """A typical length: one of the longer distances drawn, or what inertias or the motion suggest, or 1 m.

        In a motion that goes far, parts are drawn thicker, so that they can be seen.
        """
        names = [body.name for body in self.numbers.tree.mechanism.bodies]
        distances = sorted(float(np.linalg.norm(end - self.start(name))) for name in names for end in self.ends(name))
        lengths = [length for length in distances if 1e-9 < length < np.inf] or self._gyrations()
        if not lengths:
            return 3 * self.extent or 1.0
        # The upper quartile: neither one long rail nor many short offsets decide how thick everything is drawn.
        typical = lengths[3 * len(lengths) // 4]
        return min(max(typical, FAR * self.extent), 3 * typical)

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

    def start(self, body: str) -> Array:
        """The origin of the joint that carries a body."""
        carrier = next((link.joint for link in self.numbers.tree.links if link.name == body), None)
        for joint, frame in self._joints(body):
            if carrier is None or joint.name == carrier.name:
                place = self.place(frame)
                return np.zeros(3) if place is None else np.array(point(place.position))
        return np.zeros(3)

    def ends(self, body: str) -> list[Array]:
        """The other joints of a body, and its mass centre."""
        ends: list[Array] = self._once(("ends", body), lambda: self._ends(body))
        return ends

    def _ends(self, body: str) -> list[Array]:
        places = [self._beyond(joint, frame) for joint, frame in self._joints(body)]
        points = [np.array(point(place.position)) for place in places if place is not None]
        centre = self.masses[body].centre
        return [*points, np.array(centre)] if centre is not None else points

    def _beyond(self, joint: Joint, frame: Frame) -> Transform | None:
        """A joint frame, moved on the parent's side by the offsets with which the joint begins."""
        place: Transform | None = self._once(("beyond", joint.name, frame), lambda: self._with_offsets(joint, frame))
        return place

    def _with_offsets(self, joint: Joint, frame: Frame) -> Transform | None:
        place = self.place(frame)
        if place is None or frame is not joint.parent:
            return place
        offset = self.numbers.of(transform_of_offsets(joint))
        return place if offset is None else place.then(offset)

    def _rods(self, body: Body) -> Iterator[Shape]:
        start, size = self.start(body.name), self.size
        ends = [end for end in self.ends(body.name) if np.linalg.norm(end - start) > 1e-3 * size]
        mass = self.masses[body.name]
        for end in _distinct(ends, 1e-3 * size):
            yield Capsule(point(start), point(end), ROD * size)
        room = max((float(np.linalg.norm(end - start)) for end in ends), default=np.inf)
        block = self._block(mass, room)
        if block is not None:
            yield block
        elif mass.mass and self._slides(body.name):
            yield Box(point(mass.centre or start), (SLIDER * size,) * 3)
        elif mass.mass:
            yield Sphere(point(mass.centre or start), BALL * size * self._share(mass.mass))

    def _slides(self, body: str) -> bool:
        return any(link.joint.kind == "prismatic" for link in self.numbers.tree.links if link.name == body)

    def _share(self, mass: float) -> float:
        """The radius of a mass as a part of the largest."""
        largest = max(m.mass or 0.0 for m in self.masses.values())
        return float(max(0.45, (mass / largest) ** (1 / 3)))

    def _block(self, mass: BodyMass, room: float) -> Shape | None:
        """The block with a body's inertia, its edges √(6 (B + C - A) / m) along the principal axes, reduced to fit.

        A cylinder of the same width stands for it where two moments are equal.
        """
        if (
            not mass.mass
            or mass.inertia is None
            or mass.centre is None
            or not np.any(mass.inertia)
            or mass.fault(np.eye(3))
        ):
            return None
        moments, axes = np.linalg.eigh(mass.inertia)
        squares = 6 * (moments.sum() - 2 * moments) / mass.mass
        edges = np.sqrt(np.maximum(squares, 0.0))
        edges = np.maximum(edges * min(1.0, 0.8 * room / edges.max()), LEAST_BLOCK * self.size)
        axis = _odd_one(moments)
        if axis is not None:
            half = axes[:, axis] * edges[axis] / 2
            radius = float(edges[axis - 1]) / 2
            return Cylinder(point(mass.centre - half), point(mass.centre + half), radius)
        turn = axes * np.sign(np.linalg.det(axes))
        return Box(point(mass.centre), point(edges), quaternion_of(turn))

    def _hubs(self, body: str) -> Iterator[Shape]:
        for joint, frame in self._joints(body):
            place = self.place(frame)
            if place is not None and frame is joint.child:
                yield from hub(joint, self.numbers, place, self.size)

    def _plates(self) -> Iterator[Shape]:
        """Where the mechanism is held by the earth."""
        for joint, frame in self._joints(EARTH_NAME):
            place = self.place(frame)
            if place is not None and len(joint.coordinates) <= MOST_HELD and joint.kind != "prismatic":
                turn = quaternion_of(rotation_matrix(place.rotation, 1)[0])
                edge = PLATE * self.size
                yield Box(point(place.position), (edge, edge, 0.12 * edge), turn, shade=0.9)

    def _rails(self, body: str) -> Iterator[Shape]:
        """What a body's sliding joints run along; on the earth, with a wall at its start."""
        for joint, frame in self._joints(body):
            place = self._beyond(joint, frame)
            shape = None
            if place is not None and frame is joint.parent:
                shape = rail(joint, self.numbers, place, self.ranges, RAIL * self.size)
            if shape is not None:
                yield shape.line
                if body == EARTH_NAME:
                    yield shape.wall(PLATE * self.size)


def _odd_one(moments: Array) -> int | None:
    """The axis of a body of revolution: two moments equal, the third not."""
    least, middle, largest = moments
    near = 1e-6 * largest
    if largest - least <= near or (middle - least > near and largest - middle > near):
        return None
    return 2 if middle - least <= near else 0


def _distinct(points: list[Array], least: float) -> list[Array]:
    kept: list[Array] = []
    for candidate in points:
        if all(np.linalg.norm(candidate - other) > least for other in kept):
            kept.append(candidate)
    return kept
