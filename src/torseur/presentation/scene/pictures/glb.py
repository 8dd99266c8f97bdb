"""A scene with its motion as a binary glTF 2.0 file: bodies as nodes that move, springs as nodes that stretch."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from torseur.presentation.scene.bodies.body_poses import quaternions
from torseur.presentation.scene.element_curves import coil, sideways
from torseur.presentation.scene.orientation import rotation
from torseur.presentation.scene.pictures.poster import element_lines
from torseur.presentation.scene.pictures.rendering import THIN, colour_values
from torseur.presentation.scene.pictures.triangles import Surface, surface_of, wire
from torseur.presentation.scene.scene import Array, Element, Scene
from torseur.presentation.scene.scene_data import ELEMENT_COLOUR, scene_colours
from torseur.presentation.scene.shapes import Label

FLOAT, UNSIGNED = 5126, 5125  # component types of glTF
Rgba = tuple[float, float, float, float]


@dataclass
class _File:
    """Nodes, meshes and accessors of a file as they are added, with the bytes they stand for."""

    data: bytearray = field(default_factory=bytearray)
    views: list[dict[str, Any]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)
    meshes: list[dict[str, Any]] = field(default_factory=list)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    materials: dict[Rgba, int] = field(default_factory=dict)
    samplers: list[dict[str, Any]] = field(default_factory=list)
    channels: list[dict[str, Any]] = field(default_factory=list)

    def add_array(self, values: Any, kind: str, component: int, bounds: bool = False) -> int:
        """The number of the accessor of an array."""
        array = np.ascontiguousarray(values, dtype="<f4" if component == FLOAT else "<u4")
        self.data += bytes(-len(self.data) % 4)
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": array.nbytes})
        self.data += array.tobytes()
        entry: dict[str, Any] = {
            "bufferView": len(self.views) - 1, "componentType": component, "count": len(array), "type": kind,
        }  # fmt: skip
        if bounds:
            table = array.reshape(len(array), -1)
            entry |= {"min": table.min(axis=0).tolist(), "max": table.max(axis=0).tolist()}
        self.accessors.append(entry)
        return len(self.accessors) - 1

    def add_material(self, rgba: Rgba) -> int:
        return self.materials.setdefault(rgba, len(self.materials))

    def add_mesh(self, parts: list[tuple[Surface, Rgba]]) -> int:
        """A mesh whose triangles have corners of their own, so that faces are flat."""
        primitives = []
        for surface, rgba in parts:
            corners = surface.vertices[surface.triangles]
            normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            sizes = np.linalg.norm(normals, axis=1)
            corners, normals = corners[sizes > 0], normals[sizes > 0] / sizes[sizes > 0, None]
            if not len(corners):
                continue
            position = self.add_array(corners.reshape(-1, 3), "VEC3", FLOAT, bounds=True)
            normal = self.add_array(np.repeat(normals, 3, axis=0), "VEC3", FLOAT)
            attributes = {"POSITION": position, "NORMAL": normal}
            primitives.append({"attributes": attributes, "material": self.add_material(rgba)})
        self.meshes.append({"primitives": primitives})
        return len(self.meshes) - 1

    def add_node(self, name: str, mesh: int | None) -> int:
        self.nodes.append({"name": name} | ({} if mesh is None else {"mesh": mesh}))
        return len(self.nodes) - 1

    def move(self, node: int, times: int, **paths: Array) -> None:
        """Lets a node follow samples of translation, rotation (x, y, z, w) and scale."""
        for path, values in paths.items():
            self.nodes[node][path] = [float(x) for x in values[0]]
            if np.allclose(values, values[0], atol=1e-12):
                continue
            kind = "VEC4" if path == "rotation" else "VEC3"
            self.samplers.append({"input": times, "output": self.add_array(values, kind, FLOAT)})
            self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": path}})

    def bytes(self, root: int) -> bytes:
        content: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "torseur"}, "scene": 0, "scenes": [{"nodes": [root]}],
            "nodes": self.nodes, "meshes": self.meshes, "accessors": self.accessors, "bufferViews": self.views,
            "buffers": [{"byteLength": len(self.data)}], "materials": [_material(rgba) for rgba in self.materials],
        }  # fmt: skip
        if self.channels:
            content["animations"] = [{"name": "motion", "samplers": self.samplers, "channels": self.channels}]
        text = json.dumps(content, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        binary = bytes(self.data) + bytes(-len(self.data) % 4)
        total = 12 + 8 + len(text) + 8 + len(binary)
        head = struct.pack("<4sII", b"glTF", 2, total) + struct.pack("<I4s", len(text), b"JSON")
        return head + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary


def _material(rgba: Rgba) -> dict[str, Any]:
    # glTF has linear colours; those of pages are sRGB, whose gamma is near 2.2.
    linear = [*(round(c**2.2, 5) for c in rgba[:3]), rgba[3]]
    shine = {"baseColorFactor": linear, "metallicFactor": 0.1, "roughnessFactor": 0.6}
    material: dict[str, Any] = {"pbrMetallicRoughness": shine, "doubleSided": True}
    return material if rgba[3] == 1 else material | {"alphaMode": "BLEND"}


def glb_file(scene: Scene) -> bytes:
    """The scene with its motion. Texts are left out: glTF has none."""
    file = _File()
    motion = scene.motion
    colours = {name: colour_values(colour) for name, colour in scene_colours(scene.bodies).items()}
    thin = THIN * (float(np.linalg.norm(np.ptp(motion.positions.reshape(-1, 3), axis=0))) or 1.0)
    times = file.add_array(motion.times - motion.times[0], "SCALAR", FLOAT, bounds=True)
    children = []
    for number, body in enumerate(scene.bodies):
        shown = [(shape, surface_of(shape, thin)) for shape in body.shapes if not isinstance(shape, Label)]
        parts = [(s, _rgba(shape, colours[f"--body-{number}"])) for shape, s in shown if s is not None]
        node = file.add_node(body.name, file.add_mesh(parts) if parts else None)
        turns = _continuous(motion.quaternions[:, number])[:, [1, 2, 3, 0]]
        file.move(node, times, translation=motion.positions[:, number], rotation=turns)
        children.append(node)
    for one in scene.elements:
        children += _element_nodes(file, scene, one, times, colours[ELEMENT_COLOUR])
    root = file.add_node(scene.title, None)
    file.nodes[root] |= {"children": children, "rotation": _to_y(np.array(scene.view.up))}
    return file.bytes(root)


def _rgba(shape: Any, base: Array) -> Rgba:
    paint = shape.paint
    red, green, blue = paint.rgb if paint is not None else np.minimum(1.0, base * shape.shade).tolist()
    return red, green, blue, 1.0 if paint is None else 1 - paint.transparency


def _element_nodes(file: _File, scene: Scene, one: Element, times: int, grey: Array) -> list[int]:
    """A coil as one node that stretches; other elements as straight pieces that do."""
    motion = scene.motion
    ends = []
    for anchor in one.anchors:
        number = scene.index(anchor.body)
        turns = np.array([rotation(q) for q in motion.quaternions[:, number]])
        ends.append(motion.positions[:, number] + turns @ np.array(anchor.point))
    red, green, blue = grey.tolist() if one.paint is None else one.paint.rgb
    rgba = (red, green, blue, 1.0 if one.paint is None else 1 - one.paint.transparency)
    if one.kind == "coil":
        length = float(np.linalg.norm(ends[-1][0] - ends[0][0])) or 1.0
        helix = coil(np.zeros(3), np.array([0.0, 0.0, length]), one.radius, one.turns)
        mesh = file.add_mesh([(wire(helix, one.wire), rgba)])
        return [_stretch(file, one.label or "spring", mesh, ends[0], ends[-1], times, length)]
    lines = [element_lines(one, [end[k] for end in ends]) for k in range(len(motion.times))]
    nodes = []
    for strand, (first, radius) in enumerate(lines[0]):
        mesh = file.add_mesh([(wire(np.array([[0.0, 0, 0], [0, 0, 1.0]]), radius, 10), rgba)])
        for piece in range(len(first) - 1):
            starts = np.array([line[strand][0][piece] for line in lines])
            stops = np.array([line[strand][0][piece + 1] for line in lines])
            nodes.append(_stretch(file, one.label or one.kind, mesh, starts, stops, times, 1.0))
    return nodes


def _stretch(file: _File, name: str, mesh: int, starts: Array, stops: Array, times: int, length: float) -> int:
    """A node whose mesh, along z from 0 to `length`, lies between two points at every sample."""
    node = file.add_node(name, mesh)
    ways = stops - starts
    sizes = np.linalg.norm(ways, axis=1)
    axes = np.where(sizes[:, None] > 0, ways / np.maximum(sizes, 1e-300)[:, None], np.array([0.0, 0.0, 1.0]))
    across = np.array([sideways(axis) for axis in axes])
    frames = np.stack([across, np.cross(axes, across), axes], axis=2)
    turns = _continuous(quaternions(frames))[:, [1, 2, 3, 0]]
    scales = np.stack([np.ones(len(sizes)), np.ones(len(sizes)), np.maximum(sizes / length, 1e-6)], axis=1)
    file.move(node, times, translation=starts, rotation=turns, scale=scales)
    return node


def _continuous(turns: Array) -> Array:
    """Quaternions of the same rotations whose neighbours are near each other."""
    unit = turns / np.linalg.norm(turns, axis=1, keepdims=True)
    flips = np.cumsum(np.sum(unit[1:] * unit[:-1], axis=1) < 0) % 2 == 1
    return np.concatenate([unit[:1], unit[1:] * np.where(flips, -1.0, 1.0)[:, None]])


def _to_y(up: Array) -> list[float]:
    """The quaternion (x, y, z, w) of the shortest turn that takes `up` to y, which is up in glTF."""
    unit, y = up / np.linalg.norm(up), np.array([0.0, 1.0, 0.0])
    if unit @ y < -1 + 1e-9:
        return [1.0, 0.0, 0.0, 0.0]
    turn = np.array([*np.cross(unit, y), 1 + unit @ y])
    return [float(x) for x in turn / np.linalg.norm(turn)]
