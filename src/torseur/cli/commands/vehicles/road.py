"""`torseur road`: a road of a class by ISO 8608, as a table for descriptions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from torseur.cli.shared.options import ForceOption, JsonOption

ClassArgument = Annotated[
    str, typer.Argument(metavar="CLASS", help="Roughness class, A (very good) to H.", show_default=False)
]
RoadFileOption = Annotated[
    Path, typer.Option("--out", "-o", metavar="FILE.csv", help="File of two columns, distance and height.")
]
LengthOption = Annotated[float, typer.Option("--length", metavar="M", help="Length of the road (m).")]
SpacingOption = Annotated[float, typer.Option("--spacing", metavar="M", help="Distance between the points (m).")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed: each number gives another road of the class.")]


def road(
    kind: ClassArgument,
    out: RoadFileOption,
    length: LengthOption = 200.0,
    spacing: SpacingOption = 0.1,
    seed: SeedOption = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Write a random road profile of an ISO 8608 class, for use as `table road in m = "road.csv" ;`.

    Example: torseur road C --length 300 -o road.csv
    """
    from torseur.analysis.vehicles.roads import road_profile
    from torseur.cli.shared.console import print_json, say
    from torseur.cli.shared.output_files import require_outputs

    require_outputs(force, (out, (".csv",)))
    made = road_profile(kind, length, spacing, seed)
    made.save(out)
    deviation = float(made.height.std())
    if json:
        print_json({"class": kind, "points": len(made.way), "deviation": deviation, "written": str(out)})
    else:
        say(f"written: {out} ({len(made.way)} points, standard deviation {1e3 * deviation:.3g} mm)")
