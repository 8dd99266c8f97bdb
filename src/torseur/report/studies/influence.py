"""Which axis matters: Sobol's indices as bars, Morris' effects as a plane."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torseur.report.markup import Markup
from torseur.report.studies.drawing import Frame, figure, number, widened
from torseur.studies.summary import Influence

ROW = 34


def sobol_bars(criterion: str, found: Sequence[Influence]) -> Markup:
    """First-order and total index of each axis, with 95 % intervals, the strongest first."""
    ordered = sorted(found, key=lambda one: -one.second)
    highest = max([1.0, *(one.second + _error(one.second_error) for one in ordered)])
    lowest = min([0.0, *(one.first - _error(one.first_error) for one in ordered)])
    left = 26 + 8 * max(len(one.axis) for one in ordered)
    frame = Frame((lowest, 1.02 * highest), (0.0, len(ordered)), "part of the variance", height=56 + ROW * len(ordered),
                  left=left)  # fmt: skip
    for row, one in enumerate(ordered):
        base = len(ordered) - 1 - row
        total = f"total {number(one.second)} ± {number(one.second_error)}"
        frame.box((0.0, one.second), (base + 0.52, base + 0.84), total, class_="bar faint")
        frame.box((0.0, one.first), (base + 0.16, base + 0.48), f"first order {number(one.first)}", class_="bar")
        _whisker(frame, one.second, one.second_error, base + 0.68)
        _whisker(frame, one.first, one.first_error, base + 0.32)
        frame.text(left - 8, frame.at_y(base + 0.5) + 4, one.axis, text_anchor="end", class_="title")
    alone = sum(one.first for one in ordered)
    note = (
        "Full colour: what an axis does alone (first order). Pale: with all its interactions (total). Lines are 95 % "
        f"intervals. Alone they explain {number(100 * min(max(alone, 0.0), 1.0))} % together, interactions the rest."
    )
    return figure(criterion, note, frame.svg(f"Sobol's indices of {criterion}", y_ticks=[]))


def _error(error: float) -> float:
    return error if math.isfinite(error) else 0.0


def _whisker(frame: Frame, value: float, error: float, height: float) -> None:
    if math.isfinite(error):
        frame.line([(value - error, height), (value + error, height)], class_="whisker")


def morris_plane(criterion: str, unit: str, found: Sequence[Influence]) -> Markup:
    """Mean of the effects' sizes against their spread: far right matters, high up interacts or bends."""
    across, up = [one.first for one in found], [one.second for one in found]
    largest = max([*across, *up]) or 1.0
    frame = Frame((0.0, 1.15 * largest), widened([0.0, *up]), f"mean size of effects{_in(unit)}", f"spread{_in(unit)}")
    frame.y = (0.0, max(frame.y[1], 0.2 * largest))
    frame.line([(0.0, 0.0), (min(frame.x[1], frame.y[1]),) * 2], class_="whisker dashed")
    for one in found:
        frame.dot(
            one.first, one.second, 4.0, f"{one.axis}: {number(one.first)}, spread {number(one.second)}", class_="axis"
        )
        frame.text(frame.at_x(one.first) + 7, frame.at_y(one.second) - 6, one.axis, class_="title")
    note = (
        "An effect is what a criterion changes over the whole range of an axis. Far right: it matters. Near the dashed "
        "line or above: the effect depends on where the others stand, or bends."
    )
    return figure(criterion, note, frame.svg(f"Morris' effects on {criterion}"))


def _in(unit: str) -> str:
    return "" if unit == "1" else f" ({unit})"
