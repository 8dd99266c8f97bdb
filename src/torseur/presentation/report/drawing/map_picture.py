"""A map of singular lines over two coordinates as an SVG picture."""

from __future__ import annotations

from html import escape

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops import SingularMap

_WIDTH, _HEIGHT, _LEFT, _BELOW, _ABOVE = 640.0, 520.0, 70.0, 50.0, 40.0
_COLOURS = {"type 2": "#c0392b", "type 1": "#2457a6"}
_TICKS = 6


def map_picture(drawn: SingularMap) -> str:
    """The map as an SVG document: what is reached shaded, singular lines by kind, axes in SI."""
    frame = _Frame(drawn.first, drawn.second)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" font-family="sans-serif" '
        'font-size="13">',
        f"<title>{escape(str(drawn).splitlines()[0])}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        *_cells(frame, drawn),
        *(_polyline(frame, line, "#888", "4 3") for line in drawn.boundary),
        *(_polyline(frame, line, _COLOURS[kind]) for kind, lines in drawn.lines.items() for line in lines),
        *_axes(frame, drawn),
        *_legend(drawn),
        "</svg>",
    ]
    return "\n".join(parts)


class _Frame:
    """From coordinates to the picture."""

    def __init__(self, first: Array, second: Array) -> None:
        self.low = np.array([min(first[0], first[-1]), min(second[0], second[-1])])
        self.size = np.abs(np.array([first[-1] - first[0], second[-1] - second[0]]))
        self.area = np.array([_WIDTH - _LEFT - 20.0, _HEIGHT - _BELOW - _ABOVE])

    def place(self, point: Array) -> tuple[float, float]:
        x, y = (point - self.low) / self.size * self.area
        return _LEFT + float(x), _HEIGHT - _BELOW - float(y)


def _cells(frame: _Frame, drawn: SingularMap) -> list[str]:
    """A light cell around every node that is reached, rows of neighbours as one rectangle."""
    rows: list[str] = []
    steps = [abs(float(axis[1] - axis[0])) for axis in (drawn.first, drawn.second)]
    width, height = (s / total * area for s, total, area in zip(steps, frame.size, frame.area, strict=True))
    for i, x in enumerate(drawn.first):
        for j, y in enumerate(drawn.second):
            if drawn.reached[i, j]:
                px, py = frame.place(np.array([x, y]))
                left, top = max(px - width / 2, _LEFT), max(py - height / 2, _ABOVE)
                right, low = min(px + width / 2, _LEFT + frame.area[0]), min(py + height / 2, _HEIGHT - _BELOW)
                rows.append(f'<rect x="{left:.2f}" y="{top:.2f}" width="{right - left:.2f}" height="{low - top:.2f}"/>')
    return ['<g fill="#eef3ea" shape-rendering="crispEdges">', *rows, "</g>"]


def _polyline(frame: _Frame, line: Array, colour: str, dashes: str = "") -> str:
    points = " ".join(f"{x:.2f},{y:.2f}" for x, y in (frame.place(point) for point in line))
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashed}/>'


def _axes(frame: _Frame, drawn: SingularMap) -> list[str]:
    low, bottom = frame.low, _HEIGHT - _BELOW
    parts = [
        f'<rect x="{_LEFT}" y="{_ABOVE}" width="{frame.area[0]}" height="{frame.area[1]}" fill="none" stroke="black"/>'
    ]
    for part in np.linspace(0, 1, _TICKS):
        value = low + part * frame.size
        x, y = frame.place(value)
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18:.1f}" text-anchor="middle">{value[0]:.3g}</text>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value[1]:.3g}</text>')
    across, middle = _LEFT + frame.area[0] / 2, _ABOVE + frame.area[1] / 2
    first, second = map(escape, drawn.names)
    upright = f'transform="rotate(-90 16 {middle})"'
    parts.append(f'<text x="{across}" y="{_HEIGHT - 12}" text-anchor="middle">{first}</text>')
    parts.append(f'<text x="16" y="{middle}" text-anchor="middle" {upright}>{second}</text>')
    return parts


def _legend(drawn: SingularMap) -> list[str]:
    parts, x = [], _LEFT
    for kind in drawn.lines:
        parts.append(f'<line x1="{x}" y1="22" x2="{x + 24}" y2="22" stroke="{_COLOURS[kind]}" stroke-width="2"/>')
        parts.append(f'<text x="{x + 30}" y="26">{kind}</text>')
        x += 110
    return parts
