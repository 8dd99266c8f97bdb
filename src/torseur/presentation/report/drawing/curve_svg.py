"""Curves over time, or over one another, as SVG of its own: axes with numbers, a title, units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.presentation.report.drawing.study_axes import tick_labels, ticks, widen
from torseur.presentation.scene.palette import FIRST
from torseur.presentation.typesetting.markup import Markup, element

Array = NDArray[np.float64]
WIDTH, HEIGHT = 560.0, 220.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 14.0, 30.0, 42.0
LETTER = 7.0  # width of a letter in pixels, for what must not touch
MOST_POINTS = 1500
FLUID = "max-width:100%;height:auto"  # within a page
CONSTANT = 1e-9  # relative spread below which a curve is flat


@dataclass(frozen=True, eq=False)
class Series:
    """One curve: its name and values."""

    label: str
    values: Array


def curve_svg(across: Series, curves: Sequence[Series], across_unit: str, unit: str, dots: bool = False) -> Markup:
    """A plot of curves over `across`, or of single points; the text is drawn in the colour of what surrounds it."""
    across_values, shown = _thin(across.values, [curve.values for curve in curves])
    x_span, y_span = _span(across_values, 0.0), _span(np.concatenate(shown) if shown else np.zeros(1), 0.05)
    frame = _Frame(x_span, y_span)
    lines = [
        *(_dots(frame, across_values, values, k) for k, values in enumerate(shown)),
    ] if dots else [
        element(
            "path", d=frame.path(across_values, values), fill="none", stroke=FIRST[k % len(FIRST)].light,
            stroke_width="1.6", stroke_linejoin="round",
        )
        for k, values in enumerate(shown)
    ]  # fmt: skip
    title = f"{across.label}{f' in {across_unit}' if across_unit else ''}"
    bottom = _text(title, LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 6, "middle")
    return element(
        "svg", *frame.axes(), *lines, *_legend(curves, unit), bottom,
        xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}", width=f"{WIDTH:.0f}",
        font_family="system-ui, sans-serif", font_size="11", fill="currentColor", role="img",
        aria_label=f"{', '.join(c.label for c in curves)} over {title}", style=FLUID,
    )  # fmt: skip


def stacked_svg(across: Series, groups: Mapping[str, Sequence[Series]], across_unit: str, dots: bool = False) -> str:
    """One plot per unit, one below the other, as a file of its own."""
    plots = [curve_svg(across, curves, across_unit, unit, dots) for unit, curves in groups.items()]
    # Within another drawing a plot has a place and a height of its own, and no style of pages.
    plain = [plot.replace(f' style="{FLUID}"', "", 1) for plot in plots]
    placed = [p.replace("<svg ", f'<svg y="{k * HEIGHT:.0f}" height="{HEIGHT:.0f}" ', 1) for k, p in enumerate(plain)]
    tall = HEIGHT * len(plots)
    return element(
        "svg", Markup("".join(placed)), xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH:.0f} {tall:.0f}",
        width=f"{WIDTH:.0f}", height=f"{tall:.0f}", color="#1c2126",
    )  # fmt: skip


def _dots(frame: _Frame, across: Array, values: Array, number: int) -> Markup:
    """Single points, as a path of round ends: thousands of them stay one element."""
    known = np.isfinite(across) & np.isfinite(values)
    places = zip(frame.x(across[known]), frame.y(values[known]), strict=True)
    way = "".join(f"M{x:.1f},{y:.1f}h0" for x, y in places)
    colour = FIRST[number % len(FIRST)].light
    return element("path", d=way, fill="none", stroke=colour, stroke_width="3", stroke_linecap="round")


def _span(values: Array, margin: float) -> tuple[float, float]:
    """Least and greatest of some numbers with a margin. What differs by rounding alone is drawn as constant."""
    finite = values[np.isfinite(values)]
    size = float(np.max(np.abs(finite), initial=0.0))
    if not len(finite) or np.ptp(finite) <= CONSTANT * size:
        middle = float(finite.mean()) if len(finite) else 0.0
        return widen([middle])
    low, high, more = float(finite.min()), float(finite.max()), margin * float(np.ptp(finite))
    return low - more, high + more


def _thin(across: Array, curves: list[Array]) -> tuple[Array, list[Array]]:
    step = max(1, len(across) // MOST_POINTS)
    return across[::step], [values[::step] for values in curves]


@dataclass(frozen=True)
class _Frame:
    """Where numbers lie in the picture."""

    across: tuple[float, float]
    upward: tuple[float, float]

    def x(self, value: Array | float) -> Array:
        low, high = self.across
        return np.asarray(LEFT + (WIDTH - LEFT - RIGHT) * (np.asarray(value) - low) / (high - low))

    def y(self, value: Array | float) -> Array:
        low, high = self.upward
        return np.asarray(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (np.asarray(value) - low) / (high - low))

    def path(self, x: Array, y: Array) -> str:
        """A line that is broken where a value is not finite."""
        parts, pen = [], "M"
        for a, b in zip(self.x(x), self.y(y), strict=True):
            if not (np.isfinite(a) and np.isfinite(b)):
                pen = "M"
                continue
            parts.append(f"{pen}{a:.1f},{b:.1f}")
            pen = "L"
        return "".join(parts)

    def axes(self) -> list[Markup]:
        faint = {"stroke": "currentColor", "stroke_opacity": "0.18"}
        drawn = [
            element("line", x1=LEFT, y1=HEIGHT - BOTTOM, x2=WIDTH - RIGHT, y2=HEIGHT - BOTTOM, stroke="currentColor")
        ]
        rows, columns = _at_least_two(self.upward, 4), _at_least_two(self.across, 7)
        for value, label in zip(rows, tick_labels(rows), strict=True):
            at = float(self.y(value))
            drawn.append(element("line", x1=LEFT, y1=at, x2=WIDTH - RIGHT, y2=at, **faint))
            drawn.append(_text(label, LEFT - 6, at + 4, "end"))
        for value, label in zip(columns, tick_labels(columns), strict=True):
            drawn.append(_text(label, float(self.x(value)), HEIGHT - BOTTOM + 15, "middle"))
        return drawn


def _at_least_two(span: tuple[float, float], count: int) -> list[float]:
    """Round numbers of an axis: two of them at least, so that it has a scale."""
    for more in range(count, count + 40):
        marks = ticks(*span, more)
        if len(marks) >= 2:
            return marks
    return [span[0], span[1]]


def _legend(curves: Sequence[Series], unit: str) -> list[Markup]:
    """Names in the colours of their curves, as many as fit one line, and the unit."""
    drawn, at = [], LEFT
    for k, curve in enumerate(curves):
        width = LETTER * len(curve.label) + 26
        if at + width > WIDTH - RIGHT - LETTER * 14:
            drawn.append(_text(f"and {len(curves) - k} more", at, 18, "start"))
            at += LETTER * 12
            break
        colour = FIRST[k % len(FIRST)].light
        drawn.append(element("line", x1=at, y1=14.0, x2=at + 12, y2=14.0, stroke=colour, stroke_width="2.5"))
        drawn.append(_text(curve.label, at + 16, 18, "start"))
        at += width
    return [*drawn, *([_text(f"in {unit}", at, 18, "start")] if unit else [])]


def _text(content: str, x: float, y: float, anchor: str) -> Markup:
    return element("text", content, x=x, y=y, text_anchor=anchor)
