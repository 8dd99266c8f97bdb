"""Force plates: what the ground exerts on a person, through time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.analysis.biomechanics.recordings.laboratory_axes import NOT_STATED, Axes
from torseur.analysis.biomechanics.recordings.markers import check_time
from torseur.errors import RecordingError

_SHORTEST = 16  # rows: fewer are less than what the filter mirrors at its ends
_THINNED, _FILTERED = 2.0, 30  # rates beside each other, and samples, from which on a record is filtered


@dataclass(frozen=True, eq=False)
class PlateRecord:
    """What one plate exerts on the person: force (samples, 3) in N, moment in N m about the laboratory's origin.

    Everything along the laboratory's axes and in SI; time in s. `centre_of_pressure` (samples, 3) in m lies in the
    plane of the plate and is NaN where the plate is hardly loaded. `corners` (4, 3) in m. `saturated` marks samples in
    which a channel of the plate stood at its limit: their numbers are too small.
    """

    time: Array
    force: Array
    moment_about_origin: Array
    centre_of_pressure: Array
    corners: Array
    name: str = "plate"
    saturated: Mask | None = None
    axes: Axes = NOT_STATED
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.saturated is None:
            object.__setattr__(self, "saturated", np.zeros(len(self.time), dtype=bool))
        check_time(self.time, self.name)
        for what in ("force", "moment_about_origin", "centre_of_pressure"):
            shape = np.shape(getattr(self, what))
            if shape != (len(self.time), 3):
                raise RecordingError(f"plate '{self.name}': {what} has the shape {shape}, not {(len(self.time), 3)}.")
        if np.shape(self.corners) != (4, 3):
            raise RecordingError(
                f"plate '{self.name}': four corners in space are wanted, not {np.shape(self.corners)}."
            )

    def __len__(self) -> int:
        return len(self.time)

    def __str__(self) -> str:
        greatest = float(np.max(np.linalg.norm(self.force, axis=1), initial=0.0))
        lines = [
            f"{self.name}: {len(self)} samples, greatest force on the person {greatest:.6g} N; "
            f"N, N m about the laboratory's origin, m; {self.axes}",
            *self.notes,
        ]
        return "\n".join(lines)

    def with_note(self, note: str) -> PlateRecord:
        """The same with one more note."""
        return replace(self, notes=(*self.notes, note))

    def opposite(self) -> PlateRecord:
        """The opposite force and moment: from what the person exerts to what the plate exerts."""
        turned = replace(self, force=-self.force, moment_about_origin=-self.moment_about_origin)
        return turned.with_note("force and moment reversed")

    def low_pass(self, frequency: float, order: int = 4) -> PlateRecord:
        """Force and moment without what lies above a frequency (Hz): Butterworth's filter, forward and backward.

        The centre of pressure is that of the filtered force in the plane of the plate, where it was known before.
        """
        rate = (len(self) - 1) / float(self.time[-1] - self.time[0]) if len(self) > 1 else 0.0
        force = low_pass(self.force, frequency, rate, f"plate '{self.name}'", order)
        moment = low_pass(self.moment_about_origin, frequency, rate, f"plate '{self.name}'", order)
        if force is None or moment is None:
            return self.with_note(f"too short to be filtered at {frequency:g} Hz")
        filtered = replace(self, force=force, moment_about_origin=moment)
        pressed = np.where(np.isfinite(self.centre_of_pressure), filtered.pressure_points(), np.nan)
        return replace(filtered, centre_of_pressure=pressed).with_note(
            f"low-pass filter at {frequency:g} Hz, order {order}"
        )

    def pressure_points(self) -> Array:
        """Where the force's line of least moment meets the plane of the plate."""
        centre = self.corners.mean(axis=0)
        normal = np.cross(self.corners[0] - self.corners[1], self.corners[0] - self.corners[3])
        normal = normal / np.linalg.norm(normal)
        moment = self.moment_about(centre)
        with np.errstate(divide="ignore", invalid="ignore"):
            return centre + np.cross(normal, moment) / (self.force @ normal)[:, None]

    def moment_about(self, point: Array) -> Array:
        """Moment in N m about a point (3) or a moving point (samples, 3)."""
        return self.moment_about_origin - np.cross(point, self.force)

    def free_moment(self) -> Array:
        """Moment in N m about the centre of pressure; NaN where there is none."""
        return self.moment_about(self.centre_of_pressure)

    def at(self, time: Array) -> PlateRecord:
        """The record at other times within its own, by linear interpolation: the frames of the markers, say.

        Before it is thinned out, what the new times cannot show is filtered away: it would come back as slow motion.
        """
        if time[0] < self.time[0] - 1e-9 or time[-1] > self.time[-1] + 1e-9:
            raise RecordingError(
                f"plate '{self.name}' was recorded from {self.time[0]:.6g} to {self.time[-1]:.6g} s, "
                f"not from {time[0]:.6g} to {time[-1]:.6g} s."
            )
        assert self.saturated is not None
        smooth = self._without_aliases(time)
        touched = np.interp(time, self.time, self.saturated.astype(float)) > 0
        return replace(
            smooth,
            time=time,
            force=_interpolate(time, self.time, smooth.force),
            moment_about_origin=_interpolate(time, self.time, smooth.moment_about_origin),
            centre_of_pressure=_interpolate(time, self.time, smooth.centre_of_pressure),
            saturated=touched,
            notes=(*smooth.notes, f"interpolated to {len(time)} times"),
        )

    def _without_aliases(self, time: Array) -> PlateRecord:
        """The record without frequencies above nine tenths of half the rate of `time`, where that is much lower."""
        if len(time) < 2 or len(self) < _FILTERED or not np.isfinite(self.force).all():
            return self
        own, new = (len(t) / max(float(t[-1] - t[0]), 1e-300) for t in (self.time, time))
        return self if own < _THINNED * new else self.low_pass(0.45 * new)


def low_pass(values: Array, frequency: float, rate: float, where: str, order: int = 4) -> Array | None:
    """Rows without what lies above a frequency (Hz): Butterworth's filter forward and backward; None for few rows."""
    from scipy.signal import butter, sosfiltfilt

    if not 0 < frequency < rate / 2:
        raise RecordingError(
            f"{where}: a filter's frequency lies between 0 and half the sampling rate, {rate / 2:g} Hz, not at "
            f"{frequency:g} Hz."
        )
    # Two passes make the whole filter of twice the order.
    sections = butter(order // 2 or 1, frequency, fs=rate, output="sos")
    return None if len(values) < _SHORTEST else np.asarray(sosfiltfilt(sections, values, axis=0))


def _interpolate(at: Array, time: Array, values: Array) -> Array:
    return np.column_stack([np.interp(at, time, column) for column in values.T])
