"""`torseur response`: the steady oscillation of a quantity under an oscillating force or input."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from torseur.cli.commands.computation.locus import PLOTS, PlotOption
from torseur.cli.shared.about_state import STATE, STATE_RULES, EquilibriumOption, SteadyOptions, VerifyOption
from torseur.cli.shared.option_rules import force_needs, option_rules
from torseur.cli.shared.options import ForceOption, JsonOption, SourceArgument, ValueOptions

if TYPE_CHECKING:
    from pathlib import Path

    from torseur.computation.linearisation import FrequencyResponse

SHOWN = 21  # rows of the table on the screen

InputOption = Annotated[
    str,
    typer.Option(
        "--input",
        metavar="NAME",
        help="A parameter, law, load or equation that oscillates, or a coordinate or speed that a force acts along.",
        show_default=False,
    ),
]
OutputOption = Annotated[
    str,
    typer.Option(
        "--output", metavar="EXPR", help="Quantity or formula whose response is computed.", show_default=False
    ),
]
LowestOption = Annotated[float, typer.Option("--from", metavar="HZ", help="Lowest frequency (Hz).")]
HighestOption = Annotated[float, typer.Option("--to", metavar="HZ", help="Highest frequency (Hz).")]
FrequenciesOption = Annotated[
    int, typer.Option("--points", min=2, help="Number of frequencies, spaced logarithmically.")
]


TimeOption = Annotated[
    float,
    typer.Option(
        "--time", metavar="S", help="Time (s) at which time-dependent laws are evaluated.", rich_help_panel=STATE
    ),
]


class ResponseOptions(NamedTuple):
    """Which force, which quantity, over which frequencies, about which state."""

    source: SourceArgument
    along: InputOption
    of: OutputOption
    first: LowestOption = 0.01
    last: HighestOption = 100.0
    points: FrequenciesOption = 201
    plot: PlotOption = None
    equilibrium: EquilibriumOption = False
    steady: SteadyOptions = SteadyOptions()
    time: TimeOption = 0.0
    values: ValueOptions = ValueOptions()
    force: ForceOption = False
    verify: VerifyOption = True
    json: JsonOption = False


@option_rules(*STATE_RULES, force_needs("--plot"))
def response(options: ResponseOptions) -> None:
    """Compute gain and phase of any formula per unit of an input, or of a force along a coordinate.

    Example: torseur response library:car --input steer --output 'body.rotation.z' --from 0.1 --to 5
    """
    import numpy as np

    from torseur.analysis.sensitivity.steady.input_response import input_motions
    from torseur.cli.shared.about_state import Surroundings, report_checks, unsteadiness
    from torseur.cli.shared.console import print_json, remark
    from torseur.cli.shared.exits import USAGE, CommandError
    from torseur.cli.shared.output_files import require_outputs
    from torseur.cli.shared.prepared_model import Work
    from torseur.edges.budgets import FREQUENCY, require_memory

    if not 0 < options.first < options.last:
        raise CommandError(f"--from {options.first:g} --to {options.last:g}: expected 0 < first < last.", USAGE)
    require_memory(options.points, FREQUENCY, f"--points {options.points}")
    require_outputs(options.force, (plot := options.plot, PLOTS))
    about = Surroundings(Work.begin(options.source, options.values), options.equilibrium, options.steady)
    options.steady.require_movable(about.work.tree)
    given, near = about.work.values, options.steady
    motions = input_motions(
        about.equations.mechanism, options.along, given.initial, moving=near.moving or (), fixed=near.fix or (),
        parameters=given.parameters, rest=options.equilibrium, t=options.time,
    )  # fmt: skip
    checks = motions.checks if options.verify else []
    if (warning := unsteadiness(motions.motions)) is not None:
        remark(warning)
    omega = 2 * np.pi * np.geomspace(options.first, options.last, options.points)
    curve = motions.response(options.of, omega)
    if plot is not None:
        curve.plot(plot)
    if options.json:
        print_json(document(curve, plot) | {"checks": [check.to_dict() for check in checks]})
    else:
        _show(about.name, curve, plot)
    report_checks(checks, options.json)


def document(curve: FrequencyResponse, plot: Path | None) -> dict[str, object]:
    """A frequency response as plain data; complex numbers are pairs."""
    return {
        "input": curve.input,
        "output": curve.output,
        "units": list(curve.units),
        "hertz": curve.frequencies / (2 * pi),
        "values": [[value.real, value.imag] for value in curve.values.tolist()],
        **({"plot": str(plot)} if plot is not None else {}),
    }


def _gain(curve: FrequencyResponse) -> str:
    """Heading of the gain, with its unit where the input has one."""
    above, below = ("" if unit == "1" else unit for unit in curve.units)
    return f"gain ({above or 1}{f' per {below}' * bool(below)})" if curve.units[1] and (above or below) else "gain"


def _show(name: str, curve: FrequencyResponse, plot: Path | None) -> None:
    import numpy as np

    from torseur.cli.shared.console import say, show_table

    length = len(curve.frequencies)
    kept = sorted({round(k * (length - 1) / (SHOWN - 1)) for k in range(SHOWN)})
    hertz, phase = curve.frequencies / (2 * np.pi), np.degrees(np.angle(curve.values))
    rows = [[f"{hertz[k]:.6g}", f"{abs(curve.values[k]):.6g}", f"{phase[k]:.4g}"] for k in kept]
    per = f"per {curve.input}" if curve.units[1] else f"per force along {curve.input}"
    show_table(f"{name}: {curve.output} {per}", ["Hz", _gain(curve), "phase (deg)"], rows, [0, 1, 2])
    peak = int(np.argmax(np.abs(curve.values)))
    say(f"largest gain {abs(curve.values[peak]):.6g} at {hertz[peak]:.6g} Hz")
    if plot is not None:
        say(f"written: {plot}")
