"""The part on closed loops: a picture of them, what they leave free, and what is redundant."""

from __future__ import annotations

from torseur.report.content import Loops, ReportContent
from torseur.report.loop_picture import loop_picture
from torseur.report.markup import Markup, element
from torseur.report.sections import fact_list, section

MOST_TEXTS = 12


def loops(content: ReportContent) -> Markup:
    """The part on closed loops; nothing for a tree."""
    found = content.loops
    if found is None:
        return Markup()
    remarks = [element("p", remark, class_="warning") for remark in found.remarks]
    picture = loop_picture(content) if found.rings else Markup()
    listed = [_listed("Branches through this configuration", found.branches), _listed("Redundant", found.redundant)]
    return section("loops", "Closed loops", picture, *remarks, fact_list(found.facts), *listed, _passage(found))


def _listed(title: str, texts: tuple[str, ...]) -> Markup:
    if not texts:
        return Markup()
    items = [element("li", text) for text in texts[:MOST_TEXTS]]
    if len(texts) > MOST_TEXTS:
        items.append(element("li", f"and {len(texts) - MOST_TEXTS} more", class_="note"))
    return Markup(element("h3", title) + element("ul", *items))


def _passage(found: Loops) -> Markup:
    """The matrix N: speeds of all freedoms per speed of the independent ones."""
    if not found.independent:
        return Markup()
    cells = [("th", "speed of"), *(("th", f"per {name}") for name in found.independent)]
    head = element("tr", *(element(tag, text, scope="col") for tag, text in cells))
    rows = [
        element("tr", element("td", name), *(element("td", f"{value + 0.0:.4g}", class_="value") for value in row))
        for name, row in zip(found.freedoms, found.passage, strict=True)
    ]
    summary = element("summary", element("span", "Passage matrix N"), element("small", "at the start of the motion"))
    table = element("table", element("thead", head), element("tbody", *rows))
    return element("details", summary, element("div", table), class_="card block")
