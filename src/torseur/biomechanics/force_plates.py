"""Force plates: what the ground exerts on a person, through time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from torseur.biomechanics.axes import NOT_STATED, Axes
from torseur.biomechanics.markers import check_time
from torseur.errors import RecordingError
from torseur.identification.arrays import Array, Mask


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

    def moment_about(self, point: Array) -> Array:
        """Moment in N m about a point (3) or a moving point (samples, 3)."""
        return self.moment_about_origin - np.cross(point, self.force)

    def free_moment(self) -> Array:
        """Moment in N m about the centre of pressure; NaN where there is none."""
        return self.moment_about(self.centre_of_pressure)

    def at(self, time: Array) -> PlateRecord:
        """The record at other times within its own, by linear interpolation: the frames of the markers, say."""
        if time[0] < self.time[0] - 1e-9 or time[-1] > self.time[-1] + 1e-9:
            raise RecordingError(
                f"plate '{self.name}' was recorded from {self.time[0]:.6g} to {self.time[-1]:.6g} s, "
                f"not from {time[0]:.6g} to {time[-1]:.6g} s."
            )
        assert self.saturated is not None
        touched = np.interp(time, self.time, self.saturated.astype(float)) > 0
        return replace(
            self,
            time=time,
            force=_interpolated(time, self.time, self.force),
            moment_about_origin=_interpolated(time, self.time, self.moment_about_origin),
            centre_of_pressure=_interpolated(time, self.time, self.centre_of_pressure),
            saturated=touched,
            notes=(*self.notes, f"interpolated to {len(time)} times"),
        )


def _interpolated(at: Array, time: Array, values: Array) -> Array:
    return np.column_stack([np.interp(at, time, column) for column in values.T])
