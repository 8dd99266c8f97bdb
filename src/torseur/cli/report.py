"""`torseur report`: everything about a mechanism on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.options import (
    ForceOption,
    FormalismOption,
    InitOption,
    JsonOption,
    LawOption,
    SetOption,
    SourceArgument,
    ValuesOption,
)

if TYPE_CHECKING:
    from torseur.cli.work import Work
    from torseur.equations import Equations
    from torseur.report.content import ReportContent, Reproduction
    from torseur.simulation import Trajectory

MOST_SAMPLES, LEAST_SAMPLES, PER_SECOND = 600, 100, 40
MOST_POSES = 15_000  # samples times bodies


def report(
    source: SourceArgument,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The page to write; by default NAME.html.")
    ] = None,
    until: Annotated[
        str, typer.Option("--until", metavar="T", help="Length of the motion shown, e.g. 10 or '500 ms'.")
    ] = "10",
    rtol: Annotated[float, typer.Option("--rtol", help="Relative error allowed per step.")] = 1e-9,
    formalism: FormalismOption = "recursive",
    settings: SetOption = None,
    starts: InitOption = None,
    laws: LawOption = None,
    values: ValuesOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Mechanism, equations, motion, checks and how to reproduce them, as one HTML file that needs no network.

    Example: torseur report library:double_pendulum -o report.html
    """
    from torseur.cli.console import print_json, say
    from torseur.cli.files import require_free
    from torseur.cli.work import Work
    from torseur.report.page import write_report

    work = Work.begin(source, settings, starts, laws, values)
    place = out if out is not None else Path(f"{work.source.mechanism.name}.html")
    require_free(place, force)
    content = contents(work, formalism, until, rtol, quiet=json)
    write_report(content, place, overwrite=force)
    failed = [check.title for check in content.checks if not check.ok]
    if json:
        print_json(
            {
                "written": str(place),
                "bytes": place.stat().st_size,
                "checks": content.checks,
                "warnings": content.warnings,
            }
        )
        return
    for text in (*content.warnings, *(f"check failed: {title}" for title in failed)):
        say(f"warning: {text}")
    say(f"written: {place} ({place.stat().st_size / 1000:.0f} kB)")


def contents(work: Work, formalism: str, until: str, rtol: float, quiet: bool) -> ReportContent:
    """The page's content; what cannot be derived or computed is left out, and the page says why."""
    from torseur.errors import UnsupportedError
    from torseur.report.compose.compose import compose

    notes: list[str] = []
    equations, motion = None, None
    try:
        equations = work.equations(formalism)
        motion = _motion(work, equations, until, rtol, quiet, notes)
    except UnsupportedError as problem:
        notes.append(f"No equations: {problem}")
    return compose(
        work.source.mechanism, equations, motion, values=work.values.parameters, reproduction=_reproduction(work),
        notes=tuple(notes),
    )  # fmt: skip


def _motion(
    work: Work, equations: Equations, until: str, rtol: float, quiet: bool, notes: list[str]
) -> Trajectory | None:
    from torseur.cli.work import duration
    from torseur.errors import SimulationError, TorseurError
    from torseur.report.compose.compose import outputs_for

    if lacking := work.undetermined():
        notes.append(f"No motion: there is {lacking}.")
        return None
    samples = sample_count(duration(until), len(work.source.mechanism.bodies))
    try:
        return work.motion(
            equations.formalism, until, rtol=rtol, samples=samples, outputs=outputs_for(equations), quiet=quiet
        )
    except SimulationError as problem:
        notes.append(f"The motion ended early: {problem}")
        partial = problem.trajectory
        return partial if partial is not None and len(partial) > 1 else None  # type: ignore[arg-type,return-value]
    except TorseurError as problem:
        notes.append(f"No motion: {problem}")
        return None


def sample_count(seconds: float, bodies: int) -> int:
    """Enough samples to look smooth, few enough to keep the page small."""
    wanted = min(MOST_SAMPLES, max(LEAST_SAMPLES, round(abs(seconds) * PER_SECOND)))
    return int(min(wanted, max(50, MOST_POSES // max(1, bodies))))


def _reproduction(work: Work) -> Reproduction:
    import shlex
    import sys

    import numpy as np

    from torseur.cli.version import version
    from torseur.report.content import Reproduction

    command = shlex.join(["torseur", *sys.argv[1:]])
    versions = (("torseur", version()), ("python", sys.version.split()[0]), ("numpy", np.__version__))
    return Reproduction((command,), work.source.name, work.source.text, versions)
