"""`torseur optimise`: the best parameters of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from torseur.cli.options import JsonOption
from torseur.cli.sweep import StudyArgument

LogOption = Annotated[
    Path | None, typer.Option("--log", metavar="FILE", help="Where every step is kept; beside the study by default.")
]


def optimise(study: StudyArgument, log: LogOption = None, json: JsonOption = False) -> None:
    """Make a criterion of a study as small or large as its bounds and constraints allow; run again, it goes on.

    Example: torseur optimise suspension.toml
    """
    from torseur.cli.console import print_json, say, show_table
    from torseur.studies import optimise as run

    found = run(study, log)
    if json:
        print_json({
            "point": found.point, "criteria": found.criteria, "objective": found.objective, "feasible": found.feasible,
            "messages": found.messages, "iterates": [vars(iterate) for iterate in found.iterates],
        })  # fmt: skip
        return
    show_table("", ["parameter", "value"], [[name, f"{x:.9g}"] for name, x in found.point.items()], (1,))
    show_table("", ["criterion", "value"], [[name, f"{x:.9g}"] for name, x in found.criteria.items()], (1,))
    if not found.feasible:
        say("No point was found that keeps all constraints; this is the nearest.")
    for number, message in enumerate(found.messages, 1):
        say(f"start {number}: {message}")
