"""Criteria side by side: over operating points, over the values of a grid, and outputs along time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from torseur.report.markup import Markup
from torseur.report.studies.drawing import HUES, Frame, number, widened, with_unit
from torseur.studies.summary import Spread

Vector = NDArray[np.float64]
Named = tuple[str, str]

ROW = 22


def beside_each_other(spreads: Sequence[Spread]) -> Markup:
    """One criterion at several operating points: mean, and the interval that holds 95 % of the motions."""
    first = spreads[0]
    left = 20 + 7 * max(len(one.operating_point) for one in spreads)
    span = widened([value for one in spreads for value in (*one.quantiles, one.mean)])
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
    frame = Frame(widened(xs, 0.02), widened(ys), with_unit(*x_axis), with_unit(*criterion), width=520, height=280)
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
    frame = Frame(
        (float(times[0]), float(times[-1])), widened([*low, *high]), "time (s)", with_unit(*output), width=520
    )
    along = times.tolist()
    frame.area(_zipped(along, low), _zipped(along, high), "band-wide")
    frame.area(_zipped(along, quarter), _zipped(along, most), "band-half")
    frame.line(_zipped(along, middle), class_="curve series-0")
    return frame.svg(f"{output[0]} over time, of {len(rows)} motions")


def _zipped(x: list[float], y: Vector) -> list[tuple[float, float]]:
    return list(zip(x, y.tolist(), strict=True))
