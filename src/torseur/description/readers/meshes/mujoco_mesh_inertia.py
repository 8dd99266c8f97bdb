"""The ways in which MuJoCo gives a mesh an inertia, other than the exact one."""

from __future__ import annotations

import numpy as np

from torseur.algebra.spatial import Inertia
from torseur.description.readers.meshes.mesh import Mesh, Points, enclosed_inertia, inertia_of, weld
from torseur.description.readers.xml_document import RobotFileError


def convex_hull(mesh: Mesh) -> Mesh:
    """The smallest convex mesh around the vertices."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(mesh.vertices)
    except (QhullError, ValueError):
        raise RobotFileError("the mesh has no convex hull: its vertices lie in a plane.") from None
    corners = mesh.vertices[hull.simplices]
    inward = np.einsum("ij,ij->i", np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]),
                       hull.equations[:, :3]) < 0  # fmt: skip
    corners[inward] = corners[inward][:, ::-1]
    return weld(corners)


def overcounted_inertia(mesh: Mesh) -> Inertia:
    """The inertia of the tetrahedra from the middle of the surface to each triangle, all counted as positive.

    Equal to that of the enclosed volume for convex meshes; otherwise what overlaps counts twice ("legacy").
    """
    corners = mesh.vertices[mesh.triangles]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    if not areas.sum() > 0.0:
        raise RobotFileError("the mesh has no surface.")
    middle = (areas[:, None] * corners.mean(axis=1)).sum(axis=0) / areas.sum()
    centre = middle + _first_moment(corners - middle)
    local = corners - centre
    volumes = _volumes(local)
    return inertia_of(float(volumes.sum()), np.zeros(3), _squares(volumes, local), centre)


def shell(mesh: Mesh) -> Inertia:
    """Area, first moment and inertia matrix of the surface, of density 1 per area."""
    corners = mesh.vertices[mesh.triangles]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    area = float(areas.sum())
    if not area > 0.0:
        raise RobotFileError("the mesh has no surface.")
    centre = (areas[:, None] * corners.mean(axis=1)).sum(axis=0) / area
    local = corners - centre
    sums = local.sum(axis=1)
    squares = np.einsum("t,tki,tkj->ij", areas, local, local) + np.einsum("t,ti,tj->ij", areas, sums, sums)
    return inertia_of(area, np.zeros(3), squares / 12, centre)


def _volumes(corners: Points) -> Points:
    return np.abs(np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))) / 6


def _first_moment(corners: Points) -> Points:
    """The mean position of tetrahedra from the origin."""
    volumes = _volumes(corners)
    if not volumes.sum() > 0.0:
        raise RobotFileError("the mesh encloses no volume.")
    mean: Points = (volumes[:, None] * corners.sum(axis=1)).sum(axis=0) / (4 * volumes.sum())
    return mean


def _squares(volumes: Points, corners: Points) -> Points:
    """∫ r rᵀ dV over tetrahedra from the origin."""
    sums = corners.sum(axis=1)
    total: Points = np.einsum("t,tki,tkj->ij", volumes, corners, corners) + np.einsum(
        "t,ti,tj->ij", volumes, sums, sums
    )
    return total / 20


MODES = {
    "exact": enclosed_inertia,
    "convex": lambda mesh: enclosed_inertia(convex_hull(mesh)),
    "legacy": overcounted_inertia,
    "shell": shell,
}
