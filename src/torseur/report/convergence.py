"""How an iteration went: its cost or gradient by step on a logarithmic scale, as a drawing."""

from __future__ import annotations

import math

from torseur.report.content import Convergence
from torseur.report.markup import Markup, element, join
from torseur.report.sections import section

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 220, 52, 28, 10, 14


def convergence(content: tuple[Convergence, ...]) -> Markup:
    """The drawings, under one title."""
    parts = []
    for one in content:
        shown = [(k, math.log10(v)) for k, v in enumerate(one.values) if v > 0 and math.isfinite(v)]
        if len(shown) > 1:
            note = [element("p", one.note, class_="note")] if one.note else []
            parts += [element("h3", one.title), *note, _drawing(one, shown)]
    return section("convergence", "Convergence", join(parts))


def _drawing(one: Convergence, shown: list[tuple[int, float]]) -> Markup:
    low, high = math.floor(min(v for _, v in shown)), math.ceil(max(v for _, v in shown))
    high = max(high, low + 1)
    last = max(k for k, _ in shown)

    def x(k: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * k / max(last, 1)

    def y(v: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - v) / (high - low)

    decades = range(low, high + 1, max(1, (high - low) // 6))
    marks = [
        element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y(d), y2=y(d), class_="grid")
        + element("text", f"1e{d}", x=LEFT - 6, y=y(d) + 4, text_anchor="end")
        for d in decades
    ]
    steps = sorted({round(last * part / 5) for part in range(6)})
    marks += [element("text", str(k), x=x(k), y=HEIGHT - 10, text_anchor="middle") for k in steps]
    path = "".join(f"{'L' if n else 'M'}{x(k):.1f} {y(v):.1f}" for n, (k, v) in enumerate(shown))
    dots = [element("circle", cx=x(k), cy=y(v), r=2) for k, v in shown] if len(shown) <= 80 else []
    label = f"{one.title}: from {10 ** shown[0][1]:.3g} to {10 ** shown[-1][1]:.3g} in {last} steps"
    drawn = [Markup(mark) for mark in marks]
    box = f"0 0 {WIDTH} {HEIGHT}"
    inside = [*drawn, element("path", d=path), *dots]
    return element("svg", *inside, viewBox=box, class_="convergence", role="img", aria_label=label)
