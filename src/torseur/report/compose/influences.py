"""Sensitivities as content of a report: tables with tornado charts, and the slopes along time as plots."""

from __future__ import annotations

import numpy as np

from torseur.report.content import Curve, Influence, InfluenceRow, Plot
from torseur.report.formula import Formula, formula
from torseur.report.reading.read_graph import named
from torseur.sensitivity import Rank, Response, Sensitivities

MOST_CURVES = 8
ROUNDING = 1e-11  # of the largest change: a smaller one is what rounding leaves of none


def influences_of(found: Sensitivities) -> tuple[Influence, ...]:
    """For each criterion its parameters, the most influential first."""
    return tuple(_influence(found, response) for response in found.responses)


def note_on(found: Sensitivities) -> str:
    """How the slopes were computed, in a sentence."""
    method = found.method.replace("_", " ")
    return f"How criteria change with parameters, by the {method} method ({found.reason})."


def slope_plots(found: Sensitivities) -> tuple[Plot, ...]:
    """The change of each criterion with 1 % of its most influential parameters, along time."""
    return tuple(_plot(found, response) for response in found.responses if response.is_curve)


def _plot(found: Sensitivities, response: Response) -> Plot:
    slopes = found.slopes(response.name, "per_percent")
    order = np.argsort(-np.abs(slopes).max(axis=0))[:MOST_CURVES]
    curves = [_curve(found.parameter_names[k], slopes[:, k]) for k in order]
    unit = "" if response.unit == "1" else response.unit
    return Plot(f"{response.name}: change per 1 %", unit, response.time, tuple(curves))


def _curve(name: str, values: np.ndarray) -> Curve:
    return Curve(name, np.asarray(values, dtype=float), _symbol(name))


def _influence(found: Sensitivities, response: Response) -> Influence:
    logarithmic = dict(zip(found.parameter_names, found.slopes(response.name, "logarithmic")[-1], strict=True))
    ranks = found.ranking(response.name)
    noise = ROUNDING * max((abs(rank.per_percent) for rank in ranks), default=0.0)
    rows = [_row(found, rank, float(logarithmic[rank.parameter]), noise) for rank in ranks]
    unit = "" if response.unit == "1" else f" {response.unit}"
    value = f"{response.value:.6g}{unit} at t = {response.time[-1]:.6g} s"
    title = response.name[:1].upper() + response.name[1:] if response.kind != "value" else response.name
    return Influence(title, value, tuple(rows), found.notes)


def _row(found: Sensitivities, rank: Rank, logarithmic: float, noise: float) -> InfluenceRow:
    """A row of the table; what is below the noise of the largest is none."""
    parameter = found.parameters[found.column(rank.parameter)]
    none = abs(rank.per_percent) <= noise
    return InfluenceRow(
        symbol=_symbol(rank.parameter),
        meaning=parameter.meaning,
        slope="0" if none else f"{rank.slope:.5g}",
        change="0" if none else f"{rank.per_percent:.4g}",
        logarithmic="0" if none else f"{logarithmic:.4g}" if np.isfinite(logarithmic) else "",
        share=f"{100 * rank.share:.1f} %",
        per_percent=rank.per_percent,
    )


def _symbol(name: str) -> Formula:
    return formula(named(name))
