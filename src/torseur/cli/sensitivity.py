"""`torseur sensitivity`: how criteria of a motion change with the parameters of a mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from torseur.cli.options import (
    ForceOption,
    InitOption,
    JsonOption,
    LawOption,
    RtolOption,
    SetOption,
    SourceArgument,
    ValuesOption,
)

if TYPE_CHECKING:
    from torseur.cli.work import Work
    from torseur.sensitivity import Criterion, Sensitivities

SUFFIXES = (".csv", ".json")
CURVE_ROWS = 11  # times of a curve shown on the screen

CriterionOption = Annotated[
    list[str] | None,
    typer.Option("--criterion", metavar="EXPR", help="A formula over the motion. Repeatable.", show_default=False),
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="T", help="End of the motion, e.g. 10 or '500 ms'.", show_default=False)
]
ParametersOption = Annotated[
    str | None,
    typer.Option("--parameters", metavar="A,B", help="m1, q1(0), arm.mass, l=l1+r2; by default all parameters."),
]
KindOption = Annotated[
    str,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="value, integral, maximum, minimum, event, 'event time', or without a motion: steady, eigenvalues.",
    ),
]
WhenOption = Annotated[
    str, typer.Option("--when", metavar="EXPR", help="Formula whose change of sign is the event.", show_default=False)
]
MethodOption = Annotated[
    str, typer.Option("--method", metavar="NAME", help="auto, direct, adjoint or continuous_adjoint.")
]
FormOption = Annotated[str, typer.Option("--form", metavar="FORM", help="raw, per_percent or logarithmic.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write .csv (curves) or .json (everything).")
]
ToleranceOption = Annotated[
    list[str] | None,
    typer.Option("--tolerance", metavar="NAME=VALUE", help="Tolerance of a parameter; 1 % otherwise. Repeatable."),
]
CostOption = Annotated[
    list[str] | None, typer.Option("--cost", metavar="NAME=VALUE", help="Cost of changing a parameter. Repeatable.")
]
PlotOption = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw curves, or a tornado chart (.png, .svg, .pdf).")
]


def sensitivity(
    source: SourceArgument,
    criterion: CriterionOption = None,
    until: UntilOption = None,
    parameters: ParametersOption = None,
    integral: Annotated[bool, typer.Option("--integral", help="Integrate the criteria over time.")] = False,
    kind: KindOption = "value",
    when: WhenOption = "",
    samples: Annotated[int | None, typer.Option("--samples", min=2, help="Slopes at so many times.")] = None,
    method: MethodOption = "auto",
    second_order: Annotated[bool, typer.Option("--second-order", help="Second derivatives too.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Compare with differences of motions.")] = False,
    form: FormOption = "raw",
    tolerance: ToleranceOption = None,
    cost: CostOption = None,
    out: OutOption = None,
    plot: PlotOption = None,
    rtol: RtolOption = 1e-9,
    settings: SetOption = None,
    starts: InitOption = None,
    laws: LawOption = None,
    values: ValuesOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Slopes of criteria by parameters: which one matters, how much, and when.

    Example: torseur sensitivity library:double_pendulum --criterion kinetic_energy --parameters m1,r2 --until 5
    """
    from torseur.cli.console import print_json, progress
    from torseur.cli.files import require_free, require_suffix
    from torseur.cli.work import Work, duration
    from torseur.sensitivity.analysis import sensitivity as compute

    for file, suffixes in ((out, SUFFIXES), (plot, (".png", ".svg", ".pdf"))):
        if file is not None:
            require_free(file, force)
            require_suffix(file, suffixes)
    work = Work.begin(source, settings, starts, laws, values)
    work.require_determined(work.equations("recursive"))
    if kind == "eigenvalues":
        _show_modes(work, parameters, json)
        return
    asked: dict[str, Any] = {"samples": samples, "method": method, "second_order": second_order, "verify": verify}
    with progress(f"{work.source.mechanism.name}: sensitivities", json) as follow:
        if kind == "steady":
            found = _steady(work, _required(criterion, "--criterion"), parameters)
        else:
            wanted = _criteria(_required(criterion, "--criterion"), "integral" if integral else kind, when)
            asked |= {"until": duration(_required(until, "--until")), "rtol": rtol, "progress": follow}
            found = compute(work.source.mechanism, wanted, parameters, **asked, **_given(work))
    if out is not None:
        found.save(out, overwrite=force)
    if plot is not None:
        found.plot(plot, form=form if form != "raw" else "per_percent")
    if json:
        print_json({**found.document(), "rankings": _rankings(found, tolerance, cost)})
    else:
        _show(found, form, _numbers("--tolerance", tolerance), _numbers("--cost", cost), out)


def _given(work: Work) -> dict[str, Any]:
    return {"values": dict(work.values.parameters), "initial": dict(work.values.initial)}


def _required(value: Any, option: str) -> Any:
    from torseur.cli.exits import USAGE, CommandError

    if not value:
        example = "kinetic_energy" if option == "--criterion" else "5"
        raise CommandError(f"{option} is missing, such as {option} {example}.", USAGE)
    return value


def _steady(work: Work, formulas: list[str], parameters: str | None) -> Sensitivities:
    """Slopes in equilibrium."""
    from torseur.sensitivity.steady import steady_sensitivity

    given = _given(work)
    return steady_sensitivity(work.source.mechanism, formulas, parameters, at=given["initial"], values=given["values"])


def _show_modes(work: Work, parameters: str | None, json: bool) -> None:
    """Frequencies and damping ratios about equilibrium, with their slopes."""
    from torseur.cli.console import print_json, remark, show_table
    from torseur.sensitivity.linear import eigenvalue_sensitivity

    given = _given(work)
    found = eigenvalue_sensitivity(work.source.mechanism, parameters, at=given["initial"], values=given["values"])
    names = [parameter.name for parameter in found.parameters]
    rows = zip(found.eigenvalues, found.slopes, found.frequency_slopes, found.damping_slopes, strict=True)
    table = [
        {"eigenvalue": [s.real, s.imag], "slopes": [[d.real, d.imag] for d in ds], "frequency": f, "damping": z}
        for s, ds, f, z in rows
    ]
    if json:
        print_json({"name": work.source.mechanism.name, "parameters": names, "modes": table, "notes": found.notes})
        return
    for title, slopes in (("frequency [Hz]", found.frequency_slopes), ("damping ratio", found.damping_slopes)):
        cells = [[f"{s:.6g}", *(f"{x:.6g}" for x in row)] for s, row in zip(found.eigenvalues, slopes, strict=True)]
        show_table(f"slopes of the {title}", ["eigenvalue [1/s]", *names], cells, range(1, len(names) + 1))
    for note in found.notes:
        remark(note)


def _criteria(formulas: list[str], kind: str, when: str) -> list[Criterion]:
    from torseur.sensitivity import Criterion

    return [Criterion(formula, kind.replace("_", " "), when=when) for formula in formulas]


def _numbers(option: str, texts: list[str] | None) -> dict[str, float]:
    from torseur.cli.exits import USAGE, CommandError
    from torseur.language.quantities import quantity

    found = {}
    for text in texts or ():
        name, equals, value = text.rpartition("=")
        if not equals:
            raise CommandError(f"{option} {text}: expected NAME=VALUE, such as {option} 'm1=0.1 kg'.", USAGE)
        found[name.strip()] = quantity(value, name)[0]
    return found


def _rankings(found: Sensitivities, tolerance: list[str] | None, cost: list[str] | None) -> dict[str, object]:
    tolerances, costs = _numbers("--tolerance", tolerance), _numbers("--cost", cost)
    return {response.name: found.ranking(response.name, tolerances, costs) for response in found.responses}


def _show(
    found: Sensitivities, form: str, tolerances: dict[str, float], costs: dict[str, float], out: Path | None
) -> None:
    from torseur.cli.console import remark, say, show_table

    for response in found.responses:
        if response.is_curve:
            _show_curve(found, response.name, form)
        _show_ranking(found, response.name, tolerances, costs)
        if response.hessian is not None:
            rows = [
                [n, *(f"{x:.9g}" for x in row)] for n, row in zip(found.parameter_names, response.hessian, strict=True)
            ]
            headings = ["", *found.parameter_names]
            show_table(f"second derivatives of {response.name}", headings, rows, range(1, len(headings)))
    if found.agreement:
        _show_agreement(found)
    say(f"method: {found.method} ({found.reason})")
    for note in found.notes:
        remark(note)
    if out is not None:
        say(f"written: {out}")


def _show_curve(found: Sensitivities, name: str, form: str) -> None:
    from torseur.cli.console import show_table

    response, slopes = found[name], found.slopes(name, form)
    length = len(response.time)
    rows = sorted({round(k * (length - 1) / (CURVE_ROWS - 1)) for k in range(CURVE_ROWS)})
    cells = [[f"{response.time[k]:.6g}", f"{response.values[k]:.6g}", *(f"{x:.6g}" for x in slopes[k])] for k in rows]
    headings = ["time [s]", f"{name} [{response.unit}]", *found.parameter_names]
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
    title = f"{name} = {response.value:.12g} {response.unit} at t = {response.time[-1]:.9g} s"
    show_table(title, headings, rows, range(1, len(headings)))


def _show_agreement(found: Sensitivities) -> None:
    from torseur.cli.console import show_table

    rows = [
        [a.parameter, f"{a.difference:.1e}", f"{a.resolution:.1e}", "agrees" if a.is_good else "DISAGREES"]
        for a in found.agreement
    ]
    show_table("against differences of motions", ["parameter", "apart", "resolution", ""], rows, (1, 2))
