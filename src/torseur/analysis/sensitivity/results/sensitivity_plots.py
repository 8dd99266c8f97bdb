"""Drawings of sensitivities, by matplotlib: curves, tornado chart, influence against cost, surface."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from torseur.analysis.sensitivity.results.sensitivities import Sensitivities
from torseur.errors import TorseurError

if TYPE_CHECKING:
    from torseur.analysis.sensitivity.results.sensitivity_surface import Surface

_FORMS = {"raw": "derivative", "per_percent": "change per 1 %", "logarithmic": "relative change per relative change"}
_INK, _LOWER, _RAISED = "#20242b", "#b5532a", "#2f6690"


def _figure(width: float = 6.4, height: float = 4.0, **axes: Any) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise TorseurError("drawing needs matplotlib: install torseur[plots].") from missing
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(subplot_kw=axes)


def draw_curves(result: Sensitivities, criterion: str, path: Path, form: str) -> Path:
    """The derivatives of a criterion along time, one curve per parameter."""
    figure, axes = _figure()
    response, derivatives = result[criterion], result.slopes(criterion, form)
    for name, curve in zip(result.parameter_names, derivatives.T, strict=True):
        axes.plot(response.time, curve, linewidth=1.4, label=name)
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    axes.set(xlabel=response.over.replace("[", "(").replace("]", ")"), ylabel=f"{criterion}: {_FORMS[form]}")
    axes.legend(frameon=False)
    figure.savefig(path)
    return path


def draw_tornado(result: Sensitivities, criterion: str, path: Path, form: str) -> Path:
    """Bars to both sides: what a parameter does when it is lowered and raised by 1 %, the largest on top."""
    gradient = result.slopes(criterion, form)[-1]
    order = np.argsort(np.abs(gradient))
    figure, axes = _figure(height=1.2 + 0.35 * len(order))
    places = np.arange(len(order))
    axes.barh(places, gradient[order], color=_RAISED, label="raised")
    axes.barh(places, -gradient[order], color=_LOWER, label="lowered")
    axes.set_yticks(places, [result.parameter_names[k] for k in order])
    axes.axvline(0.0, color=_INK, linewidth=0.8)
    axes.set(xlabel=f"{criterion}: {_FORMS[form]}" + (f" ({result[criterion].unit})" if form == "per_percent" else ""))
    axes.legend(frameon=False)
    figure.savefig(path)
    return path


def draw_pareto(result: Sensitivities, criterion: str, path: Path, costs: Mapping[str, float]) -> Path:
    """Influence against cost; parameters that no other one beats in both are joined."""
    ranks = result.ranking(criterion, costs=costs)
    figure, axes = _figure()
    for rank in ranks:
        axes.plot(rank.cost, rank.spread, "o", color=_RAISED)
        axes.annotate(rank.parameter, (rank.cost, rank.spread), xytext=(5, 4), textcoords="offset points")
    axes.margins(x=0.15, y=0.1)
    front = pareto_front([(rank.cost, rank.spread) for rank in ranks])
    axes.step([x for x, _ in front], [y for _, y in front], where="post", color=_LOWER, linewidth=1.0)
    axes.set(xlabel="cost of a change", ylabel=f"{criterion}: change per 1 % ({result[criterion].unit})")
    figure.savefig(path)
    return path


def pareto_front(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points with more influence than every cheaper one, by cost."""
    front: list[tuple[float, float]] = []
    for cost, influence in sorted(points, key=lambda point: (point[0], -point[1])):
        if not front or influence > front[-1][1]:
            front.append((cost, influence))
    return front


def draw_surface(surface: Surface, parameter: str, path: Path, form: str) -> Path:
    """The derivative by one parameter over two operating parameters."""
    figure, axes = _figure(height=5.0, projection="3d")
    (name_x, x), (name_y, y) = surface.over.items()
    grid_x, grid_y = np.meshgrid(x, y, indexing="ij")
    axes.plot_surface(grid_x, grid_y, surface.slopes(parameter, form), cmap="viridis", linewidth=0.2, edgecolor=_INK)
    axes.set(xlabel=name_x, ylabel=name_y, zlabel=f"{surface.criterion} by {parameter}")
    axes.zaxis.labelpad = 18
    axes.tick_params(axis="z", pad=9)
    figure.savefig(path)
    return path
