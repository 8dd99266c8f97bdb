"""`torseur sensitivity`: how criteria of a motion change with the parameters of a mechanism."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from torseur.cli.commands.computation.simulate import ContactOption, RestitutionOption
from torseur.cli.shared.about_state import SteadyOptions
from torseur.cli.shared.options import (
    ForceOption,
    JsonOption,
    RtolOption,
    SourceArgument,
    ValueOptions,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from torseur.analysis.sensitivity import Criterion, Jump, Sensitivities, Surface
    from torseur.cli.shared.prepared_model import Work
    from torseur.computation.simulation.model.system import Vector

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
VerifyOption = Annotated[
    bool | None,
    typer.Option("--verify/--no-verify", help="Compare each parameter by itself with differences of motions, or nothing"
                 " at all; by default one more motion is compared, with all parameters changed.", show_default=False),
]  # fmt: skip


class CriterionOptions(NamedTuple):
    """Which formulas are criteria, and how each becomes a number."""

    criterion: CriterionOption = None
    integral: IntegralOption = False
    kind: KindOption = "value"
    when: WhenOption = ""
    direction: DirectionOption = 0
    occurrence: OccurrenceOption = 1


class MotionOptions(NamedTuple):
    """The motion, how accurately it is integrated, and what its derivatives are computed by."""

    until: UntilOption = None
    samples: Annotated[int | None, typer.Option("--samples", min=2, help="Derivatives at so many times.")] = None
    method: MethodOption = "auto"
    second_order: Annotated[bool, typer.Option("--second-order", help="Second derivatives too.")] = False
    integrator: IntegratorOption = "auto"
    equilibrium: EquilibriumOption = False
    jump: JumpOption = None
    contact: ContactOption = None
    restitution: RestitutionOption = 0.0
    rtol: RtolOption = 1e-9


class ForceOptions(NamedTuple):
    """The oscillating force of a frequency response, and its frequencies."""

    along: InputOption = ""
    first: FromOption = 0.1
    last: ToOption = 10.0
    points: PointsOption = 41


class ResultOptions(NamedTuple):
    """The form of the results, what they are weighed by, and the files they go to."""

    form: FormOption = "raw"
    tolerance: ToleranceOption = None
    cost: CostOption = None
    out: OutOption = None
    plot: PlotOption = None
    pareto: ParetoOption = None
    over: OverOption = None
    force: ForceOption = False
    json: JsonOption = False


class SensitivityOptions(NamedTuple):
    """Criteria and parameters, the motion or steady state they belong to, and the results."""

    source: SourceArgument
    criteria: CriterionOptions = CriterionOptions()
    parameters: ParametersOption = None
    motion: MotionOptions = MotionOptions()
    oscillation: ForceOptions = ForceOptions()
    steady: SteadyOptions = SteadyOptions()
    verify: VerifyOption = None
    values: ValueOptions = ValueOptions()
    results: ResultOptions = ResultOptions()


def sensitivity(options: SensitivityOptions) -> None:
    """Derivatives of criteria by parameters: which one matters, how much, and when.

    Example: torseur sensitivity library:double_pendulum --criterion kinetic_energy --parameters m1,r2 --until 5
    """
    from torseur.cli.commands.analysis.influences import Shown
    from torseur.cli.shared.console import progress
    from torseur.cli.shared.prepared_model import Work

    wanted = options.results
    _require_files(wanted)
    work = Work.begin(options.source, options.values)
    work.require_determined(work.equations("recursive"))
    shown = Shown(wanted, _numbers("--tolerance", wanted.tolerance), _numbers("--cost", wanted.cost))
    kind = options.criteria.kind
    if kind == "eigenvalues":
        shown.modes(work, options.parameters, {**_steady_search(work, options), "verify": options.verify})
        return
    with progress(f"{work.source.mechanism.name}: sensitivities", wanted.json) as follow:
        if kind == "steady":
            result = _of_steady_state(work, options)
        elif kind == "response":
            result = _of_response(work, options)
        elif wanted.over:
            shown.surface(_surface(work, options))
            return
        else:
            result = _of_motion(work, options, follow)
    shown.sensitivities(result)


def _require_files(wanted: ResultOptions) -> None:
    from torseur.cli.shared.output_files import require_free, require_suffix

    for file, suffixes in ((wanted.out, SUFFIXES), (wanted.plot, PICTURES), (wanted.pareto, PICTURES)):
        if file is not None:
            require_free(file, wanted.force)
            require_suffix(file, suffixes)


def _of_motion(work: Work, options: SensitivityOptions, follow: Callable[[float], None] | None) -> Sensitivities:
    """Derivatives of criteria of a motion."""
    from torseur.analysis.sensitivity.sensitivity_analysis import sensitivity as compute

    criteria, requests = _criteria(options.criteria), _motion_requests(work, options.motion)
    return compute(
        work.source.mechanism, criteria, options.parameters, verify=options.verify, progress=follow, **requests
    )


def _motion_requests(work: Work, motion: MotionOptions) -> dict[str, Any]:
    """What the sensitivity analysis is asked for, in its own words."""
    from torseur.cli.shared.prepared_model import duration
    from torseur.cli.shared.value_options import contacts

    return {
        "until": duration(_required(motion.until, "--until")),
        "rtol": motion.rtol,
        "samples": motion.samples,
        "method": motion.method,
        "integrator": motion.integrator,
        "second_order": motion.second_order,
        "from_equilibrium": motion.equilibrium,
        "jumps": [*map(_jump, motion.jump or ()), *contacts(work.tree, motion.contact, motion.restitution)],
        "values": dict(work.values.parameters),
        "initial": dict(work.values.initial),
    }


def _steady_search(work: Work, options: SensitivityOptions) -> dict[str, Any]:
    """What the search for a steady state is given."""
    near = {"moving": options.steady.moving or (), "fixed": options.steady.fix or ()}
    return {"at": dict(work.values.initial), "values": dict(work.values.parameters), **near}


def _required(value: Any, option: str) -> Any:
    from torseur.cli.shared.exits import USAGE, CommandError

    if not value:
        example = {"--criterion": "kinetic_energy", "--until": "5", "--input": "x"}[option]
        raise CommandError(f"{option} is missing, such as {option} {example}.", USAGE)
    return value


def _criteria(options: CriterionOptions) -> list[Criterion]:
    from torseur.analysis.sensitivity import Criterion

    kind = "integral" if options.integral else options.kind.replace("_", " ")
    return [
        Criterion(formula, kind, when=options.when, direction=options.direction, occurrence=options.occurrence)
        for formula in _required(options.criterion, "--criterion")
    ]


def _jump(text: str) -> Jump:
    from torseur.analysis.sensitivity import Jump
    from torseur.cli.shared.exits import USAGE, CommandError

    match = _JUMP.fullmatch(text)
    pairs = [part.partition("=") for part in match[3].split(";")] if match else []
    if match is None or not all(name.strip() and equals and value.strip() for name, equals, value in pairs):
        raise CommandError(f"--jump {text}: expected 'WHEN: STATE=EXPR', such as \"z falls: z'=-0.8*z'\".", USAGE)
    direction = {"rises": 1, "falls": -1, None: 0}[match[2]]
    return Jump(match[1], {name.strip(): value.strip() for name, _, value in pairs}, direction)


def _frequencies(options: ForceOptions) -> Vector:
    """Angular frequencies, evenly spaced in their logarithm."""
    import numpy as np

    from torseur.cli.shared.exits import USAGE, CommandError

    first, last = options.first, options.last
    if not 0 < first <= last:
        raise CommandError(f"--from {first:g} --to {last:g}: expected 0 < first <= last.", USAGE)
    return np.asarray(2 * np.pi * np.geomspace(first, last, options.points))


def _of_response(work: Work, options: SensitivityOptions) -> Sensitivities:
    """Derivatives of gain and phase."""
    from dataclasses import replace

    from torseur.analysis.sensitivity.steady.small_motion_sensitivity import frequency_response_sensitivity

    outputs = _required(options.criteria.criterion, "--criterion")
    along, omega = _required(options.oscillation.along, "--input"), _frequencies(options.oscillation)
    mechanism, search = work.source.mechanism, _steady_search(work, options)
    parts = [
        frequency_response_sensitivity(
            mechanism, along, output, omega, options.parameters, verify=options.verify, **search
        ).criteria
        for output in outputs
    ]
    return replace(
        parts[0],
        responses=tuple(response for part in parts for response in part.responses),
        notes=tuple(note for part in parts for note in part.notes),
        agreement=tuple(agreement for part in parts for agreement in part.agreement),
        trusted=all(part.trusted for part in parts),
    )


def _of_steady_state(work: Work, options: SensitivityOptions) -> Sensitivities:
    """Derivatives in equilibrium."""
    from torseur.analysis.sensitivity.steady.steady_states import steady_sensitivity

    formulas, search = _required(options.criteria.criterion, "--criterion"), _steady_search(work, options)
    method = "direct" if options.motion.method == "auto" else options.motion.method
    return steady_sensitivity(
        work.source.mechanism, formulas, options.parameters, method=method, verify=options.verify, **search
    )


def _surface(work: Work, options: SensitivityOptions) -> Surface:
    """Derivatives over one or two operating parameters."""
    import numpy as np

    from torseur.analysis.sensitivity import sensitivity_surface
    from torseur.cli.shared.exits import USAGE, CommandError
    from torseur.description.language.formulas.quantities_with_units import quantity

    criteria, requests = _criteria(options.criteria), _motion_requests(work, options.motion)
    requests["verify"] = options.verify
    if len(criteria) > 1:
        raise CommandError("--over takes one --criterion.", USAGE)
    grid = {}
    for text in options.results.over or ():
        match = _GRID.fullmatch(text)
        if match is None:
            raise CommandError(f"--over {text}: expected NAME=FIRST:LAST:COUNT, such as --over V=10:40:5.", USAGE)
        first, last = (quantity(match[k], match[1])[0] for k in (2, 3))
        grid[match[1]] = np.linspace(first, last, int(match[4]))
    return sensitivity_surface(work.source.mechanism, criteria[0], options.parameters, grid, **requests)


def _numbers(option: str, texts: list[str] | None) -> dict[str, float]:
    from torseur.cli.shared.exits import USAGE, CommandError
    from torseur.description.language.formulas.quantities_with_units import quantity

    values = {}
    for text in texts or ():
        name, equals, value = text.rpartition("=")
        if not equals:
            raise CommandError(f"{option} {text}: expected NAME=VALUE, such as {option} 'm1=0.1 kg'.", USAGE)
        values[name.strip()] = quantity(value, name)[0]
    return values
