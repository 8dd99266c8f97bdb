"""`torseur library`: ready mechanisms."""

from __future__ import annotations

from typing import Annotated

import typer

from torseur.cli.shared.options import JsonOption


def library(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Print this one as LSD text.", show_default=False)
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the ready-made mechanisms, or print one as text.

    Example: torseur library pendulum_chain?n=5 > chain.lsd
    """
    from torseur.cli.shared.console import print_json, say, show_table
    from torseur.description import library as ready

    if name is not None:
        text = ready.source_of(name)
        print_json({"name": name, "text": text}) if json else say(text.rstrip("\n"))
    elif json:
        print_json([{"name": entry.name, "use": entry.usage, "title": entry.title} for entry in ready.entries()])
    else:
        show_table("", ("use as", ""), [(entry.usage, entry.title) for entry in ready.entries()])
        systems = [(f"{ready.PREFIX}{name}", title) for name, (_, title) in ready.SYSTEMS.items()]
        show_table("Equations without bodies, for studies", ("use as", ""), systems)
