"""Mesh files: STL (binary and text), OBJ, MuJoCo's MSH, COLLADA (a file of its own), and by trimesh PLY, OFF and glTF.

Robot files name the first four almost always, so these need no extra: docs/decisions/0059-hand-made-or-library.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np

from torseur.description.readers.meshes.mesh import Mesh, weld
from torseur.description.readers.xml_document import RobotFileError
from torseur.edges.budgets import bounded_bytes
from torseur.extras import install_command

LARGEST_FILE = 128 * 2**20
_HEADER, _RECORD = 84, 50


def read_mesh(path: str | Path) -> Mesh:
    """The mesh in a file, by its suffix; m where the format says no unit, z up where it says what is up."""
    file = Path(path)
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise RobotFileError(f"{file.name}: a mesh is read from {', '.join(_READERS)}, not '{file.suffix}'.")
    try:
        mesh = reader(_content(file), file.name)
    except (ValueError, LookupError, OverflowError, MemoryError, StopIteration):
        raise RobotFileError(f"{file.name}: the mesh is damaged.") from None
    if not len(mesh.triangles):
        raise RobotFileError(f"{file.name}: the mesh has no triangles.")
    if not np.all(np.isfinite(mesh.vertices)):
        raise RobotFileError(f"{file.name}: the mesh has vertices that are not finite.")
    return mesh


def _content(file: Path) -> bytes:
    try:
        size = file.stat().st_size
        if size > LARGEST_FILE:
            raise RobotFileError(f"{file.name}: the mesh has {size} bytes; the limit is {LARGEST_FILE}.")
        return bounded_bytes(file, LARGEST_FILE)
    except OSError as problem:
        raise RobotFileError(f"{file.name}: cannot be read: {problem.strerror}.") from None


def _read_stl(content: bytes, name: str) -> Mesh:
    """Binary when the length fits its count of triangles, otherwise text."""
    count = int.from_bytes(content[80:84], "little") if len(content) >= _HEADER else -1
    if len(content) == _HEADER + _RECORD * count:
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        return weld(np.frombuffer(content, record, count, _HEADER)["corners"].astype(float))
    if not content.lstrip().startswith(b"solid"):
        raise RobotFileError(f"{name}: this is neither a binary nor a text STL.")
    numbers = [line.split()[1:4] for line in content.splitlines() if line.lstrip().startswith(b"vertex")]
    return weld(np.array(numbers, dtype=float).reshape(-1, 3, 3))


def _read_obj(content: bytes, name: str) -> Mesh:
    """Vertices and faces; those with more corners are cut into triangles, four corners along the shorter diagonal.

    So do the readers of MuJoCo and many others: where four corners are in no plane the cut decides the volume.
    """
    vertices: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for line in content.splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == b"v":
            vertices.append([float(word) for word in words[1:4]])
        elif words[0] == b"f":
            corners = [_index(word, len(vertices)) for word in words[1:]]
            if len(corners) == 4 and _is_second_diagonal_shorter(*(vertices[k] for k in corners)):
                corners = [*corners[1:], corners[0]]
            triangles += [(corners[0], b, c) for b, c in pairwise(corners[1:])]
    corners_of = np.array(vertices, dtype=float).reshape(-1, 3)[np.array(triangles, dtype=np.int64).reshape(-1, 3)]
    return weld(corners_of)


def _is_second_diagonal_shorter(a: list[float], b: list[float], c: list[float], d: list[float]) -> bool:
    return math.dist(b, d) <= math.dist(a, c)


def _index(word: bytes, count: int) -> int:
    """The vertex of a corner written v, v/t or v/t/n; negative ones count from the end."""
    given = int(word.split(b"/")[0])
    index = given - 1 if given > 0 else count + given
    if not 0 <= index < count:
        raise IndexError(given)
    return index


def _read_msh(content: bytes, name: str) -> Mesh:
    """MuJoCo's own binary format; without faces, the convex hull of the vertices."""
    counts = np.frombuffer(content, "<i4", 4)
    vertices, normals, textures, faces = (int(count) for count in counts)
    if min(counts) < 0 or len(content) != 16 + 12 * (vertices + normals + faces) + 8 * textures:
        raise RobotFileError(f"{name}: this is not a MuJoCo mesh.")
    points = np.frombuffer(content, "<f4", 3 * vertices, 16).reshape(-1, 3).astype(float)
    start = 16 + 12 * (vertices + normals) + 8 * textures
    index = np.frombuffer(content, "<i4", 3 * faces, start).reshape(-1, 3).astype(np.int64)
    if not faces:
        from torseur.description.readers.meshes.mujoco_mesh_inertia import convex_hull

        return convex_hull(Mesh(points, index))
    if index.min() < 0:
        raise IndexError(index.min())
    return weld(points[index])


def _read_collada(content: bytes, name: str) -> Mesh:
    from torseur.description.readers.meshes.collada import read_collada

    return read_collada(content, name)


def _read_by_trimesh(content: bytes, name: str) -> Mesh:
    """All geometries of a file where its scene places them."""
    try:
        import trimesh
    except ImportError:
        raise RobotFileError(f"{name}: such a mesh is read with trimesh: {install_command('meshes')}.") from None
    suffix = Path(name).suffix.lower()
    try:
        scene = trimesh.load_scene(BytesIO(content), file_type=suffix[1:])
        mesh = scene.to_mesh()
    except Exception as problem:  # a reader of many formats raises whatever its parts raise
        raise ValueError(name) from problem
    corners = np.asarray(mesh.vertices, dtype=float)[np.asarray(mesh.faces, dtype=np.int64)]
    # glTF has y up: x stays, what was y is z.
    return weld(corners[..., [0, 2, 1]] * [1.0, -1.0, 1.0] if suffix in (".glb", ".gltf") else corners)


_READERS: dict[str, Callable[[bytes, str], Mesh]] = {
    ".stl": _read_stl,
    ".obj": _read_obj,
    ".msh": _read_msh,
    ".dae": _read_collada,
    ".ply": _read_by_trimesh,
    ".off": _read_by_trimesh,
    ".glb": _read_by_trimesh,
    ".gltf": _read_by_trimesh,
}
