"""The part on sensitivities: for each criterion a table of its parameters with a tornado chart beside it."""

from __future__ import annotations

from torseur.report.content import Influence, InfluenceRow
from torseur.report.equation_view import math
from torseur.report.markup import Markup, element, join
from torseur.report.sections import section

WIDE, HIGH = 120.0, 14.0
HEADINGS = ("Parameter", "Slope", "Per 1 %", "Logarithmic", "Share", "1 % less, 1 % more")


def sensitivities(influences: tuple[Influence, ...], note: str) -> Markup:
    """How criteria change with parameters; nothing when none was asked for."""
    cards = [_card(influence) for influence in influences]
    introduction = element("p", note) if note and cards else Markup()
    return section("sensitivities", "Sensitivities", introduction, join(cards)) if cards else Markup()


def _card(influence: Influence) -> Markup:
    head = element("tr", *(element("th", name, scope="col") for name in HEADINGS))
    largest = max((abs(row.per_percent) for row in influence.rows), default=0.0)
    body = [_row(row, largest) for row in influence.rows]
    return element(
        "div",
        element("h3", influence.title),
        element("p", influence.value, class_="note"),
        element("table", element("thead", head), element("tbody", *body), class_="influence"),
        *(element("p", warning, class_="warning") for warning in influence.warnings),
    )


def _row(row: InfluenceRow, largest: float) -> Markup:
    return element(
        "tr",
        element("td", math(row.symbol.markup(), aria_label=row.symbol.words), title=row.meaning),
        *(element("td", text, class_="value") for text in (row.slope, row.change, row.logarithmic, row.share)),
        element("td", _bars(row, largest)),
    )


def _bars(row: InfluenceRow, largest: float) -> Markup:
    """Two bars from the middle: where the criterion goes when the parameter is lowered and raised."""
    middle = WIDE / 2
    length = middle * abs(row.per_percent) / largest if largest else 0.0
    lowered, raised = (middle, middle - length) if row.per_percent < 0 else (middle - length, middle)
    return element(
        "svg",
        element("rect", x=lowered, y=2.0, width=length, height=HIGH - 4.0, class_="lowered"),
        element("rect", x=raised, y=2.0, width=length, height=HIGH - 4.0, class_="raised"),
        element("line", x1=middle, y1=0.0, x2=middle, y2=HIGH),
        viewBox=f"0 0 {WIDE:.0f} {HIGH:.0f}",
        width=WIDE,
        height=HIGH,
        class_="tornado",
        role="img",
        aria_label=f"{row.change} per 1 %",
    )
