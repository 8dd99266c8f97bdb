"""Inverse dynamics of a trial: joint moments and powers, joint forces, mass centre, momentum, and what is left over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Input, Program, as_expr, symbol, vector
from torseur.algebra.spatial import Force, Vec3
from torseur.analysis.biomechanics.forces.ground_reaction import Reaction, ground_reaction
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion
from torseur.analysis.identification.model.linear_model import given_values
from torseur.computation.codegen.kernels.batch_kernel import BatchKernel, compile_batch
from torseur.derivation import dynamics as td
from torseur.derivation.tree import GROUND, build_tree
from torseur.description.mechanism import Mechanism
from torseur.errors import RecordingError

LOADS, PARAMETERS = "load", "p"


# Why all frames in one call: docs/decisions/0048-a-trial-is-one-call.md.
class MomentsKernel:
    """τ(q, v, v̇, loads) of a mechanism; loads are moments about the earth's origin and forces, in earth axes."""

    def __init__(self, mechanism: Mechanism, loaded: tuple[str, ...]) -> None:
        tree = build_tree(mechanism)
        layout, values = tree.layout, given_values(tree)
        loads = tuple(symbol(f"{LOADS}_{name}_{k}", "N") for name in loaded for k in range(6))
        poses = td.link_poses(tree.at(list(layout.coordinates)))
        wrenches = {}
        for number, name in enumerate(loaded):
            m, f = loads[6 * number : 6 * number + 3], loads[6 * number + 3 : 6 * number + 6]
            link = tree.places[name][0]
            # Loads about the earth's origin are taken to the link in the kernel, which knows where the link is.
            wrenches[link] = poses[link].force_to_child(Force(Vec3(*m), Vec3(*f)))
        tau = td.inverse_dynamics(
            tree, list(layout.coordinates), list(layout.speeds), list(layout.accelerations), wrenches
        )
        inputs = [Input("q", layout.coordinates), Input("v", layout.speeds), Input("vdot", layout.accelerations)]
        inputs += [Input(PARAMETERS, layout.parameters)] if layout.parameters else []
        inputs += [Input(LOADS, loads)] if loads else []
        program = Program("joint_moments", tuple(inputs), (vector("tau", [as_expr(x) for x in tau]),))
        self.values = [values[name] for name in layout.parameter_names]
        self.kernel: BatchKernel = compile_batch(program, parameters=(PARAMETERS,) if self.values else ())
        self.loads = len(loads)

    def __call__(self, q: Array, v: Array, vdot: Array, loads: Array) -> Array:
        """Moments (frames, speeds) of frames (frames, ...); loads (frames, 6 per loaded segment)."""
        given = {"q": q.T, "v": v.T, "vdot": vdot.T} | ({LOADS: loads.T} if self.loads else {})
        if self.values:
            given[PARAMETERS] = np.array(self.values)
        return np.ascontiguousarray(self.kernel(**given)["tau"].T)


@lru_cache(maxsize=16)
def moments_kernel(mechanism: Mechanism, loaded: tuple[str, ...]) -> MomentsKernel:
    """The kernel of a mechanism with loads on some of its bodies; made once."""
    return MomentsKernel(mechanism, loaded)


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
        tree, forces = self.body.tree, {}
        total = list(self.body.inertial_forces)
        for name, reaction in self.reactions.items():
            link = self.body.link(name)
            # What a joint passes on: inertia and weight of everything beyond it, less what the ground gives there.
            total[link] = total[link] - _on_link(self.body, link, reaction)
        for i in tree.inward():
            in_laboratory = self.body.poses[i].rotation.to_parent(total[i].force)
            forces[tree.links[i].joint.name] = self.body.per_frame(in_laboratory)
            parent = tree.parent(i)
            if parent != GROUND:
                carried = self.body.now.links[i].motion.transform.force_to_parent(total[i])
                total[parent] = total[parent] + carried
        return {joint.name: forces[joint.name] for joint in self.body.mechanism.joints if joint.name in forces}

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
