"""`torseur simulate`: the motion of a mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from torseur.cli.options import (
    ForceOption,
    FormalismOption,
    InitOption,
    JsonOption,
    LawOption,
    SetOption,
    SourceArgument,
    ValuesOption,
)

if TYPE_CHECKING:
    from torseur.simulation import Trajectory

SHOWN = 11  # rows of the table on the screen
STANDARD_OUTPUT = "-"
SUFFIXES = (".csv", ".nc", ".json")


def simulate(
    source: SourceArgument,
    until: Annotated[
        str, typer.Option("--until", metavar="T", help="End of the motion, e.g. 10 or '500 ms'.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write .csv, .nc or .json; - is CSV on stdout.")
    ] = None,
    samples: Annotated[
        int | None, typer.Option("--samples", min=2, help="Rows, evenly spaced; by default one per step.")
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option("--output", metavar="NAME", help="One more column: energy, arm.position.x ... Repeatable."),
    ] = None,
    event: Annotated[
        list[str] | None,
        typer.Option("--event", metavar="NAME", help="Note when this quantity changes sign. Repeatable."),
    ] = None,
    rtol: Annotated[float, typer.Option("--rtol", help="Relative error allowed per step.")] = 1e-9,
    formalism: FormalismOption = "recursive",
    settings: SetOption = None,
    starts: InitOption = None,
    laws: LawOption = None,
    values: ValuesOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """The motion from the initial state, as a table or a file.

    Example: torseur simulate library:double_pendulum --until 10 --set 'm1=5 kg' --init 'q1=30 deg' --out motion.csv
    """
    from torseur.cli.console import print_json
    from torseur.cli.exits import ENDED_EARLY, CommandError
    from torseur.cli.files import require_free, require_suffix
    from torseur.cli.work import Work
    from torseur.errors import SimulationError

    written = None if out is None or str(out) == STANDARD_OUTPUT else out
    if written is not None:
        require_free(written, force)
        require_suffix(written, SUFFIXES)
    work = Work.begin(source, settings, starts, laws, values)
    try:
        motion = work.motion(
            formalism, until, rtol=rtol, samples=samples, outputs=output or (), events=event or (), quiet=json
        )
    except SimulationError as problem:
        kept = _keep(problem.trajectory, written)
        raise CommandError(f"{problem}{kept}", ENDED_EARLY) from problem
    if json:
        print_json(document(motion, written))
    elif out is not None and written is None:
        _print_csv(motion)
    if written is not None:
        motion.save(written, overwrite=force)
    if not json and out is None:
        _show(motion)
    elif not json and written is not None:
        _tell(motion, written)


def _keep(partial: Any, out: Path | None) -> str:
    """Saves the valid part of a motion beside the file it was meant for, and says so."""
    if partial is None or out is None or len(partial) == 0:
        return ""
    place = out.with_name(f"{out.stem}.partial{out.suffix}")
    partial.save(place, overwrite=True)
    return f"\nWhat was computed is in '{place}'."


def document(motion: Trajectory, out: Path | None) -> dict[str, object]:
    """The motion as plain data; its rows are left to the file when one is written."""
    statistics = vars(motion.statistics) if motion.statistics is not None else None
    found: dict[str, object] = {
        "name": motion.name,
        "rows": len(motion),
        "columns": [{"name": c.name, "unit": c.quantity.unit, "kind": c.kind.value} for c in motion.columns],
        "events": [{"name": e.name, "time": e.time, "state": dict(e.state)} for e in motion.events],
        "statistics": statistics,
    }
    if out is not None:
        return {**found, "written": str(out)}
    return {**found, "time": motion.time, "values": {c.name: motion[c.name] for c in motion.columns}}


def _print_csv(motion: Trajectory) -> None:
    import csv
    import sys

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["time [s]", *(column.heading for column in motion.columns)])
    for time, row in zip(motion.time.tolist(), motion.values.tolist(), strict=True):
        writer.writerow([repr(time), *map(repr, row)])


def _show(motion: Trajectory) -> None:
    """A few rows, and what it took."""
    from torseur.cli.console import show_table

    count = len(motion)
    rows = sorted({round(k * (count - 1) / (SHOWN - 1)) for k in range(SHOWN)}) if count > SHOWN else list(range(count))
    headings = ["time [s]", *(column.heading for column in motion.columns)]
    cells = [[f"{motion.time[k]:.6g}", *(f"{value:.9g}" for value in motion.values[k])] for k in rows]
    show_table(motion.name, headings, cells, numeric=range(len(headings)))
    _tell(motion, None)


def _tell(motion: Trajectory, out: Path | None) -> None:
    from torseur.cli.console import say

    if motion.statistics is not None:
        s = motion.statistics
        say(f"{s.steps} steps, {s.evaluations} evaluations, {s.wall_time * 1e3:.3g} ms ({s.backend})")
    for event in motion.events:
        say(f"event {event.name} at t = {event.time:.9g} s")
    if out is not None:
        say(f"written: {out} ({len(motion)} rows)")
