"""Geoms: shapes of bodies, and the inertia that comes from them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torseur.algebra.graph import as_expr
from torseur.algebra.spatial import NO_INERTIA, Inertia, Transform
from torseur.description.elements import Wrap
from torseur.description.mechanism import HERE, Frame, Placement, along, placement
from torseur.description.readers.attribute_numbers import choice, number, number_list, numbers
from torseur.description.readers.meshes.mujoco_mesh_inertia import MODES
from torseur.description.readers.mjcf.mjcf_assets import MeshAsset
from torseur.description.readers.mjcf.mjcf_places import place
from torseur.description.readers.mjcf.mjcf_scene import Scene
from torseur.description.readers.rigid_placement import place_of, placement_of
from torseur.description.readers.robot_file import Shape
from torseur.description.readers.shapes.shape_inertia import times, unit_inertia
from torseur.description.readers.xml_document import Element, RobotFileError
from torseur.errors import unknown_name

DENSITY = 1000.0
# How many sizes each type has, and with them given by two points.
_SIZES = {"plane": 3, "sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3, "mesh": 0}
_BETWEEN_POINTS = ("capsule", "cylinder", "ellipsoid", "box")
_SHOWN_GROUPS = 2
UNMODELLED = ("hfield", "sdf")


@dataclass(frozen=True)
class Geom:
    """A geom of a body: its shape, and its inertia in the body's frame (None: not known, for the reason given).

    One that does not count is in none of the groups from which the model takes inertias.
    """

    shape: Shape
    inertia: Inertia | None
    reason: str = ""
    counts: bool = True


def read_geom(element: Element, body: str, outer: Transform, scene: Scene) -> Geom | None:
    """The geom in a body's frame, `outer` being the frame it is written in; None when it has no shape here."""
    kind = (element.text("type") or "sphere").strip()
    name = element.text("name")
    if kind in UNMODELLED:
        has_mass = kind == "sdf" and scene.settings.inertia_from_geoms != "false"
        lost = ", and their mass is missing where the body says none" if has_mass else ""
        scene.assembly.ledger.note_unmodelled(f"geoms of type {kind}: they have no shape here{lost}.", element)
        element.take()
        return None
    if kind not in _SIZES:
        raise element.fault(unknown_name("geom type", kind, _SIZES))
    asset = _mesh(element, kind, scene)
    size, at = _long_shape(element, kind) if _has_ends(element, kind) else _centred_shape(element, kind, asset, scene)
    if outer.rotation.factors or any(outer.position):
        at = placement_of(outer.then(place_of(at)))
    mesh = asset.mesh if asset else None
    shape = Shape(body, kind, size, at, _role(element), _colour(element, scene), mesh, _touches(element, scene))
    if name and kind in ("sphere", "cylinder") and asset is None:  # tendons may pass over it
        scene.wraps[name] = Wrap(kind, Frame(body, at), as_expr(size[0]))
    return _with_inertia(element, shape, asset, scene)


def _mesh(element: Element, kind: str, scene: Scene) -> MeshAsset | None:
    name = element.text("mesh")
    if name is None:
        if kind == "mesh":
            raise element.fault('a geom of type mesh needs mesh="...".')
        return None
    if name not in scene.assets.meshes:
        raise element.fault(unknown_name("mesh", name, scene.assets.meshes))
    return scene.assets.meshes[name]


def _has_ends(element: Element, kind: str) -> bool:
    return "fromto" in element.attributes and kind in _BETWEEN_POINTS


def between_points(element: Element) -> tuple[Placement, float]:
    """The frame in the middle of two points, its z axis along them, and their distance."""
    ends = numbers(element, "fromto", 6)
    axis = [b - a for a, b in zip(ends[:3], ends[3:], strict=True)]
    length = math.hypot(*axis)
    if length == 0.0:
        raise element.fault("the two points of fromto coincide.")
    middle = [(a + b) / 2 for a, b in zip(ends[:3], ends[3:], strict=True)]
    return placement(middle, *along(axis).rotation), length


def _long_shape(element: Element, kind: str) -> tuple[tuple[float, ...], Placement]:
    at, length = between_points(element)
    radius = (number_list(element, "size") or (0.0,))[0]
    sizes = {"capsule": (radius, length), "cylinder": (radius, length), "ellipsoid": (radius, radius, length / 2)}
    size = sizes.get(kind, (2 * radius, 2 * radius, length))
    return size, at


def _centred_shape(
    element: Element, kind: str, asset: MeshAsset | None, scene: Scene
) -> tuple[tuple[float, ...], Placement]:
    at = place(element, scene.settings)
    if kind == "mesh":
        assert asset is not None
        return asset.scale, at if asset.at == HERE else placement_of(place_of(at).then(place_of(asset.at)))
    given = number_list(element, "size") or ()
    if asset is not None:
        return (0.0,) * _SIZES[kind], at
    if len(given) < _SIZES[kind]:
        if kind == "plane":
            return (0.0, 0.0), at
        raise element.fault(f"a {kind} needs {_SIZES[kind]} sizes, got {len(given)}.")
    full = {
        "capsule": (1, 2),
        "cylinder": (1, 2),
        "box": (2, 2, 2),
        "sphere": (1,),
        "ellipsoid": (1, 1, 1),
        "plane": (1, 1),
    }
    return tuple(factor * value for factor, value in zip(full[kind], given, strict=False)), at


def _role(element: Element) -> str:
    return "visual" if number(element, "group", 0.0) <= _SHOWN_GROUPS else "collision"


def _touches(element: Element, scene: Scene) -> bool:
    """Whether the geom collides with anything: read where contact with the ground is asked for, else listed."""
    if scene.assembly.options.ground is None or "contact" in scene.settings.disabled:
        return False
    return bool(number(element, "contype", 1.0) or number(element, "conaffinity", 1.0))


def _colour(element: Element, scene: Scene) -> tuple[float, ...] | None:
    own, material = number_list(element, "rgba"), element.text("material")
    return own if own is not None else scene.assets.colours.get(material or "")


def _with_inertia(element: Element, shape: Shape, asset: MeshAsset | None, scene: Scene) -> Geom:
    """The geom with its inertia, from its mass or its density."""
    low, high = scene.settings.inertia_groups
    density, mass = number(element, "density", DENSITY), number_list(element, "mass")
    if not low <= number(element, "group", 0.0) <= high or (mass == (0.0,) if mass else density == 0.0):
        return Geom(shape, NO_INERTIA, counts=low <= number(element, "group", 0.0) <= high)
    hollow = choice(element, "shellinertia", ("false", "true"), "false") == "true" and shape.kind != "mesh"
    if hollow or (asset is not None and shape.kind != "mesh"):
        return Geom(shape, None, "shells" if hollow else "shapes fitted to a mesh")
    try:
        unit = _unit(shape, asset)
    except RobotFileError as problem:
        return Geom(shape, None, str(problem).rstrip("."))
    if mass and not unit.mass > 0.0:
        return Geom(shape, None, f"a {shape.kind} without volume has a mass")
    weight = times(unit, mass[0] / unit.mass if mass else density)
    return Geom(shape, place_of(shape.at).inertia_to_parent(weight))


def _unit(shape: Shape, asset: MeshAsset | None) -> Inertia:
    if asset is None:
        return unit_inertia(shape)
    return MODES[asset.inertia](asset.mesh.read().scaled(asset.scale))
