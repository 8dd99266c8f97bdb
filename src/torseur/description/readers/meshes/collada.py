"""COLLADA meshes: the triangles of all geometries where the scene places them, in metres with z up."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from torseur.description.readers.meshes.mesh import Mesh, Points, weld
from torseur.description.readers.xml_document import Element, RobotFileError, parse_document

# Rows: the axes of the file that are x, y, z here.
_UPRIGHT = {"X_UP": ((0, -1, 0), (0, 0, 1), (1, 0, 0)), "Y_UP": ((1, 0, 0), (0, 0, -1), (0, 1, 0)), "Z_UP": np.eye(3)}
_FACES = ("triangles", "polylist", "polygons", "trifans", "tristrips")
MOST_PLACES = 10_000


def read_collada(content: bytes, name: str) -> Mesh:
    """The mesh that a COLLADA file shows."""
    root = parse_document(content, name)
    geometries = {g.text("id") or "": _corners(g) for g in _inside(root, "geometry")}
    places = [place for scene in _inside(root, "visual_scene") for place in _placed_geometries(scene)]
    shown = [
        geometries[key] @ matrix[:3, :3].T + matrix[:3, 3] for key, matrix in places if len(geometries.get(key, ()))
    ] or [corners for corners in geometries.values() if len(corners)]
    if not shown:
        raise RobotFileError(f"{name}: the file shows no triangles.")
    return weld(np.concatenate(shown) @ _to_metres(root).T)


def _inside(root: Element, tag: str) -> Iterator[Element]:
    return (element for element in root.walk() if element.tag == tag)


def _to_metres(root: Element) -> Points:
    asset = root.first("asset")
    unit = None if asset is None else asset.first("unit")
    up = None if asset is None else asset.first("up_axis")
    scale = float((unit.text("meter") if unit is not None else None) or 1.0)
    return scale * np.array(_UPRIGHT.get(up.content.strip() if up is not None else "", _UPRIGHT["Y_UP"]), dtype=float)


def _numbers(element: Element | None) -> Points:
    """The numbers in an element's text; a text that holds anything else is damaged."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(element.content if element is not None else "", sep=" ")
        except DeprecationWarning:
            raise ValueError("not a number") from None


def _corners(geometry: Element) -> Points:
    """The corners of a geometry's triangles, n x 3 x 3."""
    mesh = geometry.first("mesh")
    if mesh is None:
        return np.empty((0, 3, 3))
    sources = {f"#{s.text('id')}": _numbers(s.first("float_array")) for s in mesh.all("source")}
    for vertices in mesh.all("vertices"):
        for given in vertices.all("input"):
            if given.text("semantic") == "POSITION":
                sources[f"#{vertices.text('id')}"] = sources[given.text("source") or ""]
    parts = [_primitive(faces, sources) for faces in mesh.all(*_FACES)]
    return np.concatenate(parts) if parts else np.empty((0, 3, 3))


def _primitive(faces: Element, sources: dict[str, Points]) -> Points:
    inputs = faces.all("input")
    stride = 1 + max(int(i.text("offset") or 0) for i in inputs)
    vertex = next(i for i in inputs if i.text("semantic") == "VERTEX")
    points = sources[vertex.text("source") or ""].reshape(-1, 3)
    offset = int(vertex.text("offset") or 0)
    corners = [_triangles(faces, _numbers(p).astype(np.int64).reshape(-1, stride)[:, offset]) for p in faces.all("p")]
    return points[np.concatenate(corners)] if corners else np.empty((0, 3, 3))


def _triangles(faces: Element, index: NDArray[np.int64]) -> NDArray[np.int64]:
    """The triangles of one list of corners."""
    counts = _numbers(faces.first("vcount")).astype(np.int64)
    if faces.tag == "triangles" or (faces.tag == "polylist" and np.all(counts == 3)):
        return index.reshape(-1, 3)
    polygons = np.split(index, np.cumsum(counts)[:-1]) if faces.tag == "polylist" else [index]
    pieces = [piece for polygon in polygons for piece in _fans(faces.tag, polygon)]
    return np.array(pieces, dtype=np.int64).reshape(-1, 3)


def _fans(tag: str, polygon: NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """Triangles of a polygon, from its first corner; of a strip, along it."""
    corners = [int(k) for k in polygon]
    if tag == "tristrips":
        pieces = zip(corners, corners[1:], corners[2:], strict=False)
        return [(a, b, c) if k % 2 == 0 else (b, a, c) for k, (a, b, c) in enumerate(pieces)]
    return [(corners[0], b, c) for b, c in pairwise(corners[1:])]


def _placed_geometries(scene: Element) -> list[tuple[str, Points]]:
    """Geometries of a scene with the matrices that place them."""
    placed: list[tuple[str, Points]] = []
    waiting = [(scene, np.eye(4))]
    while waiting:
        node, outer = waiting.pop()
        matrix = outer @ _own_matrix(node)
        placed += [((i.text("url") or "").removeprefix("#"), matrix) for i in node.all("instance_geometry")]
        waiting += [(child, matrix) for child in node.all("node")]
        if len(placed) > MOST_PLACES:
            raise node.fault(f"the scene places more than {MOST_PLACES} geometries.")
    return placed


def _own_matrix(node: Element) -> Points:
    """The product of a node's transformations, in the order in which they are written."""
    matrix = np.eye(4)
    for child in node.children:
        step = np.eye(4)
        if child.tag == "matrix":
            step = _numbers(child).reshape(4, 4)
        elif child.tag == "translate":
            step[:3, 3] = _numbers(child)
        elif child.tag == "scale":
            step[:3, :3] = np.diag(_numbers(child))
        elif child.tag == "rotate":
            step[:3, :3] = _rotation(_numbers(child))
        matrix = matrix @ step
    return matrix


def _rotation(axis_and_degrees: Points) -> Points:
    x, y, z, degrees = axis_and_degrees
    length = math.hypot(x, y, z) or 1.0
    u = np.array([x, y, z]) / length
    angle = math.radians(degrees)
    skew = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    rotation: Points = math.cos(angle) * np.eye(3) + (1 - math.cos(angle)) * np.outer(u, u) + math.sin(angle) * skew
    return rotation
