"""The joints of a tree as steps with fixed screws, at one state.

Derivatives of dynamics are simple where a joint's screws do not change in its child frame: revolute, prismatic,
helical, cylindrical and ball joints, and free ones with speeds in body axes. Other joints are cut into elementary
motions with massless bodies between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torseur.algebra.spatial import NO_INERTIA, NULL, Inertia, Matrix3, Motion, Scalar, Transform, Vec3
from torseur.derivation.dynamics.recursion import LinkMotion, rotation_tensor
from torseur.derivation.tree import GROUND, Elementary, Snapshot, Tree, steps_of


@dataclass(frozen=True)
class Step:
    """A motion with fixed screws: where it leads, how it moves relative to its parent, what it carries.

    `acceleration` is classical and holds what the rates of the speeds contribute. `shares[k]` lists, for screw k,
    the speeds of the tree that drive it and its constant rate per unit of each. `copies` is that of the link, on its
    first step.
    """

    parent: int
    transform: Transform
    screws: tuple[Motion, ...]
    velocity: Motion
    acceleration: Motion
    inertia: Inertia
    shares: tuple[tuple[tuple[int, Scalar], ...], ...]
    copies: int = 1


@dataclass(frozen=True)
class StepMotion:
    """How a step's frame moves, in its own axes: the link's motion, its velocity, and the parent's seen from here.

    `carried`, `drift` and `push` are angular velocity, velocity and acceleration of the parent at this origin.
    """

    link: LinkMotion
    v: Vec3
    carried: Vec3
    drift: Vec3
    push: Vec3
    tensor: Matrix3


def has_steps(tree: Tree) -> bool:
    """Whether every joint can be taken as steps with fixed screws."""
    return all(steps_of(tree, link) is not None for link in tree.links)


def steps_at(now: Snapshot, vdot: Sequence[Scalar]) -> list[Step]:
    """The steps of a tree, parents first; the last step of a link carries its inertia."""
    tree = now.tree
    steps: list[Step] = []
    ends: list[int] = []
    for i in tree.outward():
        parent = GROUND if tree.parent(i) == GROUND else ends[tree.parent(i)]
        # Each elementary motion has a frame of its own, in which its screw stands still: S' comes from the frames'
        # motion alone.
        chain: Sequence[Elementary] = now.evaluate(steps_of(tree, tree.links[i]))
        for k, motion in enumerate(chain):
            inertia = now.links[i].inertia if k == len(chain) - 1 else NO_INERTIA
            # Massless bodies stand between the steps of one joint, and what the link weighs is at its end.
            step = _step(parent, motion, inertia, tree.links[i].slots, vdot)
            steps.append(replace(step, copies=tree.links[i].copies) if k == 0 else step)
            parent = len(steps) - 1
        ends.append(parent)
    return steps


def _step(parent: int, motion: Elementary, inertia: Inertia, slots: Sequence[int], vdot: Sequence[Scalar]) -> Step:
    shares = tuple(
        tuple((j, share) for j, share in zip(slots, row, strict=True) if not _is_zero(share)) for row in motion.partials
    )
    acceleration = motion.bias
    for screw, speeds in zip(motion.screws, shares, strict=True):
        for j, share in speeds:
            acceleration = acceleration + screw * (share * vdot[j])
    return Step(parent, motion.transform, motion.screws, motion.velocity, acceleration, inertia, shares)


def _is_zero(value: Scalar) -> bool:
    zero = getattr(value, "is_zero", None)
    return bool(value == 0) if zero is None else bool(zero)


def step_motions(steps: Sequence[Step], gravity: Vec3) -> list[StepMotion]:
    """The motion of every step's frame; the earth accelerates against gravity."""
    motions: list[StepMotion] = []
    for step in steps:
        turn, r = step.transform.rotation.to_child, step.transform.position
        if step.parent == GROUND:
            carried, alpha, drift, push = NULL, NULL, NULL, turn(-gravity)
        else:
            before = motions[step.parent]
            carried, alpha = turn(before.link.w), turn(before.link.alpha)
            # The parent as a body extended to this origin: v + w x r and a + U r.
            drift = turn(before.v + before.link.w.cross(r))
            push = turn(before.link.a + before.link.tensor @ r)
        motions.append(_step_motion(step, carried, alpha, drift, push))
    return motions


def _step_motion(step: Step, carried: Vec3, alpha: Vec3, drift: Vec3, push: Vec3) -> StepMotion:
    relative, change = step.velocity, step.acceleration
    w = carried + relative.angular
    turning = alpha + carried.cross(relative.angular) + change.angular
    # Relative motion: 2 ω x v_rel is Coriolis; the velocity itself is kept beside, since derivatives need it.
    a = push + carried.cross(relative.linear) * 2 + change.linear
    link = LinkMotion(w, turning, a, rotation_tensor(w, turning))
    return StepMotion(link, drift + relative.linear, carried, drift, push, rotation_tensor(carried, alpha))
