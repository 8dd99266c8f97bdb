"""`torseur optimise`: the best parameters of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.options import JsonOption
from torseur.cli.sweep import CoresOption, ReportOption, StudyArgument

if TYPE_CHECKING:
    from torseur.studies.optimisation import Optimum

LogOption = Annotated[
    Path | None, typer.Option("--log", metavar="FILE", help="Where every step is kept; beside the study by default.")
]


def optimise(
    study: StudyArgument,
    log: LogOption = None,
    cores: CoresOption = None,
    report: ReportOption = None,
    json: JsonOption = False,
) -> None:
    """Make a criterion of a study as small or large as its bounds and constraints allow; run again, it goes on.

    Example: torseur optimise suspension.toml --report suspension.html
    """
    from torseur.cli.console import print_json, say
    from torseur.cli.following import steps_taken
    from torseur.studies import optimise as run
    from torseur.studies import read_study

    described = read_study(study)
    with steps_taken(study.name, json) as follow:
        found = run(described, log, cores=cores, progress=follow)
    if report is not None:
        from torseur.report.studies import write_optimisation_page

        write_optimisation_page(found, described, report)
    if json:
        print_json({
            "point": found.point, "criteria": found.criteria, "objective": found.objective, "feasible": found.feasible,
            "messages": found.messages, "iterates": [vars(iterate) for iterate in found.iterates],
        })  # fmt: skip
        return
    _tell(found)
    if report is not None:
        say(f"report: {report}")


def _tell(found: Optimum) -> None:
    from torseur.cli.console import say, show_table

    points = [[name, f"{x:.9g}", found.units[name]] for name, x in found.point.items()]
    show_table("", ["parameter", "value", "unit"], points, (1,))
    criteria = [[name, f"{x:.9g}", found.units[name]] for name, x in found.criteria.items()]
    show_table("", ["criterion", "value", "unit"], criteria, (1,))
    if not found.feasible:
        say("No point was found that keeps all constraints; this is the nearest.")
    for number, message in enumerate(found.messages, 1):
        say(f"start {number}: {message}")
