"""Inverse dynamics: recursive Newton-Euler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torseur.algebra.spatial import Force, Scalar, Vec3
from torseur.derivation.dynamics.recursion import inertial_force, link_motions
from torseur.derivation.tree import GROUND, Snapshot, Tree
from torseur.derivation.tree.transformations.limb_batching import sum_over_copies

Wrenches = Mapping[int, Force]


def inverse_dynamics(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    vdot: Sequence[Scalar],
    wrenches: Wrenches | None = None,
    t: Scalar | None = None,
) -> list[Scalar]:
    """Generalised forces τ that produce the accelerations vdot in state (q, v): τ = M vdot + c + g - Σ Jᵀ F.

    Outward the motion of each link (see recursion.py), then inward the forces it takes, projected on the joint's
    screws. `wrenches` are external forces on links, at the link's origin and in its axes.
    """
    now = tree.at(q, v, t)
    motions = link_motions(now, vdot, now.gravity)
    forces = [inertial_force(link.inertia, motion) for link, motion in zip(now.links, motions, strict=True)]
    return project(now, _less(forces, wrenches or {}))


def project(now: Snapshot, forces: Sequence[Force]) -> list[Scalar]:
    """Σ Jᵀ F: the forces on all links, carried inward and projected on every joint's screws."""
    tree, links, total = now.tree, now.links, list(forces)
    tau: list[Scalar] = [0] * len(tree.layout.speeds)
    for i in tree.inward():
        motion, parent = links[i].motion, tree.parent(i)
        # A speed that several joints follow is resisted by all of them.
        for k, screw in zip(tree.links[i].slots, motion.screws, strict=True):
            tau[k] = tau[k] + screw.dot(total[i])
        # Forces on a batch of like limbs arrive summed over its lanes; for a plain link that is the force itself.
        if parent != GROUND:
            carried = motion.transform.force_to_parent(total[i])
            total[parent] = total[parent] + sum_over_copies(tree.links[i].copies, carried)
    return tau


def _less(forces: Sequence[Force], wrenches: Wrenches) -> list[Force]:
    return [force - wrenches[i] if i in wrenches else force for i, force in enumerate(forces)]


def bias(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    wrenches: Wrenches | None = None,
    t: Scalar | None = None,
) -> list[Scalar]:
    """Centrifugal, Coriolis, gravity and external terms: τ at vdot = 0."""
    return inverse_dynamics(tree, q, v, [0] * len(tree.layout.speeds), wrenches, t)


def gravity_forces(tree: Tree, q: Sequence[Scalar], t: Scalar | None = None) -> list[Scalar]:
    """Generalised forces that hold the mechanism at rest against gravity.

    The force on a link is its mass times the acceleration of free fall, upward.
    """
    now = tree.at(q, None, t)
    links = now.links
    # Static: no velocity, so the recursion of accelerations is that of one vector, turned from link to link.
    weights: list[Force] = []
    up: list[Vec3] = []
    for i in tree.outward():
        before = -now.gravity if tree.parent(i) == GROUND else up[tree.parent(i)]
        up.append(links[i].motion.transform.rotation.to_child(before))
        inertia = links[i].inertia
        weights.append(Force(inertia.moment.cross(up[i]), up[i] * inertia.mass))
    return project(now, weights)
