"""The page of a sweep: what its criteria are, how they spread, what they depend on, and how well that is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from torseur.analysis.studies.definition.axes import Vector
from torseur.analysis.studies.sweeps.evaluation import Column
from torseur.analysis.studies.sweeps.response_surface import ResponseSurface, leading_axes, response_surface
from torseur.analysis.studies.sweeps.result_store import DONE, Store
from torseur.analysis.studies.sweeps.sweep_summary import Spread, Summary, summarise
from torseur.errors import TorseurError
from torseur.presentation.report.drawing.study_axes import figure, keys, number, with_unit
from torseur.presentation.report.page.sections import section
from torseur.presentation.report.studies.criteria_plots import (
    band_over_time,
    beside_each_other,
    curves,
    histogram,
    morris_plane,
    over_axis,
    sobol_bars,
)
from torseur.presentation.report.studies.study_page import gallery, how_to_reproduce, page, table, write
from torseur.presentation.report.studies.surface_plots import heat_map, surface_map
from torseur.presentation.typesetting.markup import Markup, element, join

MOST_ROWS = 36  # of a table
MOST_DRAWN = 9  # criteria that are drawn
MOST_BESIDE = 30  # operating points that are drawn below each other
MOST_CURVES = 6
FLAT = 1e-9  # part of a value below which its changes are rounding
MANY = 30  # points from which a histogram tells something


def write_sweep_page(store: Store, path: str | Path) -> Path:
    """The page of what a store holds."""
    return write(_SweepPage(store, summarise(store)).text(), path)


@dataclass(frozen=True, eq=False)
class _SweepPage:
    store: Store
    summary: Summary

    def text(self) -> str:
        study, summary = self.store.study, self.summary
        facts = [
            f"{study.name} to {number(study.until)} s",
            f"{summary.done} of {summary.points} points done" + (f", {summary.failed} failed" * bool(summary.failed)),
            f"design: {study.design.kind.replace('_', ' ')}",
            f"rtol {study.integration.rtol:g}",
        ]
        parts = [
            self._axes(), self._criteria(), self._yields(), self._operating_points(), self._curves(),
            self._distributions(), self._influences(), self._ranking(), self._surfaces(), self._outputs(),
            self._failures(),
            how_to_reproduce(f"torseur sweep {study.path.name}", study.text, study.path.name),
        ]  # fmt: skip
        return page(study.path.stem.replace("_", " "), facts, parts)

    @property
    def _several(self) -> bool:
        return len(self.store.study.operating) > 1

    @cached_property
    def _block(self) -> int:
        return self.store.study.design.size(self.store.study.axes)

    @property
    def _shown_columns(self) -> Sequence[Column]:
        return self.store.columns[:MOST_DRAWN]

    def _values(self, name: str, operating: int = 0) -> Vector:
        """Values of the points that succeeded, at one operating point."""
        part = slice(operating * self._block, (operating + 1) * self._block)
        values: Vector = self.store.column(name)[part][self.store.column("status")[part] == DONE]
        return values

    def _axes(self) -> Markup:
        study = self.store.study
        rows = [
            [axis.name, _how(axis.shape, axis.numbers), "" if axis.unit == "1" else axis.unit,
             "operating point" if axis in study.operating.axes else "design"]
            for axis in study.all_axes
        ]  # fmt: skip
        return table("What varies", ["Axis", "How", "Unit", "Part of"], rows, ())

    def _criteria(self) -> Markup:
        kinds = {column.label: column.formula for column in self.store.columns}
        several = any(s.operating_point for s in self.summary.spreads)
        head = ["Operating point"] if several else []
        rows = [
            [
                *([s.operating_point] if several else []), s.name, kinds[s.name], "" if s.unit == "1" else s.unit,
                _mean(s), number(s.deviation), number(s.lowest), number(s.highest),
            ]
            for s in self.summary.spreads[:MOST_ROWS]
        ]  # fmt: skip
        left = len(self.summary.spreads) - len(rows)
        note = f"The first {len(rows)}; the store holds {left} more." if left else ""
        headings = [*head, "Criterion", "Meaning", "Unit", "Mean", "Deviation", "Lowest", "Highest"]
        return table("Criteria", headings, rows, [k + len(head) for k in (3, 4, 5, 6)], note)

    def _yields(self) -> Markup:
        rows = [
            [one.operating_point or "all", f"{100 * one.part:.4g} %", *(f"{100 * end:.4g} %" for end in one.interval)]
            for one in self.summary.yields
        ]
        headings = ["Operating point", "Motions that keep the constraints", "at least (95 %)", "at most"]
        return table("Yield", headings, rows, (1, 2, 3))

    def _operating_points(self) -> Markup:
        """Operating points beside each other; as maps where they are a grid of two axes."""
        study = self.store.study
        if not self._several:
            return Markup()
        if len(study.operating.axes) == 2 and len(study.operating) > MOST_CURVES:
            return gallery("operating", "Over the operating points", "Means over the design.", self._operating_maps())
        if len(study.operating) > MOST_BESIDE:
            return Markup()
        figures = [
            figure(c.label, "Dots are means, lines hold 95 % of the motions.", beside_each_other(own))
            for c in self._shown_columns
            if (own := [s for s in self.summary.spreads if s.name == c.label])
        ]
        return gallery("operating", "Operating points compared", "", figures)

    def _operating_maps(self) -> list[Markup]:
        first, second = self.store.study.operating.axes
        rows = np.array(self.store.study.operating.rows)
        x, y = (np.unique(rows[:, k]) for k in (0, 1))
        places = [(int(np.searchsorted(x, a)), int(np.searchsorted(y, b))) for a, b in rows]
        figures = []
        for column in self._shown_columns:
            values = np.full((len(x), len(y)), np.nan)
            for k, place in enumerate(places):
                own = self._values(column.label, k)
                values[place] = own.mean() if len(own) else np.nan
            if np.isfinite(values).all():
                named = (column.label, column.unit)
                drawing = heat_map((first.name, first.unit), (second.name, second.unit), named, x, y, values)
                figures.append(figure(with_unit(*named), column.formula, drawing))
        return figures

    def _curves(self) -> Markup:
        """On a grid: each criterion over the longest axis, a curve for each value of the next."""
        study = self.store.study
        if study.design.kind != "grid" or not study.axes or max(len(a.numbers) for a in study.axes) < 3:
            return Markup()
        order = sorted(range(len(study.axes)), key=lambda k: -len(study.axes[k].numbers))
        first, others = order[0], order[1:]
        shape = [len(axis.numbers) for axis in study.axes]
        x, named = np.array(study.axes[first].numbers), (study.axes[first].name, study.axes[first].unit)
        chosen = _spread_places(shape[others[0]]) if others else [0]
        middle = {k: shape[k] // 2 for k in others[1:]}
        figures = []
        for column in self._shown_columns:
            values = self.store.column(column.label)[: self._block].reshape(shape)
            lines = []
            for place in chosen:
                where = {first: slice(None), **({others[0]: place} if others else {}), **middle}
                lines.append((x, values[tuple(where[k] for k in range(len(shape)))]))
            drawing = curves(named, (column.label, column.unit), lines)
            figures.append(figure(with_unit(column.label, column.unit), column.formula, join([drawing])))
        legend = Markup()
        if others:
            axis = study.axes[others[0]]
            legend = keys([with_unit(f"{axis.name} = {number(axis.numbers[k])}", axis.unit) for k in chosen])
        fixed = [f"{study.axes[k].name} = {number(study.axes[k].numbers[place])}" for k, place in middle.items()]
        note = f"At {', '.join(fixed)}." if fixed else ""
        return section("curves", "Comparison", element("p", note, class_="note"), legend,
                       element("div", join(figures), class_="gallery"))  # fmt: skip

    def _distributions(self) -> Markup:
        study = self.store.study
        if study.design.kind in ("grid", "morris") or self._block < MANY:
            return Markup()
        spreads = {s.name: s for s in self.summary.spreads if s.operating_point == study.operating.names[0]}
        figures = [
            histogram(spreads[c.label], self._values(c.label)) for c in self._shown_columns if c.label in spreads
        ]
        at = f"At {study.operating.names[0]}. " if self._several else ""
        whole = gallery("distributions", "Distributions", f"{at}Pale bars lie outside the middle 95 %.", figures)
        return join([whole, self._over_axes()])

    def _over_axes(self) -> Markup:
        study, figures = self.store.study, []
        for column in self._shown_columns[:4]:
            values = self._values(column.label)
            drawings = [
                over_axis((axis.name, axis.unit), (column.label, column.unit), self._values(axis.name), values)
                for axis in study.axes[:6]
            ]
            row = element("div", *drawings, class_="small-multiples")
            figures.append(figure(column.label, "Dots are motions, the line their mean over parts of the axis.", row))
        return section("scatter", "Over each axis", *figures)

    def _influences(self) -> Markup:
        influences = [i for i in self.summary.influences if i.operating_point == self.store.study.operating.names[0]]
        figures = []
        for column in self._shown_columns:
            own = [
                one for one in influences if one.criterion == column.label and not _is_flat(self._values(column.label))
            ]
            if own and self.summary.method == "saltelli":
                figures.append(sobol_bars(column.label, own))
            elif own:
                figures.append(morris_plane(column.label, column.unit, own))
        title = "Global sensitivity: Sobol's indices" if self.summary.method == "saltelli" else "Screening by Morris"
        return gallery("influences", title, "", figures)

    def _ranking(self) -> Markup:
        """The parameters that the criteria are differentiated by, the one most worth a change first."""
        rows = [
            [r.criterion, r.parameter, "" if r.unit == "1" else r.unit, number(r.change), number(r.largest),
             number(r.cost), number(r.merit), f"{100 * r.first:.3g} %"]
            for r in self.summary.ranking[:MOST_ROWS]
        ]  # fmt: skip
        headings = ["Criterion", "Parameter", "Unit", "Change with 1 %", "Largest", "Cost", "Per cost", "First at"]
        note = "Root mean square over all points; first at: the part of them where no other has more per cost."
        return table("Which parameter to change", headings, rows, (3, 4, 5, 6, 7), note if rows else "")

    def _surfaces(self) -> Markup:
        """Each criterion over the two axes that move it most, the others in their middle."""
        axes = {axis.name: axis for axis in self.store.study.axes}
        if len(axes) < 2:
            return Markup()
        figures = []
        for column in self._shown_columns:
            if _is_flat(self._values(column.label)):
                continue
            try:
                surface = response_surface(self.store, column.label)
            except TorseurError:
                continue  # too few points for a surface: there is nothing to draw
            i, j = leading_axes(surface)
            named = [(name, axes[name].unit) for name in surface.axes]
            drawing = surface_map(
                named[i], named[j], (column.label, column.unit), _spans(surface, i, j), _slice(surface, i, j)
            )
            figures.append(
                figure(with_unit(column.label, column.unit), _surface_note(surface, i, j, column.unit), drawing)
            )
        return gallery(
            "surfaces", "Response surfaces", "Over the two axes that matter most for each criterion.", figures
        )

    def _outputs(self) -> Markup:
        study, status = self.store.study, self.store.column("status")[: self._block] == DONE
        if not study.outputs or not status.any():
            return Markup()
        times, figures = np.array(study.samples), []
        for output in study.outputs[:MOST_DRAWN]:
            rows = np.asarray(self.store.group[output.label][: self._block])[status]
            named = (output.label, self.store.unit(output.label))
            note = f"Of {len(rows)} motions: the middle, and what holds half and 95 % of them."
            figures.append(figure(with_unit(*named), note, band_over_time(named, times, rows)))
        return gallery("outputs", "Along time", "", figures)

    def _failures(self) -> Markup:
        listed = list(self.store.failures().items())[:20]
        rows = [[str(point), text] for point, text in listed]
        return table("Motions that failed", ["Point", "What was said"], rows, (0,), f"{self.summary.failed} in all.")


def _mean(spread: Spread) -> str:
    """The mean, with its interval where points were drawn at random."""
    return number(spread.mean) + (f" ± {number(spread.error)}" if spread.error == spread.error else "")


def _is_flat(values: Vector) -> bool:
    """Whether a criterion does not change but for rounding."""
    return len(values) < 2 or float(np.ptp(values)) <= FLAT * float(np.abs(values).max())


def _spread_places(count: int) -> list[int]:
    """Some places of a list, spread over it, its ends among them."""
    return sorted({round(k) for k in np.linspace(0, count - 1, min(count, MOST_CURVES))})


def _how(shape: str, numbers: tuple[float, ...]) -> str:
    if shape == "values":
        listed = sorted(set(numbers))
        return ", ".join(map(number, listed)) if len(listed) <= 6 else (
            f"{len(listed)} values from {number(listed[0])} to {number(listed[-1])}"
        )  # fmt: skip
    words = {
        "uniform": "uniform between {} and {}",
        "normal": "normal, mean {}, deviation {}",
        "lognormal": "lognormal, median {}, deviation of the logarithm {}",
        "triangular": "triangular from {} over {} to {}",
    }
    return words[shape].format(*map(number, numbers))


def _spans(surface: ResponseSurface, i: int, j: int) -> tuple[Vector, Vector]:
    return np.array([surface.low[i], surface.high[i]]), np.array([surface.low[j], surface.high[j]])


def _slice(surface: ResponseSurface, i: int, j: int) -> Callable[[Vector], Vector]:
    """The surface over two axes, the others in their middle."""

    def value(places: Vector) -> Vector:
        points = np.tile(0.5 * (surface.low + surface.high), (len(places), 1))
        points[:, i], points[:, j] = places[:, 0], places[:, 1]
        return surface(points)

    return value


def _surface_note(surface: ResponseSurface, i: int, j: int, unit: str) -> str:
    what = {"quadratic": "Fitted quadratic", "interpolated": "Interpolated between the points of the grid"}[
        surface.kind
    ]
    tested = {"quadratic": "with each point left out in turn", "interpolated": "with every other value left out"}
    rest = [
        f"{name} = {number(0.5 * (surface.low[k] + surface.high[k]))}"
        for k, name in enumerate(surface.axes)
        if k not in (i, j)
    ]
    held = f", at {', '.join(rest)}" if rest else ""
    measured = "" if unit == "1" else f" {unit}"
    explained = (
        f", {100 * surface.explained:.4g} % of the variance explained" if surface.explained == surface.explained else ""
    )
    return (
        f"{what}{held}. Error {number(surface.error)}{measured} (root mean square, {tested[surface.kind]}){explained}."
    )
