"""`torseur person`: joint angles, moments and powers of a person from a recorded trial."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from torseur.cli.commands.analysis.protocol_options import ProtocolOptions, read_protocol
from torseur.cli.commands.analysis.recording import RecordingArgument, RecordingOptions
from torseur.cli.shared.option_rules import force_needs, option_rules
from torseur.cli.shared.options import OUTPUT, ForceOption, JsonOption

if TYPE_CHECKING:
    from torseur.analysis.biomechanics.person import Calibration, PersonTrial

HEIGHT = "Height of the person, e.g. 1.78 or '178 cm'."
MASS = "Mass of the person in kg."
TABLE = "Proportions of the segments: de_leva_male, de_leva_female, dempster or human36."
STANDING = "Recording of the person standing still: lengths of segments and places of markers."
SET = "Another length, mass or radius of a segment, e.g. 'r_thigh_length=0.43 m'. Repeatable."
OUT = "File for angles, moments and powers over time, .csv."


class PersonOptions(NamedTuple):
    """What `torseur person` is asked for."""

    trial: RecordingArgument
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
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help=OUT, rich_help_panel=OUTPUT)] = None
    force: ForceOption = False
    json: JsonOption = False


@option_rules(force_needs("--report", "--out"))
def person(options: PersonOptions) -> None:
    """Compute joint angles, moments and powers of a person from markers and force plates.

    Examples:

      torseur person walk.c3d --height 1.78 --mass 74 --report walk.html

      torseur person squat.c3d --height '165 cm' --mass 58 --table de_leva_female --standing still.c3d

      torseur person gait.c3d --height 1.7 --mass 65 --marker-set plug_in_gait_lower --filter 6 --zero
    """
    from torseur.analysis.biomechanics.person import analyse_person
    from torseur.analysis.biomechanics.person_model.human36 import human36
    from torseur.cli.commands.analysis.recording import open_recording
    from torseur.cli.shared.console import print_json, working
    from torseur.cli.shared.exits import end_with
    from torseur.cli.shared.output_files import require_outputs
    from torseur.cli.shared.value_options import si_number
    from torseur.presentation.report.person.person_tables import person_checks

    require_outputs(options.force, (options.report, (".html",)), (options.out, (".csv",)))
    height, mass = si_number("--height", options.height, "m"), si_number("--mass", options.mass, "kg")
    model = human36(height, mass, options.table, values=dict(_setting(text) for text in options.settings or ()))
    protocol = read_protocol(options.protocol, options.recording)
    recorded = open_recording(options.trial, *options.recording)
    still = None if options.standing is None else open_recording(options.standing, options.recording.points).markers
    with working(f"{recorded.name}: {len(recorded.markers)} frames", quiet=options.json):
        analysis = analyse_person(
            recorded, height=height, mass=mass, table=options.table, standing=still, mechanism=model,
            protocol=protocol,
        )  # fmt: skip
    written = _write(analysis, options.report, options.out, options.force)
    if options.json:
        print_json({**person_document(analysis), "written": written})
    else:
        _tell(analysis, written)
    end_with([check.title for check in person_checks(analysis) if not check.ok])


def _setting(text: str) -> tuple[str, float]:
    from torseur.cli.shared.exits import USAGE, CommandError
    from torseur.cli.shared.value_options import si_number

    name, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"--set {text}: expected NAME=VALUE, such as --set 'r_thigh_length=0.43 m'.", USAGE)
    return name.strip(), si_number("--set", value, "kg" if name.strip().endswith("mass") else "m")


def _write(analysis: PersonTrial, report: Path | None, out: Path | None, force: bool) -> list[str]:
    written = []
    if report is not None:
        from torseur.cli.shared.output_files import reproduction
        from torseur.presentation.report.page.report_page import write_report
        from torseur.presentation.report.person.person_page import person_content

        write_report(person_content(analysis, reproduction()), report, overwrite=force)
        written.append(str(report))
    if out is not None:
        write_curves(out, analysis)
        written.append(str(out))
    return written


def write_curves(path: Path, analysis: PersonTrial) -> None:
    """Angles, moments, powers and reactions by time, with their units in the headings."""
    import csv

    from torseur.edges.plain_text import cell

    motion, dynamics = analysis.motion, analysis.dynamics
    columns: dict[str, Any] = {"time [s]": motion.time}
    for name in motion.names:
        length = name in ("pelvis_x", "pelvis_y", "pelvis_z")
        columns[f"{name} [{'m' if length else 'rad'}]"] = motion.of(name)
        columns[f"{name} {'force [N]' if length else 'moment [N m]'}"] = dynamics.moment(name)
        columns[f"{name} power [W]"] = dynamics.power(name)
    for foot, reaction in dynamics.reactions.items():
        for axis, force in zip("xyz", reaction.force.T, strict=True):
            columns[f"{foot} reaction {axis} [N]"] = force
    for axis, place in zip("xyz", dynamics.body.mass_centre.T, strict=True):
        columns[f"mass centre {axis} [m]"] = place
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(map(cell, columns))
        writer.writerows([repr(float(x)) for x in row] for row in zip(*columns.values(), strict=True))


def person_document(analysis: PersonTrial) -> dict[str, Any]:
    """A trial as plain data: extremes of every coordinate, quality, checks."""
    import numpy as np

    from torseur.cli.commands.analysis.identify import checks_document
    from torseur.presentation.report.person.person_tables import person_checks

    motion, dynamics = analysis.motion, analysis.dynamics
    residual = dynamics.residual
    return {
        "name": analysis.name,
        "height": analysis.height,
        "mass": analysis.mass,
        "table": analysis.table.name,
        "axes": str(analysis.markers.axes),
        "frames": len(motion),
        "reactions": analysis.source,
        "marker_distance": {"rms": analysis.fit.rms, "greatest": analysis.fit.greatest, "unit": "m"},
        "residual_force_rms": float(np.sqrt(np.mean(np.sum(residual.force**2, axis=1)))),
        "residual_moment_rms": float(np.sqrt(np.mean(np.sum(residual.moment**2, axis=1)))),
        "cycles": {foot: [vars(cycle) for cycle in cycles] for foot, cycles in analysis.cycles.items()},
        "coordinates": {
            name: {
                "range": [float(motion.of(name).min()), float(motion.of(name).max())],
                "moment": [float(dynamics.moment(name).min()), float(dynamics.moment(name).max())],
                "power": [float(dynamics.power(name).min()), float(dynamics.power(name).max())],
            }
            for name in motion.names
        },
        "checks": checks_document(person_checks(analysis)),
        "warnings": list(analysis.warnings),
        "calibration": calibration_document(analysis.calibration),
        "notes": list(analysis.notes),
    }


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
