"""`torseur recording`: what a file of motion capture holds, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from torseur.cli.shared.options import JsonOption

if TYPE_CHECKING:
    from torseur.analysis.biomechanics import MotionTrial

UNIT = "Unit of lengths in the file, if the file states a wrong one."
UP = "Axis that points up: x, y or z; -x, -y or -z for an axis that points down."
SUBJECT = "Person whose markers are read, if the file has those of several ('Anna:LASI')."
SEGMENT = "Markers on one rigid segment, whose shape is checked: 'arm=A1,A2,A3,A4'. Repeatable."

RecordingArgument = Annotated[
    Path, typer.Argument(metavar="RECORDING", help="Markers: .c3d, .trc or .csv.", show_default=False)
]
PLATES = "Force plates to use, by number or name, e.g. '1,3'; 'none' ignores all of them."
ZERO = "Subtract the offset that the force plates show while they are unloaded."
THRESHOLD = "Vertical force in N below which a force plate counts as unloaded."
FILL = "Fill marker gaps of up to this many frames with splines; each is reported."
FILTER = "Cut-off frequency in Hz of a low-pass filter for markers and force plates (Butterworth, order 4, zero lag)."
RATE = "Resample the markers to this rate in Hz, with an anti-aliasing filter."
LIKELY = 0.3  # likeness from which a set of markers is mentioned
CONDITIONING = "Conditioning"


class MarkerOptions(NamedTuple):
    """What a file of motion capture does not say, or says wrongly, and what is done to its markers."""

    unit: Annotated[str | None, typer.Option("--unit", metavar="UNIT", help=UNIT)] = None
    up: Annotated[str | None, typer.Option("--up", metavar="AXIS", help=UP)] = None
    fill: Annotated[int, typer.Option("--fill", metavar="FRAMES", help=FILL, min=0, rich_help_panel=CONDITIONING)] = 0
    low_pass: Annotated[
        float, typer.Option("--filter", metavar="HZ", help=FILTER, min=0.0, rich_help_panel=CONDITIONING)
    ] = 0.0
    rate: Annotated[float, typer.Option("--rate", metavar="HZ", help=RATE, min=0.0, rich_help_panel=CONDITIONING)] = 0.0
    subject: Annotated[str | None, typer.Option("--subject", metavar="NAME", help=SUBJECT)] = None


class PlateOptions(NamedTuple):
    """What is done to force plates."""

    plates: Annotated[
        str | None, typer.Option("--plates", metavar="LIST", help=PLATES, rich_help_panel=CONDITIONING)
    ] = None
    zero: Annotated[bool, typer.Option("--zero", help=ZERO, rich_help_panel=CONDITIONING)] = False
    threshold: Annotated[
        float, typer.Option("--threshold", metavar="N", help=THRESHOLD, min=0.0, rich_help_panel=CONDITIONING)
    ] = 0.0


class RecordingOptions(NamedTuple):
    """How a recording is read and conditioned."""

    points: MarkerOptions = MarkerOptions()
    ground: PlateOptions = PlateOptions()


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
    from torseur.analysis.biomechanics.person_model.marker_sets import fitting_sets
    from torseur.analysis.biomechanics.recordings.label_check import label_faults
    from torseur.cli.shared.console import print_json, say, show_table
    from torseur.cli.shared.exits import end_with

    trial = open_recording(file, options.points, options.ground)
    segments = _segments(segment or [])
    found = label_faults(trial.markers, segments) if segments else []
    faults = [str(fault) for fault in found]
    likeness, fitting = fitting_sets(trial.markers.labels)[0]
    if json:
        guess = {"name": fitting.name, "likeness": likeness} if likeness > LIKELY else None
        print_json(_document(trial, faults) | {"segments": segments, "marker_set_like": guess})
    else:
        say(str(trial))
        if likeness > LIKELY:
            say(f"labels like those of '{fitting.name}' ({fitting.title}), {100 * likeness:.0f} %: --marker-set")
        for name, labels in segments.items():
            if not any(fault.segment == name for fault in found):
                say(f"segment {name}: {', '.join(labels)} keep their shape")
        gaps = [(gap.label, str(gap.first), str(gap.last)) for gap in trial.markers.gaps()]
        show_table("gaps", ("marker", "first frame", "last frame"), gaps, (1, 2))
    end_with(faults)


def open_recording(file: Path, points: MarkerOptions, ground: PlateOptions | None = None) -> MotionTrial:
    """The trial of a file, with its vertical axis where it was told, conditioned as it is asked for."""
    from torseur.analysis.biomechanics.recordings.filtering import Conditioning
    from torseur.cli.shared.exits import CommandError

    plates = ground or PlateOptions()
    names = None if plates.plates is None else [name.strip() for name in plates.plates.split(",")]
    trial = _read(file, points)
    if not trial.plates and plates != PlateOptions():
        raise CommandError(f"'{file}' has no force plates: --plates, --zero and --threshold have nothing to act on.")
    wanted = Conditioning(
        [] if names == ["none"] else names, plates.zero, plates.threshold, points.fill, points.low_pass, points.rate
    )
    return wanted.applied(trial)


def _read(file: Path, points: MarkerOptions) -> MotionTrial:
    from torseur.analysis.biomechanics import Axes, read_motion
    from torseur.cli.shared.exits import USAGE, CommandError

    up, unit, subject = points.up, points.unit, points.subject
    if up is None:
        return read_motion(file, unit=unit, subject=subject)
    axis, word = (up[1:], "down") if up.startswith("-") else (up.removeprefix("+"), "up")
    if axis not in ("x", "y", "z"):
        raise CommandError(f"--up {up}: expected x, y, z, -x, -y or -z.", USAGE)
    return read_motion(file, unit=unit, axes=Axes(**{axis: word}), subject=subject)


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
