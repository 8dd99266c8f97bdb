"""Drawings of sensitivities, by matplotlib: curves, tornado chart, influence against cost, surface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from torseur.analysis.sensitivity.results.sensitivities import Sensitivities
from torseur.errors import TorseurError
from torseur.extras import install_command

if TYPE_CHECKING:
    from torseur.analysis.sensitivity.adjoint.adjoint_solution import AdjointSolution
    from torseur.analysis.sensitivity.results.sensitivity_surface import Surface

_FORMS = {"raw": "derivative", "per_percent": "change per 1 %", "logarithmic": "relative change per relative change"}
_INK, _LOWER, _RAISED = "#20242b", "#b5532a", "#2f6690"


def _figure(panels: int = 1, width: float = 6.4, height: float = 4.0, **axes: Any) -> tuple[Any, list[Any]]:
    """A figure with panels one below the other."""
    try:
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise TorseurError(f"drawing needs matplotlib: {install_command('plots')}.") from missing
    figure = Figure(figsize=(width, height * panels), layout="constrained")
    return figure, list(figure.subplots(panels, 1, squeeze=False, subplot_kw=axes)[:, 0])


def draw(result: Sensitivities, criteria: Sequence[str], path: Path, form: str, at_end: bool = False) -> Path:
    """A panel per criterion: derivatives along time, or parameters by influence where it is a single number."""
    if not criteria:
        raise TorseurError("there is nothing to draw: no criterion has derivatives.")
    curves = [result[name].is_curve and not at_end for name in criteria]
    height = 4.0 if any(curves) else 1.2 + 0.35 * len(result.parameters)
    figure, panels = _figure(len(criteria), height=height)
    for axes, name, is_curve in zip(panels, criteria, curves, strict=True):
        (_draw_curves if is_curve else _draw_tornado)(axes, result, name, form)
    figure.savefig(path)
    return path


def _draw_curves(axes: Any, result: Sensitivities, criterion: str, form: str) -> None:
    """The derivatives of a criterion along time, one curve per parameter."""
    response, derivatives = result[criterion], result.derivatives(criterion, form)
    for name, curve in zip(result.parameter_names, derivatives.T, strict=True):
        axes.plot(response.time, curve, linewidth=1.4, label=name)
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    axes.set(xlabel=response.over.replace("[", "(").replace("]", ")"), ylabel=f"{criterion}: {_FORMS[form]}")
    axes.legend(frameon=False)


def _draw_tornado(axes: Any, result: Sensitivities, criterion: str, form: str) -> None:
    """Bars to both sides: what a parameter does when it is lowered and raised by 1 %, the largest on top."""
    gradient = result.derivatives(criterion, form)[-1]
    order = np.argsort(np.abs(gradient))
    places = np.arange(len(order))
    axes.barh(places, gradient[order], color=_RAISED, label="raised")
    axes.barh(places, -gradient[order], color=_LOWER, label="lowered")
    axes.set_yticks(places, [result.parameter_names[k] for k in order])
    axes.axvline(0.0, color=_INK, linewidth=0.8)
    axes.set(xlabel=f"{criterion}: {_FORMS[form]}" + (f" ({result[criterion].unit})" if form == "per_percent" else ""))
    axes.legend(frameon=False)


def draw_pareto(result: Sensitivities, criteria: Sequence[str], path: Path, costs: Mapping[str, float]) -> Path:
    """Influence against cost, a panel per criterion; parameters that no other one beats in both are joined."""
    figure, panels = _figure(len(criteria))
    for axes, criterion in zip(panels, criteria, strict=True):
        ranks = result.ranking(criterion, costs=costs)
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


def draw_surface(surface: Surface, parameters: Sequence[str], path: Path, form: str) -> Path:
    """The derivatives over the operating parameters: a curve per parameter over one, a panel each over two."""
    names = list(surface.over)
    if len(names) == 1:
        figure, (axes,) = _figure()
        for parameter in parameters:
            axes.plot(surface.over[names[0]], surface.derivatives(parameter, form), linewidth=1.4, label=parameter)
        axes.set(xlabel=names[0], ylabel=f"{surface.criterion}: {_FORMS[form]}")
        axes.legend(frameon=False)
    else:
        figure, panels = _figure(len(parameters), height=5.0, projection="3d")
        grid_x, grid_y = np.meshgrid(surface.over[names[0]], surface.over[names[1]], indexing="ij")
        for axes, parameter in zip(panels, parameters, strict=True):
            axes.plot_surface(
                grid_x, grid_y, surface.derivatives(parameter, form), cmap="viridis", linewidth=0.2, edgecolor=_INK
            )
            label = f"{surface.criterion} by {parameter}: {_FORMS[form]}"
            axes.set(xlabel=names[0], ylabel=names[1], zlabel=label)
            axes.zaxis.labelpad = 18
            axes.tick_params(axis="z", pad=9)
    figure.savefig(path)
    return path


def draw_adjoints(solution: AdjointSolution, path: Path, of_basis: bool) -> Path:
    """λ over time, a curve per row of A; or the entries of the basis Q_f."""
    figure, (axes,) = _figure()
    if of_basis and solution.basis is not None:
        size = solution.basis.shape[1]
        for i in range(size):
            for j in range(size):
                axes.plot(solution.time, solution.basis[:, i, j], linewidth=1.2, label=f"Q{i + 1}{j + 1}")
        axes.set(xlabel="t [s]", ylabel="basis of the adjoint system")
    else:
        for k, name in enumerate(solution.rows):
            axes.plot(solution.time, solution.values[:, k], linewidth=1.4, label=f"row of {name}")
        axes.set(xlabel="t [s]", ylabel=f"adjoints of {solution.criterion}")
    axes.legend(frameon=False, ncols=2)
    figure.savefig(path)
    return path


def draw_over_time(surface: Surface, parameters: Sequence[str], path: Path, form: str) -> Path:
    """The derivatives over the one operating parameter and time, a panel per parameter, or the criterion."""
    ((name, values),) = surface.over.items()
    figure, panels = _figure(len(parameters), height=5.0, projection="3d")
    grid_x, grid_y = np.meshgrid(values, surface.points[0][0][surface.criterion].time, indexing="ij")
    for axes, parameter in zip(panels, parameters, strict=True):
        is_value = parameter == surface.criterion and parameter not in surface.parameter_names
        heights = surface.values_over_time if is_value else surface.derivatives_over_time(parameter, form)
        label = parameter if is_value else f"{surface.criterion} by {parameter}: {_FORMS[form]}"
        axes.plot_surface(
            grid_x, grid_y, heights, cmap="viridis", linewidth=0.2, edgecolor=_INK, rcount=101, ccount=101
        )
        axes.set(xlabel=name, ylabel="t [s]", zlabel=label)
        axes.zaxis.labelpad = 18
        axes.tick_params(axis="z", pad=9)
    figure.savefig(path)
    return path
