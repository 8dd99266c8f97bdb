"""A criterion over two axes as bands of colour."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torseur.analysis.studies.definition.axes import Vector
from torseur.presentation.report.drawing.study_axes import (
    BANDS,
    Frame,
    band_colour,
    number,
    tick_labels,
    ticks,
    with_unit,
)
from torseur.presentation.typesetting.markup import Markup

Named = tuple[str, str]

CELLS = 44
SCALE_WIDTH = 14


def heat_map(x_axis: Named, y_axis: Named, criterion: Named, x: Vector, y: Vector, table: Vector) -> Markup:
    """A table of values (x, y), at places of the two axes, as coloured cells with a scale beside them."""
    frame = Frame(_edges(x), _edges(y), with_unit(*x_axis), with_unit(*y_axis), width=440, height=300, right=92)
    low, high = float(np.nanmin(table)), float(np.nanmax(table))
    span = high - low or 1.0
    columns, rows = _borders(x), _borders(y)
    for j in range(len(y)):
        # Neighbours of one colour are one rectangle: a map of 44 by 44 cells would otherwise have 1,936 of them.
        for first, last, band in _runs([int(BANDS * (value - low) / span * 0.99999) for value in table[:, j]]):
            words = f"{criterion[0]} {number(low + span * band / BANDS)} to {number(low + span * (band + 1) / BANDS)}"
            fill = band_colour((band + 0.5) / BANDS)
            frame.box((columns[first], columns[last + 1]), (rows[j], rows[j + 1]), words, fill=fill, class_="cell")
    _scale(frame, criterion, low, high)
    return frame.svg(f"{criterion[0]} over {x_axis[0]} and {y_axis[0]}: {number(low)} to {number(high)} {criterion[1]}")


def surface_map(
    x_axis: Named, y_axis: Named, criterion: Named, spans: tuple[Vector, Vector], value: Callable[[Vector], Vector]
) -> Markup:
    """A function of two axes; `spans` are their ends."""
    x, y = (np.linspace(span[0], span[1], CELLS) for span in spans)
    mesh = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    return heat_map(x_axis, y_axis, criterion, x, y, value(mesh).reshape(CELLS, CELLS))


def _runs(bands: list[int]) -> list[tuple[int, int, int]]:
    """Neighbours of one colour together: first, last and their band."""
    runs: list[tuple[int, int, int]] = []
    for place, band in enumerate(bands):
        if runs and runs[-1][2] == band:
            runs[-1] = (runs[-1][0], place, band)
        else:
            runs.append((place, place, band))
    return runs


def _borders(places: Vector) -> list[float]:
    """Where cells around places end: half way between neighbours."""
    if len(places) == 1:
        half = 0.5 * abs(float(places[0])) or 0.5
        return [float(places[0]) - half, float(places[0]) + half]
    middles = 0.5 * (places[1:] + places[:-1])
    return [float(2 * places[0] - middles[0]), *middles.tolist(), float(2 * places[-1] - middles[-1])]


def _edges(places: Vector) -> tuple[float, float]:
    borders = _borders(places)
    return borders[0], borders[-1]


def _scale(frame: Frame, criterion: Named, low: float, high: float) -> None:
    """The colours beside the map, with their values."""
    left, top, bottom = frame.width - frame.right + 14, frame.top, frame.height - frame.bottom
    step = (bottom - top) / BANDS
    for band in range(BANDS):
        fill = band_colour((band + 0.5) / BANDS)
        frame.add("rect", x=left, y=bottom - (band + 1) * step, width=SCALE_WIDTH, height=step + 0.4, fill=fill)
    values = ticks(low, high, 4)
    for value, words in zip(values, tick_labels(values), strict=True):
        y = bottom - (value - low) / ((high - low) or 1.0) * (bottom - top)
        frame.text(left + SCALE_WIDTH + 5, y + 4, words)
