"""Writing a robot file, by its suffix."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from torseur.description.mechanism import Mechanism
from torseur.description.readers.mjcf.writing.write_mjcf import mjcf_text
from torseur.description.readers.robot_file import Finding, RobotFile, Shape
from torseur.description.readers.urdf.write_urdf import urdf_text
from torseur.description.readers.writing.file_outline import LeftOut
from torseur.description.readers.xml_document import RobotFileError

_FORMATS = {".urdf": ("URDF", urdf_text), ".xml": ("MJCF", mjcf_text), ".mjcf": ("MJCF", mjcf_text)}


def write_robot(robot: Mechanism | RobotFile, path: str | Path, *, partial: bool = False) -> tuple[Finding, ...]:
    """Writes a mechanism, or a robot with its shapes and limits, as URDF (.urdf) or MJCF (.xml, .mjcf).

    Returns what was left out. What would change the motion is left out only when `partial`; otherwise it is an error.
    """
    file = Path(path)
    text, left = robot_text(robot, file, partial)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise RobotFileError(f"{file}: cannot be written: {problem.strerror}.") from None
    return left


def _without_rotors(robot: RobotFile) -> RobotFile:
    """The robot without the wheels that stand for armatures, which MJCF says as numbers of joints."""
    mechanism = robot.mechanism
    joints = tuple(j for j in mechanism.joints if j.child.body not in robot.rotors)
    bodies = tuple(b for b in mechanism.bodies if b.name not in robot.rotors)
    return replace(robot, mechanism=replace(mechanism, bodies=bodies, joints=joints)) if robot.rotors else robot


def robot_text(robot: Mechanism | RobotFile, file: Path, partial: bool = False) -> tuple[str, tuple[Finding, ...]]:
    """The text of a robot file, in the format that its suffix stands for, and what was left out."""
    suffix = file.suffix.lower()
    if suffix not in _FORMATS:
        raise RobotFileError(f"a robot file ends in {', '.join(_FORMATS)}, not '{suffix}'.")
    name, writer = _FORMATS[suffix]
    given = RobotFile(robot, name.lower(), robot.name) if isinstance(robot, Mechanism) else robot
    left = LeftOut(name)
    if suffix == ".urdf":
        for joint, _ in given.armatures:
            left.add(f"the armature of joint '{joint}'")
    text = writer(_with_meshes_from(_without_rotors(given), file), left)
    if not partial:
        left.require_nothing()
    return text, left.findings


def _with_meshes_from(robot: RobotFile, file: Path) -> RobotFile:
    """The robot with meshes by the paths from the file; those of packages, which only URDF knows, keep their names."""
    keeps = ("package://",) if file.suffix.lower() == ".urdf" else ()
    return replace(robot, shapes=tuple(_with_mesh_from(shape, file, keeps) for shape in robot.shapes))


def _with_mesh_from(shape: Shape, file: Path, keeps: tuple[str, ...]) -> Shape:
    mesh = shape.mesh
    if mesh is None or mesh.path is None or mesh.name.startswith(keeps):
        return shape
    name = Path(os.path.relpath(mesh.path.resolve(), file.resolve().parent)).as_posix()
    return replace(shape, mesh=replace(mesh, name=name))
