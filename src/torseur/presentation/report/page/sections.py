"""The parts that are lists, tables and small drawings: freedoms, parameters, checks, certificate, convergence."""

from __future__ import annotations

from math import ceil, floor, isfinite, log10

from torseur.presentation.report.drawing.curve_svg import FLUID, Series, curve_svg
from torseur.presentation.report.drawing.diagram import diagram
from torseur.presentation.report.page.equation_view import Index, block, math
from torseur.presentation.report.page.report_content import (
    Certificate,
    Check,
    Convergence,
    CrossPlot,
    DataTable,
    Fact,
    Formalism,
    Parameter,
    ReportContent,
    Reproduction,
)
from torseur.presentation.scene.scene import Body
from torseur.presentation.typesetting.markup import Markup, element, join

LONGEST_NUMBER = 8  # letters of a fact that fit its column; names are longer
POINTING = "Point at a term to see which body it comes from; select a part of it to fold it, and again to open it."


def section(identifier: str, title: str, *children: str) -> Markup:
    """A titled part of the page; nothing when it has no content."""
    if not any(children):
        return Markup()
    return element("section", element("h2", title), *children, id=identifier)


def mechanism(content: ReportContent) -> Markup:
    """What the mechanism is: description, drawing, warnings."""
    text = [element("p", content.description)] if content.description else []
    drawing = [diagram(content.bodies, content.joints)] if content.bodies and content.diagram else []
    warnings = [element("p", warning, class_="warning") for warning in content.warnings]
    plain = "Mechanism" if text or drawing or content.findings else "Warnings"
    title = plain if content.diagram else "Summary"
    return section("mechanism", title, join([*text, *drawing, *warnings, findings(content.findings)]))


def findings(sentences: tuple[str, ...]) -> Markup:
    """What the robot file says and the mechanism does not, folded away."""
    if not sentences:
        return Markup()
    head = element(
        "summary", element("span", "Other contents of the file"), element("small", f"{len(sentences)} findings")
    )
    listed = element("ul", *(element("li", one) for one in sentences), class_="findings")
    return element("details", head, element("div", listed), class_="card block")


def crossplots(plots: tuple[CrossPlot, ...]) -> Markup:
    """Curves over another quantity than time."""
    if not plots:
        return Markup()
    drawn = []
    for plot in plots:
        curves = [Series(curve.label, curve.values) for curve in plot.curves]
        svg = curve_svg(Series(plot.across, plot.places), curves, plot.across_unit, plot.unit)
        # The page's policy lets no style stand in an element.
        drawn.append(element("div", Markup(svg.replace(f' style="{FLUID}"', "", 1)), class_="crossplot"))
    return section("crossplots", f"Over {plots[0].across}", *drawn)


def freedom(facts: tuple[Fact, ...]) -> Markup:
    """The account of the degree of freedom."""
    return section("freedom", "Degree of freedom", fact_list(facts))


def fact_list(facts: tuple[Fact, ...]) -> Markup:
    """Facts as a list of label, value and note."""
    rows = [
        element(
            "div",
            element("dt", fact.label),
            element("dd", fact.value),
            element("dd", fact.note, class_="note"),
            class_="named" if len(fact.value) > LONGEST_NUMBER else None,
        )
        for fact in facts
    ]
    return element("dl", *rows, class_="facts") if rows else Markup()


def equations(content: ReportContent, index: Index) -> Markup:
    """The legend of colours and the cards of equations."""
    if not content.equations:
        return Markup()
    note = element("p", content.equations_note or POINTING)
    cards = [block(one, number, index) for number, one in enumerate(content.equations)]
    return section("equations", "Equations of motion", note, levels(content), legend(content), *cards)


def levels(content: ReportContent) -> Markup:
    """One button per level of detail; the script shows the cards of the chosen one. Without it all are shown."""
    names = list(dict.fromkeys(one.level for one in content.equations if one.level))
    if len(names) < 2:
        return Markup()
    buttons = [
        element("button", name.capitalize(), type="button", data_level=name, aria_pressed="false") for name in names
    ]
    every = element("button", "All levels", type="button", data_level="", aria_pressed="true")
    return element("div", *buttons, every, class_="levels", role="group", aria_label="Level of detail", hidden=True)


def legend(content: ReportContent) -> Markup:
    """Which colour is which body."""
    keys = [_key(body, number) for number, body in enumerate(content.bodies) if not body.fixed]
    loads = any(one.names for one in content.equations) or any(
        term.origin and not term.origin.bodies
        for one in content.equations
        for line in one.equations + one.folded
        for term in line.all_terms
    )
    if loads:
        keys.append(element("li", element("i"), "joints and loads", class_="colour-load"))
    return element("ul", *keys, class_="legend", aria_label="Colours of the terms")


def _key(body: Body, number: int) -> Markup:
    return element("li", element("i"), body.name, class_=f"colour-{number}", data_body=number, tabindex=0)


def parameters(rows: tuple[Parameter, ...], index: Index) -> Markup:
    """Table of symbol, meaning, value and unit."""
    if not rows:
        return Markup()
    names = ("Symbol", "Meaning", "Value", "Unit")
    head = element("tr", *(element("th", name, scope="col", class_=name.lower()) for name in names))
    body = [
        element(
            "tr",
            element("td", math(row.symbol.markup(), aria_label=row.symbol.words)),
            element("td", row.meaning),
            element("td", row.value, class_="value"),
            element("td", row.unit),
            **index.targets(row.bodies),
        )
        for row in rows
    ]
    return section("parameters", "Parameters", element("table", element("thead", head), element("tbody", *body)))


def tables(content: tuple[DataTable, ...]) -> Markup:
    """Tables of texts and numbers, each under its title."""
    return join([_table(table, number) for number, table in enumerate(content)])


def _table(table: DataTable, number: int) -> Markup:
    kinds = ["value" if k in table.numeric else "text" for k in range(len(table.headings))]
    head = [element("th", name, scope="col", class_=kind) for name, kind in zip(table.headings, kinds, strict=True)]
    body = [
        element("tr", *(element("td", cell, class_=kind) for cell, kind in zip(row, kinds, strict=True)))
        for row in table.rows
    ]
    grid = element("table", element("thead", element("tr", *head)), element("tbody", *body), class_="data")
    note = [element("p", table.note, class_="note")] if table.note else []
    return section(f"table-{number}", table.title, *note, element("div", grid, class_="wide") if body else "")


def checks(rows: tuple[Check, ...]) -> Markup:
    """What was verified on this run."""
    items = [
        element(
            "li",
            element("span", "passed: " if row.ok else "failed: ", class_="spoken"),
            element("strong", row.title),
            element("span", row.detail, class_="note"),
            class_="passed" if row.ok else "failed",
        )
        for row in rows
    ]
    return section("checks", "Checks", element("ul", *items, class_="checks") if items else "")


def reproduction(content: Reproduction) -> Markup:
    """Commands, the description itself, versions and date."""
    parts: list[str] = []
    if content.commands:
        parts.append(_listing("\n".join(content.commands), "commands"))
    if content.source:
        head = element(
            "summary",
            element("span", content.source_name or "Description"),
            element("small", "the mechanism as text"),
        )
        parts.append(element("details", head, element("div", _listing(content.source, "source")), class_="card block"))
    made = [f"{name} {version}" for name, version in content.versions] + [content.date] * bool(content.date)
    if made:
        parts.append(element("p", "Made with " + ", ".join(made) + ".", class_="note"))
    return section("reproduce", "How to reproduce", *parts)


def _listing(text: str, copy: str) -> Markup:
    button = element("button", "Copy", type="button", class_="copy", data_copy=copy)
    return element("div", element("pre", element("code", text), tabindex=0), button, class_="listing")


WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 220, 52, 28, 10, 14


def convergence(content: tuple[Convergence, ...]) -> Markup:
    """How iterations went: cost or gradient by step on a logarithmic scale, drawings under one title."""
    parts = []
    for one in content:
        shown = [(k, log10(v)) for k, v in enumerate(one.values) if v > 0 and isfinite(v)]
        if len(shown) > 1:
            note = [element("p", one.note, class_="note")] if one.note else []
            parts += [element("h3", one.title), *note, _drawing(one, shown)]
    return section("convergence", "Convergence", join(parts))


def _drawing(one: Convergence, shown: list[tuple[int, float]]) -> Markup:
    low, high = floor(min(v for _, v in shown)), ceil(max(v for _, v in shown))
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


NUMBERS = ("Operations", "Time (ms)", "Difference")


def certificate(content: Certificate | None) -> Markup:
    """Verdict, then formalism, operations, time to derive and largest relative difference."""
    if content is None:
        return Markup()
    verdict = element("p", content.verdict, class_="" if content.agrees else "warning")
    if not content.rows:
        return section("certificate", "Certificate", verdict)
    heads = [element("th", "Formalism", scope="col")]
    heads += [element("th", name, scope="col", class_="number") for name in NUMBERS]
    applied = [_row(row) for row in content.rows if not row.reason]
    table = element("table", element("thead", element("tr", *heads)), element("tbody", *applied))
    refused = [element("p", f"{row.name}: {row.reason}", class_="note") for row in content.rows if row.reason]
    return section("certificate", "Certificate", verdict, table, *refused)


def _row(row: Formalism) -> Markup:
    name = element("td", row.name)
    cells = (f"{row.operations}", f"{row.milliseconds:.1f}", f"{row.difference:.1e}" if row.difference else "0")
    return element("tr", name, *(element("td", cell, class_="number") for cell in cells))
