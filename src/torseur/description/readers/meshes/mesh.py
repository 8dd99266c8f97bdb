"""A mesh of triangles, and the volume it encloses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.algebra.spatial import Inertia, Symmetric3, Vec3, inertia_at
from torseur.description.readers.xml_document import RobotFileError

Points = NDArray[np.float64]
Triangles = NDArray[np.int64]
FLAT = 1e-12  # a volume below this part of the box around the mesh is no volume


@dataclass(frozen=True, eq=False)
class Mesh:
    """Vertices (n x 3, m) and triangles (m x 3 indices of vertices, anticlockwise seen from outside)."""

    vertices: Points
    triangles: Triangles

    def scaled(self, scale: tuple[float, ...]) -> Mesh:
        """The mesh with each axis stretched; a mirrored one keeps its outside outside."""
        mirrored = np.prod(scale) < 0
        triangles = self.triangles[:, ::-1] if mirrored else self.triangles
        return Mesh(self.vertices * np.asarray(scale, dtype=float), triangles)


def open_edges(mesh: Mesh) -> int:
    """How many edges do not join exactly two triangles that agree on which side is out."""
    a, b, c = mesh.triangles.T
    starts, ends = np.concatenate([a, b, c]), np.concatenate([b, c, a])
    size = len(mesh.vertices)
    forward, backward = starts * size + ends, ends * size + starts
    codes, counts = np.unique(forward, return_counts=True)
    lonely = ~np.isin(codes, backward) | (counts != 1)
    return int(np.count_nonzero(lonely))


def enclosed_inertia(mesh: Mesh) -> Inertia:
    """Volume, first moment and inertia matrix at the origin of what a closed mesh encloses, at density 1.

    The mesh is cut into tetrahedra from its middle, with signed volumes: exact for any closed mesh.
    """
    loose = open_edges(mesh)
    if loose:
        raise RobotFileError(f"the mesh is not closed: {loose} edges do not join two triangles facing the same way.")
    middle = mesh.vertices.mean(axis=0)
    corners = (mesh.vertices - middle)[mesh.triangles]
    volumes = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    volume = float(volumes.sum())
    box = float(np.prod(np.ptp(mesh.vertices, axis=0)))
    if abs(volume) <= FLAT * box or volume == 0.0:
        raise RobotFileError("the mesh encloses no volume.")
    sums = corners.sum(axis=1)
    centre = (volumes[:, None] * sums).sum(axis=0) / (4 * volume)
    squares = np.einsum("t,tki,tkj->ij", volumes, corners, corners) + np.einsum("t,ti,tj->ij", volumes, sums, sums)
    return inertia_of(abs(volume), centre, squares * np.sign(volume) / 20, middle)


def inertia_of(volume: float, centre: Points, squares: Points, middle: Points) -> Inertia:
    """The inertia from ∫ r rᵀ dV, taken from the middle of the mesh."""
    central = squares - volume * np.outer(centre, centre)
    matrix = np.trace(central) * np.eye(3) - central
    entries = (matrix[0, 0], matrix[1, 1], matrix[2, 2], matrix[0, 1], matrix[0, 2], matrix[1, 2])
    position = Vec3(*(float(c) for c in centre + middle))
    return inertia_at(volume, position, Symmetric3(*(float(e) for e in entries)))


def weld(corners: Points) -> Mesh:
    """A mesh from triangles given by their corners (n x 3 x 3): equal corners become one vertex, slivers go."""
    points = corners.reshape(-1, 3) + 0.0
    order = np.lexsort(points.T)
    ordered = points[order]
    fresh = np.ones(len(points), dtype=bool)
    fresh[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    index = np.empty(len(points), dtype=np.int64)
    index[order] = np.cumsum(fresh) - 1
    triangles = index.reshape(-1, 3)
    a, b, c = triangles.T
    return Mesh(ordered[fresh], triangles[(a != b) & (b != c) & (c != a)])
