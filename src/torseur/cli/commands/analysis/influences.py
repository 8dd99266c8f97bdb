"""Sensitivities as tables on the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torseur.analysis.sensitivity import Sensitivities, Surface
    from torseur.analysis.sensitivity.steady.small_motion_sensitivity import ModeSensitivities
    from torseur.cli.commands.analysis.sensitivity import ResultOptions
    from torseur.cli.shared.prepared_model import Work

CURVE_ROWS = 11  # times of a curve shown on the screen


@dataclass(frozen=True)
class Shown:
    """How results are shown: what is asked for, with tolerances and costs as numbers."""

    options: ResultOptions
    tolerances: dict[str, float]
    costs: dict[str, float]

    def sensitivities(self, result: Sensitivities) -> None:
        """Files first, then a document or tables."""
        from torseur.cli.shared.console import print_json

        self._files(result)
        if self.options.json:
            rankings = {r.name: result.ranking(r.name, self.tolerances, self.costs) for r in result.responses}
            print_json({**result.document(), "rankings": rankings})
            return
        show_sensitivities(result, self.options.form, self.tolerances, self.costs)
        self._say_files()

    def modes(self, work: Work, parameters: str | None, search: dict[str, Any]) -> None:
        """Frequencies and damping ratios about equilibrium, with their derivatives."""
        from torseur.analysis.sensitivity.steady.small_motion_sensitivity import eigenvalue_sensitivity
        from torseur.cli.shared.console import print_json

        result = eigenvalue_sensitivity(work.source.mechanism, parameters, **search)
        self._files(result.criteria)
        if self.options.json:
            print_json(modes_document(work.source.mechanism.name, result))
            return
        show_modes(result)
        self._say_files()

    def surface(self, result: Surface) -> None:
        """A table per parameter; the picture is that of the first."""
        from torseur.cli.shared.console import print_json

        if self.options.plot is not None:
            result.plot(self.options.plot, result.points[0][0].parameter_names[0], self.options.form)
        if self.options.json:
            print_json(surface_document(result, self.options.form))
            return
        show_surface(result, self.options.form)
        self._say_files()

    def _files(self, result: Sensitivities) -> None:
        if self.options.out is not None:
            result.save(self.options.out, overwrite=self.options.force)
        if self.options.plot is not None:
            result.plot(self.options.plot, form=self.options.form if self.options.form != "raw" else "per_percent")
        if self.options.pareto is not None:
            result.pareto(self.options.pareto, self.costs)

    def _say_files(self) -> None:
        from torseur.cli.shared.console import say

        for file in (self.options.out, self.options.plot, self.options.pareto):
            if file is not None:
                say(f"written: {file}")


def show_sensitivities(result: Sensitivities, form: str, tolerances: dict[str, float], costs: dict[str, float]) -> None:
    """Curves, rankings, second derivatives, agreement, and what has to be said."""
    from torseur.cli.shared.console import remark, say

    for response in result.responses:
        if response.is_curve:
            _show_curve(result, response.name, form)
        _show_ranking(result, response.name, tolerances, costs)
        _show_hessian(result, response.name)
    if result.agreement:
        _show_agreement(result)
    say(f"method: {result.method} ({result.reason})")
    for note in result.notes:
        remark(note)


def _show_curve(result: Sensitivities, name: str, form: str) -> None:
    from torseur.cli.shared.console import show_table

    response, derivatives = result[name], result.slopes(name, form)
    length = len(response.time)
    rows = sorted({round(k * (length - 1) / (CURVE_ROWS - 1)) for k in range(CURVE_ROWS)})
    cells = [
        [f"{response.time[k]:.6g}", f"{response.values[k]:.6g}", *(f"{x:.6g}" for x in derivatives[k])] for k in rows
    ]
    headings = [response.over, f"{name} [{response.unit}]", *result.parameter_names]
    show_table(f"{name}: {form} derivatives", headings, cells, range(len(headings)))


def _show_ranking(result: Sensitivities, name: str, tolerances: dict[str, float], costs: dict[str, float]) -> None:
    from torseur.cli.shared.console import show_table

    response = result[name]
    logarithmic = dict(zip(result.parameter_names, result.slopes(name, "logarithmic")[-1], strict=True))
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
        for rank in result.ranking(name, tolerances, costs)
    ]
    headings = ["parameter", "derivative", "per 1 %", "logarithmic", "tolerance", "share of the spread"]
    headings += ["spread per cost"] if costs else []
    title = f"{name} = {response.value:.12g} {response.unit}{_place(result, name)}"
    show_table(title, headings, rows, range(1, len(headings)))


def _place(result: Sensitivities, name: str) -> str:
    """Where along its course a criterion has the value that is shown."""
    response = result[name]
    if response.kind in ("steady", "mode"):
        return ""
    quantity, _, unit = response.over.partition(" [")
    return f" at {quantity[0]} = {response.time[-1]:.9g} {unit.rstrip(']')}"


def _show_hessian(result: Sensitivities, name: str) -> None:
    from torseur.cli.shared.console import show_table

    hessian = result[name].hessian
    if hessian is None:
        return
    rows = [[n, *(f"{x:.9g}" for x in row)] for n, row in zip(result.parameter_names, hessian, strict=True)]
    headings = ["", *result.parameter_names]
    show_table(f"second derivatives of {name}", headings, rows, range(1, len(headings)))


def _show_agreement(result: Sensitivities) -> None:
    from torseur.cli.shared.console import remark, show_table

    words = {True: "agrees", False: "DISAGREES"}
    rows = [
        [a.parameter, f"{a.difference:.1e}", f"{a.resolution:.1e}", "not compared" if a.reason else words[a.is_good]]
        for a in result.agreement
    ]
    kind = "steady states" if result.responses[0].kind == "steady" else "motions"
    show_table(f"against differences of {kind}", ["parameter", "apart", "resolution", ""], rows, (1, 2))
    for a in result.agreement:
        if a.reason:
            remark(f"'{a.parameter}' could not be changed alone: {a.reason}")


def show_modes(result: ModeSensitivities) -> None:
    """Derivatives of frequencies and damping ratios, a row per eigenvalue."""
    from torseur.cli.shared.console import remark, show_table

    names = [parameter.name for parameter in result.parameters]
    for title, derivatives in (("frequency [Hz]", result.frequency_slopes), ("damping ratio", result.damping_slopes)):
        cells = [
            [f"{s:.6g}", *(f"{x:.6g}" for x in row)] for s, row in zip(result.eigenvalues, derivatives, strict=True)
        ]
        show_table(f"derivatives of the {title}", ["eigenvalue [1/s]", *names], cells, range(1, len(names) + 1))
    for note in result.notes:
        remark(note)


def modes_document(name: str, result: ModeSensitivities) -> dict[str, object]:
    """Eigenvalues with their derivatives as plain data; complex numbers are pairs."""
    rows = zip(result.eigenvalues, result.slopes, result.frequency_slopes, result.damping_slopes, strict=True)
    modes = [
        {"eigenvalue": [s.real, s.imag], "derivatives": [[d.real, d.imag] for d in ds], "frequency": f, "damping": z}
        for s, ds, f, z in rows
    ]
    return {"name": name, "parameters": [p.name for p in result.parameters], "modes": modes, "notes": result.notes}


def show_surface(result: Surface, form: str) -> None:
    """The derivative by each parameter over the grid."""
    from torseur.cli.shared.console import show_table

    (name_x, x), (name_y, y) = result.over.items()
    for parameter in result.points[0][0].parameter_names:
        derivatives = result.slopes(parameter, form)
        rows = [[f"{a:.6g}", *(f"{s:.6g}" for s in row)] for a, row in zip(x, derivatives, strict=True)]
        headings = [f"{name_x} \\ {name_y}", *(f"{b:.6g}" for b in y)]
        show_table(f"{result.criterion} by {parameter}, {form}", headings, rows, range(len(headings)))


def surface_document(result: Surface, form: str) -> dict[str, object]:
    """A surface as plain data."""
    names = result.points[0][0].parameter_names
    return {
        "criterion": result.criterion,
        "over": {name: values.tolist() for name, values in result.over.items()},
        "values": result.values.tolist(),
        "form": form,
        "derivatives": {name: result.slopes(name, form).tolist() for name in names},
    }
