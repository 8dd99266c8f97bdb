"""Text files as OpenSim reads them: markers (TRC), coordinates and ground forces (MOT, STO)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.files.recording_units import (
    distinct_labels,
    factor_to_si,
    plain,
    require_plausible,
)
from torseur.analysis.biomechanics.recordings.force_plates import PlateRecord
from torseur.analysis.biomechanics.recordings.laboratory_axes import OPENSIM_AXES, Axes
from torseur.analysis.biomechanics.recordings.markers import Markers
from torseur.analysis.biomechanics.tracking import FittedMotion
from torseur.description.mechanism import Mechanism
from torseur.edges.budgets import bounded_text
from torseur.errors import RecordingError, unknown_name


def lines_of(path: Path) -> list[str]:
    """The lines of a text file."""
    if not path.is_file():
        raise RecordingError(f"there is no file '{path}'.")
    try:
        return bounded_text(path, encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as problem:
        raise RecordingError(f"'{path}' is not a text file: {problem.reason} at byte {problem.start}.") from problem


def numbers_of(path: Path, rows: Sequence[tuple[int, Sequence[str]]], width: int, may_end_early: bool) -> Array:
    """Rows of cells, each with its line number, as numbers; empty cells are NaN, as are those a row leaves off."""
    numbers = []
    for line, cells in rows:
        if len(cells) > width or (len(cells) < width and not may_end_early):
            raise RecordingError(f"'{path}', line {line}: {len(cells)} cells, the headings have {width}.")
        numbers.append([_number(path, line, cell) for cell in cells] + [np.nan] * (width - len(cells)))
    return np.array(numbers, dtype=float).reshape(len(numbers), width)


def _number(path: Path, line: int, cell: str) -> float:
    text = cell.strip()
    if not text:
        return float("nan")
    try:
        return float(text)
    except ValueError as problem:
        raise RecordingError(f"'{path}', line {line}: '{text}' is not a number.") from problem


def whole_number(path: Path, name: str, text: str) -> int:
    try:
        return int(float(text))
    except (ValueError, OverflowError) as problem:
        raise RecordingError(f"'{path}': {name} is a whole number, not '{text}'.") from problem


def _stated_number(path: Path, name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as problem:
        raise RecordingError(f"'{path}': {name} is a number, not '{text}'.") from problem


_FIRST_ROW = 5


def read_trc(
    path: str | Path, *, unit: str | None = None, axes: Axes = OPENSIM_AXES, any_size: bool = False
) -> Markers:
    """Markers of a TRC file in m, gaps as empty cells. The format has x forward, y up, z right."""
    file = Path(path)
    lines = lines_of(file)
    between = "," if "\t" not in "".join(lines[:3]) and "," in "".join(lines[:3]) else "\t"
    header = _header(file, lines, between)
    rows = [
        (number, _trim(line.split(between)))
        for number, line in enumerate(lines[_FIRST_ROW:], _FIRST_ROW + 1) if line.replace(between, "").strip()
    ]  # fmt: skip
    labels, notes = _labels(file, lines, between, header, rows)
    notes += _count_note(file, header, rows)
    table = numbers_of(file, rows, 2 + 3 * len(labels), True)
    length = unit or header["Units"]
    positions = factor_to_si(length, "m", f"'{file}'") * table[:, 2:].reshape(len(table), len(labels), 3)
    notes += _rate_note(file, table[:, 1], header["DataRate"])
    if not any_size:
        require_plausible(positions, length, unit is not None, file)
    return Markers(table[:, 1], tuple(labels), positions, axes, file.stem, tuple(notes))


def _header(file: Path, lines: list[str], between: str) -> dict[str, str]:
    if len(lines) < _FIRST_ROW or not lines[0].startswith("PathFileType"):
        raise RecordingError(f"'{file}' is not a TRC file: it does not begin with PathFileType and four more lines.")
    names, values = lines[1].split(between), lines[2].split(between)
    written = [[cell for cell in cells if cell.strip()] for cells in (names, values)]
    if len(written[0]) == len(written[1]):
        # Some programs put more than one tab between values.
        names, values = written
    header = {name.strip(): plain(value) for name, value in zip(names, values, strict=False)}
    for name in ("DataRate", "NumFrames", "NumMarkers", "Units"):
        if not header.get(name, ""):
            raise RecordingError(f"'{file}', line 3: no value for {name}.")
    return header


def _labels(
    file: Path, lines: list[str], between: str, header: Mapping[str, str], rows: Sequence[tuple[int, Sequence[str]]]
) -> tuple[list[str], list[str]]:
    """The markers that the headings name, then those that have columns and no name."""
    labels = [plain(cell) for cell in lines[3].split(between)[2:] if cell.strip()]
    count, notes = whole_number(file, "NumMarkers", header["NumMarkers"]), []
    if count != len(labels):
        notes.append(f"NumMarkers is {count}, but the headings name {len(labels)}, which are read")
    widest = max((len(cells) for _, cells in rows), default=0)
    beyond = widest - 2 - 3 * len(labels)
    # Cells that make no whole marker are a fault of a line, which is named when the numbers are read.
    count = len(labels) + (beyond // 3 if beyond > 0 and beyond % 3 == 0 else 0)
    distinct, renamed = distinct_labels(labels, count)
    return distinct, notes + renamed


def _count_note(file: Path, header: Mapping[str, str], rows: Sequence[tuple[int, Sequence[str]]]) -> list[str]:
    """Where a file has another number of frames than it says: cut out of a longer recording, unless a row is broken."""
    claimed = whole_number(file, "NumFrames", header["NumFrames"])
    if claimed == len(rows):
        return []
    if not rows or len(rows[-1][1]) < 0.5 * max(len(cells) for _, cells in rows):
        raise RecordingError(
            f"'{file}' lies about its size: NumFrames is {claimed}, but it holds {len(rows)} frames"
            f"{', the last of them broken off' if rows else ''}."
        )
    return [f"NumFrames is {claimed}, but the file holds {len(rows)} frames, which are read"]


def _trim(cells: list[str]) -> list[str]:
    """Cells without the empty ones at the end of a line: gaps of the last markers, or a tab too many."""
    while cells and not cells[-1].strip():
        cells = cells[:-1]
    return cells


def _rate_note(file: Path, time: Array, stated: str) -> list[str]:
    if len(time) < 2:
        return []
    rate = (len(time) - 1) / float(time[-1] - time[0]) if time[-1] > time[0] else 0.0
    if np.isclose(rate, _stated_number(file, "DataRate", stated), rtol=0.01):
        return []
    return [f"DataRate is {stated} Hz, but the times are {rate:.6g} frames a second, which are believed"]


def write_trc(path: str | Path, markers: Markers) -> Path:
    """Markers as a TRC file in mm along x forward, y up, z right, to which they are turned."""
    file = Path(path)
    turned = markers if markers.axes == OPENSIM_AXES else markers.along(OPENSIM_AXES)
    count, rate = len(markers.labels), f"{markers.rate:.6g}"
    fields = {
        "DataRate": rate, "CameraRate": rate, "NumFrames": len(markers), "NumMarkers": count, "Units": "mm",
        "OrigDataRate": rate, "OrigDataStartFrame": 1, "OrigNumFrames": len(markers),
    }  # fmt: skip
    axes = [f"{axis}{k + 1}" for k in range(count) for axis in "XYZ"]
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{file.name}",
        "\t".join(fields),
        "\t".join(map(str, fields.values())),
        "Frame#\tTime\t" + "\t\t\t".join(markers.labels),
        "\t\t" + "\t".join(axes),
        "",
    ]
    for k, (t, row) in enumerate(zip(turned.time, 1e3 * turned.positions.reshape(len(turned), -1), strict=True)):
        cells = ["" if np.isnan(x) else f"{x:.6f}" for x in row]
        lines.append("\t".join([str(k + 1), f"{t:.6f}", *cells]))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


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
        columns = {label: self.of(label) for label in self.labels if label in known}
        turned = np.pi / 180 if self.in_degrees else 1.0
        return {label: values * (turned if known[label] == "rad" else 1.0) for label, values in columns.items()}


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
    # OpenSim gives the force at a point and a torque there: about the origin it is one moment.
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
