"""One treatment of a whole recording, asked for and noted: plates chosen and zeroed, gaps filled, filter, new rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.recordings.force_plates import PlateRecord, low_pass
from torseur.analysis.biomechanics.recordings.markers import Markers, fill_gaps, runs
from torseur.analysis.biomechanics.recordings.motion_trial import MotionTrial
from torseur.errors import RecordingError, unknown_name

_ORDER = 4
_UNLOADED = 10.0  # N: by which an unloaded plate wanders
_OFFSET = 60.0  # N: a plate that never shows less is loaded all the time


@dataclass(frozen=True)
class Conditioning:
    """What is done to a recording before it is used; nothing unless it is asked for.

    `plates` names those that count, by name or number from 1; `zero` takes off what unloaded plates show; `threshold`
    (N) is the vertical force from which a plate counts as loaded; `fill` the longest gap of a marker, in frames, that a
    spline bridges; `frequency` (Hz) that of a low-pass filter, the same for markers and plates; `rate` (Hz) a new one.
    """

    plates: Sequence[str] | None = None
    zero: bool = False
    threshold: float = 0.0
    fill: int = 0
    frequency: float = 0.0
    rate: float = 0.0

    def applied(self, trial: MotionTrial) -> MotionTrial:
        """The recording so treated, each step noted."""
        plates = chosen_plates(trial.plates, self.plates)
        if self.zero:
            plates = tuple(zeroed(plate) for plate in plates)
        if self.threshold:
            plates = tuple(loaded_only(plate, self.threshold) for plate in plates)
        markers = _bridge_gaps(trial.markers, self.fill) if self.fill else trial.markers
        if self.frequency:
            # One cutoff for both: forces and motions that are smoothed differently give moments nobody exerts.
            markers = smooth_markers(markers, self.frequency)
            plates = tuple(plate.low_pass(self.frequency) for plate in plates)
        if self.rate:
            markers = resampled(markers, self.rate)
        results = {} if self.rate else trial.results
        return replace(trial, markers=markers, plates=plates, results=results)


def _bridge_gaps(markers: Markers, longest: int) -> Markers:
    filled = fill_gaps(markers, longest)
    if filled.notes != markers.notes:
        return filled
    return replace(markers, notes=(*markers.notes, f"no gap of at most {longest} frames between frames that were seen"))


def chosen_plates(plates: tuple[PlateRecord, ...], names: Sequence[str] | None) -> tuple[PlateRecord, ...]:
    """Some of the plates, by their names or by their numbers from 1."""
    if names is None:
        return plates
    known = {**{str(k + 1): plate for k, plate in enumerate(plates)}, **{plate.name: plate for plate in plates}}
    for name in names:
        if name not in known:
            raise RecordingError(unknown_name("plate", name, known))
    return tuple(known[name] for name in names)


def zeroed(plate: PlateRecord) -> PlateRecord:
    """A plate less what it shows when nobody stands on it, force and moment."""
    size = np.linalg.norm(plate.force, axis=1)
    least = float(np.percentile(size, 5))
    if least > _OFFSET:
        return plate.with_note(f"never unloaded (at least {least:.0f} N): not zeroed")
    free = size < least + _UNLOADED
    force, moment = plate.force[free].mean(axis=0), plate.moment_about_origin[free].mean(axis=0)
    less = replace(plate, force=plate.force - force, moment_about_origin=plate.moment_about_origin - moment)
    return _with_pressure(less).with_note(f"zeroed by {np.linalg.norm(force):.1f} N, from {int(free.sum())} samples")


def loaded_only(plate: PlateRecord, threshold: float) -> PlateRecord:
    """A plate with nothing on it where it feels less than a threshold (N)."""
    loaded = np.abs(plate.force @ plate.axes.upward) >= threshold
    nothing = np.where(loaded[:, None], 1.0, 0.0)
    kept = replace(
        plate, force=plate.force * nothing, moment_about_origin=plate.moment_about_origin * nothing,
        centre_of_pressure=np.where(loaded[:, None], plate.centre_of_pressure, np.nan),
    )  # fmt: skip
    return kept.with_note(f"below {threshold:g} N nothing stands on it")


def _with_pressure(plate: PlateRecord) -> PlateRecord:
    pressed = np.where(np.isfinite(plate.centre_of_pressure), plate.pressure_points(), np.nan)
    return replace(plate, centre_of_pressure=pressed)


def smooth_markers(markers: Markers, frequency: float) -> Markers:
    """Markers without what lies above a frequency (Hz), every stretch between gaps by itself."""
    positions, short = markers.positions.copy(), 0
    for k in range(len(markers.labels)):
        for first, last in runs(markers.present[:, k]):
            part = slice(first, last + 1)
            filtered = low_pass(positions[part, k], frequency, markers.rate, f"trial '{markers.name}'", _ORDER)
            short += filtered is None
            positions[part, k] = positions[part, k] if filtered is None else filtered
    notes = [f"markers: low-pass filter at {frequency:g} Hz, order {_ORDER}"]
    notes += [f"{short} stretches between gaps are too short to be filtered"] if short else []
    return replace(markers, positions=positions, notes=(*markers.notes, *notes))


def resampled(markers: Markers, rate: float) -> Markers:
    """Markers at another rate (Hz), by splines; what a lower rate cannot show is filtered away before."""
    from scipy.interpolate import CubicSpline

    count = int(np.floor((markers.time[-1] - markers.time[0]) * rate + 1e-9)) + 1
    if not rate > 0 or count < 2:
        raise RecordingError(f"trial '{markers.name}': a rate of {rate:g} Hz leaves {max(count, 0)} frames.")
    # Below half the new rate (Shannon), with room for the slope of the filter.
    source = smooth_markers(markers, 0.45 * rate) if rate < 0.95 * markers.rate else markers
    time = markers.time[0] + np.arange(count) / rate
    positions = np.full((count, len(markers.labels), 3), np.nan)
    for k in range(len(markers.labels)):
        for first, last in runs(markers.present[:, k]):
            inside: Array = (time >= markers.time[first] - 1e-9) & (time <= markers.time[last] + 1e-9)
            if last > first:
                spline = CubicSpline(source.time[first : last + 1], source.positions[first : last + 1, k])
                positions[inside, k] = spline(time[inside])
    note = f"resampled from {markers.rate:.6g} to {rate:g} Hz"
    return replace(source, time=time, positions=positions, notes=(*source.notes, note))
