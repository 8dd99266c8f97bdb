"""From a mechanism and its motion to a scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from torseur.computation.simulation import Trajectory
from torseur.derivation.tree import GROUND, Tree
from torseur.description.mechanism import EARTH_NAME, Frame, Rolling
from torseur.presentation.scene.bodies.body_masses import BodyMass
from torseur.presentation.scene.bodies.body_poses import motion_of, point
from torseur.presentation.scene.bodies.body_shapes import Pictures
from torseur.presentation.scene.bodies.contact_points import contact_points
from torseur.presentation.scene.bodies.contact_shapes import ground_shapes, level_planes
from torseur.presentation.scene.bodies.drawn_shapes import paint_of
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.bodies.vectors import ArrowKind, arrows_along
from torseur.presentation.scene.elements import Connections
from torseur.presentation.scene.orientation import rotation
from torseur.presentation.scene.overlays import Overlay
from torseur.presentation.scene.scene import Array, Body, Element, Motion, Scene, Trace, View
from torseur.presentation.scene.shapes import Shape
from torseur.presentation.scene.viewpoint import ABOVE, ASIDE, angles_of, clearest_side, is_deep, plane_normal

MOST_TRACES = 6
FARTHEST = 1.5  # sizes of the whole that a rail goes from where its slider starts


@dataclass(frozen=True, eq=False)
class Composition:
    """Everything a scene is made from; its parts are computed when asked for.

    `looks` are shapes that a robot file gives, `known` the masses of bodies where somebody has computed them,
    `arrows` the kinds of arrows that somebody asked for.
    """

    numbers: Numbers
    trajectory: Trajectory | None
    looks: Mapping[str, tuple[Shape, ...]] = field(default_factory=dict)
    known: tuple[BodyMass, ...] = ()
    gravity: tuple[float, ...] = (0.0, 0.0, 0.0)
    arrows: tuple[ArrowKind, ...] = ()

    @property
    def tree(self) -> Tree:
        return self.numbers.tree

    @cached_property
    def motion(self) -> Motion | None:
        return motion_of(self.numbers, self.trajectory) if self.trajectory is not None else None

    @cached_property
    def pictures(self) -> Pictures:
        ranges = {}
        if self.trajectory is not None:
            # A rail shows where a slider goes, but no farther than makes a picture.
            reach = FARTHEST * Pictures(self.numbers, self.motion, {}, self.looks, self.known).whole or np.inf
            units = {q.name: q.unit for joint in self.tree.mechanism.joints for q in joint.coordinates}
            for name in self.tree.layout.coordinate_names:
                values = np.asarray(self.trajectory[name])
                far = reach if units.get(name) == "m" else np.inf
                near = np.clip(values, values[0] - far, values[0] + far)
                ranges[name] = (float(near.min()), float(near.max()))
        return Pictures(self.numbers, self.motion, ranges, self.looks, self.known)

    @cached_property
    def connections(self) -> Connections:
        return Connections(self.pictures)

    @cached_property
    def shapes(self) -> dict[str, tuple[Shape, ...]]:
        """The shapes of the earth and of every body."""
        added = {} if self._is_robot else self.connections.shapes()
        names = [EARTH_NAME, *(body.name for body in self.tree.mechanism.bodies)]
        return {name: (*self.pictures.shapes(name), *added.get(name, ()), *self._ground(name)) for name in names}

    def _ground(self, body: str) -> tuple[Shape, ...]:
        """What others touch on a body that nobody has drawn."""
        return (
            tuple(ground_shapes(self.pictures, body, self.up, self._first_view.flat))
            if self.pictures.is_guessed(body)
            else ()
        )

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        return self.connections.elements()

    def scene(self, title: str, reason: str = "") -> Scene | None:
        """The whole scene; None where a place has no value yet."""
        if self.motion is None:
            return None
        return Scene(title, self._bodies, self.motion, self.elements, self.overlays(), self.view(), reason)

    @cached_property
    def _points(self) -> Array:
        """Joints, points of loads and constraints, mass centres and ends of what is drawn, where the motion starts."""
        names = [EARTH_NAME, *(body.name for body in self.tree.mechanism.bodies)]
        spots = [spot for name in names for spot in self.pictures.spots(name)]
        motion = self.motion
        if motion is None:
            return np.array(spots).reshape(-1, 3)
        for anchor in [anchor for one in self.elements for anchor in one.anchors]:
            number = names.index(anchor.body)
            turn = rotation(motion.quaternions[0, number])
            spots.append(motion.positions[0, number] + turn @ np.array(anchor.point))
        return np.array(spots).reshape(-1, 3)

    # Where it is seen from

    @cached_property
    def up(self) -> Array:
        """The direction against gravity; without any, z, or y for what moves in the plane of x and y."""
        gravity = np.array(self.gravity, dtype=float)
        strength = float(np.linalg.norm(gravity))
        if strength > 0:
            return np.asarray(-gravity / strength)
        upward = np.array([0.0, 0.0, 1.0])
        normal = plane_normal(self.pictures, upward, self._points)
        table = normal is not None and abs(float(normal @ upward)) > 0.99
        return np.array([0.0, 1.0, 0.0]) if table else upward

    @cached_property
    def _bodies(self) -> tuple[Body, ...]:
        return tuple(Body(name, shapes=shapes, fixed=name == EARTH_NAME) for name, shapes in self.shapes.items())

    def view(self) -> View:
        """How the mechanism is first seen: flat, or from the side on which its own parts hide least of it."""
        first, points = self._first_view, self._points
        if first.flat or self._is_robot or self.motion is None or len(points) < 2:
            return first
        return replace(first, azimuth=clearest_side(Scene("", self._bodies, self.motion, view=first), points))

    @cached_property
    def _first_view(self) -> View:
        up = self.up
        normal = None if self._is_robot else plane_normal(self.pictures, up, self._points)
        # Seen from straight above, a mechanism that stands on the floor is easier to grasp from aside.
        flat = normal is not None and abs(float(normal @ up)) < 0.99 and not is_deep(self._points, normal)
        azimuth, elevation = angles_of(normal, up) if flat and normal is not None else (ASIDE, ABOVE)
        return View(
            point(up), azimuth, elevation, traces=self.traces(), level=self._level(), flat=flat, near=self._is_robot
        )

    @property
    def _is_robot(self) -> bool:
        """Whether bodies have shapes of a file: of a robot file itself, or of one that was written as a text."""
        return bool(self.looks) or any(drawing.kind == "mesh" for drawing in self.tree.mechanism.drawings)

    def _level(self) -> float | None:
        """The height of the floor: a robot that is bolted down stands on it, as does what rolls on the earth."""
        # By convention the origin of a robot's file lies on the floor. Without contacts one with a free base falls.
        base = [link for link in self.tree.links if link.parent == GROUND]
        if self._is_robot and all(len(link.symbols.speeds) <= 1 for link in base):
            return 0.0
        for constraint in self.tree.mechanism.constraints:
            if isinstance(constraint, Rolling) and constraint.on.body == EARTH_NAME:
                place, normal = self.pictures.place(constraint.on), [self.numbers.value(c) for c in constraint.normal]
                if place is not None and None not in normal:
                    upright = np.array(normal, dtype=float) / np.linalg.norm(np.array(normal, dtype=float))
                    if float(upright @ self.up) > 1 - 1e-6:
                        return float(np.array(point(place.position)) @ self.up)
        return next(iter(level_planes(self.pictures, self.up)), None)

    def traces(self) -> tuple[Trace, ...]:
        """Paths that are drawn, then those of the mass centres of the bodies that carry nothing, outermost first."""
        drawn = [
            Trace(frame.body, point(place.position), self._name(frame), True, paint_of(drawing, self.numbers))
            for drawing in self.tree.mechanism.drawings
            if drawing.kind == "path"
            for frame in drawing.frames
            if (place := self.pictures.place(frame)) is not None
        ]
        carrying = {link.parent for link in self.tree.links}
        leaves = [link.name for k, link in enumerate(self.tree.links) if k not in carrying]
        centres = {name: mass.centre for name, mass in self.pictures.masses.items()}
        guessed = [Trace(name, centres[name] or (0.0, 0.0, 0.0), name) for name in reversed(leaves) if name in centres]
        return (*drawn, *guessed[: max(0, MOST_TRACES - len(drawn))])

    def _name(self, frame: Frame) -> str:
        names = {place: name for name, place in self.tree.mechanism.frames}
        return names.get(frame, frame.body)

    # What moves without being a body

    def overlays(self) -> tuple[Overlay, ...]:
        """The points where bodies touch, and the arrows that somebody asked for."""
        arrows = arrows_along(self.pictures, self.trajectory, self.arrows) if self.trajectory is not None else ()
        return (*contact_points(self.pictures), *arrows)
