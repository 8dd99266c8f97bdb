"""`torseur optimise`: the best parameters of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.commands.analysis.sweep import CoresOption, ReportOption, StudyArgument
from torseur.cli.shared.option_rules import force_needs, option_rules
from torseur.cli.shared.options import ForceOption, JsonOption

if TYPE_CHECKING:
    from torseur.analysis.studies.optimisation.optimisation import Optimum

LogOption = Annotated[
    Path | None,
    typer.Option("--log", metavar="FILE", help="File in which every step is recorded; beside the study by default."),
]


@option_rules(force_needs("--report"))
def optimise(
    study: StudyArgument,
    log: LogOption = None,
    cores: CoresOption = None,
    report: ReportOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Minimise or maximise a criterion of a study within its bounds and constraints. Run it again to resume.

    Example: torseur optimise suspension.toml --report suspension.html
    """
    from torseur.analysis.studies import optimise as run
    from torseur.analysis.studies import read_study
    from torseur.cli.shared.console import print_json, remark, say
    from torseur.cli.shared.exits import end_with
    from torseur.cli.shared.output_files import require_outputs
    from torseur.cli.shared.progress import step_progress

    require_outputs(force, (report, (".html",)))
    described = read_study(study)
    with step_progress(study.name, json) as follow:
        optimum = run(described, log, cores=cores, progress=follow)
    for what in optimum.damage:
        remark(f"the log was damaged, searched again: {what}.")
    if report is not None:
        from torseur.presentation.report.studies import write_optimisation_page

        write_optimisation_page(optimum, described, report)
    failed = [] if optimum.feasible else ["no point was found that satisfies all constraints"]
    if json:
        print_json({
            "point": optimum.point, "criteria": optimum.criteria, "objective": optimum.objective,
            "feasible": optimum.feasible, "messages": optimum.messages,
            "iterates": [vars(iterate) for iterate in optimum.iterates], "failed_checks": failed,
            "damage": optimum.damage,
            "written": None if report is None else str(report),
        })  # fmt: skip
    else:
        _tell(optimum)
        if report is not None:
            say(f"written: {report}")
    end_with(failed)


def _tell(optimum: Optimum) -> None:
    from torseur.cli.shared.console import say, show_table

    points = [[name, f"{x:.9g}", optimum.units[name]] for name, x in optimum.point.items()]
    show_table("", ["parameter", "value", "unit"], points, (1,))
    criteria = [[name, f"{x:.9g}", optimum.units[name]] for name, x in optimum.criteria.items()]
    show_table("", ["criterion", "value", "unit"], criteria, (1,))
    if not optimum.feasible:
        say("No point was found that satisfies all constraints; this is the closest.")
    for number, message in enumerate(optimum.messages, 1):
        say(f"start {number}: {message}")
