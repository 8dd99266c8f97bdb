"""Recordings of motion by the suffix of their file."""

from __future__ import annotations

from pathlib import Path

from torseur.analysis.biomechanics.files.c3d import read_c3d
from torseur.analysis.biomechanics.files.marker_csv import read_csv
from torseur.analysis.biomechanics.files.opensim_files import read_trc
from torseur.analysis.biomechanics.recordings.conditioning import condition_trial, one_subject
from torseur.analysis.biomechanics.recordings.laboratory_axes import Axes
from torseur.analysis.biomechanics.recordings.motion_trial import MotionTrial
from torseur.errors import RecordingError

SUFFIXES = (".c3d", ".trc", ".csv")


def read_motion(
    path: str | Path,
    *,
    unit: str | None = None,
    axes: Axes | None = None,
    any_size: bool = False,
    subject: str | None = None,
) -> MotionTrial:
    """The markers, and from C3D the plates and analog channels, of a .c3d, .trc or .csv file, in SI.

    `unit` overrides the file's own unit of length, `axes` what it says of its axes; `any_size` takes markers of any
    size, which are refused otherwise when they look like millimetres taken for metres or the reverse. A subject's name
    before the labels is left out, and a vertical axis that is not stated, or upside down, is taken from the markers;
    both are noted. Of a file with several people `subject` is the one whose markers are read.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise RecordingError(f"'{path}': motions are read from {', '.join(SUFFIXES)} files.")
    if suffix == ".c3d":
        return _conditioned(read_c3d(path, unit=unit, axes=axes, any_size=any_size), axes, subject)
    reader = read_trc if suffix == ".trc" else read_csv
    stated = {} if axes is None else {"axes": axes}
    return _conditioned(MotionTrial(reader(path, unit=unit, any_size=any_size, **stated)), axes, subject)


def _conditioned(trial: MotionTrial, axes: Axes | None, subject: str | None) -> MotionTrial:
    return condition_trial(trial if subject is None else one_subject(trial, subject), axes)
