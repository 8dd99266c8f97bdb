"""Robot files on the command line: what is asked of their reader, as options or after a question mark in the name.

`robot.urdf?base=floating&merge_fixed` says in a name, for any command, what `--base floating --merge-fixed` says to
some: the arguments of `read_robot` (description/readers/read_robot.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from torseur.cli.shared.exits import CommandError
from torseur.edges.file_names import is_robot

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


def open_robot(name: str) -> RobotFile:
    """The robot that a name asks for."""
    from torseur.description.readers import open_robot as read_named

    return read_named(name)
