"""Options of `torseur sensitivity`: criteria, the motion or steady state they belong to, and the results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

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

CRITERION, MOTION, STILL, RESULTS = "Criterion", "Motion", "Without a motion", "Results"

CriterionOption = Annotated[
    list[str] | None,
    typer.Option("--criterion", metavar="EXPR", help="A formula over the motion. Repeatable.", show_default=False,
                 rich_help_panel=CRITERION),
]  # fmt: skip
UntilOption = Annotated[
    str | None,
    typer.Option(
        "--until", metavar="T", help="Time at which the motion ends, e.g. 10 or '500 ms'.", show_default=False
    ),
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
    typer.Option("--direction", min=-1, max=1, help="1: rising through zero only; -1: falling through zero only.",
                 rich_help_panel=CRITERION),
]  # fmt: skip
OccurrenceOption = Annotated[
    int,
    typer.Option(
        "--occurrence", min=1, help="Which occurrence of the event counts, starting from 1.", rich_help_panel=CRITERION
    ),
]
MethodOption = Annotated[
    str, typer.Option("--method", metavar="NAME", help="auto, direct, adjoint or continuous_adjoint.")
]
IntegratorOption = Annotated[
    str,
    typer.Option("--integrator", metavar="NAME",
                 help="Integration method: auto, explicit, radau5 or radau9 for stiff systems, time_stepping for "
                 "many contacts.",
                 rich_help_panel=MOTION),
]  # fmt: skip
MaxStepOption = Annotated[
    str | None,
    typer.Option("--max-step", metavar="SECONDS", help="Longest step of the integration; of time_stepping, its step.",
                 show_default=False, rich_help_panel=MOTION),
]  # fmt: skip
JumpOption = Annotated[
    list[str] | None,
    typer.Option("--jump", metavar="'WHEN: STATE=EXPR'", help="New speeds where a formula changes sign, "
                 "e.g. \"z falls: z'=-0.8*z'\". Repeatable.", rich_help_panel=MOTION),
]  # fmt: skip
EquilibriumOption = Annotated[
    bool,
    typer.Option("--equilibrium", help="Start from the equilibrium, and account for how it moves with the parameters.",
                 rich_help_panel=MOTION),
]  # fmt: skip
InputOption = Annotated[
    str,
    typer.Option("--input", metavar="NAME", help="Coordinate along which the oscillating force acts.",
                 show_default=False, rich_help_panel=STILL),
]  # fmt: skip
FromOption = Annotated[
    float, typer.Option("--from", metavar="HZ", help="Lowest frequency (Hz).", rich_help_panel=STILL)
]
ToOption = Annotated[float, typer.Option("--to", metavar="HZ", help="Highest frequency (Hz).", rich_help_panel=STILL)]
PointsOption = Annotated[int, typer.Option("--points", min=1, help="Number of frequencies.", rich_help_panel=STILL)]
FormOption = Annotated[
    str,
    typer.Option(
        "--form",
        metavar="FORM",
        help="How derivatives are scaled: raw, per_percent or logarithmic.",
        rich_help_panel=RESULTS,
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Write .csv (curves) or .json (everything).",
                 rich_help_panel=RESULTS),
]  # fmt: skip
ToleranceOption = Annotated[
    list[str] | None,
    typer.Option("--tolerance", metavar="NAME=VALUE", help="Tolerance of a parameter, 1 % by default. Repeatable.",
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
    typer.Option("--pareto", metavar="FILE", help="Plot influence against --cost.", rich_help_panel=RESULTS),
]
OverOption = Annotated[
    list[str] | None,
    typer.Option("--over", metavar="NAME=A:B:N", help="N values of an operating parameter; two make a surface.",
                 rich_help_panel=RESULTS),
]  # fmt: skip
VerifyOption = Annotated[
    bool | None,
    typer.Option("--verify/--no-verify", help="--verify compares the derivative by each parameter with finite "
                 "differences of motions, --no-verify compares nothing; by default one more motion is compared, with "
                 "all parameters changed at once.", show_default=False),
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
    samples: Annotated[
        int | None, typer.Option("--samples", min=2, help="Number of times at which derivatives are computed.")
    ] = None
    method: MethodOption = "auto"
    second_order: Annotated[bool, typer.Option("--second-order", help="Compute second derivatives as well.")] = False
    integrator: IntegratorOption = "auto"
    max_step: MaxStepOption = None
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
