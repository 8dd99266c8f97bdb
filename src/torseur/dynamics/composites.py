"""Composite bodies: the inertia, force and Coriolis operator of everything a joint carries, as if frozen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.dynamics.limbs import arriving
from torseur.dynamics.recursion import inertial_force
from torseur.dynamics.steps import Step, StepMotion
from torseur.spatial import Force, Inertia, Motion, Symmetric3, Transform, Vec3, point_tensor
from torseur.tree import GROUND


@dataclass(frozen=True)
class Composite:
    """What moves with a frame.

    The Coriolis operator is 2 B = [Y - L̃, 0; -2 f̃, 0]: Y is the rate of the inertia matrix at the origin that its
    motion causes, L the angular momentum and f the momentum.
    """

    inertia: Inertia
    force: Force
    spread: Symmetric3
    spin: Vec3
    momentum: Vec3

    def __add__(self, other: Composite) -> Composite:
        return Composite(
            self.inertia + other.inertia,
            self.force + other.force,
            self.spread + other.spread,
            self.spin + other.spin,
            self.momentum + other.momentum,
        )

    def to_parent(self, transform: Transform) -> Composite:
        """The same at the parent's origin and axes."""
        rotation, p = transform.rotation, transform.position
        f = rotation.to_parent(self.momentum)
        spread = rotation.tensor_to_parent(self.spread) + point_tensor(p, f)
        return Composite(
            transform.inertia_to_parent(self.inertia),
            transform.force_to_parent(self.force),
            spread,
            rotation.to_parent(self.spin) + p.cross(f),
            f,
        )

    def coriolis(self, motion: Motion) -> Force:
        """2 B applied to a motion."""
        w = motion.angular
        return Force(self.spread @ w - self.spin.cross(w), w.cross(self.momentum) * 2)

    def coriolis_back(self, motion: Motion) -> Vec3:
        """2 Bᵀ applied to a motion: its moment; it has no force."""
        w = motion.angular
        return self.spread @ w + self.spin.cross(w) + self.momentum.cross(motion.linear) * 2


def composites(steps: Sequence[Step], motions: Sequence[StepMotion]) -> list[Composite]:
    """For each step, the composite of all it carries, in its own frame."""
    found = [_single(step.inertia, motion) for step, motion in zip(steps, motions, strict=True)]
    for i in range(len(steps) - 1, -1, -1):
        parent = steps[i].parent
        if parent != GROUND:
            found[parent] = found[parent] + arriving(steps[i].alike, found[i].to_parent(steps[i].transform))
    return found


def _single(inertia: Inertia, motion: StepMotion) -> Composite:
    w, v, h = motion.link.w, motion.v, inertia.moment
    momentum = inertia @ Motion(w, v)
    spread = _rate(inertia.matrix, w) + point_tensor(h, v)
    return Composite(inertia, inertial_force(inertia, motion.link), spread, momentum.moment, momentum.force)


def _rate(a: Symmetric3, w: Vec3) -> Symmetric3:
    """w̃ A - A w̃: the rate of an inertia matrix that turns at w."""
    x, y, z = w
    return Symmetric3(
        (a.xz * y - a.xy * z) * 2,
        (a.xy * z - a.yz * x) * 2,
        (a.yz * x - a.xz * y) * 2,
        (a.xx - a.yy) * z - a.xz * x + a.yz * y,
        (a.zz - a.xx) * y - a.yz * z + a.xy * x,
        (a.yy - a.zz) * x - a.xy * y + a.xz * z,
    )
