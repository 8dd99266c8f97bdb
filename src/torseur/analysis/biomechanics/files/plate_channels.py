"""Force plates in the laboratory: from what their channels hold to forces on the person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.analysis.biomechanics.recordings.force_plates import PlateRecord
from torseur.analysis.biomechanics.recordings.laboratory_axes import NOT_STATED, Axes
from torseur.analysis.biomechanics.recordings.markers import runs
from torseur.errors import RecordingError, UnsupportedError

# The types of the C3D format: from channels to a force and a moment at the centre of the plate's surface, in its own
# axes. Everything in N, N m and m; the plate's z axis points into it. `origin` is the vector from the plate's
# sensors to the centre of its surface.
CHANNELS = {1: 6, 2: 6, 3: 8, 4: 6}
UNITS = {
    1: ("N", "N", "N", "m", "m", "N*m"),
    2: ("N", "N", "N", "N*m", "N*m", "N*m"),
    3: ("N",) * 8,
    4: ("V",) * 6,
}


def wrench_of(kind: int, channels: Array, origin: Array) -> tuple[Array, Array]:
    """Force and moment at the surface's centre (samples, 3) of a plate of type 1 to 4; type 4 after its calibration."""
    return _TYPES[kind](channels, origin)


def _centre_of_pressure(channels: Array, origin: Array) -> tuple[Array, Array]:
    """Type 1: force, centre of pressure on the surface, free moment."""
    force = channels[:, :3]
    zero = np.zeros(len(channels))
    place = np.column_stack([channels[:, 3], channels[:, 4], zero])
    free = np.column_stack([zero, zero, channels[:, 5]])
    return force, np.cross(place, force) + free


def _six_components(channels: Array, origin: Array) -> tuple[Array, Array]:
    """Types 2 and 4: force and moment at the sensors' origin."""
    force, moment = channels[:, :3], channels[:, 3:6]
    return force, moment - np.cross(origin, force)


def _four_columns(channels: Array, origin: Array) -> tuple[Array, Array]:
    """Type 3: eight forces of four columns at (±a, ±b), at the depth of the origin below the surface."""
    x12, x34, y14, y23, z1, z2, z3, z4 = channels.T
    a, b, depth = origin
    force = np.column_stack([x12 + x34, y14 + y23, z1 + z2 + z3 + z4])
    moment = np.column_stack([
        b * (z1 + z2 - z3 - z4), a * (-z1 + z2 + z3 - z4), b * (-x12 + x34) + a * (y14 - y23),
    ])  # fmt: skip
    return force, moment - np.cross([0.0, 0.0, depth], force)


_TYPES: dict[int, Callable[[Array, Array], tuple[Array, Array]]] = {
    1: _centre_of_pressure,
    2: _six_components,
    3: _four_columns,
    4: _six_components,
}


_LEVEL = 1e-9  # part of a channel's range within which values are equal
_LONGEST_PEAK = 4  # samples that a smooth maximum never holds
LEAST_FORCE = 10.0  # N: normal force from which a centre of pressure means something


class ImpossiblePlate(RecordingError):
    """A plate that a file describes and that cannot be."""


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
            raise ImpossiblePlate(f"plate '{self.name}': its corners do not span an area.")

    def _sides(self) -> tuple[Array, Array]:
        return self.corners[0] - self.corners[1], self.corners[0] - self.corners[3]

    @property
    def rotation(self) -> Array:
        """From the plate's axes to the laboratory's."""
        x, y = self._sides()
        # Corners are measured, and never quite a rectangle: x as measured, z across both sides, y from these two.
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
    at_limit = clipping_mask(channels)
    record = PlateRecord(
        time, in_lab, moment @ R.T + np.cross(centre, in_lab), pressed, setup.corners, setup.name, at_limit, axes,
        (*notes, *_saturation_note(time, at_limit)),
    )  # fmt: skip
    return _with_direction_note(record, least_force)


def _below_surface(setup: PlateSetup) -> tuple[Array, list[str]]:
    """The origin with its sensors below the surface, as the format wants it; the opposite sign is a common slip."""
    if setup.kind > 1 and setup.origin[2] > 0:
        return _flip_origin(setup), ["its origin lies above the surface: taken with the opposite sign"]
    return setup.origin, []


def _flip_origin(setup: PlateSetup) -> Array:
    signs = [1.0, 1.0, -1.0] if setup.kind == 3 else [-1.0, -1.0, -1.0]
    return setup.origin * np.array(signs)


def _pressure(force: Array, moment: Array, least: float) -> Array:
    """Where the force meets the surface, in the plate's axes."""
    # M = p × F at a point p of the surface (z = 0) has M_x = p_y F_z and M_y = -p_x F_z.
    normal = np.where(np.abs(force[:, 2]) >= max(least, 1e-12), force[:, 2], np.nan)
    return np.column_stack([-moment[:, 1] / normal, moment[:, 0] / normal, 0.0 * normal])


def clipping_mask(channels: Array) -> Mask:
    """Samples in which a channel stands still at its greatest magnitude, for four samples at least."""
    mask = np.zeros(len(channels), dtype=bool)
    for values in channels.T:
        low, high, largest = np.min(values), np.max(values), np.max(np.abs(values))
        for limit in {low, high}:
            # An unloaded plate stands still as well, near zero.
            if high > low and abs(limit) > 0.5 * largest:
                # A smooth maximum never holds its value for _LONGEST_PEAK samples; an amplifier at its limit does.
                at = np.abs(values - limit) <= _LEVEL * (high - low)
                for first, last in runs(at):
                    mask[first : last + 1] |= last - first + 1 >= _LONGEST_PEAK
    return mask


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
        return record.with_note("it pulls the person down: the file holds what the person exerts; use opposite()")
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
