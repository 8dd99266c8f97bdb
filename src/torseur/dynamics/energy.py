"""Kinetic and gravitational energy."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.dynamics.kinematics import link_poses, link_velocities
from torseur.spatial import Scalar
from torseur.tree import Tree


def kinetic_energy(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], t: Scalar | None = None) -> Scalar:
    """Σ ½ V · (I V) over the links."""
    now = tree.at(q, v, t)
    total: Scalar = 0
    for link, velocity in zip(now.links, link_velocities(now), strict=True):
        total = total + velocity.dot(link.inertia @ velocity)
    return total / 2


def gravity_energy(tree: Tree, q: Sequence[Scalar], t: Scalar | None = None) -> Scalar:
    """-Σ m g · r(G) over the links, zero when every mass centre is at the earth's origin."""
    now = tree.at(q, None, t)
    total: Scalar = 0
    for link, place in zip(now.links, link_poses(now), strict=True):
        moment = place.position * link.inertia.mass + place.rotation.to_parent(link.inertia.moment)
        total = total - now.gravity.dot(moment)
    return total
