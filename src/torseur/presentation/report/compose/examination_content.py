"""The loop doctor's findings and the sensitivities of a motion as content of a report."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from torseur.analysis.sensitivity import Rank, Response, Sensitivities
from torseur.derivation.loops import LoopReport
from torseur.derivation.loops import loops as examine
from torseur.derivation.loops.loop_report import Way
from torseur.description.mechanism import Mechanism
from torseur.errors import TorseurError
from torseur.presentation.report.page.report_content import (
    Curve,
    Fact,
    Influence,
    InfluenceRow,
    LoopBranch,
    LoopRing,
    Loops,
    Plot,
)
from torseur.presentation.scene.bodies.body_poses import motion_through
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.typesetting.formula import Formula, formula
from torseur.presentation.typesetting.read_graph import read_name

MOST_JOINTS = 120  # a page does not wait for the examination of larger nets
MOST_COLUMNS, MOST_ROWS = 8, 40
BRANCH_SECONDS = 4.0  # that a motion into a branch and back is played in


def loops_of(
    mechanism: Mechanism, values: Mapping[str, float], start: Mapping[str, float] | None, drawn: Numbers
) -> Loops:
    """What the loops leave free at the start of the motion, or why it is not known; `drawn` places the bodies."""
    if len(mechanism.joints) > MOST_JOINTS:
        return Loops(facts=(), remarks=(f"{len(mechanism.joints)} joints: `torseur loops` examines them.",))
    try:
        report = examine(mechanism.with_values(**values), start)
    except TorseurError as problem:
        return Loops(facts=(), remarks=(str(problem),))
    shown = len(report.partition.independent) <= MOST_COLUMNS and len(report.partition.freedoms) <= MOST_ROWS
    return Loops(
        facts=tuple(_facts(report)),
        rings=tuple(LoopRing(f"loop {k}", path.joints) for k, path in enumerate(report.outline.loops, 1)),
        places=report.outline.places,
        branches=tuple(_branch(way, drawn) for way in report.ways),
        branches_note=report.ways_note,
        redundant=tuple(str(item) for item in report.redundancies),
        remarks=report.remarks,
        independent=report.partition.independent if shown else (),
        freedoms=report.partition.freedoms if shown else (),
        passage=tuple(tuple(map(float, row)) for row in report.partition.passage) if shown else (),
    )


def _branch(way: Way, drawn: Numbers) -> LoopBranch:
    """A branch with a motion from the singular configuration into it and back, so that it can be played in a circle."""
    poses = [*way.motion, *way.motion[-2::-1]]
    return LoopBranch(tuple(way.lines()), motion_through(drawn, poses, BRANCH_SECONDS))


def _facts(report: LoopReport) -> list[Fact]:
    finite = "undecided" if report.finite is None else str(report.finite)
    closing = ", ".join(report.cut.closing)
    return [
        Fact("loops", str(len(report.cut.loops)), f"cut at {closing}" if closing else ""),
        Fact("freedoms", str(report.freedoms), f"of all joints; {report.equations} closure and constraint equations"),
        Fact("mobility by count", str(report.count), f"{report.count_by_order} by the order of the loops"),
        Fact("generic rank", str(report.generic_rank), "at a random open point; depends on how closure is written"),
        Fact("rank", str(report.rank), "where the loops are closed, at the start of the motion"),
        Fact("infinitesimal mobility", str(report.infinitesimal), "motions at first order"),
        Fact("finite mobility", finite, report.reason),
        Fact("redundant", str(report.redundant), "constraints that others impose already"),
        Fact("independent", str(len(report.partition.independent)), _independent(report)),
    ]


def _independent(report: LoopReport) -> str:
    names = report.partition.independent
    if not names:
        return "nothing moves"
    verb = "determines" if len(names) == 1 else "determine"
    return f"{', '.join(names)} {verb} the motion, quality {report.partition.quality:.2f} of 1"


MOST_CURVES = 8


def influences_of(results: Sensitivities) -> tuple[Influence, ...]:
    """For each criterion its parameters, the most influential first."""
    return tuple(_influence(results, response) for response in results.responses)


def note_on(results: Sensitivities) -> str:
    """How the derivatives were computed, in a sentence."""
    method = results.method.replace("_", " ")
    return f"How criteria change with parameters, by the {method} method ({results.reason})."


def sensitivity_plots(results: Sensitivities) -> tuple[Plot, ...]:
    """The change of each criterion with 1 % of its most influential parameters, along time."""
    return tuple(_plot(results, response) for response in results.responses if response.is_curve)


def _plot(results: Sensitivities, response: Response) -> Plot:
    derivatives = results.derivatives(response.name, "per_percent")
    order = np.argsort(-np.abs(derivatives).max(axis=0))[:MOST_CURVES]
    curves = [_curve(results.parameter_names[k], derivatives[:, k]) for k in order]
    unit = "" if response.unit == "1" else response.unit
    return Plot(f"{response.name}: change per 1 %", unit, response.time, tuple(curves))


def _curve(name: str, values: np.ndarray) -> Curve:
    return Curve(name, np.asarray(values, dtype=float), _symbol(name))


def _influence(results: Sensitivities, response: Response) -> Influence:
    logarithmic = dict(zip(results.parameter_names, results.derivatives(response.name, "logarithmic")[-1], strict=True))
    ranks = results.ranking(response.name)
    rows = [_row(results, rank, float(logarithmic[rank.parameter])) for rank in ranks]
    unit = "" if response.unit == "1" else f" {response.unit}"
    value = f"{response.value:.6g}{unit} at t = {response.time[-1]:.6g} s"
    title = response.name[:1].upper() + response.name[1:] if response.kind != "value" else response.name
    return Influence(title, value, tuple(rows), results.notes)


def _row(results: Sensitivities, rank: Rank, logarithmic: float) -> InfluenceRow:
    """A row of the table; what rounding may have made is none, and has no share."""
    parameter, none = results.parameters[results.column(rank.parameter)], rank.is_zero
    return InfluenceRow(
        symbol=_symbol(rank.parameter),
        meaning=parameter.meaning,
        derivative="0" if none else f"{rank.derivative:.5g}",
        change="0" if none else f"{rank.per_percent:.4g}",
        logarithmic="0" if none else f"{logarithmic:.4g}" if np.isfinite(logarithmic) else "",
        share="" if none else f"{100 * rank.share:.1f} %",
        per_percent=0.0 if none else rank.per_percent,
    )


def _symbol(name: str) -> Formula:
    return formula(read_name(name))
