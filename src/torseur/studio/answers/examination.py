"""What takes longer than a moment: the loop doctor's words and the sensitivities of the motion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from torseur.errors import TorseurError
from torseur.report.compose.influences import influences_of, note_on, slope_plots
from torseur.report.compose.loops import loops_of
from torseur.report.content import ReportContent
from torseur.report.influences import sensitivities
from torseur.report.loops import loops
from torseur.sensitivity.analysis import sensitivity
from torseur.studio.answers.model import Model, model_of
from torseur.studio.answers.motion import curve_arrays, plot_frames
from torseur.studio.messages import Request, binary_message, text_message

RTOL = 1e-6
SAMPLES = 160


def examine(request: Request, folder: Path | None) -> Iterator[bytes]:
    """Sensitivities of the criterion, then the loops; each part says itself why it cannot be given."""
    try:
        model = model_of(request.text, folder)
    except TorseurError as problem:
        yield text_message("slopes", request.number, reason=str(problem))
        return
    if not model.tree.layout.coordinates:
        yield text_message("slopes", request.number, reason="Nothing moves here yet.")
    elif model.lacking(request.values):
        yield text_message("slopes", request.number, reason="Sensitivities need a motion.")
    else:
        yield _slopes(model, request)
    if "loops" in request.what.split():
        yield text_message("loops", request.number, **_loops(model, request))


def _slopes(model: Model, request: Request) -> bytes:
    """How the criterion changes with each parameter: a table, and curves along time."""
    criterion = request.criterion or model.tree.layout.coordinate_names[0]
    try:
        found = sensitivity(
            model.equations(),
            [criterion],
            until=request.until,
            samples=SAMPLES,
            values=model.filled(request.values),
            initial=model.own_start(request.initial),
            rtol=RTOL,
        )
    except TorseurError as problem:
        return text_message("slopes", request.number, reason=str(problem))
    page, shown = model.page(request.values), slope_plots(found)
    table = sensitivities(influences_of(found), note_on(found))
    return binary_message(
        "slopes",
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
        return {"html": "", "reason": "No loop closes here: the mechanism is a tree."}
    found = loops_of(model.mechanism, model.own(request.values), model.own_start(request.initial) or None)
    content = ReportContent(page.title(), bodies=page.named_bodies(), joints=page.joints())
    return {"html": loops(replace(content, loops=found)), "reason": ""}
