"""Robot files to and from mechanisms: URDF and MJCF."""

from __future__ import annotations

from torseur.readers.errors import RobotFileError
from torseur.readers.read import read_robot
from torseur.readers.robot_file import Control, Finding, Limit, MeshFile, RobotFile, Shape, summary
from torseur.readers.writing import write_robot

__all__ = [
    "Control",
    "Finding",
    "Limit",
    "MeshFile",
    "RobotFile",
    "RobotFileError",
    "Shape",
    "read_robot",
    "summary",
    "write_robot",
]
