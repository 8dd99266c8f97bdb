"""`torseur recording`: what a file of motion capture holds, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from torseur.cli.shared.options import JsonOption

if TYPE_CHECKING:
    from torseur.analysis.biomechanics import MotionTrial

UNIT = "Unit of lengths in the file, if the file states a wrong one."
UP = "Axis that points up: x, y or z, with - before it where it points down."
SEGMENT = "Markers on one rigid segment, whose shape is checked: 'arm=A1,A2,A3,A4'. Repeatable."

RecordingArgument = Annotated[
    Path, typer.Argument(metavar="RECORDING", help="Markers: .c3d, .trc or .csv.", show_default=False)
]
UnitOption = Annotated[str | None, typer.Option("--unit", metavar="UNIT", help=UNIT)]
UpOption = Annotated[str | None, typer.Option("--up", metavar="AXIS", help=UP)]


class RecordingOptions(NamedTuple):
    """What a file of motion capture does not say, or says wrongly."""

    unit: UnitOption = None
    up: UpOption = None


def recording(
    file: RecordingArgument,
    options: RecordingOptions,
    segment: Annotated[list[str] | None, typer.Option("--segment", metavar="NAME=LABELS", help=SEGMENT)] = None,
    json: JsonOption = False,
) -> None:
    """Show the markers, gaps, force plates and faults of a recording.

    Examples:

      torseur recording walk.c3d

      torseur recording arm.csv --unit mm --segment 'arm=A1,A2,A3,A4'
    """
    from torseur.analysis.biomechanics.recordings.label_check import label_faults
    from torseur.cli.shared.console import print_json, say, show_table
    from torseur.cli.shared.exits import end_with

    trial = open_recording(file, options)
    segments = _segments(segment or [])
    found = label_faults(trial.markers, segments) if segments else []
    faults = [str(fault) for fault in found]
    if json:
        print_json(_document(trial, faults) | {"segments": segments})
    else:
        say(str(trial))
        for name, labels in segments.items():
            if not any(fault.segment == name for fault in found):
                say(f"segment {name}: {', '.join(labels)} keep their shape")
        gaps = [(gap.label, str(gap.first), str(gap.last)) for gap in trial.markers.gaps()]
        show_table("gaps", ("marker", "first frame", "last frame"), gaps, (1, 2))
    end_with(faults)


def open_recording(file: Path, options: RecordingOptions) -> MotionTrial:
    """The trial of a file, with its vertical axis where it was told."""
    from torseur.analysis.biomechanics import Axes, read_motion
    from torseur.cli.shared.exits import USAGE, CommandError

    unit, up = options
    if up is None:
        return read_motion(file, unit=unit)
    axis, word = (up[1:], "down") if up.startswith("-") else (up.removeprefix("+"), "up")
    if axis not in ("x", "y", "z"):
        raise CommandError(f"--up {up}: expected x, y, z, -x, -y or -z.", USAGE)
    return read_motion(file, unit=unit, axes=Axes(**{axis: word}))


def _segments(texts: list[str]) -> dict[str, list[str]]:
    from torseur.cli.shared.exits import USAGE, CommandError

    segments = {}
    for text in texts:
        name, equals, labels = text.partition("=")
        if not equals or not labels.strip():
            raise CommandError(f"--segment {text}: expected NAME=LABELS, such as --segment 'arm=A1,A2,A3'.", USAGE)
        segments[name.strip()] = [label.strip() for label in labels.split(",")]
    return segments


def _document(trial: MotionTrial, faults: list[str]) -> dict[str, Any]:
    markers = trial.markers
    return {
        "name": trial.name,
        "frames": len(markers),
        "rate": markers.rate,
        "axes": str(markers.axes),
        "unit": "m",
        "markers": list(markers.labels),
        "gaps": [vars(gap) for gap in markers.gaps()],
        "plates": [
            {"name": plate.name, "samples": len(plate), "corners": plate.corners, "notes": list(plate.notes),
             "greatest_force": float(abs(plate.force).max())} for plate in trial.plates
        ],
        "channels": list(trial.analog.labels) if trial.analog else [],
        "events": [vars(event) for event in trial.events],
        "faults": faults,
        "notes": [*markers.notes, *trial.notes],
    }  # fmt: skip
