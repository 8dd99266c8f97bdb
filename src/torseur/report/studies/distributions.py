"""How criteria spread: histograms with their quantiles, and criteria over each axis."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from torseur.report.markup import Markup
from torseur.report.studies.drawing import Frame, figure, number, widened, with_unit
from torseur.studies.summary import Spread

Vector = NDArray[np.float64]

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
    frame = Frame(widened(x), widened(values), with_unit(*axis), with_unit(*criterion), width=300, height=200, left=60)
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
