"""`torseur sweep`: all points of a study, into a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from torseur.cli.options import JsonOption

if TYPE_CHECKING:
    from torseur.studies.summary import Summary
    from torseur.studies.sweep import Swept

StudyArgument = Annotated[Path, typer.Argument(metavar="STUDY.toml", help="A study file.", show_default=False)]
StoreOption = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="STORE", help="The zarr store; beside the study by default.")
]
ProcessesOption = Annotated[
    int | None, typer.Option("--processes", min=1, help="Processes on this machine; one per core by default.")
]
WorkersOption = Annotated[int | None, typer.Option("--workers", min=1, help="Workers of a local dask cluster.")]
SchedulerOption = Annotated[str | None, typer.Option("--scheduler", metavar="ADDRESS", help="A dask scheduler.")]


def sweep(
    study: StudyArgument,
    out: StoreOption = None,
    processes: ProcessesOption = None,
    workers: WorkersOption = None,
    scheduler: SchedulerOption = None,
    json: JsonOption = False,
) -> None:
    """Compute the criteria of a study at all its points, on all cores or a cluster; run again, it goes on.

    Example: torseur sweep pendulum.toml -o pendulum.zarr
    """
    from torseur.cli.console import print_json, progress
    from torseur.studies import read_study, summarise
    from torseur.studies import sweep as run

    described = read_study(study)
    with progress(f"{study.name}: points", json) as follow:
        swept = run(
            described, out, processes=processes, workers=workers, scheduler=scheduler,
            progress=lambda done, size: follow(done / size),
        )  # fmt: skip
    summary = summarise(swept.store)
    if json:
        print_json(_document(swept, summary))
    else:
        _tell(swept, summary)


def _document(swept: Swept, summary: Summary) -> dict[str, Any]:
    return {
        "store": str(swept.store.path),
        "points": summary.points,
        "done": summary.done,
        "failed": summary.failed,
        "computed": swept.computed,
        "seconds": swept.seconds,
        "criteria": [vars(spread) for spread in summary.spreads],
        "influences": [vars(influence) for influence in summary.influences],
    }


def _tell(swept: Swept, summary: Summary) -> None:
    from torseur.cli.console import say, show_table

    rows = [
        [s.name, s.unit, f"{s.mean:.6g} ± {s.error:.2g}", *(f"{x:.6g}" for x in (s.deviation, s.lowest, s.highest))]
        for s in summary.spreads
    ]
    show_table("", ["criterion", "unit", "mean (95 %)", "deviation", "lowest", "highest"], rows, (2, 3, 4, 5))
    if summary.influences:
        headings = {"saltelli": ["first order", "total"], "morris": ["mean effect", "spread"]}[summary.method]
        table = [[i.criterion, i.axis, f"{i.first:.4g}", f"{i.second:.4g}"] for i in summary.influences]
        show_table("", ["criterion", "axis", *headings], table, (2, 3))
    say(f"{summary.done} of {summary.points} points done, {summary.failed} failed; {swept.computed} computed now, "
        f"{swept.rate:.0f} a second.")  # fmt: skip
    for point, text in list(swept.store.failures().items())[:3]:
        say(f"point {point}: {text}")
    say(f"store: {swept.store.path}")
