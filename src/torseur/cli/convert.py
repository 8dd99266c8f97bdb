"""`torseur convert`: a mechanism written in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from torseur.cli.options import ForceOption, JsonOption, SourceArgument

FORMATS = (".lsd",)


def convert(
    source: SourceArgument,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="File to write; its suffix names the format: .lsd.")],
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Write a mechanism in another format.

    Example: torseur convert library:pendulum_chain?n=5 chain.lsd
    """
    from torseur.cli.console import print_json, say
    from torseur.cli.files import require_free, require_suffix, write_text
    from torseur.cli.sources import open_source
    from torseur.language import to_text

    require_suffix(out, FORMATS)
    require_free(out, force)
    write_text(out, to_text(open_source(source).mechanism))
    print_json({"written": str(out)}) if json else say(f"written: {out}")
