"""`torseur convert`: a mechanism written in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.shared.option_rules import Rule, option_rules
from torseur.cli.shared.options import ForceOption, JsonOption, SourceArgument
from torseur.cli.shared.robot_options import RobotOptions, with_robot_options
from torseur.edges.file_names import is_robot

if TYPE_CHECKING:
    from torseur.cli.shared.sources import Source

FORMATS = (".lsd", ".urdf", ".xml", ".mjcf")


@option_rules(Rule("--partial", not_with="OUT=*.lsd", why="a description says everything"))
def convert(
    source: SourceArgument,
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="File to write; its suffix names the format: .lsd, .urdf or .xml (MJCF)."),
    ],
    *,
    partial: Annotated[
        bool,
        typer.Option("--partial", help="Leave out what the format cannot express, even if that changes the motion."),
    ] = False,
    robot: RobotOptions,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Write a mechanism in another format.

    Example: torseur convert library:pendulum_chain?n=5 chain.lsd
    """
    from torseur.cli.shared.console import print_json, remark, say
    from torseur.cli.shared.output_files import require_free, require_suffix, write_text
    from torseur.cli.shared.sources import open_source

    require_suffix(out, FORMATS)
    require_free(out, force)
    opened = open_source(with_robot_options(source, robot, partial=partial and is_robot(source)))
    text, left = _translate(opened, out, partial)
    write_text(out, text)
    for finding in left:
        remark(f"note: {finding}")
    print_json({"written": str(out), "left_out": left}) if json else say(f"written: {out}")


def _translate(source: Source, out: Path, partial: bool) -> tuple[str, list[str]]:
    """The text in the format of a file's suffix, and what it leaves out; shapes and limits go along where they can."""
    from torseur.cli.shared.exits import CommandError
    from torseur.description.readers.writing.write_robot import robot_text
    from torseur.errors import UnsupportedError

    if out.suffix.lower() == ".lsd":
        return _description(source)
    try:
        text, left = robot_text(source.robot or source.mechanism, out, partial)
    except UnsupportedError as problem:
        raise CommandError(str(problem).replace("partial=True", "--partial")) from problem
    return text, [str(finding) for finding in left]


def _description(source: Source) -> tuple[str, list[str]]:
    """A text with the shapes of a robot as drawings; limits that nothing stops at have no place in it."""
    from torseur.description.language import to_text
    from torseur.description.mechanism import Bound
    from torseur.description.readers.writing.robot_drawings import drawn_mechanism

    if source.robot is None:
        return to_text(source.mechanism), []
    limits = (
        "left out: limits of joints are not written to LSD; as stops they are: '?stops=0.2' behind the file's name."
    )
    has_stops = any(isinstance(contact, Bound) for contact in source.mechanism.contacts)
    return to_text(drawn_mechanism(source.robot)), [limits] if source.robot.limits and not has_stops else []
