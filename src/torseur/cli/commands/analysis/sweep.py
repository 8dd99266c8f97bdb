"""`torseur sweep`: all points of a study, into a store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from torseur.cli.shared.option_rules import Rule, force_needs, option_rules
from torseur.cli.shared.options import ForceOption, JsonOption

if TYPE_CHECKING:
    from torseur.analysis.studies.definition.study import SweepStudy
    from torseur.analysis.studies.sweeps.store_seals import Damage
    from torseur.analysis.studies.sweeps.sweep import SweepRun
    from torseur.analysis.studies.sweeps.sweep_summary import Summary

MOST_LINES = 40  # of a table on the screen

StudyArgument = Annotated[Path, typer.Argument(metavar="STUDY.toml", help="A study file.", show_default=False)]
StoreOption = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="STORE", help="The zarr store; beside the study by default.")
]
CoresOption = Annotated[int | None, typer.Option("--cores", min=1, help="Cores of this machine; all by default.")]
WorkersOption = Annotated[int | None, typer.Option("--workers", min=1, help="Workers of a local dask cluster.")]
SharedOption = Annotated[
    bool, typer.Option("--shared", help="Workers can reach the store and write their chunks themselves.")
]
BackendOption = Annotated[
    str | None,
    typer.Option("--backend", metavar="cpu|cuda", help="Where motions are computed, overriding the study."),
]
CheckOption = Annotated[
    bool, typer.Option("--check", help="Only verify the checksums of the store, and list what is damaged.")
]
ReportOption = Annotated[
    Path | None, typer.Option("--report", metavar="FILE.html", help="Write a page with tables and plots.")
]
SchedulerOption = Annotated[str | None, typer.Option("--scheduler", metavar="ADDRESS", help="A dask scheduler.")]


class SweepOptions(NamedTuple):
    """What `torseur sweep` is asked for."""

    study: StudyArgument
    out: StoreOption = None
    cores: CoresOption = None
    workers: WorkersOption = None
    scheduler: SchedulerOption = None
    shared: SharedOption = False
    backend: BackendOption = None
    check: CheckOption = False
    report: ReportOption = None
    force: ForceOption = False
    json: JsonOption = False


@option_rules(
    Rule("--cores", not_with="--workers --scheduler", why="cores are those of this machine without a cluster"),
    Rule("--workers", not_with="--scheduler", why="a scheduler has workers of its own"),
    Rule("--shared", needs="--workers --scheduler", why="without a cluster this process writes the store"),
    Rule(
        "--check",
        not_with="--cores --workers --scheduler --shared --backend --report",
        why="checking a store computes nothing",
    ),
    force_needs("--report"),
)
def sweep(options: SweepOptions) -> None:
    """Compute the criteria of a study at all its points, on all cores or a cluster. Run it again to resume.

    Example: torseur sweep pendulum.toml -o pendulum.zarr --report pendulum.html
    """
    from torseur.analysis.studies import read_study, summarise
    from torseur.analysis.studies import sweep as run
    from torseur.cli.shared.console import print_json, remark, say
    from torseur.cli.shared.output_files import require_outputs
    from torseur.cli.shared.progress import point_progress

    require_outputs(options.force, (options.report, (".html",)))
    study = read_study(options.study)
    if options.check:
        _check(study, options.out, options.json)
        return
    with point_progress(options.study.name, options.json) as follow:
        swept = run(
            study, options.out, cores=options.cores, workers=options.workers, scheduler=options.scheduler,
            shared=options.shared, backend=options.backend, progress=follow,
        )  # fmt: skip
    for line in _damage_lines(swept.damage):
        remark(f"damaged, computed again: {line}")
    summary = summarise(swept.store)
    if options.report is not None:
        from torseur.presentation.report.studies import write_sweep_page

        write_sweep_page(swept.store, options.report)
    if options.json:
        print_json(_document(swept, summary, options.report))
    else:
        _tell(swept, summary)
        if options.report is not None:
            say(f"written: {options.report}")


def _check(study: SweepStudy, store: Path | None, json: bool) -> None:
    """Says what in the store is damaged; exit code 1 where anything is."""
    from torseur.analysis.studies import check_sweep
    from torseur.cli.shared.console import print_json, say
    from torseur.cli.shared.exits import end_with

    damage = check_sweep(study, store)
    if json:
        print_json({"damage": [str(found) for found in damage]})
    else:
        for line in _damage_lines(damage):
            say(f"damaged: {line}")
        say("the store is as it was written." if not damage else "Run the sweep again: it computes what is damaged.")
    end_with(["the store is damaged"] if damage else [])


def _damage_lines(damage: Sequence[Damage]) -> list[str]:
    rest = len(damage) - MOST_LINES
    return [*map(str, damage[:MOST_LINES]), *([f"and {rest} more"] if rest > 0 else [])]


def _document(swept: SweepRun, summary: Summary, report: Path | None) -> dict[str, Any]:
    return {
        "store": str(swept.store.path),
        "points": summary.points,
        "done": summary.done,
        "failed": summary.failed,
        "computed": swept.computed,
        "seconds": swept.seconds,
        "criteria": [vars(spread) for spread in summary.spreads],
        "influences": [vars(influence) for influence in summary.influences],
        "ranking": [vars(rank) for rank in summary.ranking],
        "yields": [vars(part) for part in summary.yields],
        "workers": swept.workers,
        "damage": [str(damage) for damage in swept.damage],
        "written": None if report is None else str(report),
    }


def _tell(swept: SweepRun, summary: Summary) -> None:
    from torseur.cli.shared.console import say, show_table

    several = len({s.operating_point for s in summary.spreads}) > 1
    head = ["operating point"] if several else []
    rows = [
        [
            *([s.operating_point] if several else []), s.name, s.unit, _with_error(s.mean, s.error),
            *(f"{x:.6g}" for x in (s.deviation, s.lowest, s.highest)),
        ]
        for s in summary.spreads[:MOST_LINES]
    ]  # fmt: skip
    numeric = tuple(k + len(head) for k in (2, 3, 4, 5))
    show_table("", [*head, "criterion", "unit", "mean", "deviation", "lowest", "highest"], rows, numeric)
    if len(summary.spreads) > MOST_LINES:
        say(f"... and {len(summary.spreads) - MOST_LINES} more; the store and the report have all.")
    _tell_influences(summary, several)
    _tell_ranking(summary)
    for part in summary.yields[:MOST_LINES]:
        low, high = part.interval
        at = f" ({part.operating_point})" if several else ""
        say(f"constraints kept by {100 * part.part:.4g} % of the motions, 95 % interval {100 * low:.4g} to "
            f"{100 * high:.4g} %{at}.")  # fmt: skip
    say(f"{summary.done} of {summary.points} points done, {summary.failed} failed; {swept.computed} computed now, "
        f"{swept.rate:.0f} a second ({swept.workers}).")  # fmt: skip
    for point, text in list(swept.store.failures().items())[:3]:
        say(f"point {point}: {text}")
    say(f"store: {swept.store.path}")


def _tell_influences(summary: Summary, several: bool) -> None:
    from torseur.cli.shared.console import show_table

    if not summary.influences:
        return
    head = ["operating point"] if several else []
    headings = {"saltelli": ["first order", "total"], "morris": ["mean effect", "spread"]}[summary.method]
    table = [
        [
            *([i.operating_point] if several else []), i.criterion, i.axis, _with_error(i.first, i.first_error),
            _with_error(i.second, i.second_error),
        ]
        for i in summary.influences[:MOST_LINES]
    ]  # fmt: skip
    show_table("", [*head, "criterion", "axis", *headings], table, (len(head) + 2, len(head) + 3))


def _tell_ranking(summary: Summary) -> None:
    """The parameters that the criteria are differentiated by, the one most worth a change first."""
    from torseur.cli.shared.console import show_table

    if summary.ranking:
        rows = [
            [r.criterion, r.parameter, r.unit, f"{r.change:.4g}", f"{r.largest:.4g}", f"{r.cost:g}", f"{r.merit:.4g}",
             f"{100 * r.first:.3g} %"]
            for r in summary.ranking[:MOST_LINES]
        ]  # fmt: skip
        head = ["criterion", "parameter", "unit", "change with 1 %", "largest", "cost", "per cost", "first at"]
        show_table("influence over all points", head, rows, (3, 4, 5, 6, 7))


def _with_error(value: float, error: float) -> str:
    return f"{value:.6g}" if error != error else f"{value:.6g} ± {error:.2g}"
