"""Names of robot files with options behind a question mark: what to read, and how.

`robot.urdf?base=floating&merge_fixed` stands for read_robot("robot.urdf", base="floating", merge_fixed=True).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from torseur.description.readers.read_robot import read_robot
from torseur.description.readers.robot_file import RobotFile
from torseur.description.readers.xml_document import RobotFileError
from torseur.edges.file_names import split_query
from torseur.errors import unknown_name


def open_robot(name: str | Path, **options: Any) -> RobotFile:
    """The robot that a name asks for, with further options."""
    path, query = split_query(str(name))
    asked = _arguments(path, query)
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
