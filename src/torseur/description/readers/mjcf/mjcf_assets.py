"""Meshes and colours that bodies refer to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from torseur.algebra.spatial import Transform, Vec3
from torseur.description.mechanism import HERE, Placement
from torseur.description.readers.attribute_numbers import choice, number_list, numbers
from torseur.description.readers.meshes.mesh import Mesh, weld
from torseur.description.readers.meshes.mesh_paths import MeshFolder
from torseur.description.readers.meshes.mujoco_mesh_inertia import MODES, convex_hull
from torseur.description.readers.mjcf.mjcf_defaults import Defaults
from torseur.description.readers.mjcf.mjcf_settings import Settings
from torseur.description.readers.rigid_placement import place_of, placement_of, turn_of_quaternion
from torseur.description.readers.robot_file import MeshFile
from torseur.description.readers.xml_document import Element, RobotFileError


@dataclass(frozen=True)
class MeshAsset:
    """A mesh of the model: where it is, its scale, how it gets an inertia, and its frame in the geom's."""

    mesh: MeshFile
    scale: tuple[float, ...]
    inertia: str
    at: Placement


@dataclass(frozen=True)
class Assets:
    """Meshes and colours by name."""

    meshes: dict[str, MeshAsset] = field(default_factory=dict)
    colours: dict[str, tuple[float, ...]] = field(default_factory=dict)


def read_assets(root: Element, settings: Settings, defaults: Defaults, folder: Path) -> Assets:
    """All meshes and materials of the model."""
    assets = Assets()
    meshes = MeshFolder(folder / settings.mesh_folder, {})
    for group in root.all("asset"):
        for element in group.all("mesh"):
            name, asset = _mesh(defaults.apply(element, None), settings, meshes, element.folder)
            assets.meshes[name] = asset
        for element in group.all("material"):
            material = defaults.apply(element, None)
            material_name, colour = material.text("name"), number_list(material, "rgba")
            if material_name and colour is not None and len(colour) == 4:
                assets.colours[material_name] = colour
    return assets


def _mesh(element: Element, settings: Settings, folder: MeshFolder, beside: Path | None) -> tuple[str, MeshAsset]:
    file = element.text("file")
    if file and settings.strip_paths:
        file = file.replace("\\", "/").rsplit("/", 1)[-1]
    name = element.text("name") or (Path(file).stem if file else "")
    if not name:
        raise element.fault('<mesh> needs file="..." or a name and vertices.')
    scale = numbers(element, "scale", 3, (1.0, 1.0, 1.0))
    mesh = folder.find(file, beside) if file else MeshFile(name, None, _inline_mesh(element))
    mode = choice(element, "inertia", tuple(MODES), "legacy")
    return name, MeshAsset(mesh, scale, mode, _reference(element, scale))


def _inline_mesh(element: Element) -> Mesh | None:
    """The mesh whose vertices stand in the model; without faces, their convex hull."""
    given = number_list(element, "vertex")
    if given is None or len(given) % 3 or len(given) < 12:
        return None
    vertices = np.array(given).reshape(-1, 3)
    faces = number_list(element, "face")
    if faces is None:
        try:
            return convex_hull(Mesh(vertices, np.empty((0, 3), dtype=np.int64)))
        except RobotFileError:
            return None
    index = np.array(faces).astype(np.int64)
    if len(index) % 3 or index.size == 0 or index.min() < 0 or index.max() >= len(vertices):
        raise element.fault("the faces of <mesh> are not triples of its vertices.")
    return weld(vertices[index.reshape(-1, 3)])


def _reference(element: Element, scale: tuple[float, ...]) -> Placement:
    """Where the frame of scaled vertices is: the reference frame is taken away before they are scaled.

    s (v - p) = s v - s p along each axis; a turn changes places with a scale only where that is the same along all.
    """
    position, quaternion = numbers(element, "refpos", 3, (0.0,) * 3), numbers(element, "refquat", 4, (1.0, 0, 0, 0))
    if not any(position) and not any(quaternion[1:]):
        return HERE
    if any(quaternion[1:]) and len(set(scale)) > 1:
        raise element.fault("a mesh with a turned reference frame and different scales along its axes is not read.")
    turns = turn_of_quaternion(quaternion)
    shift = Vec3(*(s * p for s, p in zip(scale, position, strict=True)))
    frame = Transform(place_of(Placement(rotation=turns)).rotation, shift)
    return placement_of(frame.inverse)
