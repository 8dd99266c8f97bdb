"""Sensitivities as tables on the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from torseur.analysis.sensitivity import Sensitivities, Surface
    from torseur.analysis.sensitivity.steady.small_motion_sensitivity import ModeSensitivities
    from torseur.cli.commands.analysis.sensitivity_options import ResultOptions
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
            ranked = {r.name: result.ranking(r.name, self.tolerances, self.costs) for r in result.responses}
            rankings = {name: [{**vars(rank), "is_zero": rank.is_zero} for rank in r] for name, r in ranked.items()}
            print_json(
                {**result.document(self.options.form), "rankings": rankings, "failed_checks": failed_checks(result)}
            )
        else:
            show_sensitivities(result, self.options.form, self.tolerances, self.costs)
        self._end(result)

    def modes(self, work: Work, parameters: str | None, search: dict[str, Any]) -> None:
        """Frequencies and damping ratios about equilibrium, with their derivatives."""
        from torseur.analysis.sensitivity.steady.small_motion_sensitivity import eigenvalue_sensitivity
        from torseur.cli.shared.console import print_json

        result = eigenvalue_sensitivity(work.source.mechanism, parameters, **search)
        self._files(result.criteria)
        if self.options.json:
            document = modes_document(work.source.mechanism.name, result, self.options.form)
            print_json({**document, "failed_checks": failed_checks(result.criteria)})
        else:
            show_modes(result, self.options.form)
        self._end(result.criteria)

    def surface(self, result: Surface) -> None:
        """A table per parameter."""
        from torseur.cli.shared.console import print_json

        self._files(result)
        if self.options.json:
            print_json({**result.document(self.options.form), "failed_checks": failed_checks(result)})
        else:
            show_surface(result, self.options.form)
        self._end(result)

    def _files(self, result: Sensitivities | Surface) -> None:
        from torseur.analysis.sensitivity import Surface

        if self.options.out is not None:
            result.save(self.options.out, overwrite=self.options.force, form=self.options.form)
        if self.options.plot is not None:
            # Parameters of different units are compared by what 1 % of each does.
            form = self.options.form if self.options.form != "raw" else "per_percent"
            result.plot(self.options.plot, form=form)
        if self.options.pareto is not None and not isinstance(result, Surface):
            result.pareto(self.options.pareto, self.costs)

    def _end(self, result: Sensitivities | Surface) -> None:
        """Which files were written, and an exit code of 1 where the derivatives are not to be trusted."""
        from torseur.cli.shared.console import say
        from torseur.cli.shared.exits import end_with

        if not self.options.json:
            self._say_files(say)
        end_with(failed_checks(result))

    def _say_files(self, say: Callable[[str], None]) -> None:
        for file in (self.options.out, self.options.plot, self.options.pareto):
            if file is not None:
                say(f"written: {file}")


def failed_checks(result: Sensitivities | Surface) -> list[str]:
    """What says that the derivatives are not to be trusted."""
    if result.trusted:
        return []
    doubts = [note.rstrip(".") for note in result.notes if "Not to be trusted" in note or "Not checked" in note]
    return doubts or ["derivatives against differences"]


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

    response, derivatives = result[name], result.derivatives(name, form)
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
    logarithmic = dict(zip(result.parameter_names, result.derivatives(name, "logarithmic")[-1], strict=True))
    rows = [
        [
            rank.parameter,
            *(
                ["zero within rounding", "", "", f"{rank.tolerance:.6g}", ""]
                if rank.is_zero
                else [
                    f"{rank.derivative:.12g}",
                    f"{rank.per_percent:.6g}",
                    f"{logarithmic[rank.parameter]:.6g}",
                    f"{rank.tolerance:.6g}",
                    f"{100 * rank.share:.1f} %",
                ]
            ),
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
    from torseur.cli.shared.console import show_table

    words = {True: "agrees", False: "DISAGREES"}
    rows = [
        [a.parameter, f"{a.difference:.1e}", f"{a.resolution:.1e}", "not compared" if a.reason else words[a.is_good]]
        for a in result.agreement
    ]
    kinds = {"steady": "steady states", "mode": "eigenvalues", "frequency response": "responses"}
    kind = kinds.get(result.responses[0].kind, "motions") if result.responses else "eigenvalues"
    show_table(f"against differences of {kind}", ["parameter", "apart", "resolution", ""], rows, (1, 2))


def show_modes(result: ModeSensitivities, form: str) -> None:
    """Derivatives of frequencies and damping ratios, a row per eigenvalue."""
    from torseur.cli.shared.console import remark, show_table

    names = [parameter.name for parameter in result.parameters]
    tables = (("frequency [Hz]", result.in_form("frequency", form)), ("damping ratio", result.in_form("damping", form)))
    for title, derivatives in tables:
        cells = [
            [f"{s:.6g}", *(f"{x:.6g}" for x in row)] for s, row in zip(result.eigenvalues, derivatives, strict=True)
        ]
        heading = "derivatives" if form == "raw" else f"{form} derivatives"
        show_table(f"{heading} of the {title}", ["eigenvalue [1/s]", *names], cells, range(1, len(names) + 1))
    if result.agreement:
        _show_agreement(result.criteria)
    for note in result.notes:
        remark(note)


def modes_document(name: str, result: ModeSensitivities, form: str) -> dict[str, object]:
    """Eigenvalues with their derivatives as plain data; complex numbers are pairs, their derivatives always raw."""
    of_frequency, of_damping = result.in_form("frequency", form), result.in_form("damping", form)
    rows = zip(result.eigenvalues, result.derivatives, of_frequency, of_damping, strict=True)
    modes = [
        {"eigenvalue": [s.real, s.imag], "derivatives": [[d.real, d.imag] for d in ds], "frequency": f, "damping": z}
        for s, ds, f, z in rows
    ]
    agreement = result.criteria.document()["agreement"]
    about = {"trusted": result.trusted, "agreement": agreement, "notes": result.notes, "form": form}
    return {"name": name, "parameters": [p.name for p in result.parameters], "modes": modes, **about}


def show_surface(result: Surface, form: str) -> None:
    """The derivative by each parameter over the grid, and second derivatives where there are such."""
    from torseur.cli.shared.console import remark, show_table

    names = result.parameter_names
    response = result.points[0][0][result.criterion]
    when = f", at t = {response.time[-1]:.9g} s" if response.is_curve else ""
    tables = [(f"{result.criterion} by {name}, {form}{when}", result.derivatives(name, form)) for name in names]
    if response.hessian is not None:
        pairs = [(a, b) for k, a in enumerate(names) for b in names[k:]]
        tables += [(f"{result.criterion} by {a} and {b}", result.second(a, b)) for a, b in pairs]
    (name_x, x), *rest = result.over.items()
    for title, numbers in tables:
        if rest:
            ((name_y, y),) = rest
            headings = [f"{name_x} \\ {name_y}", *(f"{b:.6g}" for b in y)]
        else:
            headings, numbers = [name_x, title.partition(",")[0]], numbers[:, None]
        rows = [[f"{a:.6g}", *(f"{s:.6g}" for s in row)] for a, row in zip(x, numbers, strict=True)]
        show_table(title, headings, rows, range(len(headings)))
    checked = [a for _, point in result.rows() for a in point.agreement]
    if checked:
        worst = max(a.difference for a in checked)
        remark(f"Differences of motions are at most {worst:.1e} away from the derivatives, in units of the largest.")
    for note in dict.fromkeys(result.notes):
        remark(note)
