"""`torseur limb`: a person's own inertia of a limb from its movements on a force plate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from torseur.cli.commands.analysis.person import HEIGHT, MASS, STANDING, TABLE
from torseur.cli.commands.analysis.protocol_options import ProtocolOptions, read_protocol
from torseur.cli.commands.analysis.recording import RecordingOptions
from torseur.cli.shared.option_rules import force_needs, option_rules
from torseur.cli.shared.options import OUTPUT, ForceOption, JsonOption

if TYPE_CHECKING:
    from torseur.analysis.biomechanics.limb_inertia import LimbEstimate

TRIALS = "Recordings of the limb's movements, markers and a force plate: .c3d."
LIMB = "right arm, left arm, right leg or left leg."
CENTRE = "The joint: located from the markers (score), or where the model has it (model)."
RATES = (
    "Motion and inertia together in one fit; or rotations differentiated first by kalman, source (Monnet 2007, for 50 "
    "frames a second) or savitzky_golay."
)


class LimbOptions(NamedTuple):
    """What `torseur limb` is asked for."""

    trials: Annotated[list[Path], typer.Argument(metavar="TRIAL...", help=TRIALS, show_default=False)]
    height: Annotated[str, typer.Option("--height", metavar="LENGTH", help=HEIGHT, show_default=False)]
    mass: Annotated[str, typer.Option("--mass", metavar="MASS", help=MASS, show_default=False)]
    limb: Annotated[str, typer.Option("--limb", metavar="NAME", help=LIMB)] = "right arm"
    table: Annotated[str, typer.Option("--table", metavar="NAME", help=TABLE)] = "de_leva_male"
    standing: Annotated[Path | None, typer.Option("--standing", metavar="FILE", help=STANDING)] = None
    centre: Annotated[str, typer.Option("--centre", metavar="NAME", help=CENTRE)] = "score"
    rates: Annotated[str, typer.Option("--rates", metavar="NAME", help=RATES)] = "together"
    protocol: ProtocolOptions = ProtocolOptions()
    recording: RecordingOptions = RecordingOptions()
    report: Annotated[
        Path | None,
        typer.Option("--report", "-r", metavar="FILE", help="Write an HTML report.", rich_help_panel=OUTPUT),
    ] = None
    force: ForceOption = False
    json: JsonOption = False


@option_rules(force_needs("--report"))
def limb(options: LimbOptions) -> None:
    """Identify the inertia matrix and first moment of a limb from its movements and the ground reaction.

    The person stands or sits on a force plate and moves the limb, straight, about its first joint, in all directions;
    everything else stays still.

    Example: torseur limb flexion.c3d abduction.c3d rotation.c3d --height 1.78 --mass 74 --report arm.html
    """
    from torseur.analysis.biomechanics.limb_inertia import identify_limb, limb_of
    from torseur.analysis.biomechanics.person import calibrate, turn_to_model_axes
    from torseur.analysis.biomechanics.person.protocol import require_set
    from torseur.analysis.biomechanics.person_model.human36 import human36
    from torseur.analysis.biomechanics.person_model.marker_sets import OWN
    from torseur.analysis.biomechanics.recordings.motion_trial import MotionTrial
    from torseur.cli.commands.analysis.recording import open_recording
    from torseur.cli.shared.console import working
    from torseur.cli.shared.output_files import require_outputs
    from torseur.cli.shared.value_options import si_number

    report, recording = options.report, options.recording
    require_outputs(options.force, (report, (".html",)))
    height, mass = si_number("--height", options.height, "m"), si_number("--mass", options.mass, "kg")
    model = human36(height, mass, options.table)
    how = read_protocol(options.protocol, recording)
    seen = [turn_to_model_axes(open_recording(path, *recording), how.marker_set)[0] for path in options.trials]
    for trial in seen:
        require_set(trial.markers.labels, how)
    if options.standing is not None:
        still = turn_to_model_axes(
            MotionTrial(open_recording(options.standing, recording.points).markers), how.marker_set
        )
        model = calibrate(model, still[0].markers, how).mechanism
    elif how.marker_set.name != OWN:
        model = calibrate(model, seen[0].markers, how, standing=False).mechanism
    with working(f"{options.limb}: {len(seen)} trials", quiet=options.json):
        estimate = identify_limb(seen, limb_of(model, options.limb), rates=options.rates, centre=options.centre)
    _tell(estimate, (f"{height:g} m, {mass:g} kg", options.table), options)


def _tell(estimate: LimbEstimate, who: tuple[str, ...], options: LimbOptions) -> None:
    from torseur.cli.commands.analysis.identify import checks_document
    from torseur.cli.shared.console import print_json, say, show_table
    from torseur.cli.shared.exits import end_with
    from torseur.cli.shared.output_files import reproduction
    from torseur.presentation.report.page.report_page import write_report
    from torseur.presentation.report.person.limb_page import limb_content, limb_table

    report = options.report
    content = limb_content(estimate, who, reproduction())
    if report is not None:
        write_report(content, report, overwrite=options.force)
    if options.json:
        checked = checks_document(content.checks)
        print_json({**limb_document(estimate), "checks": checked, "written": None if report is None else str(report)})
    else:
        table = limb_table(estimate)
        show_table(estimate.limb.name, table.headings, table.rows, table.numeric)
        checks = [f"{'ok ' if check.ok else 'BAD'} {check.title}: {check.detail}" for check in content.checks]
        say("\n".join([*checks, *(f"warning: {text}" for text in content.warnings)]))
        if report is not None:
            say(f"written: {report}")
    end_with([check.title for check in content.checks if not check.ok])


def limb_document(estimate: LimbEstimate) -> dict[str, Any]:
    """An identified limb as plain data."""
    from torseur.cli.commands.analysis.identify import certificate_document

    inertia, moment = estimate.limb.inertia
    return {
        "limb": estimate.limb.name,
        "inertia": estimate.inertia,
        "first_moment": estimate.moment,
        "deviation": estimate.deviation,
        "inertia_deviation": estimate.inertia_deviation,
        "first_moment_deviation": estimate.deviation[:3, 6],
        "noise": None if estimate.fit is None else estimate.fit.words,
        "anthropometry": {"inertia": inertia, "first_moment": moment},
        "difference_percent": {"inertia": estimate.differences[0], "first_moment": estimate.differences[1]},
        "real_body": estimate.positive,
        "certificate": certificate_document(estimate.estimate.certificate),
        "warnings": [*estimate.warnings, *estimate.estimate.warnings],
    }
