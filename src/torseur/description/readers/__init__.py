"""Robot files to and from mechanisms: URDF and MJCF."""

from __future__ import annotations

from torseur.description.readers.read_robot import open_robot, read_robot
from torseur.description.readers.robot_file import Control, Finding, Limit, MeshFile, RobotFile, Shape, summary
from torseur.description.readers.writing import write_robot
from torseur.description.readers.xml_document import RobotFileError

__all__ = [
    "Control",
    "Finding",
    "Limit",
    "MeshFile",
    "RobotFile",
    "RobotFileError",
    "Shape",
    "open_robot",
    "read_robot",
    "summary",
    "write_robot",
]
