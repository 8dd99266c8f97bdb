"""The page of a suspension: its curves over travel or steering, variants side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from torseur.analysis.vehicles.hardpoints import BestSuspension
from torseur.analysis.vehicles.suspension_curves import QUANTITIES, Curves
from torseur.analysis.vehicles.wheel_travel import Suspension
from torseur.description.language import to_text
from torseur.presentation.report.drawing.study_axes import figure, keys, number, with_unit
from torseur.presentation.report.studies.criteria_plots import curves as drawn
from torseur.presentation.report.studies.study_page import gallery, how_to_reproduce, page, table, write
from torseur.presentation.typesetting.markup import Markup, join

SHOWN_AS = {"rad": ("°", 180.0 / np.pi), "m": ("mm", 1e3), "N/m": ("N/mm", 1e-3), "N": ("N", 1.0), "1": ("", 1.0)}
GROUPS = {
    "Wheel": ("camber", "toe", "half track", "wheelbase change"),
    "Steering axis": ("caster", "kingpin inclination", "scrub radius", "caster trail"),
    "Roll and pitch": ("roll centre height", "support angle, braking", "support angle, driving", "anti-dive"),
    "Springs": ("wheel load", "wheel rate"),
}


def write_suspension_page(
    suspension: Suspension, curves: Sequence[Curves], best: BestSuspension | None, command: str, path: str | Path
) -> Path:
    """The page of one suspension and its variants."""
    name = suspension.mechanism.meaning or suspension.mechanism.name
    facts = [
        f"wheel: {suspension.wheel}",
        f"measured in: {suspension.body}",
        f"radius {number(1e3 * suspension.radius)} mm",
    ]
    parts = [_design(curves), *(_group(title, names, curves) for title, names in GROUPS.items()), _ratios(curves)]
    text = to_text(suspension.mechanism)
    parts += [_best(best), how_to_reproduce(command, text, suspension.mechanism.name, "the mechanism")]
    return write(page(f"Suspension: {name}", facts, parts), path)


def _across(curves: Sequence[Curves]) -> tuple[tuple[str, str], float]:
    over = curves[0].over
    return (("travel, upward", "mm"), 1e3) if over == "travel" else ((over, ""), 1.0)


def _design(curves: Sequence[Curves]) -> Markup:
    """Values where the suspension is described, a column per variant."""
    rows = []
    for name, (unit, meaning) in QUANTITIES.items():
        shown, scale = SHOWN_AS[unit]
        values = [c.values[name][int(np.argmin(np.abs(c.places)))] for c in curves if name in c.values]
        if len(values) == len(curves):
            rows.append([name, shown, *(number(scale * float(v)) for v in values), meaning])
    head = ["", "Unit", *(c.name for c in curves), "Positive when"]
    return table("At no travel", head, rows, tuple(range(2, 2 + len(curves))))


def _group(title: str, names: Sequence[str], curves: Sequence[Curves]) -> Markup:
    across, stretch = _across(curves)
    figures = []
    for name in names:
        own = [c for c in curves if name in c.values]
        if not own:
            continue
        unit, scale = SHOWN_AS[QUANTITIES[name][0]]
        lines = [(stretch * c.places, scale * c.values[name]) for c in own]
        drawing = drawn(across, (name, unit), lines)
        legend = keys([c.name for c in own]) if len(own) > 1 else Markup()
        figures.append(
            figure(with_unit(name.capitalize(), unit), f"Positive: {QUANTITIES[name][1]}.", join([drawing, legend]))
        )
    return gallery(title.lower().replace(" ", "-"), title, "", figures)


def _ratios(curves: Sequence[Curves]) -> Markup:
    across, stretch = _across(curves)
    figures = []
    for spring in dict.fromkeys(name for c in curves for name in c.ratios):
        own = [c for c in curves if spring in c.ratios]
        drawing = drawn(across, ("motion ratio", ""), [(stretch * c.places, c.ratios[spring]) for c in own])
        legend = keys([c.name for c in own]) if len(own) > 1 else Markup()
        figures.append(figure(f"Motion ratio of {spring}", "How much it shortens per travel.", join([drawing, legend])))
    return gallery("ratios", "Motion ratios", "", figures)


def _best(best: BestSuspension | None) -> Markup:
    if best is None:
        return Markup()
    rows = [
        [name, number(value), "at its bound" if name in best.at_bounds else ""] for name, value in best.values.items()
    ]
    note = (
        f"Error of the curves {number(best.error_before)} before, {number(best.error_after)} after (root mean square)."
    )
    return table("Hardpoints found", ["Parameter", "Value (SI)", ""], rows, (1,), note)
