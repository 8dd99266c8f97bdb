"""`torseur loops`: what closed loops leave free, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from torseur.cli.options import InitOption, JsonOption, SetOption, SourceArgument, ValuesOption

METHOD = "How the rank is decided: numeric (singular values), precise (a hundred digits), modular or exact."


def loops(
    source: SourceArgument,
    method: Annotated[str, typer.Option("--method", metavar="NAME", help=METHOD)] = "numeric",
    prefer: Annotated[
        list[str] | None,
        typer.Option("--prefer", metavar="NAME", help="Coordinate to take as independent where it can be. Repeatable."),
    ] = None,
    settings: SetOption = None,
    starts: InitOption = None,
    values: ValuesOption = None,
    json: JsonOption = False,
) -> None:
    """Mobility, rank, redundant constraints and independent coordinates of closed loops.

    The loops are closed near the initial state first. Example: torseur loops library:four_bar
    """
    from torseur.cli.console import print_json, say, working
    from torseur.cli.work import Work
    from torseur.loops.doctor import loops as examine

    work = Work.begin(source, settings, starts, None, values)
    mechanism = work.source.mechanism.with_values(**work.values.parameters)
    with working(f"{mechanism.name}: examining loops", quiet=json):
        found = examine(mechanism, dict(work.values.initial) or None, method=method, preferred=prefer or ())
    print_json(found.to_dict()) if json else say(str(found))
