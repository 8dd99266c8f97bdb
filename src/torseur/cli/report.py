"""`torseur report`: everything about a mechanism on one page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.options import (
    ForceOption,
    FormalismOption,
    InitOption,
    JsonOption,
    LawOption,
    RtolOption,
    SetOption,
    SourceArgument,
    ValuesOption,
)
from torseur.cli.robots import BaseOption, DensityOption, MergeOption, StrictOption, asked
from torseur.cli.sensitivity import ParametersOption

if TYPE_CHECKING:
    from torseur.cli.work import Work
    from torseur.report.content import ReportContent, Reproduction


PageOption = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="The page to write; by default NAME.html.")
]
CriterionOption = Annotated[
    list[str] | None,
    typer.Option("--criterion", metavar="EXPR", help="Show how this formula changes with parameters. Repeatable."),
]
LengthOption = Annotated[
    str, typer.Option("--until", metavar="T", help="Length of the motion shown, e.g. 10 or '500 ms'.")
]


def report(
    source: SourceArgument,
    out: PageOption = None,
    until: LengthOption = "10",
    rtol: RtolOption = 1e-9,
    formalism: FormalismOption = "recursive",
    settings: SetOption = None,
    starts: InitOption = None,
    laws: LawOption = None,
    values: ValuesOption = None,
    strict: StrictOption = False,
    base: BaseOption = None,
    merge_fixed: MergeOption = False,
    density: DensityOption = None,
    criterion: CriterionOption = None,
    parameters: ParametersOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Mechanism, equations, motion, checks and how to reproduce them, as one HTML file that needs no network.

    Example: torseur report library:double_pendulum -o report.html
    """
    from torseur.cli.console import progress
    from torseur.cli.files import require_free, require_suffix
    from torseur.cli.work import Work, duration
    from torseur.report.compose.making import Occasion, content_of
    from torseur.report.page import write_report

    work = Work.begin(asked(source, strict, base, merge_fixed, density), settings, starts, laws, values)
    place = out if out is not None else Path(re.sub(r"[^\w.-]", "_", work.source.mechanism.name) + ".html")
    require_free(place, force)
    require_suffix(place, (".html", ".htm"))
    given = (work.values.parameters, work.values.initial)
    with progress(f"{work.source.mechanism.name}: report", quiet=json) as follow:
        judged = (tuple(criterion or ()), parameters)
        occasion = Occasion(duration(until), formalism, *given, rtol, _reproduction(work), *judged, follow)
        content = content_of(work.source.mechanism, occasion, work.source.robot)
    write_report(content, place, overwrite=force)
    _tell(content, place, json)


def _tell(content: ReportContent, place: Path, json: bool) -> None:
    """Where the page is, and what is doubtful in it."""
    from torseur.cli.console import print_json, say

    size = place.stat().st_size
    if json:
        print_json({"written": str(place), "bytes": size, "checks": content.checks, "certificate": content.certificate,
                    "warnings": content.warnings})  # fmt: skip
        return
    failed = [f"check failed: {check.title}" for check in content.checks if not check.ok]
    if content.certificate is not None and not content.certificate.agrees:
        failed.append(content.certificate.verdict)
    for text in (*content.warnings, *failed):
        say(f"warning: {text}")
    say(f"written: {place} ({size / 1000:.0f} kB)")


def _reproduction(work: Work) -> Reproduction:
    import sys

    import numpy as np

    from torseur.cli.files import typed_command
    from torseur.cli.version import version
    from torseur.report.content import Reproduction

    versions = (("torseur", version()), ("python", sys.version.split()[0]), ("numpy", np.__version__))
    return Reproduction((typed_command(),), work.source.name, work.source.text, versions)
