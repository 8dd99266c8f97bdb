"""Links of an SDF file: inertia, shapes, and the weight that some do not have."""

from __future__ import annotations

import math

from torseur.algebra.spatial import Symmetric3
from torseur.description.mechanism import EARTH_NAME, Frame, force
from torseur.description.readers.attribute_numbers import (
    content_number,
    content_numbers,
    content_switch,
    content_text,
)
from torseur.description.readers.meshes.mesh_paths import MeshFolder
from torseur.description.readers.rigid_placement import placement_of
from torseur.description.readers.robot_assembly import Assembly
from torseur.description.readers.robot_file import Shape
from torseur.description.readers.sdf.sdf_frames import WORLD, FrameGraph, pose_of, without_dust
from torseur.description.readers.sdf.sdf_models import Model
from torseur.description.readers.shapes.shape_inertia import Central, shapes_inertia
from torseur.description.readers.xml_document import Element, RobotFileError

COMPONENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
# What SDFormat gives a link that says nothing: one kilogram, and one kg m² about every axis.
DEFAULT_MASS, DEFAULT_MOMENT = 1.0, 1.0
WATER = 1000.0


def read_links(models: list[Model], graph: FrameGraph, assembly: Assembly) -> None:
    """Adds a body per link; the graph learns what each is called."""
    # The one model of a file is the robot: its name before every link's would say nothing.
    tops = {model.name.partition("::")[0] for model in models}
    for model in models:
        folder = MeshFolder(model.folder, assembly.options.packages)
        for link in model.parts("link"):
            full = f"{model.name}::{link.text('name')}"
            name = assembly.body_names.keep(full if len(tops) > 1 else full.partition("::")[2])
            graph.links[full] = name
            shapes = _shapes(link, name, assembly, folder)
            _add_body(link, name, shapes, assembly)
            assembly.shapes += shapes
    if not graph.links:
        raise RobotFileError("the file has no <link>.")


def body_frame(graph: FrameGraph, name: str) -> Frame:
    """A frame of the file on the body that carries it."""
    link = graph.link_of(name)
    body = EARTH_NAME if link == WORLD else graph.links[link]
    return Frame(body, placement_of(graph.pose(name, link)))


def lift_weightless(models: list[Model], graph: FrameGraph, gravity: tuple[float, ...], assembly: Assembly) -> None:
    """A force against the weight of each link that a file takes out of gravity."""
    masses = {body.name: body.mass for body in assembly.bodies}
    for model in models:
        for link in model.parts("link"):
            name = graph.links[f"{model.name}::{link.text('name')}"]
            mass = masses[name]
            if not content_switch(link, "gravity", True) and mass is not None and any(gravity):
                lift = [-g * mass for g in gravity]
                load = force(assembly.load_names.fresh(f"{name}.weightless"), Frame(name, base="iframe"), lift)
                assembly.loads.append(load)


def _add_body(link: Element, name: str, shapes: list[Shape], assembly: Assembly) -> None:
    inertial = link.first("inertial")
    if inertial is None:
        words = f"link '{name}' has no <inertial>: SDF gives it {DEFAULT_MASS:g} kg and {DEFAULT_MOMENT:g} kg m^2."
        assembly.ledger.note_assumption(words, link)
        one = Symmetric3(DEFAULT_MOMENT, DEFAULT_MOMENT, DEFAULT_MOMENT, 0.0, 0.0, 0.0)
        assembly.add_inertial(name, DEFAULT_MASS, (0.0, 0.0, 0.0), (), one, link)
        return
    if (inertial.text("auto") or "false").lower() in ("true", "1"):
        total = _from_shapes(link, inertial, shapes, assembly)
        if total is None:
            raise inertial.fault(f"link '{name}' takes its inertia from collision shapes, which are not known.")
        assembly.add_inertial(name, *total, inertial)
        return
    place, base = pose_of(inertial)
    if base:
        raise inertial.fault("the pose of <inertial> is given in its link; relative_to is not used here.")
    where = placement_of(without_dust(place))
    centre = tuple(float(c) for c in where.position)
    mass = content_number(inertial, "mass", DEFAULT_MASS)
    assembly.add_inertial(name, mass, centre, where.rotation, _matrix(inertial, name, assembly), inertial)


def _from_shapes(link: Element, inertial: Element, shapes: list[Shape], assembly: Assembly) -> Central | None:
    usual = content_number(inertial, "density", WATER)
    densities = {content_number(collision, "density", usual) for collision in link.all("collision")}
    solid = [shape for shape in shapes if shape.role == "collision"]
    if len(densities) != 1 or len(solid) != len(link.all("collision")):
        raise inertial.fault("an inertia from shapes of several densities, or of kinds that are not read, is not made.")
    return shapes_inertia(solid, densities.pop(), link, assembly.ledger)


def _matrix(inertial: Element, name: str, assembly: Assembly) -> Symmetric3:
    given = inertial.first("inertia")
    if given is None:
        words = f"link '{name}' has no <inertia>: SDF gives it {DEFAULT_MOMENT:g} kg m^2 about every axis."
        assembly.ledger.note_assumption(words, inertial)
        return Symmetric3(DEFAULT_MOMENT, DEFAULT_MOMENT, DEFAULT_MOMENT, 0.0, 0.0, 0.0)
    usual = (DEFAULT_MOMENT,) * 3 + (0.0,) * 3
    return Symmetric3(*(content_number(given, key, value) for key, value in zip(COMPONENTS, usual, strict=True)))


def _shapes(link: Element, body: str, assembly: Assembly, folder: MeshFolder) -> list[Shape]:
    """Shapes for pictures and for contact; one that cannot be read is listed, for nothing moves by it."""
    shapes = []
    for element in link.all("visual", "collision"):
        element.text("name")
        try:
            shape = _shape(element, body, folder)
        except RobotFileError as problem:
            assembly.ledger.note_unmodelled(f"a shape of link '{body}': {problem}", element)
            element.take()
            continue
        if shape is not None:
            shapes.append(shape)
    if any(shape.role == "collision" for shape in shapes):
        assembly.ledger.note_unmodelled("<collision>: shapes are kept, contact is not modelled.", link)
    return shapes


def _shape(element: Element, body: str, folder: MeshFolder) -> Shape | None:
    geometry = element.first("geometry")
    if geometry is None:
        return None
    at = placement_of(without_dust(pose_of(element)[0]))
    colour = _colour(element)
    for kind, sizes in _SIZES.items():
        given = geometry.first(kind)
        if given is not None:
            size = tuple(value for tag, count in sizes for value in content_numbers(given, tag, count))
            return Shape(body, kind, size, at, element.tag, colour, touches=element.tag == "collision")
    mesh = geometry.first("mesh")
    if mesh is not None:
        return _mesh(mesh, Shape(body, "mesh", (), at, element.tag, colour), folder)
    return None


def _mesh(mesh: Element, shape: Shape, folder: MeshFolder) -> Shape:
    name = content_text(mesh, "uri")
    if not name:
        raise mesh.fault("<mesh> needs <uri>.")
    scale = content_numbers(mesh, "scale", 3, (1.0, 1.0, 1.0))
    return Shape(shape.body, "mesh", scale, shape.at, shape.role, shape.colour, folder.find(name))


def _colour(element: Element) -> tuple[float, ...] | None:
    material = element.first("material")
    if material is None or not any(child.tag == "diffuse" for child in material.children):
        return None
    words = (content_text(material, "diffuse") or "").split()
    try:
        values = [float(word) for word in words]
    except ValueError:
        return None
    if len(values) not in (3, 4) or not all(math.isfinite(value) for value in values):
        return None
    return (*values, 1.0)[:4]


_SIZES = {
    "box": (("size", 3),),
    "sphere": (("radius", 1),),
    "cylinder": (("radius", 1), ("length", 1)),
    "capsule": (("radius", 1), ("length", 1)),
    "ellipsoid": (("radii", 3),),
}
