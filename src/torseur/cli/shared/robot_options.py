"""Robot files on the command line: what is asked of their reader, as options or after a question mark in the name.

`robot.urdf?base=floating&merge_fixed` says in a name, for any command, what `--base floating --merge-fixed` says to
some: the arguments of `read_robot`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from torseur.cli.shared.exits import CommandError
from torseur.edges.file_names import ROBOT_SUFFIXES
from torseur.errors import unknown_name

if TYPE_CHECKING:
    from torseur.description.readers import RobotFile

ROBOT = "Robot files"

StrictOption = Annotated[
    bool, typer.Option("--strict", help="Treat inertias that no real body can have as errors.", rich_help_panel=ROBOT)
]
BaseOption = Annotated[
    str | None,
    typer.Option("--base", metavar="KIND",
                 help="How the robot's base is held: fixed, floating, or as the file says (file).",
                 rich_help_panel=ROBOT),
]  # fmt: skip
MergeOption = Annotated[
    bool,
    typer.Option("--merge-fixed", help="Merge bodies on fixed joints into the body that carries them.",
                 rich_help_panel=ROBOT),
]  # fmt: skip
DensityOption = Annotated[
    float | None,
    typer.Option("--density", metavar="KG/M3", help="Density for links that state a shape but no inertia (URDF).",
                 rich_help_panel=ROBOT),
]  # fmt: skip


PartialOption = Annotated[
    bool,
    typer.Option(
        "--partial", help="Read a robot file even if some of its bodies cannot be modelled.", rich_help_panel=ROBOT
    ),
]


SymbolicOption = Annotated[
    str | None,
    typer.Option("--symbolic", metavar="PARTS", rich_help_panel=ROBOT,
                
                 help="Turn numbers of the file into parameters: inertia, geometry (lengths), gravity; with commas."),
]  # fmt: skip


class RobotOptions(NamedTuple):
    """What the reader of robot files is asked for."""

    strict: StrictOption = False
    base: BaseOption = None
    merge_fixed: MergeOption = False
    density: DensityOption = None
    symbolic: SymbolicOption = None


def with_robot_options(source: str, robot: RobotOptions, partial: bool = False) -> str:
    """The name of a source with the options of a command put into it."""
    given = {
        "strict": "" if robot.strict else None,
        "base": robot.base,
        "merge_fixed": "" if robot.merge_fixed else None,
        "density": None if robot.density is None else repr(robot.density),
        "symbolic": robot.symbolic,
        "partial": "" if partial else None,
    }
    words = [f"{name}={value}" if value else name for name, value in given.items() if value is not None]
    if not words:
        return source
    if not is_robot(source):
        raise CommandError(
            f"'{source}' is not a robot file: --strict, --base, --merge-fixed, --density and --symbolic are for those."
        )
    return source + ("&" if "?" in source else "?") + "&".join(words)


def is_robot(name: str) -> bool:
    """Whether a name is that of a robot file, by its suffix."""
    return Path(split_query(name)[0]).suffix.lower() in ROBOT_SUFFIXES


def split_query(name: str) -> tuple[str, str]:
    """The path in a name, and what stands after the question mark; a file whose name holds one is a path."""
    # A question mark is a letter like others in file names; an existing file wins.
    path, _, query = name.partition("?")
    return (name, "") if Path(name).exists() else (path, query)


def open_robot(name: str) -> RobotFile:
    """The robot that a name asks for."""
    from torseur.description.readers import read_robot

    path, query = split_query(name)
    return read_robot(path, **_arguments(path, query))


def _arguments(path: str, query: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for part in query.split("&") if query else []:
        word, _, text = part.partition("=")
        if word not in _READ:
            raise CommandError(unknown_name("option of a robot file", word, _READ, f"{path}: "))
        try:
            arguments[word] = _READ[word](text)
        except ValueError:
            raise CommandError(f"{path}: {word}={text}: expected {_EXPECTED[_READ[word]]}.") from None
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
