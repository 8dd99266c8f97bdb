"""Inertia felt along joints in the configuration in which a model is written, from which MuJoCo sets damping."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from torseur.algebra.spatial import NO_INERTIA, NULL, Inertia, Motion, Vec3
from torseur.description.mechanism import Joint
from torseur.description.readers.mjcf.mjcf_scene import Axis, Scene
from torseur.description.readers.rigid_placement import body_inertia, place_of

Matrix = NDArray[np.float64]


def felt_inertia(gears: Mapping[str, float], scene: Scene) -> float | None:
    """1 / (J M⁻¹ Jᵀ) for the row J of gears by joint; None where a mass is not known or nothing resists."""
    named_matrix = _mass_matrix(scene)
    if named_matrix is None:
        return None
    names, matrix = named_matrix
    row = np.array([gears.get(name, 0.0) for name in names])
    try:
        yielding = float(row @ np.linalg.solve(matrix, row))
    except np.linalg.LinAlgError:
        return None
    return 1 / yielding if yielding > 0.0 else None


def _mass_matrix(scene: Scene) -> tuple[list[str], Matrix] | None:
    """The joint of every freedom, and M with the inertia of rotors; None where a mass is not known.

    A freedom's column is the momentum that it gives to all it carries, along its own screw and those it hangs on.
    """
    freedoms = [(axis, screw) for axis in scene.order for screw in _screws(axis, scene)]
    carried = {axis.child: _carried_inertia(axis.child, scene) for axis in scene.order}
    n, above = len(freedoms), _ancestors(scene)
    matrix = np.zeros((n, n))
    for j, (axis, screw) in enumerate(freedoms):
        total = carried[axis.child]
        if total is None:
            return None
        momentum = total @ screw
        for i, (other, along) in enumerate(freedoms):
            if other.child in above[axis.child]:
                matrix[i, j] = matrix[j, i] = float(along.dot(momentum))
    names = [axis.joint.name for axis, _ in freedoms]
    for name, rotor in scene.assembly.armatures:
        matrix += rotor * np.diag([float(name == one) for one in names])
    return names, matrix


def _ancestors(scene: Scene) -> dict[str, set[str]]:
    """For every body, itself and all bodies that it hangs on."""
    carriers: dict[str, set[str]] = {}
    for joint in scene.assembly.joints:
        if joint.role != "loop":
            carriers[joint.child.body] = {joint.child.body} | carriers.get(joint.parent.body, set())
    return carriers


def _carried_inertia(body: str, scene: Scene) -> Inertia | None:
    """The inertia of a body and all that hangs on it, at the earth's origin."""
    bodies = {one.name: one for one in scene.assembly.bodies}
    total, waiting = NO_INERTIA, [body]
    while waiting:
        name = waiting.pop()
        if name in scene.places:
            if bodies[name].mass is None:
                return None
            total = total + scene.places[name].inertia_to_parent(body_inertia(bodies[name]))
        waiting += _bodies_beyond(name, scene)
    return total


def _bodies_beyond(body: str, scene: Scene) -> list[str]:
    return [j.child.body for j in scene.assembly.joints if j.parent.body == body and j.role != "loop"]


def _screws(axis: Axis, scene: Scene) -> list[Motion]:
    """The motions that a joint allows, as seen from the earth's frame.

    A body between the joints of another has that one's frame while all of them are at rest.
    """
    body = axis.child
    while body not in scene.places:
        (body,) = _bodies_beyond(body, scene)
    place = scene.places[body]
    point = place.point_to_parent(place_of(axis.joint.child.placement).position)
    units = [Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)]
    if axis.coordinate is None:
        slides = [Motion(NULL, unit) for unit in units] if axis.kind == "free" else []
        return slides + [Motion(unit, point.cross(unit)) for unit in units]
    along = place.rotation.to_parent(_direction(axis.joint))
    return [Motion(NULL, along) if axis.kind == "slide" else Motion(along, point.cross(along))]


def _direction(joint: Joint) -> Vec3:
    return Vec3(*(float(c) for c in joint.motions[0].axis))
