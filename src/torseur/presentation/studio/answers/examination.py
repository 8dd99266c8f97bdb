"""What takes longer than a glance: the loop doctor's words and the sensitivities of the motion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from torseur.analysis.sensitivity.sensitivity_analysis import sensitivity
from torseur.errors import TorseurError
from torseur.presentation.report.compose.examination_content import influences_of, loops_of, note_on, sensitivity_plots
from torseur.presentation.report.page.examination_view import branch_motions, loops, sensitivities
from torseur.presentation.report.page.report_content import ReportContent
from torseur.presentation.studio.answers.motion_answers import curve_arrays, plot_frames
from torseur.presentation.studio.answers.text_model import Model, model_of
from torseur.presentation.studio.messages import Request, binary_message, text_message

RTOL = 1e-6
SAMPLES = 160


def examine(request: Request, folder: Path | None) -> Iterator[bytes]:
    """Sensitivities of the criterion, then the loops; each part says itself why it cannot be given."""
    try:
        model = model_of(request.text, folder)
    except TorseurError as problem:
        yield text_message("derivatives", request.number, reason=str(problem))
        return
    if not model.tree.layout.coordinates:
        yield text_message("derivatives", request.number, reason="Nothing moves here yet.")
    elif model.missing(request.values):
        yield text_message("derivatives", request.number, reason="Sensitivities need a motion.")
    else:
        yield _sensitivities(model, request)
    if "loops" in request.what.split():
        yield text_message("loops", request.number, **_loops(model, request))


def _sensitivities(model: Model, request: Request) -> bytes:
    """How the criterion changes with each parameter: a table, and curves along time."""
    criterion = request.criterion or model.tree.layout.coordinate_names[0]
    try:
        results = sensitivity(
            model.equations(),
            [criterion],
            until=request.until,
            samples=SAMPLES,
            values=model.fill(request.values),
            initial=model.own_start(request.initial),
            rtol=RTOL,
            verify=False,  # a slider asks for many of these in a second
        )
    except TorseurError as problem:
        return text_message("derivatives", request.number, reason=str(problem))
    page, shown = model.page(request.values), sensitivity_plots(results)
    table = sensitivities(influences_of(results), note_on(results))
    return binary_message(
        "derivatives",
        request.number,
        curve_arrays(shown),
        criterion=criterion,
        html=table,
        plots=plot_frames(page, shown, "Plots of the sensitivities"),
        reason="",
    )


def _loops(model: Model, request: Request) -> dict[str, Any]:
    """The loop doctor's findings, with the picture of the loops."""
    page = model.page(request.values)
    if not page.account.loops and not page.account.constraints:
        return {"html": "", "reason": "No loop closes here: the mechanism is a tree.", "branches": []}
    start = model.own_start(request.initial) or None
    report = loops_of(model.mechanism, model.own(request.values), start, page.composition.numbers)
    content = ReportContent(page.title(), bodies=page.named_bodies(), joints=page.joints())
    return {"html": loops(replace(content, loops=report)), "reason": "", "branches": branch_motions(report)}
