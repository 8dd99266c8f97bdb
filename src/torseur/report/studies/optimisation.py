"""The page of an optimisation: its optimum, the way of each start, and what limits it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from torseur.report.markup import Markup, element, join
from torseur.report.sections import section
from torseur.report.studies.drawing import HUES, Frame, figure, keys, number, widened, with_unit
from torseur.report.studies.page import gallery, how_to_reproduce, page, table, write
from torseur.studies.axes import Vector
from torseur.studies.goals import limits_of, violation
from torseur.studies.journal import Iterate
from torseur.studies.optimisation import Optimum
from torseur.studies.study import SweepStudy

SMALLEST = 1e-16


def write_optimisation_page(found: Optimum, study: SweepStudy, path: str | Path) -> Path:
    """The page of an optimum that was found."""
    return write(_text(found, study), path)


def _text(found: Optimum, study: SweepStudy) -> str:
    starts = len(found.messages)
    facts = [
        f"{study.name} to {number(study.until)} s",
        f"{len(found.iterates)} steps from {starts} start{'s' * (starts > 1)}",
        "all constraints kept" if found.feasible else "no point keeps all constraints",
    ]
    parts = [
        _optimum(found, study), _criteria(found, study), _convergence(found, study), _paths(found, study),
        _starts(found, study), how_to_reproduce(f"torseur optimise {study.path.name}", study.text, study.path.name),
    ]  # fmt: skip
    return page(study.path.stem.replace("_", " "), facts, parts)


def _optimum(found: Optimum, study: SweepStudy) -> Markup:
    rows = []
    for axis in study.axes:
        low, high = axis.numbers
        value = found.point[axis.name]
        edge = min(value - low, high - value) < 1e-6 * (high - low)
        rows.append([axis.name, f"{value:.9g}", "" if axis.unit == "1" else axis.unit, number(low), number(high),
                     "at its bound" if edge else ""])  # fmt: skip
    return table("Optimum", ["Parameter", "Value", "Unit", "From", "To", ""], rows, (1, 3, 4))


def _criteria(found: Optimum, study: SweepStudy) -> Markup:
    first = _table(found.iterates[0], study).mean(axis=0)
    bounds: dict[int, list[str]] = {}
    for limit in limits_of(study, [found.units[c.label] for c in study.criteria]):
        bounds.setdefault(limit.criterion, []).append(limit.words)
    rows = [
        [label, number(first[k]), f"{value:.9g}", "" if found.units[label] == "1" else found.units[label],
         "objective" if label == found.goal else ", ".join(bounds.get(k, []))]
        for k, (label, value) in enumerate(found.criteria.items())
    ]  # fmt: skip
    note = f"Means over {len(study.operating)} operating points." if len(study.operating) > 1 else ""
    return table("Criteria", ["Criterion", "At the first point", "At the optimum", "Unit", ""], rows, (1, 2), note)


def _table(iterate: Iterate, study: SweepStudy) -> Vector:
    return np.array(iterate.criteria).reshape(len(study.operating), -1)


def _objective(iterate: Iterate, found: Optimum, study: SweepStudy) -> float:
    labels = [criterion.label for criterion in study.criteria]
    return float(_table(iterate, study)[:, labels.index(found.goal)].mean())


def _convergence(found: Optimum, study: SweepStudy) -> Markup:
    lines = [[_objective(i, found, study) for i in found.iterates if i.start == k] for k in range(len(found.messages))]
    limits = limits_of(study, [found.units[c.label] for c in study.criteria])
    figures = [
        figure(with_unit(found.goal, found.units[found.goal]), "", _steps(lines, found.goal, found.units[found.goal])),
        figure("Distance to the best", "On a logarithmic scale.", _to_best(lines, found.objective)),
    ]
    if limits:
        missed = [
            [violation(limits, _table(i, study)) for i in found.iterates if i.start == k] for k in range(len(lines))
        ]
        drawing = _logarithmic(missed, "part by which a limit is missed")
        if drawing:
            figures.append(figure("Constraints", "The worst one; steps that keep all are not drawn.", drawing))
    legend = keys([f"start {k + 1}" for k in range(len(lines))]) if len(lines) > 1 else Markup()
    return section("convergence", "Convergence", legend, element("div", join(figures), class_="gallery"))


def _steps(lines: list[list[float]], label: str, unit: str) -> Markup:
    values = [value for line in lines for value in line]
    longest = max(len(line) for line in lines)
    frame = Frame((0.0, max(longest - 1, 1)), widened(values), "step", with_unit(label, unit), width=460, height=260)
    for k, line in enumerate(lines):
        _drawn(frame, list(enumerate(line)), k)
    return frame.svg(f"{label} by step, from {number(values[0])}")


def _drawn(frame: Frame, points: list[tuple[int, float]], start: int) -> None:
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
        _drawn(frame, line, k)
    powers = np.arange(low, high + 1, max(1, round((high - low) / 6)))
    for power in powers:
        frame.text(frame.left - 7, frame.at_y(power) + 4, f"1e{power:.0f}", text_anchor="end")
        frame.line([(frame.x[0], power), (frame.x[1], power)], class_="grid")
    return frame.svg(label, y_ticks=[])


def _paths(found: Optimum, study: SweepStudy) -> Markup:
    """Where the parameters go, a drawing each."""
    figures = []
    for place, axis in enumerate(study.axes):
        low, high = axis.numbers
        longest = max(sum(i.start == k for i in found.iterates) for k in range(len(found.messages)))
        frame = Frame(
            (0.0, max(longest - 1, 1)), (low, high), "step", with_unit(axis.name, axis.unit), width=440, height=220
        )
        for k in range(len(found.messages)):
            own = [low + (high - low) * i.point[place] for i in found.iterates if i.start == k]
            _drawn(frame, list(enumerate(own)), k)
        figures.append(figure(axis.name, "", frame.svg(f"{axis.name} by step")))
    return gallery("paths", "Parameters on the way", "Between their bounds.", figures)


def _starts(found: Optimum, study: SweepStudy) -> Markup:
    rows = []
    for k, message in enumerate(found.messages):
        own = [i for i in found.iterates if i.start == k]
        last = number(_objective(own[-1], found, study)) if own else ""
        rows.append([str(k + 1), str(len(own)), last, message])
    return table("Starts", ["Start", "Steps", "Objective at its end", "How it ended"], rows, (0, 1, 2))
