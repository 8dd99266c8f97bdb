"""`torseur kinematics`: the motion of a mechanism that follows recorded markers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from torseur.cli.commands.analysis.recording import MarkerOptions, RecordingArgument
from torseur.cli.shared.option_rules import force_needs, option_rules
from torseur.cli.shared.options import OUTPUT, ForceOption, InitOption, JsonOption, SetOption, SourceArgument

if TYPE_CHECKING:
    from torseur.analysis.biomechanics import FittedMotion

WEIGHT = "Weight of a marker, 1 unless given, e.g. 'RWRI=0.2'. Repeatable."
LIMIT = "Values between which a coordinate stays, e.g. 'elbow=0..150 deg'. Repeatable."
HOLD = "Coordinate held at a value, e.g. 'wrist=0 deg'. Repeatable."
OUT = "File for the coordinates: .mot (OpenSim, angles in degrees) or .csv (SI)."
SUFFIXES = (".mot", ".csv")


class KinematicsOptions(NamedTuple):
    """What `torseur kinematics` is asked for."""

    source: SourceArgument
    markers: RecordingArgument
    weight: Annotated[list[str] | None, typer.Option("--weight", metavar="LABEL=NUMBER", help=WEIGHT)] = None
    limit: Annotated[list[str] | None, typer.Option("--limit", metavar="NAME=A..B", help=LIMIT)] = None
    hold: Annotated[list[str] | None, typer.Option("--hold", metavar="NAME=VALUE", help=HOLD)] = None
    recording: MarkerOptions = MarkerOptions()
    settings: SetOption = None
    starts: InitOption = None
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help=OUT, rich_help_panel=OUTPUT)] = None
    force: ForceOption = False
    json: JsonOption = False


@option_rules(force_needs("--out"))
def kinematics(options: KinematicsOptions) -> None:
    """Compute the coordinates of a mechanism in every frame from markers, which are named frames of it.

    Examples:

      torseur kinematics library:box_on_string corners.c3d --out motion.mot

      torseur kinematics arm.lsd reach.trc --limit 'elbow=0..150 deg' --weight WRI=0.2
    """
    from dataclasses import replace

    from torseur.analysis.biomechanics import inverse_kinematics
    from torseur.cli.commands.analysis.recording import open_recording
    from torseur.cli.commands.derivation.examination import range_of
    from torseur.cli.shared.console import print_json, working
    from torseur.cli.shared.exits import end_with
    from torseur.cli.shared.options import ValueOptions
    from torseur.cli.shared.output_files import require_outputs
    from torseur.cli.shared.prepared_model import Work
    from torseur.cli.shared.value_options import read_values

    out = options.out
    require_outputs(options.force, (out, SUFFIXES))
    work = Work.begin(options.source, ValueOptions(options.settings, options.starts))
    mechanism = work.source.mechanism
    ranges = [range_of(mechanism, "--limit", text) for text in options.limit or ()]
    limits = {name: (low, high) for name, low, high in ranges}
    held = dict(read_values(work.tree, None, options.hold, None).initial)
    recorded = open_recording(options.markers, options.recording).markers
    with working(f"{mechanism.name}: following {len(recorded)} frames", quiet=options.json):
        motion = inverse_kinematics(
            mechanism, recorded, weights=_weights(options.weight), limits=limits, held=held,
            parameters=dict(work.values.parameters), start=dict(work.values.initial),
        )  # fmt: skip
    motion = replace(motion, notes=(*recorded.notes, *motion.notes))
    if out is not None:
        write_motion(out, motion)
    failed = [] if motion.converged.all() else [f"the search ended early in {(~motion.converged).sum()} frames"]
    if options.json:
        print_json({**_document(motion, out), "failed_checks": failed})
    else:
        _tell(motion, out)
    end_with(failed)


def _tell(motion: FittedMotion, out: Path | None) -> None:
    from torseur.cli.shared.console import say

    say(str(motion))
    worst = sorted(motion.rms_by_marker.items(), key=lambda pair: -pair[1])[:5]
    say("farthest markers: " + ", ".join(f"{label} {1e3 * rms:.3g} mm" for label, rms in worst))
    if out is not None:
        say(f"written: {out}")


def write_motion(path: Path, motion: FittedMotion) -> None:
    """Coordinates as MOT, or as CSV with headings "name [unit]"."""
    import csv

    from torseur.analysis.biomechanics import write_mot
    from torseur.edges.plain_text import cell

    if path.suffix == ".mot":
        write_mot(path, motion)
        return
    pairs = zip(motion.coordinates, motion.units, strict=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["time [s]", *(cell(f"{name} [{unit}]") for name, unit in pairs)])
        writer.writerows([repr(float(x)) for x in (t, *row)] for t, row in zip(motion.time, motion.q, strict=True))


def _weights(texts: list[str] | None) -> dict[str, float]:
    from torseur.cli.shared.exits import USAGE, CommandError

    weights = {}
    for text in texts or ():
        label, _, number = text.partition("=")
        try:
            weights[label.strip()] = float(number)
        except ValueError as problem:
            message = f"--weight {text}: expected LABEL=NUMBER, such as --weight RWRI=0.2."
            raise CommandError(message, USAGE) from problem
    return weights


def _document(motion: FittedMotion, out: Path | None) -> dict[str, Any]:
    return {
        "mechanism": motion.mechanism,
        "frames": len(motion),
        "coordinates": list(motion.coordinates),
        "units": list(motion.units),
        "axes": str(motion.axes),
        "rms": motion.rms,
        "greatest": motion.greatest,
        "rms_by_marker": motion.rms_by_marker,
        "converged": int(motion.converged.sum()),
        "notes": list(motion.notes),
        "out": None if out is None else str(out),
    }
