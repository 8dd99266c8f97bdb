"""`torseur convert`: a mechanism written in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.options import ForceOption, JsonOption, SourceArgument

if TYPE_CHECKING:
    from torseur.mechanism import Mechanism

FORMATS = (".lsd", ".urdf", ".xml", ".mjcf")


def convert(
    source: SourceArgument,
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="File to write; its suffix names the format: .lsd, .urdf or .xml (MJCF)."),
    ],
    partial: Annotated[
        bool, typer.Option("--partial", help="Leave out what the format cannot say, even if it changes the motion.")
    ] = False,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Write a mechanism in another format.

    Example: torseur convert library:pendulum_chain?n=5 chain.lsd
    """
    from torseur.cli.console import print_json, remark, say
    from torseur.cli.files import require_free, require_suffix, write_text
    from torseur.cli.sources import open_source

    require_suffix(out, FORMATS)
    require_free(out, force)
    text, left = _written(open_source(source).mechanism, out.suffix, partial)
    write_text(out, text)
    for finding in left:
        remark(f"note: {finding}")
    print_json({"written": str(out), "left_out": left}) if json else say(f"written: {out}")


def _written(mechanism: Mechanism, suffix: str, partial: bool) -> tuple[str, list[str]]:
    """The text in the format of a suffix, and what it leaves out."""
    if suffix == ".lsd":
        from torseur.language import to_text

        return to_text(mechanism), []
    from torseur.readers.writing.write import robot_text

    text, left = robot_text(mechanism, suffix, partial)
    return text, [str(finding) for finding in left]
