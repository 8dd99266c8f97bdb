"""Text files as OpenSim reads them: markers (TRC), coordinates and ground forces (MOT, STO)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.files.recording_units import factor_to_si, plain, require_plausible
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
    header = _header(file, lines)
    labels = _labels(file, lines, whole_number(file, "NumMarkers", header["NumMarkers"]))
    rows = [
        (number, line.split("\t")) for number, line in enumerate(lines[_FIRST_ROW:], _FIRST_ROW + 1) if line.strip()
    ]
    claimed = whole_number(file, "NumFrames", header["NumFrames"])
    if claimed != len(rows):
        raise RecordingError(f"'{file}' lies about its size: NumFrames is {claimed}, but it holds {len(rows)} frames.")
    table = numbers_of(file, [(number, _trim(cells, len(labels))) for number, cells in rows], 2 + 3 * len(labels), True)
    length = unit or header["Units"]
    positions = factor_to_si(length, "m", f"'{file}'") * table[:, 2:].reshape(len(table), len(labels), 3)
    _check_rate(file, table[:, 1], header["DataRate"])
    if not any_size:
        require_plausible(positions, length, unit is not None, file)
    return Markers(table[:, 1], tuple(labels), positions, axes, file.stem)


def _header(file: Path, lines: list[str]) -> dict[str, str]:
    if len(lines) < _FIRST_ROW or not lines[0].startswith("PathFileType"):
        raise RecordingError(f"'{file}' is not a TRC file: it does not begin with PathFileType and four more lines.")
    header = dict(zip(lines[1].split("\t"), lines[2].split("\t"), strict=False))
    for name in ("DataRate", "NumFrames", "NumMarkers", "Units"):
        if not header.get(name, "").strip():
            raise RecordingError(f"'{file}', line 3: no value for {name}.")
    return {name.strip(): plain(value) for name, value in header.items()}


def _labels(file: Path, lines: list[str], count: int) -> list[str]:
    labels = [plain(cell) for cell in lines[3].split("\t")[2:] if cell.strip()]
    if len(labels) != count:
        raise RecordingError(f"'{file}' lies about its size: NumMarkers is {count}, but it names {len(labels)}.")
    return labels


def _trim(cells: list[str], markers: int) -> list[str]:
    """Cells without the empty ones that a tab at the end of a line leaves."""
    while len(cells) > 2 + 3 * markers and not cells[-1].strip():
        cells = cells[:-1]
    return cells


def _check_rate(file: Path, time: Array, stated: str) -> None:
    if len(time) > 1:
        rate = (len(time) - 1) / float(time[-1] - time[0]) if time[-1] > time[0] else 0.0
        if not np.isclose(rate, _stated_number(file, "DataRate", stated), rtol=0.01):
            raise RecordingError(f"'{file}': DataRate is {stated} Hz, but its times are {rate:.6g} frames a second.")


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
