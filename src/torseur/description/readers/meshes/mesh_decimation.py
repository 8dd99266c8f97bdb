"""Meshes with fewer triangles, for pictures: vertices in one cell of a grid become one.

The vertex that stands for a cell lies as near as possible to the planes of the triangles that touch it (Lindstrom,
"Out-of-core simplification of large polygonal models", 2000), so that edges and corners stay sharp.
"""

from __future__ import annotations

import numpy as np

from torseur.description.readers.meshes.mesh import Mesh, Points

FINEST, COARSEST = 512, 4  # cells along the longest edge
TENSION = 1e-2  # how much the mean of a cell's vertices counts against its planes


def decimate(mesh: Mesh, most: int) -> Mesh:
    """A mesh of at most about as many triangles, by the finest grid that gives so few."""
    if len(mesh.triangles) <= most:
        return mesh
    low, high = COARSEST, FINEST
    while high - low > max(1, low // 16):
        cells = (low + high) // 2
        low, high = (cells, high) if len(_cluster(mesh, cells)[1]) <= most else (low, cells)
    index, triangles = _cluster(mesh, low)
    if not len(triangles):
        return _largest(mesh, most)
    used, renumbered = np.unique(triangles, return_inverse=True)
    return Mesh(_representatives(mesh, index)[used], renumbered.reshape(-1, 3).astype(np.int64))


def _largest(mesh: Mesh, most: int) -> Mesh:
    """The largest triangles of a mesh that is made of specks far apart."""
    corners = mesh.vertices[mesh.triangles]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    used, renumbered = np.unique(mesh.triangles[np.argsort(areas)[-most:]], return_inverse=True)
    return Mesh(mesh.vertices[used], renumbered.reshape(-1, 3).astype(np.int64))


def _cluster(mesh: Mesh, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """The cell of each vertex, and the triangles that keep three different cells, each once."""
    low = mesh.vertices.min(axis=0)
    edge = float(np.ptp(mesh.vertices, axis=0).max()) / cells or 1.0
    at = ((mesh.vertices - low) / edge).astype(np.int64)
    codes = (at[:, 0] * (cells + 1) + at[:, 1]) * (cells + 1) + at[:, 2]
    _, index = np.unique(codes, return_inverse=True)
    corners = index.reshape(-1)[mesh.triangles]
    a, b, c = corners.T
    corners = corners[(a != b) & (b != c) & (c != a)]
    if not len(corners):
        return index, corners
    first = np.argmin(corners, axis=1)
    turned = corners[np.arange(len(corners))[:, None], (first[:, None] + np.arange(3)) % 3]
    return index, np.unique(turned, axis=0)


def _representatives(mesh: Mesh, index: np.ndarray) -> Points:
    """For each cell the point with the least sum of squared distances to its triangles' planes, drawn to the mean."""
    count = int(index.max()) + 1
    mean = _sum_by_cell(mesh.vertices, index, count) / np.bincount(index, minlength=count)[:, None]
    corners = mesh.vertices[mesh.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    squares = np.einsum("ti,tj->tij", normals, normals).reshape(-1, 9)
    heights = np.einsum("ti,ti->t", normals, corners[:, 0])
    matrix, right = np.zeros((count, 9)), np.zeros((count, 3))
    for k in range(3):
        cell = index[mesh.triangles[:, k]]
        offsets = heights - np.einsum("ti,ti->t", normals, mean[cell])
        matrix += _sum_by_cell(squares, cell, count)
        right += _sum_by_cell(normals * offsets[:, None], cell, count)
    full = matrix.reshape(-1, 3, 3)
    weight = TENSION * np.trace(full, axis1=1, axis2=2) + np.finfo(float).tiny
    step: Points = np.linalg.solve(full + weight[:, None, None] * np.eye(3), right[:, :, None])[:, :, 0]
    reach = np.zeros(count)
    np.maximum.at(reach, index, np.linalg.norm(mesh.vertices - mean[index], axis=1))
    length = np.linalg.norm(step, axis=1)
    shorter = np.minimum(1.0, reach / np.maximum(length, np.finfo(float).tiny))
    return mean + step * shorter[:, None]


def _sum_by_cell(values: Points, index: np.ndarray, count: int) -> Points:
    """Rows added up by cell."""
    return np.stack([np.bincount(index, values[:, k], count) for k in range(values.shape[1])], axis=1)
