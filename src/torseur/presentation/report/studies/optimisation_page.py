"""The page of an optimisation: its optimum, the way of each start, and what limits it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from torseur.analysis.studies.definition.axes import Vector
from torseur.analysis.studies.definition.goals import limits_of, violation
from torseur.analysis.studies.definition.study import SweepStudy
from torseur.analysis.studies.optimisation.optimisation import Optimum
from torseur.analysis.studies.optimisation.optimisation_journal import Iterate
from torseur.derivation.equations import Equations
from torseur.errors import TorseurError
from torseur.presentation.report.drawing.study_axes import HUES, Frame, figure, keys, number, widen, with_unit
from torseur.presentation.report.page.sections import section
from torseur.presentation.report.studies.study_page import gallery, how_to_reproduce, page, table, write
from torseur.presentation.scene.make_scene import Take, scene_of
from torseur.presentation.scene.pictures.poster import svg_picture
from torseur.presentation.typesetting.markup import Markup, element, join

SMALLEST = 1e-16


def write_optimisation_page(optimum: Optimum, study: SweepStudy, path: str | Path) -> Path:
    """The page of an optimum that was found."""
    return write(_text(optimum, study), path)


def _text(optimum: Optimum, study: SweepStudy) -> str:
    starts = len(optimum.messages)
    facts = [
        f"{study.name} to {number(study.until)} s",
        f"{len(optimum.iterates)} steps from {starts} start{'s' * (starts > 1)}",
        "all constraints satisfied" if optimum.feasible else "no point satisfies all constraints",
    ]
    parts = [
        _optimum(optimum, study), _criteria(optimum, study), _before_and_after(optimum, study),
        _convergence(optimum, study), _paths(optimum, study),
        _starts(optimum, study), how_to_reproduce(f"torseur optimise {study.path.name}", study.text, study.path.name),
    ]  # fmt: skip
    return page(study.path.stem.replace("_", " "), facts, parts)


def _optimum(optimum: Optimum, study: SweepStudy) -> Markup:
    rows = []
    for axis in study.axes:
        low, high = axis.numbers
        value = optimum.point[axis.name]
        edge = min(value - low, high - value) < 1e-6 * (high - low)
        rows.append([axis.name, f"{value:.9g}", "" if axis.unit == "1" else axis.unit, number(low), number(high),
                     "at its bound" if edge else ""])  # fmt: skip
    return table("Optimum", ["Parameter", "Value", "Unit", "From", "To", ""], rows, (1, 3, 4))


def _criteria(optimum: Optimum, study: SweepStudy) -> Markup:
    first = _table(optimum.iterates[0], study).mean(axis=0)
    bounds: dict[int, list[str]] = {}
    for limit in limits_of(study, [optimum.units[c.label] for c in study.criteria]):
        bounds.setdefault(limit.criterion, []).append(limit.words)
    rows = [
        [label, number(first[k]), f"{value:.9g}", "" if optimum.units[label] == "1" else optimum.units[label],
         "objective" if label == optimum.goal else ", ".join(bounds.get(k, []))]
        for k, (label, value) in enumerate(optimum.criteria.items())
    ]  # fmt: skip
    note = f"Means over {len(study.operating)} operating points." if len(study.operating) > 1 else ""
    return table("Criteria", ["Criterion", "At the first point", "At the optimum", "Unit", ""], rows, (1, 2), note)


def _before_and_after(optimum: Optimum, study: SweepStudy) -> Markup:
    """The mechanism at the first point and at the optimum, where its motion starts."""
    if isinstance(study.source, str):
        return Markup()
    first = optimum.iterates[0].point
    started = {a.name: a.numbers[0] + x * (a.numbers[1] - a.numbers[0]) for a, x in zip(study.axes, first, strict=True)}
    figures = []
    for title, point in (("At the first point", started), ("At the optimum", optimum.point)):
        try:
            scene = scene_of(study.source, take=_take(study, point))
        except TorseurError as problem:
            return section("mechanisms", "Before and after", element("p", f"No picture: {problem}", class_="note"))
        values = ", ".join(f"{name} = {number(value)}" for name, value in point.items())
        figures.append(figure(title, values, Markup(svg_picture(scene))))
    return gallery("mechanisms", "Before and after", "Where the motion starts.", figures)


def _take(study: SweepStudy, point: Mapping[str, float]) -> Take:
    """The motion at a point of the study; an axis is a parameter, or the start of a state: theta(0)."""
    names = set(study.model.layout.parameter_names) if isinstance(study.model, Equations) else set()
    given = {**study.values, **{name: value for name, value in point.items() if name in names}}
    starts = {name.removesuffix("(0)"): value for name, value in point.items() if name not in names}
    return Take(study.until, given, {**study.initial, **starts})


def _table(iterate: Iterate, study: SweepStudy) -> Vector:
    return np.array(iterate.criteria).reshape(len(study.operating), -1)


def _objective(iterate: Iterate, optimum: Optimum, study: SweepStudy) -> float:
    labels = [criterion.label for criterion in study.criteria]
    return float(_table(iterate, study)[:, labels.index(optimum.goal)].mean())


def _convergence(optimum: Optimum, study: SweepStudy) -> Markup:
    lines = [
        [_objective(i, optimum, study) for i in optimum.iterates if i.start == k] for k in range(len(optimum.messages))
    ]
    limits = limits_of(study, [optimum.units[c.label] for c in study.criteria])
    figures = [
        figure(
            with_unit(optimum.goal, optimum.units[optimum.goal]),
            "",
            _steps(lines, optimum.goal, optimum.units[optimum.goal]),
        ),
        figure("Distance to the best", "On a logarithmic scale.", _to_best(lines, optimum.objective)),
    ]
    if limits:
        missed = [
            [violation(limits, _table(i, study)) for i in optimum.iterates if i.start == k] for k in range(len(lines))
        ]
        drawing = _logarithmic(missed, "part by which a limit is missed")
        if drawing:
            figures.append(figure("Constraints", "The worst one; steps that keep all are not drawn.", drawing))
    legend = keys([f"start {k + 1}" for k in range(len(lines))]) if len(lines) > 1 else Markup()
    return section("convergence", "Convergence", legend, element("div", join(figures), class_="gallery"))


def _steps(lines: list[list[float]], label: str, unit: str) -> Markup:
    values = [value for line in lines for value in line]
    longest = max(len(line) for line in lines)
    frame = Frame((0.0, max(longest - 1, 1)), widen(values), "step", with_unit(label, unit), width=460, height=260)
    for k, line in enumerate(lines):
        _draw(frame, list(enumerate(line)), k)
    return frame.svg(f"{label} by step, from {number(values[0])}")


def _draw(frame: Frame, points: list[tuple[int, float]], start: int) -> None:
    series = f"series-{start % len(HUES)}"
    places = [(float(k), value) for k, value in points]
    frame.line(places, class_=f"curve {series}")
    for k, value in places if len(places) <= 80 else ():
        frame.dot(k, value, 2.4, f"start {start + 1}, step {k:.0f}: {number(value)}", class_=f"dot {series}")


def _to_best(lines: list[list[float]], best: float) -> Markup:
    return _logarithmic([[abs(value - best) for value in line] for line in lines], "distance")


def _logarithmic(lines: list[list[float]], label: str) -> Markup:
    """Positive values by step, as powers of ten."""
    shown = [[(k, float(np.log10(v))) for k, v in enumerate(line) if v > SMALLEST] for line in lines]
    values = [value for line in shown for _, value in line]
    if not values:
        return Markup()
    longest = max(len(line) for line in lines)
    low, high = float(np.floor(min(values))), float(np.ceil(max(values)))
    high = max(high, low + 1.0)
    frame = Frame((0.0, max(longest - 1, 1)), (low, high), "step", label, width=460, height=260)
    for k, line in enumerate(shown):
        _draw(frame, line, k)
    powers = np.arange(low, high + 1, max(1, round((high - low) / 6)))
    for power in powers:
        frame.text(frame.left - 7, frame.at_y(power) + 4, f"1e{power:.0f}", text_anchor="end")
        frame.line([(frame.x[0], power), (frame.x[1], power)], class_="grid")
    return frame.svg(label, y_ticks=[])


def _paths(optimum: Optimum, study: SweepStudy) -> Markup:
    """Where the parameters go, a drawing each."""
    figures = []
    for place, axis in enumerate(study.axes):
        low, high = axis.numbers
        longest = max(sum(i.start == k for i in optimum.iterates) for k in range(len(optimum.messages)))
        frame = Frame(
            (0.0, max(longest - 1, 1)), (low, high), "step", with_unit(axis.name, axis.unit), width=440, height=220
        )
        for k in range(len(optimum.messages)):
            own = [low + (high - low) * i.point[place] for i in optimum.iterates if i.start == k]
            _draw(frame, list(enumerate(own)), k)
        figures.append(figure(axis.name, "", frame.svg(f"{axis.name} by step")))
    return gallery("paths", "Parameters on the way", "Between their bounds.", figures)


def _starts(optimum: Optimum, study: SweepStudy) -> Markup:
    rows = []
    for k, message in enumerate(optimum.messages):
        own = [i for i in optimum.iterates if i.start == k]
        last = number(_objective(own[-1], optimum, study)) if own else ""
        rows.append([str(k + 1), str(len(own)), last, message])
    return table("Starts", ["Start", "Steps", "Objective at its end", "How it ended"], rows, (0, 1, 2))
