"""URDF: the Unified Robot Description Format of ROS; xacro files are expanded before they come here."""

from __future__ import annotations

from torseur.description.mechanism import Frame
from torseur.description.readers.meshes.mesh_paths import MeshFolder
from torseur.description.readers.reading_ledger import Ledger
from torseur.description.readers.robot_assembly import Assembly, Options
from torseur.description.readers.robot_file import RobotFile
from torseur.description.readers.urdf.urdf_joints import read_joints
from torseur.description.readers.urdf.urdf_links import read_links
from torseur.description.readers.xml_document import Element

GRAVITY = (0, 0, -9.81)
# What it means for the mechanism that a part of the file is not modelled.
MEANINGS = {
    "gazebo": "settings of a simulator",
    "transmission": "gears between motors and joints; forces act on the joints directly",
    "ros2_control": "settings of controllers",
    "sensor": "sensors of the robot",
    "safety_controller": "limits kept by a controller",
    "calibration": "marks for calibrating the joint",
    "collision_checking": "contact is not modelled",
    "contact": "contact is not modelled",
    "self_collision_checking": "contact is not modelled",
    "verbose": "a setting of collision checking",
    "texture": "pictures go without textures",
    "loop_joint": "URDF describes trees; write loops in MJCF or in a description of this package",
    "mimic": "only a joint with one coordinate can follow another",
    "axis": "the joint has no axis",
    "limit": "the joint has no single coordinate to limit",
    "dynamics": "the joint has no single coordinate to damp",
    "inertial": "a link has one inertia; the first is used",
    "material": "colours are read where shapes use them",
    "hardwareInterface": "settings of controllers",
}


def read_urdf(root: Element, options: Options, folder: MeshFolder, source: str) -> RobotFile:
    """The robot that a <robot> element describes."""
    root.used = True
    for element in root.children:
        if element.tag == "include":
            raise element.fault(
                "<include> without xacro: before it is of an old xacro; write xacro:include, and so its other elements."
            )
    ledger = Ledger()
    assembly = Assembly(options, ledger)
    links = read_links(root, assembly, folder)
    assembly.ground(Frame(read_joints(root, links, assembly)))
    ledger.note_assumption(f"URDF gives no gravity: {-GRAVITY[2]} m/s^2 against the z axis.")
    name = root.text("name") or source
    root.text("version")
    ledger.unread(root, MEANINGS)
    return assembly.robot(name, GRAVITY, "urdf", source)


__all__ = ["GRAVITY", "read_urdf"]
