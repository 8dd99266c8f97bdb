"""Frames as loads and sensors see them: place and velocity in earth axes, computed once per link."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from torseur.algebra.spatial import NULL, Force, Motion, Transform, Vec3
from torseur.derivation.dynamics.kinematics import link_poses, link_velocities
from torseur.derivation.tree import GROUND, Snapshot
from torseur.description.mechanism import Frame


@dataclass(frozen=True)
class FrameInMotion:
    """A frame with its place in the earth frame, and its angular velocity and origin velocity in earth axes."""

    link: int
    local: Transform
    place: Transform
    velocity: Motion


@dataclass
class MovingFrames:
    """All frames of a tree at one state."""

    now: Snapshot
    _seen: dict[Frame, FrameInMotion] = field(default_factory=dict)

    @cached_property
    def poses(self) -> list[Transform]:
        return link_poses(self.now)

    @cached_property
    def velocities(self) -> list[Motion]:
        return link_velocities(self.now)

    def __getitem__(self, frame: Frame) -> FrameInMotion:
        if frame not in self._seen:
            self._seen[frame] = self._follow(frame)
        return self._seen[frame]

    def _follow(self, frame: Frame) -> FrameInMotion:
        link, local = self.now.place(frame)
        if link == GROUND:
            return FrameInMotion(link, local, local, Motion(NULL, NULL))
        pose, carrier = self.poses[link], self.velocities[link]
        turn = pose.rotation.to_parent
        # In the link's axes, where lever and velocity are short; turned to the earth's once.
        point = carrier.linear + carrier.angular.cross(local.position)
        return FrameInMotion(link, local, pose.then(local), Motion(turn(carrier.angular), turn(point)))

    def between_axes(self, vector: Vec3, source: Frame, link: int) -> Vec3:
        """Components in a frame's axes turned to a link's axes; a frame fixed in that link needs no pose."""
        origin = self[source]
        # The detour over the earth would multiply a rotation by its transpose, which expressions do not see through.
        if origin.link == link:
            return origin.local.rotation.to_parent(vector)
        in_earth = origin.place.rotation.to_parent(vector)
        return in_earth if link == GROUND else self.poses[link].rotation.to_child(in_earth)

    def wrench_on(self, frame: Frame, force: Vec3, moment: Vec3, axes: Frame) -> tuple[int, Force]:
        """(link, wrench at its origin and axes) of a force at a frame's origin and a moment, given in some axes."""
        carrier = self[frame]
        push = self.between_axes(force, axes, carrier.link)
        turn = self.between_axes(moment, axes, carrier.link)
        return carrier.link, Force(turn + carrier.local.position.cross(push), push)

    def wrench_at(self, link: int, point: Vec3, force: Vec3, moment: Vec3) -> Force:
        """The wrench at a link's origin and axes of a force at a point and a moment, all in earth axes."""
        pose = self.poses[link]
        total = moment + (point - pose.position).cross(force)
        return Force(pose.rotation.to_child(total), pose.rotation.to_child(force))
