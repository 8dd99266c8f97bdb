"""`torseur loops`: what closed loops leave free, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.options import InitOption, JsonOption, LawOption, SetOption, SourceArgument, ValuesOption

if TYPE_CHECKING:
    from torseur.mechanism import Mechanism

METHOD = "How the rank is decided: numeric (singular values), precise (a hundred digits), modular or exact. Repeatable."
PREFER = "Coordinate to take as independent where it can be. Repeatable."
LOCK = "Coordinate or joint to hold where it is. Repeatable."
DRIVE = "Singular configurations met when a coordinate goes from one value to another, e.g. 'theta=0..360 deg'."
BOX = "Singular configurations with a coordinate between two values, e.g. 'alpha=-90..90 deg'. Repeatable."
ASSEMBLE = "Closed configurations found from this many starts, with the locked coordinates held."
TIME = "Time (s) of what depends on it, such as drivers."
SYZYGIES = "The passage matrix N as polynomials, by standard bases; for small loops."
LOOPS = "What is examined"


def loops(
    source: SourceArgument,
    method: Annotated[list[str] | None, typer.Option("--method", metavar="NAME", help=METHOD)] = None,
    prefer: Annotated[list[str] | None, typer.Option("--prefer", metavar="NAME", help=PREFER)] = None,
    lock: Annotated[list[str] | None, typer.Option("--lock", metavar="NAME", help=LOCK, rich_help_panel=LOOPS)] = None,
    drive: Annotated[
        str | None, typer.Option("--drive", metavar="NAME=A..B", help=DRIVE, rich_help_panel=LOOPS)
    ] = None,
    box: Annotated[
        list[str] | None, typer.Option("--box", metavar="NAME=A..B", help=BOX, rich_help_panel=LOOPS)
    ] = None,
    assemble: Annotated[
        int | None, typer.Option("--assemble", metavar="STARTS", min=1, help=ASSEMBLE, rich_help_panel=LOOPS)
    ] = None,
    syzygies: Annotated[bool, typer.Option("--syzygies", help=SYZYGIES, rich_help_panel=LOOPS)] = False,
    time: Annotated[float, typer.Option("--time", help=TIME, rich_help_panel=LOOPS)] = 0.0,
    settings: SetOption = None,
    starts: InitOption = None,
    laws: LawOption = None,
    values: ValuesOption = None,
    json: JsonOption = False,
) -> None:
    """Mobility, rank, redundant constraints and independent coordinates of closed loops.

    The loops are closed near the initial state (--init) first, and everything is told of that configuration.

    Examples:

      torseur loops library:four_bar

      torseur loops library:bennett --method precise --method exact --json

      torseur loops library:saliere --init 'a1=40 deg'

      torseur loops library:slider_crank --drive 'theta=0..360 deg'

      torseur loops library:flat_parallelogram --box 'alpha=-180..180 deg'

      torseur loops library:four_bar --init 'alpha=60 deg' --lock alpha --assemble 40
    """
    from torseur.cli.console import print_json, say, working
    from torseur.cli.examination import Answer, Examination
    from torseur.cli.work import Work
    from torseur.loops.doctor import loops as examine

    work = Work.begin(source, settings, starts, laws, values)
    mechanism = work.source.mechanism.with_values(**work.values.parameters)
    asked = Examination(mechanism, _pose(mechanism, work.values.initial), tuple(lock or ()), time)
    with working(f"{mechanism.name}: examining loops", quiet=json):
        found = examine(mechanism, asked.at, method=method or "numeric", preferred=prefer or (), locked=asked.locked,
                        time=time)  # fmt: skip
        further: list[Answer] = []
        if assemble is not None:
            further.append(asked.assembled(assemble))
        if drive is not None:
            further.append(asked.driven(drive))
        if box:
            further.append(asked.boxed(box))
        if syzygies:
            further.append(asked.syzygies())
    if json:
        print_json({**found.to_dict(), **{answer.name: answer.document for answer in further}})
    else:
        say("\n".join([str(found), *(answer.text for answer in further)]))


def _pose(mechanism: Mechanism, initial: Mapping[str, float]) -> dict[str, float] | None:
    """The coordinates among the initial values; rates play no role here."""
    known = {c.name for joint in mechanism.joints for c in joint.coordinates}
    return {name: value for name, value in initial.items() if name in known} or None
