"""Poses, velocities, accelerations and Jacobians of any frame."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.spatial import NULL, REST, Motion, Scalar, Transform, Vec3
from torseur.derivation.dynamics.recursion import link_motions
from torseur.derivation.tree import GROUND, Snapshot, Tree
from torseur.description.mechanism import Frame


def link_poses(now: Snapshot) -> list[Transform]:
    """The place of every link in the earth frame."""
    tree, links = now.tree, now.links
    poses: list[Transform] = []
    for i in tree.outward():
        here = links[i].motion.transform
        poses.append(here if tree.parent(i) == GROUND else poses[tree.parent(i)].then(here))
    return poses


def link_velocities(now: Snapshot) -> list[Motion]:
    """The velocity of every link at its own origin and in its own axes."""
    tree, links = now.tree, now.links
    velocities: list[Motion] = []
    for i in tree.outward():
        joint = links[i].motion
        parent = REST if tree.parent(i) == GROUND else velocities[tree.parent(i)]
        velocities.append(joint.transform.motion_to_child(parent) + joint.velocity)
    return velocities


def pose(tree: Tree, frame: Frame, q: Sequence[Scalar], t: Scalar | None = None) -> Transform:
    """The place of a frame in the earth frame."""
    now = tree.at(q, None, t)
    link, result = now.place(frame)
    for i in tree.path(link):
        result = now.links[i].motion.transform.then(result)
    return result


def velocity(tree: Tree, frame: Frame, q: Sequence[Scalar], v: Sequence[Scalar], t: Scalar | None = None) -> Motion:
    """Angular velocity and velocity of a frame's origin with respect to the earth, in the frame's own axes."""
    now = tree.at(q, v, t)
    link, place = now.place(frame)
    return REST if link == GROUND else place.motion_to_child(link_velocities(now)[link])


def acceleration(
    tree: Tree,
    frame: Frame,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    vdot: Sequence[Scalar],
    t: Scalar | None = None,
) -> Motion:
    """Angular acceleration and (classical) acceleration of a frame's origin, in the frame's own axes."""
    now = tree.at(q, v, t)
    link, place = now.place(frame)
    if link == GROUND:
        return REST
    # Without gravity: the recursion of dynamics lets the earth accelerate upward, an observer does not.
    carrier = link_motions(now, vdot, NULL)[link]
    turn = place.rotation.to_child
    return Motion(turn(carrier.alpha), turn(carrier.a + carrier.tensor @ place.position))


def jacobian(tree: Tree, frame: Frame, q: Sequence[Scalar], t: Scalar | None = None) -> list[Motion]:
    """Per speed, the motion of a frame it causes, in the frame's axes: velocity = Σ J_k v_k (+ what time drives)."""
    now = tree.at(q, None, t)
    link, here = now.place(frame)
    links = now.links
    columns: list[Motion] = [REST] * len(tree.layout.speeds)
    for i in tree.path(link):
        for k, screw in zip(tree.links[i].slots, links[i].motion.screws, strict=True):
            columns[k] = columns[k] + here.motion_to_child(screw)
        # From the frame inward: each joint's screw is seen once, through the transform from its link to the frame.
        here = links[i].motion.transform.then(here)
    return columns


def earth_jacobian(tree: Tree, frame: Frame, q: Sequence[Scalar], t: Scalar | None = None) -> list[Motion]:
    """The same along the earth's axes, from the links' places: R ω, and R v + R ω x (from the joint to the frame).

    An axis of a joint is mostly one of its link's, so that R ω is a column of R; columns that were turned from the
    frame's axes would be full.
    """
    now = tree.at(q, None, t)
    link, place = now.place(frame)
    columns: list[Motion] = [REST] * len(tree.layout.speeds)
    if link == GROUND:
        return columns
    poses = link_poses(now)
    point = poses[link].then(place).position
    for i in tree.path(link):
        turn, lever = poses[i].rotation.to_parent, point - poses[i].position
        for k, screw in zip(tree.links[i].slots, now.links[i].motion.screws, strict=True):
            turning = turn(screw.angular)
            columns[k] = columns[k] + Motion(turning, turn(screw.linear) + turning.cross(lever))
    return columns


def in_earth_axes(transform: Transform, motion: Motion) -> Motion:
    """A motion at the same point, its components turned from the frame's axes to the earth's."""
    return Motion(transform.rotation.to_parent(motion.angular), transform.rotation.to_parent(motion.linear))


def mass_centre(tree: Tree, q: Sequence[Scalar], t: Scalar | None = None) -> Vec3:
    """The mass centre of the whole mechanism in the earth frame."""
    now = tree.at(q, None, t)
    mass: Scalar = 0
    moment = NULL
    for link, place in zip(now.links, link_poses(now), strict=True):
        mass = mass + link.inertia.mass
        moment = moment + place.position * link.inertia.mass + place.rotation.to_parent(link.inertia.moment)
    return moment * (1 / mass)
