"""Kinetic and gravitational energy; momentum of the whole mechanism, and the matrix that gives it from the speeds."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.spatial import NO_FORCE, Force, Scalar, Vec3
from torseur.derivation.dynamics.kinematics import link_poses, link_velocities, mass_centre
from torseur.derivation.dynamics.mass_matrix import composite_inertias
from torseur.derivation.tree import Tree


def kinetic_energy(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], t: Scalar | None = None) -> Scalar:
    """Σ ½ V · (I V) over the links."""
    now = tree.at(q, v, t)
    total: Scalar = 0
    for link, velocity in zip(now.links, link_velocities(now), strict=True):
        total = total + velocity.dot(link.inertia @ velocity)
    return total / 2


def gravity_energy(tree: Tree, q: Sequence[Scalar], t: Scalar | None = None) -> Scalar:
    """-Σ m g · r(G) over the links, zero when every mass centre is at the earth's origin.

    Bodies welded to the earth are part of it and no links: what they would add is constant, and left out.
    """
    now = tree.at(q, None, t)
    total: Scalar = 0
    for link, place in zip(now.links, link_poses(now), strict=True):
        moment = place.position * link.inertia.mass + place.rotation.to_parent(link.inertia.moment)
        total = total - now.gravity.dot(moment)
    return total


def momentum(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], t: Scalar | None = None) -> Force:
    """Angular momentum about the earth's origin (as `moment`) and linear momentum (as `force`), in earth axes."""
    now = tree.at(q, v, t)
    total = NO_FORCE
    for link, place, velocity in zip(now.links, link_poses(now), link_velocities(now), strict=True):
        total = total + place.force_to_parent(link.inertia @ velocity)
    return total


def about_point(wrench: Force, point: Vec3) -> Force:
    """A momentum or force taken at another point, same axes."""
    return Force(wrench.moment - point.cross(wrench.force), wrench.force)


def centroidal_momentum(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], t: Scalar | None = None) -> Force:
    """Angular momentum about the mass centre and linear momentum, in earth axes."""
    return about_point(momentum(tree, q, v, t), mass_centre(tree, q, t))


def momentum_matrix(tree: Tree, q: Sequence[Scalar], t: Scalar | None = None) -> list[Force]:
    """Per speed, the momentum about the mass centre that it causes: the columns of the centroidal momentum matrix."""
    now = tree.at(q, None, t)
    poses, composite = link_poses(now), composite_inertias(now)
    centre = mass_centre(tree, q, t)
    columns = [NO_FORCE] * len(tree.layout.speeds)
    # The centroidal momentum matrix of Orin and Goswami (2008).
    # A speed moves all that its joint carries as one body, so its column is the composite inertia on its screw.
    for i in tree.outward():
        for k, screw in zip(tree.links[i].slots, now.links[i].motion.screws, strict=True):
            columns[k] = columns[k] + about_point(poses[i].force_to_parent(composite[i] @ screw), centre)
    return columns
