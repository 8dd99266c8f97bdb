"""A mechanism by the name of its file, whatever the file is."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from torseur.description import language
from torseur.description.library import catalogue
from torseur.description.mechanism import Mechanism
from torseur.edges.file_names import is_robot
from torseur.errors import MechanismError


def load(path: str | Path, **options: Any) -> Mechanism:
    """The mechanism that a description, a robot file or a name of the library (`library:...`) gives.

    Robot files are URDF, xacro, SDF and MJCF. What a robot file says and the mechanism does not is a warning;
    `read_robot` gives it as findings, and says what options there are: ts.load("arm.urdf", base="floating",
    locked={"gripper": 0.02}), or ts.load("arm.urdf?base=floating&locked=gripper:0.02") as in commands.
    """
    if options and not is_robot(str(path)):
        raise MechanismError(f"'{path}' is not a robot file: {', '.join(options)} are options of robot files.")
    if str(path).startswith(catalogue.PREFIX):
        return catalogue.load(str(path).removeprefix(catalogue.PREFIX))
    if not is_robot(str(path)):
        return language.load(path)
    from torseur.description.readers import open_robot, summary

    robot = open_robot(path, **options)
    for line in summary(robot.findings):
        warnings.warn(line, stacklevel=3)  # the caller, beyond what explains arguments
    return robot.mechanism
