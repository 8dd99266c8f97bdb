"""`torseur response`: the steady oscillation of a quantity under an oscillating force."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.about import EquilibriumOption, FixOption, MovingOption
from torseur.cli.locus import PLOTS, PlotOption
from torseur.cli.options import ForceOption, InitOption, JsonOption, LawOption, SetOption, SourceArgument, ValuesOption

if TYPE_CHECKING:
    from pathlib import Path

    from torseur.linearisation import FrequencyResponse

SHOWN = 21  # rows of the table on the screen


def response(
    source: SourceArgument,
    along: Annotated[str, typer.Option("--input", metavar="NAME", help="Coordinate or speed that the force acts along.",
                                       show_default=False)],
    of: Annotated[str, typer.Option("--output", metavar="NAME", help="Coordinate or speed to look at.",
                                    show_default=False)],
    first: Annotated[float, typer.Option("--from", metavar="HZ", help="Lowest frequency (Hz).")] = 0.01,
    last: Annotated[float, typer.Option("--to", metavar="HZ", help="Highest frequency (Hz).")] = 100.0,
    points: Annotated[int, typer.Option("--points", min=2, help="Number of frequencies, evenly spaced in their "
                                        "logarithm.")] = 201,
    plot: PlotOption = None,
    equilibrium: EquilibriumOption = False,
    moving: MovingOption = None,
    fix: FixOption = None,
    settings: SetOption = None,
    starts: InitOption = None,
    laws: LawOption = None,
    values: ValuesOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:  # fmt: skip
    """Gain and phase of a coordinate or speed for a force of one newton (or newton metre) along another.

    Example: torseur response library:mass_spring_damper --input x --output x --from 0.01 --to 10
    """
    import numpy as np

    from torseur.cli.about import Surroundings, unsteadiness
    from torseur.cli.console import print_json, remark
    from torseur.cli.exits import USAGE, CommandError
    from torseur.cli.files import require_free, require_suffix
    from torseur.cli.work import Work
    from torseur.linearisation import frequency_response

    if not 0 < first < last:
        raise CommandError(f"--from {first:g} --to {last:g}: expected 0 < first < last.", USAGE)
    if plot is not None:
        require_free(plot, force)
        require_suffix(plot, PLOTS)
    work = Work.begin(source, settings, starts, laws, values)
    about = Surroundings(work, equilibrium, moving or (), fix or ())
    motions = about.small_motions(())
    if (warning := unsteadiness(motions)) is not None:
        remark(warning)
    found = frequency_response(motions, along, of, 2 * np.pi * np.geomspace(first, last, points))
    if plot is not None:
        found.plot(plot)
    print_json(document(found, plot)) if json else _show(about.name, found, plot)


def document(found: FrequencyResponse, plot: Path | None) -> dict[str, object]:
    """A frequency response as plain data; complex numbers are pairs."""
    return {
        "input": found.input,
        "output": found.output,
        "hertz": found.frequencies / (2 * pi),
        "values": [[value.real, value.imag] for value in found.values.tolist()],
        **({"plot": str(plot)} if plot is not None else {}),
    }


def _show(name: str, found: FrequencyResponse, plot: Path | None) -> None:
    import numpy as np

    from torseur.cli.console import say, show_table

    length = len(found.frequencies)
    kept = sorted({round(k * (length - 1) / (SHOWN - 1)) for k in range(SHOWN)})
    hertz, phase = found.frequencies / (2 * np.pi), np.degrees(np.angle(found.values))
    rows = [[f"{hertz[k]:.6g}", f"{abs(found.values[k]):.6g}", f"{phase[k]:.4g}"] for k in kept]
    show_table(f"{name}: {found.output} per force along {found.input}", ["Hz", "gain", "phase (deg)"], rows, [0, 1, 2])
    peak = int(np.argmax(np.abs(found.values)))
    say(f"largest gain {abs(found.values[peak]):.6g} at {hertz[peak]:.6g} Hz")
    if plot is not None:
        say(f"written: {plot}")
