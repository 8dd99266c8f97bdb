"""`torseur report`: everything about a mechanism on one page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from torseur.cli.commands.analysis.sensitivity_options import ParametersOption
from torseur.cli.shared.option_rules import Rule, option_rules
from torseur.cli.shared.options import (
    ForceOption,
    FormalismOption,
    JsonOption,
    RtolOption,
    SourceArgument,
    ValueOptions,
)
from torseur.cli.shared.robot_options import RobotOptions, with_robot_options

if TYPE_CHECKING:
    from torseur.presentation.report.page.report_content import ReportContent


PageOption = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="The page to write; by default NAME.html.")
]
CriterionOption = Annotated[
    list[str] | None,
    typer.Option("--criterion", metavar="EXPR", help="Criterion whose sensitivities are shown. Repeatable."),
]
OutputOption = Annotated[
    list[str] | None,
    typer.Option("--output", metavar="EXPR", help="Plot this too: elbow.force.x, 'camber = angle(...)'. Repeatable."),
]
OverOption = Annotated[
    str | None,
    typer.Option("--over", metavar="EXPR", help="Also plot the outputs, or all coordinates, against this quantity."),
]
ArrowsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--arrows",
        metavar="KIND",
        help="Arrows: velocity, force or reaction, optionally with a scale in m per unit: force=0.002. Repeatable.",
    ),
]
LengthOption = Annotated[
    str, typer.Option("--until", metavar="T", help="Time at which the motion shown ends, e.g. 10 or '500 ms'.")
]


class ReportOptions(NamedTuple):
    """Which motion the page shows, with which values, and where it goes."""

    source: SourceArgument
    out: PageOption = None
    until: LengthOption = "10"
    rtol: RtolOption = 1e-9
    formalism: FormalismOption = "recursive"
    values: ValueOptions = ValueOptions()
    robot: RobotOptions = RobotOptions()
    output: OutputOption = None
    over: OverOption = None
    arrows: ArrowsOption = None
    criterion: CriterionOption = None
    parameters: ParametersOption = None
    force: ForceOption = False
    json: JsonOption = False


@option_rules(Rule("--parameters", needs="--criterion", why="they are what a criterion changes with"))
def report(options: ReportOptions) -> None:
    """Write a report with mechanism, equations, motion and checks: one HTML file that needs no network.

    Example: torseur report library:double_pendulum -o report.html
    """
    from torseur.cli.shared.console import progress
    from torseur.cli.shared.output_files import reproduction, require_outputs
    from torseur.cli.shared.prepared_model import Work, duration
    from torseur.presentation.report.compose.make_report import Occasion, content_of
    from torseur.presentation.report.page.report_page import write_report

    work = Work.begin(with_robot_options(options.source, options.robot), options.values)
    place = options.out or Path(re.sub(r"[^\w.-]", "_", work.source.mechanism.name) + ".html")
    require_outputs(options.force, (place, (".html", ".htm")))
    with progress(f"{work.source.mechanism.name}: report", quiet=options.json) as follow:
        occasion = Occasion(
            until=duration(options.until),
            formalism=options.formalism,
            parameters=work.values.parameters,
            initial=work.values.initial,
            rtol=options.rtol,
            reproduction=reproduction(work.source.name, work.source.text),
            outputs=tuple(options.output or ()),
            over=options.over or "",
            arrows=tuple(options.arrows or ()),
            criteria=tuple(options.criterion or ()),
            vary=options.parameters,
            progress=follow,
        )
        content = content_of(work.source.mechanism, occasion, work.source.robot)
    write_report(content, place, overwrite=options.force)
    _tell(content, place, options.json)


def _tell(content: ReportContent, place: Path, json: bool) -> None:
    """Where the page is, and what is doubtful in it."""
    from torseur.cli.shared.console import print_json, say
    from torseur.cli.shared.exits import end_with

    size = place.stat().st_size
    failed = [check.title for check in content.checks if not check.ok]
    if content.certificate is not None and not content.certificate.agrees:
        failed.append(content.certificate.verdict)
    if json:
        print_json({"written": str(place), "bytes": size, "checks": content.checks, "certificate": content.certificate,
                    "warnings": content.warnings, "failed_checks": failed})  # fmt: skip
    else:
        say("\n".join([*(f"warning: {text}" for text in content.warnings), f"written: {place} ({size / 1000:.0f} kB)"]))
    # The page is written all the same: it shows which check failed and where.
    end_with(failed)
