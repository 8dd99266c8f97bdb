"""`torseur simulate`: the motion of a mechanism."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from torseur.cli.shared.option_rules import Rule, force_needs, option_rules
from torseur.cli.shared.options import (
    ForceOption,
    FormalismOption,
    JsonOption,
    RtolOption,
    SourceArgument,
    ValueOptions,
)

if TYPE_CHECKING:
    from torseur.cli.shared.exits import CommandError
    from torseur.cli.shared.prepared_model import Work
    from torseur.computation.simulation import Trajectory
    from torseur.errors import SimulationError

SHOWN = 11  # rows of the table on the screen
STANDARD_OUTPUT = "-"
SUFFIXES = (".csv", ".nc", ".json")
PLOTS = (".svg", ".png")


UntilOption = Annotated[
    str,
    typer.Option(
        "--until", metavar="T", help="Time at which the motion ends, e.g. 10 or '500 ms'.", show_default=False
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="FILE", help="File to write: .csv, .nc or .json; - writes CSV to standard output."
    ),
]
SamplesOption = Annotated[
    int | None,
    typer.Option("--samples", min=2, help="Number of evenly spaced rows; by default one row per integration step."),
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--output", metavar="EXPR", help="Add a column: energy, arm.position.x, 'camber = atan2(...)'. Repeatable."
    ),
]
CurvesOption = Annotated[
    Path | None,
    typer.Option(
        "--plot", metavar="FILE", help="Plot the outputs to a .svg or .png file; without --output, plot all states."
    ),
]
AcrossOption = Annotated[
    str | None,
    typer.Option("--over", metavar="EXPR", help="Quantity on the horizontal axis of the plot; time by default."),
]
SectionOption = Annotated[
    str | None,
    typer.Option(
        "--section", metavar="EXPR", help="Keep the states in which this changes from - to + (Poincaré section)."
    ),
]
SpectrumOption = Annotated[
    Path | None,
    typer.Option(
        "--spectrum",
        metavar="FILE",
        help="Write amplitudes by frequency of the outputs, or of all coordinates: .csv, .svg, .png.",
    ),
]
EventOption = Annotated[
    list[str] | None,
    typer.Option("--event", metavar="NAME", help="Report the times at which this quantity changes sign. Repeatable."),
]
MethodOption = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help="explicit, radau5, radau9, or auto, which turns implicit where the system is stiff; time_stepping for "
        "many contacts.",
    ),
]
MaxStepOption = Annotated[
    str | None,
    typer.Option(
        "--max-step",
        metavar="T",
        help="Longest step, e.g. '0.5 ms'; by default a tenth of the time span, 1 ms with time_stepping.",
        show_default=False,
    ),
]
FormulationOption = Annotated[
    str,
    typer.Option(
        "--formulation",
        metavar="NAME",
        help="Formulation of the constrained equations: augmented, partitioned or projector.",
    ),
]
ContactOption = Annotated[
    list[str] | None,
    typer.Option("--contact", metavar="'NAME>=VALUE'", help="Limit at which a coordinate rebounds. Repeatable."),
]
RestitutionOption = Annotated[
    float, typer.Option("--restitution", min=0.0, max=1.0, help="Coefficient of restitution at these limits.")
]


class SimulateOptions(NamedTuple):
    """Which motion is computed, how accurately, and where it goes."""

    source: SourceArgument
    until: UntilOption
    out: OutOption = None
    samples: SamplesOption = None
    output: ColumnOption = None
    plot: CurvesOption = None
    over: AcrossOption = None
    section: SectionOption = None
    spectrum: SpectrumOption = None
    event: EventOption = None
    rtol: RtolOption = 1e-9
    method: MethodOption = "auto"
    max_step: MaxStepOption = None
    formulation: FormulationOption = "augmented"
    contact: ContactOption = None
    restitution: RestitutionOption = 0.0
    formalism: FormalismOption = "recursive"
    values: ValueOptions = ValueOptions()
    force: ForceOption = False
    json: JsonOption = False


@option_rules(
    Rule("--restitution", needs="--contact", why="it is the part of the speed that a contact gives back"),
    Rule("--json", not_with="--out=-", why="both would go to standard output"),
    Rule("--force", not_with="--out=-", why="standard output replaces no file"),
    force_needs("--out", "--plot", "--spectrum"),
    Rule("--section", not_with="--samples", why="rows are the states of the section"),
    Rule("--section", not_with="--event", why="the section is one"),
    Rule("--spectrum", not_with="--section", why="a spectrum is of evenly spaced samples"),
    Rule("--spectrum", needs="--samples", why="a spectrum is of evenly spaced samples"),
    Rule("--over", needs="--plot", why="it is what the curves are drawn over"),
)
def simulate(options: SimulateOptions) -> None:
    """Simulate the motion from the initial state, and print it or write it to a file.

    Example: torseur simulate library:double_pendulum --until 10 --set 'm1=5 kg' --init 'q1=30 deg' --out motion.csv
    """
    from torseur.cli.shared.console import say
    from torseur.cli.shared.output_files import require_outputs
    from torseur.cli.shared.prepared_model import Work
    from torseur.errors import SimulationError

    file = options.out if str(options.out) != STANDARD_OUTPUT else None
    require_outputs(options.force, (file, SUFFIXES), (options.plot, PLOTS), (options.spectrum, (".csv", *PLOTS)))
    work = Work.begin(options.source, options.values)
    work.require_constraints("--formulation", options.formulation != "augmented")
    try:
        motion = work.motion(
            options.formalism, options.until, options.json, options.section, **_requests(options, work)
        )
    except SimulationError as problem:
        raise _early_end(problem, file) from problem
    if file is not None:
        motion.save(file, overwrite=options.force)
    if options.plot is not None:
        _draw(motion, options, options.plot)
    if options.spectrum is not None:
        _write_spectrum(motion, options, options.spectrum)
    _print(motion, options, file)
    for place in (options.plot, options.spectrum):
        if place is not None and not options.json and str(options.out) != STANDARD_OUTPUT:
            say(f"written: {place}")


def _requests(options: SimulateOptions, work: Work) -> dict[str, Any]:
    """What the simulation is asked for, in its own words."""
    from torseur.analysis.sensitivity.criteria.formula_outputs import formula_outputs
    from torseur.cli.shared.prepared_model import duration
    from torseur.cli.shared.value_options import contacts
    from torseur.computation.simulation.model.first_order_form import as_system

    wanted = [*(options.output or ()), *([options.over] if options.over is not None else [])]
    system = as_system(work.equations(options.formalism), dict(work.values.parameters)) if wanted else None
    outputs = formula_outputs(wanted, system) if system is not None else []
    # What is asked for twice, as a column and as what a plot is drawn over, is one column.
    known = [] if system is None else [state.name for state in system.states]
    distinct = {output.name: output for output in outputs if output.name not in known}
    return {
        "rtol": options.rtol,
        "method": options.method,
        "max_step": None if options.max_step is None else duration(options.max_step, "--max-step"),
        "outputs": tuple(distinct.values()),
        "events": [*(options.event or ()), *contacts(work.tree, options.contact, options.restitution)],
        "formulation": options.formulation,
        **({} if options.section is not None else {"samples": options.samples}),
    }


def _draw(motion: Trajectory, options: SimulateOptions, place: Path) -> None:
    """Curves of the outputs, or of all states, one plot per unit below the other."""
    import numpy as np

    from torseur.presentation.report.drawing.curve_svg import Series, stacked_svg

    over = None if options.over is None else options.over.partition("=")[0].strip()
    across = Series("time", np.asarray(motion.time)) if over is None else Series(over, np.asarray(motion[over]))
    units = {column.name: column.quantity.unit for column in motion.columns}
    wanted = [text.partition("=")[0].strip() for text in options.output or ()]
    names = [name for name in wanted if name != over] or [
        column.name for column in motion.states if column.name != over
    ]
    groups: dict[str, list[Series]] = {}
    for name in names:
        groups.setdefault("" if units[name] == "1" else units[name], []).append(Series(name, np.asarray(motion[name])))
    unit = "s" if over is None else "" if units[over] == "1" else units[over]
    _write_plot(stacked_svg(across, groups, unit, dots=options.section is not None), place)


def _write_plot(svg: str, place: Path) -> None:
    """A drawing as SVG, or as pixels."""
    from torseur.presentation.report.drawing.curve_png import png_of

    if place.suffix == ".png":
        place.write_bytes(png_of(svg))
    else:
        place.write_text(svg, encoding="utf-8")


def _write_spectrum(motion: Trajectory, options: SimulateOptions, place: Path) -> None:
    """Amplitudes by frequency: a table, or one plot per unit."""
    import csv

    from torseur.computation.simulation import spectrum
    from torseur.edges.plain_text import cell
    from torseur.presentation.report.drawing.curve_svg import Series, stacked_svg

    spectra = spectrum(motion, [text.partition("=")[0].strip() for text in options.output or ()] or None)
    if place.suffix == ".csv":
        with place.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["frequency [Hz]", *(cell(f"{q.name} [{q.unit}]") for q in spectra.quantities)])
            writer.writerows(zip(spectra.frequency.tolist(), *spectra.amplitudes.T.tolist(), strict=True))
        return
    groups: dict[str, list[Series]] = {}
    shown = spectra.low
    for quantity in spectra.quantities:
        unit = "" if quantity.unit == "1" else quantity.unit
        groups.setdefault(unit, []).append(Series(quantity.name, shown[quantity.name]))
    _write_plot(stacked_svg(Series("frequency", shown.frequency), groups, "Hz"), place)


def _print(motion: Trajectory, options: SimulateOptions, file: Path | None) -> None:
    """The motion itself, or what was done with it."""
    from torseur.cli.shared.console import print_json

    if options.json:
        print_json(document(motion, file))
    elif file is not None:
        _tell(motion, file)
    elif options.out is not None:
        _print_csv(motion)
    else:
        _show(motion)


def _early_end(problem: SimulationError, file: Path | None) -> CommandError:
    """The error, with the valid part of the motion saved beside the file it was meant for."""
    from torseur.cli.shared.exits import ENDED_EARLY, CommandError

    partial: Any = problem.trajectory
    if partial is None or file is None or len(partial) == 0:
        return CommandError(str(problem), ENDED_EARLY)
    # Never over a file, not even with --force: what is there may be the result of an earlier run.
    names = (f"{file.stem}.partial{number or ''}{file.suffix}" for number in count())
    place = next(path for path in map(file.with_name, names) if not path.exists())
    partial.save(place)
    return CommandError(f"{problem}\nWhat was computed is in '{place}'.", ENDED_EARLY)


def document(motion: Trajectory, out: Path | None) -> dict[str, object]:
    """The motion as plain data; its rows are left to the file when one is written."""
    statistics = vars(motion.statistics) if motion.statistics is not None else None
    summary: dict[str, object] = {
        "name": motion.name,
        "rows": len(motion),
        "columns": [{"name": c.name, "unit": c.quantity.unit, "kind": c.kind.value} for c in motion.columns],
        "events": [{"name": e.name, "time": e.time, "state": dict(e.state)} for e in motion.events],
        "notes": list(motion.notes),
        "statistics": statistics,
    }
    if out is not None:
        return {**summary, "written": str(out)}
    return {**summary, "time": motion.time, "values": {c.name: motion[c.name] for c in motion.columns}}


def _print_csv(motion: Trajectory) -> None:
    import csv
    import sys

    from torseur.cli.shared.console import remark
    from torseur.edges.plain_text import cell

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["time [s]", *(cell(column.heading) for column in motion.columns)])
    for time, row in zip(motion.time.tolist(), motion.values.tolist(), strict=True):
        writer.writerow([repr(time), *map(repr, row)])
    for note in motion.notes:
        remark(f"note: {note}")


def _show(motion: Trajectory) -> None:
    """A few rows, and what it took."""
    from torseur.cli.shared.console import show_table

    length = len(motion)
    rows = (
        sorted({round(k * (length - 1) / (SHOWN - 1)) for k in range(SHOWN)}) if length > SHOWN else list(range(length))
    )
    headings = ["time [s]", *(column.heading for column in motion.columns)]
    cells = [[f"{motion.time[k]:.6g}", *(f"{value:.9g}" for value in motion.values[k])] for k in rows]
    show_table(motion.name, headings, cells, numeric=range(len(headings)))
    _tell(motion, None)


def _tell(motion: Trajectory, out: Path | None) -> None:
    from torseur.cli.shared.console import say

    if motion.statistics is not None:
        s = motion.statistics
        say(f"{s.steps} steps ({s.method}), {s.evaluations} evaluations, {s.wall_time * 1e3:.3g} ms ({s.backend})")
    for note in motion.notes:
        say(f"note: {note}")
    for event in motion.events:
        say(f"event {event.name} at t = {event.time:.9g} s")
    if out is not None:
        say(f"written: {out} ({len(motion)} rows)")
