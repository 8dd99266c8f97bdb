"""The motion with the values of the sliders: poses of all bodies, curves, pictures and handles."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from torseur.computation.simulation import Output, Trajectory, simulate
from torseur.computation.simulation.model.first_order_form import as_system
from torseur.computation.simulation.model.system import System
from torseur.computation.simulation.simulate import system_on_constraints
from torseur.derivation.tree.definitions import undetermined_functions
from torseur.errors import SimulationError, TorseurError, list_names
from torseur.presentation.report.compose.compose_report import Page
from torseur.presentation.report.compose.make_report import label_of, sample_count
from torseur.presentation.report.compose.motion_content import crossplots_of, plots_of
from torseur.presentation.report.drawing.stage import curve_colour, plots, series_numbers
from torseur.presentation.report.page.equation_view import Index
from torseur.presentation.report.page.report_content import CrossPlot, Plot, ReportContent
from torseur.presentation.report.page.sections import crossplots
from torseur.presentation.scene.bodies.body_marks import marks_data, masses_data
from torseur.presentation.scene.bodies.vectors import ArrowKind, arrow_kinds, quantities_for
from torseur.presentation.scene.overlays import overlay_data
from torseur.presentation.scene.packing import quantise
from torseur.presentation.scene.scene import Motion
from torseur.presentation.scene.scene_data import scene_data
from torseur.presentation.scene.still_position import hold_still
from torseur.presentation.studio.answers.handles import handles
from torseur.presentation.studio.answers.text_model import Model, model_of
from torseur.presentation.studio.messages import Request, binary_message, text_message

RTOL = 1e-7
ENERGIES = ("kinetic_energy", "potential_energy", "energy")


def move(request: Request, folder: Path | None) -> Iterator[bytes]:
    """The motion; of a model seen for the first time its start comes first, while the motion is being compiled."""
    try:
        model = model_of(request.text, folder)
        lacking = model.missing(request.values)
        if lacking:
            yield _message(
                model, request, _still(model, request), [f"No motion: {list_names(lacking)} must be given first."]
            )
            return
        if _is_new(model):
            yield _message(model, request, _still(model, request), [])
        trajectory, notes = _compute(model, request)
        yield _message(model, request, trajectory, [*_idle(model, request.values), *notes], moving=True)
    except TorseurError as problem:
        yield text_message("halt", request.number, reason=str(problem))


@lru_cache(maxsize=8)
def _past_motions(model: Model) -> list[bool]:
    return []


def _is_new(model: Model) -> bool:
    """Whether this is the first motion asked of a model."""
    seen = _past_motions(model)
    seen.append(True)
    del seen[2:]
    return len(seen) == 1


def _idle(model: Model, values: Mapping[str, float]) -> list[str]:
    """A remark on parameters without a value that the motion does not need."""
    absent = [name for name in model.fill(values) if name not in values]
    return [f"The motion does not depend on {list_names(absent)}: taken as 0."] if absent else []


def _compute(model: Model, request: Request) -> tuple[Trajectory, list[str]]:
    """The motion, or its valid part with the reason why it ends."""
    samples = sample_count(request.until, len(model.mechanism.bodies))
    outputs = [*ENERGIES, *(measure.name for measure in model.mechanism.measures)]
    known = {*outputs, *model.tree.layout.coordinate_names, *model.tree.layout.speed_names}
    asked = {label_of(text): text for text in asked_for(request) if label_of(text) not in known}
    drawn = [Output(name) for name in quantities_for(model.mechanism, _arrows(request)) if name not in asked]
    system = start_system(model, request.values, request.initial)
    try:
        motion = simulate(
            system, request.until, samples=samples, outputs=[*outputs, *asked.values(), *drawn], rtol=RTOL
        )
        return motion, list(motion.notes)
    except SimulationError as problem:
        partial = problem.trajectory
        if isinstance(partial, Trajectory) and len(partial) > 1:
            return partial, [f"The motion ended early: {problem}"]
        raise
    except TorseurError as problem:
        if not asked and not drawn:
            raise
        # The motion is there all the same; if it is not, the same is said again without what was asked.
        lacking = "Not plotted" if asked else "No arrows"
        return simulate(system, request.until, samples=samples, outputs=outputs, rtol=RTOL), [f"{lacking}: {problem}"]


def _arrows(request: Request) -> tuple[ArrowKind, ...]:
    """The kinds of arrows that the page wants drawn along the motion."""
    return arrow_kinds(text for text in request.arrows.split(";") if text.strip())


def _drawable(model: Model, request: Request, trajectory: Trajectory) -> tuple[ArrowKind, ...]:
    """Of these, those whose quantities the motion holds; that others are missing has been said."""
    held = {column.name for column in trajectory.columns}
    return tuple(kind for kind in _arrows(request) if held.issuperset(quantities_for(model.mechanism, [kind])))


def asked_for(request: Request) -> list[str]:
    """The quantities that the page wants plotted, that over which they are drawn last."""
    return [text.strip() for text in [*request.outputs.split(";"), request.over] if text.strip()]


def _asked_plots(request: Request, trajectory: Trajectory) -> tuple[list[str], tuple[CrossPlot, ...]]:
    """The names of what was asked for and could be computed, and the same over another quantity."""
    held = {column.name for column in trajectory.columns}
    names = [label for text in request.outputs.split(";") if (label := label_of(text)) in held]
    over = label_of(request.over)
    return names, crossplots_of(trajectory, names, over if over in held else "")


def start_system(model: Model, values: Mapping[str, float], initial: Mapping[str, float]) -> System:
    """The system at its start. In a closed mechanism the value that was set last holds where others contradict it."""
    start = model.own_start(initial)
    system = as_system(model.equations(), model.fill(values), start)
    if system.constrained is None or not start:
        return system
    try:
        # The user's values of several coordinates of a loop need not close it. All are kept where they do; otherwise
        # only
        # the one that the user has just set, which the dictionary has last.
        system_on_constraints(system, None, 0.0, "augmented")
        return system
    except TorseurError:
        held = replace(system.constrained, given=frozenset([next(reversed(start))]))
        return replace(system, constrained=held)


def _still(model: Model, request: Request) -> Trajectory:
    """The start of the motion, closed loops assembled, held for the whole time; parameters without a value are 0."""
    system = start_system(model, request.values, request.initial)
    if not undetermined_functions(model.tree.mechanism):
        system = system_on_constraints(system, None, 0.0, "augmented")
    return hold_still(system, len(model.tree.layout.coordinates), request.until)


def _message(model: Model, request: Request, trajectory: Trajectory, notes: list[str], moving: bool = False) -> bytes:
    arrows = _drawable(model, request, trajectory) if moving else ()
    page = model.page(model.fill(request.values), trajectory, arrows)
    motion = page.motion
    if motion is None:
        raise TorseurError("No picture: a length or a position has no value yet.")
    asked, across = _asked_plots(request, trajectory) if moving else ([], ())
    shown = plots_of(model.tree, trajectory, asked) if moving else ()
    scene = _round(_scene(page))
    # Pictures seldom change while a slider moves: the page says which it has, and gets only others.
    digest = hashlib.sha256(json.dumps(scene, sort_keys=True).encode()).hexdigest()[:16]
    arrays, poses = _poses(motion)
    return binary_message(
        "motion",
        request.number,
        arrays | curve_arrays(shown),
        moving=moving,
        notes=notes,
        poses=poses,
        masses=_masses(page),
        overlays=_overlays(page),
        shapes=digest,
        scene=None if digest == request.known else scene,
        plots=plot_frames(page, shown, "Plots of the motion"),
        crossplots=str(crossplots(across)),
        handles=handles(page, trajectory),
        start={column.name: float(trajectory[column.name][0]) for column in trajectory.states},
        seconds=trajectory.statistics.wall_time if trajectory.statistics is not None else 0.0,
    )


def _masses(page: Page) -> list[dict[str, Any]]:
    numbers = {body.name: number for number, body in enumerate(page.bodies())}
    return masses_data(page.composition.pictures, numbers)


def _overlays(page: Page) -> list[dict[str, Any]]:
    """Points of contact and arrows along the motion; their colours are named by their kinds."""
    return [overlay_data(one, one.label.partition(",")[0]) for one in page.composition.overlays()]


def _scene(page: Page) -> dict[str, Any]:
    """Bodies with their pictures, joints between them, and how they are first seen."""
    bodies, composition = page.bodies(), page.composition
    numbers = {body.name: number for number, body in enumerate(bodies)}
    joints = [[numbers[joint.parent], numbers[joint.child]] for joint in page.joints()]
    marks = marks_data(composition.pictures, numbers)
    # Points of contact and arrows come with every motion; pictures only where they have changed.
    return {"joints": joints, "marks": marks, **scene_data(bodies, composition.elements, (), composition.view())}


def _round(thing: Any) -> Any:
    """Plain data with six digits a number, so that what looks the same is the same."""
    if isinstance(thing, float):
        if not math.isfinite(thing):
            raise TorseurError("No picture: a length is larger than numbers can be.")
        return float(f"{thing:.6g}")
    if isinstance(thing, dict):
        return {key: _round(value) for key, value in thing.items()}
    return [_round(one) for one in thing] if isinstance(thing, (list, tuple)) else thing


def _poses(motion: Motion) -> tuple[dict[str, Any], dict[str, Any]]:
    """Poses in 16-bit integers, and what is needed to read them."""
    packed = quantise(motion)
    arrays = {"times": motion.times, "poses": packed.steps}
    return arrays, {"origin": packed.origin, "scale": packed.scale, "still": packed.still}


def curve_arrays(shown: tuple[Plot, ...]) -> dict[str, Any]:
    return {
        f"plot-{number}-{place}": curve.values
        for number, plot in enumerate(shown)
        for place, curve in enumerate(plot.curves)
    } | {f"plot-{number}-times": plot.times for number, plot in enumerate(shown)}


def plot_frames(page: Page, shown: tuple[Plot, ...], label: str) -> dict[str, Any]:
    """Markup and description of some plots; their numbers travel as arrays plot-NUMBER-CURVE."""
    bodies = page.named_bodies()
    index = Index({body.name: number for number, body in enumerate(bodies)}, {})
    thin = tuple(
        replace(plot, times=np.zeros(2), curves=tuple(replace(c, values=np.zeros(2)) for c in plot.curves))
        for plot in shown
    )
    content = ReportContent(page.title(), bodies=bodies, plots=thin)
    listed_plots = [
        {
            "title": plot.title,
            "unit": plot.unit,
            "curves": [
                {"label": curve.label, "colour": curve_colour(curve, series, index), "dashed": curve.dashed}
                for curve, series in zip(plot.curves, series_numbers(plot), strict=True)
            ],
        }
        for plot in shown
    ]
    return {"html": plots(content, index, None, label), "list": listed_plots}
