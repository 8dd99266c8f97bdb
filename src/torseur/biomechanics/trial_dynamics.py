"""Inverse dynamics of a trial: joint moments and powers, joint forces, mass centre, momentum, and what is left over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.biomechanics.body_in_motion import BodyInMotion
from torseur.biomechanics.ground_reaction import Reaction, ground_reaction
from torseur.biomechanics.joint_motion import JointMotion
from torseur.biomechanics.moments_kernel import moments_kernel
from torseur.errors import RecordingError
from torseur.identification.arrays import Array
from torseur.mechanism import Mechanism
from torseur.spatial import Force, Vec3
from torseur.tree import GROUND


@dataclass(frozen=True, eq=False)
class TrialDynamics:
    """What a trial took: everything in SI, along the laboratory's axes, one row per frame.

    `moments` (frames, coordinates) are the generalised forces of the joints: N m of an angle, N of a displacement; a
    positive one drives its coordinate up. `reactions` are those of the ground on single segments. In the coordinates
    of the first joint stands what is left over: zero where the reactions account for the whole motion.
    """

    body: BodyInMotion
    reactions: Mapping[str, Reaction]
    moments: Array

    @property
    def motion(self) -> JointMotion:
        return self.body.motion

    def moment(self, coordinate: str) -> Array:
        """The moment of one coordinate through time."""
        return self.moments[:, self.motion.slot(coordinate)]

    @cached_property
    def powers(self) -> Array:
        """Power of every coordinate (W): positive where muscles give energy to the motion."""
        return self.moments * self.motion.v

    def power(self, coordinate: str) -> Array:
        return self.powers[:, self.motion.slot(coordinate)]

    def joint_power(self, joint: str) -> Array:
        """Power of all coordinates of a joint (W)."""
        names = [c.name for c in self.body.mechanism.joint(joint).coordinates]
        return np.asarray(sum(self.power(name) for name in names))

    @cached_property
    def joint_forces(self) -> dict[str, Array]:
        """Force (N) of the parent on the child in every joint, along the laboratory's axes."""
        tree, found = self.body.tree, {}
        total = list(self.body.inertial_forces)
        for name, reaction in self.reactions.items():
            link = self.body.link(name)
            total[link] = total[link] - _on_link(self.body, link, reaction)
        for i in tree.inward():
            found[tree.links[i].joint.name] = self.body.spread(self.body.poses[i].rotation.to_parent(total[i].force))
            parent = tree.parent(i)
            if parent != GROUND:
                carried = self.body.now.links[i].motion.transform.force_to_parent(total[i])
                total[parent] = total[parent] + carried
        return {joint.name: found[joint.name] for joint in self.body.mechanism.joints if joint.name in found}

    @cached_property
    def total_reaction(self) -> Reaction:
        """The reactions of all segments together."""
        nothing = np.zeros((len(self.motion), 3))
        return sum(self.reactions.values(), start=Reaction(nothing, nothing))

    @cached_property
    def residual(self) -> Reaction:
        """What the motion takes beyond the reactions given: force, and moment about the mass centre."""
        needed = ground_reaction(self.body)
        given = self.total_reaction
        left = Reaction(needed.force - given.force, needed.moment - given.moment)
        return Reaction(left.force, left.about(self.body.mass_centre))


def trial_dynamics(
    mechanism: Mechanism, motion: JointMotion, reactions: Mapping[str, Reaction] | None = None
) -> TrialDynamics:
    """Joint moments of a motion under the ground's reactions on segments (none: a person in flight).

    Recursive Newton-Euler in all frames at once, compiled.
    """
    body = BodyInMotion(mechanism, motion)
    given = dict(reactions or {})
    for name, reaction in given.items():
        _check(reaction, name, len(motion))
        if body.link(name) == GROUND:
            raise RecordingError(f"'{name}' is not a segment that moves: no reaction can act on it.")
    loads = [part for reaction in given.values() for part in (reaction.moment, reaction.force)]
    rows = np.concatenate(loads, axis=1) if loads else np.zeros((len(motion), 0))
    moments = moments_kernel(mechanism, tuple(given))(motion.q, motion.v, motion.vdot, rows)
    return TrialDynamics(body, given, moments)


def _check(reaction: Reaction, name: str, frames: int) -> None:
    for what, values in (("force", reaction.force), ("moment", reaction.moment)):
        if values.shape != (frames, 3) or not np.isfinite(values).all():
            raise RecordingError(
                f"reaction on '{name}': its {what} must be numbers of the shape ({frames}, 3), one row per frame."
            )


def _on_link(body: BodyInMotion, link: int, reaction: Reaction) -> Force:
    """A reaction about the laboratory's origin, at a link's origin and in its axes."""
    return body.poses[link].force_to_child(Force(Vec3(*reaction.moment.T), Vec3(*reaction.force.T)))
