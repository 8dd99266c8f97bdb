"""OpenSim models: bodies, joints, coordinates, constraints, markers, and muscles as lines."""

from __future__ import annotations

import re

from torseur.algebra.spatial import Symmetric3
from torseur.description.mechanism import EARTH, Turn
from torseur.description.readers.attribute_numbers import content_number, content_numbers
from torseur.description.readers.osim.osim_constraints import read_constraints
from torseur.description.readers.osim.osim_frames import Frames, objects
from torseur.description.readers.osim.osim_joints import JOINTS, read_joint
from torseur.description.readers.osim.osim_muscles import read_lines
from torseur.description.readers.osim.osim_scene import Scene
from torseur.description.readers.reading_ledger import Ledger
from torseur.description.readers.robot_assembly import AS_WRITTEN, FLOATING, Assembly, Options
from torseur.description.readers.robot_file import MISSING_MESH, RobotFile
from torseur.description.readers.transformations.rearrangement import float_base, hold_base
from torseur.description.readers.xml_document import Element

EARTH_GRAVITY = (0.0, -9.80665, 0.0)  # what OpenSim gives a model that says nothing
OLDEST = 10900  # version of a file: before, joints had no <SpatialTransform>
# What it means for the mechanism that a part of the file is not modelled.
MEANINGS = {
    "ControllerSet": "controllers are not run",
    "ProbeSet": "probes measure nothing here",
    "ContactGeometrySet": "contact is not modelled",
    "ComponentSet": "other components are not read",
    "ModelVisualPreferences": "settings of a viewer",
    "Appearance": "settings of a viewer",
}
_PICTURES = ("attached_geometry", "VisibleObject", "FrameGeometry", "WrapObjectSet", "geometry_files")


def read_osim(root: Element, options: Options, source: str) -> RobotFile:
    """The model that an <OpenSimDocument> describes."""
    root.used = True
    _check_version(root)
    model = root.first("Model")
    if model is None:
        raise root.fault("the file has no <Model>.")
    assembly = Assembly(options, Ledger())
    scene = Scene(assembly, Frames(model))
    name = model.text("name") or "model"
    joints = _read_bodies(model, scene)
    for element in joints:
        read_joint(element, scene)
    _hold_the_rest(model, scene)
    read_constraints(model, scene)
    _read_markers(model, scene)
    read_lines(model, scene)
    if options.base != AS_WRITTEN:
        (float_base if options.base == FLOATING else hold_base)(assembly)
    for element in model.children:
        # Sets that hold nothing are in every file.
        if element.tag.endswith("Set") and not element.used and not any(one.children for one in element.children):
            element.take()
    for tag in ("credits", "publications", "length_units", "force_units", "assembly_accuracy", "defaults"):
        for element in model.all(tag):
            element.take()
    gravity = content_numbers(model, "gravity", 3, EARTH_GRAVITY)
    assembly.ledger.unread(root, MEANINGS)
    return assembly.robot(name, gravity, "osim", source)


def _check_version(root: Element) -> None:
    text = root.text("Version") or ""
    if not re.fullmatch(r"[0-9]{5,6}", text, re.ASCII):
        raise root.fault(f'Version="{text[:20]}" is not a version of an OpenSim file, such as 30000 or 40000.')
    if int(text) < OLDEST:
        raise root.fault(
            f"the file is of an early OpenSim (Version={text}), whose joints are written otherwise. Open it with "
            "OpenSim 3 or 4 and save it again."
        )


def _read_bodies(model: Element, scene: Scene) -> list[Element]:
    """Adds the bodies; answers the joints, which stand beside them or, in files of OpenSim 3, in them."""
    joints = [joint for joint in objects(model, "JointSet") if joint.tag in JOINTS or joint.tag.endswith("Joint")]
    for element in objects(model, "BodySet"):
        if element.tag != "Body":
            continue
        inner = element.first("Joint")
        own = [] if inner is None else inner.all(*[child.tag for child in inner.children])
        scene.bodies_of_joints |= {id(joint): element.text("name") or "" for joint in own}
        joints += own
        _take_pictures(element, scene)
        if scene.frames.is_ground(element):
            element.take()
            continue
        _add_body(element, scene)
    ground = model.first("Ground")
    if ground is not None:
        ground.take()
    for joint in joints:
        joint.used = True
    return joints


def _add_body(element: Element, scene: Scene) -> None:
    given = element.text("name")
    if not given:
        raise element.fault('<Body> needs name="...".')
    name = scene.assembly.body_names.keep(given)
    scene.frames.name_body(element, given, name)
    mass = content_number(element, "mass", 0.0)
    centre = content_numbers(element, "mass_center", 3, (0.0, 0.0, 0.0))
    if element.first("inertia") is not None:
        xx, yy, zz, xy, xz, yz = content_numbers(element, "inertia", 6)
    else:
        xx, yy, zz, xy, xz, yz = (content_number(element, f"inertia_{k}", 0.0)
                                  for k in ("xx", "yy", "zz", "xy", "xz", "yz"))  # fmt: skip
    nothing = mass == 0.0 and not any((xx, yy, zz, xy, xz, yz))
    if nothing:
        scene.assembly.add_massless(name, element)
        return
    axes: tuple[Turn, ...] = ()
    scene.assembly.add_inertial(name, mass, centre, axes, Symmetric3(xx, yy, zz, xy, xz, yz), element)


def _take_pictures(element: Element, scene: Scene) -> None:
    """Meshes are VTK files, which are not read; surfaces for muscles to pass over are not modelled."""
    for tag in _PICTURES:
        for part in element.all(tag):
            named = any(child.tag in ("Mesh", "mesh_file", "GeometrySet") for child in part.walk())
            shown = named or part.content.strip()
            if tag != "WrapObjectSet" and shown:
                message = "pictures of bones are VTK files, which are not read; bodies are drawn by their joints."
                scene.assembly.ledger.note(MISSING_MESH, message, part)
            part.take()


def _hold_the_rest(model: Element, scene: Scene) -> None:
    """A body that no joint holds is free in OpenSim, as a body without a joint is there."""
    joined = {side.body for joint in scene.assembly.joints for side in (joint.parent, joint.child)}
    for body in scene.assembly.bodies:
        if body.name not in joined:
            scene.assembly.ledger.note_assumption(f"no joint holds body '{body.name}': it moves freely.", model)
            name = scene.assembly.joint_names.fresh(f"{body.name}_free")
            scene.assembly.joints.append(scene.assembly.free_joint(name, EARTH, body.frame))


def _read_markers(model: Element, scene: Scene) -> None:
    """Markers are named frames, as everywhere in the package."""
    for element in objects(model, "MarkerSet"):
        if element.tag != "Marker":
            continue
        given = element.text("name") or "marker"
        frame = scene.frames.of_socket(element, ("socket_parent_frame", "socket_parent_frame_name", "body"))
        place = scene.frames.at(frame, content_numbers(element, "location", 3))
        scene.assembly.frames[scene.assembly.body_names.keep(given, "frame")] = place
        element.take()


__all__ = ["read_osim"]
