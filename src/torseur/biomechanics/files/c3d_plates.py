"""Force plates of a C3D file."""

from __future__ import annotations

import numpy as np

from torseur.biomechanics.axes import Axes
from torseur.biomechanics.files.c3d_parameters import Parameters
from torseur.biomechanics.files.plate_types import CHANNELS, UNITS
from torseur.biomechanics.files.plates import PlateSetup, plate_record
from torseur.biomechanics.files.units import factor_to_si
from torseur.biomechanics.force_plates import PlateRecord
from torseur.biomechanics.motion_trial import Analog
from torseur.errors import RecordingError
from torseur.identification.arrays import Array, Slots

GROUP = "FORCE_PLATFORM"


def plates_of(
    parameters: Parameters, analog: Analog | None, length: str, axes: Axes, least_force: float
) -> tuple[PlateRecord, ...]:
    """The plates that the file describes, each from its channels."""
    count = parameters.whole(GROUP, "USED", 0)
    if count and analog is None:
        raise RecordingError(f"'{parameters.file}' describes {count} force plates but holds no analog channels.")
    return tuple(_plate(parameters, analog, k, length, axes, least_force) for k in range(count) if analog is not None)


def _plate(parameters: Parameters, analog: Analog, k: int, length: str, axes: Axes, least_force: float) -> PlateRecord:
    setup = _setup(parameters, k, factor_to_si(length, "m", f"'{parameters.file}', corners of plates"))
    slots = _slots(parameters, analog, k, setup)
    scaled, notes = _in_si(parameters, analog, slots, setup, length)
    offset, more = _baseline(parameters, scaled, len(analog.time))
    record = plate_record(setup, analog.time, scaled - offset, least_force=least_force, axes=axes)
    for note in (*notes, *more):
        record = record.noted(note)
    return record


def _setup(parameters: Parameters, k: int, factor: float) -> PlateSetup:
    name = f"plate {k + 1}"
    kinds = parameters.numbers(GROUP, "TYPE").reshape(-1)
    corners, origins = parameters.numbers(GROUP, "CORNERS"), parameters.numbers(GROUP, "ORIGIN")
    for what, values in (("TYPE", kinds), ("CORNERS", corners), ("ORIGIN", origins)):
        if values.size == 0 or values.shape[-1] <= k:
            raise RecordingError(f"'{parameters.file}': {GROUP}:{what} says nothing of {name}.")
    calibration = None
    if int(kinds[k]) == 4:
        matrices = parameters.numbers(GROUP, "CAL_MATRIX")
        if matrices.ndim >= 2:
            # Its moments come out in the unit of length of the points.
            calibration = (
                np.diag([1, 1, 1, factor, factor, factor]) @ matrices.reshape(*matrices.shape[:2], -1)[:, :, k]
            )
    return PlateSetup(name, int(kinds[k]), factor * corners[:, :, k].T, factor * origins[:, k], calibration)


def _slots(parameters: Parameters, analog: Analog, k: int, setup: PlateSetup) -> Slots:
    channels = parameters.numbers(GROUP, "CHANNEL").astype(int)
    wanted = CHANNELS[setup.kind]
    if channels.ndim != 2 or channels.shape[0] < wanted or channels.shape[1] <= k:
        raise RecordingError(f"'{parameters.file}': {GROUP}:CHANNEL does not name {wanted} channels of {setup.name}.")
    slots = channels[:wanted, k] - 1
    if slots.min() < 0 or slots.max() >= len(analog.labels):
        raise RecordingError(
            f"'{parameters.file}': {setup.name} uses channel {int(slots.max()) + 1}, the file has {len(analog.labels)}."
        )
    return np.asarray(slots, dtype=np.intp)


def _in_si(
    parameters: Parameters, analog: Analog, slots: Slots, setup: PlateSetup, length: str
) -> tuple[Array, list[str]]:
    """The plate's channels in N, N m and m; those of type 4 as they are, since its matrix takes them so."""
    if setup.kind == 4:
        return analog.values[:, slots], []
    columns, silent = [], []
    moment = f"N*{length}"
    for slot, wanted in zip(slots, UNITS[setup.kind], strict=True):
        label, unit = analog.labels[slot], analog.units[slot]
        usual = {"N": "N", "N*m": moment, "m": length}[wanted]
        if not unit:
            silent.append(label)
            unit = usual
        columns.append(analog.values[:, slot] * factor_to_si(unit, wanted, f"'{parameters.file}', channel '{label}'"))
    notes = [f"no unit stated for {', '.join(silent)}: taken as N and {moment}"] if silent else []
    return np.column_stack(columns), notes


def _baseline(parameters: Parameters, values: Array, samples: int) -> tuple[Array, list[str]]:
    """The mean over the frames that the file says were recorded without load (FORCE_PLATFORM:ZERO)."""
    frames = parameters.numbers(GROUP, "ZERO").reshape(-1)
    if len(frames) < 2 or not 1 <= frames[0] <= frames[1]:
        return np.zeros(values.shape[1]), []
    first, last = int(frames[0]) - 1, int(frames[1])
    if last > samples:
        raise RecordingError(f"'{parameters.file}': {GROUP}:ZERO names sample {last} of {samples}.")
    return values[first:last].mean(axis=0), [f"mean of samples {first} to {last - 1} taken off, as the file asks"]
