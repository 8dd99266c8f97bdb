"""A frame with axes and ticks, in which the plots of studies are drawn as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from torseur.presentation.scene.palette import oklch
from torseur.presentation.typesetting.markup import Markup, element

Span = tuple[float, float]

HUES = (0, 1, 2, 3, 4, 5)  # classes series-0 and on: colours of the page
BANDS = 12  # of the colours of a surface


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers within a span, about so many."""
    if not high > low:
        return [low]
    raw = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    # Just below the wanted step counts, for the sake of rounding: 0.1 * 3 is more than 0.3.
    step = next(power * nice for nice in (1.0, 2.0, 2.5, 5.0, 10.0) if power * nice >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def number(value: float) -> str:
    """A number in few digits; zero without the dust of rounding."""
    return f"{0.0 if abs(value) < 1e-300 else value:.4g}".replace("e-0", "e-").replace("e+0", "e")


def tick_labels(values: Sequence[float]) -> list[str]:
    """Numbers of one axis, all with as many digits as their distance needs."""
    if len(values) < 2:
        return [number(value) for value in values]
    step = abs(values[1] - values[0])
    size = max(abs(value) for value in values)
    if size >= 1e5 or size < 1e-3:
        return [f"{0.0 if abs(v) < 1e-9 * step else v:.3g}".replace("e-0", "e-").replace("e+0", "e") for v in values]
    digits = max(0, -math.floor(math.log10(step) + 1e-9) + (1 if _has_half(step) else 0))
    return [f"{0.0 if abs(v) < 1e-9 * step else v:.{digits}f}" for v in values]


def _has_half(step: float) -> bool:
    """Whether a step needs one digit more, as 2.5 does."""
    return abs(step / 10.0 ** math.floor(math.log10(step) + 1e-9) - 2.5) < 1e-6


def widen(values: Iterable[float], part: float = 0.05) -> Span:
    """The span of some numbers with a margin; never empty."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    # Equal numbers have no spread: half of their size stands in for it, or one half where they are zero.
    margin = part * (high - low) or 0.5 * abs(low) or 0.5
    return low - margin, high + margin


def band_colour(part: float) -> str:
    """The colour of a value between 0 and 1: from deep blue to pale yellow, lighter with the value."""
    place = min(max(int(part * BANDS), 0), BANDS - 1) / (BANDS - 1)
    # Lightness grows with the value and hue changes beside it, so that the map can be read in print and by the
    # colour-blind.
    return oklch(0.36 + 0.55 * place, 0.11, 285.0 - 185.0 * place)


UP_TICKS = 4
DIGIT, TITLE = 6.4, 24  # width of a digit, and of the upright title with the space beside it, in units of a drawing


@dataclass
class Frame:
    """A plot: its spans in the units of the data, its size, and what was drawn in it."""

    x: Span
    y: Span
    x_label: str = ""
    y_label: str = ""
    width: int = 420
    height: int = 240
    left: int = 66
    bottom: int = 42
    top: int = 12
    right: int = 14
    drawn: list[Markup] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Makes room for the numbers along the upright axis, beside which its title stands."""
        longest = max(map(len, tick_labels(ticks(*self.y, UP_TICKS))), default=0)
        self.left = max(self.left, round(DIGIT * longest) + 7 + (TITLE if self.y_label else 0))

    def at_x(self, value: float) -> float:
        part = (value - self.x[0]) / (self.x[1] - self.x[0])
        return self.left + part * (self.width - self.left - self.right)

    def at_y(self, value: float) -> float:
        part = (value - self.y[0]) / (self.y[1] - self.y[0])
        return self.height - self.bottom - part * (self.height - self.top - self.bottom)

    def add(self, tag: str, *children: str, **attributes: object) -> None:
        self.drawn.append(element(tag, *children, **attributes))

    def line(self, points: Sequence[tuple[float, float]], **attributes: object) -> None:
        """A line through points of the data; gaps where they are not finite."""
        parts, pen = [], "M"
        for x, y in points:
            if math.isfinite(x) and math.isfinite(y):
                parts.append(f"{pen}{self.at_x(x):.1f} {self.at_y(y):.1f}")
                pen = "L"
            else:
                pen = "M"
        self.add("path", d="".join(parts), **attributes)

    def area(self, lower: Sequence[tuple[float, float]], upper: Sequence[tuple[float, float]], class_: str) -> None:
        """The area between two lines over the same places."""
        ring = [*lower, *reversed(upper)]
        path = "".join(f"{'L' if k else 'M'}{self.at_x(x):.1f} {self.at_y(y):.1f}" for k, (x, y) in enumerate(ring))
        self.add("path", d=path + "Z", class_=class_)

    def box(self, x: Span, y: Span, title: str = "", **attributes: object) -> None:
        """A rectangle of the data."""
        left, right = sorted((self.at_x(x[0]), self.at_x(x[1])))
        top, bottom = sorted((self.at_y(y[0]), self.at_y(y[1])))
        inside = [element("title", title)] if title else []
        self.add("rect", *inside, x=left, y=top, width=right - left, height=bottom - top, **attributes)

    def dot(self, x: float, y: float, radius: float = 2.0, title: str = "", **attributes: object) -> None:
        inside = [element("title", title)] if title else []
        self.add("circle", *inside, cx=self.at_x(x), cy=self.at_y(y), r=radius, **attributes)

    def cloud(self, x: Sequence[float], y: Sequence[float], **attributes: object) -> None:
        """Many dots as one path of strokes without length, which round ends make visible."""
        places = zip(x, y, strict=True)
        self.add("path", d="".join(f"M{self.at_x(a):.1f} {self.at_y(b):.1f}h0" for a, b in places), **attributes)

    def text(self, x: float, y: float, words: str, **attributes: object) -> None:
        """Words at a place of the drawing, in its own units."""
        self.add("text", words, x=x, y=y, **attributes)

    def svg(self, label: str, x_ticks: Sequence[float] | None = None, y_ticks: Sequence[float] | None = None) -> Markup:
        """The drawing; grid and labels lie under what was drawn."""
        whole = [*self._grid(x_ticks, y_ticks), *self.drawn, *self._titles()]
        box = f"0 0 {self.width} {self.height}"
        return element("svg", *whole, viewBox=box, class_="study-plot", role="img", aria_label=label)

    def _grid(self, x_ticks: Sequence[float] | None, y_ticks: Sequence[float] | None) -> list[Markup]:
        marks = []
        floor, edge = self.height - self.bottom, self.width - self.right
        across = ticks(*self.x) if x_ticks is None else list(x_ticks)
        up = ticks(*self.y, UP_TICKS) if y_ticks is None else list(y_ticks)
        for value, words in zip(up, tick_labels(up), strict=True):
            y = self.at_y(value)
            marks.append(element("line", x1=self.left, x2=edge, y1=y, y2=y, class_="grid"))
            marks.append(element("text", words, x=self.left - 7, y=y + 4, text_anchor="end"))
        for value, words in zip(across, tick_labels(across), strict=True):
            x = self.at_x(value)
            marks.append(element("line", x1=x, x2=x, y1=floor, y2=floor + 4, class_="base"))
            marks.append(element("text", words, x=x, y=floor + 17, text_anchor="middle"))
        marks.append(element("line", x1=self.left, x2=edge, y1=floor, y2=floor, class_="base"))
        return marks

    def _titles(self) -> list[Markup]:
        middle = 0.5 * (self.left + self.width - self.right)
        texts = []
        if self.x_label:
            texts.append(
                element("text", self.x_label, x=middle, y=self.height - 7, text_anchor="middle", class_="title")
            )
        if self.y_label:
            height = 0.5 * (self.top + self.height - self.bottom)
            turn = f"rotate(-90 13 {height:.1f})"
            texts.append(
                element("text", self.y_label, x=13, y=height, text_anchor="middle", class_="title", transform=turn)
            )
        return texts


def figure(title: str, note: str, drawing: Markup) -> Markup:
    """A drawing with its title above and a remark below."""
    words = [element("figcaption", note, class_="note")] if note else []
    return element("figure", element("h3", title), drawing, *words, class_="study card")


def with_unit(name: str, unit: str) -> str:
    return name if unit in ("", "1") else f"{name} ({unit})"


def keys(names: Sequence[str]) -> Markup:
    """Which colour is which curve."""
    listed = [element("li", element("i"), name, class_=f"series-{k % len(HUES)}") for k, name in enumerate(names)]
    return element("ul", *listed, class_="legend")
