"""Force plates in the laboratory: from what their channels hold to forces on the person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.biomechanics.axes import NOT_STATED, Axes
from torseur.biomechanics.files.plate_types import CHANNELS, wrench_of
from torseur.biomechanics.force_plates import PlateRecord
from torseur.biomechanics.markers import runs
from torseur.errors import RecordingError, UnsupportedError
from torseur.identification.arrays import Array, Mask

_LEVEL = 1e-9  # part of a channel's range within which values are equal
_LONGEST_PEAK = 4  # samples that a smooth maximum never holds
LEAST_FORCE = 10.0  # N: normal force from which a centre of pressure means something


@dataclass(frozen=True, eq=False)
class PlateSetup:
    """A plate as the laboratory knows it: type 1 to 4, corners (4, 3) and origin in m.

    `calibration` (6, 6) of type 4 gives force (N) and moment (N m) of its channels (V, as a rule).

    Corners go round from the one in the plate's quadrant (+x, +y) to (-x, +y), (-x, -y), (+x, -y).
    """

    name: str
    kind: int
    corners: Array
    origin: Array
    calibration: Array | None = None

    def __post_init__(self) -> None:
        if self.kind not in CHANNELS:
            raise UnsupportedError(
                f"plate '{self.name}' is of type {self.kind}: types {', '.join(map(str, CHANNELS))} are read."
            )
        if self.kind == 4 and (self.calibration is None or np.shape(self.calibration) != (6, 6)):
            raise RecordingError(f"plate '{self.name}' of type 4 has no calibration matrix of six by six.")
        x, y = self._sides()
        if min(np.linalg.norm(x), np.linalg.norm(y), np.linalg.norm(np.cross(x, y))) < 1e-6:
            raise RecordingError(f"plate '{self.name}': its corners do not span an area.")

    def _sides(self) -> tuple[Array, Array]:
        return self.corners[0] - self.corners[1], self.corners[0] - self.corners[3]

    @property
    def rotation(self) -> Array:
        """From the plate's axes to the laboratory's."""
        x, y = self._sides()
        first = x / np.linalg.norm(x)
        third = np.cross(first, y)
        third = third / np.linalg.norm(third)
        return np.column_stack([first, np.cross(third, first), third])

    @property
    def centre(self) -> Array:
        return np.asarray(self.corners.mean(axis=0))


def plate_record(
    setup: PlateSetup, time: Array, channels: Array, *, least_force: float = LEAST_FORCE, axes: Axes = NOT_STATED
) -> PlateRecord:
    """The force on the person from a plate's channels (samples, channels) in N, N m and m, or V for type 4.

    The centre of pressure is NaN where the force into the plate is below `least_force` (N); forces stay as they are.
    """
    wanted = CHANNELS[setup.kind]
    if channels.shape[1] != wanted:
        raise RecordingError(
            f"plate '{setup.name}' of type {setup.kind} has {wanted} channels, got {channels.shape[1]}."
        )
    origin, notes = _below_surface(setup)
    given = channels if setup.calibration is None else channels @ setup.calibration.T
    force, moment = wrench_of(setup.kind, given, origin)
    R, centre = setup.rotation, setup.centre
    pressed = _pressure(force, moment, least_force) @ R.T + centre
    in_lab = force @ R.T
    at_limit = clipped(channels)
    record = PlateRecord(
        time, in_lab, moment @ R.T + np.cross(centre, in_lab), pressed, setup.corners, setup.name, at_limit, axes,
        (*notes, *_saturation_note(time, at_limit)),
    )  # fmt: skip
    return _with_direction_note(record, least_force)


def _below_surface(setup: PlateSetup) -> tuple[Array, list[str]]:
    """The origin with its sensors below the surface, as the format wants it; the opposite sign is a common slip."""
    if setup.kind > 1 and setup.origin[2] > 0:
        return _flipped(setup), ["its origin lies above the surface: taken with the opposite sign"]
    return setup.origin, []


def _flipped(setup: PlateSetup) -> Array:
    signs = [1.0, 1.0, -1.0] if setup.kind == 3 else [-1.0, -1.0, -1.0]
    return setup.origin * np.array(signs)


def _pressure(force: Array, moment: Array, least: float) -> Array:
    """Where the force meets the surface, in the plate's axes."""
    normal = np.where(np.abs(force[:, 2]) >= max(least, 1e-12), force[:, 2], np.nan)
    return np.column_stack([-moment[:, 1] / normal, moment[:, 0] / normal, 0.0 * normal])


def clipped(channels: Array) -> Mask:
    """Samples in which a channel stands still at its greatest magnitude, for four samples at least."""
    found = np.zeros(len(channels), dtype=bool)
    for values in channels.T:
        low, high, largest = np.min(values), np.max(values), np.max(np.abs(values))
        for limit in {low, high}:
            # An unloaded plate stands still as well, near zero.
            if high > low and abs(limit) > 0.5 * largest:
                at = np.abs(values - limit) <= _LEVEL * (high - low)
                for first, last in runs(at):
                    found[first : last + 1] |= last - first + 1 >= _LONGEST_PEAK
    return found


def _saturation_note(time: Array, at_limit: Mask) -> list[str]:
    if not at_limit.any():
        return []
    first = time[int(np.argmax(at_limit))]
    return [
        f"saturated: a channel stands at its limit in {int(at_limit.sum())} samples, the first at t = {first:.6g} s"
    ]


def _with_direction_note(record: PlateRecord, least_force: float) -> PlateRecord:
    """Notes a plate that pulls people down: its file holds what the person exerts."""
    if not any(word in ("up", "down") for word in record.axes.words):
        return record
    lift = record.force @ record.axes.upward
    loaded = np.abs(lift) > least_force
    if loaded.any() and float(np.median(lift[loaded])) < 0:
        return record.noted("it pulls the person down: the file holds what the person exerts; use reversed()")
    return record


def require_unsaturated(plates: Sequence[PlateRecord]) -> None:
    """Refuses plates with saturated samples."""
    for plate in plates:
        assert plate.saturated is not None
        if plate.saturated.any():
            first = float(plate.time[int(np.argmax(plate.saturated))])
            raise RecordingError(
                f"plate '{plate.name}' is saturated in {int(plate.saturated.sum())} of {len(plate)} samples, the first "
                f"at t = {first:.6g} s: its forces are too small there. Record again, or leave these samples out."
            )
