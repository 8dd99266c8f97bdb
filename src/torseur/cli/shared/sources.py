"""Where a mechanism comes from: a description, a robot file, standard input, or the library."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from torseur.cli.shared.exits import CommandError
from torseur.cli.shared.robot_options import open_robot
from torseur.description.library import PREFIX
from torseur.description.mechanism import Mechanism
from torseur.edges.budgets import bounded_stream, bounded_text
from torseur.edges.file_names import is_robot, split_query

if TYPE_CHECKING:
    from torseur.description.readers import RobotFile

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Source:
    """A mechanism, the text it was read from, what the user called it, and its robot file if it comes from one."""

    name: str
    text: str
    mechanism: Mechanism
    robot: RobotFile | None = None

    def with_mechanism(self, mechanism: Mechanism) -> Source:
        return replace(self, mechanism=mechanism)


def open_source(name: str) -> Source:
    """The mechanism a FILE argument names."""
    if name.startswith(PREFIX):
        return _from_library(name)
    if name == STANDARD_INPUT:
        return _from_standard_input()
    path = Path(split_query(name)[0]) if is_robot(name) else Path(name)
    _require_readable(path)
    if is_robot(name):
        return _from_robot_file(name, path)
    from torseur.description.language import load

    # Replaced and not refused here: `load` says where the text is no UTF-8, in better words.
    mechanism = load(path)
    return Source(name, bounded_text(path, errors="replace"), mechanism)


def _from_robot_file(name: str, path: Path) -> Source:
    """The robot of a URDF or MJCF file; what the file says and the mechanism does not goes to stderr."""
    from torseur.cli.shared.console import remark
    from torseur.description.readers import summary

    robot = open_robot(name)
    for line in summary(robot.findings):
        remark(f"note: {line}")
    return Source(name, bounded_text(path, errors="replace"), robot.mechanism, robot)


def _from_library(name: str) -> Source:
    from torseur.description import library

    return Source(name, library.source_of(name), library.load(name))


def _from_standard_input() -> Source:
    from torseur.description.language import parse

    text = bounded_stream(sys.stdin.buffer, "standard input").decode("utf-8", errors="replace")
    return Source("<stdin>", text, parse(text, "<stdin>"))


def _require_readable(path: Path) -> None:
    if path.is_dir():
        raise CommandError(f"'{path}' is a folder; a description is a file, such as {path}/arm.lsd.")
    if not path.exists():
        raise CommandError(f"there is no file '{path}'.{_nearby(path)}")


def _nearby(path: Path) -> str:
    """A hint: the file with the nearest name, or a library mechanism."""
    from torseur.description.library import entries
    from torseur.errors import nearest

    folder = path.parent
    files = [p.name for p in folder.glob("*.lsd")] if folder.is_dir() else []
    if guess := nearest(path.name, files):
        return f" Did you mean '{folder / guess}'?"
    if guess := nearest(path.stem, [entry.name for entry in entries()]):
        return f" Did you mean '{PREFIX}{guess}'?"
    return " `torseur library` lists ready mechanisms."
