"""`torseur person`: joint angles, moments and powers of a person from a recorded trial."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from torseur.cli.commands.analysis.protocol_options import ProtocolOptions, read_protocol
from torseur.cli.commands.analysis.recording import RecordingOptions
from torseur.cli.shared.option_rules import Rule, force_needs, option_rules
from torseur.cli.shared.options import OUTPUT, ForceOption, JsonOption

if TYPE_CHECKING:
    from torseur.algebra.arrays import Array
    from torseur.analysis.biomechanics import MotionTrial
    from torseur.analysis.biomechanics.person import Calibration, PersonTrial

HEIGHT = "Height of the person, e.g. 1.78 or '178 cm'."
MASS = "Mass of the person in kg."
TABLE = "Anthropometric table: de_leva_male, de_leva_female, dempster or human36."
STANDING = "Static trial, from which segment lengths and marker positions are taken."
SET = "Length, mass or radius of a segment instead of the table's, e.g. 'r_thigh_length=0.43 m'. Repeatable."
TRIALS = "Markers: .c3d, .trc or .csv; several trials of the same movement are reported together."
CYCLES = "File for the mean and standard deviation of every curve over the cycles of all trials, .csv."
STRIDES = "File for times, lengths and work of every stride, .csv."
NORMAL = "Normative curves to draw for comparison: a .csv file such as --cycles writes."
OUT = (
    "File for one trial: .csv with everything over time, .mot with angles, .trc with markers, .c3d with markers, "
    "plates and our results."
)


class PersonOptions(NamedTuple):
    """What `torseur person` is asked for."""

    trials: Annotated[list[Path], typer.Argument(metavar="RECORDING...", help=TRIALS, show_default=False)]
    height: Annotated[str, typer.Option("--height", metavar="LENGTH", help=HEIGHT, show_default=False)]
    mass: Annotated[str, typer.Option("--mass", metavar="MASS", help=MASS, show_default=False)]
    table: Annotated[str, typer.Option("--table", metavar="NAME", help=TABLE)] = "de_leva_male"
    standing: Annotated[Path | None, typer.Option("--standing", metavar="FILE", help=STANDING)] = None
    settings: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help=SET)] = None
    protocol: ProtocolOptions = ProtocolOptions()
    recording: RecordingOptions = RecordingOptions()
    report: Annotated[
        Path | None,
        typer.Option("--report", "-r", metavar="FILE", help="Write an HTML report.", rich_help_panel=OUTPUT),
    ] = None
    cycles: Annotated[Path | None, typer.Option("--cycles", metavar="FILE", help=CYCLES, rich_help_panel=OUTPUT)] = None
    strides: Annotated[Path | None, typer.Option("--strides", metavar="FILE", help=STRIDES, rich_help_panel=OUTPUT)] = (
        None
    )
    normal: Annotated[Path | None, typer.Option("--normal", metavar="FILE", help=NORMAL)] = None
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help=OUT, rich_help_panel=OUTPUT)] = None
    force: ForceOption = False
    json: JsonOption = False


@option_rules(
    force_needs("--report", "--out", "--cycles", "--strides"),
    Rule("--normal", needs="--report", why="usual curves are drawn on the page"),
)
def person(options: PersonOptions) -> None:
    """Compute joint angles, moments and powers of a person from markers and force plates.

    Examples:

      torseur person walk.c3d --height 1.78 --mass 74 --report walk.html

      torseur person squat.c3d --height '165 cm' --mass 58 --table de_leva_female --standing still.c3d

      torseur person walk1.c3d walk2.c3d --height 1.78 --mass 74 --report gait.html --cycles gait.csv

      torseur person gait.c3d --height 1.7 --mass 65 --marker-set plug_in_gait_lower --filter 6 --zero
    """
    from torseur.analysis.biomechanics.person import analyse_person
    from torseur.analysis.biomechanics.person_model.human36 import human36
    from torseur.cli.commands.analysis.recording import open_recording
    from torseur.cli.shared.console import print_json, working
    from torseur.cli.shared.exits import USAGE, CommandError, end_with
    from torseur.cli.shared.output_files import require_outputs
    from torseur.cli.shared.value_options import si_number
    from torseur.presentation.report.person.person_tables import person_checks

    require_outputs(
        options.force, (options.report, (".html",)), (options.out, (".csv", ".mot", ".trc", ".c3d")),
        (options.cycles, (".csv",)), (options.strides, (".csv",)),
    )  # fmt: skip
    if options.out is not None and len(options.trials) > 1:
        raise CommandError("--out writes one trial over time: give one recording, or --cycles for all.", USAGE)
    height, mass = si_number("--height", options.height, "m"), si_number("--mass", options.mass, "kg")
    model = human36(height, mass, options.table, values=dict(_setting(text) for text in options.settings or ()))
    protocol = read_protocol(options.protocol, options.recording)
    seen = [open_recording(path, *options.recording) for path in options.trials]
    still = None if options.standing is None else open_recording(options.standing, options.recording.points).markers
    analyses = []
    for recorded in seen:
        with working(f"{recorded.name}: {len(recorded.markers)} frames", quiet=options.json):
            analyses.append(analyse_person(
                recorded, height=height, mass=mass, table=options.table, standing=still, mechanism=model,
                protocol=protocol,
            ))  # fmt: skip
    written = _write(analyses, seen, options)
    if options.json:
        print_json({**session_document(analyses), "written": written})
    else:
        for analysis in analyses:
            _tell(analysis, written if analysis is analyses[-1] else [])
    several = len(analyses) > 1
    end_with([
        f"{one.name}: {check.title}" if several else check.title
        for one in analyses for check in person_checks(one) if not check.ok
    ])  # fmt: skip


def _setting(text: str) -> tuple[str, float]:
    from torseur.cli.shared.exits import USAGE, CommandError
    from torseur.cli.shared.value_options import si_number

    name, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"--set {text}: expected NAME=VALUE, such as --set 'r_thigh_length=0.43 m'.", USAGE)
    return name.strip(), si_number("--set", value, "kg" if name.strip().endswith("mass") else "m")


def _write(found: list[PersonTrial], seen: list[MotionTrial], options: PersonOptions) -> list[str]:
    from torseur.analysis.biomechanics.person.session import read_normal, write_cycles, write_strides

    written = []
    if options.report is not None:
        from torseur.cli.shared.output_files import reproduction
        from torseur.presentation.report.page.report_page import write_report
        from torseur.presentation.report.person.person_page import person_content

        normal = None if options.normal is None else read_normal(options.normal)
        content = person_content(found[0], reproduction(), others=found[1:], normal=normal)
        write_report(content, options.report, overwrite=options.force)
        written.append(str(options.report))
    if options.out is not None:
        write_trial(options.out, found[0], seen[0])
        written.append(str(options.out))
    for path, write in ((options.cycles, write_cycles), (options.strides, write_strides)):
        if path is not None:
            write(path, found)
            written.append(str(path))
    return written


def write_trial(path: Path, analysis: PersonTrial, recorded: MotionTrial) -> None:
    """A trial over time by the suffix of the file."""
    from dataclasses import replace

    import numpy as np

    from torseur.analysis.biomechanics import write_c3d, write_mot, write_trc
    from torseur.analysis.biomechanics.person.file_results import own_results

    if path.suffix == ".mot":
        write_mot(path, replace(analysis.fit, q=analysis.motion.q, coordinates=analysis.motion.names))
    elif path.suffix == ".trc":
        write_trc(path, analysis.markers)
    elif path.suffix == ".c3d":
        # Results stand in the frames that were used; the others have none.
        time = recorded.markers.time
        first = int(np.argmin(np.abs(time - analysis.motion.time[0])))
        results = {}
        for label, values in own_results(analysis).items():
            results[label] = np.full((len(time), 3), np.nan)
            results[label][first : first + len(values)] = values
        plates = tuple(plate.at(time) for plate in recorded.plates)
        write_c3d(path, replace(recorded, analog=None, plates=plates, results=results))
    else:
        write_curves(path, analysis)


def write_curves(path: Path, analysis: PersonTrial) -> None:
    """Angles, moments, powers and reactions by time, with their units in the headings."""
    import csv

    from torseur.edges.plain_text import cell

    motion, dynamics = analysis.motion, analysis.dynamics
    columns: dict[str, Any] = {"time [s]": motion.time}
    for name in motion.names:
        length = name in ("pelvis_x", "pelvis_y", "pelvis_z")
        columns[f"{name} [{'m' if length else 'rad'}]"] = motion.of(name)
        columns[f"{name} {'force [N]' if length else 'moment [N m]'}"] = analysis.moment(name)
        columns[f"{name} power [W]"] = analysis.power(name)
    for foot, reaction in dynamics.reactions.items():
        for axis, force in zip("xyz", reaction.force.T, strict=True):
            columns[f"{foot} reaction {axis} [N]"] = force
    for axis, place in zip("xyz", dynamics.body.mass_centre.T, strict=True):
        columns[f"mass centre {axis} [m]"] = place
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(map(cell, columns))
        writer.writerows([repr(float(x)) for x in row] for row in zip(*columns.values(), strict=True))


def session_document(found: list[PersonTrial]) -> dict[str, Any]:
    """One trial as plain data, or several under their names; strides and symmetry of all together."""
    from torseur.analysis.biomechanics.person.session import strides_of, symmetry_of

    documents = [person_document(one) for one in found]
    checks = [{**check, "trial": one["name"]} for one in documents for check in one["checks"]]
    whole = documents[0] if len(found) == 1 else {"trials": documents, "checks": checks}
    symmetry = [{**vars(one), "index": one.index} for one in symmetry_of(found)]
    return {**whole, "strides": [vars(one) for one in strides_of(found)], "symmetry": symmetry}


def person_document(analysis: PersonTrial) -> dict[str, Any]:
    """A trial as plain data: extremes of every coordinate, quality, checks."""
    import numpy as np

    from torseur.analysis.biomechanics.person.file_results import agreements
    from torseur.cli.commands.analysis.identify import checks_document
    from torseur.presentation.report.person.person_tables import person_checks

    motion, dynamics = analysis.motion, analysis.dynamics
    residual, errors = dynamics.residual, analysis.random_errors
    return {
        "name": analysis.name,
        "height": analysis.height,
        "mass": analysis.mass,
        "table": analysis.table.name,
        "axes": str(analysis.markers.axes),
        "frames": len(motion),
        "reactions": analysis.source,
        "marker_distance": {"rms": analysis.fit.rms, "greatest": analysis.fit.greatest, "unit": "m"},
        "marker_errors": {"deviation": errors.marker, "related": errors.related, "unit": "m"},
        "residual_force_rms": float(np.sqrt(np.mean(np.sum(residual.force**2, axis=1)))),
        "residual_moment_rms": float(np.sqrt(np.mean(np.sum(residual.moment**2, axis=1)))),
        "cycles": {foot: [vars(cycle) for cycle in cycles] for foot, cycles in analysis.cycles.items()},
        "coordinates": {
            name: {
                "range": [float(motion.of(name).min()), float(motion.of(name).max())],
                "moment": _extremes(analysis.moment(name)),
                "power": _extremes(analysis.power(name)),
                "deviation": _deviations(analysis, name),
            }
            for name in motion.names
        },
        "beside_file": [vars(one) for one in agreements(analysis, analysis.results)],
        "checks": checks_document(person_checks(analysis)),
        "warnings": list(analysis.warnings),
        "calibration": calibration_document(analysis.calibration),
        "notes": list(analysis.notes),
    }


def _deviations(analysis: PersonTrial, name: str) -> list[float]:
    """Standard deviations of a coordinate and of its moment by random errors, over the frames that are known."""
    import numpy as np

    angle, moment = analysis.random_errors.coordinate(name), analysis.random_errors.moment(name)
    moment = moment[np.isfinite(analysis.moment(name))]
    return [float(np.sqrt(np.mean(x**2))) if len(x) else math.nan for x in (angle, moment)]


def _extremes(values: Array) -> list[float]:
    """The least and the greatest of the values that are known."""
    import numpy as np

    known = values[np.isfinite(values)]
    return [float(known.min()), float(known.max())] if len(known) else [math.nan, math.nan]


def calibration_document(calibration: Calibration | None) -> dict[str, Any] | None:
    """What was measured on the person, and how far landmarks were seen from their usual places."""
    if calibration is None:
        return None
    lengths = {name: {"measured": own, "table": usual, "unit": "m"}
               for name, (own, usual) in (calibration.lengths or {}).items()}  # fmt: skip
    held_out = None if calibration.held_out is None else {"unit": "m", **calibration.held_out}
    return {"lengths": lengths, "held_out": held_out, "notes": list(calibration.notes)}


def _tell(analysis: PersonTrial, written: list[str]) -> None:
    """The trial in a table and a few lines."""
    from torseur.cli.shared.console import say, show_table
    from torseur.presentation.report.person.person_tables import joint_table, person_checks

    say(
        f"{analysis.name}: {analysis.height:g} m, {analysis.mass:g} kg, {len(analysis.motion)} frames, "
        f"{len(analysis.fit.labels)} markers; reactions from {analysis.source}; {analysis.markers.axes}"
    )
    table = joint_table(analysis)
    show_table("", table.headings, table.rows, table.numeric)
    checks = [f"{'ok ' if check.ok else 'BAD'} {check.title}: {check.detail}" for check in person_checks(analysis)]
    warnings = [f"warning: {text}" for text in analysis.warnings]
    fitted = analysis.calibration.notes if analysis.calibration else ()
    files = [f"written: {path}" for path in written]
    say("\n".join([*checks, *warnings, *fitted, *analysis.notes, *files]))
