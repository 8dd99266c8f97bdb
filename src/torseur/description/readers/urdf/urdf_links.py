"""Links of a URDF file: inertia, shapes, colours."""

from __future__ import annotations

from dataclasses import replace

from torseur.algebra.spatial import Symmetric3
from torseur.description.mechanism import HERE, Body, Placement, placement, turn
from torseur.description.readers.attribute_numbers import number, numbers
from torseur.description.readers.meshes.mesh_paths import MeshFolder
from torseur.description.readers.robot_assembly import Assembly
from torseur.description.readers.robot_file import Shape
from torseur.description.readers.shapes.shape_inertia import shapes_inertia
from torseur.description.readers.xml_document import Element, RobotFileError

# Places in URDF: an offset, then fixed-axis roll, pitch and yaw.
ORIGIN = (0.0, 0.0, 0.0)


def place(element: Element) -> Placement:
    """The <origin> of an element; here when it has none.

    Roll, pitch, yaw about fixed x, y, z are turns about z, then the turned y, then the turned x.
    """
    origin = element.first("origin")
    if origin is None:
        return HERE
    roll, pitch, yaw = numbers(origin, "rpy", 3, ORIGIN)
    steps = ((yaw, (0, 0, 1)), (pitch, (0, 1, 0)), (roll, (1, 0, 0)))
    return placement(numbers(origin, "xyz", 3, ORIGIN), *(turn(angle, axis) for angle, axis in steps if angle))


COMPONENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")


def read_links(root: Element, assembly: Assembly, folder: MeshFolder) -> dict[str, str]:
    """Adds a body per link; returns the bodies' names by the links' own."""
    materials = _materials(root)
    links: dict[str, str] = {}
    for link in root.all("link"):
        name = link.text("name")
        if not name:
            raise link.fault('<link> needs name="...".')
        if name in links:
            raise link.fault(f"two links are called '{name}'.")
        links[name] = assembly.body_names.keep(name)
        link.text("type")
        shapes = _shapes(link, links[name], materials, assembly, folder)
        _add_body(link, links[name], shapes, assembly)
        assembly.shapes += shapes
    if not links:
        raise root.fault("the robot has no <link>.")
    if "world" not in links and _hangs_on_world(root):
        links["world"] = assembly.body_names.keep("world")
        assembly.add_massless(links["world"], root)
        assembly.ledger.note_assumption(
            "joints hang on a link 'world' that is not described: it is the fixed world.", root
        )
    return links


def _hangs_on_world(root: Element) -> bool:
    """Whether a joint's parent is called "world", which some simulators understand without a link of that name."""
    parents = [parent for joint in root.children if joint.tag == "joint" for parent in joint.children]
    return any(
        parent.tag == "parent" and (link := parent.attributes.get("link")) is not None and link.value == "world"
        for parent in parents
    )


def _add_body(link: Element, name: str, shapes: list[Shape], assembly: Assembly) -> None:
    inertial = link.first("inertial")
    if inertial is not None:
        _add_inertial(inertial, name, assembly)
    elif assembly.options.density is not None and shapes:
        solid = [shape for shape in shapes if shape.role == "collision"] or shapes
        total = shapes_inertia(solid, assembly.options.density, link, assembly.ledger)
        if total is None:
            assembly.add_body(Body(name), link)
        else:
            assembly.add_inertial(name, *total, link)
    else:
        if shapes:
            words = f"link '{name}' has shapes but no <inertial>: it has no mass. A density (--density) gives it one."
            assembly.ledger.note_assumption(words, link)
        assembly.add_massless(name, link)


def _add_inertial(inertial: Element, name: str, assembly: Assembly) -> None:
    where = place(inertial)
    centre = tuple(float(c) for c in where.position)
    mass = inertial.first("mass")
    if mass is None:
        assembly.ledger.note_assumption(f"link '{name}' has an <inertial> without <mass>: its mass is zero.", inertial)
    value = 0.0 if mass is None else number(mass, "value")
    assembly.add_inertial(name, value, centre, where.rotation, _matrix(inertial, name, assembly), inertial)


def _matrix(inertial: Element, name: str, assembly: Assembly) -> Symmetric3:
    given = inertial.first("inertia")
    if given is None:
        assembly.ledger.note_assumption(f"link '{name}' has a mass but no <inertia>: it is a point.", inertial)
        return Symmetric3(0, 0, 0, 0, 0, 0)
    missing = [component for component in COMPONENTS if component not in given.attributes]
    if missing:
        assembly.ledger.note_assumption(f"link '{name}': {', '.join(missing)} of its inertia are zero.", given)
    return Symmetric3(*(number(given, component, 0.0) for component in COMPONENTS))


def _materials(root: Element) -> dict[str, tuple[float, ...] | None]:
    """Colours by the name of their material."""
    colours: dict[str, tuple[float, ...] | None] = {}
    for material in root.all("material"):
        name = material.text("name")
        if name:
            colours[name] = _colour(material)
    return colours


def _colour(material: Element) -> tuple[float, ...] | None:
    colour = material.first("color")
    try:
        return None if colour is None else numbers(colour, "rgba", 4)
    except RobotFileError:
        return None


def _shapes(link: Element, body: str, materials: dict[str, tuple[float, ...] | None], assembly: Assembly,
            folder: MeshFolder) -> list[Shape]:  # fmt: skip
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
            colour = _shape_colour(element, materials)
            shapes.append(replace(shape, colour=colour, touches=shape.role == "collision"))
    if any(shape.touches for shape in shapes) and assembly.options.ground is None:
        assembly.ledger.note_unmodelled("<collision>: shapes are kept, contact is not modelled.", link)
    return shapes


def _shape_colour(element: Element, materials: dict[str, tuple[float, ...] | None]) -> tuple[float, ...] | None:
    material = element.first("material")
    if material is None:
        return None
    own, name = _colour(material), material.text("name")
    if own is not None and name and name not in materials:
        materials[name] = own
    return own if own is not None else materials.get(name or "")


def _shape(element: Element, body: str, folder: MeshFolder) -> Shape | None:
    at = place(element)
    geometry = element.first("geometry")
    if geometry is None:
        return None
    for kind, attributes in _SIZES.items():
        given = geometry.first(kind)
        if given is not None:
            size = tuple(value for name, count in attributes for value in numbers(given, name, count))
            return Shape(body, kind, size, at, element.tag)
    mesh = geometry.first("mesh")
    if mesh is None:
        return None
    name = mesh.text("filename")
    if not name:
        raise mesh.fault('<mesh> needs filename="...".')
    return Shape(body, "mesh", numbers(mesh, "scale", 3, (1.0, 1.0, 1.0)), at, element.tag, mesh=folder.find(name))


_SIZES = {
    "box": (("size", 3),),
    "sphere": (("radius", 1),),
    "cylinder": (("radius", 1), ("length", 1)),
    "capsule": (("radius", 1), ("length", 1)),
}
