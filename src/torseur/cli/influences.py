"""Sensitivities as tables on the screen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torseur.cli.work import Work
    from torseur.sensitivity import Sensitivities, Surface
    from torseur.sensitivity.linear import ModeSensitivities

CURVE_ROWS = 11  # times of a curve shown on the screen


@dataclass(frozen=True)
class Shown:
    """How results are shown: their form, tolerances and costs, and the files that are asked for."""

    form: str
    tolerances: dict[str, float]
    costs: dict[str, float]
    out: Path | None
    plot: Path | None
    pareto: Path | None
    force: bool
    json: bool

    def sensitivities(self, found: Sensitivities) -> None:
        """Files first, then a document or tables."""
        from torseur.cli.console import print_json

        self._files(found)
        if self.json:
            rankings = {r.name: found.ranking(r.name, self.tolerances, self.costs) for r in found.responses}
            print_json({**found.document(), "rankings": rankings})
            return
        show_sensitivities(found, self.form, self.tolerances, self.costs)
        self._say_files()

    def modes(self, work: Work, parameters: str | None, state: dict[str, Any]) -> None:
        """Frequencies and damping ratios about equilibrium, with their slopes."""
        from torseur.cli.console import print_json
        from torseur.sensitivity.linear import eigenvalue_sensitivity

        given = {"at": dict(work.values.initial), "values": dict(work.values.parameters), **state}
        found = eigenvalue_sensitivity(work.source.mechanism, parameters, **given)
        self._files(found.criteria)
        if self.json:
            print_json(modes_document(work.source.mechanism.name, found))
            return
        show_modes(found)
        self._say_files()

    def surface(self, found: Surface) -> None:
        """A table per parameter; the picture is that of the first."""
        from torseur.cli.console import print_json

        if self.plot is not None:
            found.plot(self.plot, found.points[0][0].parameter_names[0], self.form)
        if self.json:
            print_json(surface_document(found, self.form))
            return
        show_surface(found, self.form)
        self._say_files()

    def _files(self, found: Sensitivities) -> None:
        if self.out is not None:
            found.save(self.out, overwrite=self.force)
        if self.plot is not None:
            found.plot(self.plot, form=self.form if self.form != "raw" else "per_percent")
        if self.pareto is not None:
            found.pareto(self.pareto, self.costs)

    def _say_files(self) -> None:
        from torseur.cli.console import say

        for file in (self.out, self.plot, self.pareto):
            if file is not None:
                say(f"written: {file}")


def show_sensitivities(found: Sensitivities, form: str, tolerances: dict[str, float], costs: dict[str, float]) -> None:
    """Curves, rankings, second derivatives, agreement, and what has to be said."""
    from torseur.cli.console import remark, say

    for response in found.responses:
        if response.is_curve:
            _show_curve(found, response.name, form)
        _show_ranking(found, response.name, tolerances, costs)
        _show_hessian(found, response.name)
    if found.agreement:
        _show_agreement(found)
    say(f"method: {found.method} ({found.reason})")
    for note in found.notes:
        remark(note)


def _show_curve(found: Sensitivities, name: str, form: str) -> None:
    from torseur.cli.console import show_table

    response, slopes = found[name], found.slopes(name, form)
    length = len(response.time)
    rows = sorted({round(k * (length - 1) / (CURVE_ROWS - 1)) for k in range(CURVE_ROWS)})
    cells = [[f"{response.time[k]:.6g}", f"{response.values[k]:.6g}", *(f"{x:.6g}" for x in slopes[k])] for k in rows]
    headings = [response.over, f"{name} [{response.unit}]", *found.parameter_names]
    show_table(f"{name}: {form} slopes", headings, cells, range(len(headings)))


def _show_ranking(found: Sensitivities, name: str, tolerances: dict[str, float], costs: dict[str, float]) -> None:
    from torseur.cli.console import show_table

    response = found[name]
    logarithmic = dict(zip(found.parameter_names, found.slopes(name, "logarithmic")[-1], strict=True))
    rows = [
        [
            rank.parameter,
            f"{rank.slope:.12g}",
            f"{rank.per_percent:.6g}",
            f"{logarithmic[rank.parameter]:.6g}",
            f"{rank.tolerance:.6g}",
            f"{100 * rank.share:.1f} %",
            *([f"{rank.merit:.6g}"] if costs else []),
        ]
        for rank in found.ranking(name, tolerances, costs)
    ]
    headings = ["parameter", "slope", "per 1 %", "logarithmic", "tolerance", "share of the spread"]
    headings += ["spread per cost"] if costs else []
    title = f"{name} = {response.value:.12g} {response.unit}{_place(found, name)}"
    show_table(title, headings, rows, range(1, len(headings)))


def _place(found: Sensitivities, name: str) -> str:
    """Where along its course a criterion has the value that is shown."""
    response = found[name]
    if response.kind in ("steady", "mode"):
        return ""
    quantity, _, unit = response.over.partition(" [")
    return f" at {quantity[0]} = {response.time[-1]:.9g} {unit.rstrip(']')}"


def _show_hessian(found: Sensitivities, name: str) -> None:
    from torseur.cli.console import show_table

    hessian = found[name].hessian
    if hessian is None:
        return
    rows = [[n, *(f"{x:.9g}" for x in row)] for n, row in zip(found.parameter_names, hessian, strict=True)]
    headings = ["", *found.parameter_names]
    show_table(f"second derivatives of {name}", headings, rows, range(1, len(headings)))


def _show_agreement(found: Sensitivities) -> None:
    from torseur.cli.console import show_table

    rows = [
        [a.parameter, f"{a.difference:.1e}", f"{a.resolution:.1e}", "agrees" if a.is_good else "DISAGREES"]
        for a in found.agreement
    ]
    kind = "steady states" if found.responses[0].kind == "steady" else "motions"
    show_table(f"against differences of {kind}", ["parameter", "apart", "resolution", ""], rows, (1, 2))


def show_modes(found: ModeSensitivities) -> None:
    """Slopes of frequencies and damping ratios, a row per eigenvalue."""
    from torseur.cli.console import remark, show_table

    names = [parameter.name for parameter in found.parameters]
    for title, slopes in (("frequency [Hz]", found.frequency_slopes), ("damping ratio", found.damping_slopes)):
        cells = [[f"{s:.6g}", *(f"{x:.6g}" for x in row)] for s, row in zip(found.eigenvalues, slopes, strict=True)]
        show_table(f"slopes of the {title}", ["eigenvalue [1/s]", *names], cells, range(1, len(names) + 1))
    for note in found.notes:
        remark(note)


def modes_document(name: str, found: ModeSensitivities) -> dict[str, object]:
    """Eigenvalues with their slopes as plain data; complex numbers are pairs."""
    rows = zip(found.eigenvalues, found.slopes, found.frequency_slopes, found.damping_slopes, strict=True)
    modes = [
        {"eigenvalue": [s.real, s.imag], "slopes": [[d.real, d.imag] for d in ds], "frequency": f, "damping": z}
        for s, ds, f, z in rows
    ]
    return {"name": name, "parameters": [p.name for p in found.parameters], "modes": modes, "notes": found.notes}


def show_surface(found: Surface, form: str) -> None:
    """The slope by each parameter over the grid."""
    from torseur.cli.console import show_table

    (name_x, x), (name_y, y) = found.over.items()
    for parameter in found.points[0][0].parameter_names:
        slopes = found.slopes(parameter, form)
        rows = [[f"{a:.6g}", *(f"{s:.6g}" for s in row)] for a, row in zip(x, slopes, strict=True)]
        headings = [f"{name_x} \\ {name_y}", *(f"{b:.6g}" for b in y)]
        show_table(f"{found.criterion} by {parameter}, {form}", headings, rows, range(len(headings)))


def surface_document(found: Surface, form: str) -> dict[str, object]:
    """A surface as plain data."""
    names = found.points[0][0].parameter_names
    return {
        "criterion": found.criterion,
        "over": {name: values.tolist() for name, values in found.over.items()},
        "values": found.values.tolist(),
        "form": form,
        "slopes": {name: found.slopes(name, form).tolist() for name in names},
    }
