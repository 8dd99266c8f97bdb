"""Reading a robot file, whatever its format; options of reading may stand behind a question mark in its name.

`robot.urdf?base=floating&merge_fixed` stands for read_robot("robot.urdf", base="floating", merge_fixed=True).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from torseur.description.readers.meshes.mesh_paths import MeshFolder
from torseur.description.readers.robot_assembly import AS_WRITTEN, Options
from torseur.description.readers.robot_file import RobotFile
from torseur.description.readers.transformations.named_numbers import name_numbers
from torseur.description.readers.transformations.rearrangement import merge_fixed
from torseur.description.readers.urdf.xacro_expansion import expand_xacro, is_xacro
from torseur.description.readers.xml_document import Element, RobotFileError, parse_document, read_document
from torseur.edges.file_names import split_query
from torseur.errors import MechanismError, unknown_name


def read_robot(path: str | Path, *, strict: bool = False, base: str = AS_WRITTEN, merge_fixed: bool = False,
               density: float | None = None, friction_speed: float = 0.01,
               packages: Mapping[str, str | Path] | None = None, keyframe: str | None = None,
               mimic: bool = True, locked: Mapping[str, float] | None = None, armature: bool = True,
               damping: bool = True, friction: bool = True, partial: bool = False, stops: float | None = None,
               sticking: bool = False, ground: float | None = None, touching: Sequence[str] = (),
               arguments: Mapping[str, str] | None = None,
               symbolic: str = "") -> RobotFile:  # fmt: skip
    """The robot that a URDF, xacro, SDF or MJCF file describes; the root element tells which it is.

    strict          refuses inertias that no distribution of mass has (otherwise they are findings)
    base            "file": as written (URDF: fixed); "fixed" or "floating": the base is held, or moves freely
    merge_fixed     bodies on fixed joints become part of the body that carries them, and frames of their names
    density         kg/m³ of the shapes of links for which a URDF file gives no inertia; without it they have no mass
    friction_speed  speed (rad/s, m/s) below which dry friction fades: -f tanh(q'/friction_speed); 0: -f sign(q')
    packages        folders of packages, for meshes named package://NAME/...
    keyframe        name or number of the MJCF keyframe that gives the initial state
    mimic           joints that a file ties to another follow it; False: they move by themselves
    locked          {"joint": value in rad or m}: joints held there, which leave the model
    partial         reads a file of which bodies are missing here (composites, flexible parts, models elsewhere)
    stops           restitution of rigid stops at the limits of joints; None: limits are kept, and nothing stops there
    sticking        dry friction sticks and slides, instead of fading below friction_speed
    ground          friction of the ground, which shapes for contact then touch: the planes of the file, or z = 0
    touching        the bodies that touch it; all that have such shapes, where none is named
    symbolic        "inertia,geometry": masses, centres, inertias; lengths and angles; and gravity are parameters, with
                    the file's numbers as their values
    arguments       {"name": "value"} of what a xacro file calls arg
    armature, damping, friction   False leaves out the inertia of rotors, dampers, or dry friction
    """
    options = Options(strict, base, merge_fixed, density, friction_speed, dict(packages or {}), keyframe, mimic,
                      dict(locked or {}), armature, damping, friction, partial, stops, sticking, ground,
                      tuple(touching))  # fmt: skip
    file = Path(path)
    root = read_document(file)
    if is_xacro(root, file):
        root = parse_document(expand_xacro(file, options.packages, arguments or {}), file.name)
    elif arguments:
        raise RobotFileError(f"{file.name}: arguments are given to xacro files, which this is not.")
    return name_numbers(robot_of(root, options, file), symbolic)


_ONLY_IN = {"keyframe": ("mujoco", "an MJCF file"), "density": ("robot", "a URDF file")}


def _require_meaning(root: Element, options: Options, file: Path) -> None:
    """Options that only one format has are given to files of that format alone."""
    for name, (tag, kind) in _ONLY_IN.items():
        if getattr(options, name) is not None and root.tag != tag:
            raise RobotFileError(f"{file.name}: {name} is an option of {kind}, which this is not.")


def robot_of(root: Element, options: Options, file: Path) -> RobotFile:
    """The robot that a root element describes."""
    _require_meaning(root, options, file)
    folder = MeshFolder(file.parent, options.packages)
    try:
        if root.tag == "robot":
            from torseur.description.readers.urdf import read_urdf

            robot = read_urdf(root, options, folder, file.name)
        elif root.tag == "sdf":
            from torseur.description.readers.sdf import read_sdf

            robot = read_sdf(root, options, file.parent, file.name)
        elif root.tag == "mujoco":
            from torseur.description.readers.mjcf import read_mjcf

            robot = read_mjcf(root, options, file.parent, file.name)
        elif root.tag == "OpenSimDocument":
            from torseur.description.readers.osim import read_osim

            robot = read_osim(root, options, file.name)
        else:
            expected = "<robot> (URDF), <sdf> (SDF), <mujoco> (MJCF) or <OpenSimDocument> (OpenSim)"
            raise root.fault(f"the root element is <{root.tag}>; expected {expected}.")
    except RobotFileError:
        raise
    except MechanismError as problem:
        raise RobotFileError(f"{file.name}: {problem}") from None
    return merge_fixed(robot) if options.merge_fixed else robot


def open_robot(name: str | Path, **options: Any) -> RobotFile:
    """The robot that a name asks for, with further options."""
    path, query = split_query(str(name))
    asked = _arguments(path, query)
    known = [option for option in signature(read_robot).parameters if option != "path"]
    for option in options.keys() - set(known):
        raise RobotFileError(unknown_name("option of a robot file", option, known, f"{path}: "))
    twice = sorted(asked.keys() & options.keys())
    if twice:
        raise RobotFileError(f"{path}: {', '.join(twice)}: given in the name of the file and beside it.")
    return read_robot(path, **asked, **options)


def _arguments(path: str, query: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for part in query.split("&") if query else []:
        word, _, text = part.partition("=")
        if word not in _READ:
            raise RobotFileError(unknown_name("option of a robot file", word, _READ, f"{path}: "))
        try:
            arguments[word] = _READ[word](text)
        except ValueError:
            raise RobotFileError(f"{path}: {word}={text}: expected {_EXPECTED[_READ[word]]}.") from None
    return arguments


def _switch(text: str) -> bool:
    if text not in ("", "true", "false"):
        raise ValueError
    return text != "false"


def _values(text: str) -> dict[str, float]:
    """knee:0.5,hip:0."""
    pairs = [part.rpartition(":") for part in text.split(",") if part]
    if not pairs or any(not name for name, _, _ in pairs):
        raise ValueError
    return {name: float(value) for name, _, value in pairs}


def _words(text: str) -> dict[str, str]:
    """tool:gripper,length:0.4."""
    pairs = [part.partition(":") for part in text.split(",") if part]
    if not pairs or any(not name or not sign for name, sign, _ in pairs):
        raise ValueError
    return {name: value for name, _, value in pairs}


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


_READ: dict[str, Callable[[str], Any]] = {
    "strict": _switch,
    "base": str,
    "merge_fixed": _switch,
    "density": float,
    "friction_speed": float,
    "keyframe": str,
    "mimic": _switch,
    "locked": _values,
    "armature": _switch,
    "damping": _switch,
    "friction": _switch,
    "partial": _switch,
    "stops": float,
    "sticking": _switch,
    "ground": float,
    "touching": _list,
    "arguments": _words,
    "packages": _words,
    "symbolic": str,
}
_EXPECTED = {
    _switch: "true or false",
    float: "a number",
    str: "a word",
    _list: "names, such as left_foot,right_foot",
    _words: "names with values, such as tool:gripper,length:0.4",
    _values: "joints with values (rad, m), such as knee:0.5,hip:0",
}
