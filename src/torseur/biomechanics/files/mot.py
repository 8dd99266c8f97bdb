"""MOT and STO files: coordinates and ground forces as OpenSim reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from torseur.biomechanics.axes import OPENSIM_AXES, Axes
from torseur.biomechanics.files.text_tables import lines_of, numbers_of, whole_number
from torseur.biomechanics.force_plates import PlateRecord
from torseur.biomechanics.tracking import FittedMotion
from torseur.errors import RecordingError, unknown_name
from torseur.identification.arrays import Array
from torseur.mechanism import Mechanism

_FORCE = re.compile(r"(.*)ground_force_(.*)vx")


@dataclass(frozen=True, eq=False)
class MotTable:
    """Columns of a MOT or STO file over time (s), as they stand there; `in_degrees` is what it says of its angles."""

    name: str
    time: Array
    labels: tuple[str, ...]
    values: Array
    in_degrees: bool

    def of(self, label: str) -> Array:
        """One column."""
        if label not in self.labels:
            raise RecordingError(unknown_name("column", label, self.labels, f"'{self.name}': "))
        return self.values[:, self.labels.index(label)]

    def coordinates(self, mechanism: Mechanism) -> dict[str, Array]:
        """Columns that are coordinates of a mechanism, in SI: its angles are converted where they are in degrees."""
        known = {c.name: c.unit for joint in mechanism.joints for c in joint.coordinates}
        found = {label: self.of(label) for label in self.labels if label in known}
        turned = np.pi / 180 if self.in_degrees else 1.0
        return {label: values * (turned if known[label] == "rad" else 1.0) for label, values in found.items()}


def read_mot(path: str | Path) -> MotTable:
    """A MOT or STO file."""
    file = Path(path)
    lines = lines_of(file)
    end = next((k for k, line in enumerate(lines) if line.strip().lower() == "endheader"), None)
    if end is None or end + 1 >= len(lines):
        raise RecordingError(f"'{file}' is not a MOT file: it has no line 'endheader' with columns after it.")
    header = dict(_pair(line) for line in lines[:end] if "=" in line)
    labels = lines[end + 1].split()
    if not labels or labels[0].lower() != "time":
        raise RecordingError(f"'{file}', line {end + 2}: the first column is time, not '{(labels or [''])[0]}'.")
    rows = [(number, line.split()) for number, line in enumerate(lines[end + 2 :], end + 3) if line.strip()]
    _check_size(file, header, len(rows), len(labels))
    table = numbers_of(file, rows, len(labels), may_end_early=False)
    return MotTable(file.stem, table[:, 0], tuple(labels[1:]), table[:, 1:], header.get("indegrees", "no") == "yes")


def _pair(line: str) -> tuple[str, str]:
    name, _, value = line.partition("=")
    return name.strip().lower(), value.strip().lower()


def _check_size(file: Path, header: dict[str, str], rows: int, columns: int) -> None:
    for names, held in ((("nrows", "datarows"), rows), (("ncolumns", "datacolumns"), columns)):
        for name in names:
            if name in header and whole_number(file, name, header[name]) != held:
                raise RecordingError(f"'{file}' lies about its size: {name} is {header[name]}, but it holds {held}.")


def plates_from_mot(table: MotTable, axes: Axes = OPENSIM_AXES) -> tuple[PlateRecord, ...]:
    """Ground forces by OpenSim's names: (1_)ground_force_vx, _px, (1_)ground_torque_x, in N, m and N m."""
    plates = []
    for label in table.labels:
        match = _FORCE.fullmatch(label)
        if match:
            plates.append(_plate(table, match[1], match[2], axes))
    if not plates:
        raise RecordingError(f"'{table.name}' has no column ground_force_vx. Columns: {', '.join(table.labels)}.")
    return tuple(plates)


def _plate(table: MotTable, before: str, between: str, axes: Axes) -> PlateRecord:
    force, place, torque = (
        np.column_stack([table.of(f"{before}{what}{axis}") for axis in "xyz"])
        for what in (f"ground_force_{between}v", f"ground_force_{between}p", f"ground_torque_{between}")
    )
    name = f"{before}ground_force_{between}".strip("_")
    corners = np.full((4, 3), np.nan)
    moment = np.cross(place, force) + torque
    return PlateRecord(table.time, force, moment, place, corners, name, None, axes, ("corners not stated",))


def write_mot(path: str | Path, motion: FittedMotion, *, degrees: bool = True) -> Path:
    """Coordinates of a motion as a MOT file; angles in degrees unless told otherwise, lengths in m."""
    factor = np.array([180 / np.pi if degrees and unit == "rad" else 1.0 for unit in motion.units])
    return _write(path, "Coordinates", motion.time, motion.coordinates, motion.q * factor, degrees)


def write_forces_mot(path: str | Path, plates: Sequence[PlateRecord]) -> Path:
    """Ground forces of plates with the same times as a MOT file.

    Without a centre of pressure the force is written at the origin, with its moment there.
    """
    labels: list[str] = []
    columns: list[Array] = []
    for k, plate in enumerate(plates):
        if len(plate) != len(plates[0]) or not np.allclose(plate.time, plates[0].time):
            raise RecordingError(f"plate '{plate.name}' has other times than '{plates[0].name}'. Use plate.at(time).")
        place = np.nan_to_num(plate.centre_of_pressure)
        names = (f"{k + 1}_ground_force_v", f"{k + 1}_ground_force_p", f"{k + 1}_ground_torque_")
        labels += [name + axis for name in names for axis in "xyz"]
        columns += [plate.force, place, plate.moment_about(place)]
    return _write(path, "Ground forces", plates[0].time, labels, np.hstack(columns), False)


def _write(path: str | Path, title: str, time: Array, labels: Sequence[str], values: Array, degrees: bool) -> Path:
    file = Path(path)
    lines = [
        title,
        "version=1",
        f"nRows={len(time)}",
        f"nColumns={1 + len(labels)}",
        f"inDegrees={'yes' if degrees else 'no'}",
        "endheader",
        "\t".join(["time", *labels]),
    ]
    lines += ["\t".join(f"{x:.10g}" for x in (t, *row)) for t, row in zip(time, values, strict=True)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file
