"""A model in all frames of a motion at once: places, mass centre, momentum, and the forces its motion takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.spatial import NO_FORCE, Force, Scalar, Transform, Vec3
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion
from torseur.analysis.identification.model.linear_model import given_values
from torseur.derivation import dynamics as td
from torseur.derivation.dynamics.recursion import inertial_force, link_motions
from torseur.derivation.tree import Snapshot, Tree, build_tree
from torseur.description.mechanism import Frame, Mechanism
from torseur.errors import RecordingError, UnsupportedError


@lru_cache(maxsize=16)
def tree_with_values(mechanism: Mechanism) -> Tree:
    """The tree of a mechanism with the values of its parameters; made once."""
    bare = build_tree(mechanism)
    return bare.with_parameters(given_values(bare))


@dataclass(frozen=True, eq=False)
class BodyInMotion:
    """A mechanism and its motion; everything is computed for all frames together, along the laboratory's axes."""

    mechanism: Mechanism
    motion: JointMotion

    def __post_init__(self) -> None:
        layout = self.tree.layout
        if tuple(layout.coordinate_names) != self.motion.names:
            raise RecordingError("the motion's coordinates are not those of the model, in its order.")
        if len(layout.speeds) != len(layout.coordinates):
            raise UnsupportedError("a body in motion has coordinates whose rates are its speeds, and no quaternions.")

    @property
    def tree(self) -> Tree:
        return tree_with_values(self.mechanism)

    @cached_property
    def now(self) -> Snapshot:
        return self.tree.at(list(self.motion.q.T), list(self.motion.v.T), self.motion.time)

    @cached_property
    def poses(self) -> list[Transform]:
        """The place of every link."""
        return td.link_poses(self.now)

    @cached_property
    def mass(self) -> float:
        return float(sum(link.inertia.mass for link in self.now.links))

    @cached_property
    def gravity(self) -> Array:
        return np.array([float(x) for x in self.now.gravity])

    def link(self, body: str) -> int:
        """The number of a body's link."""
        return self.tree.places[body][0]

    def place(self, frame: Frame) -> tuple[Array, Array]:
        """Origin (frames, 3) and rotation (frames, 3, 3) of a frame."""
        link, at = self.now.place(frame)
        pose = self.poses[link].then(at)
        rows = [self.per_frame(row) for row in pose.rotation.matrix.rows]
        return self.per_frame(pose.position), np.stack(rows, axis=1)

    @cached_property
    def mass_centre(self) -> Array:
        """Of the whole body, (frames, 3) in m."""
        total = sum(
            (pose.position * link.inertia.mass + pose.rotation.to_parent(link.inertia.moment)
             for pose, link in zip(self.poses, self.now.links, strict=True)),
            start=Vec3(0, 0, 0),
        )  # fmt: skip
        return self.per_frame(total) / self.mass

    @cached_property
    def momentum(self) -> tuple[Array, Array]:
        """Linear momentum (kg m/s) and angular momentum about the mass centre (kg m²/s)."""
        total = NO_FORCE
        velocities = td.link_velocities(self.now)
        for link, pose, velocity in zip(self.now.links, self.poses, velocities, strict=True):
            # I V is a wrench (angular and linear momentum at the link's origin) and moves like one.
            total = total + pose.force_to_parent(link.inertia @ velocity)
        linear, about_origin = self.per_frame(total.force), self.per_frame(total.moment)
        return linear, about_origin - np.cross(self.mass_centre, linear)

    @cached_property
    def inertial_forces(self) -> list[Force]:
        """What the motion of every link takes, weight included, at its origin and in its axes."""
        motions = link_motions(self.now, list(self.motion.vdot.T), self.now.gravity)
        return [inertial_force(link.inertia, one) for link, one in zip(self.now.links, motions, strict=True)]

    @cached_property
    def external_wrench(self) -> tuple[Array, Array]:
        """Force (N) and moment about the laboratory's origin (N m) that all the outside exerts: Newton and Euler."""
        total = NO_FORCE
        for pose, force in zip(self.poses, self.inertial_forces, strict=True):
            total = total + pose.force_to_parent(force)
        return self.per_frame(total.force), self.per_frame(total.moment)

    def per_frame(self, vector: Vec3 | tuple[Scalar, ...]) -> Array:
        """Components, numbers or one per frame, as an array (frames, 3)."""
        count = len(self.motion)
        return np.stack([np.broadcast_to(np.asarray(x, dtype=float), (count,)) for x in vector], axis=1)
