"""What a notebook shows of each kind of value, by MIME type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from torseur.analysis.identification import Estimate
from torseur.analysis.sensitivity import Sensitivities
from torseur.analysis.studies import Optimum, SweepRun
from torseur.analysis.studies.sweeps.result_store import DONE
from torseur.computation.functions.generate_sources import Sources
from torseur.computation.simulation import Kind, PoincareSection, Spectrum, Trajectory
from torseur.computation.simulation.fmu.fmu_export import Fmu
from torseur.derivation.equations import Equations
from torseur.derivation.loops.loop_report import LoopReport
from torseur.derivation.tree import build_tree
from torseur.description.mechanism import Mechanism
from torseur.errors import TorseurError, counted
from torseur.presentation.levels.write_equations import write_equations
from torseur.presentation.notebook.viewer import view, with_word_of_trust
from torseur.presentation.report.compose.examination_content import influences_of, note_on
from torseur.presentation.report.drawing.curve_svg import Series, curve_svg
from torseur.presentation.scene.bodies.body_masses import body_mass
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.compose_scene import Composition
from torseur.presentation.scene.make_scene import Take, recursive_equations
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
    contents = {} if painter is None else painter(value)
    return contents | {"text/html": with_word_of_trust(contents["text/html"])} if "text/html" in contents else contents


def _mechanism(mechanism: Mechanism) -> dict[str, str]:
    """Picture at the start, bodies and joints."""
    head = _heading(mechanism.meaning or mechanism.name)
    numbers = Numbers(build_tree(mechanism), {})
    masses = [body_mass(body, numbers) for body in mechanism.bodies]
    rows = [(m.name, m.formula if m.mass is None else f"{m.mass:.6g}", m.meaning) for m in masses]
    bodies = _table(("body", "mass in kg", "what it is"), rows)
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
        Markup()
        if scene is None
        else Markup(svg_picture(scene).replace("<svg ", '<svg style="display:block;max-width:420px" ', 1))
    )


def still_scene(mechanism: Mechanism) -> Scene | None:
    """The mechanism where its motion starts, loops closed; nothing is simulated."""
    tree = build_tree(mechanism)
    numbers = Numbers(tree, stand_ins(tree, {}))
    gravity = tuple(numbers.value(component) or 0.0 for component in mechanism.gravity)
    position = start_position(tree, recursive_equations(mechanism), {}, {})
    return Composition(numbers, position, gravity=gravity).scene(mechanism.name, "as described")


def _equations(equations: Equations) -> dict[str, str]:
    """The scalar equations typeset, the other levels to unfold."""
    parts = []
    for level, title in LEVELS.items():
        try:
            # Blocks are centred in the widest of them, beyond the edge of the page where one is long.
            written = write_equations(equations, level, "mathml").replace('display="block"', 'displaystyle="true"')
        except TorseurError as problem:
            parts.append(element("p", f"{title}: {problem}"))
            continue
        lines = Markup("".join(f'<div style="margin:0.35em 0">{line}</div>' for line in written.split("\n")))
        body: Markup = (
            element("div", lines, style="overflow-x:auto")
            if len(written) < LARGEST
            else element("p", f"{len(written)} letters: too long to be read here.")
        )
        parts.append(element("details", element("summary", title), body, open=level == "matrix"))
    latex = write_equations(equations, "matrix", "latex")
    shown = {"text/html": element("div", _heading(f"Equations of {equations.mechanism.name}"), *parts)}
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
    return {"text/html": element("div", _heading(repr(motion)), _animation(motion), *plots, *notes)}


def _animation(motion: Trajectory) -> Markup:
    """The moving picture, where the motion is that of a mechanism and it has one."""
    if motion.mechanism is None or len(motion) < 2:
        return Markup()
    try:
        return Markup(view(motion.mechanism, motion, take=Take(parameters=motion.parameters)).frame())
    except TorseurError:
        return Markup()


def _loops(report: LoopReport) -> dict[str, str]:
    finite = "undecided" if report.finite is None else str(report.finite)
    rows = [
        ("freedoms of all joints", str(report.freedoms)), ("equations of closure", str(report.equations)),
        ("mobility by count", str(report.count)), ("at first order", str(report.infinitesimal)),
        ("over a finite distance", finite), ("redundant constraints", str(report.redundant)),
        ("singular here", "yes" if report.singular else "no"),
    ]  # fmt: skip
    remarks = [element("p", text) for text in (report.reason, *report.remarks) if text]
    head = _heading(f"Loops of {report.mechanism}")
    branches = [("", report.ways_note), *((f"branch {k}", str(way)) for k, way in enumerate(report.ways, 1))]
    shown = [_table(("branches through it", "what they move"), branches)] if report.ways else []
    return {"text/html": element("div", head, _table(("finding", "value"), rows), *remarks, *shown)}


def _sensitivities(results: Sensitivities) -> dict[str, str]:
    parts = [element("p", note_on(results))]
    for influence in influences_of(results):
        rows = [(row.symbol.text, row.derivative, row.change, row.share) for row in influence.rows]
        parts.append(_heading(f"{influence.title} = {influence.value}"))
        parts.append(_table(("parameter", "derivative", "by 1 %", "share"), rows))
    return {"text/html": element("div", *parts, *(element("p", note) for note in results.notes))}


def _estimate(estimate: Estimate) -> dict[str, str]:
    rows = [(n, f"{v:.6g}", f"{s:.2g}", u, text) for n, v, s, _, u, text in estimate.rows()]
    verdict = "every check of the fit holds" if estimate.trusted else "checks of the fit failed"
    head = _heading(f"{len(rows)} parameters by {estimate.method}; {verdict}")
    table = _table(("parameter", "value", "deviation", "unit", "stands for"), rows)
    return {"text/html": element("div", head, table, *(element("p", note) for note in estimate.warnings))}


def _section(section: PoincareSection) -> dict[str, str]:
    """Points of the first two quantities that were asked for, or of the first coordinate and its rate."""
    columns = [c for c in section.points.columns if c.kind is Kind.OUTPUT][:2]
    if len(columns) < 2:
        states = section.points.states
        columns = [next(c for c in states if c.kind is kind) for kind in (Kind.COORDINATE, Kind.VELOCITY)]
    across, upward = (Series(column.name, section[column.name]) for column in columns)
    x_unit, y_unit = ("" if column.quantity.unit == "1" else column.quantity.unit for column in columns)
    drawn = curve_svg(across, [upward], x_unit, y_unit, dots=True)
    return {"text/html": element("div", _heading(repr(section)), drawn)}


def _spectrum(found: Spectrum) -> dict[str, str]:
    """Amplitudes by frequency, a plot per unit, up to where they have faded."""
    low, by_unit = found.low, dict[str, list[Series]]()
    for quantity in found.quantities[:MOST_CURVES]:
        by_unit.setdefault(quantity.unit, []).append(Series(quantity.name, low[quantity.name]))
    across = Series("frequency", low.frequency)
    plots = [curve_svg(across, curves, "Hz", "" if unit == "1" else unit) for unit, curves in by_unit.items()]
    return {"text/html": element("div", _heading(repr(found)), *plots)}


def _optimum(optimum: Optimum) -> dict[str, str]:
    """The point, the criteria, and how each start ended."""

    def unit(name: str) -> str:
        return "" if optimum.units.get(name, "1") == "1" else optimum.units[name]

    point = [(name, f"{value:.6g}", unit(name)) for name, value in optimum.point.items()]
    criteria = [(name, f"{value:.6g}", unit(name)) for name, value in optimum.criteria.items()]
    ends = [(str(k), message) for k, message in enumerate(optimum.messages, 1)]
    tables = [_table(("parameter", "value", "unit"), point), _table(("criterion", "at the optimum", "unit"), criteria),
              _table(("start", "how it ended"), ends)]  # fmt: skip
    return {"text/html": element("div", _heading(repr(optimum)), *tables)}


def _sweep(run: SweepRun) -> dict[str, str]:
    """What each criterion does over the points of a study."""
    store = run.store
    good = store.column("status") == DONE
    rows = []
    for column in store.columns:
        values = store.column(column.label)[good]
        if len(values):
            numbers = [f"{x:.5g}" for x in (values.min(), np.median(values), values.mean(), values.max())]
            rows.append((column.label, *numbers, "" if column.unit == "1" else column.unit))
    head = _heading(f"{run!r}; {int(good.sum())} of {len(good)} succeeded")
    table = _table(("criterion", "least", "median", "mean", "greatest", "unit"), rows)
    return {"text/html": element("div", head, table)}


def _sources(sources: Sources) -> dict[str, str]:
    """Every file, to unfold; long ones in part."""
    parts = []
    for name, text in sources.items():
        shown = text if len(text) < LARGEST else f"{text[:LARGEST]}\n... {len(text) - LARGEST} letters more"
        head = element("summary", f"{name}, {counted(text.count(chr(10)) + 1, 'line')}")
        parts.append(element("details", head, element("pre", shown)))
    return {"text/html": element("div", *parts)}


def _fmu(fmu: Fmu) -> dict[str, str]:
    rows = [(kind, ", ".join(names) or "none") for kind, names in
            (("outputs", fmu.outputs), ("inputs", fmu.inputs), ("parameters", fmu.parameters))]  # fmt: skip
    return {"text/html": element("div", _heading(repr(fmu)), _table(("variables", "names"), rows))}


def _heading(words: str) -> Markup:
    """A line of its own: what stands beside it in a line, such as a drawing, would be set next to its words."""
    return element("div", element("b", words))


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
    PoincareSection: _section,
    Spectrum: _spectrum,
    Optimum: _optimum,
    SweepRun: _sweep,
    Sources: _sources,
    Fmu: _fmu,
}
