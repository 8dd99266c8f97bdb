"""`torseur sensitivity`: how criteria of a motion change with the parameters of a mechanism."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from torseur.cli.about import FixOption, MovingOption
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
from torseur.cli.simulate import ContactOption, RestitutionOption

if TYPE_CHECKING:
    from torseur.cli.work import Work
    from torseur.sensitivity import Criterion, Jump, Sensitivities, Surface
    from torseur.simulation.system import Vector

SUFFIXES = (".csv", ".json")
PICTURES = (".png", ".svg", ".pdf")
CRITERION, MOTION, STILL, RESULTS = "Criterion", "Motion", "Without a motion", "Results"
_JUMP = re.compile(r"\s*(.+?)\s*(?:\s(rises|falls))?\s*:\s*(.+)")
_GRID = re.compile(r"\s*([^=]+?)\s*=\s*([^:]+):([^:]+):\s*(\d+)\s*")

CriterionOption = Annotated[
    list[str] | None,
    typer.Option("--criterion", metavar="EXPR", help="A formula over the motion. Repeatable.", show_default=False,
                 rich_help_panel=CRITERION),
]  # fmt: skip
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
        help="value, integral, maximum, minimum, event, 'event time', or without a motion: steady, eigenvalues, "
        "response (to an oscillating force).",
        rich_help_panel=CRITERION,
    ),
]
IntegralOption = Annotated[
    bool, typer.Option("--integral", help="Integrate the criteria over time.", rich_help_panel=CRITERION)
]
WhenOption = Annotated[
    str,
    typer.Option("--when", metavar="EXPR", help="Formula whose change of sign is the event.", show_default=False,
                 rich_help_panel=CRITERION),
]  # fmt: skip
DirectionOption = Annotated[
    int,
    typer.Option("--direction", min=-1, max=1, help="1: only where it rises, -1: only where it falls.",
                 rich_help_panel=CRITERION),
]  # fmt: skip
OccurrenceOption = Annotated[
    int, typer.Option("--occurrence", min=1, help="Which of these events.", rich_help_panel=CRITERION)
]
MethodOption = Annotated[
    str, typer.Option("--method", metavar="NAME", help="auto, direct, adjoint or continuous_adjoint.")
]
IntegratorOption = Annotated[
    str,
    typer.Option("--integrator", metavar="NAME", help="auto, explicit, or for stiff motions radau5 or radau9.",
                 rich_help_panel=MOTION),
]  # fmt: skip
JumpOption = Annotated[
    list[str] | None,
    typer.Option("--jump", metavar="'WHEN: STATE=EXPR'", help="New speeds where a formula changes sign, "
                 "e.g. \"z falls: z'=-0.8*z'\". Repeatable.", rich_help_panel=MOTION),
]  # fmt: skip
EquilibriumOption = Annotated[
    bool,
    typer.Option("--equilibrium", help="Start from the equilibrium, which moves with the parameters.",
                 rich_help_panel=MOTION),
]  # fmt: skip
InputOption = Annotated[
    str,
    typer.Option("--input", metavar="NAME", help="Coordinate that the force of a response acts along.",
                 show_default=False, rich_help_panel=STILL),
]  # fmt: skip
FromOption = Annotated[
    float, typer.Option("--from", metavar="HZ", help="Lowest frequency (Hz).", rich_help_panel=STILL)
]
ToOption = Annotated[float, typer.Option("--to", metavar="HZ", help="Highest frequency (Hz).", rich_help_panel=STILL)]
PointsOption = Annotated[int, typer.Option("--points", min=1, help="Number of frequencies.", rich_help_panel=STILL)]
FormOption = Annotated[
    str, typer.Option("--form", metavar="FORM", help="raw, per_percent or logarithmic.", rich_help_panel=RESULTS)
]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Write .csv (curves) or .json (everything).",
                 rich_help_panel=RESULTS),
]  # fmt: skip
ToleranceOption = Annotated[
    list[str] | None,
    typer.Option("--tolerance", metavar="NAME=VALUE", help="Tolerance of a parameter; 1 % otherwise. Repeatable.",
                 rich_help_panel=RESULTS),
]  # fmt: skip
CostOption = Annotated[
    list[str] | None,
    typer.Option("--cost", metavar="NAME=VALUE", help="Cost of changing a parameter. Repeatable.",
                 rich_help_panel=RESULTS),
]  # fmt: skip
PlotOption = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw curves, a tornado chart or a surface (.png, .svg, .pdf).",
                 rich_help_panel=RESULTS),
]  # fmt: skip
ParetoOption = Annotated[
    Path | None,
    typer.Option("--pareto", metavar="FILE", help="Draw influence against --cost.", rich_help_panel=RESULTS),
]
OverOption = Annotated[
    list[str] | None,
    typer.Option("--over", metavar="NAME=A:B:N", help="N values of an operating parameter; two make a surface.",
                 rich_help_panel=RESULTS),
]  # fmt: skip


def sensitivity(
    source: SourceArgument,
    criterion: CriterionOption = None,
    until: UntilOption = None,
    parameters: ParametersOption = None,
    integral: IntegralOption = False,
    kind: KindOption = "value",
    when: WhenOption = "",
    direction: DirectionOption = 0,
    occurrence: OccurrenceOption = 1,
    samples: Annotated[int | None, typer.Option("--samples", min=2, help="Slopes at so many times.")] = None,
    method: MethodOption = "auto",
    integrator: IntegratorOption = "auto",
    equilibrium: EquilibriumOption = False,
    jump: JumpOption = None,
    contact: ContactOption = None,
    restitution: RestitutionOption = 0.0,
    along: InputOption = "",
    first: FromOption = 0.1,
    last: ToOption = 10.0,
    points: PointsOption = 41,
    moving: MovingOption = None,
    fix: FixOption = None,
    second_order: Annotated[bool, typer.Option("--second-order", help="Second derivatives too.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Compare with differences of motions.")] = False,
    form: FormOption = "raw",
    tolerance: ToleranceOption = None,
    cost: CostOption = None,
    out: OutOption = None,
    plot: PlotOption = None,
    pareto: ParetoOption = None,
    over: OverOption = None,
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
    from torseur.cli.console import progress
    from torseur.cli.contacts import contacts
    from torseur.cli.files import require_free, require_suffix
    from torseur.cli.influences import Shown
    from torseur.cli.work import Work, duration
    from torseur.sensitivity.analysis import sensitivity as compute

    for file, suffixes in ((out, SUFFIXES), (plot, PICTURES), (pareto, PICTURES)):
        if file is not None:
            require_free(file, force)
            require_suffix(file, suffixes)
    work = Work.begin(source, settings, starts, laws, values)
    work.require_determined(work.equations("recursive"))
    shown = Shown(form, _numbers("--tolerance", tolerance), _numbers("--cost", cost), out, plot, pareto, force, json)
    state = {"moving": moving or (), "fixed": fix or ()}
    if kind == "eigenvalues":
        shown.modes(work, parameters, state)
        return
    mechanism = work.source.mechanism
    with progress(f"{mechanism.name}: sensitivities", json) as follow:
        if kind == "steady":
            found = _steady(work, _required(criterion, "--criterion"), parameters, state, verify)
        elif kind == "response":
            found = _response(work, _required(criterion, "--criterion"), _required(along, "--input"),
                              _frequencies(first, last, points), parameters, state)  # fmt: skip
        else:
            wanted = _criteria(
                _required(criterion, "--criterion"), "integral" if integral else kind, when, direction, occurrence
            )
            options: dict[str, Any] = {
                "until": duration(_required(until, "--until")), "rtol": rtol, "samples": samples, "method": method,
                "integrator": integrator, "second_order": second_order, "from_equilibrium": equilibrium,
                "jumps": [*map(_jump, jump or ()), *contacts(work.tree, contact, restitution)], **_given(work),
            }  # fmt: skip
            if over:
                shown.surface(_surface(mechanism, wanted, parameters, over, options))
                return
            found = compute(mechanism, wanted, parameters, verify=verify, progress=follow, **options)
    shown.sensitivities(found)


def _given(work: Work) -> dict[str, Any]:
    return {"values": dict(work.values.parameters), "initial": dict(work.values.initial)}


def _at(work: Work, state: dict[str, Any]) -> dict[str, Any]:
    """What the search for a steady state is given."""
    return {"at": dict(work.values.initial), "values": dict(work.values.parameters), **state}


def _required(value: Any, option: str) -> Any:
    from torseur.cli.exits import USAGE, CommandError

    if not value:
        example = {"--criterion": "kinetic_energy", "--until": "5", "--input": "x"}[option]
        raise CommandError(f"{option} is missing, such as {option} {example}.", USAGE)
    return value


def _criteria(formulas: list[str], kind: str, when: str, direction: int, occurrence: int) -> list[Criterion]:
    from torseur.sensitivity import Criterion

    return [
        Criterion(formula, kind.replace("_", " "), when=when, direction=direction, occurrence=occurrence)
        for formula in formulas
    ]


def _jump(text: str) -> Jump:
    from torseur.cli.exits import USAGE, CommandError
    from torseur.sensitivity import Jump

    match = _JUMP.fullmatch(text)
    pairs = [part.partition("=") for part in match[3].split(";")] if match else []
    if match is None or not all(name.strip() and equals and value.strip() for name, equals, value in pairs):
        raise CommandError(f"--jump {text}: expected 'WHEN: STATE=EXPR', such as \"z falls: z'=-0.8*z'\".", USAGE)
    direction = {"rises": 1, "falls": -1, None: 0}[match[2]]
    return Jump(match[1], {name.strip(): value.strip() for name, _, value in pairs}, direction)


def _frequencies(first: float, last: float, points: int) -> Vector:
    """Angular frequencies, evenly spaced in their logarithm."""
    import numpy as np

    from torseur.cli.exits import USAGE, CommandError

    if not 0 < first <= last:
        raise CommandError(f"--from {first:g} --to {last:g}: expected 0 < first <= last.", USAGE)
    return np.asarray(2 * np.pi * np.geomspace(first, last, points))


def _response(
    work: Work, outputs: list[str], along: str, omega: Vector, parameters: str | None, state: dict[str, Any]
) -> Sensitivities:
    """Slopes of gain and phase."""
    from dataclasses import replace

    from torseur.sensitivity.linear import frequency_response_sensitivity

    parts = [
        frequency_response_sensitivity(work.source.mechanism, along, of, omega, parameters, **_at(work, state)).criteria
        for of in outputs
    ]
    return replace(parts[0], responses=tuple(response for part in parts for response in part.responses))


def _steady(
    work: Work, formulas: list[str], parameters: str | None, state: dict[str, Any], verify: bool
) -> Sensitivities:
    """Slopes in equilibrium."""
    from torseur.sensitivity.steady import steady_sensitivity

    return steady_sensitivity(work.source.mechanism, formulas, parameters, verify=verify, **_at(work, state))


def _surface(
    mechanism: Any, wanted: list[Criterion], parameters: str | None, over: list[str], options: dict[str, Any]
) -> Surface:
    """Slopes over two operating parameters."""
    import numpy as np

    from torseur.cli.exits import USAGE, CommandError
    from torseur.language.quantities import quantity
    from torseur.sensitivity import sensitivity_surface

    if len(wanted) > 1:
        raise CommandError("--over takes one --criterion.", USAGE)
    grid = {}
    for text in over:
        match = _GRID.fullmatch(text)
        if match is None:
            raise CommandError(f"--over {text}: expected NAME=FIRST:LAST:COUNT, such as --over V=10:40:5.", USAGE)
        first, last = (quantity(match[k], match[1])[0] for k in (2, 3))
        grid[match[1]] = np.linspace(first, last, int(match[4]))
    return sensitivity_surface(mechanism, wanted[0], parameters, grid, **options)


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
