"""The parts on closed loops (a picture, what they leave free, what is redundant) and on sensitivities (charts)."""

from __future__ import annotations

from torseur.presentation.report.drawing.loop_picture import loop_picture
from torseur.presentation.report.page.equation_view import math
from torseur.presentation.report.page.report_content import Influence, InfluenceRow, Loops, ReportContent
from torseur.presentation.report.page.sections import fact_list, section
from torseur.presentation.scene.packing import pack_motion
from torseur.presentation.typesetting.markup import Markup, element, join

MOST_TEXTS = 12


def loops(content: ReportContent) -> Markup:
    """The part on closed loops; nothing for a tree."""
    report = content.loops
    if report is None:
        return Markup()
    remarks = [element("p", remark, class_="warning") for remark in report.remarks]
    picture = loop_picture(content) if report.rings else Markup()
    listed = [_branches(report), _list("Redundant", report.redundant)]
    return section("loops", "Closed loops", picture, *remarks, fact_list(report.facts), *listed, _passage(report))


def _branches(report: Loops) -> Markup:
    """The branches with what each moves; those with a motion have a button that plays it in the picture."""
    if not report.branches:
        return Markup()
    numbers = iter(range(len(report.branches)))
    items = []
    for branch in report.branches:
        lines = [element("div", line, class_="direction" if k else None) for k, line in enumerate(branch.lines)]
        if branch.motion is not None:
            button = element(
                "button", "Play", type="button", data_branch=next(numbers), aria_pressed="false", hidden=True
            )
            lines.append(button)
        items.append(element("li", *lines))
    head = element("h3", "Branches through this configuration") + element("p", f"There are {report.branches_note}.")
    return Markup(head + element("ol", *items, class_="branches"))


def branch_motions(report: Loops | None) -> list[dict[str, object]]:
    """The motions that the buttons of branches play, packed, in their order."""
    branches = report.branches if report is not None else ()
    return [pack_motion(branch.motion) for branch in branches if branch.motion is not None]


def _list(title: str, texts: tuple[str, ...]) -> Markup:
    if not texts:
        return Markup()
    items = [element("li", text) for text in texts[:MOST_TEXTS]]
    if len(texts) > MOST_TEXTS:
        items.append(element("li", f"and {len(texts) - MOST_TEXTS} more", class_="note"))
    return Markup(element("h3", title) + element("ul", *items))


def _passage(report: Loops) -> Markup:
    """The matrix N: speeds of all freedoms per speed of the independent ones."""
    if not report.independent:
        return Markup()
    cells = [("th", "speed of"), *(("th", f"per {name}") for name in report.independent)]
    head = element("tr", *(element(tag, text, scope="col") for tag, text in cells))
    rows = [
        element("tr", element("td", name), *(element("td", f"{value + 0.0:.4g}", class_="value") for value in row))
        for name, row in zip(report.freedoms, report.passage, strict=True)
    ]
    summary = element("summary", element("span", "Passage matrix N"), element("small", "at the start of the motion"))
    table = element("table", element("thead", head), element("tbody", *rows))
    return element("details", summary, element("div", table), class_="card block")


WIDE, HIGH = 120.0, 14.0
HEADINGS = ("Parameter", "Derivative", "Per 1 %", "Logarithmic", "Share", "1 % less, 1 % more")


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
        *(element("td", text, class_="value") for text in (row.derivative, row.change, row.logarithmic, row.share)),
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
