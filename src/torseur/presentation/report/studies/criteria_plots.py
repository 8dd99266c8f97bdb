"""Criteria of a study as plots: how they spread, which axis matters, and side by side over points, grids and time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from torseur.analysis.studies.definition.axes import Vector
from torseur.analysis.studies.sweeps.sweep_summary import Influence, Spread
from torseur.presentation.report.drawing.study_axes import HUES, Frame, figure, number, widen, with_unit
from torseur.presentation.typesetting.markup import Markup

BAR_ROW = 34


def sobol_bars(criterion: str, influences: Sequence[Influence]) -> Markup:
    """First-order and total index of each axis, with 95 % intervals, the strongest first."""
    ordered = sorted(influences, key=lambda one: -one.second)
    highest = max([1.0, *(one.second + _error(one.second_error) for one in ordered)])
    lowest = min([0.0, *(one.first - _error(one.first_error) for one in ordered)])
    left = 26 + 8 * max(len(one.axis) for one in ordered)
    height = 56 + BAR_ROW * len(ordered)
    frame = Frame((lowest, 1.02 * highest), (0.0, len(ordered)), "part of the variance", height=height, left=left)
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


def morris_plane(criterion: str, unit: str, influences: Sequence[Influence]) -> Markup:
    """Mean of the effects' sizes against their spread: far right matters, high up interacts or bends."""
    across, up = [one.first for one in influences], [one.second for one in influences]
    largest = max([*across, *up]) or 1.0
    frame = Frame((0.0, 1.15 * largest), widen([0.0, *up]), f"mean size of effects{_in(unit)}", f"spread{_in(unit)}")
    frame.y = (0.0, max(frame.y[1], 0.2 * largest))
    frame.line([(0.0, 0.0), (min(frame.x[1], frame.y[1]),) * 2], class_="whisker dashed")
    for one in influences:
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


MOST_BARS, MOST_DOTS = 60, 1500
PARTS = 12  # of an axis over which means are taken


def histogram(spread: Spread, values: Vector) -> Markup:
    """The distribution of a criterion, with the interval that holds 95 % of the motions."""
    bars = int(min(max(math.sqrt(len(values)), 8), MOST_BARS))
    counts, edges = np.histogram(values, bars)
    frame = Frame((edges[0], edges[-1]), (0.0, 1.08 * counts.max()), with_unit(spread.name, spread.unit), "motions")
    low, middle, high = spread.quantiles
    for count, left, right in zip(counts.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        inside = low <= 0.5 * (left + right) <= high
        words = f"{number(left)} to {number(right)}: {count}"
        frame.box((left, right), (0.0, count), words, class_="bar" if inside else "bar faint")
    frame.line([(middle, 0.0), (middle, frame.y[1])], class_="mark")
    unit = "" if spread.unit == "1" else f" {spread.unit}"
    first, _, third = spread.quantile_intervals
    deviation_low, deviation_high = spread.deviation_interval
    note = (
        f"Mean {number(spread.mean)} ± {number(spread.error)}{unit} (95 %), deviation {number(spread.deviation)} "
        f"({number(deviation_low)} to {number(deviation_high)}). 95 % of the motions lie between {number(low)} and "
        f"{number(high)}{unit}; the limits themselves are known to {number(first[0])} … {number(first[1])} and "
        f"{number(third[0])} … {number(third[1])}."
    )
    return figure(spread.name, note, frame.svg(f"Histogram of {spread.name}: mean {number(spread.mean)}{unit}"))


def over_axis(axis: tuple[str, str], criterion: tuple[str, str], x: Vector, values: Vector) -> Markup:
    """A criterion over one axis: some of the points, and means over parts of the axis."""
    frame = Frame(widen(x), widen(values), with_unit(*axis), with_unit(*criterion), width=300, height=200, left=60)
    step = max(len(x) // MOST_DOTS, 1)
    frame.cloud(x[::step].tolist(), values[::step].tolist(), class_="point")
    frame.line(_means(x, values), class_="mean")
    return frame.svg(f"{criterion[0]} over {axis[0]}")


def _means(x: Vector, values: Vector) -> list[tuple[float, float]]:
    """Means over parts of the axis with as many points each; over its values where there are few."""
    distinct = np.unique(x)
    if len(distinct) <= 2 * PARTS:
        return [(float(place), float(values[x == place].mean())) for place in distinct]
    order = np.argsort(x)
    return [(float(x[part].mean()), float(values[part].mean())) for part in np.array_split(order, PARTS)]


Named = tuple[str, str]

ROW = 22


def beside_each_other(spreads: Sequence[Spread]) -> Markup:
    """One criterion at several operating points: mean, and the interval that holds 95 % of the motions."""
    first = spreads[0]
    left = 20 + 7 * max(len(one.operating_point) for one in spreads)
    span = widen([value for one in spreads for value in (*one.quantiles, one.mean)])
    frame = Frame(span, (0.0, len(spreads)), with_unit(first.name, first.unit), width=460 + left // 2,
                  height=56 + ROW * len(spreads), left=left)  # fmt: skip
    for row, one in enumerate(spreads):
        height = len(spreads) - row - 0.5
        low, _, high = one.quantiles
        frame.line([(low, height), (high, height)], class_="whisker wide")
        words = f"{one.operating_point}: mean {number(one.mean)}, 95 % between {number(low)} and {number(high)}"
        frame.dot(one.mean, height, 4.0, words, class_="axis")
        frame.text(left - 8, frame.at_y(height) + 4, one.operating_point, text_anchor="end")
    return frame.svg(f"{first.name} at {len(spreads)} operating points", y_ticks=[])


def curves(x_axis: Named, criterion: Named, lines: Sequence[tuple[Vector, Vector]]) -> Markup:
    """A criterion over one axis, a curve for each value of another."""
    xs = [value for x, _ in lines for value in x.tolist()]
    ys = [value for _, y in lines for value in y.tolist()]
    frame = Frame(widen(xs, 0.02), widen(ys), with_unit(*x_axis), with_unit(*criterion), width=520, height=280)
    for k, (x, y) in enumerate(lines):
        series = f"curve series-{k % len(HUES)}"
        frame.line(list(zip(x.tolist(), y.tolist(), strict=True)), class_=series)
        for a, b in zip(x.tolist(), y.tolist(), strict=True):
            if np.isfinite(b) and len(x) <= 40:
                frame.dot(a, b, 2.4, f"{x_axis[0]} = {number(a)}: {number(b)}", class_=f"dot series-{k % len(HUES)}")
    return frame.svg(f"{criterion[0]} over {x_axis[0]}")


def band_over_time(output: Named, times: Vector, rows: Vector) -> Markup:
    """An output along time: the middle of all motions, and the bands that hold half and 95 % of them."""
    low, quarter, middle, most, high = np.nanquantile(rows, [0.025, 0.25, 0.5, 0.75, 0.975], axis=0)
    frame = Frame((float(times[0]), float(times[-1])), widen([*low, *high]), "time (s)", with_unit(*output), width=520)
    along = times.tolist()
    frame.area(_points(along, low), _points(along, high), "band-wide")
    frame.area(_points(along, quarter), _points(along, most), "band-half")
    frame.line(_points(along, middle), class_="curve series-0")
    return frame.svg(f"{output[0]} over time, of {len(rows)} motions")


def _points(x: list[float], y: Vector) -> list[tuple[float, float]]:
    return list(zip(x, y.tolist(), strict=True))
