"""`torseur kinematics`: the motion of a mechanism that follows recorded markers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from torseur.cli.options import OUTPUT, ForceOption, InitOption, JsonOption, SetOption, SourceArgument
from torseur.cli.recording import RecordingArgument, UnitOption, UpOption

if TYPE_CHECKING:
    from torseur.biomechanics import FittedMotion

WEIGHT = "Weight of a marker, 1 unless given, e.g. 'RWRI=0.2'. Repeatable."
LIMIT = "Values between which a coordinate stays, e.g. 'elbow=0..150 deg'. Repeatable."
HOLD = "Coordinate held at a value, e.g. 'wrist=0 deg'. Repeatable."
OUT = "File for the coordinates: .mot (OpenSim, angles in degrees) or .csv (SI)."
SUFFIXES = (".mot", ".csv")


def kinematics(
    source: SourceArgument,
    markers: RecordingArgument,
    weight: Annotated[list[str] | None, typer.Option("--weight", metavar="LABEL=NUMBER", help=WEIGHT)] = None,
    limit: Annotated[list[str] | None, typer.Option("--limit", metavar="NAME=A..B", help=LIMIT)] = None,
    hold: Annotated[list[str] | None, typer.Option("--hold", metavar="NAME=VALUE", help=HOLD)] = None,
    unit: UnitOption = None,
    up: UpOption = None,
    settings: SetOption = None,
    starts: InitOption = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help=OUT, rich_help_panel=OUTPUT)] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Coordinates of a mechanism in every frame, from markers that are named frames of it.

    Examples:

      torseur kinematics library:box_on_string corners.c3d --out motion.mot

      torseur kinematics arm.lsd reach.trc --limit 'elbow=0..150 deg' --weight WRI=0.2
    """
    from torseur.biomechanics import inverse_kinematics
    from torseur.cli.console import print_json, say, working
    from torseur.cli.examination import range_of
    from torseur.cli.files import require_free, require_suffix
    from torseur.cli.recording import open_recording
    from torseur.cli.values import read_values
    from torseur.cli.work import Work

    if out is not None:
        require_suffix(out, SUFFIXES)
        require_free(out, force)
    work = Work.begin(source, settings, starts)
    mechanism = work.source.mechanism
    limits = {name: (low, high) for name, low, high in (range_of(mechanism, "--limit", text) for text in limit or ())}
    held = dict(read_values(work.tree, None, hold, None).initial)
    recorded = open_recording(markers, unit, up).markers
    with working(f"{mechanism.name}: following {len(recorded)} frames", quiet=json):
        motion = inverse_kinematics(
            mechanism, recorded, weights=_weights(weight), limits=limits, held=held,
            parameters=dict(work.values.parameters), start=dict(work.values.initial),
        )  # fmt: skip
    if out is not None:
        write_motion(out, motion)
    if json:
        return print_json(_document(motion, out))
    say(str(motion))
    worst = sorted(motion.rms_by_marker.items(), key=lambda pair: -pair[1])[:5]
    say("farthest markers: " + ", ".join(f"{label} {1e3 * rms:.3g} mm" for label, rms in worst))
    if out is not None:
        say(f"wrote {out}")


def write_motion(path: Path, motion: FittedMotion) -> None:
    """Coordinates as MOT, or as CSV with headings "name [unit]"."""
    import csv

    from torseur.biomechanics import write_mot

    if path.suffix == ".mot":
        write_mot(path, motion)
        return
    pairs = zip(motion.coordinates, motion.units, strict=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["time [s]", *(f"{name} [{unit}]" for name, unit in pairs)])
        writer.writerows([repr(float(x)) for x in (t, *row)] for t, row in zip(motion.time, motion.q, strict=True))


def _weights(texts: list[str] | None) -> dict[str, float]:
    from torseur.cli.exits import USAGE, CommandError

    found = {}
    for text in texts or ():
        label, _, number = text.partition("=")
        try:
            found[label.strip()] = float(number)
        except ValueError as problem:
            message = f"--weight {text}: expected LABEL=NUMBER, such as --weight RWRI=0.2."
            raise CommandError(message, USAGE) from problem
    return found


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
