"""`torseur limb`: a person's own inertia of a limb from its movements on a force plate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from torseur.cli.options import OUTPUT, ForceOption, JsonOption
from torseur.cli.person import HEIGHT, MASS, STANDING, TABLE
from torseur.cli.recording import UnitOption, UpOption

if TYPE_CHECKING:
    from torseur.biomechanics.limb import LimbEstimate

TRIALS = "Recordings of the limb's movements, markers and a force plate: .c3d."
LIMB = "right arm, left arm, right leg or left leg."
CENTRE = "The joint: located from the markers (score), or where the model has it (model)."
RATES = "How rotations are differentiated: kalman, source (Monnet 2007, for 50 frames a second) or savitzky_golay."


def limb(
    trials: Annotated[list[Path], typer.Argument(metavar="TRIAL...", help=TRIALS, show_default=False)],
    height: Annotated[str, typer.Option("--height", metavar="LENGTH", help=HEIGHT, show_default=False)],
    mass: Annotated[str, typer.Option("--mass", metavar="MASS", help=MASS, show_default=False)],
    limb: Annotated[str, typer.Option("--limb", metavar="NAME", help=LIMB)] = "right arm",
    table: Annotated[str, typer.Option("--table", metavar="NAME", help=TABLE)] = "de_leva_male",
    standing: Annotated[Path | None, typer.Option("--standing", metavar="FILE", help=STANDING)] = None,
    centre: Annotated[str, typer.Option("--centre", metavar="NAME", help=CENTRE)] = "score",
    rates: Annotated[str, typer.Option("--rates", metavar="NAME", help=RATES)] = "kalman",
    unit: UnitOption = None,
    up: UpOption = None,
    report: Annotated[
        Path | None, typer.Option("--report", "-r", metavar="FILE", help="Write a page, .html.", rich_help_panel=OUTPUT)
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Inertia matrix and first moment of a limb from its movements and the ground's reaction.

    The person stands or sits on a force plate and moves the limb, straight, about its first joint, in all directions;
    everything else stays still.

    Example: torseur limb flexion.c3d abduction.c3d rotation.c3d --height 1.78 --mass 74 --report arm.html
    """
    from torseur.biomechanics.human36 import human36, joint_limits
    from torseur.biomechanics.limb import identified_limb, limb_of
    from torseur.biomechanics.motion_trial import MotionTrial
    from torseur.biomechanics.person import calibrated, facing
    from torseur.cli.console import working
    from torseur.cli.files import require_free, require_suffix
    from torseur.cli.person import quantity
    from torseur.cli.recording import open_recording

    if report is not None:
        require_suffix(report, (".html",))
        require_free(report, force)
    model = human36(quantity("--height", height, "m"), quantity("--mass", mass, "kg"), table)
    if standing is not None:
        still = facing(MotionTrial(open_recording(standing, unit, up).markers))[0].markers
        model, _ = calibrated(model, still, joint_limits())
    seen = [facing(open_recording(path, unit, up))[0] for path in trials]
    with working(f"{limb}: {len(seen)} trials", quiet=json):
        found = identified_limb(seen, limb_of(model, limb), rates=rates, centre=centre)
    _tell(found, (f"{height} m, {mass} kg", table), report, force, json)


def _tell(found: LimbEstimate, who: tuple[str, ...], report: Path | None, force: bool, json: bool) -> None:
    from torseur.cli.console import print_json, say, show_table
    from torseur.cli.person import reproduction
    from torseur.report.compose.limb import limb_content, limb_table
    from torseur.report.page import write_report

    content = limb_content(found, who, reproduction())
    if report is not None:
        write_report(content, report, overwrite=force)
    if json:
        return print_json({**limb_document(found), "written": None if report is None else str(report)})
    table = limb_table(found)
    show_table(found.limb.name, table.headings, table.rows, table.numeric)
    checks = [f"{'ok ' if check.ok else 'BAD'} {check.title}: {check.detail}" for check in content.checks]
    say("\n".join([*checks, *(f"warning: {text}" for text in content.warnings)]))
    if report is not None:
        say(f"written: {report}")
    return None


def limb_document(found: LimbEstimate) -> dict[str, Any]:
    """An identified limb as plain data."""
    inertia, moment = found.limb.inertia
    return {
        "limb": found.limb.name,
        "inertia": found.inertia,
        "first_moment": found.moment,
        "deviation": found.deviation,
        "anthropometry": {"inertia": inertia, "first_moment": moment},
        "difference_percent": {"inertia": found.differences[0], "first_moment": found.differences[1]},
        "real_body": found.positive,
        "iterations": found.estimate.descent.iterations,
        "warnings": [*found.warnings, *found.estimate.warnings],
    }
