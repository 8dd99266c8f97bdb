"""Guesses at what holds a body together: rods from its joints to solids that lie apart from them, rings of gimbals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from torseur.algebra.graph import scalar as s
from torseur.algebra.graph import symbols_of
from torseur.algebra.spatial import NULL, SAME, Rotation, Transform, Vec3, about
from torseur.description.mechanism import TIME, Joint
from torseur.presentation.scene.bodies.body_poses import point
from torseur.presentation.scene.bodies.joint_shapes import moving_axes
from torseur.presentation.scene.pictures.triangles import surface_of
from torseur.presentation.scene.scene import Array
from torseur.presentation.scene.shapes import Capsule, Cylinder, Ring, Shape

if TYPE_CHECKING:
    from torseur.presentation.scene.bodies.body_shapes import Pictures

TOUCHING = 0.05  # parts of its size that a joint may lie outside of a solid and still be seen to touch it
NESTED = 1.12  # a ring is this much larger than what turns in it


def rods_to_solids(solids: Sequence[Shape], points: Iterable[Array], radius: float) -> Iterator[Shape]:
    """Rods from points of a body that lie apart from all its solids to the nearest of these."""
    boxes = [_box(solid) for solid in solids]
    joined: list[Array] = []
    for place in points:
        apart = [_distance(place, low, high) / max(float(np.linalg.norm(high - low)), 1e-12) for low, high in boxes]
        if not boxes or min(apart) <= TOUCHING or any(np.allclose(place, other) for other in joined):
            continue
        joined.append(place)
        nearest = int(np.argmin([_distance(place, *box) for box in boxes]))
        yield Capsule(point(place), point(_middle(solids[nearest], place)), radius)


def _middle(solid: Shape, place: Array) -> Array:
    """Where a rod to a solid ends: in its middle, on a long one where it is nearest."""
    if isinstance(solid, Capsule):
        start, end = np.array(solid.start), np.array(solid.end)
        part = float((place - start) @ (end - start)) / max(float((end - start) @ (end - start)), 1e-300)
        return np.asarray(start + min(1.0, max(0.0, part)) * (end - start))
    low, high = _box(solid)
    return np.asarray((low + high) / 2)


def _box(solid: Shape) -> tuple[Array, Array]:
    surface = surface_of(solid, 0.0)
    assert surface is not None, "solids have surfaces"
    return surface.vertices.min(axis=0), surface.vertices.max(axis=0)


def _distance(place: Array, low: Array, high: Array) -> float:
    return float(np.linalg.norm(np.maximum(0.0, np.maximum(low - place, place - high))))


def offset_at_end(joint: Joint) -> Transform:
    """The motions of a joint after the last one that moves: they are fixed in the body that it carries.

    A bead that turns about a centre at a distance R, `dof1 = theta || [0,1,0], dof2 = [0, 0, -R]`, is held by a rod.
    """
    moving = {TIME, *(q.symbol for q in joint.coordinates)}
    place = SAME
    for motion in reversed(joint.motions):
        if motion.kind == "quaternion" or moving & set(symbols_of([motion.amount])):
            return place
        axis = Vec3(*motion.axis)
        if motion.kind == "rotation":
            step = Transform(about(axis, motion.amount), NULL)
        else:
            step = Transform(Rotation(), axis * (motion.amount / s.sqrt(axis.dot(axis))))
        place = step.then(place)
    return SAME


def turned_hoop(pictures: Pictures, body: str) -> Ring | None:
    """The hoop of a bead that a rotation and an offset lead about a centre, where time turns the hoop itself.

    `dof1 = w*t || [0,0,1], dof2 = theta || [0,1,0], dof3 = [0, 0, -R]`: without it nothing shows what time turns. The
    bead has no inertia and holds nothing; a circle looks the same from the turning bead as from the hoop.
    """
    joint, mass = pictures.carrier(body), pictures.masses.get(body)
    if joint is None or mass is None or mass.principal is None or mass.principal[2] > 0 or len(joint.coordinates) != 1:
        return None
    own = joint.coordinates[0].symbol
    moving = [motion for motion in joint.motions if {own, TIME} & set(symbols_of([motion.amount]))]
    kinds = [(motion.kind, own in symbols_of([motion.amount])) for motion in moving]
    joints = [j for j in pictures.numbers.tree.mechanism.joints if body in (j.parent.body, j.child.body)]
    if kinds != [("rotation", False), ("rotation", True)] or len(joints) > 1:
        return None
    place, offset = pictures.place(joint.child), pictures.numbers.of(offset_at_end(joint))
    axes = [] if place is None else list(moving_axes(joint, pictures.numbers, place))
    if place is None or offset is None or len(axes) != 1:
        return None
    back = np.array(point(place.then(offset.inverse).position))
    way = np.array(point(place.position)) - back
    centre = back + axes[0][1] * float(way @ axes[0][1])
    radius = float(np.linalg.norm(np.array(point(place.position)) - centre))
    if not radius > 0:
        return None
    return Ring(point(centre), point(axes[0][1]), radius, 0.014 * radius, shade=0.6)


def gimbal(pictures: Pictures, body: str) -> Iterator[Shape]:
    """The ring of a body that is a gimbal, the pins it turns on, and the axle of a rotor in it."""
    ring = _ring(pictures, body)
    if ring is None:
        return
    yield ring
    centre, thick = np.array(ring.centre), 0.8 * ring.wire
    carrier, near = pictures.carrier(body), 1e-6 * pictures.size
    carried = pictures.carried_at_centre(body, near)[0]
    inner = pictures.carrier(carried)
    for joint, frame, (start, end) in ((carrier, "child", (1.0, NESTED)), (inner, "parent", (0.0, 1.0))):
        place = None if joint is None else pictures.place(getattr(joint, frame))
        axes = [] if joint is None or place is None else list(moving_axes(joint, pictures.numbers, place))
        # A rotor turns on an axle through its middle; a ring within has pins of its own.
        if len(axes) != 1 or (joint is inner and _ring(pictures, carried) is not None):
            continue
        axis = axes[0][1] * ring.radius
        yield from (
            Cylinder(point(centre + s * start * axis), point(centre + s * end * axis), thick, shade=0.8)
            for s in (1, -1)
        )


def _ring(pictures: Pictures, body: str) -> Ring | None:
    """A ring for a body whose joints all meet in its mass centre, where it carries another: it hides nothing within.

    It has the body's largest radius of gyration, and room for what it carries. It holds the axes of both joints.
    """
    if body not in pictures.masses:
        return None
    mass, near = pictures.masses[body], 1e-6 * pictures.size
    carried = pictures.carried_at_centre(body, near)
    joints = sum(body in (j.parent.body, j.child.body) for j in pictures.numbers.tree.mechanism.joints)
    carrier = pictures.carrier(body)
    if (
        len(carried) != 1
        or (carrier is not None and pictures.leads(carrier))
        or joints != 2
        or not mass.mass
        or mass.principal is None
        or mass.principal[1] <= 0
        or mass.centre is None
    ):
        return None
    if any(np.linalg.norm(end - np.array(mass.centre)) > near for end in [*pictures.ends(body), pictures.start(body)]):
        return None
    radius = max(float(np.sqrt(mass.principal[2] / mass.mass)), NESTED * _reach(pictures, carried[0]))
    axes = pictures.axes_of(body)
    normal = np.cross(axes[0], axes[-1]) if len(axes) > 1 else np.zeros(3)
    if not np.linalg.norm(normal) > 1e-6 and mass.inertia is not None:
        normal = np.linalg.eigh(mass.inertia)[1][:, 2]
    return Ring(point(mass.centre), point(normal / np.linalg.norm(normal)), radius, 0.04 * radius)


def _reach(pictures: Pictures, body: str) -> float:
    """How far the shapes of a body reach from its mass centre."""
    centre = np.array(pictures.masses[body].centre or (0.0, 0.0, 0.0))
    surfaces = [surface_of(shape, 0.0) for shape in pictures.shapes(body)]
    corners = [np.linalg.norm(s.vertices - centre, axis=1).max() for s in surfaces if s is not None and len(s.vertices)]
    return float(max(corners, default=0.0))
