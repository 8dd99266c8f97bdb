"""`torseur loops`: what closed loops leave free, and why."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from torseur.cli.shared.about_state import VerifyOption
from torseur.cli.shared.exits import USAGE, CommandError, end_with
from torseur.cli.shared.option_rules import Rule, force_needs, option_rules
from torseur.cli.shared.options import ForceOption, JsonOption, SourceArgument, ValueOptions

if TYPE_CHECKING:
    from torseur.cli.shared.prepared_model import Work
    from torseur.description.mechanism import Mechanism

METHOD = "How the rank is decided: numeric (singular values), precise (a hundred digits), modular or exact. Repeatable."
PREFER = "Coordinate to take as independent if possible. Repeatable."
LOCK = "Coordinate or joint to lock at its present value. Repeatable."
DRIVE = "Singular configurations met when a coordinate goes from one value to another, e.g. 'theta=0..360 deg'."
BOX = "Singular configurations with a coordinate between two values, e.g. 'alpha=-90..90 deg'. Repeatable."
ASSEMBLE = "Closed configurations from this many starts, with the locked coordinates held."
INPUT = (
    "Coordinate that a motor drives, for singularities of type 2. Repeatable; by default those that `actuate` names."
)
OUTPUT = "Output coordinate, for singularities of type 1 and condition numbers. Repeatable."
MAP = "One of the two coordinates of a map of singular lines, e.g. 'x=-1..1'; the others are locked. Give it twice."
PICTURE = "SVG file to draw the map into."
TIME = "Time (s) at which drivers and other time-dependent quantities are evaluated."
SYZYGIES = "The passage matrix N as polynomials, by standard bases; for small loops."
CLOSED = "Syzygies modulo the closure equations: motions of the closed loops alone."
ALGEBRAIC = "Dimension of the closed configurations and finite mobility with an algebraic proof; for small loops."
LOOPS = "What is examined"


class LoopsOptions(NamedTuple):
    """How the rank is decided, what is held or preferred, and what is asked besides the report."""

    source: SourceArgument
    method: Annotated[list[str] | None, typer.Option("--method", metavar="NAME", help=METHOD)] = None
    prefer: Annotated[list[str] | None, typer.Option("--prefer", metavar="NAME", help=PREFER)] = None
    lock: Annotated[list[str] | None, typer.Option("--lock", metavar="NAME", help=LOCK, rich_help_panel=LOOPS)] = None
    drive: Annotated[str | None, typer.Option("--drive", metavar="NAME=A..B", help=DRIVE, rich_help_panel=LOOPS)] = None
    box: Annotated[list[str] | None, typer.Option("--box", metavar="NAME=A..B", help=BOX, rich_help_panel=LOOPS)] = None
    assemble: Annotated[
        int | None, typer.Option("--assemble", metavar="STARTS", min=1, help=ASSEMBLE, rich_help_panel=LOOPS)
    ] = None
    inputs: Annotated[list[str] | None, typer.Option("--input", metavar="NAME", help=INPUT, rich_help_panel=LOOPS)] = (
        None
    )
    outputs: Annotated[
        list[str] | None, typer.Option("--output", metavar="NAME", help=OUTPUT, rich_help_panel=LOOPS)
    ] = None
    map: Annotated[list[str] | None, typer.Option("--map", metavar="NAME=A..B", help=MAP, rich_help_panel=LOOPS)] = None
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE.svg", help=PICTURE, rich_help_panel=LOOPS)
    ] = None
    force: ForceOption = False
    algebraic: Annotated[bool, typer.Option("--algebraic", help=ALGEBRAIC, rich_help_panel=LOOPS)] = False
    syzygies: Annotated[bool, typer.Option("--syzygies", help=SYZYGIES, rich_help_panel=LOOPS)] = False
    closed: Annotated[bool, typer.Option("--closed", help=CLOSED, rich_help_panel=LOOPS)] = False
    time: Annotated[float, typer.Option("--time", help=TIME, rich_help_panel=LOOPS)] = 0.0
    values: ValueOptions = ValueOptions()
    verify: VerifyOption = True
    json: JsonOption = False


@option_rules(
    Rule("--time", not_with="--syzygies", why="syzygies are those of the loops, which no driver moves"),
    Rule("--closed", needs="--syzygies", why="it is a choice of syzygies"),
    Rule("--algebraic", not_with="--lock", why="the proof is of the loops as they are described, with nothing held"),
    Rule("--picture", needs="--map", why="it shows the map"),
    force_needs("--picture"),
)
def loops(options: LoopsOptions) -> None:
    """Analyse closed loops: mobility, rank, redundant constraints and independent coordinates.

    The loops are closed near the initial state (--init) first, and all results refer to that configuration.

    Examples:

      torseur loops library:four_bar

      torseur loops library:bennett --method precise --method exact --json

      torseur loops library:saliere --init 'a1=40 deg'

      torseur loops library:bennett --algebraic

      torseur loops library:slider_crank --drive 'theta=0..360 deg'

      torseur loops library:flat_parallelogram --box 'alpha=-180..180 deg'

      torseur loops library:four_bar --init 'alpha=60 deg' --lock alpha --assemble 40

      torseur loops library:linkages/planar_3rpr --lock phi --map 'x=-1..4' --map 'y=-1..3' --picture map.svg
    """
    from torseur.cli.commands.derivation.examination import Answer, Examination
    from torseur.cli.shared.console import print_json, say, working
    from torseur.cli.shared.output_files import require_outputs
    from torseur.cli.shared.prepared_model import Work
    from torseur.derivation.loops.loop_doctor import loops as examine

    work = Work.begin(options.source, options.values)
    _require_loops(work, options)
    require_outputs(options.force, (options.picture, (".svg",)))
    mechanism = work.source.mechanism.with_values(**work.values.parameters)
    if options.outputs and not (options.inputs or mechanism.actuated):
        raise CommandError("--output needs inputs to compare with: name them by --input, or by `actuate` in the text.")
    examination = Examination(
        mechanism, _pose(mechanism, work.values.initial), tuple(options.lock or ()), options.time,
        tuple(options.inputs or mechanism.actuated), tuple(options.outputs or ()),
    )  # fmt: skip
    with working(f"{mechanism.name}: examining loops", quiet=options.json):
        report = examine(mechanism, examination.at, method=options.method or "numeric", preferred=options.prefer or (),
                         locked=examination.locked, time=options.time, verify=options.verify)  # fmt: skip
        further: list[Answer] = []
        if options.assemble is not None:
            further.append(examination.assembly(options.assemble))
        if options.drive is not None:
            further.append(examination.singularities_on_drive(options.drive))
        if options.box:
            further.append(examination.singularities_in_box(options.box))
        if examination.inputs:
            further.append(examination.actuation())
        if options.map:
            further.append(examination.map(options.map, options.picture))
        if options.algebraic:
            further.append(examination.algebraic_mobility(report.configuration))
        if options.syzygies:
            further.append(examination.syzygies(options.closed))
    if options.json:
        print_json({**report.to_dict(), **{answer.name: answer.document for answer in further}})
    else:
        say("\n".join([str(report), *(answer.text for answer in further)]))
    end_with([str(report.check)] if report.check is not None and not report.trusted else [])


def _require_loops(work: Work, options: LoopsOptions) -> None:
    """Refuses questions about loops where there are none; a lock makes a constraint of its own."""
    if not options.lock:
        for name in ("method", "prefer", "drive", "box", "assemble", "map", "algebraic", "syzygies"):
            work.require_constraints(f"--{name}", bool(getattr(options, name)))
    for name in set(options.prefer or ()) & set(options.lock or ()):
        raise CommandError(f"--prefer {name}: --lock holds it, so that it cannot be independent.", USAGE)


def _pose(mechanism: Mechanism, initial: Mapping[str, float]) -> dict[str, float] | None:
    """The coordinates among the initial values."""
    known = {c.name for joint in mechanism.joints for c in joint.coordinates}
    for name in initial:
        if name not in known:
            reason = "loops are examined at a configuration, in which nothing moves"
            raise CommandError(f"--init {name}: {reason}; give coordinates alone.", USAGE)
    return dict(initial) or None
