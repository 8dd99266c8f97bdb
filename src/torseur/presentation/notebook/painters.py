"""What a notebook shows of each kind of value, by MIME type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from torseur.analysis.identification import Estimate
from torseur.analysis.sensitivity import Sensitivities
from torseur.computation.simulation import Trajectory
from torseur.derivation.equations import Equations
from torseur.derivation.loops.loop_report import LoopReport
from torseur.derivation.tree import build_tree
from torseur.description.mechanism import Mechanism
from torseur.errors import TorseurError
from torseur.presentation.levels.write_equations import write_equations
from torseur.presentation.report.compose.examination_content import influences_of, note_on
from torseur.presentation.report.drawing.curve_svg import Series, curve_svg
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.compose_scene import Composition
from torseur.presentation.scene.pictures.poster import svg_picture
from torseur.presentation.scene.scene import Scene
from torseur.presentation.scene.still_position import stand_ins, start_position
from torseur.presentation.typesetting.markup import Markup, element

LEVELS = {"matrix": "Matrix form", "scalar": "Scalar form", "recursive": "Recursive form"}
LARGEST = 60_000  # letters of a form that a notebook still shows
MOST_CURVES = 8


def paint(value: Any) -> dict[str, str]:
    """The contents of a value by MIME type; empty where nothing better than its `repr` is known."""
    painter = next((p for kind, p in _PAINTERS.items() if isinstance(value, kind)), None)
    return {} if painter is None else painter(value)


def _mechanism(mechanism: Mechanism) -> dict[str, str]:
    """Picture at the start, bodies and joints."""
    head = element("b", mechanism.meaning or mechanism.name)
    bodies = _table(
        ("body", "mass", "what it is"),
        [(b.name, "" if b.mass is None else str(b.mass), b.meaning) for b in mechanism.bodies],
    )
    joints = _table(
        ("joint", "kind", "between", "coordinates"),
        [
            (j.name, j.kind, f"{j.parent.body} and {j.child.body}", ", ".join(q.name for q in j.coordinates))
            for j in mechanism.joints
        ],
    )
    return {"text/html": element("div", head, _picture(mechanism), bodies, joints)}


def _picture(mechanism: Mechanism) -> Markup:
    try:
        scene = still_scene(mechanism)
    except TorseurError as problem:
        return element("p", f"No picture: {problem}")
    return (
        Markup() if scene is None else Markup(svg_picture(scene).replace("<svg ", '<svg style="max-width:420px" ', 1))
    )


def still_scene(mechanism: Mechanism) -> Scene | None:
    """The mechanism where its description starts it; nothing is simulated."""
    tree = build_tree(mechanism)
    numbers = Numbers(tree, stand_ins(tree, {}))
    gravity = tuple(numbers.value(component) or 0.0 for component in mechanism.gravity)
    position = start_position(tree, None, {}, {})
    return Composition(numbers, position, gravity=gravity).scene(mechanism.name, "as described")


def _equations(equations: Equations) -> dict[str, str]:
    """The scalar equations typeset, the other levels to unfold."""
    parts = []
    for level, title in LEVELS.items():
        try:
            written = write_equations(equations, level, "mathml")
        except TorseurError as problem:
            parts.append(element("p", f"{title}: {problem}"))
            continue
        lines = Markup("".join(f"<div>{line}</div>" for line in written.split("\n")))
        body = lines if len(written) < LARGEST else element("p", f"{len(written)} letters: too long to be read here.")
        parts.append(element("details", element("summary", title), body, open=level == "matrix"))
    latex = write_equations(equations, "matrix", "latex")
    shown = {"text/html": element("div", element("b", f"Equations of {equations.mechanism.name}"), *parts)}
    return shown | ({"text/latex": latex} if len(latex) < LARGEST else {})


def _trajectory(motion: Trajectory) -> dict[str, str]:
    """Curves over time, a plot per unit, and what is to be known of the motion."""
    by_unit: dict[str, list[Series]] = {}
    for column in motion.columns:
        by_unit.setdefault(column.quantity.unit, []).append(Series(column.name, np.asarray(motion[column.name])))
    time = Series("time", np.asarray(motion.time))
    plots = [
        curve_svg(time, curves[:MOST_CURVES], "s", "" if unit == "1" else unit) for unit, curves in by_unit.items()
    ]
    notes = [element("p", note) for note in motion.notes]
    return {"text/html": element("div", element("b", repr(motion)), *plots, *notes)}


def _loops(report: LoopReport) -> dict[str, str]:
    finite = "undecided" if report.finite is None else str(report.finite)
    rows = [
        ("freedoms of all joints", str(report.freedoms)), ("equations of closure", str(report.equations)),
        ("mobility by count", str(report.count)), ("at first order", str(report.infinitesimal)),
        ("over a finite distance", finite), ("redundant constraints", str(report.redundant)),
        ("singular here", "yes" if report.singular else "no"),
    ]  # fmt: skip
    remarks = [element("p", text) for text in (report.reason, *report.remarks) if text]
    head = element("b", f"Loops of {report.mechanism}")
    branches = [("", report.ways_note), *((f"branch {k}", str(way)) for k, way in enumerate(report.ways, 1))]
    shown = [_table(("branches through it", "what they move"), branches)] if report.ways else []
    return {"text/html": element("div", head, _table(("finding", "value"), rows), *remarks, *shown)}


def _sensitivities(results: Sensitivities) -> dict[str, str]:
    parts = [element("p", note_on(results))]
    for influence in influences_of(results):
        rows = [(row.symbol.words, row.derivative, row.change, row.share) for row in influence.rows]
        parts.append(element("b", f"{influence.title} = {influence.value}"))
        parts.append(_table(("parameter", "derivative", "by 1 %", "share"), rows))
    return {"text/html": element("div", *parts, *(element("p", note) for note in results.notes))}


def _estimate(estimate: Estimate) -> dict[str, str]:
    rows = [(n, f"{v:.6g}", f"{s:.2g}", u, text) for n, v, s, _, u, text in estimate.rows()]
    verdict = "every check of the fit holds" if estimate.trusted else "checks of the fit failed"
    head = element("b", f"{len(rows)} parameters by {estimate.method}; {verdict}")
    table = _table(("parameter", "value", "deviation", "unit", "stands for"), rows)
    return {"text/html": element("div", head, table, *(element("p", note) for note in estimate.warnings))}


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    head = element("tr", *(element("th", name) for name in headings))
    body = [element("tr", *(element("td", cell) for cell in row)) for row in rows]
    return element("table", element("thead", head), element("tbody", *body))


_PAINTERS: dict[type, Callable[[Any], dict[str, str]]] = {
    Mechanism: _mechanism,
    Equations: _equations,
    Trajectory: _trajectory,
    LoopReport: _loops,
    Sensitivities: _sensitivities,
    Estimate: _estimate,
}
