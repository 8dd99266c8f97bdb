"""`torseur identify`: parameters of a mechanism from recorded motion and forces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from torseur.cli.shared.option_rules import Rule, force_needs, option_rules
from torseur.cli.shared.options import ForceOption, JsonOption

if TYPE_CHECKING:
    from torseur.analysis.identification import Estimate, MotionEstimate
    from torseur.analysis.identification.data.identification_study_file import Study
    from torseur.analysis.identification.estimators.consistent_fit import Certificate
    from torseur.analysis.identification.results.fit_checks import FitCheck
    from torseur.description.mechanism import Mechanism
    from torseur.presentation.report.page.report_content import Check, ReportContent, Reproduction

StudyArgument = Annotated[
    Path, typer.Argument(metavar="STUDY.toml", help="Mechanism, data, method and options.", show_default=False)
]
PageOption = Annotated[Path | None, typer.Option("--report", "-r", metavar="FILE", help="Write an HTML report.")]
DescriptionOption = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the mechanism with the results, .lsd.")
]
MethodOption = Annotated[
    str | None,
    typer.Option("--method", metavar="NAME", help="Method, overriding the study.", show_default=False),
]
PayloadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--payload",
        metavar="NAME",
        help="Include this payload in the written mechanism, as a fixed body.",
        show_default=False,
    ),
]
BaseOption = Annotated[
    bool, typer.Option("--base", help="Print the base parameters of the mechanism and stop; no data is read.")
]
VerifyOption = Annotated[
    bool,
    typer.Option("--verify/--no-verify", help="After an output-error fit, simulate the first recording independently."),
]


class IdentifyOptions(NamedTuple):
    """What `torseur identify` is asked for."""

    study: StudyArgument
    report: PageOption = None
    out: DescriptionOption = None
    method: MethodOption = None
    payload: PayloadOption = None
    base: BaseOption = False
    verify: VerifyOption = True
    force: ForceOption = False
    json: JsonOption = False


@option_rules(
    Rule("--report --out --method --verify", not_with="--base", why="base parameters follow from the mechanism alone"),
    Rule("--payload", needs="--out", why="it names what is written into the description"),
    force_needs("--report", "--out"),
)
def identify(options: IdentifyOptions) -> None:
    """Identify masses, mass centres, inertias, friction and other parameters from data, with their uncertainty.

    Example: torseur identify study.toml --report identified.html --out identified.lsd
    """
    from torseur.analysis.identification.data.identification_study_file import OUTPUT_ERROR, SEGMENTS, Study, read_study
    from torseur.cli.shared.exits import USAGE, CommandError, end_with
    from torseur.cli.shared.output_files import require_outputs
    from torseur.cli.shared.sources import open_source

    require_outputs(options.force, (options.report, (".html",)), (options.out, (".lsd",)))
    asked = read_study(options.study)
    if options.method is not None:
        asked = Study(asked.path, {**asked.tables, "method": options.method})
    source = open_source(asked.mechanism)
    if options.base:
        _tell_base(asked, source.mechanism, options.json)
        return
    asked.require_applicable()
    if not options.verify and asked.method != OUTPUT_ERROR:
        raise CommandError(f"--no-verify is for output-error fits: checks of {asked.method} cost nothing.", USAGE)
    roads: dict[str, Callable[[Study, Mechanism, bool], Result]]
    roads = {OUTPUT_ERROR: partial(_motion, verify=options.verify), SEGMENTS: _segments}
    result = roads.get(asked.method, _forces)(asked, source.mechanism, options.json)
    described = partial(result.described, options.payload or ())
    written = _write(result.content(source.text), options.report, described, options.out, options.force)
    _tell(result, written, options.json)
    end_with([check.title for check in result.checks if not check.ok])


class Result(NamedTuple):
    """What one road of identification hands to the command."""

    document: dict[str, object]
    content: Callable[[str], ReportContent]
    described: Callable[[Sequence[str]], tuple[Mechanism, tuple[str, ...]]]
    text: str
    checks: Sequence[FitCheck]


def _forces(study: Study, mechanism: Mechanism, quiet: bool) -> Result:
    """The identification by regressor."""
    from torseur.analysis.identification.data.identification_study import study_model, study_options, study_trials
    from torseur.analysis.identification.identify import identify as compute
    from torseur.analysis.identification.results.write_back import write_back
    from torseur.cli.shared.console import progress
    from torseur.presentation.report.person.identification_page import identification_content

    with progress(f"{mechanism.name}: identification", quiet) as follow:
        model = study_model(study, mechanism)
        trials = study_trials(study, model)
        estimate = compute(model, trials, study.method, study_options(study, model, follow))

    def content(source: str) -> ReportContent:
        return identification_content(estimate, _reproduction(study, source))

    return Result(document_of(estimate), content, partial(write_back, estimate), str(estimate), estimate.checks)


def _motion(study: Study, mechanism: Mechanism, quiet: bool, verify: bool = True) -> Result:
    """The output-error fit."""
    from torseur.analysis.identification.data.identification_study import study_recordings, study_unknowns
    from torseur.analysis.identification.output_error import fit_motion
    from torseur.cli.shared.console import progress
    from torseur.computation.simulation.model.first_order_form import as_system
    from torseur.presentation.report.person.identification_page import motion_content

    system = as_system(mechanism)
    units = {q.name: q.unit for q in system.states} | {name: q.unit for name, (q, _) in system.quantities.items()}
    with progress(f"{mechanism.name}: fit", quiet) as follow:
        estimate = fit_motion(
            mechanism, study_recordings(study, units), study_unknowns(study),
            rtol=study.number("options", "rtol", 1e-9), method=str(study.table("options").get("fit", "gauss_newton")),
            verify=verify, progress=follow,
        )  # fmt: skip
    known = {p.name for p in mechanism.parameters}
    values = {n: float(v) for n, v in zip(estimate.names, estimate.values, strict=True) if n in known}

    def content(source: str) -> ReportContent:
        return motion_content(estimate, mechanism.name, _reproduction(study, source))

    def described(payloads: Sequence[str]) -> tuple[Mechanism, tuple[str, ...]]:
        return mechanism.with_values(**values), ()

    return Result(motion_document(estimate), content, described, str(estimate), estimate.checks)


def _segments(study: Study, mechanism: Mechanism, quiet: bool) -> Result:
    """The identification of a tree of segments from external forces."""
    from torseur.analysis.identification.data.identification_study import study_model, study_segment_trials
    from torseur.analysis.identification.segments import Stopping, identify_segments, segment_chain
    from torseur.cli.shared.console import progress
    from torseur.derivation.tree import build_tree
    from torseur.errors import UnsupportedError
    from torseur.presentation.report.person.identification_page import segments_content

    options = study.table("options")
    chain = segment_chain(build_tree(mechanism))
    with progress(f"{mechanism.name}: identification", quiet) as follow:
        trials = study_segment_trials(study, study_model(study, mechanism))
        iterations = study.number("options", "iterations", whole=True) if "iterations" in options else None
        estimate = identify_segments(
            trials, known_zero=chain.zero_blocks, positive=bool(options.get("positive", True)),
            stopping=None if iterations is None else Stopping(iterations=int(iterations)), progress=follow,
        )  # fmt: skip

    def content(source: str) -> ReportContent:
        return segments_content(estimate, chain, mechanism.name, _reproduction(study, source))

    def described(payloads: Sequence[str]) -> tuple[Mechanism, tuple[str, ...]]:
        raise UnsupportedError(
            "J holds sums over segments and cannot be written as a description. Use a method of the regressor, such "
            "as weighted."
        )

    document: dict[str, object] = {
        "method": study.method, "J": estimate.J, "deviation": estimate.deviation, "rows": chain.row_names,
        "units": chain.units, "certificate": certificate_document(estimate.certificate),
        "checks": checks_document(estimate.checks), "warnings": estimate.warnings,
    }  # fmt: skip
    if estimate.descent is not None:
        document |= {"iterations": estimate.descent.iterations, "projections": estimate.descent.projections}
    text = "\n".join([estimate.table(chain.row_names), *(f"warning: {w}" for w in estimate.warnings)])
    return Result(document, content, described, text, estimate.checks)


def certificate_document(certificate: Certificate | None) -> dict[str, object] | None:
    """The proof of a consistent fit as plain data."""
    return None if certificate is None else {**asdict(certificate), "holds": certificate.holds}


def checks_document(checks: Sequence[FitCheck | Check]) -> list[dict[str, object]]:
    return [{"ok": check.ok, "title": check.title, "detail": check.detail} for check in checks]


def document_of(estimate: Estimate) -> dict[str, object]:
    """An estimate as plain data."""
    low, high = estimate.interval
    rows = [
        {
            "name": name, "value": value, "deviation": deviation, "interval": [low[k], high[k]], "unit": unit,
            "stands_for": text, **_bootstrap(estimate, k),
        }
        for k, (name, value, deviation, _, unit, text) in enumerate(estimate.rows())
    ]  # fmt: skip
    return {
        "method": estimate.method,
        "condition": estimate.condition,
        "parameters": rows,
        "bodies": {} if estimate.parameters is None else {b: estimate.body(b) for b in estimate.model.bodies},
        "fits": {fit.name: fit.relative for fit in estimate.fits},
        "validation": {fit.name: fit.relative for fit in estimate.validation},
        "crossed": {fit.name: fit.relative for fit in estimate.cross_validation},
        "history": estimate.history,
        "certificate": certificate_document(estimate.certificate),
        "checks": checks_document(estimate.checks),
        "trusted": estimate.trusted,
        "warnings": estimate.warnings,
        "notes": estimate.notes,
    }


def _bootstrap(estimate: Estimate, number: int) -> dict[str, float]:
    return {} if estimate.bootstrap is None else {"bootstrap_deviation": float(estimate.bootstrap.deviation[number])}


def motion_document(estimate: MotionEstimate) -> dict[str, object]:
    """An output-error fit as plain data."""
    rows = zip(estimate.names, estimate.values, estimate.deviation, strict=True)
    return {
        "method": f"output_error, {estimate.method}",
        "parameters": [{"name": n, "value": float(v), "deviation": float(s)} for n, v, s in rows],
        "fits": {fit.name: fit.relative for fit in estimate.fits},
        "history": estimate.history,
        "converged": estimate.converged,
        "checks": checks_document(estimate.checks),
        "warnings": estimate.warnings,
    }


def _write(content: ReportContent, report: Path | None, described: Any, out: Path | None, force: bool) -> list[str]:
    """Writes what was asked for, and says what."""
    from torseur.cli.shared.output_files import write_text
    from torseur.description.language import to_text
    from torseur.presentation.report.page.report_page import write_report

    said = []
    if out is not None:
        mechanism, left = described()
        write_text(out, to_text(mechanism))
        without = f" (no place for {', '.join(left)})" if left else ""
        said.append(f"written: {out}{without}")
    if report is not None:
        write_report(content, report, overwrite=force)
        said.append(f"written: {report} ({report.stat().st_size / 1000:.0f} kB)")
    return said


def _tell(result: Result, written: list[str], json: bool) -> None:
    from torseur.cli.shared.console import print_json, say

    if json:
        print_json({**result.document, "written": written})
        return
    say("\n".join([result.text, *written]))


def _tell_base(study: Study, mechanism: Mechanism, json: bool) -> None:
    from torseur.analysis.identification import base_parameters
    from torseur.analysis.identification.data.identification_study import study_model
    from torseur.cli.shared.console import print_json, say

    parameters = base_parameters(study_model(study, mechanism))
    if json:
        names = {name: parameters.text(k) for k, name in enumerate(parameters.names)}
        print_json({"count": len(parameters), "base_parameters": names, "unfelt": parameters.unfelt})
    else:
        say(str(parameters))


def _reproduction(study: Study, source: str) -> Reproduction:
    from torseur.cli.shared.output_files import reproduction
    from torseur.edges.budgets import bounded_text

    text = bounded_text(study.path)
    return reproduction(study.path.name, f"{text}\n\n(* {study.mechanism} *)\n{source}")
